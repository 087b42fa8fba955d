// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SEARCH_STATE_HPP
#define SUBLET_PLACEMENT_DETAIL_SEARCH_STATE_HPP

/// The state of the exact search for offsets: a lower bound on the origin of each shape and the room of each
/// section, under the decisions to place or to postpone a shape. Changes are logged in a trail and undone. A
/// conflict is explained by the decisions that caused it, so the search skips those that did not. Both
/// decisions keep the search exact.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/sections.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

// --- search conflict -------------------------------------------------------------------------------------

///     no room for c, d, e          c lies on b, b on a: a and b were placed
///     |   c   |  d   |             d lies on a
///     +-------+      |             e is postponed: in the conflict are its decision and the reasons why the
///     |   b   +------+             neighbours that it could wait for are no lower
///     +-------+-+  a |             f, placed far away, is not in the conflict
///
/// A conflict is two sets. Its *shapes* alone have no stacking in which its *decisions* hold. A decision that
/// places a shape means: it lies below those neighbours that were unplaced then; so its origin is explained
/// by the shape that raised its min_origin, and so on down. All placed shapes of a conflict have their
/// decisions in it. That makes postponing (search_state) sound here, too: without the other shapes, all of
/// them lie where the search put them, and a shape that moves down to its min_origin meets none of them.

namespace sublet::detail {

/// `State` is search_state, which has a member of this type.
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
    /// Decisions, then shapes, each of words().
    [[nodiscard]] std::vector<std::uint64_t>& sets() { return sets_; }
    [[nodiscard]] std::vector<std::uint64_t> const& sets() const { return sets_; }

    void add_shape(std::uint32_t k) { set(sets_.data() + words_, k); }
    void remove_decision(std::uint32_t k) { sets_[k / 64] &= ~(std::uint64_t{1} << k % 64); }

    /// The origin of j is explained by `raised_by` and the reasons of that.
    void note_reasons(std::uint32_t j, std::uint32_t raised_by)
    {
        std::uint64_t* const row = reasons_.data() + j * words_;
        for (std::size_t w = 0; w != words_; ++w)
            row[w] = raised_by == no_shape ? 0 : reasons_[raised_by * words_ + w];
        set(row, j);
    }

    /// Starts a conflict: k cannot lie at `max_origin` or below. Returns how many units too high it is.
    search_number begin(State const& state, std::uint32_t k, search_number max_origin)
    {
        clear();
        search_number const lowest = explain(state, k, max_origin + 1);
        explain_queued(state);
        return lowest - max_origin;
    }
    /// Starts a conflict: the unplaced pieces of section s have too little room.
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
    std::vector<std::uint64_t> reasons_; ///< by placed shape: the decisions that put it there
    std::vector<std::uint64_t> sets_;
    std::vector<std::uint32_t> queued_in_; ///< by shape: the last conflict that queued it
    std::vector<std::uint32_t> queue_;     ///< postponed shapes still to be explained
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
    /// Explains why k is not below `need`. Returns the bound that the reasons prove, which may be higher.
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
    /// A postponed shape is not below its lb because of its decision, and because each neighbour unplaced at
    /// that time is either not below W or high enough itself.
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

///     |        . . . . .        min_origin        by shape: bound by the shapes placed below it
///     |   .----+                lb                by shape: bound that includes postponement
///     |   | b  |. . . . .       unplaced_height   by section: sum of the heights of unplaced pieces
///     | a +----+  c  |          room              by section: the highest possible end
///     +---+----+-----+--> time
///
/// One of the unplaced pieces of a section is the lowest, and the others fit above it: so one must have an
/// lb of at most room - unplaced_height. Each section watches such a piece, and looks for another when it
/// has risen.
///
/// There are two decisions. *Place j:* j lies below all its unplaced neighbours, so it lies at its
/// min_origin. *Postpone j:* an unplaced neighbour m lies below j, and so low that j could not stay at its
/// min_origin: below W(m), the lowest origin of an m above such a j. For if all neighbours below j were at W
/// or higher, j could be moved down to its min_origin, below all of them, and no other shape would move: that
/// is the other branch. (This holds with pins, alignments and negative distances: min_origin and W are those
/// of the placed j; shapes above j are no nearer when it moves down; no placed shape lies above an unplaced
/// one, so there is no cycle.) Hence the lb of a postponed j is the least lb[m] + distance over all m with
/// lb[m] < W(m); without such m there is a conflict. Placed shapes have the lb `placed_bound`.

/// Techniques that can be switched off: results stay the same, with more nodes.
struct search_techniques {
    bool bounds_postponed = true; ///< lb of postponed shapes
    bool has_dominance = true;    ///< W; without it any neighbour below suffices
    bool backjumps = true;        ///< over decisions that are not in a conflict
    bool splits = true;           ///< time components are solved one by one
};

class search_state {
public:
    using problem_type = search_problem;
    static constexpr search_number placed_bound = std::numeric_limits<search_number>::max() / 2;
    static constexpr search_number impossible = placed_bound - 1; ///< the lb of a shape that cannot be placed
    static constexpr std::uint32_t no_shape = ~std::uint32_t{0};

