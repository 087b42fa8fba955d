// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_SLOT_SIZE_SEARCH_HPP
#define SUBLET_SHARING_DETAIL_SLOT_SIZE_SEARCH_HPP

/// Exact slot assignment with the fewest bytes, by branch and bound over the sizes of the slots. Cliques give
/// the lower bound, dominated vertices are merged first, and each vector of slot sizes is tested by a list
/// colouring. Exponential in the worst case, limited by a work budget.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- dominated vertices ----------------------------------------------------------------------------------

/// Reduces an interference graph before exact colouring by size, without losing an optimal solution.
///
///     a: 40 --- c: 16      N(b) is a subset of N(a), a and b do not interfere, and size(a) >= size(b):
///     b: 8 ----/           b is dominated by a, and some optimal plan puts b into a's slot.
///
/// A dominated vertex is merged into its dominator, which may make others dominated. A vertex adjacent to all
/// others has a slot of its own. If the complement of the graph falls into components, each is a problem of
/// its own: their slots are disjoint, so their bytes add up.

namespace sublet::detail {

/// Values are numbered by falling size.
class reduced_graph {
public:
    explicit reduced_graph(std::size_t values);
    void connect(value_id u, value_id v)
    {
        interferes_.set(u, v);
        interferes_.set(v, u);
    }

    /// Merges `removed` into `into`, which gets the union of the neighbours; not always without loss.
    /// Requires: both remain, and `into` comes before `removed`.
    void merge(value_id removed, value_id into);

    /// Merges dominated values until there are none.  O(rounds * values^3 / 64)
    void merge_dominated();

    /// The remaining values, one co-component per row, ascending.  O(values^2 / 64)
    [[nodiscard]] csr_rows<std::uint32_t, value_id> co_components() const;

    /// Gives merged values the slot of their target. Requires: the remaining values have a slot.
    void assign_merged(table<value_id, slot_id>& slot_of) const;

    /// Valid for the remaining values.
    [[nodiscard]] bit_rows const& interferes() const { return interferes_; }

private:
    using word = bit_rows::word;

