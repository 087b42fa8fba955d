// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_DSATUR_IPP
#define SUBLET_SHARING_IMPL_DSATUR_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/dsatur.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

/// Which of the players has the largest key; a key changes at any time.
class tournament {
public:
    /// Complexity: O(keys.size()), and O(log keys.size()) for a changed key, mostly less.
    explicit tournament(std::vector<std::uint64_t> keys)
        : key_(std::move(keys)), size_(std::bit_ceil(key_.size() + 1))
    {
        key_.resize(size_, 0);
        winner_.resize(2 * size_);
        for (std::size_t player = 0; player != size_; ++player)
            winner_[size_ + player] = static_cast<std::uint32_t>(player);
        for (std::size_t match = size_ - 1; match != 0; --match) winner_[match] = play(match);
    }
    [[nodiscard]] std::uint64_t operator[](std::uint32_t player) const { return key_[player]; }
    /// Of equals the lowest.
    [[nodiscard]] std::uint32_t winner() const { return winner_[1]; }

    void change(std::uint32_t player, std::uint64_t key)
    {
        key_[player] = key;
        for (std::size_t match = (size_ + player) / 2; match != 0; match /= 2) {
            std::uint32_t const now = play(match);
            if (now != player && now == winner_[match])
                return; // out here before and now: no match above changes
            winner_[match] = now;
        }
    }

private:
    std::uint32_t play(std::size_t match) const
    {
        std::uint32_t const a = winner_[2 * match], b = winner_[2 * match + 1];
        return key_[a] < key_[b] ? b : a;
    }

    std::vector<std::uint64_t> key_;
    std::size_t size_;
    std::vector<std::uint32_t> winner_; // of match i, which plays in match i / 2; from size_ on the players
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<slot_id>
color_by_saturation(csr_graph const& g, std::vector<value_id> const& vertices, std::vector<slot_id> slot_of)
{
    // Who waits has the key: saturation + 1, neighbours that wait. Who does not, has 0.
    constexpr std::uint64_t one_slot = std::uint64_t{1} << 32;
    std::vector<std::uint64_t> keys(g.rows(), 0);
    for (value_id v : vertices) keys[v] = one_slot;
    for (value_id v : vertices)
        for (value_id w : g[v]) keys[w] += keys[w] != 0;
    detail::tournament waiting(std::move(keys));

    std::vector<std::size_t> first_word{0}; // by vertex
    for (std::size_t v = 0; v != g.rows(); ++v) first_word.push_back(first_word[v] + g[v].size() / 64 + 1);
    std::vector<std::uint64_t> taken(first_word.back(), 0);
    // A neighbour of v takes s: what that adds to v's key.
    auto take = [&](slot_id s, value_id v) -> std::uint64_t {
        if (s > g[v].size()) return 0;
        std::uint64_t& word = taken[first_word[v] + s / 64];
        std::uint64_t const before = word;
        word |= std::uint64_t{1} << s % 64;
        return word != before ? one_slot : 0;
    };

    for (value_id v : vertices) {
        std::uint64_t key = waiting[v];
        for (value_id w : g[v]) key += take(slot_of[w], v);
        waiting.change(v, key);
    }
    for (value_id v = waiting.winner(); waiting[v] != 0; v = waiting.winner()) {
        std::size_t word = first_word[v];
        while (taken[word] == ~std::uint64_t{0}) ++word;
        auto const bit = static_cast<std::size_t>(std::countr_one(taken[word]));
        slot_of[v] = static_cast<slot_id>((word - first_word[v]) * 64 + bit);
        waiting.change(v, 0);
        for (value_id w : g[v])
            if (waiting[w] != 0) waiting.change(w, waiting[w] - 1 + take(slot_of[v], w));
    }
    return slot_of;
}

} // namespace sublet

#endif
