// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_DEVICE_VALUES_HPP
#define SUBLET_EXECUTION_DETAIL_DEVICE_VALUES_HPP

/// The values of a program on a device, for stream_executor: what the caller supplies and reads, their
/// storage between runs, and what is left of it after a failure. Addresses are device addresses.
///
///     bind(weights, address)  once ──┐
///     give(image, bytes)     per run ┴─► run ──► take(scores, bytes)    until the next input
///
/// After an error, it waits until the device is idle, releases storage, then throws. It never calls a lost
/// device.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/binding_state.hpp>
#include <sublet/execution/detail/device_error.hpp>
#include <sublet/execution/detail/device_streams.hpp>
#include <sublet/execution/detail/executor_state.hpp>
#include <sublet/execution/detail/stream_digests.hpp>
#include <sublet/execution/detail/stream_storage.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>

namespace sublet::detail {

/// Which storage has the same address in every run.
enum class kept_storage : std::uint8_t {
    none,   ///< blocks are allocated in each run
    io,     ///< blocks, those of inputs and outputs once
    arenas, ///< all
};

template <stream_device Device>
class device_values {
public:
    using stream_type = typename Device::stream_type;

    device_values(Device& device, lowered_program const& lowered, kept_storage kept,
                  executor_options const& settings)
        : lowered_(lowered), streams_(device), storage_(device, streams_.first(), lowered, settings.limit),
          kept_(kept), check_(settings.check), bindings_(lowered)
    {
    }
    device_values(device_values const&) = delete; // queued work refers to it
    device_values& operator=(device_values const&) = delete;
    ~device_values()
    {
        if (!streams_.wait_until_idle()) storage_.skip_device(true);
        release_blocks();
        storage_.release_arenas(streams_.first());
    }
    /// Allocates the arenas of a plan, or takes those of a growing arena, which have no bytes before the
    /// first use. Throws: as stream_storage::place().
    void place(arena const& mode)
    {
        storage_.place(mode.plan, blocks_of_arena::of(mode));
        if (check_ == executor_options::checks::digest) plan_ = mode.plan;
        if (blocks_of_arena::of(mode) != nullptr) return;
        state().queue(); // an allocation may queue work on the stream
        if (check_ >= executor_options::checks::paint) paint_arenas();
    }
    void take_digests() { digests_.emplace(lowered_); }
    /// Takes the places of the shape that is in the lowered program now, when the device is idle.
    void move_to(shaped_values const& shape)
    {
        storage_.move_to(shape); // inputs and outputs are lost with the places that they had
        bindings_.compare_bound(lowered_, storage_.capacity());
        ++rebinds_;
        if (plan_) plan_ = shape.plan();
        if (digests_) take_digests(); // at other points: what has no bytes is compared nowhere else
    }

    // --- between runs: as the members of stream_executor with these names -------------------------------

