// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/stream_desk.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL stream_digests::stream_digests(run_tape const& tape) : tape_(tape)
{
    std::vector<std::uint32_t> made(tape.holds.size(), none); // by buffer: its digest
    auto note = [&](buffer_id b, step_id at) {
        made[b] = static_cast<std::uint32_t>(notes_.size());
        notes_.push_back({b, at, none});
    };
    auto compare = [&](buffer_id b, step_id at) {
        if (made[b] != none) notes_.push_back({b, at, made[b]});
    };
    for (std::size_t b = 0; b != made.size(); ++b)
        if (is_given(tape.table.buffers[b].role)) note(static_cast<buffer_id>(b), no_step);
    for (buffer_id b : tape.given_up) made[b] = none; // others may lie there at once
    border();
    for (step_id at = 0; at != tape.positions(); ++at) {
        for (buffer_id b : tape.touched[at]) compare(b, at);
        border();
        for (value_id v : tape.defs[at]) {
            buffer_id const b = tape.table.buffer_of[v];
            if (made[b] == none || made[b] < end_of_.back()) note(b, at); // once for views of one buffer
        }
        border();
    }
    for (std::size_t b = 0; b != made.size(); ++b)
        if (has_role(tape.table.buffers[b].role, value_role::output) || !tape.table.buffers[b].is_planned())
            compare(static_cast<buffer_id>(b), no_step);
    border();
    digest_.assign(notes_.size(), 0);
}

SUBLET_DECL std::optional<clobbered_value::finding>
stream_digests::first_change(memory_plan const* plan) const
{
    for (std::size_t i = 0; i != notes_.size(); ++i) {
        auto const [b, at, with] = notes_[i];
        if (with == none || digest_[i] == digest_[with]) continue;
        step_id const made = notes_[with].at;
        clobbered_value::finding found{
            .value = its(b).root, .producer = step(made), .reader = step(at), .culprit = no_value};
        if (plan != nullptr && its(b).is_planned()) find_culprit(found, b, made, *plan);
        return found;
    }
    return std::nullopt;
}

SUBLET_DECL void stream_digests::find_culprit(clobbered_value::finding& found, buffer_id b, step_id made,
                                              memory_plan const& plan) const
{
    byte_count const begin = plan.offset_of(its(b).root), end = begin + its(b).size;
    step_id const count = tape_.positions(), first = made == no_step ? 0 : made;
    for (step_id i = 0; i != count; ++i) {
        step_id const at = (first + i) % count;
        for (buffer_id other : tape_.touched[at]) {
            buffer const& rival = its(other);
            if (other == b || tape_.first_write[other] != at || !rival.is_planned()) continue;
            byte_count const offset = plan.offset_of(rival.root);
            if (rival.pool != its(b).pool || offset >= end || begin >= offset + rival.size) continue;
            found.culprit = rival.root;
            found.culprit_step = tape_.step_at[at];
            return;
        }
    }
}

} // namespace sublet::detail
