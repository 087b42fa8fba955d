// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLOW_LIVES_HPP
#define SUBLET_ANALYSIS_FLOW_LIVES_HPP

/// When values occupy storage in a control-flow graph that is entered with inputs and left with outputs.
///
///     entered         positions are counted from one step before the program, at which inputs are put there;
///        0: def a     outputs are read by one step behind it, to which all nodes lead that have no successor
///       /        \    .
///     1: use a   2: def out
///       \        /    So what liveness says of the program in this frame says it of roles as well.
///       left: out     Over 1, `out` is left without having been written: that is found here.
///
/// A loop that cannot be left may be stopped where any of its nodes ends, and what is there of the outputs
/// has to be right. So its nodes lead to the step behind the program, too.
///
/// An operand that a step may overwrite is read throughout the step by anybody's measure but its result's.
/// Whoever asks whether the two may be joined wants the ranges without those positions.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/analysis/live_range_lists.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// What becomes of an operand at a step that may overwrite it.
enum class operand_end : std::uint8_t {
    held,       ///< as any other it is held to the end of the step
    handed_over ///< it is read before the step writes
};

namespace detail {

/// Ranges by whom they belong to, in any order and overlapping as they like.
class range_heap {
public:
    void add(std::uint32_t who, live_range r)
    {
        if (!is_empty(r)) ranges_.push_back({who, falling(r.first), r.last});
    }
    /// Complexity: O(n log n).
    [[nodiscard]] live_range_lists lists(std::size_t count, interval_method method, step_id positions);

private:
    std::vector<keyed> ranges_; // {who, the last begin first, end}
};

/// Whether the step says that a result of it may be written over v.
bool hands_over(snapshot const& p, step_id s, value_id v);

/// The program in its frame: node n is n + 1 there, and step s is s + 1.
snapshot framed(snapshot const& p, std::vector<value_role> const& role, operand_end operands);

} // namespace detail

/// The ranges of values over the positions of the frame: 0 is the entry, i + 1 the i-th step of the order.
///
/// Requires:   `role` has an entry a value, `order` names every node once.
/// Ensures:    position 0 is in the range of a value if and only if that is an input, or something may read
///             it before it is written.
/// Complexity: as live_intervals, and O(r log r), r = ranges.
[[nodiscard]] live_range_lists framed_lives(snapshot const& p, std::vector<value_role> const& role,
                                            std::vector<node_id> const& order, operand_end operands);

/// The same over the positions of the order: what is there when the program begins occupies its first step.
///
/// Requires:   `framed` are the ranges of the program in this order, held to the ends of steps.
/// Complexity: O(n + r log r), r = ranges.
[[nodiscard]] live_range_lists without_frame(snapshot const& p, live_range_lists const& framed,
                                             std::vector<node_id> const& order);

/// A read that some path from the entry reaches without a write, of a value that is not given: the first by
/// value; of one value, any. The position is a step, or for an output the number of steps: where the program
/// ends. If such reads are allowed, only of values that nothing writes at all.
///
/// Requires:   `framed` are the ranges of the program.
/// Complexity: O(values + touches), and O(V + E + touches) for each value that may be read undefined.
[[nodiscard]] std::optional<order_violation> undefined_read(snapshot const& p, live_range_lists const& framed,
                                                            std::vector<value_role> const& role,
                                                            bool is_allowed);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flow_lives.ipp>
#endif

#endif
