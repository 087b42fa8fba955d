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

#include <sublet/execution/step_waits.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class queue_policy : std::uint8_t { plan_order, fifo, lifo, random, given };

/// Positions, each of which may become ready once.
class ready_queue {
public:
    /// Requires: of `given`, `order` names every position once; of the others there is none.
    /// Throws:   precondition_error where a requirement is broken.
    ready_queue(queue_policy policy, std::size_t positions, std::uint64_t seed = 0,
                std::vector<step_id> order = {});

    /// As it was made: nothing is ready.
    void clear();

    /// Complexity: of `plan_order` O(log ready), of the others O(1); no allocation.
    void push(step_id at);

    /// The next one, or `no_step` if none can be taken now.
    /// Complexity: as of push().
    step_id pop();

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
[[nodiscard]] std::vector<step_id> order_of_one_worker(step_waits const& waits, ready_queue& queue);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/ready_queue.ipp>
#endif

#endif
