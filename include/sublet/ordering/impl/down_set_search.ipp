// SPDX-License-Identifier: BSL-1.0

/// Down-sets are rows of bits in a table with open addressing. A node is safe if it leaves no more bytes live
/// and fits the peak allowed: it runs at once. So does a chain that reaches such a valley, found by depth
/// first search with few tries and undone by a trail.

#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/down_set_search.hpp>

// --- down set table --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::size_t down_set_table::bytes() const
{
    return bits_.size() * sizeof(word) + hash_.size() * sizeof(std::uint64_t) + buckets_.size() * sizeof(id);
}

SUBLET_DECL down_set_table::insertion down_set_table::find_or_insert(word const* set, std::uint64_t hash)
{
    std::size_t at = to_size(hash & (buckets_.size() - 1));
    for (; buckets_[at] != none; at = (at + 1) & (buckets_.size() - 1)) {
        id const other = buckets_[at];
        if (hash_[other] != hash) continue;
        std::size_t same = 0;
        while (same != words_ && (*this)[other][same] == set[same]) ++same;
        if (same == words_) return {other, false};
    }
    auto const number = static_cast<id>(hash_.size());
    buckets_[at] = number;
    hash_.push_back(hash);
    for (std::size_t i = 0; i != words_; ++i) bits_.push_back(set[i]);
    if (hash_.size() > buckets_.size() / 2) rehash();
    return {number, true};
}

SUBLET_DECL void down_set_table::rehash()
{
    buckets_ = std::vector<id>(buckets_.size() * 2, none);
    for (id number = 0; number != hash_.size(); ++number) {
        std::size_t at = to_size(hash_[number] & (buckets_.size() - 1));
        while (buckets_[at] != none) at = (at + 1) & (buckets_.size() - 1);
        buckets_[at] = number;
    }
}

// --- safe moves ------------------------------------------------------------------------------------------

SUBLET_DECL safe_moves::safe_moves(order_window const& w, deferral_graph const& d)
    : d_(d), walk_(w), ready_(bit_rows::words_for(w.graph.nodes()), 0)
{
    order_graph const& g = w.graph;
    auto const count = static_cast<std::uint32_t>(g.nodes());
    for (node_id n = 0; n != count; ++n) {
        waits_.push_back(static_cast<std::uint32_t>(d.before[n].size()));
        if (!d.is_deferred[n] && waits_[n] == 0) flip_ready(n);
    }
    bool is_first_special = w.untouched_input_bytes != 0;
    for (step_id s = 0; s != g.early.rows(); ++s)
        for (buffer_id b : g.early[s]) is_first_special = is_first_special || g.is_given[b];
    waits_for_first_ = w.is_at_start && is_first_special;

    // A node that defines a result must wait for the other nodes that can compute this result in place.
    auto const writers = csr_rows<buffer_id, node_id>::gathered(g.buffers(), [&](auto add) { // of each result
        for (node_id n = 0; n != count; ++n)
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
                for (overwrite_pair const& pair : g.pairs_of(s)) add(pair.out, n);
    });
    for (node_id n = 0; n != count; ++n) {
        auto add_writers = [&](buffer_id b) {
            for (node_id other : writers[b])
                if (other != n && !is_listed(g.before[n], other)) in_place_writers_.append(other);
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) add_writers(b);
            for (buffer_id b : g.early[s]) add_writers(b);
        }
        in_place_writers_.close_row();
    }
    for (node_id n = 0; n != count; ++n) {
        std::size_t node_work = 1 + d_.after[n].size();
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
            node_work += g.held[s].size() + g.early[s].size();
        node_work_.push_back(node_work);
    }
}

SUBLET_DECL void safe_moves::jump(word const* set, byte_count live_there)
{
    walk_.move_to(
        set, live_there, [this](node_id n) { mark_not_run(n); }, [this](node_id n) { mark_run(n); });
    trail_.clear();
    live_before_.clear();
}

SUBLET_DECL byte_count safe_moves::run(node_id n)
{
    byte_count most = 0;
    for (node_id deferred : d_.deferred[n])
        if (!walk_.has_run(deferred)) most = larger(most, run_alone(deferred));
    return larger(most, run_alone(n));
}

