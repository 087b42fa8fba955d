// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_STRUCTURES_INTERNAL_BYTE_OWNERS_HPP
#define SUBLET_STRUCTURES_INTERNAL_BYTE_OWNERS_HPP

/// For each byte of an arena, the buffer that occupied it last.
///
///     borders    0       64      96          160        where any buffer begins or ends
///     owner      │   a   │   c   │     c     │          c overwrote the end of b
///
/// All bytes between two neighbouring borders have one owner. Claiming a buffer takes a step per segment.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

class byte_owners {
public:
    /// Requires: each range that is claimed begins and ends at a border.
    byte_owners(std::vector<sort_key> borders, byte_count end);

    void claim(byte_count begin, byte_count end, buffer_id id);
    /// Calls `visit(begin, end, owner)` for each segment of [begin, end), ascending.
    template <class Visit>
    void each(byte_count begin, byte_count end, Visit visit) const
    {
        for (std::size_t i = segment_at(begin); borders_[i].key < end; ++i)
            visit(borders_[i].key, borders_[i + 1].key, owner_[i]);
    }

private:
    std::size_t segment_at(byte_count begin) const;

    std::vector<sort_key> borders_; // ascending, without duplicates
    std::vector<buffer_id> owner_;  // of the segment that begins at each border
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/structures/impl/byte_owners.ipp>
#endif

#endif
