// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_TRANSITIVE_REDUCTION_HPP
#define SUBLET_STRUCTURES_INTERNAL_TRANSITIVE_REDUCTION_HPP

/// Edges of an acyclic graph that longer paths imply: those that the transitive reduction leaves out.
///
///     0 ──► 1 ──► 2 ──► 3      the path by 1 and 2 implies 0 ──► 3:
///     └─────────────────┘      without that edge the order is the same
///
/// All implied edges may be removed at once: the longest path between two nodes contains none. One sweep
/// follows up to 512 origins, each with a bit of its own, from the first of them to the last target. Edges of
/// about the same length are queried together, so sweeps are short.
///
/// Source: Aho, Garey and Ullman, "The transitive reduction of a directed graph", SIAM Journal on Computing
/// 1972.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// By pair i, whether a path of two edges or more leads from `pair_of(i).from` to `pair_of(i).to`; `before`
/// has the predecessors of each node. Nodes may be ids of any kind.
///
/// Requires:   every predecessor of a node is lower; the same i always yields the same pair.
/// Complexity: O(sum over doublings of length d of min(V, q 2^d) + (q / 512) 2^d, times the edges per node)
///             time for q pairs of length 2^d to 2^(d+1); O(V + pairs) memory.
/// Throws:     precondition_error if a pair does not lead from a lower node to a higher one.
template <class Node, class PairOf>
    requires requires(PairOf& pair_of) {
        { pair_of(std::uint32_t{}).from } -> std::convertible_to<Node>;
        { pair_of(std::uint32_t{}).to } -> std::convertible_to<Node>;
    }
[[nodiscard]] std::vector<unsigned char> has_indirect_path(csr_rows<Node, Node> const& before,
                                                           std::size_t pairs, PairOf pair_of)
{
    table<Node, Node> nearest(before.rows(), Node(~std::uint32_t{0})); // the lowest successor
    for (Node at = 0; at != before.rows(); ++at)
        for (Node earlier : before[at]) nearest[earlier] = smaller(nearest[earlier], at);
    std::vector<sort_key> queries; // by length, then by origin
    for (std::uint32_t i = 0; i != pairs; ++i) {
        auto const [from, to] = pair_of(i);
        SUBLET_EXPECTS(from < to && to < before.rows(),
                       "sublet: the pair % to % does not lead upwards between % nodes", from, to,
                       before.rows());
        if (nearest[from] < to) // otherwise no edge leads from `from` to a node between
            queries.push_back({static_cast<unsigned>(std::bit_width(to - from)), from, i});
    }
    sort_by_key(queries);

    constexpr std::size_t words = 8;
    std::vector<unsigned char> result(pairs);
    table<Node, std::uint32_t> number(before.rows(), 0);       // of an origin in its sweep, from 1 on
    std::vector<std::uint64_t> origins(words * before.rows()); // by node: origins that reach it, with itself
    for (std::size_t first = 0, last = 0; first != queries.size(); first = last) {
        auto const begin = static_cast<std::uint32_t>(queries[first].tie);
        std::uint32_t end = begin;
        for (std::uint32_t count = 0; last != queries.size() && queries[last].key == queries[first].key;
             ++last) {
            auto const [from, to] = pair_of(queries[last].id);
            if (number[from] == 0) {
                if (count == 64 * words || (from - begin) >> queries[first].key > 1) break;
                number[from] = ++count;
            }
            end = larger(end, +to);
        }
        for (Node at = begin; at != end; ++at) {
            std::uint64_t* const row = &origins[words * at];
            for (unsigned w = 0; w != words; ++w) row[w] = 0;
            if (number[at] != 0) row[(number[at] - 1) / 64] = std::uint64_t{1} << (number[at] - 1) % 64;
            for (Node earlier : before[at])
                if (earlier >= begin)
                    for (unsigned w = 0; w != words; ++w) row[w] |= origins[words * earlier + w];
        }
        for (std::size_t i = first; i != last; ++i) {
            auto const [from, to] = pair_of(queries[i].id);
            std::uint32_t const n = number[from] - 1;
            for (Node earlier : before[to])
                if (earlier > from && (origins[words * earlier + n / 64] >> n % 64 & 1) != 0)
                    result[queries[i].id] = 1;
        }
        for (std::size_t i = first; i != last; ++i) number[to_size(queries[i].tie)] = 0;
    }
    return result;
}

} // namespace sublet::detail

#endif
