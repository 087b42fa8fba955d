// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_SEARCH_CONFLICT_HPP
#define SUBLET_PLACEMENT_SEARCH_CONFLICT_HPP

/// Which decisions made a search fail, so that it need not try those anew that had no part in it.
///
///     no room for c, d, e          c lies on b, b on a: a and b were placed
///     |   c   |  d   |             d lies on a
///     +-------+      |             e waits: so the decision about e, and whatever keeps those that it
///     |   b   +------+             could wait for from being lower
///     +-------+-+  a |             f, placed far away, has no part in it
///
/// A conflict is two sets. Its *shapes* have no stacking on their own, all others gone, in which its
/// *decisions* hold. Of these, one about a shape that is placed says: it lies below those neighbours that
/// were not placed then; so where it lies is explained by whoever holds up its sky, and by who holds up that
/// one. All placed shapes of a conflict have their decisions in it. That is why waiting (search_state.hpp) is
/// sound here, too: without the others, all of them lie where the search put them, and no shape that is moved
/// down to its sky meets one of them.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

/// `State` is a search_state, which has one of these.
template <class State>
class search_conflict {
public:
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};

    void prepare(std::size_t shapes)
    {
        words_ = (shapes + 63) / 64;
        reasons_.resize(shapes * words_);
        sets_.assign(2 * words_, 0);
        asked_.assign(shapes, 0);
    }

    [[nodiscard]] bool needs_decision(std::uint32_t k) const { return (sets_[k / 64] >> k % 64 & 1) != 0; }
    [[nodiscard]] bool has_shape(std::uint32_t k) const
    {
        return (sets_[words_ + k / 64] >> k % 64 & 1) != 0;
    }
    [[nodiscard]] std::size_t words() const { return words_; }
    /// Both sets, decisions first, each of words().
    [[nodiscard]] std::vector<std::uint64_t>& sets() { return sets_; }
    [[nodiscard]] std::vector<std::uint64_t> const& sets() const { return sets_; }

    void add_shape(std::uint32_t k) { set(sets_.data() + words_, k); }
    void remove_decision(std::uint32_t k) { sets_[k / 64] &= ~(std::uint64_t{1} << k % 64); }

    /// j lies where it does because of `fixer` and whatever that one lies on.
    void note_reasons(std::uint32_t j, std::uint32_t fixer)
    {
        std::uint64_t* const mine = reasons_.data() + j * words_;
        for (std::size_t w = 0; w != words_; ++w)
            mine[w] = fixer == nobody ? 0 : reasons_[fixer * words_ + w];
        set(mine, j);
    }

    /// From now on: that k cannot be as low as `most`. Returns how many units too high it is.
    template <class Number>
    Number begin(State const& state, std::uint32_t k, Number most)
    {
        clear();
        Number const lowest = ask(state, k, most + 1);
        answer(state);
        return lowest - most;
    }
    /// Or: that those of section s that are not placed have too little room.
    auto begin_section(State const& state, std::uint32_t s)
    {
        clear();
        auto const need = state.all->room[s] - state.rest[s] + 1;
        auto lowest = State::nowhere;
        for (std::uint32_t i = state.all->first_member[s]; i != state.all->first_member[s + 1]; ++i)
            if (auto const& m = state.all->members[i]; state.lb[m.shape] != State::nowhere)
                lowest = smaller(lowest, ask(state, m.shape, need - m.begin) + m.begin);
        answer(state);
        return lowest - (need - 1);
    }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> reasons_; ///< by shape that is placed: the decisions that put it there
    std::vector<std::uint64_t> sets_;
    std::vector<std::uint32_t> asked_; ///< by shape: the last conflict in which its waiting was asked about
    std::vector<std::uint32_t> open_;  ///< those whose waiting is still to be explained
    std::uint32_t conflicts_ = 0;

    static void set(std::uint64_t* bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
    void clear()
    {
        for (std::uint64_t& w : sets_) w = 0;
        ++conflicts_;
    }
    void add_reasons(std::uint32_t j)
    {
        if (j == nobody) return;
        for (std::size_t w = 0; w != words_; ++w) sets_[w] |= reasons_[j * words_ + w];
    }
    /// Why k is no lower than `need`. Returns what the reasons show: it may be no lower than even that.
    template <class Number>
    Number ask(State const& state, std::uint32_t k, Number need)
    {
        add_shape(k);
        if (state.sky[k] >= need) {
            add_reasons(state.fixer[k]);
            return state.sky[k];
        }
        ask_why_it_waits(k);
        return state.lb[k];
    }
    void ask_why_it_waits(std::uint32_t k)
    {
        if (asked_[k] == conflicts_) return;
        asked_[k] = conflicts_;
        open_.push_back(k);
    }
    /// One that waits is no lower than its lb because of its decision, and because each neighbour that was
    /// not placed then is either not below W or high enough itself.
    void answer(State const& state)
    {
        while (!open_.empty()) {
            std::uint32_t const k = open_.back();
            open_.pop_back();
            set(sets_.data(), k);
            for (auto const& e : state.all->edges_of(k)) {
                std::uint32_t const m = e.to;
                if (state.lb[m] == State::nowhere) {
                    if (state.decided_at[m] > state.decided_at[k]) add_reasons(m);
                    continue;
                }
                add_shape(m);
                if (state.sky[m] >= state.limit(k, e) ||
                    state.all->aligned(k, state.sky[m] + e.down) >= state.lb[k])
                    add_reasons(state.fixer[m]);
                else ask_why_it_waits(m);
            }
        }
    }
};

} // namespace sublet

#endif
