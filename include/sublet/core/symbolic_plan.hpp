// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_SYMBOLIC_PLAN_HPP
#define SUBLET_CORE_SYMBOLIC_PLAN_HPP

/// Options and result of one plan for every shape: sizes are formulas in open dimensions, and the plan is a
/// stacking, which gives the offsets of each shape from its sizes.
///
///     buffer   size            (batch, length) = (1, 32)    (8, 512)
///       c      4*length^2      [3072, 7168)                 [393216, 1441792)        on top of a and b
///       b      96*length       [   0, 3072)                 [0, 49152)
///       a      48*batch        [   0,   48) later           [0, 384)

#include <sublet/core/formula.hpp>
#include <sublet/core/internal/shape_callable.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

// --- shape view ------------------------------------------------------------------------------------------

namespace sublet {

/// The sizes of the open dimensions as an argument: `{8, 512}`, a vector, a span or, of one dimension, a
/// number.
class shape_view {
public:
    /// One size for each dimension.
    shape_view(std::span<byte_count const> sizes) noexcept : data_(sizes.data()), count_(sizes.size()) {}
    /// The same.
    shape_view(sublet::shape const& sizes) noexcept : shape_view(std::span<byte_count const>(sizes)) {}
    /// The same.
    shape_view(std::initializer_list<byte_count> sizes) noexcept : count_(sizes.size())
    {
        data_ = sizes.begin();
    }
    /// Of one dimension.
    /// Throws: precondition_error if it is negative.
    template <detail::integer N>
    shape_view(N size) : one_(detail::to_byte_count(size)), count_(1)
    {
    }

    /// The sizes.
    [[nodiscard]] std::span<byte_count const> sizes() const noexcept
    {
        return {data_ == nullptr ? &one_ : data_, count_};
    }

private:
    byte_count const* data_ = nullptr; // none: of `one_`
    byte_count one_ = 0;
    std::size_t count_ = 0;
};

// --- symbolic options ------------------------------------------------------------------------------------

/// Options of a plan for every shape.
///
///     {.bytes = sizes, .dims = {{"batch", 1, 64}, {"length", 1, 2048}}}
///
/// Except for the sizes they are as in plan_options; at() gives the options for one shape. There are no
/// choices of pools.

/// As plan_options, with sizes for every shape.
struct symbolic_options {
    /// A shape for which the plan is to be low.
    struct sample {
        sublet::shape shape;      ///< one size for each dimension
        std::uint32_t weight = 1; ///< in the mean, as often as it comes
    };
    /// What is to be small.
    enum class goal_kind : std::uint8_t {
        worst, ///< the largest ratio of an arena to its lower bound among the samples
        mean   ///< the weighted mean of these ratios
    };

    /// No default; `formula::unknown()`: unknown; `formula::by_shape()`: see `bytes_at`.
    per_value<formula> bytes;
    std::vector<dimension> dims = {}; ///< the open dimensions, with their ranges
    /// `bytes_at(value, sizes)`: the size of a value for one shape, if it is no formula. Nothing is proved of
    /// it: the value is in no in-place pair, and a view is checked for single shapes only. Refused if no size
    /// is by shape.
    detail::bytes_by_shape bytes_at = {};
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    /// Its relation to the world outside the program.
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;    ///< v is a view of alias_of[v]
    per_value<formula> view_offset = formula{}; ///< its first byte in alias_of[v], for every shape
    per_value<pool_id> pool = pool_id{0};       ///< the pool to lie in
    per_value<byte_count> pinned = no_offset;   ///< a prescribed offset, the same for every shape
    per_value<bool> eligible = true;            ///< false: has its own storage: not planned, not counted
    /// As in plan_options; capacities are for every shape, and no pool may have blocks.
    table<pool_id, pool_limits> pools = {};
    std::vector<node_id> order = {};            ///< every node once; empty: 0, 1, 2 ...
    /// In one order, or `program_reading::concurrent`: for every schedule, as plan_concurrent().
    program_reading valid_for = program_reading::sequential;
    std::vector<handoff> handoffs = {}; ///< for every schedule: more order that the execution keeps
    /// Shapes that matter, besides corners and middles of the ranges. A weight counts only with
    /// goal_kind::mean, and if there is one here, only those given here count there.
    std::vector<symbolic_options::sample> samples = {};
    symbolic_options::goal_kind goal = symbolic_options::goal_kind::worst; ///< of all samples
    bool in_place = true; ///< take the in-place pairs of which the sizes are proved to be equal
    bool check = true;    ///< check the plan before it is returned
    sublet::effort effort = sublet::effort::balanced; ///< the work of each search

