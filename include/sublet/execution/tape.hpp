// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_TAPE_HPP
#define SUBLET_EXECUTION_TAPE_HPP

/// A program as a run sees it: at each position who is read, who is written, whose storage is needed.
///
///     position   step   uses   defs   scratch   touched         buffer   values        holds
///        0         2     -      a        -       0                0      a, b = view(a)  3
///        1         0     a      b, c     w       0, 1, 2          1      c               2
///        2         1     b, c   -        -       0, 1             2      w               1
///
/// A buffer here is a value with all its views: the same bytes in every mode. `holds` counts the steps that
/// touch it, and one more if it has to stay to the end: its reference count when a run begins.

#include <sublet/analysis/buffers.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// Within a step, the bytes of `from` may be written over if nothing touches it later: by the buffer `to` of
/// a declared in-place pair, or by any result (`no_buffer`) if the step reads it early.
struct yielded {
    buffer_id from;
    buffer_id to;
};

struct run_tape {
    std::vector<step_id> step_at; ///< by position
    csr_rows uses, defs, scratch; ///< by position: values, in the order in which the program names them
    csr_rows touched;             ///< by position: buffers, each once
    std::vector<yielded> yields;
    std::vector<std::uint32_t> yields_begin{0}; ///< by position, and one more: into `yields`
    buffer_table table;                         ///< values with their views
    std::vector<std::uint32_t> holds;           ///< by buffer
    std::vector<step_id> first_write;           ///< by buffer: its position, or `no_step`
    std::vector<byte_count> bytes;              ///< by value: what it shows of its buffer
    std::vector<buffer_id> given_up;            ///< inputs that nobody needs: they leave with the first step
    bool is_any_schedule = false;               ///< the order is one of many: they leave before any step
    std::size_t pools = 0;

    [[nodiscard]] step_id positions() const { return static_cast<step_id>(step_at.size()); }
    [[nodiscard]] std::span<yielded const> yields_at(step_id position) const
    {
        return {yields.data() + yields_begin[position], yields.data() + yields_begin[position + 1]};
    }
    /// The buffers of an in-place pair are alike: one block will do for both.
    [[nodiscard]] bool is_even(yielded y) const
    {
        if (y.to == no_buffer) return false;
        buffer const &from = table.buffers[y.from], &to = table.buffers[y.to];
        return from.is_planned() && to.is_planned() && from.pool == to.pool && from.size == to.size;
    }
    /// The result is a view of what was there before: its step has nothing to write.
    [[nodiscard]] bool is_view(value_id defined, step_id position) const
    {
        buffer_id const b = table.buffer_of[defined];
        buffer const& its = table.buffers[b];
        return its.root != defined && (is_given(its.role) || first_write[b] < position);
    }
};

namespace detail {

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

} // namespace detail

namespace detail {

/// The tape of steps in an order that is believed, one of any or the only one; `lives` say who is touched.
inline run_tape tape_in_order(snapshot const& program, plan_options const& options,
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

} // namespace detail

/// The program in the order of `options.order`, with the buffers that its views make.
///
/// Requires:   `scratch` is defined by one step and used by none.
/// Complexity: that of lifetimes(), and O(steps + values + touches + pairs + k log k) time, without the
///             logarithm in memory; k uses at the ends of predecessors and inputs that nobody needs.
/// Throws:     unsound_plan if a value is needed before it is defined, the order moves a write, or a view has
///             more bytes than its root;
///             precondition_error where a requirement is broken.
[[nodiscard]] inline run_tape tape_of(snapshot const& program, plan_options const& options,
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

/// The same in an order of single steps, which nodes cannot say if they overlap: one of those in which a plan
/// for any schedule is run. The first of them is a step as others are: what it reads early yields, and be it
/// an input.
///
/// Requires:   `steps` names every step once, each behind what it waits for. It is believed.
/// Complexity: as above, without lifetimes().
[[nodiscard]] inline run_tape tape_of(snapshot const& program, plan_options const& options,
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
