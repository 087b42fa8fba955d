// SPDX-License-Identifier: BSL-1.0

/// host_values: each call checks its value, then that no kernel runs, then what it is called for; only then
/// does it change anything. A run begins with an atomic exchange of the state, so that of two callers one is
/// refused, and ends with one store, after inputs are consumed and storage is released.

#include <sublet/execution/detail/host_values.hpp>
#include <sublet/execution/detail/poison.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL std::span<std::byte> host_values::input(value_id v)
{
    bindings_.expect_value(lowered_, v);
    expect_idle();
    bindings_.expect_input(lowered_, v);
    forget_lost_values();
    storage_.take_arena();
    buffer_id const b = lowered_.table.buffer_of[v];
    bool const is_planned = lowered_.table.buffers[b].is_planned();
    if (is_planned) storage_.provide(lowered_, b); // or throws, before anything has changed
    end_round();
    if (is_planned) {
        storage_.provide(lowered_, b); // what was carried into it may have had none
        unpoison_bytes(storage_.bytes_of(b));
        bindings_.mark_supplied(b); // without bytes nothing is: another shape may have some
    }
    return storage_.value_bytes(lowered_, v);
}

SUBLET_DECL std::span<std::byte const> host_values::output(value_id v) const
{
    bindings_.expect_value(lowered_, v);
    bindings_.expect_output(lowered_, v);
    bindings_.expect_results(v, state_.has_outputs() && storage_.holds_arena());
    return storage_.value_bytes(lowered_, v);
}

SUBLET_DECL void host_values::bind(value_id v, std::span<std::byte> bytes)
{
    bindings_.expect_value(lowered_, v);
    expect_idle();
    bindings_.expect_fit(lowered_, v, bytes);
    storage_.bind(lowered_.table.buffer_of[v], bytes);
    bindings_.mark_supplied(lowered_.table.buffer_of[v]);
}

SUBLET_DECL void host_values::bind_constant(value_id v, std::span<std::byte const> bytes)
{
    bindings_.expect_value(lowered_, v);
    SUBLET_EXPECTS(lowered_.first_write[lowered_.table.buffer_of[v]] == no_position,
                   "sublet: constant storage is bound for value %, which a step writes", v);
    bind(v, std::span<std::byte>(const_cast<std::byte*>(bytes.data()), bytes.size()));
}

SUBLET_DECL void host_values::set_shape(shape_view one)
{
    expect_idle();
    shape_.find(lowered_, one);
    shape_.apply(lowered_);
    storage_.move_to(lowered_, shape_); // inputs and outputs are lost with the places that they had
    bindings_.compare_bound(lowered_, storage_.capacity());
    report_.lower_bound = live_peak(lowered_);
    report_.plan_bytes = sum_of(shape_.arena_bytes());
}

SUBLET_DECL byte_count host_values::sum_of(table<pool_id, byte_count> const& arenas)
{
    byte_count sum = 0;
    for (byte_count bytes : arenas) sum = checked_add(sum, bytes);
    return sum;
}

SUBLET_DECL void host_values::expect_idle() const
{
    SUBLET_EXPECTS(!state_.is_running(), "sublet: an executor is used by its own kernel, or by two threads");
}

SUBLET_DECL void host_values::forget_lost_values()
{
    if (storage_.holds_arena()) return;
    bindings_.consume_inputs(lowered_);
    state_.drop_outputs();
}

SUBLET_DECL void host_values::end_round()
{
    if (state_.has_outputs()) storage_.carry(lowered_);
    state_.drop_outputs();
}

SUBLET_DECL void host_values::begin_run()
{
    forget_lost_values();
    bindings_.expect_all(lowered_);
    storage_.take_arena();
    if (!lowered_.carried.empty()) {
        expect_idle();
        end_round();
    }
    SUBLET_EXPECTS(state_.start() != run_state::running,
                   "sublet: an executor is used by its own kernel, or by two threads");
}

SUBLET_DECL void host_values::end_run(run_state after)
{
    bindings_.consume_inputs(lowered_);
    if (after == run_state::done) bindings_.supply_carried(lowered_);
    if (after == run_state::done) storage_.end(lowered_);
    else storage_.release_all(lowered_);
    state_.finish(after);
}

SUBLET_DECL run_report host_values::report_of_run() const
{
    run_report report = report_;
    report.run = storage_.memory().use_since_mark();
    report.steps = lowered_.step_at.size();
    for (auto const& block : storage_.arenas()) report.reserved += block.size;
    return report;
}

} // namespace sublet::detail
