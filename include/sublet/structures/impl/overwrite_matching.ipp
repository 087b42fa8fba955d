// SPDX-License-Identifier: BSL-1.0

/// Results by descending size; each searches an augmenting path breadth first, and flips it. Operands that a
/// failed search reached lead nowhere later either, so all failed searches together visit each pair once.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL std::vector<std::uint32_t> match_overwrites(std::vector<overwrite_pair> const& pairs)
{
    if (pairs.empty()) return {};
    if (pairs.size() == 1) return {0};

    // Buffers are renumbered by rank, so that tables are no longer than the pairs.
    auto const count = static_cast<std::uint32_t>(pairs.size());
    std::vector<sort_key> by_in, by_out; // {buffer, 0, pair}
    for (std::uint32_t i = 0; i != count; ++i) {
        by_in.push_back({pairs[i].in, 0, i});
        by_out.push_back({pairs[i].out, 0, i});
    }
    auto rank = [count](std::vector<sort_key>& by_buffer) {
        sort_by_key(by_buffer);
        std::vector<std::uint32_t> ranks(count);
        std::uint32_t last = 0;
        for (std::uint32_t k = 0; k != count; ++k)
            ranks[by_buffer[k].id] = last += k != 0 && by_buffer[k - 1].key != by_buffer[k].key;
        return ranks;
    };
    std::vector<std::uint32_t> const in_of = rank(by_in), out_of = rank(by_out);    // by pair
    std::vector<std::uint32_t> first(out_of[by_out.back().id] + std::size_t{2}, 0); // by result: in by_out
    for (std::uint32_t out : out_of) ++first[out + 1];
    for (std::size_t out = 1; out != first.size(); ++out) first[out] += first[out - 1];

    std::vector<sort_key> results; // {size, first pair, result}: largest first
    for (std::uint32_t out = 0; out + 1 != first.size(); ++out)
        results.push_back({descending(pairs[by_out[first[out]].id].saved), by_out[first[out]].id, out});
    sort_by_key(results);

    std::uint32_t const none = ~std::uint32_t{0};
    std::vector<std::uint32_t> operand_match(count, none),
        result_match(count, none);                // by operand, by result: the matched pair
    std::vector<std::uint32_t> reached_by(count); // by operand: the pair by which the search reached it
    // By operand: the search that visited it last, or `exhausted`. Whatever a failed search reaches is matched
    // among itself and leads nowhere else, then and after any later augmentation.
    std::uint32_t const exhausted = none;
    std::vector<std::uint32_t> seen(count, 0);
    std::uint32_t search = 0;
    std::vector<std::uint32_t> queue; // breadth-first queue of results
    for (sort_key const& result : results) {
        std::uint32_t end = none; // the pair that reaches an unmatched operand
        queue.assign(1, result.id);
        ++search;
        for (std::size_t at = 0; at != queue.size() && end == none; ++at)
            for (std::uint32_t k = first[queue[at]]; k != first[queue[at] + 1] && end == none; ++k) {
                std::uint32_t const pair = by_out[k].id, in = in_of[pair];
                if (seen[in] == search || seen[in] == exhausted) continue;
                seen[in] = search;
                reached_by[in] = pair;
                if (operand_match[in] == none) end = pair;
                else queue.push_back(out_of[operand_match[in]]);
            }
        if (end == none)
            for (std::size_t at = 1; at != queue.size(); ++at)
                seen[in_of[result_match[queue[at]]]] = exhausted;
        while (end != none) {
            std::uint32_t const left = result_match[out_of[end]];
            result_match[out_of[end]] = operand_match[in_of[end]] = end;
            end = left == none ? none : reached_by[in_of[left]];
        }
    }
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i != count; ++i)
        if (operand_match[in_of[i]] == i) chosen.push_back(i);
    return chosen;
}

} // namespace sublet::detail
