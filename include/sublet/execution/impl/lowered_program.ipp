// SPDX-License-Identifier: BSL-1.0

/// lower_program(): one pass over the touches of each step in the order of the run writes the rows; uses at
/// the ends of nodes, sorted by position, are merged in. What a step is to a buffer (its only read, early,
/// without bytes) is kept for the current step only, by buffer, and decides which operands may be
/// overwritten.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL void lowered_program::refuse_handle(position_id position) const
{
    broken_precondition(
        handles
            ? "sublet: the kernel of step % names a value by a handle of another type than those of its "
              "listing"
            : "sublet: the kernel of step % names a value by a handle, but its executor was not made of a "
              "listing",
        step_at[position]);
}

SUBLET_DECL void lowered_program::refuse_operand(position_id position, handle_key const& key,
                                                 value_id v) const
{
    step_id const step = step_at[position];
    char name[128] = "'"; // as far as it fits
    std::size_t size = 1;
    for (char c : key.text)
        if (size + 2 < sizeof name) name[size++] = c;
    name[size] = '\'';
    sentence_part value = v;
    if (key.is_text) value = name;
    else if (key.is_integer && key.is_negative) value = static_cast<std::int64_t>(key.bits);
    else if (key.is_integer) value = key.bits;
    if (v != no_value)
        broken_precondition("sublet: the kernel of step % names value %, which the step does not touch", step,
                            value);
    if (!key.is_text && !key.is_integer)
        broken_precondition("sublet: the kernel of step % names a value that is not in its listing", step);
    broken_precondition("sublet: the kernel of step % names value %, which is not in its listing", step,
                        value);
}

class program_lowering {
public:
    program_lowering(snapshot const& program, lowered_program& lowered, bool in_place)
        : program_(program), lowered_(lowered), in_place_(in_place),
          written_view_in_(program.has_views() ? program.values() : 0, no_step)
    {
        table<step_id, position_id> position_of(lowered.step_at.size());
        for (position_id at = 0; at != lowered.positions(); ++at) position_of[lowered.step_at[at]] = at;
        for (edge_use u : program.edge_uses())
            end_uses_.push_back({position_of[program.steps_of(u.pred).last - 1],
                                 std::uint64_t{is_empty_view(u.value)}, lowered.table.buffer_of[u.value]});

        table<buffer_id, unsigned char> is_needed(lowered.table.buffers.size(), 0);
        for (sort_key const& u : end_uses_) is_needed[u.id] = 1;
        for (step_id s : lowered.step_at)
            for (touch t : program.touches(s)) is_needed[lowered.table.buffer_of[t.value]] = 1;
        for (buffer_id b = 0; b != is_needed.size(); ++b)
            if (!is_needed[b] && has_role(lowered.table.buffers[b].role, value_role::input)) {
                end_uses_.push_back({0, 1, b});
                lowered.unused_inputs.push_back(b);
            }
        sort_by_key(end_uses_);
    }

