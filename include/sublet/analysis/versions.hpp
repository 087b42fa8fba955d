// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_VERSIONS_HPP
#define SUBLET_ANALYSIS_VERSIONS_HPP

/// Renames values that are written several times to versions that are written once, exactly, in
/// O(V + E + values + touches). Renaming removes anti and output dependences: Kuck, Kuhn, Padua, Leasure and
/// Wolfe, "Dependence graphs and compiler optimizations", POPL 1981.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- storage order ---------------------------------------------------------------------------------------

/// Storage order: the waits needed because bytes are written more than once.
///
///     0: def a        ┌──────► 3: write a                       2 reads a: it waits for 0, by data
///     2: use a  ──────┘                                         3 has to wait for 2
///
/// If each byte is written once, data dependences suffice. Otherwise a read waits for the write before it,
/// and a write for the reads of the bytes that it overwrites.

namespace sublet {
namespace detail {

/// Touches in listed order. Each has an index: those of steps come first, then the edge uses.
struct listed_touches {
    snapshot const& p;
    table<position_id, step_id> steps;
    table<step_id, node_id> node_of;
    csr_rows<node_id, std::uint32_t> ends; // of each node: the indices of the edge uses at its end

    listed_touches(snapshot const& program, std::vector<node_id> const& order);
    std::size_t first_touch(step_id s) const { return p.touches({0, s}).size(); }
    std::size_t step_touch_count() const { return first_touch(step_id::of(p.steps())); }

    /// Calls visit(index, touch) for the reads of the step, its writes, and the reads at the end of its node.
    template <class Visit>
    void each(step_id s, Visit visit) const
    {
        std::size_t touch_index = first_touch(s);
        for (touch t : p.touches(s)) visit(touch_index++, t);
        node_id const n = node_of[s];
        if (s + 1 != p.steps_of(n).last) return;
        for (std::uint32_t i : ends[n])
            visit(step_touch_count() + i, touch{p.edge_uses()[i].value, touch::access::use});
    }
};

/// The waits that ordered bytes need beyond data, edges and nodes, if the nodes are listed in `order`.
///
/// Ensures:    with these waits, two accesses of one byte of which one writes run in listed order in every
///             execution. No wait repeats a direct one: an edge, a read of a value that the same or a later
///             step of the node makes, or the order within the node. Ascending, each once. Waits that others
///             imply are left out where reads of some bytes alternate with writes of parts of them.
/// Complexity: O(V + E + values + (touches log segments + waits) log segments) time, O(V + E + values +
///             segments + touches log segments + waits) memory. There may be r w waits where r steps read all
///             of some bytes after w others wrote parts of them, or before.
[[nodiscard]] std::vector<handoff> storage_order(snapshot const& p, ordered_bytes const& bytes,
                                                 std::vector<node_id> const& order = {});

} // namespace detail

// --- versions --------------------------------------------------------------------------------------------

///     0: def a              0: def a              a is value 0, b value 1
///     1: use a, def b       1: use a, def b
///     2: use a, def a       2: use a, def a'      a' is value 2, and may overwrite a
///     3: use a              3: use a'
///
/// If a value has several defs, a use reads the last def before it in the list. After renaming, each use
/// names its def: 2 has to wait for 1 only if a and a' are the same bytes. Some values keep their storage,
/// such as those of the caller. Their versions are views of the first one: a step that defines such a value
/// makes the view and writes through it, so the accesses of that storage keep their order.

/// The first version of a value has its id. Further versions follow after all values, in listed order.
/// Converts to false if the listed order is none: a step uses a value that is first defined later, or an edge
/// leads back. Then all else is meaningless.
struct versioned_program : verdict {
    snapshot program;                       ///< nodes, steps and edges are unchanged
    table<value_id, value_id> value_of = {};    ///< of each version
    table<value_id, std::uint32_t> number = {}; ///< of each version: 0, 1, 2 ... among those of its value
    table<value_id, value_id> last = {};        ///< of each value: its last version
    table<value_id, value_role> role = {};   ///< of each version: the first is given, the last is the output
    table<value_id, value_id> alias_of = {}; ///< of each version
};

namespace detail {

/// The program with its touches renamed to `name`, by index of the touch. A step that reads and makes one
/// value may do so in place; a def of a version that `is_kept` makes a view and writes through it.
snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                 std::vector<value_id> const& name, table<value_id, unsigned char> const& is_kept = {});

struct version_options {
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;
    /// As `same_storage` of versions(); an external value keeps its storage in any case.
    per_value<bool> same_storage = false;
    std::vector<node_id> order = {}; ///< listed order of the nodes; empty: 0, 1, 2 ...
};

/// versions(), if no sizes are known.
[[nodiscard]] versioned_program versions_of(snapshot const& p, version_options const& options = {});

} // namespace detail

/// The program with versions of p's values; unchanged if none is needed. A value keeps its storage if it is
/// pinned, if its storage is not planned, or if `same_storage` says so: its versions are the same bytes, and
/// so are those of all views of the same root. A `write` makes no version.
///
/// Ensures:    each version is defined in one step at most, and in none if it is given; a use reads the
///             version that its value has there in listed order, a use at the end of a node the version after
///             the last step of the node. A step that uses and defines a value declares that the new version
///             may overwrite the old one. A view refers to the version that is available when its step ends,
///             or to the first. A value that is used before its only def is unchanged: planners report it. If
///             some value has versions, an edge against the listed order, or a use of such a value before it
///             is available, is an error.
/// Complexity: O(V + E + values + touches) time and memory.
/// Throws:     precondition_error if a property has not one entry per value, views form a cycle, or the order
///             does not name every node once.
[[nodiscard]] versioned_program versions(snapshot const& p, plan_options const& options,
                                         per_value<bool> const& same_storage = false);
/// The same for a listing.
template <detail::listed L>
[[nodiscard]] versioned_program versions(L const& list, per_value<bool> const& same_storage = false)
{
    return list.named(versions(list.program(), list.options(), same_storage));
}

/// The options for a plan of the versions: each version has the properties of its value.
///
/// Requires:   `versioned` was made with the roles, views and order of `options`.
/// Complexity: O(versions) time and memory.
[[nodiscard]] plan_options with_versions(plan_options const& options, versioned_program const& versioned);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/versions.ipp>
#endif

#endif
