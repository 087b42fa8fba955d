// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_DETAIL_SLOT_SIZE_SEARCH_HPP
#define SUBLET_SHARING_DETAIL_SLOT_SIZE_SEARCH_HPP

/// The fewest bytes in slots, searched by the sizes of the slots. Included by sharing/detail/chains.hpp.

#include <sublet/detail/bit_rows.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- hosts -----------------------------------------------------------------------------------------------

/// Values whose slot needs no search, because it is the slot of another; and what is left, in parts.
///
///     a: 40 --- c: 16         whatever b interferes with, a does too, and a is larger and does not interfere
///     b: 8 ----/              with b: in every plan b may move to the slot of a, which costs nothing
///
/// A guest is told its host and leaves the problem; that may make guests of others. A value that interferes
/// with all that are left has a slot of its own, and so has a group that interferes with all others groups of
/// slots: such parts are problems of their own, and the bytes of their slots are added.

namespace sublet::detail {

/// Values are numbered the largest first.
class reduced_graph {
public:
    /// No two interfere.
    explicit reduced_graph(std::size_t values);
    void connect(value_id u, value_id v)
    {
        interferes_.set(u, v);
        interferes_.set(v, u);
    }

    /// Guest and host are to share, though it may not be for nothing: what interferes with either does with
    /// the host now.
    ///
    /// Requires: both are left, and the host comes before the guest.
    void merge(value_id removed, value_id into);

    /// Whoever can be a guest for nothing is one.  O(values^3 / 64) for each round that finds somebody, and
    /// for one more
    void merge_dominated();

    /// Those that are left, a part a row, ascending.  O(values^2 / 64)
    [[nodiscard]] csr_rows co_components() const;

    /// Requires: those that are left have a slot.
    void assign_merged(std::vector<slot_id>& slot_of) const;

    [[nodiscard]] bit_rows const& interferes() const
    {
        return interferes_;
    } ///< as it is for those that are left

private:
    using word = bit_rows::word;

    template <class Visit>
    static void for_each(std::size_t w, word bits, Visit visit)
    {
        for (; bits != 0; bits &= bits - 1)
            visit(static_cast<value_id>(w * 64) + static_cast<value_id>(std::countr_zero(bits)));
    }
    /// Not if they interfere: nobody interferes with itself.
    bool is_dominated(value_id v, value_id by) const;
    void remove(value_id removed, value_id into)
    {
        merged_into_[removed] = into;
        merged_.push_back(removed);
        is_remaining_[0][removed / 64] ^= word{1} << removed % 64;
    }

    bit_rows interferes_, is_remaining_;
    std::vector<value_id> merged_into_; // by value; itself: it is left
    std::vector<value_id> merged_;      // in the order in which they left
};

// --- prefix cliques --------------------------------------------------------------------------------------

/// The largest clique among the first one, two, three ... vertices of a graph.
///
///     vertices    0   1   2   3   4        1 and 2 interfere with each other and both with 4
///     largest     1   1   2   2   3        {0}, then {1, 2}, then {1, 2, 4}
///
/// If vertices are values and the largest come first, these are the slots that are needed of at least each
/// size, and their sum over all sizes is what no plan goes below. A new vertex makes the largest clique grow
/// by one at most, and only if it is a member: so each asks one question, among its neighbours before it. If
/// those can be dealt out to few classes in which nobody interferes, there is no large clique among them; and
/// if some are left over, one of these is in every clique that is large enough.
///
/// Source: Östergård, "A fast algorithm for the maximum clique problem", Discrete Applied Mathematics 120,
/// 2002 (one vertex after the other); Tomita and Seki, "An efficient branch-and-bound algorithm for finding a
/// maximum clique", DMTCS 2003 (the classes); San Segundo, Rodríguez-Losada and Jiménez, "An exact
/// bit-parallel algorithm for the maximum clique problem", Computers and Operations Research 38, 2011.

struct prefix_cliques {
    csr_rows cliques;                ///< row i: i + 1 vertices; the last is the first to close such a clique
    std::vector<std::uint32_t> size; ///< by vertex: of the largest clique found among it and those before it
    std::uint64_t nodes = 0;         ///< members tried
    bool is_exact = true;            ///< no search ran out of nodes: there are no larger cliques
};

/// Look for them all. `interferes` has a row for each vertex, and one for each pair in both rows.
///
/// Requires:   no vertex interferes with itself.
/// Ensures:    each row of `cliques` is one; if `is_exact`, none of those that `size` speaks of is larger.
/// Complexity: O(cliques * vertices / 64) time for each node, of which a vertex has `node_limit` at most;
///             O(largest clique * vertices / 64) memory.
[[nodiscard]] prefix_cliques find_prefix_cliques(bit_rows const& interferes, std::size_t vertices,
                                                 std::uint64_t node_limit);

// --- stair coloring --------------------------------------------------------------------------------------

/// Give values slots where there are only so many that are large enough.
///
///     at least 40 bytes   s0                  values of 40 bytes choose from s0,
///     at least 16 bytes   s0 s1 s2            those of 16 bytes from three,
///     at least  8 bytes   s0 s1 s2 s3         and those of 8 bytes from all four
///
/// A yes or no question about graph colouring with nested lists. Next is always the value with the fewest
/// slots to choose from, each counted less the more often it has run out of them, in this question or before:
/// what is hard about a graph stays hard when the stairs change a little. A value first tries the slot that
/// it had in the last answer, then the smallest: large ones are for those that need them.
///
/// A dead end is blamed on those who came first in the slots that it wanted; whoever is not to blame is taken
/// back untried. And two things need not be tried twice. Empty slots of one stair are as good as each other.
/// And where a stair with a single value has a slot of its own, the slot is that value's: were it in a larger
/// one, the stair could do without.
///
/// Source: Brélaz, "New methods to color the vertices of a graph", CACM 22(4), 1979; Prosser, "Hybrid
/// algorithms for the constraint satisfaction problem", Computational Intelligence 9(3), 1993 (the blame);
/// Boussemart, Hemery, Lecoutre and Sais, "Boosting systematic search by weighting constraints", ECAI 2004.

enum class coloring_answer : std::uint8_t { colored, impossible, undecided };

/// Values are numbered the largest first; stair i ends before value `end_of[i]`.
class bounded_list_coloring {
public:
    bounded_list_coloring(bit_rows const& interferes, std::vector<std::uint32_t> end_of);

