// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_SEARCH_HPP
#define SUBLET_PLACEMENT_DETAIL_SEARCH_HPP

/// The exact search: a branch and bound that decides whether shapes can be stacked within a capacity. It
/// branches on one shape at a time, and prunes by section bounds, conflict sets and time components.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_state.hpp>
#include <sublet/placement/detail/sections.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- search orders ---------------------------------------------------------------------------------------

/// Variable ordering: the section to branch in, and the keys that break ties between its shapes.
///
///     W:TWA    W  in the section that failed most     T  the most bytes of a section that it is in
///     S:TWA    S  in the one with the least slack     W  its width: length of its live range
///     L:TZW    L  in any, as low as possible          A  its area    Z  its size
///
/// No order is good for all problems, so there are several (portfolio.hpp), the last of them random. Of
/// equally low shapes it usually pays to branch on the one that failed most often: Boussemart, Hemery,
/// Lecoutre and Sais, "Boosting systematic search by weighting constraints", ECAI 2004.

namespace sublet::detail {

/// Among the sections with the lowest floor; `weight` breaks ties by slack. `lowest` ignores sections.
enum class search_rule : std::uint8_t { weight, slack, lowest };

/// Ties between equally low shapes of a section; the largest first.
enum class search_key : std::uint8_t { total, width, area, size };

struct search_order {
    search_rule rule;
    search_key keys[3];
    bool by_failures; ///< before the keys: the number of conflicts it was in
};

/// The shapes by three keys, then by number.  O(n log n + sections they are in)
[[nodiscard]] SUBLET_COLD inline std::vector<std::uint32_t> rank_by(search_order const& order,
                                                                    search_problem const& problem)
{
    std::uint32_t const n = problem.shapes;
    auto key = [&](search_key which, std::uint32_t k) {
        std::uint64_t value = 0;
        switch (which) {
        case search_key::total:
            for (auto const& p : problem.spans_of(k))
                for (std::uint32_t s = p.first; s != p.last; ++s)
                    value = larger(value, static_cast<std::uint64_t>(problem.load[s]));
            break;
        case search_key::width: value = problem.length[k]; break;
        case search_key::area:
            // Nonnegative floating-point numbers are ordered as their bits.
            value = std::bit_cast<std::uint64_t>(static_cast<double>(problem.length[k]) *
                                                 static_cast<double>(problem.size[k]));
            break;
        case search_key::size: value = problem.size[k]; break;
        }
        return descending(value);
    };
    std::vector<sort_key> entries(n);
    std::vector<std::uint32_t> last(n), ranked(n);
    for (std::uint32_t k = 0; k != n; ++k) entries[k] = {key(order.keys[2], k), 0, k};
    sort_by_key(entries);
    for (std::uint32_t i = 0; i != n; ++i) last[i] = entries[i].id;
    for (std::uint32_t i = 0; i != n; ++i)
        entries[i] = {key(order.keys[0], last[i]), key(order.keys[1], last[i]), i};
    sort_by_key(entries);
    for (std::uint32_t i = 0; i != n; ++i) ranked[i] = last[entries[i].id];
    return ranked;
}

inline constexpr search_order search_orders[] = {
    {search_rule::lowest, {search_key::total, search_key::width, search_key::area}, true},
    {search_rule::weight, {search_key::total, search_key::width, search_key::area}, false},
    {search_rule::weight, {search_key::total, search_key::size, search_key::width}, true},
    {search_rule::lowest, {search_key::total, search_key::size, search_key::width}, true},
    {search_rule::weight, {search_key::width, search_key::area, search_key::total}, true},
};
inline constexpr std::size_t fixed_orders = sizeof search_orders / sizeof *search_orders;
inline constexpr std::size_t random_orders = 2;
inline constexpr std::uint32_t first_random_restart = 2;

/// A random order: any rule, and three of the four keys; a function of its arguments.
[[nodiscard]] constexpr search_order draw_order(std::uint64_t seed, std::uint32_t restart, std::size_t which)
{
    std::uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15u + restart * random_orders + which;
    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u; // splitmix64, Steele, Lea and Flood, OOPSLA 2014
    bits = (bits ^ bits >> 32) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
    auto random_below = [&](std::uint64_t n) {
        std::uint64_t const drawn = bits % n;
        bits /= n;
        return drawn;
    };
    search_order order{static_cast<search_rule>(random_below(3)), {}, random_below(4) != 0};
    search_key keys[] = {search_key::total, search_key::width, search_key::area, search_key::size};
    for (std::size_t i = 0; i != 3; ++i) {
        std::size_t const other = i + to_size(random_below(4 - i));
        order.keys[i] = keys[other];
        keys[other] = keys[i];
    }
    return order;
}

// --- search ----------------------------------------------------------------------------------------------

///              which shape? one in the section with the lowest floor
///             /                  |
///     place: it lies below     postpone: an unplaced
///     all unplaced             neighbour comes
///     neighbours               below it
///
/// The branches are disjoint and exhaustive for every shape, so the search may branch where it is tightest.
/// A conflict names the decisions that it needs; a decision that no conflict below it needs is undone
/// without its other branch (backjumping). Time components that no unplaced shape connects are solved one
/// after the other.
///
/// Source: Moffitt, "MiniMalloc: a lightweight memory allocator for hardware-accelerated machine learning",
/// ASPLOS 2023, which places in the order of offsets: the sections and their bound. Conflict sets: Prosser,
/// "Hybrid algorithms for the constraint satisfaction problem", Computational Intelligence, 1993.
enum class search_outcome : std::uint8_t { found, exhausted, limit };

/// One search with one order. A restart with a larger budget keeps the failure weights.
class stacking_search {
public:
    using state_type = search_state;

