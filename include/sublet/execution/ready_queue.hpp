// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_READY_QUEUE_HPP
#define SUBLET_EXECUTION_READY_QUEUE_HPP

/// Steps that wait for nothing any more, and which of them is next.
///
///     ready, as they came      5  2  7  4
///
///     plan_order   2           the first by position, as the plan has it
///     fifo         5           who has been ready for longest
///     lifo         4           who became ready last: its operands are still warm
///     random       7, say      drawn; the same for the same seed
///     given        -           6 is next in the order that was given, and nobody overtakes it
///
/// A sound plan holds whichever is taken; the policies are there to show it, and to be measured.

#include <sublet/contract.hpp>
#include <sublet/execution/digest.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

/// Positions, each of which may become ready once.
class ready_queue {
public:
    /// Requires: of `given`, `order` names every position once; of the others there is none.
    /// Throws:   precondition_error where a requirement is broken.
    ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed = 0,
                std::vector<step_id> order = {})
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

    /// As it was made: nothing is ready.
    void clear()
    {
        ready_.clear();
        first_ = 0;
        draw_ = seed_;
        std::fill(is_ready_.begin(), is_ready_.end(), static_cast<unsigned char>(0));
    }

    /// Complexity: of `plan_order` O(log ready), of the others O(1); no allocation.
    void push(step_id at)
    {
        if (policy_ == queue_policy::given) {
            is_ready_[at] = 1;
            return;
        }
        ready_.push_back(at);
        if (policy_ == queue_policy::plan_order) std::push_heap(ready_.begin(), ready_.end(), is_later);
    }

    /// The next one, or `no_step` if none can be taken now.
    /// Complexity: as of push().
    step_id pop()
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

    /// Whether none can be taken now.
    [[nodiscard]] bool is_empty() const
    {
        if (policy_ == queue_policy::given) return first_ == order_.size() || !is_ready_[order_[first_]];
        return ready_.size() == first_;
    }

    /// Somebody who is alone, and has just made one step ready, takes that.
    [[nodiscard]] bool takes_only_one_ready() const { return policy_ != queue_policy::given; }

private:
    static bool is_later(step_id a, step_id b) { return a > b; } // the heap has its greatest on top

    queue_policy policy_;
    std::uint64_t seed_, draw_;
    std::vector<step_id> order_;          // of `given`
    std::vector<unsigned char> is_ready_; // of `given`, by position
    std::vector<step_id> ready_;          // of the others; a heap, a row or a stack
    std::size_t first_ = 0;               // how many of the row, or of the order, have been taken
};

/// The order in which one worker takes all steps.
///
/// Requires:   each wait leads from a lower position to a higher one.
/// Complexity: O(steps + waits) and as many pushes and pops as there are steps.
/// Throws:     precondition_error if a given order has a step before one that it waits for.
[[nodiscard]] inline std::vector<step_id> order_of_one_worker(step_waits const& waits, ready_queue& queue)
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
