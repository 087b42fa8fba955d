// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_CONE_ORDER_HPP
#define SUBLET_ORDERING_DETAIL_CONE_ORDER_HPP

/// A heuristic that decides buffer by buffer: which one to be done with next costs the fewest live bytes. It
/// starts from every buffer, and then again and again in the middle of the best order, from either end.

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/order_moves.hpp>
#include <sublet/ordering/detail/orders.hpp>
#include <sublet/ordering/detail/peak_walk.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- cone schedule ---------------------------------------------------------------------------------------

/// The cone of a buffer: the moves that touch it and have not run, and all that these wait for.
///
///     a: touched by 0, 3     cone of a: 0 1 3        when these have run, a is free
///     b: touched by 1, 2     cone of b: 1 2          and b, if 2 has run, too
///
/// A rule that looks at one move cannot decide among moves that only add; at the end of a cone something
/// has been freed. Of the buffers that are live, the one is next with the fewest live bytes after its cone;
/// of equals that with the smallest cone, then the one that became live first.
///
/// Source: DeCross, Chertkov, Kohagen and Foss-Feig, "Qubit-reuse compilation with mid-circuit measurement
/// and reset", Physical Review X 13, 2023, where the buffers are qubits.

namespace sublet::detail {

/// Requires: the moves outlive it.
class cone_schedule {
public:
    explicit cone_schedule(order_moves const& moves);

    /// Runs the moves of `begin`, then the cone of `first` unless that is no_buffer, then one cone after the
    /// other. False if more than `limit` bytes would be live, or `most_work` is spent; then the trail is
    /// what ran before.
    ///
    /// Requires:   the moves of `begin` can run in this order.
    /// Complexity: for each cone that runs, the touches of the cones of all live buffers.
    bool run(std::span<move_id const> begin, buffer_id first, byte_count limit, std::uint64_t most_work);

    [[nodiscard]] std::vector<move_id> const& trail() const { return trail_; } ///< the moves in their order
    [[nodiscard]] std::uint64_t work() const { return walk_.work() + work_; }  ///< so far

private:
    enum class life : unsigned char { unborn, live, done };

    void find_cone(buffer_id b);
    void run_move(move_id m);
    void run_cone();
    bool consider(buffer_id b);
    bool run_rest(byte_count limit);

    order_moves const& moves_;
    move_walk walk_;
    table<move_id, std::uint32_t> found_by_; // the number of the search that found it
    std::uint32_t search_ = 0;
    table<buffer_id, life> life_;
    std::vector<buffer_id> live_;
    std::vector<move_id> cone_, path_, best_cone_, trail_;
    byte_count initial_, best_live_ = 0, most_ = 0;
    bool is_found_ = false;
    std::uint64_t work_ = 0;
};

// --- cone search -----------------------------------------------------------------------------------------

/// Improves an order by cone schedules.
///
///     best   0 1 2 3 4 5 6 7         peak at 5
///            0 1 2 | 6 4 7 3 5       the same up to some place before the peak, then some cone,
///                                    then as the rule says
///
/// An order with the same peak replaces the best, too, so that the search does not stay at one place; of some
/// of them, windows around the peak are searched (improve_order()). Drawn numbers come from a generator that
/// always starts alike.
///
/// Source: destroying and rebuilding a part is iterated greedy search, Ruiz and Stuetzle, European Journal of
/// Operational Research 177, 2007.

/// Requires: what it is made from outlives it; moves are those of one window of the whole graph, from its
/// start and from its end.
class cone_search {
public:
    cone_search(order_graph const& g, order_moves const& from_start, order_moves const& from_end);

    /// Offers better orders until the work is spent, or the best is known to be one. Continues where the last
    /// call ended. Returns the work.
    std::uint64_t improve(order_incumbent& incumbent, std::uint64_t most_work);

private:
    void offer(order_incumbent& incumbent, cone_schedule const& schedule, order_moves const& moves);
    void try_first_buffers(order_incumbent& incumbent, std::uint64_t end);
    void try_again(order_incumbent& incumbent, std::uint64_t end);
    void search_windows(order_incumbent& incumbent, std::uint64_t end);
    std::uint64_t below(std::uint64_t n);
    [[nodiscard]] std::uint64_t work() const { return schedules_[0].work() + schedules_[1].work() + work_; }

    order_graph const& g_;
    order_moves const* moves_[2];
    cone_schedule schedules_[2];
    table<node_id, node_id> in_window_; // of each node: its number there
    std::size_t buffers_;               // of the window
    std::vector<node_id> current_;      // the last order with the least peak
    byte_count peak_ = no_limit;        // of it
    std::uint32_t side_ = 0;            // of the first buffers that are tried next
    buffer_id first_ = 0;               // the next of them
    std::uint64_t state_ = 0x9e3779b97f4a7c15u, work_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/cone_order.ipp>
#endif

#endif
