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
    [[nodiscard]] std::size_t bytes() const;

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
    place number_of(word const* set, std::uint64_t hash);

private:
    static constexpr id none = ~id{0};

    void grow();

    std::size_t words_;
    std::vector<word> bits_;
    std::vector<std::uint64_t> hash_;
    std::vector<id> ring_; // a power of two
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/down_set_table.ipp>
#endif

#endif