    template <class Visit>
    static void for_each(std::size_t w, word bits, Visit visit)
    {
        for (; bits != 0; bits &= bits - 1)
            visit(value_id::of(w * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
    /// False if they interfere, since no value interferes with itself.
    bool is_dominated(value_id v, value_id by) const;
    void remove(value_id removed, value_id into)
    {
        merged_into_[removed] = into;
        merged_.push_back(removed);
        is_remaining_[0][removed / 64] ^= word{1} << removed % 64;
    }

    bit_rows interferes_, is_remaining_;
    table<value_id, value_id> merged_into_; // itself: it remains
    std::vector<value_id> merged_;          // in the order of removal
};

// --- prefix cliques --------------------------------------------------------------------------------------

/// The largest clique in each prefix of the vertices of a graph.
///
///     vertices    0   1   2   3   4        1 and 2 interfere with each other and both with 4
///     largest     1   1   2   2   3        {0}, then {1, 2}, then {1, 2, 4}
///
/// If vertices are values by falling size, these are the slots needed of at least each size, and their sum
/// over all sizes is a lower bound for the bytes. A new vertex makes the largest clique grow by at most one,
/// and only if it is a member: so one search per vertex, among its neighbours before it. A partition of these
/// into few independent sets refutes a large clique; otherwise every such clique has a vertex outside them.
///
/// Source: Östergård, "A fast algorithm for the maximum clique problem", Discrete Applied Mathematics 120,
/// 2002 (prefixes); Tomita and Seki, "An efficient branch-and-bound algorithm for finding a maximum clique",
/// DMTCS 2003 (independent sets); San Segundo, Rodríguez-Losada and Jiménez, "An exact bit-parallel algorithm
/// for the maximum clique problem", Computers and Operations Research 38, 2011.

struct prefix_cliques {
    /// Row i: a clique of i + 1 vertices in the shortest prefix with one; its last vertex ends the prefix.
    csr_rows<std::uint32_t, value_id> cliques;
    table<value_id, std::uint32_t> size; ///< the largest clique found in the prefix that ends with it
    std::uint64_t nodes = 0;             ///< vertices tried
    bool is_exact = true;                ///< no search ran out of nodes: there are no larger cliques
};

/// Searches all prefixes. `interferes` has a row for each vertex, and each pair in both rows.
///
/// Requires:   no vertex interferes with itself.
/// Ensures:    each row of `cliques` is a clique; if `is_exact`, no clique exceeds the `size` of its prefix.
/// Complexity: O(cliques * vertices / 64) time per node, of which each vertex has at most `node_limit`;
///             O(largest clique * vertices / 64) memory.
[[nodiscard]] prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
                                                 std::uint64_t node_limit);

// --- bounded list coloring -------------------------------------------------------------------------------

/// List colouring where the size of a value bounds the slots that it may take.
///
///     at least 40 bytes   s0                  values of 40 bytes choose from s0,
///     at least 16 bytes   s0 s1 s2            those of 16 bytes from three,
///     at least  8 bytes   s0 s1 s2 s3         and those of 8 bytes from all four
///
/// The next value is the one with the fewest free slots, divided by the weight of its failures in this and
/// earlier problems (dom/wdeg), since hard parts of a graph stay hard when slot sizes change a little. A
/// value first tries its slot in the last solution, then the smallest slots, so that large ones remain for
/// values that need them. A dead end is attributed to the first values in the slots that were wanted, and the
/// search jumps back to the last of these. Two symmetries are broken: empty slots of one size class are
/// interchangeable, and a slot that a size class with a single value adds belongs to that value.
///
/// Source: Brélaz, "New methods to color the vertices of a graph", CACM 22(4), 1979; Prosser, "Hybrid
/// algorithms for the constraint satisfaction problem", Computational Intelligence 9(3), 1993 (backjumping);
/// Boussemart, Hemery, Lecoutre and Sais, "Boosting systematic search by weighting constraints", ECAI 2004.

enum class coloring_answer : std::uint8_t { colored, impossible, undecided };

/// Values are numbered by falling size; size class i ends before value `end_of[i]`.
class bounded_list_coloring {
public:
    bounded_list_coloring(bit_rows const& interferes, std::vector<std::uint32_t> end_of);

    /// Colours the values down to size class `last`, those of class i with slots below `slots[i]`.
    ///
    /// Requires:   slots[0] >= 1, and they ascend.
    /// Ensures:    if coloured, `slot_of` has the solution. `impossible` holds for minimal slot sizes: if a
    ///             class of one value adds a slot, that value is assumed to take it.
    /// Complexity: O(values (slots + values)) to begin with, O(values) per node.
    coloring_answer color(std::size_t last, std::vector<std::uint32_t> const& slots,
                          std::uint64_t node_limit);

    table<value_id, slot_id> slot_of;
    std::uint64_t nodes = 0; ///< assignments tried

private:
    std::uint32_t allowed(value_id v) const { return slots_[class_of_[v]]; }
    bool is_free(value_id v, slot_id s) const { return taken_[v * width_ + s] == 0; }

    /// Whether the last solution extends to the new values without search.
    bool is_extended();

    template <class Visit>
    void for_each_neighbor(value_id v, Visit visit) const
    {
        for (std::size_t w = 0; w * 64 < count_; ++w)
            for (auto bits = interferes_[v][w]; bits != 0; bits &= bits - 1) {
                auto const u = value_id::of(w * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
                if (u >= count_) return;
                visit(u);
            }
    }
    void assign(value_id v, slot_id s);
    slot_id unassign(value_id v);

    /// Adds to the conflict set, for each slot that v may not take, the first neighbour assigned to it.
    void add_conflicts(value_id v);

    value_id min_dom_wdeg() const;

    /// The slot that v tries after `tried`: first its slot in the last solution, then by rising size. Of the
    /// empty slots of a size class only one is tried.
    slot_id next_choice(value_id v, slot_id tried) const;

    bit_rows const& interferes_;
    std::vector<std::uint32_t> end_of_;          // by size class
    table<value_id, std::uint32_t> class_of_;    // its size class
    table<value_id, slot_id> last_;              // its slot in the last solution
    std::size_t answered_ = 0;                   // values in the last solution
    table<value_id, std::uint64_t> failures_;    // of each value
    std::size_t count_ = 0, width_ = 0;          // values and slots of this problem
    std::uint32_t const* slots_ = nullptr;       // by size class
    table<slot_id, slot_id> class_begin_;        // the first slot that its size class adds
    table<slot_id, std::uint32_t> occupants_;    // of each slot
    std::vector<std::uint32_t> taken_;           // by value and slot: neighbours in the slot
    table<value_id, std::uint64_t> free_;        // number of free slots
    table<value_id, std::uint32_t> trail_index_; // on the trail, from 1; 0: nothing was tried
    table<slot_id, value_id> first_in_;          // the first neighbour in the slot
    bit_rows past_conflicts_;                    // by value on the trail: other causes of its failed slots
    bit_rows conflict_set_;
    std::vector<value_id> trail_; // assigned values with another slot to try
};

// --- slot size search ------------------------------------------------------------------------------------

/// The fewest bytes of slots for values of one pool, with a proof.
///
///     sizes 40, 16, 16, 16, 8      40 | #                    one slot of at least 40 bytes,
///                                  16 | # # #                three of at least 16,
///                                   8 | # # # #              four of at least 8:
///                                   0 +---------             24 * 1 + 8 * 3 + 8 * 4 = 80 bytes
///
/// The cost of a plan is the area of this diagram. So the search decides the number of slots per size class,
/// from the largest size down. A class has at least as many slots as the one above it; whether all values so
/// far can be coloured with these slots is one list colouring (bounded_list_coloring), and one answer stands
/// for all plans with these counts. Cliques bound each count from below (prefix_cliques).
///
/// Targets rise from the lower bound to the incumbent (iterative deepening): each target that is refuted
/// raises the bound, and a plan that meets a target is nearly optimal. Colourings that exceed their node
/// limit are postponed: the next target has a higher limit.
///
/// Source: the problem is that of Guan and Zhu, "A coloring problem for weighted graphs", Information
/// Processing Letters 61, 1997; Caffe2's `memonger` solved it by dynamic programming over sizes. Rising
/// targets: Korf, "Depth-first iterative-deepening", Artificial Intelligence 27, 1985. The search over slot
/// counts is new here.

/// Values and slots are numbered by falling size.
struct slot_size_result {
    table<value_id, slot_id> slot_of;
    byte_count bytes = 0;       ///< of all slots
    byte_count lower_bound = 0; ///< no plan has fewer
    prefix_cliques proof;       ///< of most of the bound; the rest is by search
    std::uint64_t nodes = 0;
};

/// Requires:   sizes fall, none is 0, and together they do not exceed 64 bits. `interferes` has a row for
///             each value, and each pair stands in both rows.
[[nodiscard]] slot_size_result
search_slot_sizes(bit_rows const& interferes, table<value_id, byte_count> const& size, std::uint64_t nodes);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/slot_size_search.ipp>
#endif

#endif