    void write()
    {
        std::size_t const buffers = lowered_.table.buffers.size();
        lowered_.ref_counts.assign(buffers, 0);
        lowered_.first_write.assign(buffers, no_position);
        lowered_.is_updated.assign(buffers, 0);
        accesses_.assign(buffers, {});
        find_scratch();
        for (position_id at = 0; at != lowered_.positions(); ++at) write_step(at);
        for (buffer_id b = 0; b != buffers; ++b)
            lowered_.ref_counts[b] += has_role(lowered_.table.buffers[b].role, value_role::output);
    }

private:
    /// Storage that one step allocates and no other touches, without a role: no step has its contents.
    void find_scratch()
    {
        if (!program_.has_allocations()) return;
        constexpr step_id several = step_id::of(no_step - 1); // more than any step
        sole_step_.assign(lowered_.table.buffers.size(), no_step);
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                step_id& sole = sole_step_[lowered_.table.buffer_of[t.value]];
                sole = sole == no_step || sole == s ? s : several;
            }
        for (edge_use u : program_.edge_uses()) sole_step_[lowered_.table.buffer_of[u.value]] = several;
        for (buffer_id b = 0; b != sole_step_.size(); ++b)
            if (lowered_.table.buffers[b].role != value_role::intermediate) sole_step_[b] = several;
    }
    [[nodiscard]] bool is_scratch(touch t, step_id its) const
    {
        return t.kind == touch::access::allocate && sole_step_[lowered_.table.buffer_of[t.value]] == its;
    }

    /// How the current step touches a buffer.
    struct step_access {
        position_id at = no_position;
        value_id sole_read = no_value; // the only value of it that is read; no_value: other touches
        bool is_early = true;          // every touch is an early use
        bool has_bytes = false;        // some touch may read or write
    };

    void write_step(position_id at)
    {
        step_id const step = lowered_.step_at[at];
        for (touch t : program_.touches(step)) {
            bool const may_write = t.defines() || t.writes();
            buffer_id const b = lowered_.table.buffer_of[t.value];
            // Of a view that the step writes and reads, the write is listed first: it is one result.
            if (t.kind == touch::access::write_view) written_view_in_[t.value] = step;
            bool const is_again = t.kind == touch::access::read_view && written_view_in_[t.value] == step;
            if (!is_again)
                (is_scratch(t, step) ? lowered_.scratch
                 : may_write         ? lowered_.defs
                                     : lowered_.uses)
                    .append(t.value);
            if (t.views_what_is_there() && !is_again) lowered_.views.append(t.value);
            if (t.writes() && !t.makes()) {
                lowered_.is_updated[b] = 1;
                lowered_.updates.append(t.value);
            }
            touch_buffer(b, at, may_write ? no_value : t.value, t.kind == touch::access::use_early,
                         t.kind != touch::access::view && !is_empty_view(t.value));
            if (t.writes() && lowered_.first_write[b] == no_position) lowered_.first_write[b] = at;
        }
        for (; next_end_use_ != end_uses_.size() && end_uses_[next_end_use_].key == at; ++next_end_use_)
            touch_buffer(end_uses_[next_end_use_].id, at, no_value, false, end_uses_[next_end_use_].tie == 0);

        for (buffer_id b : touched_) { // in a single order an input is live in [0, 1) at least
            bool const is_input = has_role(lowered_.table.buffers[b].role, value_role::input);
            bool const stays_live = at == 0 && is_input && !lowered_.is_any_schedule;
            if (accesses_[b].is_early && !stays_live) lowered_.reuses.push_back({b, no_buffer});
        }
        for (overwrite pair : program_.overwrites(step)) {
            buffer_id const from = lowered_.table.buffer_of[pair.in], to = lowered_.table.buffer_of[pair.out];
            auto const& begin = lowered_.table.offset_in_root;
            bool const is_read = accesses_[from].at == at && accesses_[from].sole_read == pair.in &&
                                 (begin.empty() || begin[pair.in] == begin[pair.out]);
            bool writes_only_it = true;
            for (touch t : program_.touches(step))
                writes_only_it = writes_only_it && (!t.writes() || t.value == pair.out ||
                                                    lowered_.table.buffer_of[t.value] != to);
            if (in_place_ && is_read && writes_only_it && lowered_.first_write[to] == at)
                lowered_.reuses.push_back({from, to});
        }
        lowered_.reuses_begin.push_back(static_cast<std::uint32_t>(lowered_.reuses.size()));
        for (buffer_id b : touched_) {
            lowered_.touched.append(b);
            if (accesses_[b].has_bytes) lowered_.accessed.append(b);
            ++lowered_.ref_counts[b];
        }
        touched_.clear();
        for (auto* rows :
             {&lowered_.uses, &lowered_.defs, &lowered_.views, &lowered_.updates, &lowered_.scratch})
            rows->close_row();
        lowered_.touched.close_row();
        lowered_.accessed.close_row();
    }

    /// A view of no bytes: its users access none.
    bool is_empty_view(value_id v) const
    {
        buffer const& its = lowered_.table.buffers[lowered_.table.buffer_of[v]];
        return lowered_.bytes[v] == 0 && its.size != 0;
    }
    void touch_buffer(buffer_id b, position_id at, value_id read, bool is_early, bool has_bytes)
    {
        if (accesses_[b].at != at) {
            accesses_[b] = {at, read, is_early, has_bytes};
            touched_.push_back(b);
            return;
        }
        accesses_[b].has_bytes = accesses_[b].has_bytes || has_bytes;
        if (accesses_[b].sole_read != read) accesses_[b].sole_read = no_value;
        accesses_[b].is_early = accesses_[b].is_early && is_early;
    }

    snapshot const& program_;
    lowered_program& lowered_;
    bool in_place_;
    std::vector<sort_key> end_uses_; // {position, 1: accesses no byte, buffer}: used at its end
    std::size_t next_end_use_ = 0;   // index of the next entry of end_uses_
    table<buffer_id, step_access> accesses_;
    std::vector<buffer_id> touched_;
    table<buffer_id, step_id> sole_step_;      // that touches it, if the program allocates
    table<value_id, step_id> written_view_in_; // the last step that makes it and writes through it
};

