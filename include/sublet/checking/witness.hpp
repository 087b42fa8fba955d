// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_WITNESS_HPP
#define SUBLET_CHECKING_WITNESS_HPP

/// Counterexamples to plans: the violated rule, the values, the position or step, the bytes, the schedule.
///
///     witness              of sequential and control-flow plans
///     concurrent_witness   also names the two steps and an execution order in which they conflict

#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

// --- witness ---------------------------------------------------------------------------------------------

namespace sublet {

enum class fault : std::uint8_t {
    clash,          ///< value and other are alive at position and share bytes [begin, end)
    misaligned,     ///< value lies at begin, which is no multiple of `needed`
    outside_arena,  ///< value occupies bytes up to end, beyond the `needed` bytes of its arena
    off_pin,        ///< value lies at begin and not at its pinned offset, `needed`
    wrong_pool,     ///< value does not lie in `pool`, its own
    unclear_view,   ///< step `position` defines value, a view of other; or makes a view of a value that is none
    oversized_view, ///< value is a view of other, but ends at byte `end` of it, and other has only `needed`
    misplaced_view, ///< value is a view of other, but lies at begin and other at `needed`
    unplaced,       ///< value needs storage and has none
    needless,       ///< value has an offset, but the plan must not place it
    over_capacity,  ///< the arena of pool has end bytes, more than its capacity, `needed`
    write_moved,    ///< the order moves the write of value at position across another access of it
    used_undefined, ///< value is used at position; other: itself if its first def comes later, or no_value
    several_defs,   ///< value is already defined when step `position` writes it (concurrent reading)
    cycle,          ///< the step at `position` waits for itself (concurrent reading)
    foreign_plan,   ///< the plan is not of this program, this order or this reading
    leads_back,     ///< an edge from position goes backward: the program loops, or the order is wrong
    /// position, which touches other, does not wait for position `needed`, which touches value; both need
    /// bytes [begin, end) of pool, or those of their class if that is empty
    unordered
};

struct witness {
    fault what = fault::clash;
    value_id value = no_value;
    value_id other = no_value;
    step_id position = 0;
    byte_count begin = 0;
    byte_count end = 0;
    byte_count needed = 0;
    pool_id pool = 0;
    friend bool operator==(witness const&, witness const&) = default;
};

template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, witness const& w)
{
    switch (w.what) {
    case fault::clash:
        out << "values " << w.value << " and " << w.other << " are both alive at position " << w.position
            << " and share bytes [" << w.begin << ", " << w.end << ") of pool " << w.pool;
        break;
    case fault::misaligned:
        out << "value " << w.value << " lies at offset " << w.begin << " of pool " << w.pool
            << ", which is not a multiple of its alignment " << w.needed;
        break;
    case fault::outside_arena:
        out << "value " << w.value << " occupies bytes [" << w.begin << ", " << w.end << ") of pool "
            << w.pool << ", an arena of only " << w.needed;
        break;
    case fault::off_pin:
        out << "value " << w.value << " lies at offset " << w.begin << " of pool " << w.pool
            << " and is pinned to " << w.needed;
        break;
    case fault::wrong_pool:
        out << "value " << w.value << " belongs to pool " << w.pool << " and does not lie there";
        break;
    case fault::unclear_view:
        out << "step " << w.position;
        if (w.other == no_value)
            out << " makes a view of value " << w.value << ", but alias_of does not say of what";
        else
            out << " defines value " << w.value << ", a view of value " << w.other
                << ": say view() if it makes the view, write() if it writes through it, or both";
        break;
    case fault::oversized_view:
        out << "value " << w.value << " is a view of value " << w.other << " up to its byte " << w.end
            << ", but that has only " << w.needed << " bytes";
        break;
    case fault::misplaced_view:
        out << "value " << w.value << " is a view of value " << w.other << " and lies elsewhere (offset "
            << w.begin << ", not " << w.needed << ')';
        break;
    case fault::unplaced: out << "value " << w.value << " needs storage and has none"; break;
    case fault::needless:
        out << "value " << w.value << " has an offset, but the plan must not place it";
        break;
    case fault::over_capacity:
        out << "the arena of pool " << w.pool << " needs " << w.end << " bytes and its capacity is "
            << w.needed;
        break;
    case fault::write_moved:
        out << "value " << w.value << " is written at position " << w.position
            << ", but the program orders this write and another access of the value the other way";
        break;
    case fault::used_undefined:
        out << "value " << w.value << " is used at position " << w.position;
        if (w.other == no_value) out << " and never defined, and is neither input nor external";
        else out << " before anything defines it";
        break;
    case fault::several_defs:
        out << "value " << w.value << " is written at step " << w.position
            << " and is already defined: make each version a value of its own first";
        break;
    case fault::cycle: out << "step " << w.position << " waits for itself: the order has a cycle"; break;
    case fault::foreign_plan: out << "the plan is not one of this program in this order and reading"; break;
    case fault::leads_back:
        out << "an edge or a hand-off from position " << w.position
            << " goes backward in the order: use plan_flow() for programs with loops, or choose another "
               "order";
        break;
    case fault::unordered:
        out << "position " << w.position << " does not wait for position " << w.needed;
        if (w.value == no_value) {
            out << ", as an edge of the program or a hand-off requires";
        } else {
            if (w.value == w.other) out << ", and both touch value " << w.value;
            else out << ", and they touch values " << w.other << " and " << w.value << " in the same bytes";
            if (w.begin != w.end) out << ": [" << w.begin << ", " << w.end << ") of pool " << w.pool;
        }
        break;
    }
    return out;
}

// --- concurrent witness ----------------------------------------------------------------------------------

///     step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 0, where value 3 lies,
///     which step 9 touches
///
///     schedule  0 1 2 6 7 3 4 5 8 9     is a valid order; 7 precedes 9 and follows the def of value 3
///                       ↑         ↑

/// A witness; of a clash also the two touches and an execution order. `other` is written over `value`, both
/// named by the root of their class; `position` is that of the writer in the schedule.
struct concurrent_witness : witness {
    step_id needed_at = no_step;  ///< the last touch of `value`; `no_step`: an output, needed to the end
    step_id written_at = no_step; ///< writes `other`; `no_step`: both are given
    /// Of a clash: all steps in a possible order; needed_at follows written_at or equals it, or, where both
    /// only write, immediately precedes it. Of a cycle: its steps, each waits for the one before.
    std::vector<step_id> schedule = {};
    friend bool operator==(concurrent_witness const&, concurrent_witness const&) = default;
};

template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, concurrent_witness const& w)
{
    witness const& plain = w;
    if (w.what != fault::clash) return out << plain;
    if (w.written_at == no_step) {
        out << "values " << w.value << " and " << w.other
            << " are both there from the start and share bytes [" << w.begin << ", " << w.end << ") of pool "
            << w.pool;
        return out;
    }
    out << "step " << w.written_at;
    if (w.needed_at != no_step && w.needed_at != w.written_at)
        out << " need not wait for step " << w.needed_at << ", and";
    out << " writes value " << w.other << " over bytes [" << w.begin << ", " << w.end << ") of pool "
        << w.pool << ", where value " << w.value << " lies, ";
    if (w.needed_at == no_step) out << "an output";
    else if (w.needed_at == w.written_at) out << "which the step itself touches";
    else out << "which step " << w.needed_at << " touches";
    return out;
}

} // namespace sublet

#endif
