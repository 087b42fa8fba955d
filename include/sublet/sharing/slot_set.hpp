// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SLOT_SET_HPP
#define SUBLET_SHARING_SLOT_SET_HPP

/// The slots that are taken just now, and the lowest that is not.
///
///     taken   0  1  _  3         lowest_free() is 2, lowest_free(3) is 4

#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class slot_set {
public:
    void clear() { words_.assign(words_.size(), 0); }

    [[nodiscard]] bool contains(slot_id s) const
    {
        return s / 64 < words_.size() && (words_[s / 64] >> s % 64 & 1) != 0;
    }
    void insert(slot_id s)
    {
        if (s / 64 >= words_.size()) words_.resize(s / 64 + std::size_t{1});
        words_[s / 64] |= std::uint64_t{1} << s % 64;
    }
    void erase(slot_id s) { words_[s / 64] &= ~(std::uint64_t{1} << s % 64); }

    /// Of those from `from` on.  O(taken slots / 64)
    [[nodiscard]] slot_id lowest_free(slot_id from = 0) const
    {
        std::size_t w = from / 64;
        if (w >= words_.size()) return from;
        std::uint64_t free = ~words_[w] & ~std::uint64_t{0} << from % 64;
        while (free == 0) {
            if (++w == words_.size()) return static_cast<slot_id>(64 * w);
            free = ~words_[w];
        }
        return static_cast<slot_id>(64 * w + static_cast<std::size_t>(std::countr_zero(free)));
    }

private:
    std::vector<std::uint64_t> words_;
};

} // namespace sublet::detail

#endif