/// Lowers the steps in a given order, which is not checked; `lives` are the live ranges in it.
SUBLET_DECL lowered_program lower_in_order(snapshot const& program, plan_options const& options,
                                           live_ranges const& lives, table<position_id, step_id> steps,
                                           bool is_any_schedule)
{
    lowered_program lowered;
    lowered.step_at = std::move(steps);
    lowered.table = gather_buffers(lives, options);
    if (value_id const v = lowered.table.oversized_view; v != no_value) {
        buffer const& its = lowered.table.buffers[lowered.table.buffer_of[v]];
        throw unsound_plan({fault::oversized_view, counterexample::view{.value = v,
                                                                        .other = its.root,
                                                                        .end = lowered.table.oversized_bytes,
                                                                        .needed = its.size}});
    }
    if (auto const unclear = find_unclear(program, options)) throw unsound_plan(*unclear);
    lowered.pools = options.pools.size();
    for (buffer& b : lowered.table.buffers) {
        if (b.pool < options.pools.size())
            b.alignment = combine_alignment(b.alignment, options.pools[b.pool].alignment);
        SUBLET_EXPECTS(!b.is_planned() || b.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       b.root, b.pool);
        if (b.is_planned()) lowered.pools = std::max(lowered.pools, std::size_t{b.pool} + 1);
    }
    for (std::vector<value_id> const& group : carried_groups(options, program.values())) {
        std::vector<buffer_id>& its = lowered.carried.emplace_back();
        byte_count alignment = 1;
        for (value_id v : group) its.push_back(lowered.table.buffer_of[v]);
        for (buffer_id b : its) alignment = combine_alignment(alignment, lowered.table.buffers[b].alignment);
        for (buffer_id b : its) lowered.table.buffers[b].alignment = alignment;
    }
    lowered.bytes = options.bytes.tabulate(program.values());
    for (value_id v = 0; v != lowered.bytes.size(); ++v)
        lowered.bytes[v] = std::min(lowered.bytes[v], lowered.table.buffers[lowered.table.buffer_of[v]].size);
    lowered.is_any_schedule = is_any_schedule;
    program_lowering writer(program, lowered, options.in_place);
    writer.write();
    return lowered;
}

SUBLET_DECL lowered_program lower_program(snapshot const& program, plan_options const& options)
{
    live_ranges const lives = lifetimes(program, lifetimes_of(options));
    if (!lives) throw unsound_plan(lives.error());
    return lower_in_order(program, options, lives, steps_in_order(program, options.order), false);
}

SUBLET_DECL lowered_program lower_program(snapshot const& program, plan_options const& options,
                                          table<position_id, step_id> steps)
{
    if (steps.size() != program.steps()) broken_order(steps, program.steps(), "step");
    auto const role = carried_roles(options, program.values());
    live_ranges lives{
        {}, table<value_id, live_range>(program.values()), static_cast<std::uint32_t>(steps.size())};
    auto touched = [&lives](value_id v, position_id at) { lives.of[v] = hull(lives.of[v], {at, at + 1}); };
    table<step_id, position_id> position_of(steps.size(), no_position);
    for (position_id at = 0; at != steps.size(); ++at) {
        if (steps[at] >= steps.size() || position_of[steps[at]] != no_position)
            broken_order(steps, program.steps(), "step");
        position_of[steps[at]] = at;
        for (touch t : program.touches(steps[at])) touched(t.value, at);
    }
    for (edge_use u : program.edge_uses()) touched(u.value, position_of[program.steps_of(u.pred).last - 1]);
    for (value_id v = 0; v != program.values(); ++v) {
        if (has_role(role[v], value_role::input)) touched(v, 0);
        if (has_role(role[v], value_role::output) && !steps.empty()) touched(v, lives.positions - 1);
    }
    return lower_in_order(program, options, lives, std::move(steps), true);
}

SUBLET_DECL plan_options options_of_plan(snapshot const& program, plan_options options,
                                         memory_plan const& plan)
{
    if (!is_complete(plan, program.values())) throw unsound_plan({fault::foreign_plan});
    table<value_id, pool_id> pool = options.pool.tabulate(program.values(), "pool");
    for (value_id v = 0; v != pool.size(); ++v)
        if (plan.buffer_of[v] != no_buffer) pool[v] = plan.buffers[plan.buffer_of[v]].pool;
    options.pool = std::move(pool);
    options.in_place = true;
    if (plan.valid_for != program_reading::concurrent) options.order = plan.order;
    return options;
}

} // namespace sublet::detail
