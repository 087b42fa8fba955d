// SPDX-License-Identifier: BSL-1.0

/// ready_queue: a heap, a queue or a stack in one vector; a given order has flags instead. step_dispatcher:
/// counts of waits go down without the lock; the queue changes under it, with the numbers of workers that
/// are active, asleep or being woken. A flag outside of the lock says whether the queue has steps, for
/// workers that spin, and for one that takes its only successor.

#include <sublet/execution/detail/step_dispatcher.hpp>
#include <sublet/execution/internal/mix.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- ready queue -----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL ready_queue::ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed,
                                     std::vector<position_id> order)
    : policy_(policy), seed_(seed), random_state_(seed), order_(std::move(order))
{
    SUBLET_EXPECTS(policy == queue_policy::given || order_.empty(),
                   "sublet: an order is given without queue_policy::given");
    ready_.reserve(positions);
    if (policy != queue_policy::given) return;
    is_ready_.assign(positions, 0);
    for (position_id at : order_) {
        if (at >= positions || is_ready_[at]) broken_order(order_, positions, "position");
        is_ready_[at] = 1;
    }
    if (order_.size() != positions) broken_order(order_, positions, "position");
    clear();
}

SUBLET_DECL void ready_queue::clear()
{
    ready_.clear();
    first_ = 0;
    random_state_ = seed_;
    std::fill(is_ready_.begin(), is_ready_.end(), static_cast<unsigned char>(0));
}

SUBLET_DECL void ready_queue::push(position_id at)
{
    if (policy_ == queue_policy::given) {
        is_ready_[at] = 1;
        return;
    }
    ready_.push_back(at);
    if (policy_ == queue_policy::plan_order) std::push_heap(ready_.begin(), ready_.end(), is_later);
}

SUBLET_DECL position_id ready_queue::pop()
{
    if (is_empty()) return no_position;
    switch (policy_) {
    case queue_policy::given: return order_[first_++];
    case queue_policy::fifo: return ready_[first_++];
    case queue_policy::plan_order: std::pop_heap(ready_.begin(), ready_.end(), is_later); break;
    case queue_policy::random:
        std::swap(ready_[to_size(mix(++random_state_) % ready_.size())], ready_.back());
        break;
    case queue_policy::lifo: break;
    }
    position_id const at = ready_.back();
    ready_.pop_back();
    return at;
}

SUBLET_DECL std::vector<position_id> order_of_one_worker(step_waits const& waits, ready_queue& queue)
{
    table<position_id, std::size_t> pending;
    std::vector<position_id> order;
    queue.clear();
    for (position_id at = 0; at != waits.before.rows(); ++at) {
        pending.push_back(waits.before[at].size());
        if (pending.back() == 0) queue.push(at);
    }
    for (position_id at = queue.pop(); at != no_position; at = queue.pop()) {
        order.push_back(at);
        for (position_id next : waits.after[at])
            if (--pending[next] == 0) queue.push(next);
    }
    SUBLET_EXPECTS(order.size() == pending.size(),
                   "sublet: the given order has a step before one that it waits for");
    return order;
}

// --- step dispatcher -------------------------------------------------------------------------------------

SUBLET_DECL step_dispatcher::step_dispatcher(step_waits const& waits, ready_queue& queue,
                                             table<position_id, std::uint32_t>& pending)
    : waits_(waits), queue_(queue), pending_(pending)
{
    queue_.clear();
    for (position_id at = 0; at != pending_.size(); ++at) {
        pending_[at] = static_cast<std::uint32_t>(waits_.before[at].size());
        if (pending_[at] == 0) queue_.push(at);
    }
    publish_ready();
}

SUBLET_DECL void step_dispatcher::stop() noexcept
{
    is_stopping_.store(true, std::memory_order_relaxed);
    scoped_lock const guard(&lock_);
    end();
}

SUBLET_DECL bool step_dispatcher::is_over() const noexcept
{
    return is_over_.load(std::memory_order_acquire);
}

SUBLET_DECL position_id step_dispatcher::next(position_id done)
{
    auto const after = waits_.after[done];
    std::size_t i = 0;
    auto next_ready = [&] {
        while (i != after.size() && !count_down(after[i])) ++i;
        return i == after.size() ? no_position : after[i++];
    };
    position_id const one = next_ready(), other = next_ready();
    bool const bypasses_queue = one != no_position && other == no_position && queue_.allows_bypass() &&
                                !has_ready_.load(std::memory_order_relaxed) &&
                                !is_stopping_.load(std::memory_order_relaxed);
    if (bypasses_queue) return one;

    position_id taken = no_position;
    bool wakes = false;
    {
        scoped_lock const guard(&lock_);
        for (position_id at : {one, other})
            if (at != no_position) queue_.push(at);
        for (position_id at = next_ready(); at != no_position; at = next_ready()) queue_.push(at);
        if (!is_over()) taken = queue_.pop();
        active_ -= taken == no_position;
        wakes = publish_ready();
        if (active_ == 0) end();
    }
    if (wakes) wakeups_.notify_one();
    return taken;
}

SUBLET_DECL bool step_dispatcher::count_down(position_id at)
{
    if (waits_.before[at].size() == 1) return true;
    return std::atomic_ref(pending_[at]).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

SUBLET_DECL position_id step_dispatcher::wait_for_step()
{
    for (;;) {
        position_id taken = no_position;
        bool wakes = false;
        {
            scoped_lock const guard(&lock_);
            if (is_over()) return no_position;
            taken = queue_.pop();
            active_ += taken != no_position;
            wakes = publish_ready();
            if (active_ == 0) end(); // there are no steps
        }
        if (wakes) wakeups_.notify_one();
        if (taken != no_position) return taken;
        if (!spin_for_work()) sleep();
    }
}

SUBLET_DECL void step_dispatcher::sleep()
{
    std::uint32_t seen = 0;
    {
        scoped_lock const guard(&lock_);
        if (is_over() || !queue_.is_empty()) return;
        ++sleeping_;
        seen = wakeups_.load(std::memory_order_relaxed);
    }
    wakeups_.wait(seen, std::memory_order_relaxed);
    scoped_lock const guard(&lock_);
    --sleeping_;
    if (waking_ != 0) --waking_; // one notification may wake several
}

SUBLET_DECL bool step_dispatcher::spin_for_work() const
{
    for (int spins = 0; spins != 200; ++spins) {
        if (has_ready_.load(std::memory_order_relaxed) || is_over()) return true;
        pause_briefly();
    }
    return false;
}

SUBLET_DECL bool step_dispatcher::publish_ready()
{
    bool const has_ready = !queue_.is_empty();
    has_ready_.store(has_ready, std::memory_order_relaxed);
    if (!has_ready || sleeping_ == waking_) return false;
    ++waking_;
    wakeups_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

SUBLET_DECL void step_dispatcher::end()
{
    is_over_.store(true, std::memory_order_release);
    waking_ = sleeping_;
    wakeups_.fetch_add(1, std::memory_order_relaxed);
    wakeups_.notify_all();
}

} // namespace sublet::detail
