// SPDX-License-Identifier: BSL-1.0

/// stream_queues: a command is queued with the clock of its stream; a wait blocks its stream until the other
/// one has executed as many commands as were queued when the event was recorded. The order picks among
/// runnable streams.

#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/mix.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/testing/detail/stream_queues.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL queued_work::queued_work(queued_work&& other) noexcept
    : work_(std::exchange(other.work_, nullptr)), run_(other.run_), drop_(other.drop_)
{
}

SUBLET_DECL queued_work& queued_work::operator=(queued_work&& other) noexcept
{
    std::swap(work_, other.work_);
    std::swap(run_, other.run_);
    std::swap(drop_, other.drop_);
    return *this;
}

SUBLET_DECL std::uint32_t stream_queues::add_stream()
{
    runnable_.reserve(streams_.size() + 1); // to run queued work takes no memory
    streams_.emplace_back();
    return static_cast<std::uint32_t>(streams_.size() - 1);
}

SUBLET_DECL std::uint32_t stream_queues::add_event()
{
    events_.emplace_back();
    return static_cast<std::uint32_t>(events_.size() - 1);
}

SUBLET_DECL void stream_queues::wait(std::uint32_t stream, std::uint32_t event)
{
    event_state const& past = events_[event];
    if (past.clock.empty()) return; // never recorded
    for (std::uint32_t s = 0; s != past.clock.size(); ++s)
        advance(streams_[stream].clock, {s, past.clock[s]});
    append(stream, {.is_wait = true, .waits_for = past.at});
}

SUBLET_DECL bool stream_queues::comes_after(std::uint32_t stream, stream_point point) const
{
    auto const& clock = streams_[stream].clock;
    return stream == point.stream || is_reached(point) ||
           (point.stream < clock.size() && clock[point.stream] >= point.done);
}

SUBLET_DECL bool stream_queues::is_reached(stream_point point) const
{
    return streams_[point.stream].done >= point.done;
}

SUBLET_DECL void stream_queues::drain(std::uint32_t stream)
{
    for (retire_waits(); streams_[stream].queued() != 0; retire_waits()) run_one();
}

SUBLET_DECL void stream_queues::drain()
{
    for (std::uint32_t s = 0; s != streams_.size(); ++s) drain(s);
}

SUBLET_DECL void stream_queues::drop() noexcept
{
    for (stream_queue& its : streams_) {
        its.queue.clear();
        its.next = 0;
        its.done = its.issued;
    }
}

SUBLET_DECL void stream_queues::advance(std::vector<std::uint64_t>& clock, stream_point to)
{
    if (clock.size() <= to.stream) clock.resize(to.stream + std::size_t{1});
    if (clock[to.stream] < to.done) clock[to.stream] = to.done;
}

SUBLET_DECL void stream_queues::append(std::uint32_t stream, command what)
{
    if (failure_) return;
    what.number = pushed_++;
    streams_[stream].queue.push_back(std::move(what));
    ++streams_[stream].issued;
    if (options_.order == simulated_options::order_kind::eager) drain(stream);
}

SUBLET_DECL void stream_queues::retire_waits()
{
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (std::uint32_t s = 0; s != streams_.size(); ++s)
            while (is_runnable(s) && streams_[s].front().is_wait) {
                streams_[s].take();
                ++streams_[s].done;
                is_done = false;
            }
    }
}

SUBLET_DECL std::uint32_t stream_queues::next_stream()
{
    auto const count = static_cast<std::uint32_t>(streams_.size());
    std::vector<std::uint32_t>& runnable = runnable_;
    runnable.clear();
    for (bool deferred : {false, true}) {
        for (std::uint32_t i = 1; i <= count && runnable.size() != count; ++i) {
            std::uint32_t const s = (last_ + i) % count;
            if (is_runnable(s) && is_deferred(s) == deferred) runnable.push_back(s);
        }
        if (!runnable.empty()) break;
    }
    if (options_.order == simulated_options::order_kind::random)
        return runnable[random_below(runnable.size())];
    std::uint32_t chosen = runnable.front();
    for (std::uint32_t s : runnable) {
        bool const is_later = streams_[s].front().number > streams_[chosen].front().number;
        if (options_.order == simulated_options::order_kind::latest_first && is_later) chosen = s;
        if (options_.order == simulated_options::order_kind::favour && s == options_.which) chosen = s;
    }
    return chosen;
}

SUBLET_DECL void stream_queues::run_one()
{
    last_ = next_stream();
    stream_queue& its = streams_[last_];
    command what = its.take();
    try {
        what.work();
        ++its.done;
    } catch (...) {
        failure_ = std::current_exception();
        failed_step_ = what.step;
        drop();
    }
}

SUBLET_DECL std::size_t stream_queues::random_below(std::size_t count)
{
    random_state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = random_state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return to_size((z ^ z >> 31) % count);
}

} // namespace sublet::detail
