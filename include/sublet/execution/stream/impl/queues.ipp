// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_QUEUES_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_QUEUES_IPP

#include <sublet/execution/stream/queues.hpp>
#include <sublet/impl/config.hpp>

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

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::uint32_t stream_queues::add_stream()
{
    lanes_.emplace_back();
    return static_cast<std::uint32_t>(lanes_.size() - 1);
}

SUBLET_DECL std::uint32_t stream_queues::add_event()
{
    events_.emplace_back();
    return static_cast<std::uint32_t>(events_.size() - 1);
}

SUBLET_DECL void stream_queues::wait(std::uint32_t stream, std::uint32_t event)
{
    moment_with_past const& past = events_[event];
    if (past.seen.empty()) return; // never recorded
    for (std::uint32_t s = 0; s != past.seen.size(); ++s) raise(lanes_[stream].seen, {s, past.seen[s]});
    append(stream, {.is_wait = true, .waits_for = past.at});
}

SUBLET_DECL bool stream_queues::comes_after(std::uint32_t stream, stream_moment moment) const
{
    auto const& seen = lanes_[stream].seen;
    return stream == moment.stream || is_past(moment) ||
           (moment.stream < seen.size() && seen[moment.stream] >= moment.done);
}

SUBLET_DECL bool stream_queues::is_past(stream_moment moment) const
{
    return lanes_[moment.stream].done >= moment.done;
}

SUBLET_DECL void stream_queues::drain(std::uint32_t stream)
{
    for (pass_waits(); lanes_[stream].queued() != 0; pass_waits()) run_one();
}

SUBLET_DECL void stream_queues::drain()
{
    for (std::uint32_t s = 0; s != lanes_.size(); ++s) drain(s);
}

SUBLET_DECL void stream_queues::drop() noexcept
{
    for (lane& its : lanes_) {
        its.queue.clear();
        its.next = 0;
        its.done = its.issued;
    }
}

SUBLET_DECL void stream_queues::raise(std::vector<std::uint64_t>& seen, stream_moment to)
{
    if (seen.size() <= to.stream) seen.resize(to.stream + std::size_t{1});
    if (seen[to.stream] < to.done) seen[to.stream] = to.done;
}

SUBLET_DECL void stream_queues::append(std::uint32_t stream, command what)
{
    if (failure_) return;
    what.number = pushed_++;
    lanes_[stream].queue.push_back(std::move(what));
    ++lanes_[stream].issued;
    if (options_.order == stream_order::eager) drain(stream);
}

SUBLET_DECL void stream_queues::pass_waits()
{
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (std::uint32_t s = 0; s != lanes_.size(); ++s)
            while (can_go_on(s) && lanes_[s].front().is_wait) {
                lanes_[s].take();
                ++lanes_[s].done;
                is_done = false;
            }
    }
}

SUBLET_DECL std::uint32_t stream_queues::next_stream()
{
    auto const count = static_cast<std::uint32_t>(lanes_.size());
    std::vector<std::uint32_t>& able = able_;
    able.clear();
    for (bool held_back : {false, true}) {
        for (std::uint32_t i = 1; i <= count && able.size() != count; ++i) {
            std::uint32_t const s = (last_ + i) % count;
            if (can_go_on(s) && is_held_back(s) == held_back) able.push_back(s);
        }
        if (!able.empty()) break;
    }
    if (options_.order == stream_order::random) return able[random_below(able.size())];
    std::uint32_t chosen = able.front();
    for (std::uint32_t s : able) {
        bool const is_later = lanes_[s].front().number > lanes_[chosen].front().number;
        if (options_.order == stream_order::latest_first && is_later) chosen = s;
        if (options_.order == stream_order::favour && s == options_.which) chosen = s;
    }
    return chosen;
}

SUBLET_DECL void stream_queues::run_one()
{
    last_ = next_stream();
    lane& its = lanes_[last_];
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
    dice_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = dice_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<std::size_t>((z ^ z >> 31) % count);
}

} // namespace sublet

#endif
