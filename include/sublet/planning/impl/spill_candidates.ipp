// SPDX-License-Identifier: BSL-1.0

/// One walk along the positions: each touch of a buffer closes the interval since the last. Whether its step
/// may run again is asked of its operands' current definitions.

#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/spill_candidates.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

SUBLET_DECL std::vector<sort_key> node_end_touches(snapshot const& p,
                                                   table<position_id, step_id> const& steps)
{
    table<step_id, position_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (position_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    std::vector<sort_key> at_node_ends;
    for (edge_use u : p.edge_uses())
        at_node_ends.push_back({position_of[p.steps_of(u.pred).last - 1], at_node_ends.size(), u.value});
    sort_by_key(at_node_ends);
    return at_node_ends;
}

class spill_candidate_finder {
public:
    spill_candidate_finder(snapshot const& p, table<position_id, step_id> const& steps,
                           buffer_table const& unjoined, buffer_table const& joined,
                           std::span<value_role const> role)
        : p_(p), steps_(steps), unjoined_(unjoined), joined_(joined), role_(role),
          history_(joined.buffers.size(), history{}), is_defined_(p.values(), 0),
          is_pinned_(unjoined.buffers.size(), 0)
    {
        for (buffer_id b = 0; b != unjoined.buffers.size(); ++b)
            is_pinned_[b] = unjoined.buffers[b].pinned != no_offset;
    }

    std::vector<spill_candidate> find()
    {
        auto const positions = static_cast<std::uint32_t>(steps_.size());
        for (value_id v = 0; v != role_.size(); ++v) {
            if (!is_given(role_[v])) continue;
            is_defined_[v] = 1;
            touch_buffer(v, 0); // live when the first step begins
        }
        std::vector<sort_key> const at_node_ends = node_end_touches(p_, steps_);
        std::size_t next_at_end = 0;
        for (position_id at = 0; at != positions; ++at) {
            for (touch t : p_.touches(steps_[at])) add_candidates(t.value, at);
            for (touch t : p_.touches(steps_[at])) {
                touch_buffer(t.value, at);
                if (!t.defines() && !t.writes()) continue;
                is_defined_[t.value] = 1;
                history& its = history_[joined_.buffer_of[t.value]];
                if (its.first_def == no_position) its.first_def = at;
                its.last_def = at;
            }
            for (; next_at_end != at_node_ends.size() && at_node_ends[next_at_end].key == at; ++next_at_end) {
                add_candidates(at_node_ends[next_at_end].id, at);
                touch_buffer(at_node_ends[next_at_end].id, at);
            }
        }
        for (value_id v = 0; v != role_.size(); ++v) // live when the last step ends
            if (has_role(role_[v], value_role::output) && positions != 0) add_candidates(v, positions - 1);
        return found_;
    }

private:
    struct history {
        position_id touched = no_position, first_def = no_position, last_def = no_position;
    };

    void touch_buffer(value_id v, position_id at) { history_[joined_.buffer_of[v]].touched = at; }

    /// Adds candidates for the buffer of v if it was idle for a position or more before the use at `at`.
    void add_candidates(value_id v, position_id at)
    {
        buffer_id const b = joined_.buffer_of[v], unjoined = unjoined_.buffer_of[v];
        history& its = history_[b];
        if (its.touched == no_position || its.touched >= at || at - its.touched < 2) return;
        position_id const after = its.touched;
        its.touched = at; // each interval is considered once
        buffer const& own = joined_.buffers[b];
        value_id const root = unjoined_.buffers[unjoined].root;
        if (!own.is_planned() || own.pinned != no_offset || is_pinned_[unjoined] || !is_defined_[root])
            return;
        found_.push_back({root, b, after, at, no_position});
        if (can_rematerialize(v, at)) found_.push_back({root, b, after, at, its.first_def});
    }

    bool can_rematerialize(value_id v, position_id at) const
    {
        buffer_id const b = joined_.buffer_of[v], unjoined = unjoined_.buffer_of[v];
        history const& its = history_[b];
        if (is_given(unjoined_.buffers[unjoined].role) || its.first_def == no_position ||
            its.first_def != its.last_def || !p_.may_recompute(steps_[its.first_def]))
            return false;
        for (touch t : p_.touches(steps_[its.first_def])) {
            buffer const& other = joined_.buffers[joined_.buffer_of[t.value]];
            history const& theirs = history_[joined_.buffer_of[t.value]];
            if (!t.defines()) {
                bool const is_unchanged = theirs.last_def == no_position || theirs.last_def < its.first_def;
                bool const is_alive = !other.is_planned() || other.life.last > at;
                if (!is_unchanged || !is_alive || other.is_unsized()) return false;
            } else if (unjoined_.buffer_of[t.value] != unjoined) { // its recomputed copy is not read
                buffer const& side_result = unjoined_.buffers[unjoined_.buffer_of[t.value]];
                bool const is_plain = side_result.root == t.value && side_result.pinned == no_offset &&
                                      (side_result.is_planned() || side_result.size == 0) &&
                                      side_result.eligible && !is_given(side_result.role);
                if (!is_plain) return false;
            }
        }
        return true;
    }

    snapshot const& p_;
    table<position_id, step_id> const& steps_;
    buffer_table const &unjoined_, &joined_;
    std::span<value_role const> role_;
    table<buffer_id, history> history_;         // of a joined buffer
    table<value_id, unsigned char> is_defined_; // given, or defined before
    table<buffer_id, unsigned char> is_pinned_; // of an unjoined buffer
    std::vector<spill_candidate> found_;
};

SUBLET_DECL std::vector<spill_candidate> find_spill_candidates(snapshot const& p,
                                                               table<position_id, step_id> const& steps,
                                                               buffer_table const& unjoined,
                                                               buffer_table const& joined,
                                                               std::span<value_role const> role)
{
    return detail::spill_candidate_finder(p, steps, unjoined, joined, role).find();
}

} // namespace sublet::detail
