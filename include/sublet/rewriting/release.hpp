// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_RELEASE_HPP
#define SUBLET_REWRITING_RELEASE_HPP

/// When storage can be given back, for executors that allocate as they go.
///
///     0: def a                     a is released after 2, its last touch,
///     1: use a, def b              b and c after 3;
///     2: use a, def c              d is an output: nobody releases it
///     3: use b, use c, def d
///
///     0  1  2  free a  3  free b, c        the list, with operations put in from the end to the front
///
/// Here steps run one after the other. For those that run whenever they may see release_concurrent.hpp, and
/// release_flow.hpp where successors are alternatives.
///
/// Source: PaddlePaddle's memory transpiler (`release_memory`), which inserts operations that delete.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
struct buffer_ends {
    std::vector<unsigned char> is_given, is_kept;

    buffer_ends(std::size_t buffers, std::vector<buffer_id> const& buffer_of,
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
        auto const dying = points.after[order.empty() ? at : order[at]];
        if (!dying.empty()) insert(at + 1, dying);
    }
    if (!points.at_start.empty())
        insert(step_id{0}, std::span<buffer_id const>(points.at_start.data(), points.at_start.size()));
}

/// By position, where a step stands after insert_releases() has put in one operation for each of its calls.
[[nodiscard]] std::vector<step_id> shifted_positions(release_points const& points,
                                                     std::vector<step_id> const& order = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/release.ipp>
#endif

#endif
