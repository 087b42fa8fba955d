// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_VERSIONS_HPP
#define SUBLET_ANALYSIS_VERSIONS_HPP

/// What has to wait for what because values are written to one storage, and a program in which each value is
/// written once.

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// --- storage order ---------------------------------------------------------------------------------------

/// Who waits for whom because several values are written to one storage.
///
///     0: def a        ┌──────► 3: def a', in the bytes of a     2 reads a: it waits for 0, by data
///     2: use a  ──────┘                                         3 has to wait for 2: a hand-off
///
/// As long as each value has bytes of its own, who reads waits for who writes, and that is all. Where values
/// are the same bytes, the order in which a program lists their touches matters: a read waits for the write
/// before it, and a write for the reads of what it overwrites. Most of that follows from data; the rest is
/// listed here, and need not be more than a step for each read and each write.
///
/// Source: anti and output dependences as in Kuck, Kuhn, Padua, Leasure and Wolfe, "Dependence graphs and
/// compiler optimizations", POPL 1981.

namespace sublet {
namespace detail {

/// Touches in the order of the list. Each has a place: those of steps come first, then the edge uses.
struct listed_touches {
    snapshot const& p;
    std::vector<step_id> steps;
    std::vector<node_id> node_of; // by step
    csr_rows ends;                // by node: the edge uses that read where it ends

    listed_touches(snapshot const& program, std::vector<node_id> const& order);
    std::size_t first_touch(step_id s) const { return p.touches({0, s}).size(); }
    std::size_t step_touch_count() const { return first_touch(static_cast<step_id>(p.steps())); }

    /// see(place, touch) for what the step reads, what it writes, and what is read where its node ends.
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

/// The order that storage needs beyond data, edges and nodes, if the nodes are listed in `order`.
///
/// Requires:   `storage_of`, by value, is below `storages`, or `no_buffer` for a value whose storage needs no
///             order; `is_written`, by value: its def writes (that of a view need not). In `order` nothing is
///             used before it is defined, and no edge leads backwards.
/// Ensures:    with these hand-offs, touches of one storage of which one writes run in the order of the list,
///             whatever else does. None leads from a step that the other waits for directly: by an edge, by
///             what the other or an earlier step of its node reads, or within the node. Ascending, each once.
/// Complexity: O(V + E + values + touches) time and memory.
[[nodiscard]] std::vector<handoff> storage_order(snapshot const& p, std::size_t storages,
                                                 std::vector<buffer_id> const& storage_of,
                                                 std::vector<unsigned char> const& is_written,
                                                 std::vector<node_id> const& order = {});

} // namespace detail

// --- versions --------------------------------------------------------------------------------------------

/// Names that are written more than once become values that are written once.
///
///     0: def a              0: def a              a is value 0, b value 1
///     1: use a, def b       1: use a, def b
///     2: use a, def a       2: use a, def a'      a' is value 2, and may overwrite a
///     3: use a              3: use a'
///
/// A program with names means what it does when its nodes run as they are listed: a use reads what the last
/// def before it wrote. With that said once, who reads whose result is known, and the list need not be kept
/// to any longer: 2 has to wait for 1 only if a and a' are the same bytes. For some names they are, such as
/// what belongs to the caller, or what a step writes only in part. Their versions are views of the first
/// one, and the order that their storage needs is returned as hand-offs.
///
/// Source: that renaming does away with anti and output dependences is from Kuck, Kuhn, Padua, Leasure and
/// Wolfe, "Dependence graphs and compiler optimizations", POPL 1981.

/// The first version of a value goes by its id. Further ones follow behind all values, as they are listed.
struct versioned_program {
    /// Step `to` has to follow step `from` and is not listed behind it: `to` uses `value`, which is first
    /// defined at `from`; or, without a value, an edge leads there.
    struct reordering {
        value_id value = no_value;
        step_id from = no_step;
        step_id to = no_step;
        friend bool operator==(versioned_program::reordering, versioned_program::reordering) = default;
    };

    snapshot program;                       ///< nodes, steps and edges are what they were
    std::vector<value_id> value_of = {};    ///< by version
    std::vector<std::uint32_t> number = {}; ///< by version: 0, 1, 2 ... among those of its value
    std::vector<value_id> last = {};        ///< by value: its last version
    std::vector<value_role> role = {};      ///< by version: the first is given, the last is the output
    std::vector<value_id> alias_of = {};    ///< by version
    std::vector<handoff> handoffs = {};     ///< ascending: what kept storage, and what is written in
                                            ///< parts, needs beyond data and edges
    std::optional<versioned_program::reordering> violation; ///< then all else is of no use
};

namespace detail {

/// Nothing is used before it is there.
bool can_run(listed_touches const& listed, std::vector<value_role> const& role);

/// The program whose touches go by `name`. What reads and writes one name may do so in place.
snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                 std::vector<value_id> const& name);

struct version_options {
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;
    /// The versions of the name are the same bytes, and so are those of its views and of what it is a view
    /// of. What is external keeps its storage in any case.
    per_value<bool> same_storage = false;
    std::vector<node_id> order = {}; ///< in which the nodes are listed; empty: 0, 1, 2 ...
};

/// What versions() returns, where no sizes are known.
[[nodiscard]] versioned_program versions_of(snapshot const& p, version_options const& options = {});

} // namespace detail

/// The program of the versions of p's values. One that needs none comes back as it is, with hand-offs if
/// parts are written.
///
/// A value that is pinned, or whose storage is not planned, keeps its storage, and so does what
/// `same_storage` names: its versions are the same bytes, and so are those of its views and of what it is a
/// view of.
///
/// Ensures:    each version is defined at one step at most, and not at all if it is given; a use reads the
///             version that its value has there in the listed order, one at the end of a node what that
///             node's last step leaves. A step that uses and defines a value declares that the new version
///             may overwrite the old one. A view is one of the version that is there when its step has
///             ended, or of the first if none is; to make it writes those bytes only where it was one of them
///             already, or where its step does not touch them otherwise. A name that is used before it is
///             defined, and defined once, stays as it is: planners report it. If some value has versions, an
///             edge against the list, or a use of such a value before it is there, is a violation.
/// Complexity: O(V + E + values + touches) time and memory.
/// Throws:     precondition_error where a property has not one entry a value, views run in a circle, or the
///             order does not name every node once.
[[nodiscard]] versioned_program versions(snapshot const& p, plan_options const& options,
                                         per_value<bool> const& same_storage = false);

/// The options for a plan of the versions: each has the properties of its value.
///
/// Requires:   `versioned` was made with the roles, views and order of `options`.
/// Complexity: O(versions) time and memory.
[[nodiscard]] plan_options with_versions(plan_options const& options, versioned_program const& versioned);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/versions.ipp>
#endif

#endif
