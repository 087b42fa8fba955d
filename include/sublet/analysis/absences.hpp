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
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
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
inline std::vector<keyed> leaving_touches(snapshot const& p, std::vector<step_id> const& steps)
{
    std::vector<step_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (step_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    std::vector<keyed> leaving;
    for (edge_use u : p.edge_uses())
        leaving.push_back({position_of[p.steps_of(u.pred).last - 1], leaving.size(), u.value});
    sort_keyed(leaving);
    return leaving;
}

class absence_finder {
public:
    absence_finder(snapshot const& p, std::vector<step_id> const& steps, buffer_table const& alone,
                   buffer_table const& joined, std::span<value_role const> role)
        : p_(p), steps_(steps), alone_(alone), joined_(joined), role_(role),
          of_(joined.buffers.size(), history{}), is_there_(p.values(), 0), is_pinned_(alone.buffers.size(), 0)
    {
        for (std::size_t b = 0; b != alone.buffers.size(); ++b)
            is_pinned_[b] = alone.buffers[b].pinned != no_offset;
    }

    std::vector<absence> find()
    {
        auto const positions = static_cast<step_id>(steps_.size());
        for (std::size_t v = 0; v != role_.size(); ++v) {
            if (!is_given(role_[v])) continue;
            is_there_[v] = 1;
            touch_buffer(static_cast<value_id>(v), 0); // it is there when the first step begins
        }
        std::vector<keyed> const leaving = leaving_touches(p_, steps_);
        std::size_t left = 0;
        for (step_id at = 0; at != positions; ++at) {
            for (touch t : p_.touches(steps_[at])) look_before(t.value, at);
            for (touch t : p_.touches(steps_[at])) {
                touch_buffer(t.value, at);
                if (t.kind != touch_kind::def) continue;
                is_there_[t.value] = 1;
                history& its = of_[joined_.buffer_of[t.value]];
                if (its.first_def == no_step) its.first_def = at;
                its.last_def = at;
            }
            for (; left != leaving.size() && leaving[left].key == at; ++left) {
                look_before(leaving[left].who, at);
                touch_buffer(leaving[left].who, at);
            }
        }
        for (std::size_t v = 0; v != role_.size(); ++v) // it is there when the last step ends
            if (has_role(role_[v], value_role::output) && positions != 0)
                look_before(static_cast<value_id>(v), positions - 1);
        return found_;
    }

private:
    struct history {
        step_id touched = no_step, first_def = no_step, last_def = no_step; // positions
    };

    void touch_buffer(value_id v, step_id at) { of_[joined_.buffer_of[v]].touched = at; }

    /// v is needed at a position, and its buffer has not been touched since long.
    void look_before(value_id v, step_id at)
    {
        buffer_id const b = joined_.buffer_of[v], alone = alone_.buffer_of[v];
        history& its = of_[b];
        if (its.touched == no_step || its.touched >= at || at - its.touched < 2) return;
        step_id const after = its.touched;
        its.touched = at; // each time is looked at once
        buffer const& mine = joined_.buffers[b];
        value_id const root = alone_.buffers[alone].root;
        if (!mine.is_planned() || mine.pinned != no_offset || is_pinned_[alone] || !is_there_[root]) return;
        found_.push_back({root, b, after, at, no_step});
        if (can_be_made_again(v, at)) found_.push_back({root, b, after, at, its.first_def});
    }

    bool can_be_made_again(value_id v, step_id at) const
    {
        buffer_id const b = joined_.buffer_of[v], alone = alone_.buffer_of[v];
        history const& its = of_[b];
        if (is_given(alone_.buffers[alone].role) || its.first_def == no_step || its.first_def != its.last_def)
            return false;
        for (touch t : p_.touches(steps_[its.first_def])) {
            buffer const& other = joined_.buffers[joined_.buffer_of[t.value]];
            history const& theirs = of_[joined_.buffer_of[t.value]];
            if (t.kind != touch_kind::def) {
                bool const is_unchanged = theirs.last_def == no_step || theirs.last_def < its.first_def;
                bool const is_alive = !other.is_planned() || other.life.last > at;
                if (!is_unchanged || !is_alive || other.is_unsized()) return false;
            } else if (alone_.buffer_of[t.value] != alone) { // a copy of it is made, which nobody reads
                buffer const& beside = alone_.buffers[alone_.buffer_of[t.value]];
                bool const is_plain = beside.root == t.value && beside.pinned == no_offset &&
                                      (beside.is_planned() || beside.size == 0) && beside.eligible &&
                                      !is_given(beside.role);
                if (!is_plain) return false;
            }
        }
        return true;
    }

    snapshot const& p_;
    std::vector<step_id> const& steps_;
    buffer_table const &alone_, &joined_;
    std::span<value_role const> role_;
    std::vector<history> of_;              // by joined buffer
    std::vector<unsigned char> is_there_;  // by value: given, or defined before
    std::vector<unsigned char> is_pinned_; // by buffer alone
    std::vector<absence> found_;
};

} // namespace detail

/// All absences of planned buffers, those of a time together: first by copy, then by running a step again.
///
/// Requires:   `steps` are the program's by position, `alone` its buffers in that order, `joined` the same
///             with what is in place (or `alone` again), `role` one entry a value.
/// Ensures:    by ascending `before`. Who is given is touched as the run begins, an output as it ends. No
///             absence of a pinned buffer.
/// Complexity: O(values + touches), and O(touches of the step that would be run again) for each time.
[[nodiscard]] inline std::vector<absence>
possible_absences(snapshot const& p, std::vector<step_id> const& steps, buffer_table const& alone,
                  buffer_table const& joined, std::span<value_role const> role)
{
    return detail::absence_finder(p, steps, alone, joined, role).find();
}

} // namespace sublet

#endif
