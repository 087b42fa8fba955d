// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_DESK_HPP
#define SUBLET_EXECUTION_STREAM_DESK_HPP

/// Where the caller of an executor hands in and takes away, if the bytes lie on a device.
///
///     bind(weights, address)  once ──┐
///     give(image, bytes)     a run ──┴─► run ──► take(scores, bytes)    until the next input
///
/// It also ends what goes wrong: the device first comes to rest, then storage is given back, then the caller
/// hears of it. A device that is lost gets nothing back, and is asked for nothing any more.

#include <sublet/contract.hpp>
#include <sublet/execution/caller_duties.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/sentence.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/stream/device.hpp>
#include <sublet/execution/stream/digests.hpp>
#include <sublet/execution/stream/storage.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// A device refused a command, or says that one has failed.
class device_error : public run_error {
public:
    explicit device_error(std::exception_ptr cause) : run_error(no_step, cause, {})
    {
        text_ = {};
        text_ << "sublet: in a run on streams, the device failed at a step that it does not name";
        detail::write_cause(text_, cause);
    }
};

namespace detail {

/// As long as it lives, kernels may run.
class kernels_running {
public:
    explicit kernels_running(bool& are_running) noexcept : are_running_(are_running) { are_running_ = true; }
    kernels_running(kernels_running const&) = delete;
    kernels_running& operator=(kernels_running const&) = delete;
    ~kernels_running() { are_running_ = false; }

private:
    bool& are_running_;
};

/// Streams and events of a device. Nothing is queued in them when they go.
template <stream_device Device>
class stream_handles {
public:
    explicit stream_handles(Device& device) : device_(device) {}
    stream_handles(stream_handles const&) = delete;
    stream_handles& operator=(stream_handles const&) = delete;
    ~stream_handles()
    {
        for (auto e : events) device_.destroy_event(e);
        for (auto s : streams) device_.destroy_stream(s);
    }
    /// So many at least.
    void want(std::size_t streams_wanted, std::size_t events_wanted)
    {
        streams.reserve(streams_wanted);
        events.reserve(events_wanted);
        while (streams.size() < streams_wanted) streams.push_back(device_.make_stream());
        while (events.size() < events_wanted) events.push_back(device_.make_event());
    }

    std::vector<typename Device::stream_type> streams{};
    std::vector<typename Device::event_type> events{};

private:
    Device& device_;
};

} // namespace detail

/// The caller's side of stream_executor. Addresses are the device's.
template <stream_device Device>
class stream_desk {
public:
    using stream_type = typename Device::stream_type;

    /// The bytes of an input on the device, which the caller may write when this returns; a run that has been
    /// issued is waited for. Outputs of that run end here: an input may lie where they lie.
    ///
    /// Throws: precondition_error if v is no input or its storage is to be bound, or the device is lost;
    ///         allocation_error; what synchronize() throws.
    template <id_like V>
    [[nodiscard]] std::span<std::byte> input(V const& v)
    {
        value_id const value = input_of(v);
        synchronize();
        provide(value);
        synchronize(); // what was allocated is there
        return values_.shown_by(value);
    }

