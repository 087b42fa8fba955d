// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_TAPE_IPP
#define SUBLET_EXECUTION_IMPL_TAPE_IPP

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace sublet::detail {

class tape_writer {
public:
    tape_writer(snapshot const& program, run_tape& tape, bool in_place)
        : program_(program), tape_(tape), in_place_(in_place)
    {
        std::vector<step_id> position_of(tape.step_at.size());
        for (std::size_t at = 0; at != position_of.size(); ++at)
            position_of[tape.step_at[at]] = static_cast<step_id>(at);
        for (edge_use u : program.edge_uses())
            leaving_.push_back(
                {position_of[program.steps_of(u.pred).last - 1], 0, tape.table.buffer_of[u.value]});

        std::vector<unsigned char> is_needed(tape.table.buffers.size(), 0);
        for (keyed const& u : leaving_) is_needed[u.who] = 1;
        for (step_id s : tape.step_at)
            for (touch t : program.touches(s)) is_needed[tape.table.buffer_of[t.value]] = 1;
        for (std::size_t b = 0; b != is_needed.size(); ++b)
            if (!is_needed[b] && has_role(tape.table.buffers[b].role, value_role::input)) {
                leaving_.push_back({0, 0, static_cast<buffer_id>(b)});
                tape.given_up.push_back(static_cast<buffer_id>(b));
            }
        sort_keyed(leaving_);
    }

    void write(std::vector<unsigned char> const& is_scratch)
    {
        std::size_t const buffers = tape_.table.buffers.size();
        tape_.holds.assign(buffers, 0);
        tape_.first_write.assign(buffers, no_step);
        seen_.assign(buffers, {});
        for (edge_use u : program_.edge_uses())
            SUBLET_EXPECTS(!is_scratch[u.value], "sublet: scratch is read by no step");
        for (step_id at = 0; at != tape_.positions(); ++at) write_step(at, is_scratch);
        for (std::size_t b = 0; b != buffers; ++b)
            tape_.holds[b] += has_role(tape_.table.buffers[b].role, value_role::output);
        for (std::size_t v = 0; v != is_scratch.size(); ++v)
            SUBLET_EXPECTS(!is_scratch[v] || tape_.holds[tape_.table.buffer_of[v]] <= 1,
                           "sublet: scratch is touched by one step only, and is no output");
    }

private:
    /// How the step that is being written touches a buffer.
    struct seen {
        step_id at = no_step;
        value_id only = no_value; // the one value of it that is read; no_value: it is touched otherwise
        bool is_early = true;     // every touch is an early use
    };

    void write_step(step_id at, std::vector<unsigned char> const& is_scratch)
    {
        step_id const step = tape_.step_at[at];
        for (touch t : program_.touches(step)) {
            bool const defines = t.kind == touch_kind::def;
            buffer_id const b = tape_.table.buffer_of[t.value];
            SUBLET_EXPECTS(!is_scratch[t.value] || defines, "sublet: scratch is read by no step");
            (is_scratch[t.value] ? tape_.scratch : defines ? tape_.defs : tape_.uses).append(t.value);
            touch_buffer(b, at, defines ? no_value : t.value, t.kind == touch_kind::use_early);
            if (defines && tape_.first_write[b] == no_step) tape_.first_write[b] = at;
        }
        for (; left_ != leaving_.size() && leaving_[left_].key == at; ++left_)
            touch_buffer(leaving_[left_].who, at, no_value, false);

        for (buffer_id b : touched_) { // in one order an input lives [0, 1) at least
            bool const is_input = has_role(tape_.table.buffers[b].role, value_role::input);
            bool const holds_on = at == 0 && is_input && !tape_.is_any_schedule;
            if (seen_[b].is_early && !holds_on) tape_.yields.push_back({b, no_buffer});
        }
        for (overwrite pair : program_.overwrites(step)) {
            buffer_id const from = tape_.table.buffer_of[pair.in], to = tape_.table.buffer_of[pair.out];
            bool const is_read = seen_[from].at == at && seen_[from].only == pair.in;
            if (in_place_ && is_read && tape_.first_write[to] == at) tape_.yields.push_back({from, to});
        }
        tape_.yields_begin.push_back(static_cast<std::uint32_t>(tape_.yields.size()));
        for (buffer_id b : touched_) {
            tape_.touched.append(b);
            ++tape_.holds[b];
        }
        touched_.clear();
        for (csr_rows* rows : {&tape_.uses, &tape_.defs, &tape_.scratch, &tape_.touched}) rows->close_row();
    }

    void touch_buffer(buffer_id b, step_id at, value_id read, bool is_early)
    {
        if (seen_[b].at != at) {
            seen_[b] = {at, read, is_early};
            touched_.push_back(b);
            return;
        }
        if (seen_[b].only != read) seen_[b].only = no_value;
        seen_[b].is_early = seen_[b].is_early && is_early;
    }

    snapshot const& program_;
    run_tape& tape_;
    bool in_place_;
    std::vector<keyed> leaving_; // {position, 0, buffer}: needed when its step has written
    std::size_t left_ = 0;       // of those, how many have been seen
    std::vector<seen> seen_;     // by buffer
    std::vector<buffer_id> touched_;
};

/// The tape of steps in an order that is believed, one of any or the only one; `lives` say who is touched.
SUBLET_DECL run_tape tape_in_order(snapshot const& program, plan_options const& options,
                                   per_value<bool> const& scratch, live_ranges const& lives,
                                   std::vector<step_id> steps, bool is_any_schedule)
{
    run_tape tape;
    tape.step_at = std::move(steps);
    tape.table = gather_buffers(lives, options);
    if (value_id const v = tape.table.oversized_view; v != no_value) {
        buffer const& its = tape.table.buffers[tape.table.buffer_of[v]];
        throw unsound_plan({.what = fault::oversized_view,
                            .value = v,
                            .other = its.root,
                            .end = tape.table.oversized_bytes,
                            .needed = its.size});
    }
    tape.pools = options.pools.size();
    for (buffer& b : tape.table.buffers) {
        if (b.pool < options.pools.size())
            b.alignment = combine_alignment(b.alignment, options.pools[b.pool].alignment);
        SUBLET_EXPECTS(!b.is_planned() || b.pool < 65536,
                       "sublet: a pool id is out of range (pools are numbered from 0)");
        if (b.is_planned()) tape.pools = std::max(tape.pools, std::size_t{b.pool} + 1);
    }
    tape.bytes = options.bytes.tabulate(program.values());
    for (std::size_t v = 0; v != tape.bytes.size(); ++v)
        tape.bytes[v] = std::min(tape.bytes[v], tape.table.buffers[tape.table.buffer_of[v]].size);
    tape.is_any_schedule = is_any_schedule;
    tape_writer writer(program, tape, options.in_place);
    writer.write(scratch.tabulate(program.values()));
    return tape;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL run_tape tape_of(snapshot const& program, plan_options const& options,
                             per_value<bool> const& scratch)
{
    live_ranges const lives = lifetimes(program, {.role = options.role, .order = options.order});
    if (lives.violation) {
        auto const [value, position, what] = *lives.violation;
        throw unsound_plan(
            {.what = what == order_fault::write_moved ? fault::write_moved : fault::used_undefined,
             .value = value,
             .other = what == order_fault::defined_later ? value : no_value,
             .position = position});
    }
    return detail::tape_in_order(program, options, scratch, lives, steps_in_order(program, options.order),
                                 false);
}

SUBLET_DECL run_tape tape_of(snapshot const& program, plan_options const& options,
                             per_value<bool> const& scratch, std::vector<step_id> steps)
{
    SUBLET_EXPECTS(steps.size() == program.steps(),
                   "sublet: an order of steps does not name each of them once");
    auto const role = options.role.tabulate(program.values());
    live_ranges lives{std::vector<live_range>(program.values()), static_cast<step_id>(steps.size()),
                      std::nullopt};
    auto touched = [&lives](value_id v, step_id at) { lives.of[v] = hull(lives.of[v], {at, at + 1}); };
    std::vector<step_id> position_of(steps.size(), no_step);
    for (std::size_t at = 0; at != steps.size(); ++at) {
        SUBLET_EXPECTS(steps[at] < steps.size() && position_of[steps[at]] == no_step,
                       "sublet: an order of steps does not name each of them once");
        position_of[steps[at]] = static_cast<step_id>(at);
        for (touch t : program.touches(steps[at])) touched(t.value, static_cast<step_id>(at));
    }
    for (edge_use u : program.edge_uses()) touched(u.value, position_of[program.steps_of(u.pred).last - 1]);
    for (value_id v = 0; v != program.values(); ++v) {
        if (has_role(role[v], value_role::input)) touched(v, 0);
        if (has_role(role[v], value_role::output) && !steps.empty()) touched(v, lives.positions - 1);
    }
    return detail::tape_in_order(program, options, scratch, lives, std::move(steps), true);
}

} // namespace sublet

#endif
