// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIFETIMES_HPP
#define SUBLET_ANALYSIS_LIFETIMES_HPP

/// Groups values and their views into buffers, and computes the live range of each in a given sequential
/// order, in O(nodes + values + touches). An order that breaks the program is reported with its value and
/// position.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

// --- views -----------------------------------------------------------------------------------------------

/// Views: values that share the bytes of another value.
///
///     a        b = reshape(a)     c = slice(b)     d          alias_of   -  a  b  -
///     [==============================]             [====]     buffer     0  0  0  1
///
/// `alias_of` maps a view to its value, which may be a view too. The last value of such a chain is the root.
/// A buffer is live while any of its values is, and has the size of the root.

namespace sublet {

struct buffer_classes {
    table<value_id, buffer_id> buffer_of; ///< of each value
    table<buffer_id, value_id> root;      ///< of each buffer, ascending
    friend bool operator==(buffer_classes const&, buffer_classes const&) = default;
};

namespace detail {

/// group_views() of a table.
[[nodiscard]] buffer_classes classes_of(table<value_id, value_id> const& alias_of);

/// The root of each value; empty if no step makes a view.
[[nodiscard]] table<value_id, value_id> roots_of_views(snapshot const& p,
                                                       per_value<value_id> const& alias_of);

} // namespace detail

/// Groups each root with its views, from the value that each view is a view of.
///
/// Ensures:    buffers are numbered by ascending root.
/// Complexity: O(values) time and memory; `alias_of` is called once per value.
/// Throws:     precondition_error if `alias_of` names no value or has a cycle.
template <class AliasOf>
    requires std::invocable<AliasOf&, value_id> &&
             std::convertible_to<std::invoke_result_t<AliasOf&, value_id>, value_id>
[[nodiscard]] buffer_classes group_views(std::size_t values, AliasOf alias_of)
{
    table<value_id, value_id> of(values);
    for (value_id v = 0; v != values; ++v) {
        value_id const to = detail::call_user(alias_of, v);
        of[v] = to;
    }
    return detail::classes_of(of);
}

// --- lifetimes -------------------------------------------------------------------------------------------

/// The live range of each value if the steps run one after the other.
///
///     position        0        1        2        3
///                   def a  use a      use a    def d
///                          def b      def c
///     a             [==================)                 to the end of its last touch
///     b                    [==)                          never read, but its write occupies storage
///
/// A use holds the storage to the end of its step, so no result of a step shares with its operands; an early
/// use ends where the writes of its step begin. The order is only checked: it is an error if a use
/// precedes its def, or if a write moves across another access of the same bytes.

/// The live range of each value in one order. Converts to false if the order cannot be run: the error is the
/// first value, by position and then by value, that is needed before it is there (at the end: at position
/// `positions`); or, if there is none, a write that moves. Then the ranges are meaningless.
struct live_ranges : verdict {
    /// Of each value; empty for one that is neither touched nor given nor output.
    table<value_id, live_range> of;
    std::uint32_t positions = 0; ///< how many positions the order has
};

/// The order of the nodes, and what keeps values alive beyond their touches.
struct lifetimes_options {
    /// Inputs are live from the start, outputs to the end.
    per_value<value_role> role = value_role::intermediate;
    std::vector<node_id> order = {}; ///< empty: 0, 1, 2 ...
    /// As in plan_options: which accesses of one storage keep their listed order.
    per_value<value_id> alias_of = no_value;
    per_value<byte_count> view_offset = byte_count{0}; ///< by value: its first byte in alias_of[v]
    per_value<byte_count> bytes = no_size;             ///< `no_size`: unknown, so all bytes of the storage
};

namespace detail {

[[nodiscard]] lifetimes_options lifetimes_of(plan_options const& options);

/// Storage of views: the first byte of each value in its root. A sum of offsets that exceeds 64 bits
/// saturates.
///
/// Requires: views form no cycle.
[[nodiscard]] table<value_id, byte_count> offsets_in_roots(table<value_id, value_id> const& alias_of,
                                                           table<value_id, byte_count> const& view_offset);

/// Segments [first, last) of bytes.
struct segment_range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    /// No segment is in it.
    [[nodiscard]] friend constexpr bool is_empty(segment_range r) noexcept { return r.first >= r.last; }
};

/// The bytes with accesses that keep their listed order: those of storage that is written more than once,
/// where a given value counts as written.
///
///     cache    [===========================]      The borders of all values of one storage cut it into
///     row 1    [========]                         segments: 0, 1, 2. row 1 is segment 0, row 2 is segment 1,
///     row 2             [========]                and cache is 0 to 2. Writes of the rows are independent,
///     segments 0        1        2                a read of the cache waits for both.
struct ordered_bytes {
    table<value_id, segment_range> of; ///< the segments of each value; none: its accesses need no order
    std::uint32_t segments = 0;        ///< of all storages
};

/// Sizes of `no_size` reach to the end of their storage. Without `with_commuting` accesses of values with
/// writes that commute need no order.
///
/// Complexity: O(values + touches), and O(n log n) for the n values of the storages.
[[nodiscard]] ordered_bytes find_ordered_bytes(snapshot const& p, lifetimes_options const& options,
                                               bool with_commuting = true);

/// A write that moves across another access of its bytes, if the steps run in the order of `steps` and are
/// listed by ascending `rank`.
///
/// Complexity: O(steps + segments + touches log segments).
[[nodiscard]] std::optional<counterexample> moved_write(snapshot const& p, ordered_bytes const& bytes,
                                                        table<position_id, step_id> const& steps,
                                                        table<step_id, position_id> const& rank);

} // namespace detail

