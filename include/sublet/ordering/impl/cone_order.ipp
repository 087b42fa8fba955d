// SPDX-License-Identifier: BSL-1.0

/// A cone is found by a walk against the edges, which lists it in an order in which it can run; it is run for
/// a trial and taken back. A small cone that is chosen runs move by move, the one first that leaves the
/// fewest bytes live.

#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/cone_order.hpp>

#include <utility>

namespace sublet::detail {

// --- cone schedule ---------------------------------------------------------------------------------------

SUBLET_DECL cone_schedule::cone_schedule(order_moves const& moves)
    : moves_(moves), walk_(moves), found_by_(moves.size(), 0), initial_(walk_.live())
{
}

SUBLET_DECL void cone_schedule::find_cone(buffer_id b)
{
    cone_.clear();
    ++search_;
    for (move_id end : moves_.enders[b]) {
        path_.assign(1, end);
        while (!path_.empty()) {
            move_id const m = path_.back();
            ++work_;
            if (walk_.has_run(m) || found_by_[m] == search_) {
                path_.pop_back();
                continue;
            }
            std::size_t const length = path_.size();
            for (move_id before : moves_.before[m])
                if (!walk_.has_run(before) && found_by_[before] != search_) path_.push_back(before);
            work_ += moves_.before[m].size();
            if (path_.size() != length) continue;
            found_by_[m] = search_;
            cone_.push_back(m);
            path_.pop_back();
        }
    }
}

SUBLET_DECL void cone_schedule::run_move(move_id m)
{
    most_ = larger(most_, walk_.effect_of(m).most);
    walk_.run(m);
    trail_.push_back(m);
    for (buffer_id b : moves_.begins[m])
        if (life_[b] == life::unborn) {
            life_[b] = life::live;
            live_.push_back(b);
        }
}

SUBLET_DECL void cone_schedule::run_cone()
{
    constexpr std::size_t most_chosen = 32; // each is chosen among all that are left
    if (best_cone_.size() > most_chosen) {
        for (move_id m : best_cone_) run_move(m);
        return;
    }
    while (!best_cone_.empty()) {
        std::size_t best = best_cone_.size();
        move_effect least{};
        for (std::size_t i = 0; i != best_cone_.size(); ++i) {
            bool can_run = true;
            for (move_id before : moves_.before[best_cone_[i]]) can_run = can_run && walk_.has_run(before);
            work_ += moves_.before[best_cone_[i]].size();
            if (!can_run) continue;
            move_effect const effect = walk_.effect_of(best_cone_[i]);
            if (best != best_cone_.size() &&
                std::pair(effect.live_after, effect.most) >= std::pair(least.live_after, least.most))
                continue;
            best = i;
            least = effect;
        }
        run_move(best_cone_[best]);
        best_cone_.erase(best_cone_.begin() + static_cast<std::ptrdiff_t>(best));
    }
}

SUBLET_DECL bool cone_schedule::consider(buffer_id b)
{
    find_cone(b);
    if (cone_.empty()) return false;
    byte_count const live = walk_.live();
    for (move_id m : cone_) walk_.run(m);
    byte_count const after = walk_.live();
    for (std::size_t i = cone_.size(); i-- != 0;) walk_.step_back(cone_[i], live);
    if (is_found_ && std::pair(after, cone_.size()) >= std::pair(best_live_, best_cone_.size())) return true;
    is_found_ = true;
    best_live_ = after;
    best_cone_.swap(cone_);
    return true;
}

SUBLET_DECL bool cone_schedule::run(std::span<move_id const> begin, buffer_id first, byte_count limit,
                                    std::uint64_t most_work)
{
    std::uint64_t const before = work(), end = before + smaller(most_work, no_limit - before);
    while (!trail_.empty()) {
        walk_.step_back(trail_.back(), initial_);
        trail_.pop_back();
    }
    most_ = 0;
    live_.clear();
    life_.assign(moves_.is_given.size(), life::unborn);
    for (buffer_id b = 0; b != life_.size(); ++b)
        if (moves_.is_given[b]) {
            life_[b] = life::live;
            live_.push_back(b);
        }
    work_ += life_.size();
    for (move_id m : begin) run_move(m);
    if (first != no_buffer) {
        find_cone(first);
        best_cone_.swap(cone_);
        run_cone();
    }
    while (walk_.ran() != moves_.size()) {
        if (most_ > limit || work() > end) return false;
        is_found_ = false;
        std::size_t left = 0;
        for (buffer_id b : live_) {
            if (consider(b)) live_[left++] = b;
            else life_[b] = life::done;
            if (work() > end) return false;
        }
        live_.resize(left);
        for (buffer_id b = 0; b != life_.size() && !is_found_ && left == 0; ++b)
            if (life_[b] == life::unborn && !consider(b)) life_[b] = life::done;
        if (!is_found_) return run_rest(limit);
        run_cone();
    }
    return most_ <= limit;
}

SUBLET_DECL bool cone_schedule::run_rest(byte_count limit)
{
    for (move_id m = 0; m != moves_.size(); ++m) { // what is left touches nothing
        best_cone_.assign(1, m);
        while (!best_cone_.empty()) {
            move_id const last = best_cone_.back();
            std::size_t const length = best_cone_.size();
            if (!walk_.has_run(last))
                for (move_id before : moves_.before[last])
                    if (!walk_.has_run(before)) best_cone_.push_back(before);
            if (best_cone_.size() != length) continue;
            best_cone_.pop_back();
            if (!walk_.has_run(last)) run_move(last);
        }
    }
    return most_ <= limit;
}

// --- cone search -----------------------------------------------------------------------------------------

SUBLET_DECL cone_search::cone_search(order_graph const& g, order_moves const& from_start,
                                     order_moves const& from_end)
    : g_(g), moves_{&from_start, &from_end}, schedules_{cone_schedule(from_start), cone_schedule(from_end)},
      in_window_(g.nodes()), buffers_(from_start.is_given.size())
{
    for (node_id n = 0; n != g.nodes(); ++n) in_window_[from_start.window->nodes[n]] = n;
}

SUBLET_DECL std::uint64_t cone_search::below(std::uint64_t n)
{
    state_ ^= state_ << 13; // xorshift: Marsaglia, Journal of Statistical Software 2003
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 16) % n;
}

