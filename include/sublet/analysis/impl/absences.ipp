// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_ABSENCES_IPP
#define SUBLET_ANALYSIS_IMPL_ABSENCES_IPP

#include <sublet/analysis/absences.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL std::vector<keyed> leaving_touches(snapshot const& p, std::vector<step_id> const& steps)
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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::vector<absence> possible_absences(snapshot const& p, std::vector<step_id> const& steps,
                                                   buffer_table const& alone, buffer_table const& joined,
                                                   std::span<value_role const> role)
{
    return detail::absence_finder(p, steps, alone, joined, role).find();
}

} // namespace sublet

#endif
