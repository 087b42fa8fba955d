// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_HPP
#define SUBLET_REWRITING_RELEASE_HPP

/// Release points: after which steps an executor that allocates as it goes can free each buffer.
///
///     in order        the step of the last touch                         releases(p, buffers, buffer_of)
///     control flow    steps, edges and node entries, once per path       flow_releases(...)
///     concurrently    a counter per buffer that last touches lower       releases(p, g, buffers, ...)

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- releases in order -----------------------------------------------------------------------------------

/// Release points of a program that runs its steps one after the other.
///
///     0: def a                     a is released after 2, its last touch,
///     1: use a, def b              b and c after 3,
///     2: use a, def c              d is an output and is not released
///     3: use b, use c, def d
///
///     0  1  2  free a  3  free b, c        the list, with operations inserted from the end to the front
///
/// Source: PaddlePaddle's memory transpiler (`release_memory`), which inserts operations that delete.

namespace sublet {

/// Which step releases which buffers, or slots if the values are assigned to slots.
struct release_points {
    /// Of each step: buffers with a counter that it lowers at its end, ascending.
    csr_rows<step_id, buffer_id> after;
    /// Of each buffer: how many steps lower it. 0: it is never released, or at the start.
    table<buffer_id, std::uint32_t> counter;
    std::vector<buffer_id> at_start = {}; ///< given, and never touched

    /// How many buffers there are, released or not.
    [[nodiscard]] std::size_t buffers() const;
};

/// The release points of a program that runs its nodes one after the other. `buffer_of` a value is
/// `no_buffer` for values that are not released.
///
/// Ensures:    every counter is 1 or 0: a buffer is released after its last touch in the order; a use at the
///             end of a node belongs to its last step. Buffers with an output or an external value are not
///             released, nor are buffers that are neither given nor touched.
/// Complexity: O(nodes + values + touches) time, O(values + steps) memory.
/// Throws:     precondition_error if a table does not have one entry per value, a buffer is out of range, or
///             the order does not name every node once.
[[nodiscard]] release_points releases(snapshot const& p, std::size_t buffers,
                                      table<value_id, buffer_id> const& buffer_of,
                                      lifetimes_options const& options = {});

/// Inserts releases into a list of operations: calls `insert(i, buffers)` for the buffers to be released
/// right before its i-th step; i is the number of steps for releases at the end.
///
/// Calls come from the end to the front, so every i is valid in the list as it then is, and so are positions
/// that you keep in front of it (of the backward part, say); those after it move by `shifted_positions`.
///
/// Requires:   all counters are 1 or 0. `order` has the steps by position; empty: in program order.
/// Complexity: O(steps + buffers).
template <class Insert>
    requires std::invocable<Insert&, position_id, std::span<buffer_id const>>
void insert_releases(release_points const& points, std::vector<step_id> const& order, Insert insert)
{
    for (std::uint32_t count : points.counter)
        SUBLET_EXPECTS(count <= 1, "sublet: a list can release a buffer after one step only");
    for (auto at = position_id::of(points.after.rows()); at-- != 0;) {
        auto const released = points.after[order.empty() ? step_id::of(+at) : order[at]];
        if (!released.empty()) insert(position_id{at + 1}, released);
    }
    if (!points.at_start.empty())
        insert(position_id{0}, std::span<buffer_id const>(points.at_start.data(), points.at_start.size()));
}

/// Of each position: where its step stands after insert_releases() has inserted one operation per call.
[[nodiscard]] table<position_id, position_id> shifted_positions(release_points const& points,
                                                                std::vector<step_id> const& order = {});

// --- releases along control flow -------------------------------------------------------------------------

/// Release points where successors are alternatives: once on every path, and as early as the path allows.
///
///        0: def a, def b       b is released after its use in 1, and on the edge from 0 to 2, where it
///        /      \              is dead, which 0 cannot know
///     1: use b   2: use a      a is released after 2, and on the edge from 0 to 1
///        \      /
///        3                     a buffer that all edges to a node release is released at its entry
///
/// A buffer that is dead after a touch is released after that step. One that is live at the end of a node and
/// dead at the entry of a successor is released on the edge: a loop releases its buffers at the exit.
///
/// Source: liveness as in Appel, "Modern compiler implementation", 1998; releases on edges are the drops of
/// reference counting compilers, Reinking, Xie, de Moura and Leijen, "Perceus", PLDI 2021.

/// Which buffers are released where, for programs with control flow.
struct flow_release_points {
    /// A release between two nodes, after the uses at the end of the first.
    struct edge {
        node_id from = no_node;     ///< the node that is left
        node_id to = no_node;       ///< the node that is entered
        buffer_id what = no_buffer; ///< the buffer that is released
        friend bool operator==(flow_release_points::edge, flow_release_points::edge) = default;
    };

    csr_rows<step_id, buffer_id> after;    ///< released at the end of each step, ascending
    csr_rows<node_id, buffer_id> at_entry; ///< released before the first step of each node, ascending
    std::vector<flow_release_points::edge>
        on_edge;                     ///< ascending by `to`, `from`, `what`; parallel edges count once
    std::vector<buffer_id> at_start; ///< given, and dead at the entry of the program
};

/// The release points of a control-flow graph; `buffer_of` as for releases(), with the `role` of each value.
///
/// Requires:   a value that some path reads before it writes it is given.
/// Ensures:    on every path from node 0 a buffer is allocated when it is touched, if it is allocated at its
///             first write since its last release, or given; it is released once per allocation, after the
///             last touch of its values that the path can still reach. Buffers with an output or an external
///             value are not released.
/// Complexity: that of liveness, plus O(sum over edges of the live values at their ends + touches).
/// Throws:     precondition_error if a table does not have one entry per value, or a buffer is out of range.
[[nodiscard]] flow_release_points flow_releases(snapshot const& p, std::size_t buffers,
                                                table<value_id, buffer_id> const& buffer_of,
                                                table<value_id, value_role> const& role);

// --- concurrent releases ---------------------------------------------------------------------------------

/// Release points of steps that run as soon as they are ready: reference counters, as low as possible.
///
///         ┌──► 1: use a, def b ──┐         a has a counter of 2, lowered by 1 and 2: the later one brings
///     0 ──┤                      ├──► 3    it to zero and releases a
///         └──► 2: use a, def c ──┘         b and c have a counter of 1; so would a if 3 used it as well
///
/// No step knows whether it is the last to touch a buffer. A step that another touch of the buffer follows in
/// every execution need not count. The others each lower the counter, which is set before the program runs.
///
/// Source: the reference counts of Apache SINGA's scheduler, which were correct for one order only; here
/// happens-before decides which steps count.
///
/// Requires:   `g` is the graph of `p`, without an error; `role` has one entry per value.
/// Ensures:    a buffer's counter is lowered by the steps that touch it and that no other touch of it follows
///             in every execution. So it reaches zero when the last touch has ended; without any one of these
///             steps some execution would release the buffer too early. Kept buffers are not released.
/// Complexity: O(values + steps + touches) time plus that of happens_before(), and for a buffer of k touches
///             over w positions another min(k^2 log, those w and their edges).
/// Throws:     precondition_error if a table does not have one entry per value, or a buffer is out of range.
[[nodiscard]] release_points releases(snapshot const& p, dependence_graph const& g, std::size_t buffers,
                                      table<value_id, buffer_id> const& buffer_of,
                                      table<value_id, value_role> const& role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/release.ipp>
#endif

#endif