    /// The options for one shape.
    ///
    /// Throws: precondition_error if the shape is none of the ranges; reading a size throws as formula::at().
    [[nodiscard]] plan_options at(shape_view one) const;
};

/// The options of a listing for every shape: sizes, dimensions, samples, goal, `eligible`, and what is to be
/// added to the view offsets of the listing, are those given; all others are the listing's. Its program and
/// these are what executors and checkers take.
///
///     sublet::formula const bytes = 8 * sublet::symbol(0);
///     auto const all = sublet::symbolic_options_of(list, {.bytes = bytes, .dims = {{"n", 1, 8}}});
///     sublet::cpu_executor run{list.program(), all.at(3), sublet::no_plan{}, kernel}; // one shape
///
/// Throws: precondition_error if the listing names a choice of pools, or has a previous plan, optional steps, or
///         values that are carried or kept apart, which no plan for every shape does; or if the options say what
///         the listing says: an alignment, a role, a pool, a pin, a view, an order, in_place, check, effort.
template <detail::listed L>
[[nodiscard]] symbolic_options symbolic_options_of(L const& list, symbolic_options options)
{
    plan_options const said = list.options();
    list.expect_no_carry("a plan for every shape");
    list.expect_no_choice();
    SUBLET_EXPECTS(said.previous.buffer_of.empty(),
                   "sublet: a plan for every shape does not take account of a previous plan");
    SUBLET_EXPECTS(said.carried.empty(),
                   "sublet: a plan for every shape carries no value into the next round");
    SUBLET_EXPECTS(said.optional.empty(), "sublet: a plan for every shape leaves out no step");
    SUBLET_EXPECTS(said.apart.empty(), "sublet: a plan for every shape keeps no values apart in banks");
    bool const is_said =
        !options.alignment.is_constant(1) || !options.role.is_constant(value_role::intermediate) ||
        !options.alias_of.is_constant(no_value) || !options.pool.is_constant(0) ||
        !options.pinned.is_constant(no_offset) || !options.pools.empty() || !options.order.empty() ||
        !options.in_place || !options.check || !(options.effort == effort::balanced);
    SUBLET_EXPECTS(
        !is_said,
        "sublet: alignment, role, view, pool, pin and order of the values of a listing, in_place, check "
        "and effort are said there, and options for every shape say them again");
    options.eligible = [said, own = options.eligible](value_id v) { return said.eligible[v] && own[v]; };
    options.view_offset = [said, more = options.view_offset](value_id v) {
        return said.view_offset[v] + more[v];
    };
    options.alignment = said.alignment;
    options.role = said.role;
    options.alias_of = said.alias_of;
    options.pool = said.pool;
    options.pinned = said.pinned;
    options.pools = said.pools;
    options.order = said.order;
    options.in_place = said.in_place;
    options.check = said.check;
    options.effort = said.effort;
    return options;
}

// --- symbolic plan ---------------------------------------------------------------------------------------

/// One plan for every shape.
///
///     sublet::symbolic_plan const serving = sublet::plan_symbolic(program, any_shape).plan;
///     sublet::symbolic_plan::places now;                  // reused: no allocation from the second shape on
///     for (sublet::shape const& request : requests) {
///         serving.place(request, now);
///         std::cout << serving.offset_of(scores, now) << '\n';
///     }
///
/// Valid in the reading that was asked for.
struct symbolic_plan {
    /// A buffer without its offset.
    struct buffer {
        /// The other values of the buffer are views or in-place results of this one.
        value_id root = no_value;
        live_range life = {};          ///< first to last touch; in one order its bytes are in use there
        std::uint32_t size = 0;        ///< which of `sizes` is that of all its bytes
        byte_count alignment = 1;      ///< its own and its pool's
        pool_id pool = 0;              ///< the pool that it lies in
        byte_count pinned = no_offset; ///< its offset, if that is prescribed
        friend bool operator==(symbolic_plan::buffer const&, symbolic_plan::buffer const&) = default;
    };
    /// The places of all buffers for one shape.
    struct places {
        sublet::shape shape;          ///< of these sizes
        std::vector<byte_count> size; ///< of each buffer, in bytes
        stacking::offsets at;         ///< of each buffer, and the bytes of each pool
    private:
        friend symbolic_plan;
        std::vector<byte_count> sizes_; // of `symbolic_plan::sizes`
    };

