// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DOWN_SET_TABLE_HPP
#define SUBLET_ORDERING_DOWN_SET_TABLE_HPP

/// Sets that a search has come to, each numbered when it comes first.
///
///     number   set        hash    place in a ring of slots: hash, or the next that is free
///     0        000000     0
///     1        000001     h0          [ 1 . . 3 0 2 . . ]
///     2        000011     h0 ^ h1
///
/// The hash of a set is that of its members, one by one, xor: a set with one member more is told by one step.
/// Two sets are the same only if their bits are. The ring says where a set is and never in which order sets
/// are visited: that goes by number.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class down_set_table {
public:
    using word = bit_rows::word;
    using id = std::uint32_t;

    explicit down_set_table(std::size_t members) : words_(bit_rows::words_for(members)), ring_(64, none) {}

    [[nodiscard]] std::size_t size() const { return hash_.size(); }
    [[nodiscard]] word const* operator[](id number) const { return bits_.data() + number * words_; }
    [[nodiscard]] std::uint64_t hash(id number) const { return hash_[number]; }
    /// What it holds takes so many bytes.
    [[nodiscard]] std::size_t bytes() const
    {
        return bits_.size() * sizeof(word) + hash_.size() * sizeof(std::uint64_t) + ring_.size() * sizeof(id);
    }

    /// What a member adds to the hash of a set: a number mixed of its own.
    [[nodiscard]] static constexpr std::uint64_t hash_of(std::uint32_t member) noexcept
    {
        std::uint64_t h = (std::uint64_t{member} + 1) * 0x9e3779b97f4a7c15u;
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
        h = (h ^ h >> 27) * 0x94d049bb133111ebu;
        return h ^ h >> 31;
    }

    struct place {
        id number;
        bool is_new;
    };
    /// The number of a set, a new one if it is not known.
    ///
    /// Requires:   `hash` is that of the set's members.
    /// Complexity: O(words) expected.
    place number_of(word const* set, std::uint64_t hash)
    {
        std::size_t at = hash & (ring_.size() - 1);
        for (; ring_[at] != none; at = (at + 1) & (ring_.size() - 1)) {
            id const other = ring_[at];
            if (hash_[other] != hash) continue;
            std::size_t same = 0;
            while (same != words_ && (*this)[other][same] == set[same]) ++same;
            if (same == words_) return {other, false};
        }
        auto const number = static_cast<id>(hash_.size());
        ring_[at] = number;
        hash_.push_back(hash);
        for (std::size_t i = 0; i != words_; ++i) bits_.push_back(set[i]);
        if (hash_.size() > ring_.size() / 2) grow();
        return {number, true};
    }

private:
    static constexpr id none = ~id{0};

    void grow()
    {
        ring_ = std::vector<id>(ring_.size() * 2, none);
        for (id number = 0; number != hash_.size(); ++number) {
            std::size_t at = hash_[number] & (ring_.size() - 1);
            while (ring_[at] != none) at = (at + 1) & (ring_.size() - 1);
            ring_[at] = number;
        }
    }

    std::size_t words_;
    std::vector<word> bits_;
    std::vector<std::uint64_t> hash_;
    std::vector<id> ring_; // a power of two
};

} // namespace sublet

#endif