SUBLET_DECL void safe_moves::return_to(std::size_t length)
{
    while (trail_.size() != length) {
        node_id const n = trail_.back();
        walk_.step_back(n, live_before_.back());
        mark_not_run(n);
        trail_.pop_back();
        live_before_.pop_back();
    }
}

SUBLET_DECL void safe_moves::run_safe(byte_count allowed)
{
    refused_ = no_limit;
    if (waits_for_first_ && walk_.ran() == 0) return;
    do {
        run_safe_nodes(allowed);
        refused_ = no_limit;
    } while (run_safe_chain(allowed, 0));
}

SUBLET_DECL void safe_moves::run_safe_again(byte_count allowed, byte_count before, byte_count refused)
{
    if (refused <= allowed) return run_safe(allowed);
    refused_ = refused;
    if (waits_for_first_ && walk_.ran() == 0) return;
    if (run_safe_chain(allowed, before)) run_safe(allowed);
}

SUBLET_DECL void safe_moves::mark_run(node_id n)
{
    if (d_.is_deferred[n]) return;
    if (waits_[n] == 0) flip_ready(n);
    for (node_id next : d_.after[n])
        if (--waits_[next] == 0 && !walk_.has_run(next)) flip_ready(next);
}

SUBLET_DECL void safe_moves::mark_not_run(node_id n)
{
    if (d_.is_deferred[n]) return;
    if (waits_[n] == 0) flip_ready(n);
    for (node_id next : d_.after[n])
        if (waits_[next]++ == 0 && !walk_.has_run(next)) flip_ready(next);
}

SUBLET_DECL byte_count safe_moves::run_alone(node_id n)
{
    live_before_.push_back(walk_.live());
    trail_.push_back(n);
    work_ += node_work_[n];
    byte_count const most = walk_.run(n).most;
    mark_run(n);
    return most;
}

SUBLET_DECL bool safe_moves::blocks_in_place(node_id n) const
{
    auto any = [this](node_id node) {
        for (node_id other : in_place_writers_[node])
            if (!walk_.has_run(other)) return true;
        return false;
    };
    for (node_id deferred : d_.deferred[n])
        if (any(deferred)) return true;
    return any(n);
}

SUBLET_DECL void safe_moves::run_safe_nodes(byte_count allowed)
{
    for (bool again = true; again;) {
        again = false;
        candidates_.clear();
        for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
        for (node_id n : candidates_) {
            byte_count const live = walk_.live();
            std::size_t const length = trail_.size();
            if (blocks_in_place(n)) continue;
            if (run(n) <= allowed && walk_.live() <= live) again = true;
            else return_to(length);
        }
    }
}

SUBLET_DECL bool safe_moves::run_safe_chain(byte_count allowed, byte_count before)
{
    candidates_.clear();
    for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
    for (node_id first : candidates_) {
        if (blocks_in_place(first)) continue;
        byte_count const live = walk_.live();
        std::size_t const length = trail_.size();
        byte_count const most = run(first);
        if (most > before && most <= allowed && reaches_valley(first, length, allowed, live)) return true;
        return_to(length);
    }
    return false;
}

SUBLET_DECL bool safe_moves::reaches_valley(node_id first, std::size_t length, byte_count allowed,
                                            byte_count live)
{
    links_.clear();
    links_.push_back({first, length, 0});
    std::size_t tries = most_tries;
    for (bool fits = true; !links_.empty();) {
        if (fits && walk_.live() <= live) return true;
        link& end = links_.back();
        node_id next = no_node;
        if (fits && tries != 0 && links_.size() < most_links) {
            auto const after = d_.after[end.node];
            while (end.next != after.size() && next == no_node) {
                node_id const n = after[end.next++];
                if (waits_[n] == 0 && !blocks_in_place(n)) next = n;
            }
        }
        if (next == no_node) {
            return_to(end.begin);
            links_.pop_back();
            fits = true;
            continue;
        }
        --tries;
        links_.push_back({next, trail_.size(), 0});
        byte_count const most = run(next);
        fits = most <= allowed;
        if (!fits) refused_ = smaller(refused_, most);
    }
    return false;
}

} // namespace sublet::detail
