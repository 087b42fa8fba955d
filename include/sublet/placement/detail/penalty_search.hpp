// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PENALTY_SEARCH_HPP
#define SUBLET_PLACEMENT_DETAIL_PENALTY_SEARCH_HPP

/// Offsets within a capacity for which the pairs that share bytes cost little: insertion one by one, then
/// local search.
///
///     offset  6 |   +---+      sum 0     c has 2 units. b is live together with it, and a costs 3. The sum
///             4 |---| b |      sum 3     over offsets of c is a step function: its borders are where
///             2 | a +---+      hard      neighbours end, and 2 units before they begin. Of the lowest steps
///             0 +---+          hard + 3  one is drawn, by its sum, and c moves to its begin or its end.
///
/// Sources: the problem is that of dynamic storage allocation with reuse penalties, 2026; the search is
/// simulated annealing by heat bath: Geman and Geman, "Stochastic relaxation, Gibbs distributions, and the
/// Bayesian restoration of images", IEEE PAMI 6, 1984.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// The items of one pool, and the pairs that must not share a byte, or pay for it.
struct penalty_graph {
    struct item {
        byte_count size = 0; ///< never 0
        byte_count alignment = 1;
        byte_count pinned = no_offset;
    };
    struct arc {
        std::uint32_t to = 0;
        byte_count cost = no_limit; ///< `no_limit`: they never share a byte; the sum of the others is less
        [[nodiscard]] bool is_hard() const { return cost == no_limit; }
    };

    std::vector<item> items;
    std::vector<std::uint32_t> first_arc{0}; ///< by item, and one more
    std::vector<arc> arcs;                   ///< of each pair two; by item, then by `to`, each once
    byte_count capacity = 0;                 ///< no item ends above it; less than 2^63

    [[nodiscard]] std::size_t size() const { return items.size(); }
    [[nodiscard]] std::span<arc const> arcs_of(std::uint32_t i) const
    {
        return {arcs.data() + first_arc[i], arcs.data() + first_arc[i + 1]};
    }
};

/// Two items at these offsets share a byte.
[[nodiscard]] inline bool share_bytes(penalty_graph const& graph, std::uint32_t a, byte_count at_a,
                                      std::uint32_t b, byte_count at_b)
{
    return at_a < at_b + graph.items[b].size && at_b < at_a + graph.items[a].size;
}

/// Offsets of all items.
struct penalty_packing {
    std::vector<byte_count> offset = {}; ///< by item; empty: none was found
    byte_count cost = no_limit;          ///< `no_limit`: items share bytes that must not, or end too high
    byte_count height = 0;
};

/// The cost of offsets, and their height.  O(arcs)
[[nodiscard]] penalty_packing priced(penalty_graph const& graph, std::vector<byte_count> offset);

/// Inserts the items in several orders, pinned ones first, each at its cheapest offset, and there at the
/// lowest.
///
/// Ensures:    the cheapest packing of all orders, and the lowest of these; it may not exist.
/// Complexity: O(arcs * degree) for each order; near O(arcs) where few neighbours are placed out of order.
[[nodiscard]] penalty_packing insert_in_orders(penalty_graph const& graph, step_poll const& poll);

/// Moves each item to the lowest offset at which it pays no more, from the lowest item to the highest.
///
/// Requires:   the packing exists.
/// Complexity: as insert_in_orders() for each round, of which there are up to 8.
void lower_items(penalty_graph const& graph, penalty_packing& packed, step_poll const& poll);

/// Where an item may lie: ranges of offsets with one sum of energies each. Neighbours that have moved are
/// sorted anew by insertion.
class offset_sweep {
public:
    struct piece {
        byte_count first, last; ///< both are multiples of the alignment of the item
        std::uint64_t energy;
    };

    /// Refers to both.
    offset_sweep(penalty_graph const& graph, std::vector<byte_count> const& offset);

    /// The pieces, ascending, with energies by arc. Items without an offset are not there.
    std::vector<offset_sweep::piece> const& pieces_of(std::uint32_t i,
                                                      std::vector<std::uint64_t> const& energy);

private:
    void add(penalty_graph::item const& its, byte_count first, byte_count last, std::uint64_t sum);
    void sort(std::uint32_t first, std::uint32_t last);

    penalty_graph const& graph_;
    std::vector<byte_count> const& offset_;
    std::vector<std::uint32_t> by_begin_, by_end_; // arcs, by item
    std::vector<offset_sweep::piece> pieces_;
};

/// The local search. Items may share bytes that they must not while it runs, at an energy that is doubled
/// where this lasts. A move takes one item, or a chain: one goes where it pays little, those that it clashes
/// with go to their cheapest offsets, and so on; all go back where that costs too much for the temperature.
///
///     temperature  | \                 a round: from hot to cold; the next one begins with the best packing,
///                  |  \   \   \        less hot, and is longer by half
///                  +---\---\---\---►
class penalty_search {
public:
    /// Refers to the graph; begins with these offsets, or with the lowest ones. Rounds are so long that there
    /// are some in so many steps.
    penalty_search(penalty_graph const& graph, std::uint64_t seed, std::vector<byte_count> const& start,
                   std::uint64_t steps);

    /// Goes on until so many more arcs have been examined, `best` costs no more than `goal`, or the control
    /// stops; `best` is replaced by what costs less. Returns the number of arcs examined.
    std::uint64_t run(std::uint64_t steps, byte_count goal, search_control& control, byte_count bound,
                      penalty_packing& best);

private:
    void begin(std::vector<byte_count> const& offset);
    void begin_round(penalty_packing const& best);
    std::uint64_t move();
    std::uint64_t move_chain(std::uint32_t i);
    byte_count draw_offset(std::uint32_t i, std::vector<std::uint64_t> const& energy,
                           std::uint64_t temperature);
    void move_to(std::uint32_t i, byte_count to);
    void count(std::uint32_t i, std::uint32_t a, bool more);
    void heat(std::uint32_t i, bool more);
    void harden();
    std::uint64_t random();
    std::uint64_t below(std::uint64_t count) { return ((random() & 0xffffffffu) * count) >> 32; }

    penalty_graph const& graph_;
    std::vector<byte_count> offset_;
    offset_sweep sweep_;
    std::vector<std::uint64_t> energy_;   // by arc
    std::vector<std::uint64_t> loose_;    // the same, where neighbours make room
    std::vector<std::uint32_t> hot_arcs_; // by item: those that are paid, or clash
    std::vector<std::uint32_t> place_;    // by item, in hot_
    std::vector<std::uint32_t> hot_, free_;
    std::vector<std::uint64_t> weights_;
    struct chain_link {
        std::uint32_t item;
        byte_count from;
    };
    std::vector<chain_link> chain_; // moved at once
    std::uint64_t random_ = 0;
    std::uint64_t temperature_ = 0; // 0: a round begins
    std::uint64_t length_ = 0;      // moves at each temperature
    std::uint64_t left_ = 0;        // of these
    std::uint32_t rounds_ = 0;
    std::uint64_t sum_ = 0;     // of energies
    std::uint64_t clashes_ = 0; // pairs that must not share bytes, and do
    byte_count cost_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/penalty_search.ipp>
#endif

#endif
