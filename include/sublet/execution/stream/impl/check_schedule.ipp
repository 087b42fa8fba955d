// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_CHECK_SCHEDULE_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_CHECK_SCHEDULE_IPP

#include <sublet/checking/check_waits.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/stream_clocks.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/stream/check_schedule.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

class schedule_reader {
public:
    schedule_reader(snapshot const& program, plan_options const& options, memory_plan const* plan,
                    run_tape const& tape, bool keeps_ends)
        : program_(program), tape_(tape), plan_(plan), asked_(demands(program, options)),
          pools_(plan == nullptr ? 0 : static_cast<std::uint32_t>(plan->arena_bytes.size())),
          keeps_ends_(keeps_ends), command_of_(program.steps(), no_step)
    {
        std::vector<byte_access> const all = accesses_of(program, options, plan, pools_, tape.step_at);
        touches_at_ = csr_rows::gathered(program.steps(), [&](auto add) {
            for (std::uint32_t i = 0; i != all.size(); ++i) add(all[i].at, i);
        });
        touches_ = all;
        block_of_.assign(pools_ + program.values(), none);
        bytes_of_.assign(program.values(), byte_access{});
        for (value_id r = 0; r != program.values(); ++r) bytes_of_[r].space = pools_ + r;
        for (byte_access const& a : all)
            if (a.space != pools_ + a.value || asked_.root[a.value] == a.value)
                bytes_of_[asked_.root[a.value]] = a;
    }

    stream_commands read(stream_schedule const& schedule)
    {
        list_.streams = schedule.streams;
        begin();
        step_id next = 0;
        for (stream_command const& c : schedule.commands) {
            switch (c.what) {
            case stream_action::record: add(stream_act::record, c.stream, c.which); break;
            case stream_action::wait: add(stream_act::wait, c.stream, c.which); break;
            case stream_action::allocate:
                block_at(root_of(c.which)) = add_block(1, false);
                add(stream_act::allocate, c.stream, block_at(root_of(c.which)));
                break;
            case stream_action::hand_over:
                block_at(root_of(c.which)) = block_at(root_of(c.from)); // where the step still reads it
                break;
            case stream_action::fill: {
                byte_access whole = bytes_of_[root_of(c.which)];
                whole.writes = true;
                add(stream_act::work, c.stream, no_step);
                touch(whole);
                break;
            }
            case stream_action::launch: {
                SUBLET_EXPECTS(c.which == next && next != tape_.positions(),
                               "sublet: a schedule does not launch each step once, in the order of its tape");
                command_of_[tape_.step_at[next]] = add(stream_act::work, c.stream, tape_.step_at[next]);
                for (std::uint32_t i : touches_at_[next]) touch(touches_[i]);
                ++next;
                break;
            }
            case stream_action::release:
                add(stream_act::release, c.stream, made_block(root_of(c.which)));
                break;
            }
        }
        SUBLET_EXPECTS(next == tape_.positions(), "sublet: a schedule does not launch each step once, in the "
                                                  "order of its tape");
        end();
        return list_;
    }

