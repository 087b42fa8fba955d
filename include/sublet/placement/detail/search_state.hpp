// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SEARCH_STATE_HPP
#define SUBLET_PLACEMENT_DETAIL_SEARCH_STATE_HPP

/// What the exact search knows while it places and takes back, and which decisions a conflict needs.

#include <sublet/placement/detail/sections.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// --- search conflict -------------------------------------------------------------------------------------

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

namespace sublet::detail {

/// `State` is a search_state, which has one of these.
template <class State>
class search_conflict {
public:
    static constexpr std::uint32_t no_shape = ~std::uint32_t{0};

    void prepare(std::size_t shapes)
    {
        words_ = (shapes + 63) / 64;
        reasons_.resize(shapes * words_);
        sets_.assign(2 * words_, 0);
        queued_in_.assign(shapes, 0);
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

    /// j lies where it does because of `raised_by` and whatever that one lies on.
    void note_reasons(std::uint32_t j, std::uint32_t raised_by)
    {
        std::uint64_t* const row = reasons_.data() + j * words_;
        for (std::size_t w = 0; w != words_; ++w)
            row[w] = raised_by == no_shape ? 0 : reasons_[raised_by * words_ + w];
        set(row, j);
    }

    /// From now on: that k cannot be as low as `max_origin`. Returns how many units too high it is.
    search_number begin(State const& state, std::uint32_t k, search_number max_origin)
    {
        clear();
        search_number const lowest = explain(state, k, max_origin + 1);
        explain_queued(state);
        return lowest - max_origin;
    }
    /// Or: that those of section s that are not placed have too little room.
    auto begin_section(State const& state, std::uint32_t s)
    {
        clear();
        auto const need = state.all->room[s] - state.unplaced_height[s] + 1;
        auto lowest = State::placed_bound;
        for (std::uint32_t i = state.all->first_member[s]; i != state.all->first_member[s + 1]; ++i)
            if (auto const& m = state.all->members[i]; state.lb[m.shape] != State::placed_bound)
                lowest = smaller(lowest, explain(state, m.shape, need - m.begin) + m.begin);
        explain_queued(state);
        return lowest - (need - 1);
    }

private:
    std::size_t words_ = 0;
    std::vector<std::uint64_t> reasons_; ///< by shape that is placed: the decisions that put it there
    std::vector<std::uint64_t> sets_;
    std::vector<std::uint32_t>
        queued_in_;                    ///< by shape: the last conflict in which its waiting was asked about
    std::vector<std::uint32_t> queue_; ///< those whose waiting is still to be explained
    std::uint32_t conflicts_ = 0;

    static void set(std::uint64_t* bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << i % 64; }
    void clear()
    {
        for (std::uint64_t& w : sets_) w = 0;
        ++conflicts_;
    }
    void add_reasons(std::uint32_t j)
    {
        if (j == no_shape) return;
        for (std::size_t w = 0; w != words_; ++w) sets_[w] |= reasons_[j * words_ + w];
    }
    /// Why k is no lower than `need`. Returns what the reasons show: it may be no lower than even that.
    search_number explain(State const& state, std::uint32_t k, search_number need)
    {
        add_shape(k);
        if (state.min_origin[k] >= need) {
            add_reasons(state.raised_by[k]);
            return state.min_origin[k];
        }
        queue_explanation(k);
        return state.lb[k];
    }
    void queue_explanation(std::uint32_t k)
    {
        if (queued_in_[k] == conflicts_) return;
        queued_in_[k] = conflicts_;
        queue_.push_back(k);
    }
    /// One that waits is no lower than its lb because of its decision, and because each neighbour that was
    /// not placed then is either not below W or high enough itself.
    void explain_queued(State const& state)
    {
        while (!queue_.empty()) {
            std::uint32_t const k = queue_.back();
            queue_.pop_back();
            set(sets_.data(), k);
            for (auto const& e : state.all->edges_of(k)) {
                std::uint32_t const m = e.to;
                if (state.lb[m] == State::placed_bound) {
                    if (state.decided_at[m] > state.decided_at[k]) add_reasons(m);
                    continue;
                }
                add_shape(m);
                if (state.min_origin[m] >= state.limit(k, e) ||
                    state.all->aligned(k, state.min_origin[m] + e.down) >= state.lb[k])
                    add_reasons(state.raised_by[m]);
                else queue_explanation(m);
            }
        }
    }
};

// --- search state ----------------------------------------------------------------------------------------

/// What is known while shapes are stacked one after the other, and taken back again.
///
///     |        . . . . .        sky     by shape: it cannot be lower, for what is placed below it
///     |   .----+                lb      nor lower than this, for what it waits for
///     |   | b  |. . . . .       rest    by section: the height of those not placed
///     | a +----+  c  |          room    by section: where they end at the latest
///     +---+----+-----+--> time
///
/// Of those of a section that are not placed one is the lowest, and all lie above its lb: so one must have an
/// lb of room - rest at most. Each section watches such a member, and looks for another when it has risen.
///
/// Two decisions change it. *Place j:* it lies below all its neighbours that are not placed, so it lies at
/// its sky. *j waits:* one of them, m, lies below it, and so low that j could not stay: at less than W(m),
/// the distance from the sky of j to an m above it. For if all those below j were as high as W or higher, j
/// could be taken out and put at its sky, below all of them, and nobody else would have to move: j would have
/// been placed. (It holds with pins, alignments and negative distances: sky and W are those of j as it would
/// be placed; those above j are no nearer to it when it goes down; nobody placed lies above anybody who is
/// not, so no circle arises.) Hence, j waiting, its lb is the least lb[m] + distance of all m with lb[m] <
/// W(m), and there is no hope when there is no such m.
///
/// Everything is written down in a log before it changes. Placed shapes have an lb of `placed_bound`, so that
/// minima need not ask who is placed.

/// Techniques of a search that can be left out: answers stay the same, only later.
struct search_techniques {
    bool bounds_postponed = true; ///< lb of those that wait
    bool has_dominance = true;    ///< W; without it any neighbour below will do
    bool backjumps = true;        ///< over decisions that have no part in a conflict
    bool splits = true;           ///< parts of time that no unplaced shape connects are solved one by one
};

class search_state {
public:
    using problem_type = search_problem;
    static constexpr search_number placed_bound = std::numeric_limits<search_number>::max() / 2;
    static constexpr search_number impossible = placed_bound - 1; ///< the lb of whom nothing can save
    static constexpr std::uint32_t no_shape = ~std::uint32_t{0};

