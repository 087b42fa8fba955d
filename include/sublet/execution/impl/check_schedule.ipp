// SPDX-License-Identifier: BSL-1.0

/// check_schedule(): translates the schedule to commands with the bytes that they touch, which are derived
/// from the program and the plan alone, with one block for each arena and each buffer that is not in one;
/// check_streams() finds races among them, and vector clocks edges, hand-offs and step sequences that are not
/// kept.

#include <sublet/checking/check_streams.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/execution/detail/check_schedule.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace sublet::detail {

class schedule_reader {
public:
    schedule_reader(snapshot const& program, plan_options const& options, memory_plan const* plan,
                    lowered_program const& lowered, bool keeps_io_addresses)
        : program_(program), lowered_(lowered), plan_(plan),
          requirements_(derive_requirements(program, options)),
          pools_(plan == nullptr ? 0 : static_cast<std::uint32_t>(plan->arena_bytes.size())),
          keeps_io_addresses_(keeps_io_addresses), command_of_(program.steps(), no_step)
    {
        std::vector<byte_access> const all = accesses_of(program, options, plan, pools_, lowered.step_at);
        touches_at_ = csr_rows<position_id, std::uint32_t>::gathered(program.steps(), [&](auto add) {
            for (std::uint32_t i = 0; i != all.size(); ++i) add(all[i].at, i);
        });
        touches_ = all;
        block_of_.assign(pools_ + 2 * program.values(), none);
        bytes_of_.assign(program.values(), byte_access{});
        for (value_id r = 0; r != program.values(); ++r) {
            byte_access& whole = bytes_of_[r];
            whole.value = r;
            whole.space = pools_ + r;
            whole.end = larger(requirements_.bytes[r], byte_count{1});
            if (plan == nullptr || requirements_.root[r] != r || !requirements_.is_planned(r)) continue;
            whole.space = place_of(*plan, r).pool;
            whole.begin = place_of(*plan, r).offset;
            whole.end = whole.begin + requirements_.bytes[r];
        }
    }

    stream_commands read(stream_schedule const& schedule)
    {
        list_.streams = schedule.streams;
        begin();
        position_id next = 0;
        for (stream_schedule::command const& c : schedule.commands) {
            switch (c.what) {
            case stream_schedule::action::record:
                add(stream_commands::operation_kind::record, c.stream, c.which);
                break;
            case stream_schedule::action::wait:
                add(stream_commands::operation_kind::wait, c.stream, c.which);
                break;
            case stream_schedule::action::allocate:
                block_at(root_of(c.which)) = add_block(size_of(root_of(c.which)), false);
                add(stream_commands::operation_kind::allocate, c.stream, block_at(root_of(c.which)));
                break;
            case stream_schedule::action::transfer_block:
                block_at(root_of(c.which)) = block_at(root_of(c.from)); // where the step still reads it
                break;
            case stream_schedule::action::fill: {
                byte_access whole = bytes_of_[root_of(c.which)];
                whole.writes = true;
                add(stream_commands::operation_kind::work, c.stream, no_step);
                touch(whole);
                break;
            }
            case stream_schedule::action::launch: {
                SUBLET_EXPECTS(c.which == next && next != lowered_.positions(),
                               "sublet: a schedule does not launch each step once, in program order: it "
                               "launches position % instead of %",
                               c.which, next);
                command_of_[lowered_.step_at[next]] =
                    add(stream_commands::operation_kind::work, c.stream, lowered_.step_at[next]);
                for (std::uint32_t i : touches_at_[next]) touch(touches_[i]);
                ++next;
                break;
            }
            case stream_schedule::action::release:
                add(stream_commands::operation_kind::release, c.stream, ensure_block(root_of(c.which)));
                break;
            }
        }
        SUBLET_EXPECTS(next == lowered_.positions(), "sublet: a schedule launches only % of % steps", next,
                       lowered_.positions());
        end();
        return list_;
    }

