// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_PLACEMENT_FAULT_HPP
#define SUBLET_CHECKING_PLACEMENT_FAULT_HPP

/// What is wrong with a placement, as a counterexample that anyone can look up.
///
///     buffers 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 0

#include <sublet/units.hpp>

#include <cstdint>

namespace sublet {

enum class misplacement : std::uint8_t {
    foreign,      ///< the tables of the placement are not as long as those of the problem ask for
    wrong_pool,   ///< buffer lies in pool, which is none of its own
    unplaced,     ///< buffer needs bytes and has no offset
    needless,     ///< buffer needs no bytes and has an offset, begin
    misaligned,   ///< buffer lies at begin, which is no multiple of `needed`
    off_pin,      ///< buffer lies at begin and is pinned to `needed`
    torn,         ///< buffer lies at begin; where other lies, with which it is colocated, asks for `needed`
    wrong_height, ///< pool ends at end, which is not its height, `needed`
    clash,        ///< buffer and other are solid at position and share bytes [begin, end)
    wrong_bound,  ///< nothing is below `needed` in pool, it is said; but pool ends at end, or its proof there
    wrong_status, ///< the status is none that heights, bounds and capacities of the pools allow, or not of
                  ///< pool
    wrong_cost,   ///< the pools chosen, or the cheapest that could be, cost end, and not `needed`
    wrong_movement ///< end bytes have moved, and not `needed`
};

struct placement_fault {
    misplacement what = misplacement::clash;
    buffer_id buffer = no_buffer;
    buffer_id other = no_buffer;
    step_id position = 0;
    byte_count begin = 0;
    byte_count end = 0;
    byte_count needed = 0;
    pool_id pool = 0;
    friend bool operator==(placement_fault const&, placement_fault const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, placement_fault const& f)
{
    switch (f.what) {
    case misplacement::foreign: out << "the placement is not one of this problem"; break;
    case misplacement::wrong_pool:
        out << "buffer " << f.buffer << " lies in pool " << f.pool << ", which is not one of its own";
        break;
    case misplacement::unplaced: out << "buffer " << f.buffer << " needs bytes and has no offset"; break;
    case misplacement::needless:
        out << "buffer " << f.buffer << " needs no bytes and has an offset, " << f.begin;
        break;
    case misplacement::misaligned:
        out << "buffer " << f.buffer << " lies at offset " << f.begin << " of pool " << f.pool
            << ", which is not a multiple of its alignment " << f.needed;
        break;
    case misplacement::off_pin:
        out << "buffer " << f.buffer << " lies at offset " << f.begin << " of pool " << f.pool
            << " and is pinned to " << f.needed;
        break;
    case misplacement::torn:
        out << "buffer " << f.buffer << " is colocated with buffer " << f.other
            << " and does not lie where that asks for (offset " << f.begin << ", not " << f.needed << ')';
        break;
    case misplacement::wrong_height:
        out << "what lies in pool " << f.pool << " ends at " << f.end << " and its height is given as "
            << f.needed;
        break;
    case misplacement::clash:
        out << "buffers " << f.buffer << " and " << f.other << " are both alive at position " << f.position
            << " and share bytes [" << f.begin << ", " << f.end << ") of pool " << f.pool;
        break;
    case misplacement::wrong_bound:
        out << "the lower bound of pool " << f.pool << " is given as " << f.needed
            << ", but its placement or its proof ends at " << f.end;
        break;
    case misplacement::wrong_status:
        out << "the status of the placement is not what the heights, bounds and capacities say (pool "
            << f.pool << ')';
        break;
    case misplacement::wrong_cost:
        out << "the chosen pools, or the cheapest, cost " << f.end << ", and that is given as " << f.needed;
        break;
    case misplacement::wrong_movement:
        out << f.end << " bytes have moved, and they are given as " << f.needed;
        break;
    }
    return out;
}

} // namespace sublet

#endif
