// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_STAIR_COLORING_HPP
#define SUBLET_SHARING_STAIR_COLORING_HPP

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

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

enum class stair_answer : std::uint8_t { colored, impossible, undecided };

/// Values are numbered the largest first; stair i ends before value `end_of[i]`.
class stair_coloring {
public:
    stair_coloring(bit_rows const& interferes, std::vector<std::uint32_t> end_of);

    /// Can the values down to stair `last` be coloured, if those of stair i have slots below `slots[i]`?
    ///
    /// Requires:   slots[0] >= 1, and they ascend.
    /// Ensures:    if coloured, `slot_of` has the answer. What is impossible need not be so for slots that
    ///             are larger than they have to be: where a stair of one value adds a slot, it lies there.
    /// Complexity: O(values (slots + values)) to begin with, O(values) a node.
    stair_answer color(std::size_t last, std::vector<std::uint32_t> const& slots, std::uint64_t patience);

    std::vector<slot_id> slot_of;
    std::uint64_t nodes = 0; ///< slots tried

private:
    std::uint32_t allowed(std::size_t v) const { return slots_[stair_of_[v]]; }
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
    void put(value_id v, slot_id s);
    slot_id take_away(value_id v);

    /// For each slot that v may not take, who came first of those that are there.
    void blame(value_id v);

    value_id most_urgent() const;

    /// What v tries after `tried`: its slot in the last answer, then the others from the smallest on. Of the
    /// empty ones on a stair a single one is tried.
    slot_id next_choice(value_id v, slot_id tried) const;

    bit_rows const& interferes_;
    std::vector<std::uint32_t> end_of_, stair_of_;
    std::vector<slot_id> last_;            // by value: its slot in the last answer
    std::size_t answered_ = 0;             // for so many values
    std::vector<std::uint64_t> failures_;  // by value
    std::size_t count_ = 0, width_ = 0;    // values and slots of this question
    std::uint32_t const* slots_ = nullptr; // by stair
    std::vector<slot_id> begin_of_;        // by slot: the first that its stair adds
    std::vector<std::uint32_t> tenants_;   // by slot
    std::vector<std::uint32_t> taken_;     // by value and slot: neighbours that are there
    std::vector<std::uint64_t> free_;      // by value: slots to choose from
    std::vector<std::uint32_t> place_of_;  // by value: on the trail, from 1; 0: nothing was tried
    std::vector<value_id> first_in_;       // by slot
    bit_rows guilty_;                      // by value on the trail: who else made it try the next slot
    bit_rows blamed_;
    std::vector<value_id> trail_; // whose slot is not the only one that was left to try
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/sharing/impl/stair_coloring.ipp>
#endif

#endif