    [[nodiscard]] std::span<std::byte> input(value_id v)
    {
        expect_input(v);
        synchronize();
        supply(v);
        synchronize(); // waits for the allocation
        return storage_.value_bytes(v);
    }
    void give(value_id v, std::span<std::byte const> bytes)
    {
        streams_.expect_usable();
        bindings_.expect_value(lowered_, v);
        if (!is_bound(v)) expect_input(v);
        byte_count const has = is_bound(v) ? storage_.value_bytes(v).size() : lowered_.bytes[v];
        SUBLET_EXPECTS(bytes.size() == has, "sublet: value % is given with % bytes, but it has %", v,
                       bytes.size(), has);
        if (!is_bound(v)) supply(v);
        std::span<std::byte> const to = storage_.value_bytes(v);
        state().queue();
        try {
            device().copy_to_device(to.data(), bytes, streams_.first());
        } catch (...) {
            fail(std::current_exception());
        }
    }
    [[nodiscard]] std::span<std::byte const> output(value_id v)
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_output(lowered_, v);
        synchronize();
        bindings_.expect_results(v, state().has_outputs() && storage_.holds_arena());
        return storage_.value_bytes(v);
    }
    void take(value_id v, std::span<std::byte> bytes)
    {
        bindings_.expect_value(lowered_, v);
        streams_.expect_usable();
        synchronize();
        std::span<std::byte const> const from =
            is_bound(v) ? std::span<std::byte const>(storage_.value_bytes(v)) : output(v);
        SUBLET_EXPECTS(bytes.size() == from.size(), "sublet: value % is taken with % bytes, but it has %", v,
                       bytes.size(), from.size());
        try {
            kernels_running const now(state());
            device().copy_from_device(bytes, from.data(), streams_.first());
            device().synchronize(streams_.first());
        } catch (...) {
            fail(std::current_exception());
        }
    }
    void bind(value_id v, std::span<std::byte> bytes)
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_fit(lowered_, v, bytes);
        synchronize();
        buffer_id const b = lowered_.table.buffer_of[v];
        std::span<std::byte> const before = storage_.bytes_of(b);
        if (bytes.data() != before.data() || bytes.size() != before.size()) ++rebinds_;
        storage_.bind(b, bytes);
        bindings_.mark_supplied(b);
    }
    void synchronize()
    {
        streams_.expect_idle();
        if (!state().has_work()) return;
        try {
            streams_.wait();
        } catch (...) {
            fail(std::current_exception());
        }
        bool const are_digests_taken = digests_ && runs_in_flight_ != 0;
        runs_in_flight_ = 0;
        if (!are_digests_taken) return;
        if (auto const change = digests_->first_change(plan_ ? &*plan_ : nullptr)) {
            forget_run();
            throw clobbered_value(*change);
        }
    }

    // --- a run, in this order ---------------------------------------------------------------------------

    /// All that a run needs is supplied, and in the arena.
    /// Throws: unusable_value; precondition_error if the device is lost; allocation_error.
    void expect_supplied()
    {
        streams_.expect_usable();
        if (!storage_.holds_arena()) bindings_.consume_inputs(lowered_); // another executor wrote over them
        bindings_.expect_all(lowered_);
        take_arena();
    }
    /// Makes room for the results: releases what the last run left, or provides what keeps its address.
    /// Outputs can no longer be read.
    void prepare_storage()
    {
        if (digests_) synchronize(); // each digest has one place for all runs
        end_round();
        state().queue();
        if (kept_ == kept_storage::io) provide_io();
        if (kept_ != kept_storage::none) return;
        try {
            storage_.release_if([](value_role role) { return !has_role(role, value_role::input); },
                                streams_.first());
        } catch (...) {
            fail(std::current_exception());
        }
    }
    /// The outputs of the last run can no longer be read, and what it carries is where the next one finds it.
    void end_round()
    {
        if (state().has_outputs() && storage_.carry()) ++rebinds_;
        state().drop_outputs();
    }
    /// All commands of a run are issued. Its outputs can be read when they are done.
    void run_is_queued()
    {
        bindings_.consume_inputs(lowered_);
        bindings_.supply_carried(lowered_);
        state().make_outputs();
    }

    /// Waits until idle, releases what it can, and throws `why` with the step being launched, if any.
    [[noreturn]] void fail(std::exception_ptr why, issue_progress reached = {})
    {
        bool const is_lost = !streams_.wait_until_idle();
        storage_.skip_device(is_lost);
        forget_run();
        if (is_lost) state().lose();
        throw_run_error(why, reached, is_lost);
    }

    // --- for a captured run -----------------------------------------------------------------------------

    /// As expect_supplied(), but does not require inputs yet.
    void expect_bound()
    {
        streams_.expect_usable();
        bindings_.expect_bound(lowered_);
        take_arena();
    }
    /// Allocates inputs and outputs that keep their addresses and have none yet.
    void provide_io()
    {
        for (buffer_id b = 0; kept_ == kept_storage::io && b != lowered_.ref_counts.size(); ++b) {
            buffer const& its = lowered_.table.buffers[b];
            if (!its.is_planned() || !is_io(its.role)) continue;
            try {
                if (storage_.provide(b, streams_.first())) state().queue();
            } catch (...) {
                fail(std::current_exception());
            }
        }
    }
    /// Allocations of a failed capture never happened.
    void forget_captured_blocks()
    {
        storage_.skip_device(true);
        storage_.release_if([](value_role role) { return !is_io(role); }, streams_.first());
        storage_.skip_device(false);
    }
    /// Counts changes of the storage that operands and graphs refer to.
    [[nodiscard]] std::size_t rebinds() const { return rebinds_; }

    // --- parts ------------------------------------------------------------------------------------------

    [[nodiscard]] device_streams<Device>& streams() { return streams_; }
    [[nodiscard]] device_streams<Device> const& streams() const { return streams_; }
    [[nodiscard]] stream_storage<Device>& storage() { return storage_; }
    [[nodiscard]] stream_storage<Device> const& storage() const { return storage_; }
    [[nodiscard]] executor_state& state() { return streams_.state(); }
    [[nodiscard]] std::optional<stream_digests>& digests() { return digests_; }
    [[nodiscard]] lowered_program const& lowered() const { return lowered_; }
    [[nodiscard]] kept_storage kept() const { return kept_; }
    /// Issued since it was idle, without graphs.
    [[nodiscard]] std::size_t runs_in_flight() const { return runs_in_flight_; }
    void count_run() { ++runs_in_flight_; }

