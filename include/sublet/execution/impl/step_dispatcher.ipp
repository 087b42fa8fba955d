// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_STEP_DISPATCHER_IPP
#define SUBLET_EXECUTION_IMPL_STEP_DISPATCHER_IPP

#include <sublet/execution/step_dispatcher.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL step_dispatcher::step_dispatcher(step_waits const& waits, ready_queue& queue,
                                             std::vector<std::uint32_t>& pending)
    : waits_(waits), queue_(queue), pending_(pending)
{
    queue_.clear();
    for (std::size_t at = 0; at != pending_.size(); ++at) {
        pending_[at] = static_cast<std::uint32_t>(waits_.before[at].size());
        if (pending_[at] == 0) queue_.push(static_cast<step_id>(at));
    }
    show_queue();
}

SUBLET_DECL void step_dispatcher::stop() noexcept
{
    is_stopping_.store(true, std::memory_order_relaxed);
    holding const only(&lock_);
    end();
}

SUBLET_DECL bool step_dispatcher::is_over() const noexcept
{
    return is_over_.load(std::memory_order_acquire);
}

SUBLET_DECL step_id step_dispatcher::next(step_id done)
{
    auto const after = waits_.after[done];
    std::size_t i = 0;
    auto next_ready = [&] {
        while (i != after.size() && !has_come(after[i])) ++i;
        return i == after.size() ? no_step : after[i++];
    };
    step_id const one = next_ready(), other = next_ready();
    bool const is_alone = one != no_step && other == no_step && queue_.takes_only_one_ready() &&
                          !has_ready_.load(std::memory_order_relaxed) &&
                          !is_stopping_.load(std::memory_order_relaxed);
    if (is_alone) return one;

    step_id taken = no_step;
    bool calls = false;
    {
        holding const only(&lock_);
        for (step_id at : {one, other})
            if (at != no_step) queue_.push(at);
        for (step_id at = next_ready(); at != no_step; at = next_ready()) queue_.push(at);
        if (!is_over()) taken = queue_.pop();
        active_ -= taken == no_step;
        calls = show_queue();
        if (active_ == 0) end();
    }
    if (calls) calls_.notify_one();
    return taken;
}

SUBLET_DECL bool step_dispatcher::has_come(step_id at)
{
    if (waits_.before[at].size() == 1) return true;
    return std::atomic_ref(pending_[at]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SUBLET_DECL step_id step_dispatcher::wait_for_step()
{
    for (;;) {
        step_id taken = no_step;
        bool calls = false;
        {
            holding const only(&lock_);
            if (is_over()) return no_step;
            taken = queue_.pop();
            active_ += taken != no_step;
            calls = show_queue();
            if (active_ == 0) end(); // there was no step at all
        }
        if (calls) calls_.notify_one();
        if (taken != no_step) return taken;
        if (!looks_again()) sleep();
    }
}

SUBLET_DECL void step_dispatcher::sleep()
{
    std::uint32_t seen = 0;
    {
        holding const only(&lock_);
        if (is_over() || !queue_.is_empty()) return;
        ++asleep_;
        seen = calls_.load(std::memory_order_relaxed);
    }
    calls_.wait(seen, std::memory_order_relaxed);
    holding const only(&lock_);
    --asleep_;
    if (called_ != 0) --called_; // several may have woken at one call
}

SUBLET_DECL bool step_dispatcher::looks_again() const
{
    for (int looks = 0; looks != 200; ++looks) {
        if (has_ready_.load(std::memory_order_relaxed) || is_over()) return true;
        pause_briefly();
    }
    return false;
}

SUBLET_DECL bool step_dispatcher::show_queue()
{
    bool const has_ready = !queue_.is_empty();
    has_ready_.store(has_ready, std::memory_order_relaxed);
    if (!has_ready || asleep_ == called_) return false;
    ++called_;
    calls_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

SUBLET_DECL void step_dispatcher::end()
{
    is_over_.store(true, std::memory_order_release);
    called_ = asleep_;
    calls_.fetch_add(1, std::memory_order_relaxed);
    calls_.notify_all();
}

} // namespace sublet::detail

#endif
