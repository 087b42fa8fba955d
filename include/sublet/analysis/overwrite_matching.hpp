// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_OVERWRITE_MATCHING_HPP
#define SUBLET_ANALYSIS_OVERWRITE_MATCHING_HPP

/// Which results of one step are written over which of its operands.
///
///     results    64   32              32 may be written over both operands, 64 over the first only:
///                 | / |               whoever takes 32 first, 64 is moved in where 32 has to give way
///     operands    a   b
///
/// An operand takes one result, and each result saves as many bytes as it has, wherever it goes. So what
/// counts is the set of results that find a place; such sets form a matroid, and it is best to take results
/// largest first, each if room can be made for it: those that have a place keep one, perhaps another.
///
/// Source: Edmonds and Fulkerson, "Transversals and matroid partition", Journal of Research of the National
/// Bureau of Standards 69B, 1965; that the greedy choice is best in a matroid is from Edmonds, "Matroids and
/// the greedy algorithm", Mathematical Programming 1, 1971.

#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// A result that may be written over an operand, by the ids of their buffers.
struct overwrite_pair {
    buffer_id in = no_buffer;
    buffer_id out = no_buffer;
    byte_count saved = 0; ///< the size of `out`: the same in all its pairs
    friend bool operator==(overwrite_pair const&, overwrite_pair const&) = default;
};

/// The pairs to take, by index, ascending.
///
/// Ensures:    no two of them have an operand or a result in common, and no such choice saves more bytes. Of
///             results of one size the one named first is placed first, over the operand named first.
/// Complexity: O(k^3) time and O(k) memory for k pairs; O(k^2) time where each result has but few operands.
template <std::same_as<overwrite_pair> Pair>
[[nodiscard]] std::vector<std::uint32_t> match_overwrites(std::vector<Pair> const& pairs)
{
    if (pairs.empty()) return {};
    if (pairs.size() == 1) return {0};

    std::uint32_t const none = ~std::uint32_t{0};
    std::vector<keyed> results; // {size, first pair}: largest first
    for (std::uint32_t i = 0; i != pairs.size(); ++i) {
        std::uint32_t first = 0;
        while (pairs[first].out != pairs[i].out) ++first;
        if (first == i) results.push_back({falling(pairs[i].saved), i, i});
    }
    sort_keyed(results);

    std::vector<unsigned char> is_taken(pairs.size());
    auto holder = [&](buffer_id in) { // the pair that an operand is taken by
        std::uint32_t i = 0;
        while (i != pairs.size() && !(is_taken[i] && pairs[i].in == in)) ++i;
        return i == pairs.size() ? none : i;
    };
    for (keyed const& result : results) {
        // Breadth first from the result: over whom it may be written, who is there, where that may go ...
        std::vector<std::uint32_t> tried, came_by; // pairs, and by which of them their results lost a place
        std::vector<buffer_id> moving{pairs[result.who].out};
        std::vector<std::uint32_t> lost{none}; // by moving result: the pair whose trial asks it to move
        std::uint32_t end = none;
        for (std::size_t at = 0; at != moving.size() && end == none; ++at)
            for (std::uint32_t i = 0; i != pairs.size() && end == none; ++i) {
                if (pairs[i].out != moving[at]) continue;
                bool is_known = false;
                for (std::uint32_t t : tried) is_known = is_known || pairs[t].in == pairs[i].in;
                if (is_known) continue;
                tried.push_back(i);
                came_by.push_back(lost[at]);
                std::uint32_t const there = holder(pairs[i].in);
                if (there == none) end = i;
                else moving.push_back(pairs[there].out), lost.push_back(i);
            }
        while (end != none) {
            std::uint32_t before = none;
            for (std::size_t t = 0; t != tried.size(); ++t)
                if (tried[t] == end) before = came_by[t];
            for (std::uint32_t i = 0; i != pairs.size(); ++i)
                if (pairs[i].out == pairs[end].out) is_taken[i] = 0;
            is_taken[end] = 1;
            end = before;
        }
    }
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i != pairs.size(); ++i)
        if (is_taken[i]) chosen.push_back(i);
    return chosen;
}

} // namespace sublet

#endif
