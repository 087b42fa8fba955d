// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_SLOT_SET_HPP
#define SUBLET_SHARING_SLOT_SET_HPP

/// The slots that are taken just now, and the lowest that is not.
///
///     taken   0  1  _  3         lowest_free() is 2, lowest_free(3) is 4

#include <sublet/units.hpp>

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
    void insert(slot_id s);
    void erase(slot_id s);

    /// Of those from `from` on.  O(taken slots / 64)
    [[nodiscard]] slot_id lowest_free(slot_id from = 0) const;

private:
    std::vector<std::uint64_t> words_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/slot_set.ipp>
#endif

#endif