    /// The first edge, step sequence of a node or hand-off that is not kept, or command that is not ordered
    /// between the begin and the end of the run on stream 0.
    std::optional<counterexample> broken_order(std::vector<handoff> const& handoffs) const
    {
        stream_clocks const clocks(list_);
        std::optional<counterexample> found;
        auto require_order = [&](std::uint32_t first, std::uint32_t second) {
            if (first < second && clocks.is_before(first, second)) return;
            if (found && found->as<counterexample::commands>()->second <= second) return;
            found = counterexample{fault::missing_order,
                                   counterexample::commands{.first = first,
                                                            .second = second,
                                                            .first_stream = list_.operations[first].stream,
                                                            .second_stream = list_.operations[second].stream,
                                                            .first_step = step_of(first),
                                                            .second_step = step_of(second)}};
        };
        auto require_step_order = [&](step_id from, step_id to) {
            require_order(command_of_[from], command_of_[to]);
        };
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const range = program_.steps_of(n);
            for (step_id s = range.first + 1; s != range.last; ++s) require_step_order(s - 1, s);
            for (node_id next : program_.successors(n))
                require_step_order(range.last - 1, program_.steps_of(next).first);
        }
        for (handoff h : handoffs) require_step_order(h.from, h.to);
        if (plan_ != nullptr && plan_->valid_for == program_reading::concurrent)
            for (handoff h : plan_->handoffs) require_step_order(h.from, h.to);
        for (std::uint32_t i = begin_ + 1; i != end_; ++i) {
            if (list_.operations[i].what == stream_commands::operation_kind::record ||
                list_.operations[i].what == stream_commands::operation_kind::wait)
                continue;
            require_order(begin_, i);
            require_order(i, end_);
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = no_step;

    step_id step_of(std::uint32_t command) const
    {
        stream_commands::operation const& operation = list_.operations[command];
        return operation.what == stream_commands::operation_kind::work ? step_id{operation.which} : no_step;
    }
    value_id root_of(buffer_id b) const
    {
        SUBLET_EXPECTS(b < lowered_.table.buffers.size(),
                       "sublet: a schedule names buffer %, but there are only % buffers", b,
                       lowered_.table.buffers.size());
        return lowered_.table.buffers[b].root;
    }
    std::uint32_t& block_at(value_id root) { return block_of_[pools_ + root]; }
    /// A block without allocation is added, so that the checker reports it.
    std::uint32_t ensure_block(value_id root)
    {
        if (block_at(root) == none) block_at(root) = add_block(size_of(root), false);
        return block_at(root);
    }
    bool owns_block(value_id root) const
    {
        value_role const role = requirements_.class_role[root];
        bool const is_io = has_role(role, value_role::input) || has_role(role, value_role::output);
        return plan_ == nullptr && requirements_.root[root] == root && requirements_.is_planned(root) &&
               !(keeps_io_addresses_ && is_io);
    }

    std::uint32_t add(stream_commands::operation_kind what, std::uint32_t stream, std::uint32_t which)
    {
        list_.operations.push_back({what, stream, which});
        return static_cast<std::uint32_t>(list_.operations.size() - 1);
    }
    byte_count size_of(value_id root) const { return larger(requirements_.bytes[root], byte_count{1}); }
    std::uint32_t add_block(byte_count bytes, bool is_given)
    {
        list_.blocks.push_back({bytes, is_given});
        return static_cast<std::uint32_t>(list_.blocks.size() - 1);
    }
    /// Adds an access of the last command.
    void touch(byte_access access)
    {
        access.at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        if (block_of_[access.space] == none)
            block_of_[access.space] = add_block(size_of(access.space - pools_), false);
        access.space = block_of_[access.space];
        list_.touches.push_back(access);
    }

    /// Contents at the begin of a run count as written on stream 0.
    void begin()
    {
        for (std::uint32_t pool = 0; pool != pools_; ++pool)
            block_of_[pool] = add_block(plan_->arena_bytes[pool], true);
        for (value_id v = 0; v != program_.values(); ++v) {
            if (!owns_block(v)) block_at(v) = add_block(size_of(v), true);
            else if (has_role(requirements_.class_role[v], value_role::input))
                add(stream_commands::operation_kind::allocate, 0, block_at(v) = add_block(size_of(v), false));
        }
        for (byte_access const& t : touches_)
            if (t.space >= pools_ + program_.values() && block_of_[t.space] == none)
                block_of_[t.space] = add_block(t.end, true);
        begin_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
    }
    void end()
    {
        std::vector<unsigned char> is_released(list_.blocks.size(), 0);
        for (stream_commands::operation const& operation : list_.operations)
            if (operation.what == stream_commands::operation_kind::release) is_released[operation.which] = 1;
        for (std::uint32_t& block : block_of_)
            if (block != none && is_released[block]) block = none;
        end_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
        for (value_id v = 0; v != program_.values(); ++v) // outputs are kept for the caller
            if (owns_block(v) && has_role(requirements_.class_role[v], value_role::output) &&
                block_at(v) != none)
                add(stream_commands::operation_kind::release, 0, block_at(v));
    }
    void touch_all()
    {
        auto const at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        for (std::uint32_t block : block_of_)
            if (block != none)
                list_.touches.push_back({at, block, 0, list_.blocks[block].bytes, no_value, true});
    }

    snapshot const& program_;
    lowered_program const& lowered_;
    memory_plan const* plan_;
    plan_requirements requirements_;
    std::uint32_t pools_;
    bool keeps_io_addresses_;
    std::vector<byte_access> touches_; // as accesses_of()
    csr_rows<position_id, std::uint32_t> touches_at_;
    table<value_id, byte_access> bytes_of_; // by root: all bytes of the class
    std::vector<std::uint32_t> block_of_;   // by space: its current block
    table<step_id, std::uint32_t> command_of_;
    std::uint32_t begin_ = 0, end_ = 0; // the commands before and after the run
    stream_commands list_;
};

SUBLET_DECL stream_commands commands_of(snapshot const& p, plan_options const& options,
                                        memory_plan const* plan, lowered_program const& lowered,
                                        stream_schedule const& schedule, bool keeps_io_addresses)
{
    return schedule_reader(p, options, plan, lowered, keeps_io_addresses).read(schedule);
}

SUBLET_DECL verdict check_schedule(snapshot const& p, plan_options const& options, memory_plan const* plan,
                                   lowered_program const& lowered, stream_schedule const& schedule,
                                   stream_options const& settings)
{
    schedule_reader reader(p, options, plan, lowered, settings.keeps_io_addresses);
    verdict valid = check_streams(reader.read(schedule), true);
    if (valid) valid.refute(reader.broken_order(settings.handoffs));
    return valid;
}

} // namespace sublet::detail
