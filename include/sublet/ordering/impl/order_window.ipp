// SPDX-License-Identifier: BSL-1.0

/// Nodes and buffers of the window are renumbered by sorting. Deferred are nodes that only allocate what a
/// later one needs; edges of the others are drawn past them. A walk counts the steps left of each buffer, so
/// that a node can be run and taken back.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/order_window.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include <algorithm>
#include <utility>

// --- order window ----------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL order_window window_of(order_graph const& g, peak_walk const& walk,
                                   std::span<node_id const> nodes)
{
    order_window w;
    order_graph& sub = w.graph;
    w.nodes.assign(nodes.begin(), nodes.end());
    w.is_at_start = walk.ran() == 0;
    w.live_through = walk.live();

    std::vector<sort_key> numbers; // {node, number}
    for (node_id n : nodes) numbers.push_back({n, 0, static_cast<std::uint32_t>(numbers.size())});
    sort_by_key(numbers);
    for (std::size_t i = 1; i < numbers.size(); ++i)
        SUBLET_EXPECTS(numbers[i - 1].key != numbers[i].key, "sublet: a window names node % twice",
                       numbers[i].key);
    constexpr std::uint32_t none = ~std::uint32_t{0};
    auto number_of = [](std::vector<sort_key> const& table, std::uint32_t id) {
        std::size_t const at =
            partition_point(table.size(), [&](std::size_t i) { return table[i].key >= id; });
        return at != table.size() && table[at].key == id ? table[at].id : none;
    };
    auto const count = static_cast<std::uint32_t>(nodes.size());
    sub.after = csr_rows<node_id, node_id>::gathered(count, [&](auto add) {
        for (node_id n = 0; n != count; ++n)
            for (node_id other : g.before[nodes[n]]) {
                node_id const from = number_of(numbers, other);
                if (from == no_node) continue;
                SUBLET_EXPECTS(from < n,
                               "sublet: in a window node % stands before node %, for which it waits",
                               nodes[n], other);
                add(from, n);
            }
    });
    sub.before = sub.after.transposed(count);

    std::vector<sort_key> touched; // {buffer, number}, once per step that touches it
    for (node_id n : nodes)
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) touched.push_back({b, 0, 0});
            for (buffer_id b : g.early[s]) touched.push_back({b, 0, 0});
        }
    sort_by_key(touched);
    std::vector<sort_key> buffers;
    for (sort_key const& t : touched) {
        if (buffers.empty() || buffers.back().key != t.key) {
            buffers.push_back({t.key, 0, static_cast<std::uint32_t>(buffers.size())});
            sub.touch_count.push_back(0);
        }
        ++sub.touch_count.back();
    }
    for (sort_key const& b : buffers) {
        auto const id = buffer_id::of(b.key);
        bool const is_live_in = g.is_given[id] != 0 || walk.remaining(id) != g.touch_count[id];
        sub.size.push_back(g.size[id]);
        sub.is_given.push_back(is_live_in);
        sub.is_kept.push_back(g.is_kept[id] != 0 || walk.remaining(id) != sub.touch_count[b.id]);
        if (is_live_in) w.live_through -= g.size[id];
    }
    if (w.is_at_start)
        for (buffer_id b = 0; b != g.buffers(); ++b)
            if (g.is_given[b] && !g.is_kept[b] && g.touch_count[b] == 0) w.untouched_input_bytes += g.size[b];
    w.live_through -= w.untouched_input_bytes;

    for (node_id n = 0; n != count; ++n) {
        auto const first = step_id::of(sub.held.rows());
        step_range const steps = g.steps[nodes[n]];
        sub.listed.push_back(n);
        sub.steps.push_back({first, first + (steps.last - steps.first)});
        for (step_id s = steps.first; s != steps.last; ++s) {
            for (buffer_id b : g.held[s]) sub.held.append(number_of(buffers, b));
            for (buffer_id b : g.early[s]) sub.early.append(number_of(buffers, b));
            sub.held.close_row();
            sub.early.close_row();
            sub.first_pair.push_back(static_cast<std::uint32_t>(sub.pairs.size()));
            for (overwrite_pair const& pair : g.pairs_of(s)) {
                buffer_id const in = number_of(buffers, pair.in), out = number_of(buffers, pair.out);
                if (!sub.is_kept[in] && !sub.is_given[out]) sub.pairs.push_back({in, out, pair.saved});
            }
        }
    }
    sub.first_pair.push_back(static_cast<std::uint32_t>(sub.pairs.size()));
    return w;
}

// --- deferred nodes --------------------------------------------------------------------------------------