    void set_problem(problem_type const& of)
    {
        all = &of;
        conflict.prepare(of.shapes);
    }

    /// No shape is placed. False if that is a conflict already.
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
        if (all->has_padding) unplaced_tops = all->tops;
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

    /// Requires: j is neither placed nor postponed. Ensures: if false, `conflict` explains it.
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
        if (all->has_padding) place_tops(j);
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

    /// Undoes the changes since the trail had `mark` entries.
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
        if (all->has_padding) undo_place_tops(j);
        for (std::uint32_t s = all->first[j]; s + 1 != all->last[j]; ++s) ++cut[s];
    }
    void undo_postpone() { postponed_shapes.pop_back(); }

    problem_type const* all = nullptr;
    search_techniques techniques;
    std::vector<search_number> min_origin, lb, postponed_at;
    std::vector<std::uint32_t> raised_by;        ///< by shape: the shape that gives its min_origin
    std::vector<std::uint32_t> postpone_edge;    ///< by postponed shape: the edge that gives its lb
    std::vector<std::uint32_t> decided_at;       ///< by placed or postponed shape: its decision level
    std::vector<std::uint32_t> postponed_shapes; ///< and some that no longer are
    std::vector<search_number> unplaced_height; ///< by section; more by the room that is lost without tops
    std::vector<std::uint32_t> unplaced_tops;   ///< by section, if there is padding
    std::vector<std::uint32_t> watch;  ///< by section: a member that proves that there is room
    std::vector<std::uint32_t> cut;    ///< by section: unplaced shapes that are in the next one, too
    std::vector<std::uint32_t> weight; ///< failures by section, then by shape

    search_conflict<search_state> conflict;
    byte_count next_height = no_limit; ///< the lowest height without the conflicts since reset()

    struct change {
        std::uint32_t target, id;
        search_number a, b;
    };
    std::vector<change> trail;

    /// k waits for a neighbour below this origin.
    search_number limit(std::uint32_t k, problem_type::edge const& e) const
    {
        return techniques.has_dominance ? postponed_at[k] + e.up : placed_bound;
    }

    /// No shape of a component can be placed: k and all others wait for each other.
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

    /// Room that only placed pieces reach.
    search_number lost_room(std::uint32_t s) const
    {
        return all->has_padding && unplaced_tops[s] == 0 ? all->room[s] - all->lower_room[s] : 0;
    }
    void place_tops(std::uint32_t j)
    {
        for (auto const& p : all->spans_of(j))
            for (std::uint32_t s = p.first; s != p.last; ++s)
                if (all->is_top(j, p, s) && --unplaced_tops[s] == 0) unplaced_height[s] += lost_room(s);
    }
    void undo_place_tops(std::uint32_t j)
    {
        for (auto const& p : all->spans_of(j))
            for (std::uint32_t s = p.first; s != p.last; ++s)
                if (all->is_top(j, p, s)) {
                    unplaced_height[s] -= lost_room(s);
                    ++unplaced_tops[s];
                }
    }

    /// Whether an unplaced member is low enough for the others to fit above it.
    bool has_room(std::uint32_t s)
    {
        search_number const highest = all->room[s] - unplaced_height[s];
        if (lowest_byte(watch[s]) <= highest || unplaced_height[s] == lost_room(s)) return true;
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
            if (all->has_padding && lb[k] == placed_bound) continue; // the room is that of the others
            height = smaller(height, all->height_at(k, all->max_origin[k] + above));
        }
        lower_next_height(height);
        return false;
    }
};

} // namespace sublet::detail

#endif