SUBLET_DECL void cone_search::offer(order_incumbent& incumbent, cone_schedule const& schedule,
                                    order_moves const& moves)
{
    std::vector<node_id> order = order_of(moves, schedule.trail());
    for (node_id& n : order) n = moves.window->nodes[n];
    work_ += g_.held.items();
    byte_count const peak = peak_of(g_, order);
    if (peak > peak_) return;
    peak_ = peak;
    current_ = order;
    incumbent.offer(std::move(order), node_order::method::improved);
}

SUBLET_DECL void cone_search::try_first_buffers(order_incumbent& incumbent, std::uint64_t end)
{
    for (; side_ != 2; ++side_, first_ = 0)
        for (; first_ != buffers_; ++first_) {
            if (incumbent.is_settled() || work() >= end) return;
            cone_schedule& schedule = schedules_[side_];
            std::uint64_t const left = end - work();
            if (schedule.run({}, first_, incumbent.best().peak - 1, left))
                offer(incumbent, schedule, *moves_[side_]);
        }
}

SUBLET_DECL void cone_search::try_again(order_incumbent& incumbent, std::uint64_t end)
{
    if (incumbent.best().peak < peak_) {
        peak_ = incumbent.best().peak;
        current_ = incumbent.best().order;
    }
    std::size_t const side = to_size(below(2));
    order_moves const& moves = *moves_[side];
    table<node_id, move_id> move_of(g_.nodes(), move_id::of(~std::uint32_t{0}));
    for (move_id m = 0; m != moves.size(); ++m) move_of[moves.nodes[m].back()] = m;
    std::vector<move_id> begin;
    std::size_t top = 0; // the moves before the peak
    byte_count most = 0;
    peak_walk walk(g_);
    std::vector<byte_count> most_at;
    for (node_id n : current_) most_at.push_back(walk.run(n));
    for (std::size_t i = 0; i != current_.size(); ++i) {
        std::size_t const at = side == 0 ? i : current_.size() - 1 - i;
        move_id const m = move_of[in_window_[current_[at]]];
        if (most_at[at] > most) {
            most = most_at[at];
            top = begin.size();
        }
        if (m != move_id::of(~std::uint32_t{0})) begin.push_back(m);
    }
    work_ += 2 * g_.held.items();
    constexpr int most_failed = 50; // then another place is as good
    for (int failed = 0; failed != most_failed && work() < end; ++failed) {
        std::size_t const kept = to_size(below(top + 1));
        auto const first = buffer_id::of(below(buffers_));
        cone_schedule& schedule = schedules_[side];
        if (!schedule.run(std::span(begin).first(kept), first, peak_, end - work())) continue;
        offer(incumbent, schedule, moves);
        if (below(8) == 0) search_windows(incumbent, end);
        return;
    }
}

SUBLET_DECL void cone_search::search_windows(order_incumbent& incumbent, std::uint64_t end)
{
    if (work() >= end) return;
    node_order found = incumbent.best();
    found.order = current_;
    order_incumbent windows(g_, std::move(found));
    improve_limits limits;
    limits.work = smaller(end - work(), std::uint64_t{1'000'000});
    limits.window_work = limits.work / 4;
    limits.rounds = 1;
    limits.schedules = {.schedules = 0, .floor = incumbent.best().lower_bound};
    work_ += improve_order(g_, windows, limits);
    incumbent.offer(windows.best().order, node_order::method::improved);
}

SUBLET_DECL std::uint64_t cone_search::improve(order_incumbent& incumbent, std::uint64_t most_work)
{
    std::uint64_t const before = work(), end = before + smaller(most_work, no_limit - before);
    try_first_buffers(incumbent, end);
    if (work() < end && !current_.empty()) search_windows(incumbent, end);
    while (!incumbent.is_settled() && work() < end && buffers_ != 0) try_again(incumbent, end);
    return work() - before;
}

} // namespace sublet::detail