    /// The first byte of a value, for each shape.
    class offset {
    public:
        /// It refers to the plan. Requires: the value has a buffer.
        offset(symbolic_plan const& plan, value_id value) : plan_(&plan), value_(value) {}
        /// For one shape, of which the places were found before; or with all others.
        template <class Shape = shape_view>
        [[nodiscard]] byte_count at(Shape const& one) const
        {
            return plan_->offset_of(value_, one);
        }
        friend bool operator==(symbolic_plan::offset, symbolic_plan::offset) = default;

    private:
        symbolic_plan const* plan_;
        value_id value_;
    };

    program_reading valid_for = program_reading::sequential; ///< how the steps may run: the reading
    std::vector<dimension> dims = {};                ///< the open dimensions
    std::vector<node_id> order = {};                 ///< of the nodes; empty: 0, 1, 2 ..., or any
    std::vector<handoff> handoffs = {}; ///< order that the execution must keep, besides data and edges
    table<buffer_id, symbolic_plan::buffer> buffers = {}; ///< by ascending root
    table<value_id, buffer_id> buffer_of = {};       ///< `no_buffer`: not planned
    std::vector<formula> sizes = {};                 ///< of buffers, each once; `by_shape()`: `bytes_at`
    sublet::stacking stack = {};                     ///< which buffers lie below which
    /// Of each pool, for every shape; of sizes by shape, for the samples only.
    table<pool_id, byte_count> most_bytes = {};
    std::vector<value_id> unsized = {};              ///< roots of buffers of unknown size
    /// The first byte of a view in its root; no entry at all if every view begins with its root.
    table<value_id, formula> offset_in_root = {};
    detail::bytes_by_shape bytes_at = {}; ///< of sizes that are no formulas

    /// Finds the places of all buffers for one shape.
    ///
    /// Complexity: O(buffers + pairs of the stacking + operations of `sizes`), at most 2 pairs a buffer;
    ///             allocates nothing if `result` was used for this plan.
    /// Throws:     precondition_error if the shape is none of the ranges, a size is below 0, or sizes exceed
    ///             64 bits; where sizes are by shape, also if a buffer does not fit below a pin.
    void place(shape_view one, symbolic_plan::places& result) const;

    /// The first byte of v in the arena of its pool, or `no_offset`. O(1), and the formula of a view.
    [[nodiscard]] byte_count offset_of(value_id v, symbolic_plan::places const& now) const;
    /// The same for one shape: place() for one value.
    [[nodiscard]] byte_count offset_of(value_id v, shape_view one) const;

    /// The plan for one shape, for executors and reports.
    /// Complexity: place() and O(values).
    /// Throws:     as place().
    [[nodiscard]] memory_plan at(shape_view one) const;

    /// The bytes of a pool for one shape; 0 for a pool that the plan does not have.
    /// Throws: as place().
    [[nodiscard]] byte_count bytes(shape_view one, pool_id pool = 0) const;
    /// The bytes of all pools for each of these shapes, in the weighted mean, rounded up: of a mixture of
    /// requests.
    ///
    /// Requires: a weight is not 0.
    /// Throws:   as place(); precondition_error if the sum exceeds 64 bits.
    [[nodiscard]] byte_count mean_bytes(std::span<symbolic_options::sample const> mixture) const;
    /// Whether each pool fits its capacity for one shape; a pool that is not listed has none.
    /// Throws: as place().
    [[nodiscard]] bool fits(shape_view one, table<pool_id, pool_limits> const& pools) const;
    /// The largest size of one dimension for which the shape fits the capacities, while the others stay; none
    /// if no size does. What `one` has for that dimension does not matter.
    ///
    /// Complexity: O(log s) calls of place(), s = sizes in its range, if all sizes of buffers are proved to
    ///             rise with it; otherwise O(s).
    /// Throws:     precondition_error if there is no such dimension; as place().
    [[nodiscard]] std::optional<byte_count> largest(std::uint32_t dimension, shape_view one,
                                                    table<pool_id, pool_limits> const& pools) const;

    friend bool operator==(symbolic_plan const& a, symbolic_plan const& b) { return a.is_equal(b); }

private:
    [[nodiscard]] bool is_equal(symbolic_plan const& other) const;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/symbolic_plan.ipp>
#endif

#endif
