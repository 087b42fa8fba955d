// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/down_set_search.hpp>

// --- down set table --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::size_t down_set_table::bytes() const
{
    return bits_.size() * sizeof(word) + hash_.size() * sizeof(std::uint64_t) + ring_.size() * sizeof(id);
}

SUBLET_DECL down_set_table::place down_set_table::number_of(word const* set, std::uint64_t hash)
{
    std::size_t at = hash & (ring_.size() - 1);
    for (; ring_[at] != none; at = (at + 1) & (ring_.size() - 1)) {
        id const other = ring_[at];
        if (hash_[other] != hash) continue;
        std::size_t same = 0;
        while (same != words_ && (*this)[other][same] == set[same]) ++same;
        if (same == words_) return {other, false};
    }
    auto const number = static_cast<id>(hash_.size());
    ring_[at] = number;
    hash_.push_back(hash);
    for (std::size_t i = 0; i != words_; ++i) bits_.push_back(set[i]);
    if (hash_.size() > ring_.size() / 2) grow();
    return {number, true};
}

SUBLET_DECL void down_set_table::grow()
{
    ring_ = std::vector<id>(ring_.size() * 2, none);
    for (id number = 0; number != hash_.size(); ++number) {
        std::size_t at = hash_[number] & (ring_.size() - 1);
        while (ring_[at] != none) at = (at + 1) & (ring_.size() - 1);
        ring_[at] = number;
    }
}

// --- free moves ------------------------------------------------------------------------------------------

SUBLET_DECL free_moves::free_moves(order_window const& w, demand_graph const& d)
    : d_(d), walk_(w), ready_(bit_rows::words_for(w.graph.nodes()), 0)
{
    order_graph const& g = w.graph;
    auto const count = static_cast<node_id>(g.nodes());
    for (node_id n = 0; n != count; ++n) {
        waits_.push_back(static_cast<std::uint32_t>(d.before[n].size()));
        if (!d.on_demand[n] && waits_[n] == 0) turn_ready(n);
    }
    bool is_first_special = w.leave_at_first != 0;
    for (step_id s = 0; s != g.early.rows(); ++s)
        for (buffer_id b : g.early[s]) is_first_special = is_first_special || g.is_given[b];
    waits_for_first_ = w.is_at_start && is_first_special;

    // Whose results must not have been begun by whom.
    csr_rows const writers = csr_rows::gathered(g.buffers(), [&](auto add) { // over an operand, by buffer
        for (node_id n = 0; n != count; ++n)
            for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
                for (overwrite_pair const& pair : g.pairs_of(s)) add(pair.out, n);
    });
    for (node_id n = 0; n != count; ++n) {
        auto look = [&](buffer_id b) {
            for (node_id other : writers[b])
                if (other != n && !is_listed(g.before[n], other)) spoiled_.append(other);
        };
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s) {
            for (buffer_id b : g.held[s]) look(b);
            for (buffer_id b : g.early[s]) look(b);
        }
        spoiled_.close_row();
    }
    for (node_id n = 0; n != count; ++n) {
        std::size_t looks = 1 + d_.after[n].size();
        for (step_id s = g.steps[n].first; s != g.steps[n].last; ++s)
            looks += g.held[s].size() + g.early[s].size();
        looks_.push_back(looks);
    }
}

SUBLET_DECL void free_moves::jump(word const* set, byte_count live_there)
{
    walk_.move_to(
        set, live_there, [this](node_id n) { leave(n); }, [this](node_id n) { enter(n); });
    trail_.clear();
    lives_.clear();
}

SUBLET_DECL byte_count free_moves::run(node_id n)
{
    byte_count most = 0;
    for (node_id demanded : d_.demanded[n])
        if (!walk_.has_run(demanded)) most = larger(most, run_alone(demanded));
    return larger(most, run_alone(n));
}

SUBLET_DECL void free_moves::return_to(std::size_t length)
{
    while (trail_.size() != length) {
        node_id const n = trail_.back();
        walk_.take_back(n, lives_.back());
        leave(n);
        trail_.pop_back();
        lives_.pop_back();
    }
}

SUBLET_DECL void free_moves::run_free(byte_count allowed)
{
    refused_ = no_limit;
    if (waits_for_first_ && walk_.ran() == 0) return;
    do {
        run_free_nodes(allowed);
        refused_ = no_limit;
    } while (run_free_chain(allowed, 0));
}

SUBLET_DECL void free_moves::run_free_again(byte_count allowed, byte_count before, byte_count refused)
{
    if (refused <= allowed) return run_free(allowed);
    refused_ = refused;
    if (waits_for_first_ && walk_.ran() == 0) return;
    if (run_free_chain(allowed, before)) run_free(allowed);
}

SUBLET_DECL void free_moves::enter(node_id n) // it has run
{
    if (d_.on_demand[n]) return;
    if (waits_[n] == 0) turn_ready(n);
    for (node_id next : d_.after[n])
        if (--waits_[next] == 0 && !walk_.has_run(next)) turn_ready(next);
}

SUBLET_DECL void free_moves::leave(node_id n) // it has not
{
    if (d_.on_demand[n]) return;
    if (waits_[n] == 0) turn_ready(n);
    for (node_id next : d_.after[n])
        if (waits_[next]++ == 0 && !walk_.has_run(next)) turn_ready(next);
}

SUBLET_DECL byte_count free_moves::run_alone(node_id n)
{
    lives_.push_back(walk_.live());
    trail_.push_back(n);
    work_ += looks_[n];
    byte_count const most = walk_.run(n).most;
    enter(n);
    return most;
}

SUBLET_DECL bool free_moves::spoils(node_id n) const
{
    auto any = [this](node_id node) {
        for (node_id other : spoiled_[node])
            if (!walk_.has_run(other)) return true;
        return false;
    };
    for (node_id demanded : d_.demanded[n])
        if (any(demanded)) return true;
    return any(n);
}

SUBLET_DECL void free_moves::run_free_nodes(byte_count allowed)
{
    for (bool again = true; again;) {
        again = false;
        candidates_.clear();
        for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
        for (node_id n : candidates_) {
            byte_count const live = walk_.live();
            std::size_t const length = trail_.size();
            if (spoils(n)) continue;
            if (run(n) <= allowed && walk_.live() <= live) again = true;
            else return_to(length);
        }
    }
}

SUBLET_DECL bool free_moves::run_free_chain(byte_count allowed, byte_count before)
{
    candidates_.clear();
    for_each_ready([&](node_id n) { return candidates_.push_back(n), true; });
    for (node_id first : candidates_) {
        if (spoils(first)) continue;
        byte_count const live = walk_.live();
        std::size_t const length = trail_.size();
        byte_count const most = run(first);
        if (most > before && most <= allowed && goes_down(first, length, allowed, live)) return true;
        return_to(length);
    }
    return false;
}

SUBLET_DECL bool free_moves::goes_down(node_id first, std::size_t length, byte_count allowed, byte_count live)
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
                if (waits_[n] == 0 && !spoils(n)) next = n;
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