    void set_problem(problem_type const& of)
    {
        all = &of;
        conflict.prepare(of.shapes);
    }

    /// Nothing is placed. False if not even that is possible.
    bool reset()
    {
        std::uint32_t const n = all->shapes;
        min_origin = lb = all->lowest;
        raised_by.assign(n, no_shape);
        postpone_edge.assign(n, 0);
        postponed_at.assign(n, -1);
        decided_at.assign(n, 0);
        postponed_shapes.clear();
        trail.clear();
        next_height = no_limit;
        unplaced_height = all->load;
        watch.assign(all->first_member.begin(), all->first_member.end() - 1);
        cut.assign(all->sections, 0);
        for (std::uint32_t k = 0; k != n; ++k)
            for (std::uint32_t s = all->first[k]; s + 1 != all->last[k]; ++s) ++cut[s];
        for (std::uint32_t k = 0; k != n; ++k)
            if (lb[k] > all->max_origin[k]) return fail_at_shape(k);
        for (std::uint32_t s = 0; s != all->sections; ++s)
            if (!has_room(s)) return fail_at_section(s);
        return true;
    }

    /// Requires: j is neither placed nor does it wait.
    /// Ensures:  if false, `conflict` says why.
    bool place(std::uint32_t j, std::uint32_t depth)
    {
        search_number const at = min_origin[j];
        lb[j] = placed_bound;
        decided_at[j] = depth;
        conflict.note_reasons(j, raised_by[j]);
        for (auto const& p : all->spans_of(j)) {
            search_number const height = p.end - p.begin;
            for (std::uint32_t s = p.first; s != p.last; ++s) unplaced_height[s] -= height;
        }
        for (std::uint32_t s = all->first[j]; s + 1 != all->last[j]; ++s) --cut[s];
        dirty_first = all->first[j];
        dirty_last = all->last[j];
        for (auto const& e : all->edges_of(j)) {
            std::uint32_t const k = e.to;
            if (lb[k] == placed_bound) continue;
            if (postponed_at[k] >= 0 && (!techniques.has_dominance || at < postponed_at[k] + e.down)) {
                trail.push_back({all->shapes + k, decided_at[k], postponed_at[k], 0});
                postponed_at[k] = -1;
            }
            if (at + e.up <= min_origin[k]) continue;
            trail.push_back({k, raised_by[k], min_origin[k], lb[k]});
            min_origin[k] = all->aligned(k, at + e.up);
            raised_by[k] = j;
            if (min_origin[k] <= lb[k]) continue;
            lb[k] = min_origin[k];
            if (lb[k] > all->max_origin[k]) return fail_at_shape(k);
            mark_dirty(k);
        }
        return propagate();
    }