    /// An edge of the program, a row of steps or a hand-off that is not kept; or something that begins before
    /// the run does on stream 0, or is not done when it ends there.
    std::optional<stream_fault> broken_order(std::vector<handoff> const& handoffs) const
    {
        stream_clocks const clocks(list_);
        std::optional<stream_fault> found;
        auto demand = [&](std::uint32_t first, std::uint32_t second) {
            if (first < second && clocks.is_before(first, second)) return;
            if (found && found->second <= second) return;
            found = stream_fault{.what = stream_fault_kind::order,
                                 .first = first,
                                 .second = second,
                                 .first_stream = list_.acts[first].stream,
                                 .second_stream = list_.acts[second].stream,
                                 .first_step = step_of(first),
                                 .second_step = step_of(second)};
        };
        auto ask = [&](step_id from, step_id to) { demand(command_of_[from], command_of_[to]); };
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const mine = program_.steps_of(n);
            for (step_id s = mine.first + 1; s != mine.last; ++s) ask(s - 1, s);
            for (node_id next : program_.successors(n)) ask(mine.last - 1, program_.steps_of(next).first);
        }
        for (handoff h : handoffs) ask(h.from, h.to);
        if (plan_ != nullptr && plan_->valid_for == program_reading::concurrent)
            for (handoff h : plan_->handoffs) ask(h.from, h.to);
        for (std::uint32_t i = begin_ + 1; i != end_; ++i) {
            if (list_.acts[i].what == stream_act::record || list_.acts[i].what == stream_act::wait) continue;
            demand(begin_, i);
            demand(i, end_);
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = no_step;

    step_id step_of(std::uint32_t command) const
    {
        stream_act_of const& act = list_.acts[command];
        return act.what == stream_act::work ? act.which : no_step;
    }
    value_id root_of(buffer_id b) const
    {
        SUBLET_EXPECTS(b < tape_.table.buffers.size(), "sublet: a schedule names a buffer that is not there");
        return tape_.table.buffers[b].root;
    }
    std::uint32_t& block_at(value_id root) { return block_of_[pools_ + root]; }
    /// One that nobody has allocated yet is told of as such.
    std::uint32_t made_block(value_id root)
    {
        if (block_at(root) == none) block_at(root) = add_block(1, false);
        return block_at(root);
    }
    bool owns_block(value_id root) const
    {
        value_role const role = asked_.class_role[root];
        bool const is_end = has_role(role, value_role::input) || has_role(role, value_role::output);
        return plan_ == nullptr && asked_.root[root] == root && asked_.is_planned(root) &&
               !(keeps_ends_ && is_end);
    }

    std::uint32_t add(stream_act what, std::uint32_t stream, std::uint32_t which)
    {
        list_.acts.push_back({what, stream, which});
        return static_cast<std::uint32_t>(list_.acts.size() - 1);
    }
    std::uint32_t add_block(byte_count bytes, bool is_given)
    {
        list_.blocks.push_back({bytes, is_given});
        return static_cast<std::uint32_t>(list_.blocks.size() - 1);
    }
    /// By the command that was added last.
    void touch(byte_access access)
    {
        access.at = static_cast<std::uint32_t>(list_.acts.size() - 1);
        if (block_of_[access.space] == none) block_of_[access.space] = add_block(1, false);
        access.space = block_of_[access.space];
        list_.touches.push_back(access);
    }

    /// What is there when a run begins was written on stream 0, if only by the run before.
    void begin()
    {
        for (std::uint32_t pool = 0; pool != pools_; ++pool)
            block_of_[pool] = add_block(plan_->arena_bytes[pool], true);
        for (value_id v = 0; v != program_.values(); ++v) {
            if (!owns_block(v)) block_at(v) = add_block(1, true);
            else if (has_role(asked_.class_role[v], value_role::input))
                add(stream_act::allocate, 0, block_at(v) = add_block(1, false));
        }
        begin_ = add(stream_act::work, 0, no_step);
        touch_all();
    }
    void end()
    {
        std::vector<unsigned char> is_released(list_.blocks.size(), 0);
        for (stream_act_of const& act : list_.acts)
            if (act.what == stream_act::release) is_released[act.which] = 1;
        for (std::uint32_t& block : block_of_)
            if (block != none && is_released[block]) block = none;
        end_ = add(stream_act::work, 0, no_step);
        touch_all();
        for (value_id v = 0; v != program_.values(); ++v) // what is kept for the caller to read
            if (owns_block(v) && has_role(asked_.class_role[v], value_role::output) && block_at(v) != none)
                add(stream_act::release, 0, block_at(v));
    }
    void touch_all()
    {
        auto const at = static_cast<std::uint32_t>(list_.acts.size() - 1);
        for (std::uint32_t block : block_of_)
            if (block != none)
                list_.touches.push_back({at, block, 0, list_.blocks[block].bytes, no_value, true});
    }

    snapshot const& program_;
    run_tape const& tape_;
    memory_plan const* plan_;
    plan_demands asked_;
    std::uint32_t pools_;
    bool keeps_ends_;
    std::vector<byte_access> touches_;      // as derived: spaces are pools and classes
    csr_rows touches_at_;                   // by position
    std::vector<byte_access> bytes_of_;     // by root: the whole class
    std::vector<std::uint32_t> block_of_;   // by space: what lies there now
    std::vector<std::uint32_t> command_of_; // by step
    std::uint32_t begin_ = 0, end_ = 0;     // the commands before and behind the run
    stream_commands list_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL stream_commands commands_of(snapshot const& p, plan_options const& options,
                                        memory_plan const* plan, run_tape const& tape,
                                        stream_schedule const& schedule, bool keeps_ends)
{
    return detail::schedule_reader(p, options, plan, tape, keeps_ends).read(schedule);
}

SUBLET_DECL std::optional<stream_fault> check_schedule(snapshot const& p, plan_options const& options,
                                                       memory_plan const* plan, run_tape const& tape,
                                                       stream_schedule const& schedule,
                                                       stream_options const& how)
{
    detail::schedule_reader reader(p, options, plan, tape, how.keeps_ends);
    std::optional<stream_fault> const found = check_streams(reader.read(schedule), true);
    return found ? found : reader.broken_order(how.handoffs);
}

} // namespace sublet

#endif
