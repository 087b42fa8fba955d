// SPDX-License-Identifier: BSL-1.0

/// Cliques come from branch and bound with a coloring as the bound: each color class is independent, so that
/// a clique has one item of it. Hitting sets come from branch and bound over the pairs of an unmet core, with
/// a bound by costs that are shared out among the cores. Stackings place items by ascending offset, each at
/// the lowest that those below it allow; some stacking is as low as any packing.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/penalty_bound.hpp>

#include <bit>
#include <numeric>
#include <utility>

namespace sublet::detail {

inline constexpr std::size_t most_proved_items = 1024;

SUBLET_DECL penalty_prover::penalty_prover(penalty_graph const& graph, std::uint64_t nodes,
                                           search_control& control)
    : graph_(graph), control_(control), left_(nodes), work_(nodes < no_limit / 4000 ? 4000 * nodes : no_limit)
{
    if (graph.size() > most_proved_items) {
        left_ = 0;
        return;
    }
    byte_count unit = 0;
    for (penalty_graph::item const& its : graph.items) {
        unit = std::gcd(unit, its.alignment);
        if (its.pinned != no_offset) unit = std::gcd(unit, its.pinned);
    }
    unit = larger<byte_count>(unit, 1);
    for (penalty_graph::item const& its : graph.items)
        weight_.push_back(its.size / unit + (its.size % unit != 0));
    room_ = graph.capacity / unit + (graph.capacity % unit != 0);
    for (std::uint32_t i = 0; i != graph.size(); ++i)
        for (penalty_graph::arc const& arc : graph.arcs_of(i))
            if (i < arc.to && !arc.is_hard()) pairs_.push_back({i, arc.to, arc.cost});
    levels_.resize(graph.size() + 1);
}

SUBLET_DECL bool penalty_prover::is_over()
{
    ++used_;
    if (left_ == 0) return true;
    --left_;
    if (left_ % 256 == 0 && control_.stop(no_limit, 0, used_)) left_ = 0;
    return left_ == 0;
}

/// Items of pairs that are paid may share bytes.
SUBLET_DECL void penalty_prover::allow(std::vector<unsigned char> const& paid)
{
    near_ = bit_rows(graph_.size(), graph_.size());
    for (std::uint32_t i = 0; i != graph_.size(); ++i)
        for (penalty_graph::arc const& arc : graph_.arcs_of(i))
            if (arc.is_hard()) near_.set(i, arc.to);
    for (std::size_t p = 0; p != pairs_.size(); ++p) {
        if (paid[p] != 0) continue;
        near_.set(pairs_[p].a, pairs_[p].b);
        near_.set(pairs_[p].b, pairs_[p].a);
    }
}

// --- cliques ---------------------------------------------------------------------------------------------

/// Orders the candidates by color, with the weight of the colors up to each.
SUBLET_DECL void penalty_prover::color(std::size_t at)
{
    constexpr unsigned bits = bit_rows::word_bits;
    level& here = levels_[at];
    here.order.clear();
    here.bound.clear();
    std::vector<bit_rows::word> left = here.candidates, free;
    byte_count sum = 0;
    for (bool has_some = true; has_some;) {
        has_some = false;
        free = left;
        byte_count heaviest = 0;
        std::size_t const first = here.order.size();
        for (std::size_t w = 0; w != free.size(); ++w)
            while (free[w] != 0) {
                auto const i =
                    static_cast<std::uint32_t>(w * bits + static_cast<unsigned>(std::countr_zero(free[w])));
                has_some = true;
                heaviest = larger(heaviest, weight_[i]);
                here.order.push_back(i);
                left[w] &= ~(bit_rows::word{1} << i % bits);
                free[w] &= ~(bit_rows::word{1} << i % bits);
                for (std::size_t v = w; v != free.size(); ++v) free[v] &= ~near_[i][v];
            }
        sum += heaviest;
        for (std::size_t k = first; k != here.order.size(); ++k) here.bound.push_back(sum);
    }
}

/// A clique that is heavier than the room; false: there is none, or the nodes have ended.
SUBLET_DECL bool penalty_prover::find_clique(std::vector<std::uint32_t>& clique)
{
    constexpr unsigned bits = bit_rows::word_bits;
    clique.clear();
    if (levels_.empty() || left_ == 0) return false;
    levels_[0].candidates.assign(near_.words(), 0);
    for (std::uint32_t i = 0; i != graph_.size(); ++i)
        levels_[0].candidates[i / bits] |= bit_rows::word{1} << i % bits;
    color(0);
    byte_count sum = 0;
    for (;;) {
        level& here = levels_[clique.size()];
        if (here.order.empty() || sum + here.bound.back() <= room_) {
            if (clique.empty()) return false;
            std::uint32_t const last = clique.back();
            clique.pop_back();
            sum -= weight_[last];
            continue;
        }
        if (is_over()) return false;
        std::uint32_t const i = here.order.back();
        here.order.pop_back();
        here.bound.pop_back();
        here.candidates[i / bits] &= ~(bit_rows::word{1} << i % bits);
        clique.push_back(i);
        sum += weight_[i];
        if (sum > room_) return true;
        level& next = levels_[clique.size()];
        next.candidates = here.candidates;
        for (std::size_t w = 0; w != next.candidates.size(); ++w) next.candidates[w] &= near_[i][w];
        color(clique.size());
    }
}

SUBLET_DECL std::vector<std::uint32_t>
penalty_prover::pairs_within(std::vector<std::uint32_t> const& clique) const
{
    std::vector<unsigned char> is_in(graph_.size(), 0);
    for (std::uint32_t i : clique) is_in[i] = 1;
    std::vector<std::uint32_t> result;
    for (std::uint32_t p = 0; p != pairs_.size(); ++p)
        if (is_in[pairs_[p].a] != 0 && is_in[pairs_[p].b] != 0) result.push_back(p);
    return result;
}

/// Leaves out items while the others are too heavy; first those with the most pairs.
SUBLET_DECL void penalty_prover::make_minimal(std::vector<std::uint32_t>& clique)
{
    byte_count sum = 0;
    for (std::uint32_t i : clique) sum += weight_[i];
    for (;;) {
        std::vector<std::uint32_t> count(graph_.size(), 0);
        for (std::uint32_t p : pairs_within(clique)) ++count[pairs_[p].a], ++count[pairs_[p].b];
        std::size_t out = clique.size();
        for (std::size_t k = 0; k != clique.size(); ++k)
            if (sum - weight_[clique[k]] > room_ &&
                (out == clique.size() || count[clique[k]] > count[clique[out]]))
                out = k;
        if (out == clique.size()) return;
        sum -= weight_[clique[out]];
        clique.erase(clique.begin() + static_cast<std::ptrdiff_t>(out));
    }
}

/// Disjoint cores of cliques that no paid pair meets; their pairs are then paid. False: a clique has no pair.
SUBLET_DECL bool penalty_prover::add_clique_cores(std::vector<unsigned char>& paid)
{
    std::vector<std::uint32_t> clique;
    allow(paid);
    while (find_clique(clique)) {
        make_minimal(clique);
        std::vector<std::uint32_t> core = pairs_within(clique);
        if (core.empty()) return false;
        for (std::uint32_t p : core) {
            paid[p] = 1;
            near_[pairs_[p].a][pairs_[p].b / bit_rows::word_bits] &=
                ~(bit_rows::word{1} << pairs_[p].b % bit_rows::word_bits);
            near_[pairs_[p].b][pairs_[p].a / bit_rows::word_bits] &=
                ~(bit_rows::word{1} << pairs_[p].a % bit_rows::word_bits);
        }
        cores_.push_back(std::move(core));
    }
    return true;
}

// --- hitting sets ----------------------------------------------------------------------------------------

/// Each unmet core takes from its open pairs what the one with the least left has.
SUBLET_DECL byte_count penalty_prover::dual_bound(std::vector<std::uint32_t> const& state) const
{
    std::vector<byte_count> left;
    for (pair const& p : pairs_) left.push_back(p.cost);
    byte_count sum = 0;
    for (std::vector<std::uint32_t> const& core : cores_) {
        byte_count least = no_limit;
        bool is_met = false;
        for (std::uint32_t p : core) {
            is_met = is_met || state[p] == is_paid;
            if (state[p] == is_open) least = smaller(least, left[p]);
        }
        if (is_met) continue;
        if (least == no_limit) return no_limit; // it cannot be met
        sum += least;
        for (std::uint32_t p : core) left[p] -= state[p] == is_open ? least : 0;
    }
    return sum;
}

/// Small cores first, and in each the pairs first that most cores have.
SUBLET_DECL void penalty_prover::order_cores()
{
    std::vector<std::uint64_t> uses(pairs_.size(), 0);
    for (std::vector<std::uint32_t> const& core : cores_)
        for (std::uint32_t p : core) ++uses[p];
    for (std::vector<std::uint32_t>& core : cores_)
        sort_by(core, [&](std::uint32_t x, std::uint32_t y) { return uses[x] > uses[y]; });
    sort_by(cores_, [](auto const& x, auto const& y) { return x.size() < y.size(); });
}

/// The cheapest set that meets all cores; false: some set that is not proved to be the cheapest. The bound is
/// raised to what is proved.
SUBLET_DECL bool penalty_prover::hit(std::vector<unsigned char>& paid, byte_count& bound)
{
    order_cores();
    std::uint64_t of_node = 8;
    for (std::vector<std::uint32_t> const& core : cores_) of_node += core.size();
    std::vector<std::uint32_t> state(pairs_.size(), is_open);
    bound = larger(bound, dual_bound(state));
    struct choice {
        std::uint32_t core;
        std::size_t next; // behind the pair that is paid
    };
    std::vector<choice> path;
    byte_count now = 0, best = no_limit;
    for (bool is_deeper = true;;) {
        if (is_deeper) {
            byte_count const more = dual_bound(state);
            std::uint32_t unmet = 0;
            for (bool is_met = true; unmet != cores_.size(); unmet += is_met) {
                is_met = false;
                for (std::uint32_t p : cores_[unmet]) is_met = is_met || state[p] == is_paid;
                if (!is_met) break;
            }
            if (more == no_limit || now + more >= best) {
                is_deeper = false;
            } else if (unmet == cores_.size()) {
                best = now;
                for (std::size_t p = 0; p != state.size(); ++p) paid[p] = state[p] == is_paid;
                if (best <= bound) return true;
            } else {
                path.push_back({unmet, 0});
            }
        }
        if (path.empty()) break;
        work_ -= smaller(work_, of_node);
        if (work_ == 0 || control_.stop(no_limit, 0, used_)) return false;
        choice& last = path.back();
        std::vector<std::uint32_t> const& core = cores_[last.core];
        auto const closed = static_cast<std::uint32_t>(path.size() + is_paid); // by this choice
        if (last.next != 0) {
            state[core[last.next - 1]] = closed;
            now -= pairs_[core[last.next - 1]].cost;
        }
        while (last.next != core.size() && state[core[last.next]] != is_open) ++last.next;
        is_deeper = last.next != core.size();
        if (is_deeper) {
            std::uint32_t const p = core[last.next++];
            state[p] = is_paid;
            now += pairs_[p].cost;
            continue;
        }
        for (std::uint32_t p : core)
            if (state[p] == closed) state[p] = is_open;
        path.pop_back();
    }
    bound = larger(bound, best);
    return true;
}

// --- stackings -------------------------------------------------------------------------------------------

/// Whether the items have a stacking within the capacity, where near ones share no byte.
SUBLET_DECL penalty_prover::answer penalty_prover::stack(std::vector<byte_count>& offset)
{
    auto const n = static_cast<std::uint32_t>(graph_.size());
    std::vector<std::vector<std::uint32_t>> near(n), cliques;
    for (std::uint32_t i = 0; i != n; ++i)
        for (std::uint32_t j = 0; j != n; ++j)
            if (near_.test(i, j)) near[i].push_back(j);
    for (std::uint32_t i = 0; i != n; ++i) { // a clique with i, the largest neighbours first
        std::vector<std::uint32_t> order = near[i], clique{i};
        sort_by(order, [this](std::uint32_t x, std::uint32_t y) {
            return graph_.items[x].size > graph_.items[y].size;
        });
        for (std::uint32_t j : order) {
            bool is_near = true;
            for (std::uint32_t k : clique) is_near = is_near && near_.test(j, k);
            if (is_near) clique.push_back(j);
        }
        cliques.push_back(std::move(clique));
    }
    offset.assign(n, no_offset);
    std::vector<byte_count> low(n, 0); // the least offset above the placed neighbours
    for (std::uint32_t i = 0; i != n; ++i)
        if (graph_.items[i].pinned != no_offset) low[i] = graph_.items[i].pinned;
    struct placed_item {
        std::uint32_t item, next; // next: the one to try after it
        std::size_t undo;
    };
    std::vector<placed_item> path;
    std::vector<std::pair<std::uint32_t, byte_count>> undo; // lows
    byte_count now = 0;
    std::uint32_t from = 0; // the first item to try
    bool is_deeper = true;
    for (;;) {
        if (is_deeper && path.size() == n) return answer::yes;
        if (is_over()) return answer::unknown;
        byte_count below = no_limit; // what fits below this is placed first
        bool is_cut = false;
        for (std::uint32_t i = 0; i != n; ++i) {
            if (offset[i] != no_offset) continue;
            byte_count const end = low[i] + graph_.items[i].size;
            bool const is_pinned = graph_.items[i].pinned != no_offset;
            is_cut = is_cut || larger(low[i], is_pinned ? 0 : now) + graph_.items[i].size > graph_.capacity ||
                     (is_pinned && (low[i] != graph_.items[i].pinned || low[i] < now));
            if (!is_pinned) below = smaller(below, end);
        }
        for (std::size_t c = 0; c != cliques.size() && is_deeper && !is_cut; ++c) {
            byte_count sum = now;
            for (std::uint32_t i : cliques[c]) sum += offset[i] == no_offset ? graph_.items[i].size : 0;
            is_cut = sum > graph_.capacity;
        }
        std::uint32_t i = is_cut ? n : from;
        byte_count const last = path.empty() ? no_offset : now;
        for (; i != n; ++i) {
            if (offset[i] != no_offset || low[i] < now || low[i] >= below) continue;
            if (low[i] != last || i > path.back().item) break; // equal offsets by number
        }
        if (i != n) {
            path.push_back({i, i + 1, undo.size()});
            offset[i] = now = low[i];
            for (std::uint32_t j : near[i]) {
                if (offset[j] != no_offset) continue;
                byte_count const up = align_up(now + graph_.items[i].size, graph_.items[j].alignment);
                if (up <= low[j]) continue;
                undo.push_back({j, low[j]});
                low[j] = up;
            }
            from = 0;
            is_deeper = true;
            continue;
        }
        if (path.empty()) return answer::no;
        placed_item const back = path.back();
        path.pop_back();
        for (; undo.size() != back.undo; undo.pop_back()) low[undo.back().first] = undo.back().second;
        offset[back.item] = no_offset;
        now = path.empty() ? 0 : offset[path.back().item];
        from = back.next;
        is_deeper = false;
    }
}

/// Pairs that cannot all be unpaid; without those that do not matter.
SUBLET_DECL std::vector<std::uint32_t> penalty_prover::exhausted_core(std::vector<unsigned char> const& paid)
{
    std::vector<std::uint32_t> core;
    std::vector<unsigned char> left = paid;
    std::vector<byte_count> offset;
    for (std::uint32_t p = 0; p != pairs_.size(); ++p) {
        if (paid[p] != 0) continue;
        left[p] = 1;
        allow(left);
        if (stack(offset) == answer::no) continue;
        left[p] = 0;
        core.push_back(p);
    }
    return core;
}

// --- bound -----------------------------------------------------------------------------------------------

SUBLET_DECL byte_count penalty_prover::prove(penalty_packing& best)
{
    if (left_ == 0) return 0;
    byte_count bound = 0;
    for (std::uint32_t p = 0; p != pairs_.size(); ++p) {
        byte_count const a = graph_.items[pairs_[p].a].pinned, b = graph_.items[pairs_[p].b].pinned;
        if (a != no_offset && b != no_offset && share_bytes(graph_, pairs_[p].a, a, pairs_[p].b, b))
            cores_.push_back({p});
    }
    for (;;) {
        std::vector<unsigned char> paid(pairs_.size(), 0);
        bool const is_least = hit(paid, bound);
        if (best.cost <= bound || left_ == 0) return bound;
        std::vector<unsigned char> met = paid;
        std::size_t const known = cores_.size();
        if (!add_clique_cores(met)) return 0;
        if (cores_.size() != known) continue;
        if (!is_least || left_ == 0) return bound;
        allow(paid);
        std::vector<byte_count> offset;
        answer const fits = stack(offset);
        if (fits == answer::unknown) return bound;
        if (fits == answer::yes) {
            best = priced(graph_, std::move(offset));
            return bound;
        }
        std::vector<std::uint32_t> core = exhausted_core(paid);
        if (core.empty()) return 0;
        cores_.push_back(std::move(core));
    }
}

} // namespace sublet::detail