    bool postpone(std::uint32_t j, std::uint32_t depth)
    {
        trail.push_back({all->shapes + j, decided_at[j], postponed_at[j], 0});
        postponed_at[j] = min_origin[j];
        decided_at[j] = depth;
        postponed_shapes.push_back(j);
        dirty_first = dirty_last = 0;
        postpone_edge[j] = no_shape;
        return propagate();
    }

    /// What was logged after `mark` is as it was.
    void undo(std::size_t mark)
    {
        std::uint32_t const n = all->shapes;
        while (trail.size() != mark) {
            change const& c = trail.back();
            if (c.target < n) {
                raised_by[c.target] = c.id;
                min_origin[c.target] = c.a;
                lb[c.target] = c.b;
            } else {
                decided_at[c.target - n] = c.id;
                postponed_at[c.target - n] = c.a;
            }
            trail.pop_back();
        }
    }
    void undo_place(std::uint32_t j)
    {
        lb[j] = min_origin[j];
        for (auto const& p : all->spans_of(j)) {
            search_number const height = p.end - p.begin;
            for (std::uint32_t s = p.first; s != p.last; ++s) unplaced_height[s] += height;
        }
        for (std::uint32_t s = all->first[j]; s + 1 != all->last[j]; ++s) ++cut[s];
    }
    void undo_postpone() { postponed_shapes.pop_back(); }

    problem_type const* all = nullptr;
    search_techniques techniques;
    std::vector<search_number> min_origin, lb, postponed_at;
    std::vector<std::uint32_t> raised_by;        ///< by shape, who holds up its sky
    std::vector<std::uint32_t> postpone_edge;    ///< by shape that waits: the edge that gives its lb
    std::vector<std::uint32_t> decided_at;       ///< by shape that is placed or waits: when
    std::vector<std::uint32_t> postponed_shapes; ///< those that wait, and some that do no longer
    std::vector<search_number> unplaced_height;
    std::vector<std::uint32_t> watch;  ///< by section, a member that shows that there is room
    std::vector<std::uint32_t> cut;    ///< by section, those not placed that are in the next one, too
    std::vector<std::uint32_t> weight; ///< by section, how often it had too little room; then by shape

    search_conflict<search_state> conflict;
    byte_count next_height = no_limit; ///< the lowest at which any conflict since reset() would not be one

    struct change {
        std::uint32_t target, id;
        search_number a, b;
    };
    std::vector<change> trail;

    /// Below it a neighbour lies that k waits for.
    search_number limit(std::uint32_t k, problem_type::edge const& e) const
    {
        return techniques.has_dominance ? postponed_at[k] + e.up : placed_bound;
    }

