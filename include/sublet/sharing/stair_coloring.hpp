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
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

enum class stair_answer : std::uint8_t { colored, impossible, undecided };

/// Values are numbered the largest first; stair i ends before value `end_of[i]`.
class stair_coloring {
public:
    stair_coloring(bit_rows const& interferes, std::vector<std::uint32_t> end_of)
        : interferes_(interferes), end_of_(std::move(end_of)), stair_of_(end_of_.empty() ? 0 : end_of_.back())
    {
        for (std::uint32_t stair = 0, v = 0; stair != end_of_.size(); ++stair)
            while (v != end_of_[stair]) stair_of_[v++] = stair;
        last_.assign(stair_of_.size(), no_slot);
        free_.resize(stair_of_.size());
        failures_.resize(stair_of_.size());
        place_of_.resize(stair_of_.size());
        guilty_ = bit_rows(stair_of_.size(), stair_of_.size());
        blamed_ = bit_rows(1, stair_of_.size());
    }

    /// Can the values down to stair `last` be coloured, if those of stair i have slots below `slots[i]`?
    ///
    /// Requires:   slots[0] >= 1, and they ascend.
    /// Ensures:    if coloured, `slot_of` has the answer. What is impossible need not be so for slots that
    ///             are larger than they have to be: where a stair of one value adds a slot, it lies there.
    /// Complexity: O(values (slots + values)) to begin with, O(values) a node.
    stair_answer color(std::size_t last, std::vector<std::uint32_t> const& slots, std::uint64_t patience)
    {
        count_ = end_of_[last];
        slots_ = slots.data();
        if (is_extended()) return stair_answer::colored;
        width_ = slots[last];
        taken_.assign(count_ * width_, 0);
        tenants_.assign(width_, 0);
        slot_of.assign(stair_of_.size(), no_slot);
        trail_.clear();
        for (std::size_t v = 0; v != count_; ++v) free_[v] = allowed(v);
        begin_of_.clear();
        for (std::size_t stair = 0; stair <= last; ++stair)
            begin_of_.resize(slots[stair], static_cast<slot_id>(begin_of_.size()));
        std::size_t colored = 0;
        for (std::size_t stair = 0; stair <= last; ++stair) {
            std::uint32_t const first = stair == 0 ? 0 : end_of_[stair - 1];
            std::uint32_t const above = stair == 0 ? 0 : slots[stair - 1];
            if (end_of_[stair] - first != 1 || slots[stair] == above) continue;
            put(first, above);
            place_of_[first] = 0;
            ++colored;
        }
        for (; colored + trail_.size() != count_; ++nodes) {
            value_id v = most_urgent();
            slot_id s = no_slot;
            if (free_[v] != 0) {
                s = next_choice(v, no_slot);
                trail_.push_back(v);
                place_of_[v] = static_cast<std::uint32_t>(trail_.size());
                for (std::size_t w = 0; w != guilty_.words(); ++w) guilty_[v][w] = 0;
            } else {
                ++failures_[v];
                for (std::size_t w = 0; w != guilty_.words(); ++w) blamed_[0][w] = 0;
                blame(v);
                for (; !trail_.empty(); trail_.pop_back()) {
                    v = trail_.back();
                    slot_id const tried = take_away(v);
                    if (!blamed_.test(0, v)) continue; // whatever it has, the dead end stays
                    for (std::size_t w = 0; w != guilty_.words(); ++w)
                        blamed_[0][w] = guilty_[v][w] |= blamed_[0][w];
                    s = next_choice(v, tried);
                    if (s != no_slot) break;
                    blame(v);
                }
                if (trail_.empty()) return stair_answer::impossible;
            }
            if (patience-- == 0) return stair_answer::undecided;
            put(v, s);
        }
        for (std::size_t v = 0; v != count_; ++v) last_[v] = slot_of[v];
        answered_ = count_;
        return stair_answer::colored;
    }

    std::vector<slot_id> slot_of;
    std::uint64_t nodes = 0; ///< slots tried

private:
    std::uint32_t allowed(std::size_t v) const { return slots_[stair_of_[v]]; }
    bool is_free(value_id v, slot_id s) const { return taken_[v * width_ + s] == 0; }

    /// Whether the last answer will do, and newcomers have room in it.
    bool is_extended()
    {
        std::size_t const known = smaller(answered_, count_);
        for (std::size_t v = 0; v != known; ++v)
            if (last_[v] >= allowed(v)) return false;
        std::size_t const width = slots_[stair_of_[count_ - 1]];
        taken_.assign(width, no_value); // by slot: the last newcomer who found it taken
        slot_of.assign(stair_of_.size(), no_slot);
        for (std::size_t v = 0; v != known; ++v) slot_of[v] = last_[v];
        for (auto v = static_cast<value_id>(known); v != count_; ++v) {
            for_each_neighbor(v, [&](std::size_t u) {
                if (u < v) taken_[slot_of[u]] = v;
            });
            slot_id s = allowed(v);
            while (s != 0 && taken_[s - 1] == v) --s;
            if (s == 0) return false;
            slot_of[v] = s - 1;
        }
        for (std::size_t v = known; v != count_; ++v) last_[v] = slot_of[v];
        answered_ = larger(answered_, count_);
        return true;
    }

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
    void put(value_id v, slot_id s)
    {
        slot_of[v] = s;
        ++tenants_[s];
        for_each_neighbor(
            v, [&](std::size_t u) { free_[u] -= taken_[u * width_ + s]++ == 0 && s < allowed(u); });
    }
    slot_id take_away(value_id v)
    {
        slot_id const s = std::exchange(slot_of[v], no_slot);
        --tenants_[s];
        for_each_neighbor(
            v, [&](std::size_t u) { free_[u] += --taken_[u * width_ + s] == 0 && s < allowed(u); });
        return s;
    }

    /// For each slot that v may not take, who came first of those that are there.
    void blame(value_id v)
    {
        first_in_.assign(allowed(v), no_value);
        for_each_neighbor(v, [&](std::size_t u) {
            if (slot_of[u] >= allowed(v)) return;
            value_id& first = first_in_[slot_of[u]];
            if (first == no_value || place_of_[u] < place_of_[first]) first = static_cast<value_id>(u);
        });
        for (value_id u : first_in_)
            if (u != no_value && place_of_[u] != 0) blamed_.set(0, u);
    }

    value_id most_urgent() const
    {
        value_id found = no_value;
        for (value_id v = 0; v != count_; ++v) {
            if (slot_of[v] != no_slot) continue;
            if (found == no_value || free_[v] * (failures_[found] + 1) < free_[found] * (failures_[v] + 1))
                found = v;
        }
        return found;
    }

    /// What v tries after `tried`: its slot in the last answer, then the others from the smallest on. Of the
    /// empty ones on a stair a single one is tried.
    slot_id next_choice(value_id v, slot_id tried) const
    {
        slot_id const favorite = last_[v] < allowed(v) && is_free(v, last_[v]) ? last_[v] : no_slot;
        if (tried == no_slot && favorite != no_slot) return favorite;
        if (tried == favorite) tried = no_slot;
        std::uint32_t const first_empty =
            favorite != no_slot && tenants_[favorite] == 0 ? begin_of_[favorite] : no_slot;
        std::uint32_t last_empty = no_slot;
        for (slot_id s = allowed(v); s-- != 0;) {
            if (s == favorite || !is_free(v, s)) continue;
            if (tenants_[s] == 0) {
                if (begin_of_[s] == first_empty || begin_of_[s] == last_empty) continue;
                last_empty = begin_of_[s];
            }
            if (s < tried) return s;
        }
        return no_slot;
    }

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

#endif
