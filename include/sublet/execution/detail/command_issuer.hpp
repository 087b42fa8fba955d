// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_COMMAND_ISSUER_HPP
#define SUBLET_EXECUTION_DETAIL_COMMAND_ISSUER_HPP

/// Issues the commands of a stream_schedule on a device, one after another, with the kernel's calls.
///
///     {wait,   1, 0}   device.wait(stream 1, event 0)
///     {launch, 1, 7}   writes the operands of the step at 7, then device.launch(stream 1, kernel, its call)
///
/// Queued calls refer to their operands, so each run in flight has an operand list of its own; in arenas,
/// where operands stay, one list and its calls are written once, and again after other storage was bound.
/// O(commands) in a run, O(touches) where operands are written.

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/device_error.hpp>
#include <sublet/execution/detail/device_streams.hpp>
#include <sublet/execution/detail/device_values.hpp>
#include <sublet/execution/detail/executor_state.hpp>
#include <sublet/execution/detail/operand_table.hpp>
#include <sublet/execution/detail/stream_storage.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/internal/device_features.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/stream_schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Owns kernel, schedule and operands, to which queued work refers.
template <stream_device Device, class Kernel>
class command_issuer {
public:
    using stream_type = typename Device::stream_type;
    using call_type = stream_call<stream_type>;
    using operand_list = std::vector<std::span<std::byte>>;

    command_issuer(device_values<Device>& values, Kernel kernel)
        : device_(values.streams().device()), values_(values), lowered_(values.lowered()),
          kernel_(std::move(kernel)), operand_table_(lowered_)
    {
    }

    void set_schedule(stream_schedule schedule)
    {
        schedule_ = std::move(schedule);
        values_.streams().ensure(schedule_.streams, schedule_.events);
    }
    [[nodiscard]] stream_schedule const& schedule() const { return schedule_; }

    /// A list for one more run or graph.
    [[nodiscard]] operand_list new_operands() const { return operand_list(operand_table_.count()); }
    /// The list for the next run, not in use by a run in flight.
    operand_list& operands_of_next_run()
    {
        bool const are_kept = has_arenas() && lowered_.carried.empty();
        std::size_t const next = are_kept ? 0 : values_.runs_in_flight();
        while (operands_.size() <= next) operands_.push_back(new_operands());
        return operands_[next];
    }

    /// Issues a run, and its digests. `reached` says how far it has come, also if it throws.
    void issue_run(operand_list& operands, issue_progress& reached)
    {
        [[maybe_unused]] auto const batch = batch_of(device_);
        take_digests([&](auto& its, auto take) { its.at_start(take(first())); });
        if (has_arenas() && !values_.digests()) issue_prepared(operands, reached);
        else issue_all(operands, reached);
        take_digests([&](auto& its, auto take) { its.at_end(take(first())); });
    }
    /// Issues a run into a capture.
    void issue_captured(operand_list& operands, issue_progress& reached)
    {
        [[maybe_unused]] auto const batch = batch_of(device_);
        issue_all(operands, reached);
    }

private:
    stream_type first() const { return values_.streams().first(); }
    bool has_arenas() const { return values_.kept() == kept_storage::arenas; }

    void issue_all(operand_list& operands, issue_progress& reached)
    {
        kernels_running const now(values_.state());
        for (stream_schedule::command const& c : schedule_.commands) {
            reached.is_launching = c.what == stream_schedule::action::launch;
            if (reached.is_launching) reached.step = lowered_.step_at[c.which];
            issue(c, operands);
        }
        reached.is_launching = false;
    }
    /// The same in arenas, where nothing changes between runs but what is bound, and what is carried.
    void issue_prepared(operand_list& operands, issue_progress& reached)
    {
        if (calls_are_of_ != values_.rebinds() || !lowered_.carried.empty()) prepare_calls(operands);
        kernels_running const now(values_.state());
        for (stream_schedule::command const& c : schedule_.commands) {
            if (c.what != stream_schedule::action::launch) {
                issue(c, operands);
                continue;
            }
            call_type const& call = calls_[c.which];
            reached = {call.step, true};
            device_.launch(call.stream(), kernel_, call);
            reached.is_launching = false;
        }
    }
    void prepare_calls(operand_list& operands)
    {
        calls_.clear();
        calls_.reserve(lowered_.positions());
        for (position_id at = 0; at != lowered_.positions(); ++at)
            calls_.push_back(prepared_call(at, values_.streams().stream(schedule_.stream_of[at]), operands));
        calls_are_of_ = values_.rebinds();
    }

    void issue(stream_schedule::command const& c, operand_list& operands)
    {
        device_streams<Device> const& streams = values_.streams();
        stream_storage<Device>& storage = values_.storage();
        stream_type const s = streams.stream(c.stream);
        switch (c.what) {
        case stream_schedule::action::record: device_.record(streams.event(c.which), s); break;
        case stream_schedule::action::wait: device_.wait(s, streams.event(c.which)); break;
        case stream_schedule::action::allocate: storage.allocate(c.which, s, first_step_of(c.which)); break;
        case stream_schedule::action::transfer_block: storage.transfer_block(c.from, c.which); break;
        case stream_schedule::action::fill: {
            std::span<std::byte> const bytes = storage.bytes_of(c.which);
            if (!bytes.empty()) device_.fill(bytes.data(), std::byte{0xFF}, bytes.size(), s);
            break;
        }
        case stream_schedule::action::release: storage.release(c.which, s); break;
        case stream_schedule::action::launch: launch_step(c.which, s, operands); break;
        }
    }
    step_id first_step_of(buffer_id b) const
    {
        position_id const at = lowered_.first_write[b];
        return at == no_position ? no_step : lowered_.step_at[at];
    }
    void launch_step(position_id at, stream_type s, operand_list& operands)
    {
        call_type const call = prepared_call(at, s, operands);
        take_digests([&](auto& its, auto take) { its.before(at, take(s)); });
        device_.launch(s, kernel_, call);
        take_digests([&](auto& its, auto take) { its.after(at, take(s)); });
    }
    /// Writes the operands of the step.
    call_type prepared_call(position_id at, stream_type s, operand_list& operands) const
    {
        operand_table_.write(operands, lowered_, at,
                             [this](value_id v) { return values_.storage().value_bytes(v); });
        return call_type(lowered_, at, s, operands.data() + operand_table_[at]);
    }

    /// Calls `at_point(digests, take)` for checks::digest; `take(stream)` takes those of a point there.
    template <class AtPoint>
    void take_digests([[maybe_unused]] AtPoint at_point)
    {
        if constexpr (takes_digests_on_streams) {
            if (!values_.digests()) return;
            at_point(*values_.digests(), [this](stream_type s) {
                return [this, s](buffer_id b, std::uint64_t* digest) {
                    std::span<std::byte const> const bytes = values_.storage().bytes_of(b);
                    if (!bytes.empty()) device_.digest(s, bytes, digest);
                };
            });
        }
    }
    static constexpr bool takes_digests_on_streams = detail::takes_digests<Device>;

    Device& device_;
    device_values<Device>& values_;
    lowered_program const& lowered_;
    Kernel kernel_;
    operand_table operand_table_;
    stream_schedule schedule_;
    std::vector<operand_list> operands_;         // by run in flight; one for all if no address changes
    table<position_id, call_type> calls_;        // in arenas
    std::size_t calls_are_of_ = ~std::size_t{0}; // values_.rebinds() when they were prepared
};

} // namespace sublet::detail

#endif
