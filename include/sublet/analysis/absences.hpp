// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_ABSENCES_HPP
#define SUBLET_ANALYSIS_ABSENCES_HPP

/// When a buffer could be away, and how it could come back: copied, or made again.
///
///     position      0        1        2        3        4
///                 def a    use a    def c    use a    use b
///                          def b             def d
///     a             [========)        .        [====)           away after 1, back before 3
///     b                      [====)     .        .    [====)    away after 1, back before 4; or not copied,
///                                                              but step 1 is run once more there: a is alive
///
/// A buffer leaves after a step that touches it and is back before the next one that does. Running its step
/// again makes the same bytes if the operands are alive there and still what they were, and it harms nobody
/// if all that the step writes is storage that is planned: nothing of the caller's, no state.

#include <sublet/analysis/buffers.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <span>
#include <vector>

namespace sublet {

/// Between two positions nobody touches a buffer. Both hold its storage, what is between need not.
struct absence {
    value_id root = no_value;     ///< the value that all are views of that live in the buffer then
    buffer_id buffer = no_buffer; ///< in the table with what is in place
    step_id after = 0;            ///< positions
    step_id before = 0;
    step_id rerun = no_step; ///< the position whose step makes it again; none: its bytes are copied
    friend bool operator==(absence, absence) = default;
};

namespace detail {

/// Touches where nodes end, by position.
std::vector<keyed> leaving_touches(snapshot const& p, std::vector<step_id> const& steps);

} // namespace detail

/// All absences of planned buffers, those of a time together: first by copy, then by running a step again.
///
/// Requires:   `steps` are the program's by position, `alone` its buffers in that order, `joined` the same
///             with what is in place (or `alone` again), `role` one entry a value.
/// Ensures:    by ascending `before`. Who is given is touched as the run begins, an output as it ends. No
///             absence of a pinned buffer.
/// Complexity: O(values + touches), and O(touches of the step that would be run again) for each time.
[[nodiscard]] std::vector<absence> possible_absences(snapshot const& p, std::vector<step_id> const& steps,
                                                     buffer_table const& alone, buffer_table const& joined,
                                                     std::span<value_role const> role);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/absences.ipp>
#endif

#endif
