// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CONCURRENT_WITNESS_HPP
#define SUBLET_CHECKING_CONCURRENT_WITNESS_HPP

/// A counterexample to a plan for steps that run in any order: an order in which it goes wrong.
///
///     step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 0, where value 3 lies,
///     which step 9 touches
///
///     schedule  0 1 2 6 7 3 4 5 8 9     keeps all that has to be kept; 7 stands before 9, and after value 3
///                       ↑         ↑     was there

#include <sublet/checking/witness.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

/// As a witness, and of a clash the two touches and the order of steps in which they meet. `value` is what
/// lies there, `other` what is written over it, both named by the root of their class; `position` is where
/// the writer stands in the schedule.
struct concurrent_witness : witness {
    step_id needed_at = no_step;  ///< touches `value` at last; `no_step`: an output, needed to the end
    step_id written_at = no_step; ///< writes `other`; `no_step`: both are there from the start
    /// Of a clash: all steps in an order that may come; needed_at stands behind written_at or is the same,
    /// or, where both do nothing but write, just before it. Of a cycle: its steps, each waits for the one
    /// before.
    std::vector<step_id> schedule = {};
    friend bool operator==(concurrent_witness const&, concurrent_witness const&) = default;
};

/// A sentence, to any stream that takes text and integers.
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