    stacking_search(search_problem const& problem, search_order const& with, search_techniques techniques)
    {
        state.techniques = techniques;
        state.set_problem(problem);
        set_order(problem, with);
        reset_weights();
        seen.assign(problem.sections, 0);
        first_shape_at.assign(problem.sections + 1, 0);
        for (std::uint32_t k = problem.shapes, s = problem.sections; k-- != 0;)
            for (; s > problem.first[k]; --s) first_shape_at[s] = k + 1;
    }

    /// Keeps the failure weights.
    void set_order(search_problem const& problem, search_order const& with)
    {
        order = with;
        std::vector<std::uint32_t> const ranked = rank_by(order, problem);
        rank.resize(problem.shapes);
        for (std::uint32_t i = 0; i != problem.shapes; ++i) rank[ranked[i]] = i;
    }
    void reset_weights() { state.weight.assign(state.all->sections + state.all->shapes, 0); }
    void swap_weights()
    {
        state.weight.swap(saved_weights);
        if (state.weight.empty()) reset_weights();
    }

    /// Ensures: at most `budget` nodes, counted in `nodes`; calls `stop(nodes)` now and then. If exhausted,
    ///          no stacking exists, not even of `core_shapes` alone.
    template <class Stop>
    search_outcome run(std::uint64_t budget, Stop stop)
    {
        nodes = 0;
        // A node takes up to a few hundred operations for each shape.
        std::uint64_t const nodes_per_poll = larger<std::uint64_t>(1, 256 / (1 + state.all->shapes / 64));
        std::uint64_t until_poll = nodes_per_poll;
        frames.clear();
        components.clear();
        postponements.assign(state.all->shapes, 0);
        component = none;
        if (!state.reset()) return search_outcome::exhausted;
        split(0, state.all->sections);
        while (true) {
            std::uint32_t const j = choose();
            if (j == none) return search_outcome::found;
            if (nodes == budget) return search_outcome::limit;
            if (--until_poll == 0) {
                if (stop(nodes)) return search_outcome::limit;
                until_poll = nodes_per_poll;
            }
            ++nodes;
            bool is_consistent = j != cycle;
            if (is_consistent) {
                auto const depth = static_cast<std::uint32_t>(frames.size() + 1);
                frames.push_back({j, false, static_cast<std::uint32_t>(state.trail.size()),
                                  static_cast<std::uint32_t>(components.size()), component});
                is_consistent = state.place(j, depth);
            }
            if (is_consistent) {
                if (state.techniques.splits) resplit(j);
                continue;
            }
            if (!backtrack()) return search_outcome::exhausted;
        }
    }

    [[nodiscard]] std::vector<std::uint32_t> core_shapes() const
    {
        std::vector<std::uint32_t> result;
        for (std::uint32_t k = 0; k != state.all->shapes; ++k)
            if (state.conflict.has_shape(k)) result.push_back(k);
        return result;
    }

    state_type state;
    std::uint64_t nodes = 0;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0}, cycle = none - 1;
    struct frame {
        std::uint32_t shape;
        bool is_postponed;
        std::uint32_t mark, components, component;
    };
    struct time_component {
        std::uint32_t first, last, next;
    };

    search_order order{};
    std::vector<std::uint32_t> rank, saved_weights;
    std::vector<std::uint32_t> first_shape_at; ///< by section, and one more: the first that starts there
    std::vector<std::uint32_t> seen;           ///< by section: the last round that visited it
    std::uint32_t round = 0;
    std::vector<frame> frames;
    std::vector<std::uint32_t> postponements;    ///< by shape: its frames in the postpone branch
    std::vector<std::uint64_t> branch_conflicts; ///< by frame: conflict of its place branch
    std::vector<time_component> components;      ///< a linked list of unsolved ones
    std::uint32_t component = none;

