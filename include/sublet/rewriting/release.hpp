// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_HPP
#define SUBLET_REWRITING_RELEASE_HPP

/// When storage can be given back, for executors that allocate as they go: in order, along control flow,
/// concurrently.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- release ---------------------------------------------------------------------------------------------

/// When storage can be given back, for executors that allocate as they go.
///
///     0: def a                     a is released after 2, its last touch,
///     1: use a, def b              b and c after 3;
///     2: use a, def c              d is an output: nobody releases it
///     3: use b, use c, def d
///
///     0  1  2  free a  3  free b, c        the list, with operations put in from the end to the front
///
/// Here steps run one after the other. For those that run whenever they may see release_concurrent, and
/// release_flow where successors are alternatives.
///
/// Source: PaddlePaddle's memory transpiler (`release_memory`), which inserts operations that delete.

namespace sublet {

/// Which step releases which buffers; or slots: whatever the values were gathered to.
struct release_points {
    csr_rows after; ///< by step: those whose counter it lowers when it has ended, ascending
    /// By buffer: by how many steps it has to be lowered. 0: it is never released, or at the start.
    std::vector<std::uint32_t> counter;
    std::vector<buffer_id> at_start = {}; ///< given, and touched by nobody

    [[nodiscard]] std::size_t buffers() const;
};

namespace detail {

/// By buffer, whether it is there before the first step and whether it is there to the end.
struct buffer_roles {
    std::vector<unsigned char> is_given, is_kept;

    buffer_roles(std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                 std::vector<value_role> const& role);
};

} // namespace detail

/// The release points of a program whose nodes run one after the other. `buffer_of`, by value, is `no_buffer`
/// for what is not released.
///
/// Ensures:    every counter is 1 or 0: a buffer is released after its last touch in the order, in which a
///             use at the end of a node belongs to its last step. Buffers with an output or an external value
///             are not released, nor is what is neither given nor touched.
/// Complexity: O(nodes + values + touches) time, O(values + steps) memory.
/// Throws:     precondition_error if a table has not one entry a value, a buffer is out of range, or the
///             order does not name every node once.
[[nodiscard]] release_points releases(snapshot const& p, std::size_t buffers,
                                      std::vector<buffer_id> const& buffer_of,
                                      lifetimes_options const& options = {});

/// Put what releases into a list of operations: `insert(i, buffers)` for those that are to be released in
/// front of its i-th step, which is behind the one before; i is the number of steps for the end.
///
/// Calls come from the end to the front, so that every i is right for the list as it then is, and what was
/// noted of places in front of it (where the backward part begins, say) stays right too: those behind have
/// moved by `shifted_positions`.
///
/// Requires:   all counters are 1 or 0. `order` has the steps by position; empty: as they are numbered.
/// Complexity: O(steps + buffers).
template <class Insert>
    requires std::invocable<Insert&, step_id, std::span<buffer_id const>>
void insert_releases(release_points const& points, std::vector<step_id> const& order, Insert insert)
{
    for (std::uint32_t count : points.counter)
        SUBLET_EXPECTS(count <= 1, "sublet: a buffer that several steps release has no place in a list");
    for (auto at = static_cast<step_id>(points.after.rows()); at-- != 0;) {
        auto const released = points.after[order.empty() ? at : order[at]];
        if (!released.empty()) insert(at + 1, released);
    }
    if (!points.at_start.empty())
        insert(step_id{0}, std::span<buffer_id const>(points.at_start.data(), points.at_start.size()));
}

namespace detail {

/// By position, where a step stands after insert_releases() has put in one operation for each of its calls.
[[nodiscard]] std::vector<step_id> shifted_positions(release_points const& points,
                                                     std::vector<step_id> const& order = {});

} // namespace detail

// --- release flow ----------------------------------------------------------------------------------------

/// When storage can be given back where successors are alternatives: on every path once, and as early as that
/// path allows.
///
///        0: def a, def b       b is released after its use in 1; and on the edge from 0 to 2, where nobody
///        /      \              needs it any more, and 0 could not know
///     1: use b   2: use a      a is released after 2, and on the edge from 0 to 1
///        \      /
///        3                     what all edges to a node release, it releases where it begins
///
/// What is dead behind a touch is released after that step. What is alive where a node ends, and not where a
/// successor begins, dies on the edge: as in a loop, which keeps what it needs until it is left.
///
/// Source: liveness as in Appel, "Modern compiler implementation", 1998; releases on edges are the drops of
/// reference counting compilers, Reinking, Xie, de Moura and Leijen, "Perceus", PLDI 2021.

struct flow_release_points {
    /// On the way from one node to another, after what is used at the end of the first.
    struct edge {
        node_id from = no_node;
        node_id to = no_node;
        buffer_id what = no_buffer;
        friend bool operator==(flow_release_points::edge, flow_release_points::edge) = default;
    };

    csr_rows after;    ///< by step: what it releases when it has ended, ascending
    csr_rows at_entry; ///< by node: what is released before its first step, ascending
    std::vector<flow_release_points::edge>
        on_edge;                     ///< ascending by `to`, `from`, `what`; parallel edges are one
    std::vector<buffer_id> at_start; ///< given, and not needed where the program begins
};

/// The release points of a control-flow graph. `buffer_of`, by value, is `no_buffer` for what is not
/// released; `role` has an entry a value.
///
/// Requires:   a value that is read on some path before it is written is given.
/// Ensures:    on every path from node 0 a buffer is there when it is touched, if it was allocated where it
///             was first written since it was last released, or given; it is released once for each
///             allocation, where the last touch of any of its values that the path can still lead to has
///             been. Buffers with an output or an external value are not released.
/// Complexity: that of liveness, and O(sum over edges of what is alive at their ends + touches).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
[[nodiscard]] flow_release_points flow_releases(snapshot const& p, std::size_t buffers,
                                                std::vector<buffer_id> const& buffer_of,
                                                std::vector<value_role> const& role);

// --- release concurrent ----------------------------------------------------------------------------------

/// When storage can be given back if steps run whenever they may: counters, as few and as short as can be.
///
///         ┌──► 1: use a, def b ──┐         a has a counter of 2, which 1 and 2 lower: whoever is later
///     0 ──┤                      ├──► 3    brings it to zero, and releases
///         └──► 2: use a, def c ──┘         b and c have one of 1; if 3 used a as well, so would a
///
/// No step knows whether it is the last to touch a buffer. But those that another touch of it follows, in
/// every execution, need not be asked. The others each lower a counter, set before the program runs.
///
/// Source: the reference counts of Apache SINGA's scheduler, which were only right for its one order; here
/// who counts follows from happens-before.

/// The release points of a program whose steps run whenever they may.
///
/// Requires:   `g` is the graph of `p`, without violation; `role` has an entry a value.
/// Ensures:    a buffer's counter is lowered by the steps that touch it and that no other step which touches
///             it follows in every execution; so it comes to zero when the last touch has ended, and whatever
///             is left out would release it too early in some. What is kept is not released.
/// Complexity: O(values + steps + touches) time and what happens_before() takes, and for a buffer of k
///             touches over w positions another min(k^2 log, those w and their edges).
/// Throws:     precondition_error if a table has not one entry a value, or a buffer is out of range.
[[nodiscard]] release_points releases(snapshot const& p, dependence_graph const& g, std::size_t buffers,
                                      std::vector<buffer_id> const& buffer_of,
                                      std::vector<value_role> const& role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/release.ipp>
#endif

#endif