    /// No shape of a part can be placed: k and all others, given up, wait for each other.
    void fail_in_cycle(std::uint32_t k) { conflict.begin(*this, k, impossible - 1); }
    void mark_impossible(std::uint32_t k)
    {
        trail.push_back({k, raised_by[k], min_origin[k], lb[k]});
        lb[k] = impossible;
    }

private:
    std::uint32_t dirty_first = 0, dirty_last = 0;

    void mark_dirty(std::uint32_t k)
    {
        if (dirty_first == dirty_last) {
            dirty_first = all->first[k];
            dirty_last = all->last[k];
            return;
        }
        dirty_first = smaller(dirty_first, all->first[k]);
        dirty_last = larger(dirty_last, all->last[k]);
    }

    /// Whether one of its members not placed is so low that all of them fit above it.
    bool has_room(std::uint32_t s)
    {
        search_number const highest = all->room[s] - unplaced_height[s];
        if (lowest_byte(watch[s]) <= highest || unplaced_height[s] == 0) return true;
        for (std::uint32_t i = all->first_member[s]; i != all->first_member[s + 1]; ++i)
            if (lowest_byte(i) <= highest) {
                watch[s] = i;
                return true;
            }
        return false;
    }
    search_number lowest_byte(std::uint32_t i) const
    {
        return lb[all->members[i].shape] + all->members[i].begin;
    }

    /// New bounds for those that wait, then for sections.
    bool propagate()
    {
        for (int rounds = 0, again = 1; again != 0 && rounds != 16; ++rounds) {
            again = 0;
            for (std::size_t i = 0; i != postponed_shapes.size(); ++i) {
                std::uint32_t const k = postponed_shapes[i];
                if (postponed_at[k] < 0) continue;
                if (postpone_edge[k] != no_shape) {
                    auto const& e = all->edges[postpone_edge[k]];
                    search_number const at = lb[e.to];
                    if (at < limit(k, e) && (!techniques.bounds_postponed || at + e.down <= lb[k])) continue;
                }
                search_number best = placed_bound;
                for (std::uint32_t x = all->first_edge[k]; x != all->first_edge[k + 1]; ++x) {
                    auto const& e = all->edges[x];
                    search_number const at = lb[e.to];
                    if (at >= limit(k, e) || at + e.down >= best) continue;
                    best = at + e.down;
                    postpone_edge[k] = x;
                    if (best <= lb[k] || !techniques.bounds_postponed) break;
                }
                if (best < placed_bound && !techniques.bounds_postponed) continue;
                if (best < placed_bound) best = all->aligned(k, best);
                if (best <= lb[k]) continue;
                trail.push_back({k, raised_by[k], min_origin[k], lb[k]});
                lb[k] = best < placed_bound ? best : impossible;
                if (lb[k] > all->max_origin[k]) return fail_at_shape(k);
                mark_dirty(k);
                again = 1;
            }
        }
        for (std::uint32_t s = dirty_first; s != dirty_last; ++s)
            if (!has_room(s)) return fail_at_section(s);
        return true;
    }

    void lower_next_height(byte_count height) { next_height = smaller(next_height, height); }
    bool fail_at_shape(std::uint32_t k)
    {
        search_number const above = conflict.begin(*this, k, all->max_origin[k]);
        if (lb[k] != impossible) lower_next_height(all->height_at(k, all->max_origin[k] + above));
        return false;
    }
    bool fail_at_section(std::uint32_t s)
    {
        ++weight[s];
        search_number const above = conflict.begin_section(*this, s);
        byte_count height = no_limit;
        for (std::uint32_t i = all->first_member[s]; i != all->first_member[s + 1]; ++i) {
            std::uint32_t const k = all->members[i].shape;
            height = smaller(height, all->height_at(k, all->max_origin[k] + above));
        }
        lower_next_height(height);
        return false;
    }
};

} // namespace sublet::detail

#endif