    bool backtrack()
    {
        count_conflict();
        while (!frames.empty()) {
            frame& f = frames.back();
            std::uint32_t const j = f.shape;
            state.undo(f.mark);
            if (!f.is_postponed) state.undo_place(j);
            else {
                state.undo_postpone();
                --postponements[j];
            }
            components.resize(f.components);
            component = f.component;
            bool const is_involved = !state.techniques.backjumps || state.conflict.needs_decision(j);
            std::vector<std::uint64_t>& sets = state.conflict.sets();
            std::size_t const at = (frames.size() - 1) * sets.size();
            if (is_involved && !f.is_postponed) {
                if (branch_conflicts.size() < at + sets.size()) branch_conflicts.resize(at + sets.size());
                for (std::size_t w = 0; w != sets.size(); ++w) branch_conflicts[at + w] = sets[w];
                f.is_postponed = true;
                ++postponements[j];
                if (state.postpone(j, static_cast<std::uint32_t>(frames.size()))) return true;
                count_conflict();
                continue;
            }
            if (is_involved) {
                for (std::size_t w = 0; w != sets.size(); ++w) sets[w] |= branch_conflicts[at + w];
                state.conflict.add_shape(j);
                // An earlier decision about j may be in the conflict, too.
                if (postponements[j] == 0) state.conflict.remove_decision(j);
            }
            frames.pop_back();
        }
        return false;
    }

    void count_conflict()
    {
        if (!order.by_failures) return;
        std::uint32_t* const failures = state.weight.data() + state.all->sections;
        std::size_t const words = state.conflict.words();
        for (std::size_t w = 0; w != words; ++w)
            for (std::uint64_t bits = state.conflict.sets()[words + w]; bits != 0; bits &= bits - 1)
                ++failures[w * 64 + static_cast<unsigned>(std::countr_zero(bits))];
    }

    /// Adds the sections [first, last) as a list of components, split where no unplaced shape crosses.
    void split(std::uint32_t first, std::uint32_t last)
    {
        std::uint32_t end = last;
        for (std::uint32_t s = last; s-- != first;) {
            bool const is_cut = s == first || (state.techniques.splits && state.cut[s - 1] == 0);
            if (!is_cut) continue;
            components.push_back({s, end, component});
            component = static_cast<std::uint32_t>(components.size() - 1);
            end = s;
        }
    }
    void resplit(std::uint32_t j)
    {
        time_component const now = components[component];
        for (std::uint32_t s = state.all->first[j]; s + 1 != state.all->last[j]; ++s)
            if (state.cut[s] == 0) {
                component = now.next;
                split(now.first, now.last);
                return;
            }
    }

    /// The next shape to branch on; `none` if all are placed, `cycle` if all are postponed.
    std::uint32_t choose()
    {
        for (; component != none; component = components[component].next) {
            // Shapes are sorted by begin: those of a component are contiguous.
            std::uint32_t const begin = first_shape_at[components[component].first],
                                end = first_shape_at[components[component].last];
            search_number low = state_type::placed_bound;
            for (std::uint32_t k = begin; k != end; ++k) low = smaller(low, state.lb[k]);
            if (low == state_type::placed_bound) continue;
            std::uint32_t id = none;
            if (order.rule != search_rule::lowest) {
                std::uint32_t const s = choose_section(begin, end, low);
                for (std::uint32_t i = state.all->first_member[s]; i != state.all->first_member[s + 1]; ++i)
                    consider(state.all->members[i].shape, id);
            }
            if (id == none)
                for (std::uint32_t k = begin; k != end; ++k) consider(k, id);
            if (id != none) return id;
            for (std::uint32_t k = begin; k != end; ++k)
                if (state.lb[k] != state_type::placed_bound) state.mark_impossible(id = k);
            state.fail_in_cycle(id);
            return cycle;
        }
        return none;
    }

    /// Of the sections of the shapes at `low`, the one with most failures or the least slack.
    std::uint32_t choose_section(std::uint32_t begin, std::uint32_t end, search_number low)
    {
        ++round;
        std::uint32_t best = none;
        for (std::uint32_t k = begin; k != end; ++k) {
            if (state.lb[k] != low) continue;
            for (auto const& p : state.all->spans_of(k))
                for (std::uint32_t s = p.first; s != p.last; ++s) {
                    if (seen[s] == round) continue;
                    seen[s] = round;
                    if (best == none || is_better(s, best)) best = s;
                }
        }
        return best;
    }
    bool is_better(std::uint32_t s, std::uint32_t other) const
    {
        if (order.rule == search_rule::weight && state.weight[s] != state.weight[other])
            return state.weight[s] > state.weight[other];
        search_number const slack = state.all->room[s] - state.unplaced_height[s],
                            other_slack = state.all->room[other] - state.unplaced_height[other];
        return slack != other_slack ? slack < other_slack : s < other;
    }

    /// The lower shape is better, then the one with more failures, then the first in the order.
    void consider(std::uint32_t k, std::uint32_t& best) const
    {
        if (state.lb[k] == state_type::placed_bound || state.postponed_at[k] >= 0) return;
        if (best != none) {
            if (state.min_origin[k] > state.min_origin[best]) return;
            if (state.min_origin[k] == state.min_origin[best]) {
                std::uint32_t const* const failures = state.weight.data() + state.all->sections;
                bool const is_tied = !order.by_failures || failures[k] == failures[best];
                if (is_tied ? rank[k] > rank[best] : failures[k] < failures[best]) return;
            }
        }
        best = k;
    }
};

} // namespace sublet::detail

#endif
