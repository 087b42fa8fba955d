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

namespace sublet {

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
    list.expect_no_carry("versions");
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