    /// Can the values down to stair `last` be coloured, if those of stair i have slots below `slots[i]`?
    ///
    /// Requires:   slots[0] >= 1, and they ascend.
    /// Ensures:    if coloured, `slot_of` has the answer. What is impossible need not be so for slots that
    ///             are larger than they have to be: where a stair of one value adds a slot, it lies there.
    /// Complexity: O(values (slots + values)) to begin with, O(values) a node.
    coloring_answer color(std::size_t last, std::vector<std::uint32_t> const& slots,
                          std::uint64_t node_limit);

    std::vector<slot_id> slot_of;
    std::uint64_t nodes = 0; ///< slots tried

private:
    std::uint32_t allowed(std::size_t v) const { return slots_[class_of_[v]]; }
    bool is_free(value_id v, slot_id s) const { return taken_[v * width_ + s] == 0; }

    /// Whether the last answer will do, and newcomers have room in it.
    bool is_extended();

    template <class Visit>
    void for_each_neighbor(value_id v, Visit visit) const
    {
        for (std::size_t w = 0; w * 64 < count_; ++w)
            for (auto bits = interferes_[v][w]; bits != 0; bits &= bits - 1) {
                std::size_t const u = w * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                if (u >= count_) return;
                visit(u);
            }
    }
    void assign(value_id v, slot_id s);
    slot_id unassign(value_id v);

    /// For each slot that v may not take, who came first of those that are there.
    void add_conflicts(value_id v);

    value_id min_dom_wdeg() const;

    /// What v tries after `tried`: its slot in the last answer, then the others from the smallest on. Of the
    /// empty ones on a stair a single one is tried.
    slot_id next_choice(value_id v, slot_id tried) const;

    bit_rows const& interferes_;
    std::vector<std::uint32_t> end_of_, class_of_;
    std::vector<slot_id> last_;              // by value: its slot in the last answer
    std::size_t answered_ = 0;               // for so many values
    std::vector<std::uint64_t> failures_;    // by value
    std::size_t count_ = 0, width_ = 0;      // values and slots of this question
    std::uint32_t const* slots_ = nullptr;   // by stair
    std::vector<slot_id> class_begin_;       // by slot: the first that its stair adds
    std::vector<std::uint32_t> occupants_;   // by slot
    std::vector<std::uint32_t> taken_;       // by value and slot: neighbours that are there
    std::vector<std::uint64_t> free_;        // by value: slots to choose from
    std::vector<std::uint32_t> trail_index_; // by value: on the trail, from 1; 0: nothing was tried
    std::vector<value_id> first_in_;         // by slot
    bit_rows past_conflicts_;                // by value on the trail: who else made it try the next slot
    bit_rows conflict_set_;
    std::vector<value_id> trail_; // whose slot is not the only one that was left to try
};

// --- staircases ------------------------------------------------------------------------------------------

/// The fewest bytes of slots for values that all may share, and a proof.
///
///     sizes 40, 16, 16, 16, 8      40 | #                    one slot of at least 40 bytes,
///                                  16 | # # #                three of at least 16,
///                                   8 | # # # #              four of at least 8:
///                                   0 +---------             24 * 1 + 8 * 3 + 8 * 4 = 80 bytes
///
/// What a plan costs is the area under a staircase: so many slots are at least that large. So the search is
/// not for who lies where but for the stairs, one after the other, the largest size first. A stair is as wide
/// as the one above, or wider; that its values and all above it have slots on such stairs is a question of
/// its own (bounded_list_coloring), and one answer stands for all plans of that shape. Cliques say how wide a
/// stair is at least (prefix_cliques), and that bounds what is still to come.
///
/// A search that may not exceed a target takes the longer, the higher that is, and a plan that is too high
/// makes it search in vain. So targets rise from the bound towards the best plan: each that is missed raises
/// the bound, and a plan that meets one is nearly the best. Questions that are too hard at first are put
/// off: the next target has more patience.
///
/// Source: the problem is that of Guan and Zhu, "A coloring problem for weighted graphs", Information
/// Processing Letters 61, 1997; Caffe2's `memonger` solved it by dynamic programming over sizes. Rising
/// targets: Korf, "Depth-first iterative-deepening", Artificial Intelligence 27, 1985. To search for stairs
/// is ours.

/// Values are numbered the largest first, and so are slots.
struct slot_size_result {
    std::vector<slot_id> slot_of;
    byte_count bytes = 0;       ///< of all slots
    byte_count lower_bound = 0; ///< no plan has fewer
    prefix_cliques proof;       ///< of most of the bound; the rest was searched
    std::uint64_t nodes = 0;
};

/// Requires:   sizes fall, none is 0, and together they do not exceed 64 bits. `interferes` has a row for
///             each value, and each pair stands in both rows.
[[nodiscard]] slot_size_result search_slot_sizes(bit_rows const& interferes,
                                                 std::vector<byte_count> const& size, std::uint64_t nodes);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/slot_size_search.ipp>
#endif

#endif