    /// Copies an input, or what is to be in storage that is bound, to the device, behind the runs that have
    /// been issued. The bytes may be changed when this returns.
    ///
    /// Throws: as input(), but for runs; precondition_error if there are not as many bytes as v has.
    template <id_like V>
    void give(V const& v, std::span<std::byte const> bytes)
    {
        expect_device();
        value_id const value = duties_.value_of(tape_, v);
        byte_count const has =
            is_bound(value) ? values_.shown_by(value).size() : tape_.bytes[input_of(value)];
        SUBLET_EXPECTS(bytes.size() == has, "sublet: a value is given with more or fewer bytes than it has");
        if (!is_bound(value)) provide(value);
        std::span<std::byte> const to = values_.shown_by(value);
        is_at_rest_ = false;
        try {
            device_.copy_to_device(to.data(), bytes, first_);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    /// The bytes of an output on the device, when the run that has been issued is over.
    ///
    /// Throws: precondition_error if v is no output; unusable_value if no run has made it, or an input has
    ///         been given since; what synchronize() throws.
    template <id_like V>
    [[nodiscard]] std::span<std::byte const> output(V const& v)
    {
        value_id const value = duties_.value_of(tape_, v);
        duties_.expect_output(tape_, value);
        synchronize();
        duties_.expect_results(value, has_results_);
        return values_.shown_by(value);
    }

    /// Copies an output, or what is in storage that is bound, to the caller.
    ///
    /// Throws: as output(); precondition_error if there are not as many bytes as v has.
    template <id_like V>
    void take(V const& v, std::span<std::byte> bytes)
    {
        value_id const value = duties_.value_of(tape_, v);
        synchronize();
        std::span<std::byte const> const from =
            is_bound(value) ? std::span<std::byte const>(values_.shown_by(value)) : output(v);
        SUBLET_EXPECTS(bytes.size() == from.size(),
                       "sublet: a value is taken with more or fewer bytes than it has");
        try {
            detail::kernels_running const now(are_kernels_running_);
            device_.copy_from_device(bytes, from.data(), first_);
            device_.synchronize(first_);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    /// The caller's storage on the device for a value that is external, state, not eligible or of unknown
    /// size, and for all views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; storage bound for two
    ///           values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment; what synchronize() throws.
    template <id_like V>
    void bind(V const& v, std::span<std::byte> bytes)
    {
        value_id const value = duties_.value_of(tape_, v);
        duties_.expect_fit(tape_, value, bytes);
        synchronize();
        buffer_id const b = tape_.table.buffer_of[value];
        std::span<std::byte> const before = values_.bytes_of(b);
        if (bytes.data() != before.data() || bytes.size() != before.size()) ++moves_;
        values_.bind(b, bytes);
        duties_.give(b);
        are_operands_written_ = false;
    }

    /// Waits for the runs that have been issued. Their outputs can be read.
    ///
    /// Throws: run_error if something in them has failed, with the step if the device names it;
    ///         clobbered_value. Then all storage but the arenas has been given back, inputs have to be given
    ///         again, and it may run again, unless the device is lost.
    void synchronize()
    {
        expect_idle();
        if (is_at_rest_) return;
        try {
            detail::kernels_running const now(are_kernels_running_);
            device_.synchronize(first_);
        } catch (...) {
            fail(std::current_exception());
        }
        is_at_rest_ = true;
        runs_in_flight_ = 0;
        if (!std::exchange(are_digests_taken_, false)) return;
        if (auto const change = digests_->first_change(plan())) {
            forget_run();
            throw clobbered_value(*change);
        }
    }

    /// What has been allocated since this executor was made, as it was issued.
    [[nodiscard]] memory_use memory() const { return values_.memory().use(); }
    /// Throws: precondition_error if no step could be on it.
    [[nodiscard]] stream_type stream(std::size_t number = 0) const
    {
        SUBLET_EXPECTS(number < handles_.streams.size(),
                       "sublet: an executor is asked for a stream that it does not use");
        return handles_.streams[number];
    }
    [[nodiscard]] run_order const& order() const { return order_; }

protected:
    stream_desk(Device& device, run_order order, executor_options const& how)
        : device_(device), order_(std::move(order)), tape_(order_.tape), handles_(device),
          first_((handles_.want(1, 0), handles_.streams[0])), values_(device, first_, tape_, how.limit),
          check_(how.check), duties_(tape_)
    {
    }
    stream_desk(stream_desk const&) = delete; // the device may be about to read what lies here
    stream_desk& operator=(stream_desk const&) = delete;
    ~stream_desk()
    {
        if (!come_to_rest()) values_.be_silent(true);
        try {
            values_.release_if([](value_role) { return true; }, first_);
        } catch (...) { // what it has not taken back by now, it keeps
        }
        values_.release_arenas(first_);
    }

    void expect_idle() const
    {
        SUBLET_EXPECTS(!are_kernels_running_, "sublet: an executor is used by its own kernel");
    }
    void expect_device() const
    {
        expect_idle();
        SUBLET_EXPECTS(!is_lost_ && !device_.is_lost(),
                       "sublet: a device is lost, and nothing can be run on it any more");
    }
    void expect_storage() const
    {
        expect_device();
        duties_.expect_all(tape_);
    }
    /// Not yet what is given before every run.
    void expect_bound() const
    {
        expect_device();
        duties_.expect_bound(tape_);
    }
    /// Nothing of the run counts any more; nothing of it is under way.
    void forget_run()
    {
        runs_in_flight_ = 0;
        has_results_ = are_digests_taken_ = false;
        if (values_.arenas().empty()) ++moves_;
        duties_.use_up_inputs(tape_);
        try {
            values_.release_if([](value_role) { return true; }, first_);
        } catch (...) { // the device keeps it
        }
    }

    /// Whether it has: a device says of each failure once, and then goes on or is lost.
    bool come_to_rest() noexcept
    {
        for (std::size_t tries = 0; tries != 1000 && !device_.is_lost(); ++tries) {
            try {
                detail::kernels_running const now(are_kernels_running_);
                device_.synchronize();
                return is_at_rest_ = true;
            } catch (...) {
            }
        }
        is_at_rest_ = true; // there is nothing to wait for
        return false;
    }

    /// Comes to rest, gives back what can be given back, and says why.
    /// `at`: the step whose kernel was being launched, if one was.
    [[noreturn]] void fail(std::exception_ptr why, step_id at = no_step)
    {
        is_lost_ = !come_to_rest();
        values_.be_silent(is_lost_);
        forget_run();
        try {
            std::rethrow_exception(why);
        } catch (run_error const&) { // it knows its step
            throw;
        } catch (...) {
            if (at == no_step || is_lost_) throw device_error(why); // no kernel of a lost device has thrown
            throw run_error(at, why);
        }
    }

    [[nodiscard]] memory_plan const* plan() const { return plan_ ? &*plan_ : nullptr; }

    Device& device_;
    run_order order_;
    run_tape const& tape_;
    detail::stream_handles<Device> handles_;
    stream_type first_;
    detail::stream_storage<Device> values_;
    std::optional<detail::stream_digests> digests_;
    std::optional<memory_plan> plan_; ///< of the arenas
    check_level check_;
    detail::caller_duties duties_;
    std::size_t runs_in_flight_ = 0; ///< issued since it was at rest, but for graphs
    std::size_t moves_ = 0;          ///< how often what a graph refers to has got other bytes
    bool is_at_rest_ = true;         ///< nothing has been issued that was not waited for
    bool has_results_ = false;
    bool are_kernels_running_ = false; ///< or may be
    bool are_digests_taken_ = false;
    bool are_operands_written_ = false; ///< for all runs: in arenas, until somebody binds something

private:
    bool is_bound(value_id v) const
    {
        return !duties_.buffer_of(tape_, v).is_planned() && duties_.is_there(tape_.table.buffer_of[v]);
    }

    template <class V>
    value_id input_of(V const& v) const
    {
        value_id const value = duties_.value_of(tape_, v);
        duties_.expect_input(tape_, value);
        expect_device();
        return value;
    }
    void provide(value_id value)
    {
        buffer_id const b = tape_.table.buffer_of[value];
        if (duties_.buffer_of(tape_, value).is_planned() && values_.provide(b, first_)) is_at_rest_ = false;
        has_results_ = false;
        duties_.give(b);
    }

    bool is_lost_ = false;
};

} // namespace sublet

#endif
