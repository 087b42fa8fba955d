// SPDX-License-Identifier: BSL-1.0

/// The path to the present set is a trail of moves, with a frame for each set where one of several was
/// chosen; the live bytes of the frames ascend, since a commit replaces all that do not. After a move, only
/// those are looked at that it changed: they became ready, or begin or end other bytes.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/ordering/detail/threshold_search.hpp>

#include <algorithm>
#include <bit>

namespace sublet::detail {

// --- refuted sets ----------------------------------------------------------------------------------------

SUBLET_DECL void refuted_sets::clear()
{
    bits_.clear();
    hash_.clear();
    buckets_.assign(64, none);
}

SUBLET_DECL bool refuted_sets::contains(word const* set, std::uint64_t hash) const
{
    std::size_t at = to_size(hash & (buckets_.size() - 1));
    for (; buckets_[at] != none; at = (at + 1) & (buckets_.size() - 1)) {
        std::uint32_t const other = buckets_[at];
        if (hash_[other] != hash) continue;
        std::size_t same = 0;
        while (same != words_ && bits_[other * words_ + same] == set[same]) ++same;
        if (same == words_) return true;
    }
    return false;
}

SUBLET_DECL void refuted_sets::put(std::uint32_t number)
{
    std::size_t at = to_size(hash_[number] & (buckets_.size() - 1));
    while (buckets_[at] != none) at = (at + 1) & (buckets_.size() - 1);
    buckets_[at] = number;
}

SUBLET_DECL void refuted_sets::insert(word const* set, std::uint64_t hash)
{
    hash_.push_back(hash);
    for (std::size_t i = 0; i != words_; ++i) bits_.push_back(set[i]);
    auto const count = static_cast<std::uint32_t>(hash_.size());
    if (count <= buckets_.size() / 2) {
        put(count - 1);
        return;
    }
    buckets_.assign(buckets_.size() * 2, none);
    for (std::uint32_t number = 0; number != count; ++number) put(number);
}

// --- threshold search ------------------------------------------------------------------------------------

SUBLET_DECL threshold_search::threshold_search(order_moves const& moves)
    : moves_(moves), walk_(moves), sets_(moves), refuted_(walk_.done().size()), place_(moves.size(), 0),
      ready_(walk_.done().size(), 0), is_changed_(moves.size(), 0)
{
    for (move_id m = 0; m != moves.size(); ++m) {
        waits_.push_back(static_cast<std::uint32_t>(moves.before[m].size()));
        if (waits_[m] == 0) flip_ready(m);
    }
}

SUBLET_DECL void threshold_search::mark_changed(move_id m)
{
    if (is_changed_[m]) return;
    is_changed_[m] = 1;
    changed_.push_back(m);
}

SUBLET_DECL void threshold_search::mark_all_ready_changed()
{
    work_ += ready_.size();
    for (std::size_t i = 0; i != ready_.size(); ++i)
        for (std::uint64_t rest = ready_[i]; rest != 0; rest &= rest - 1)
            mark_changed(move_id::of(i * 64 + static_cast<std::size_t>(std::countr_zero(rest))));
}

SUBLET_DECL void threshold_search::run(move_id m)
{
    place_[m] = static_cast<std::uint32_t>(trail_.size());
    trail_.push_back(m);
    live_before_.push_back(walk_.live());
    walk_.run(m, [this](move_id other) { mark_changed(other); });
    flip_ready(m);
    for (move_id next : moves_.after[m])
        if (--waits_[next] == 0) {
            flip_ready(next);
            mark_changed(next);
        }
    work_ += moves_.after[m].size();
}

SUBLET_DECL void threshold_search::return_to(std::size_t length)
{
    while (trail_.size() != length) {
        move_id const m = trail_.back();
        walk_.step_back(m, live_before_.back());
        for (move_id next : moves_.after[m])
            if (waits_[next]++ == 0) flip_ready(next);
        flip_ready(m);
        work_ += moves_.after[m].size();
        trail_.pop_back();
        live_before_.pop_back();
    }
}

SUBLET_DECL void threshold_search::run_safe_moves()
{
    large_.clear(); // safe, but above the threshold
    while (!changed_.empty()) {
        move_id const m = changed_.back();
        changed_.pop_back();
        is_changed_[m] = 0;
        ++work_;
        if (!is_ready(m)) continue;
        byte_count const live = walk_.live();
        move_effect const effect = walk_.effect_of(m);
        if (effect.live_after > live) continue;
        if (effect.most > threshold_) {
            large_.push_back(m);
            continue;
        }
        run(m);
        if (walk_.live() == live) continue;
        for (move_id other : large_) mark_changed(other);
        large_.clear();
    }
}

SUBLET_DECL void threshold_search::replace_by_least_set(std::size_t length)
{
    free_.assign(trail_.begin() + static_cast<std::ptrdiff_t>(length), trail_.end());
    if (free_.size() == 1) return; // there is no set between
    using place = least_live_sets::place;
    for (std::size_t i = 0; i != trail_.size(); ++i)
        sets_.put(trail_[i], i < length ? place::ran : place::free);
    auto const& is_in = sets_.least(free_);
    for (move_id m : trail_) sets_.put(m, place::never);
    work_ += trail_.size();
    std::size_t count = 0;
    for (unsigned char in : is_in) count += in;
    if (count == free_.size()) return;
    return_to(length);
    for (std::size_t i = 0; i != free_.size(); ++i)
        if (is_in[i]) run(free_[i]);
}

SUBLET_DECL void threshold_search::commit()
{
    // The first set of a program has bytes of its own: what follows it is not committed to.
    auto can_commit = [this](frame const& f) {
        return f.live >= walk_.live() && !(moves_.is_first_special && f.length == 0);
    };
    while (!frames_.empty() && can_commit(frames_.back())) {
        std::size_t first = frames_.size() - 1;
        while (first != 0 && can_commit(frames_[first - 1])) --first;
        replace_by_least_set(frames_[first].length);
        children_.resize(frames_[first].children);
        frames_.resize(first);
        mark_all_ready_changed();
        run_safe_moves();
    }
}

SUBLET_DECL void threshold_search::enter()
{
    frame f{trail_.size(), walk_.live(), children_.size(), children_.size(), 0};
    work_ += ready_.size();
    for (std::size_t i = 0; i != ready_.size(); ++i)
        for (std::uint64_t rest = ready_[i]; rest != 0; rest &= rest - 1) {
            auto const m = move_id::of(i * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
            move_effect const effect = walk_.effect_of(m);
            if (effect.most > threshold_) least_refused_ = smaller(least_refused_, effect.most);
            else children_.push_back({m, effect.most, effect.live_after});
        }
    f.end = children_.size();
    auto const first = children_.begin() + static_cast<std::ptrdiff_t>(f.children);
    std::sort(first, children_.end(), [](child const& a, child const& b) {
        if (a.live_after != b.live_after) return a.live_after < b.live_after;
        return a.most != b.most ? a.most < b.most : a.move < b.move;
    });
    frames_.push_back(f);
}

SUBLET_DECL threshold_result threshold_search::search(byte_count threshold, std::uint64_t most_work,
                                                      std::size_t most_bytes)
{
    threshold_result result;
    return_to(0);
    refuted_.clear();
    frames_.clear();
    children_.clear();
    threshold_ = threshold;
    least_refused_ = no_limit;
    std::uint64_t const before = work();
    mark_all_ready_changed();
    run_safe_moves();
    while (true) {
        ++result.sets;
        commit();
        result.work = work() - before;
        if (walk_.ran() == moves_.size()) {
            result.how = threshold_result::outcome::found;
            result.order = order_of(moves_, trail_);
            return result;
        }
        work_ += walk_.done().size();
        if (!refuted_.contains(walk_.done().data(), walk_.hash())) enter();
        while (!frames_.empty() && frames_.back().next == frames_.back().end) {
            return_to(frames_.back().length);
            refuted_.insert(walk_.done().data(), walk_.hash());
            children_.resize(frames_.back().children);
            frames_.pop_back();
        }
        if (frames_.empty()) {
            result.how = threshold_result::outcome::refuted;
            result.least_refused = least_refused_;
            return result;
        }
        if (result.work > most_work || refuted_.bytes() > most_bytes) return result;
        return_to(frames_.back().length);
        for (move_id m : changed_) is_changed_[m] = 0; // none, but for moves that were undone
        changed_.clear();
        run(children_[frames_.back().next++].move);
        run_safe_moves();
    }
}

} // namespace sublet::detail