SUBLET_DECL deferral_graph deferred_nodes(order_window const& w)
{
    order_graph const& g = w.graph;
    auto const count = static_cast<std::uint32_t>(g.nodes());
    deferral_graph result;
    result.is_deferred.assign(count, 0);

    // A node that reads early or is overwritten may gain if another node has touched the same buffer before.
    table<buffer_id, unsigned char> is_sensitive(g.buffers(), 0);
    bool is_first_special = w.untouched_input_bytes != 0; // the first node to run has bytes of its own
    for (step_id s = 0; s != g.early.rows(); ++s)
        for (buffer_id b : g.early[s]) {
            is_sensitive[b] = 1;
            is_first_special = is_first_special || g.is_given[b];
        }
    for (overwrite_pair const& pair : g.pairs) is_sensitive[pair.in] = 1;

    std::size_t const most_listed = 64, most_work = std::size_t{1} << 26;
    table<buffer_id, std::uint32_t> seen(g.buffers(), 0); // steps that touch the buffer, for one node
    std::size_t work = 0;
    auto for_each_touch = [&g](node_id n, auto visit) {
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) visit(b);
            for (buffer_id b : g.early[s]) visit(b);
        }
    };
    auto only_allocates = [&](node_id n) {
        auto for_each_later_touch = [&](auto visit) {
            for (node_id next : g.after[n]) for_each_touch(next, visit);
        };
        for_each_later_touch([&](buffer_id b) { ++seen[b], ++work; });
        bool result_so_far = true;
        for_each_touch(n,
                       [&](buffer_id b) { result_so_far = result_so_far && (seen[b] != 0 || g.is_kept[b]); });
        for_each_touch(n, [&](buffer_id b) { ++seen[b]; });
        for_each_touch(n, [&](buffer_id b) {
            result_so_far = result_so_far && (!is_sensitive[b] || seen[b] == g.touch_count[b]);
        });
        for_each_touch(n, [&](buffer_id b) { seen[b] = 0; });
        for_each_later_touch([&](buffer_id b) { seen[b] = 0; });
        return result_so_far;
    };

    // The predecessors of a node, with deferred ones replaced by their predecessors; and the deferred ones.
    using edges = csr_rows<node_id, node_id>;
    table<node_id, node_id> last(count, no_node); // of each node: the last one that listed it
    for (node_id n = 0; n != count; ++n) {
        auto list = [&](edges const& of_others, bool deferred, edges& row) {
            std::vector<node_id> found;
            auto add = [&](node_id other) {
                if (last[other] != n) last[other] = n, found.push_back(other);
            };
            for (node_id other : g.before[n]) {
                if (result.is_deferred[other]) {
                    for (node_id further : of_others[other]) add(further);
                    if (deferred) add(other);
                } else if (!deferred) {
                    add(other);
                }
            }
            for (node_id other : found) last[other] = no_node;
            std::sort(found.begin(), found.end());
            for (node_id other : found) row.append(other);
            row.close_row();
            return found.size();
        };
        std::size_t const waits = list(result.before, false, result.before);
        std::size_t const deferred_count = list(result.deferred, true, result.deferred);
        result.is_deferred[n] = !is_first_special && !g.after[n].empty() && waits <= most_listed &&
                                deferred_count <= most_listed && work <= most_work && only_allocates(n);
    }
    edges before, deferred;
    for (node_id n = 0; n != count; ++n) {
        if (!result.is_deferred[n]) {
            for (node_id other : result.before[n]) before.append(other);
            for (node_id other : result.deferred[n]) deferred.append(other);
        }
        before.close_row();
        deferred.close_row();
    }
    result.before = std::move(before);
    result.deferred = std::move(deferred);
    result.after = result.before.transposed(count);
    return result;
}

// --- down set walk ---------------------------------------------------------------------------------------

SUBLET_DECL down_set_walk::down_set_walk(order_window const& w)
    : w_(w), remaining_(w.graph.touch_count), done_(bit_rows::words_for(w.graph.nodes())),
      live_(w.live_through + w.untouched_input_bytes)
{
    for (buffer_id b = 0; b != w.graph.buffers(); ++b)
        if (w.graph.is_given[b]) live_ += w.graph.size[b];
}

SUBLET_DECL node_effect down_set_walk::run(node_id n)
{
    byte_count most = 0;
    step_range const steps = w_.graph.steps[n];
    for (step_id s = steps.first; s != steps.last; ++s) {
        node_effect const e = effect_of(s, w_.is_at_start && ran_ == 0 && s == steps.first);
        most = larger(most, e.most);
        live_ = e.live_after;
        count(s, ~std::uint32_t{0});
    }
    flip(n);
    ++ran_;
    return {most, live_};
}

SUBLET_DECL void down_set_walk::step_back(node_id n, byte_count live_before)
{
    for (step_id s = w_.graph.steps[n].first; s != w_.graph.steps[n].last; ++s) count(s, 1);
    flip(n);
    --ran_;
    live_ = live_before;
}

SUBLET_DECL void down_set_walk::count(step_id s, std::uint32_t by)
{
    for (buffer_id b : w_.graph.held[s]) remaining_[b] += by;
    for (buffer_id b : w_.graph.early[s]) remaining_[b] += by;
}

SUBLET_DECL node_effect down_set_walk::effect_of(step_id s, bool is_first)
{
    order_graph const& g = w_.graph;
    byte_count now = live_, dead = is_first ? w_.untouched_input_bytes : 0, early = 0;
    for (buffer_id b : g.held[s]) {
        if (remaining_[b] == g.touch_count[b] && !g.is_given[b]) now += g.size[b];
        if (ends_here(b)) dead += g.size[b];
    }
    for (buffer_id b : g.early[s])
        if (ends_here(b)) early += g.size[b];
    byte_count const live_after = now - dead - early;
    if (!is_first) now -= early; // as in peak_walk: given buffers are live at first
    if (!g.pairs_of(s).empty()) now -= saved(s, is_first);
    return {now, live_after};
}

SUBLET_DECL byte_count down_set_walk::saved(step_id s, bool is_first)
{
    order_graph const& g = w_.graph;
    candidates_.clear();
    for (overwrite_pair const& pair : g.pairs_of(s)) {
        if (!ends_here(pair.in) || remaining_[pair.out] != g.touch_count[pair.out]) continue;
        if (!is_first && is_listed(g.early[s], pair.in)) continue;
        candidates_.push_back(pair);
    }
    if (candidates_.size() == 1) return candidates_[0].saved;
    byte_count sum = 0;
    for (std::uint32_t i : match_overwrites(candidates_)) sum += candidates_[i].saved;
    return sum;
}

} // namespace sublet::detail