/// The live range of each value, if the steps run in the order of the options.
///
/// Ensures:    an input is live from position 0, an output to the end. A value with several defs is one
///             value, live from its first to its last touch. A use at the end of a predecessor comes after
///             the writes of the last step of that node. If the order cannot be run, they are meaningless.
/// Complexity: O(nodes + values + touches) time and memory; where an order is given, that of
///             find_ordered_bytes() and moved_write() for its check.
/// Throws:     precondition_error if the order does not name every node once.
[[nodiscard]] live_ranges lifetimes(snapshot const& p, lifetimes_options const& options = {});
/// The same for a listing, with its roles, views, sizes and order.
template <detail::listed L>
[[nodiscard]] live_ranges lifetimes(L const& list)
{
    return list.named(lifetimes(list.program(), detail::lifetimes_of(list.options())));
}

// --- buffers ---------------------------------------------------------------------------------------------

/// Buffers with all properties that a planner needs, gathered from the values of each class.
///
///     values                                     buffer
///       a   64 bytes  [0, 3)   align 4             root a, 64 bytes, [0, 5), align 12, output
///       b = view(a)   [2, 5)   align 6, output
///
/// Size, pool and pin are those of the root (a pin on a view pins the buffer as well); alignments combine by
/// lcm, roles by union, and the live range is the hull. A view may cover only part of the bytes, and holds
/// all of the storage. The alignment of a view counts if its offset in the root is a multiple of it;
/// planners refuse another (internal/unclear.hpp). A view that ends beyond its root prevents a plan.

struct buffer {
    /// The value that its views and in-place results are parts of; it names the buffer.
    value_id root = no_value;
    live_range life;     ///< the hull of those of all its values
    byte_count size = 0; ///< `no_size` if it is not known
    byte_count alignment = 1;                   ///< the lcm of those of its values
    value_role role = value_role::intermediate; ///< the union of those of its values
    pool_id pool = 0;                           ///< that of the root
    byte_count pinned = no_offset;              ///< a prescribed offset; `no_offset`: none
    byte_count conflicting_pin = no_offset; ///< the pin of another of its values, if it differs
    buffer_id over = no_buffer; ///< the larger buffer that it overwrites, as in memory_plan::placed_buffer
    bool eligible = true;       ///< false: one of its values has storage of its own
    std::uint32_t kind = 0;     ///< that of the root

    /// It is planned: it needs bytes, and their number is known.
    [[nodiscard]] bool is_planned() const { return needs_storage() && size != 0 && size != no_size; }
    /// It would be planned if it had bytes.
    [[nodiscard]] bool is_empty_storage() const { return needs_storage() && size == 0; }
    /// The positions at which it is written or needed: the slot that holds it is not shared during these.
    [[nodiscard]] live_range slot_life() const { return {life.first - (over != no_buffer), life.last}; }
    /// Storage would be planned for it if its size were known.
    [[nodiscard]] bool is_unsized() const { return needs_storage() && size == no_size; }

private:
    [[nodiscard]] bool needs_storage() const
    {
        return eligible && !has_role(role, value_role::external) && !is_empty(life);
    }
};

/// The buffers of a program, and the buffer of each value.
struct buffer_table {
    table<buffer_id, buffer> buffers;                      ///< by ascending root
    table<value_id, buffer_id> buffer_of;                  ///< of each value
    std::vector<memory_plan::in_place_pair> in_place = {}; ///< the pairs with joined buffers
    table<value_id, byte_count> offset_in_root = {};       ///< of each value; empty if all are 0
    value_id oversized_view = no_value; ///< the first view that ends beyond its root, if any
    byte_count oversized_bytes = 0;     ///< and where it ends
    /// Pairs of values that no bank has bytes of (plan_options::apart).
    std::vector<std::pair<value_id, value_id>> apart = {};
};

/// The buffers of a program, with all that planners need to know about each.
///
/// Requires:   `lives` are the live ranges of the values that `options` describes.
/// Complexity: O(values) time and memory.
/// Throws:     precondition_error for a property without one entry per value, alignment 0, cyclic views, or
///             values that are kept apart and do not exist.
[[nodiscard]] buffer_table gather_buffers(live_ranges const& lives, plan_options const& options);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/lifetimes.ipp>
#endif

#endif
