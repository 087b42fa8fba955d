// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_DEVICE_STREAMS_HPP
#define SUBLET_EXECUTION_DETAIL_DEVICE_STREAMS_HPP

/// The streams and events that an executor has on a device, and what it knows of the work in them: its state.
///
///     before a command    expect_usable()      the device is not lost, and no kernel of ours is running
///                         state().queue()      there is work to wait for, also if the command throws
///     wait()              the first stream, where every run ends; throws what the device reports
///     wait_until_idle()   all streams, after a failure: throws nothing, and gives a lost device up

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/executor_state.hpp>
#include <sublet/execution/device.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// Owns streams and events of a device; nothing is queued in them at destruction.
template <stream_device Device>
class device_streams {
public:
    using stream_type = typename Device::stream_type;
    using event_type = typename Device::event_type;

    explicit device_streams(Device& device) : device_(device) { ensure(1, 0); }
    device_streams(device_streams const&) = delete;
    device_streams& operator=(device_streams const&) = delete;
    ~device_streams()
    {
        for (auto e : events_) device_.destroy_event(e);
        for (auto s : streams_) device_.destroy_stream(s);
    }
    /// Makes what is missing.
    void ensure(std::size_t streams_wanted, std::size_t events_wanted)
    {
        streams_.reserve(streams_wanted);
        events_.reserve(events_wanted);
        while (streams_.size() < streams_wanted) streams_.push_back(device_.make_stream());
        while (events_.size() < events_wanted) events_.push_back(device_.make_event());
    }

    [[nodiscard]] Device& device() const { return device_; }
    [[nodiscard]] std::size_t count() const { return streams_.size(); }
    /// Where a run begins and ends, and inputs and outputs are copied.
    [[nodiscard]] stream_type first() const { return streams_.front(); }
    [[nodiscard]] stream_type stream(std::size_t number) const { return streams_[number]; }
    [[nodiscard]] event_type event(std::size_t number) const { return events_[number]; }
    [[nodiscard]] executor_state& state() { return state_; }
    [[nodiscard]] executor_state const& state() const { return state_; }

    /// Throws: precondition_error within one of our kernels.
    void expect_idle() const
    {
        SUBLET_EXPECTS(!state_.is_running(), "sublet: an executor is used by its own kernel");
    }
    /// Throws: precondition_error within one of our kernels, or if the device is lost.
    void expect_usable() const
    {
        expect_idle();
        SUBLET_EXPECTS(!state_.is_lost() && !device_.is_lost(),
                       "sublet: a device is lost, and nothing can be run on it any more");
    }

    /// Waits for all that ends in the first stream. Throws: errors of the device; then work may be left.
    void wait()
    {
        {
            kernels_running const now(state_);
            device_.synchronize(first());
        }
        state_.settle();
    }
    /// Returns whether it is idle. A device reports each failure once, then continues or is lost.
    bool wait_until_idle() noexcept
    {
        bool is_idle = false;
        for (std::size_t tries = 0; !is_idle && tries != 1000 && !device_.is_lost(); ++tries) {
            try {
                kernels_running const now(state_);
                device_.synchronize();
                is_idle = true;
            } catch (...) {
            }
        }
        state_.settle(); // a lost device has no work
        return is_idle;
    }

private:
    Device& device_;
    std::vector<stream_type> streams_{};
    std::vector<event_type> events_{};
    executor_state state_;
};

} // namespace sublet::detail

#endif
