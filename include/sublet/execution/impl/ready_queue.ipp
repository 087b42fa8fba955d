// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_READY_QUEUE_IPP
#define SUBLET_EXECUTION_IMPL_READY_QUEUE_IPP

#include <sublet/contract.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/ready_queue.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

namespace sublet {

SUBLET_DECL ready_queue::ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed,
                                     std::vector<step_id> order)
    : policy_(policy), seed_(seed), draw_(seed), order_(std::move(order))
{
    SUBLET_EXPECTS(policy == queue_policy::given || order_.empty(),
                   "sublet: an order to run in is that of queue_policy::given");
    ready_.reserve(positions);
    if (policy != queue_policy::given) return;
    is_ready_.assign(positions, 0);
    for (step_id at : order_) {
        SUBLET_EXPECTS(at < positions && !is_ready_[at],
                       "sublet: an order to run in does not name every position once");
        is_ready_[at] = 1;
    }
    SUBLET_EXPECTS(order_.size() == positions,
                   "sublet: an order to run in does not name every position once");
    clear();
}

SUBLET_DECL void ready_queue::clear()
{
    ready_.clear();
    first_ = 0;
    draw_ = seed_;
    std::fill(is_ready_.begin(), is_ready_.end(), static_cast<unsigned char>(0));
}

SUBLET_DECL void ready_queue::push(step_id at)
{
    if (policy_ == queue_policy::given) {
        is_ready_[at] = 1;
        return;
    }
    ready_.push_back(at);
    if (policy_ == queue_policy::plan_order) std::push_heap(ready_.begin(), ready_.end(), is_later);
}

SUBLET_DECL step_id ready_queue::pop()
{
    if (is_empty()) return no_step;
    switch (policy_) {
    case queue_policy::given: return order_[first_++];
    case queue_policy::fifo: return ready_[first_++];
    case queue_policy::plan_order: std::pop_heap(ready_.begin(), ready_.end(), is_later); break;
    case queue_policy::random:
        std::swap(ready_[static_cast<std::size_t>(detail::mix(++draw_) % ready_.size())], ready_.back());
        break;
    case queue_policy::lifo: break;
    }
    step_id const at = ready_.back();
    ready_.pop_back();
    return at;
}

SUBLET_DECL std::vector<step_id> order_of_one_worker(step_waits const& waits, ready_queue& queue)
{
    std::vector<std::size_t> pending;
    std::vector<step_id> order;
    queue.clear();
    for (std::size_t at = 0; at != waits.before.rows(); ++at) {
        pending.push_back(waits.before[at].size());
        if (pending.back() == 0) queue.push(static_cast<step_id>(at));
    }
    for (step_id at = queue.pop(); at != no_step; at = queue.pop()) {
        order.push_back(at);
        for (step_id next : waits.after[at])
            if (--pending[next] == 0) queue.push(next);
    }
    SUBLET_EXPECTS(order.size() == pending.size(),
                   "sublet: an order to run in has a step before one that it has to wait for");
    return order;
}

} // namespace sublet

#endif
