// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_BYTE_OWNERS_HPP
#define SUBLET_EXECUTION_BYTE_OWNERS_HPP

/// Which buffer was the last to move in, for each byte of an arena.
///
///     borders    0       64      96          160        where any buffer begins or ends
///     owner      │   a   │   c   │     c     │          c moved in over the end of b
///
/// Between two neighbouring borders all bytes have one owner. To claim a buffer costs a step for each stretch
/// in it, so less than to paint its bytes: no search tree is needed.

#include <sublet/keyed.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

class byte_owners {
public:
    /// Requires: all that will be claimed begins and ends at a border.
    byte_owners(std::vector<keyed> borders, byte_count end);

    void claim(byte_count begin, byte_count end, buffer_id who);
    /// Calls `see(begin, end, owner)` for each stretch of [begin, end), ascending.
    template <class See>
    void each(byte_count begin, byte_count end, See see) const
    {
        for (std::size_t i = stretch_at(begin); borders_[i].key < end; ++i)
            see(borders_[i].key, borders_[i + 1].key, owner_[i]);
    }

private:
    std::size_t stretch_at(byte_count begin) const;

    std::vector<keyed> borders_;   // ascending, each once: many buffers begin where one ends
    std::vector<buffer_id> owner_; // of the stretch that begins at a border
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/byte_owners.ipp>
#endif

#endif