private:
    Device& device() const { return streams_.device(); }
    static bool is_io(value_role role)
    {
        return has_role(role, value_role::input) || has_role(role, value_role::output);
    }
    bool is_bound(value_id v) const
    {
        return !bindings_.buffer_of(lowered_, v).is_planned() &&
               bindings_.is_bound(lowered_.table.buffer_of[v]);
    }
    void expect_input(value_id v) const
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_input(lowered_, v);
        streams_.expect_usable();
    }
    /// Gives an input its bytes, which the caller fills.
    void supply(value_id v)
    {
        buffer_id const b = lowered_.table.buffer_of[v];
        take_arena();
        end_round();
        if (!bindings_.buffer_of(lowered_, v).is_planned())
            return; // without bytes: another shape may have some
        if (storage_.provide(b, streams_.first())) state().queue();
        bindings_.mark_supplied(b);
    }

    /// Gets the bytes of a growing arena if another executor has them; waits for all work of the device then.
    void take_arena()
    {
        if (storage_.holds_arena()) return;
        bindings_.consume_inputs(lowered_);
        state().drop_outputs();
        storage_.take_arena();
        if (check_ >= executor_options::checks::paint) paint_arenas();
    }
    void paint_arenas()
    {
        state().queue();
        for (auto const& block : storage_.arenas())
            if (block.size != 0) device().fill(block.bytes, std::byte{0xFF}, block.size, streams_.first());
    }

    /// Discards a run, when nothing of it is in flight.
    void forget_run()
    {
        runs_in_flight_ = 0;
        state().drop_outputs();
        if (storage_.arenas().empty()) ++rebinds_;
        bindings_.consume_inputs(lowered_);
        release_blocks();
    }
    void release_blocks() noexcept
    {
        try {
            storage_.release_if([](value_role) { return true; }, streams_.first());
        } catch (...) { // the device keeps them
        }
    }

    lowered_program const& lowered_;
    device_streams<Device> streams_; // and the state
    stream_storage<Device> storage_;
    kept_storage kept_;
    executor_options::checks check_;
    binding_state bindings_;                // what is bound or supplied
    std::optional<stream_digests> digests_; // for checks::digest
    std::optional<memory_plan> plan_;       // of the arenas, for its report
    std::size_t runs_in_flight_ = 0;
    std::size_t rebinds_ = 0;
};

} // namespace sublet::detail

#endif
