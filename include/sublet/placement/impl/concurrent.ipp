// SPDX-License-Identifier: BSL-1.0

/// Placed bytes are unions of intervals in the nodes of a segment tree over positions, of begins and of
/// ranges, so that the obstacles of a buffer are few sorted lists: each raises it in turn until none
/// overlaps. Local search moves a buffer that is too high before one that it conflicts with, and keeps
/// what is not higher.

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/concurrent.hpp>

#include <bit>

// --- conflicts -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL bool placement_conflicts::begins_in(buffer_id a, buffer_id b) const
{
    for (position_id at : begins(a))
        for (live_range r : ranges[b])
            if (contains(r, at)) return true;
    return false;
}

SUBLET_DECL bool placement_conflicts::are_intervals() const
{
    for (buffer_id b = 0; b != buffers(); ++b)
        if (begins(b).size() != 1 || ranges[b].size() != 1 || ranges[b].front().first != begins(b).front())
            return false;
    return true;
}

// --- placed by range -------------------------------------------------------------------------------------

SUBLET_DECL placed_by_range::placed_by_range(placement_conflicts const& conflicts)
    : conflicts_(&conflicts), tree_{conflicts.positions()}, use_(2 * tree_.leaves), unions_(4 * tree_.leaves)
{
    for (buffer_id b = 0; b != conflicts.buffers(); ++b)
        for_each_node_of_ranges(b, [this](std::size_t node) { use_[node] = is_queried; });
    for (std::size_t node = 2; node < use_.size(); ++node)
        if (use_[node / 2] != 0) use_[node] |= has_queried_ancestor;
}

SUBLET_DECL void placed_by_range::clear()
{
    visits_ = 0;
    step_cost_ = 1;
    unions_.assign(4 * tree_.leaves, {});
    intervals_.clear();
}

SUBLET_DECL void placed_by_range::insert(buffer_id b, byte_count begin, byte_count end)
{
    std::uint64_t steps = 16; // cost of a step, whatever is found
    for_each_node_of_ranges(
        b, [&](std::size_t node) { steps += intervals_.unite(unions_[2 * node], begin, end); });
    for_each_node_of_begins(
        b, [&](std::size_t node) { steps += intervals_.unite(unions_[2 * node + 1], begin, end); });
    visits_ += step_cost_ * steps;
    step_cost_ = 1 + smaller<std::uint64_t>(intervals_.size() >> 16, 15);
}

SUBLET_DECL bool placed_by_range::is_free(buffer_id b, byte_count begin, byte_count end) const
{
    bool is_free = true;
    for_each_conflicting_union(b, [&](byte_union s) {
        std::uint32_t at = s.lowest;
        while (at != none && intervals_[at].end <= begin) at = intervals_[at].above;
        if (at != none && intervals_[at].begin < end) is_free = false;
    });
    return is_free;
}

SUBLET_DECL byte_count placed_by_range::lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                                   byte_count ceiling, bool is_limited)
{
    if (size > ceiling) return no_offset;
    byte_count const highest = ceiling - size;
    begins_.clear();
    cursors_.clear();
    for_each_conflicting_union(b, [this](byte_union s) {
        begins_.push_back(intervals_[s.lowest].begin);
        cursors_.push_back(s.lowest);
    });
    std::size_t const n = cursors_.size();
    visits_ += step_cost_ * n;
    std::uint64_t const stop = is_limited ? visits_ + step_cost_ * (16 * n + 128) : ~std::uint64_t{0};

    // Each union in turn raises the buffer above what overlaps it, until none of them does.
    byte_count at = 0;
    byte_count* const begins = begins_.data();
    for (std::size_t i = 0, unchanged = 0; unchanged < n; i = i + 1 < n ? i + 1 : 0) {
        std::size_t const from = i, last = smaller(n, i + (n - unchanged));
        while (i != last && begins[i] >= at + size) ++i; // most do not overlap it
        unchanged += i - from;
        if (i == last) {
            --i;
            continue;
        }
        ++unchanged;
        std::uint32_t& number = cursors_[i];
        while (begins[i] < at + size) {
            interval const& next = intervals_[number];
            if (next.end > at) {
                bool const is_over_limit = visits_ >= stop;
                at = is_over_limit ? top(b) : next.end;
                if (alignment != 1) at = align_up(at, alignment);
                if (at > highest) return no_offset;
                if (is_over_limit) return at;
                unchanged = 1;
            }
            visits_ += step_cost_;
            number = next.above;
            begins[i] = number == none ? no_offset : intervals_[number].begin;
        }
    }
    return at;
}

SUBLET_DECL byte_count placed_by_range::top(buffer_id b)
{
    byte_count end = 0;
    for_each_conflicting_union(b, [&](byte_union s) {
        for (; intervals_[s.recent].above != none; visits_ += step_cost_)
            s.recent = intervals_[s.recent].above;
        end = larger(end, intervals_[s.recent].end);
    });
    return end;
}

// --- concurrent orders -----------------------------------------------------------------------------------

SUBLET_DECL table<buffer_id, byte_count> conflicting_bytes(placement_conflicts const& conflicts,
                                                           table<buffer_id, byte_count> const& size)
{
    // The bytes of buffers that begin before it, and of buffers with a range that contains it.
    table<position_id, byte_count> begun(std::size_t{conflicts.positions()} + 1, 0), covering = begun;
    for (buffer_id b = 0; b != size.size(); ++b) {
        for (position_id at : conflicts.begins(b)) begun[at] += size[b];
        for (live_range r : conflicts.ranges[b]) {
            covering[r.first] += size[b];
            covering[r.last] -= size[b];
        }
    }
    byte_count below = 0, inside = 0;
    for (position_id at = 0; at != begun.size(); ++at) {
        below += std::exchange(begun[at], below);
        covering[at] = inside += covering[at];
    }
    table<buffer_id, byte_count> sum(size.size(), 0);
    for (buffer_id b = 0; b != size.size(); ++b) {
        // A buffer that begins at the first begin of b has b in its ranges, and is counted there.
        position_id const behind = conflicts.begins(b).front() + 1;
        for (position_id at : conflicts.begins(b)) sum[b] += covering[at];
        for (live_range r : conflicts.ranges[b]) sum[b] += begun[r.last] - begun[larger(r.first, behind)];
    }
    return sum;
}

SUBLET_DECL order_keys keys_of(table<buffer_id, placement_problem::buffer> const& buffers,
                               placement_conflicts const& conflicts,
                               table<buffer_id, unsigned char> is_in_antichain)
{
    order_keys keys;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        keys.size.push_back(buffers[b].size);
        keys.last.push_back(conflicts.ranges[b].back().last);
    }
    keys.conflicting = conflicting_bytes(conflicts, keys.size);
    keys.is_in_antichain = std::move(is_in_antichain);
    return keys;
}

SUBLET_DECL std::vector<buffer_id> sorted_ids(std::vector<sort_key> entries)
{
    sort_by_key(entries);
    std::vector<buffer_id> order(entries.size());
    for (std::size_t i = 0; i != order.size(); ++i) order[i] = entries[i].id;
    return order;
}

SUBLET_DECL std::vector<buffer_id> order_by(concurrent_order which, order_keys const& keys)
{
    constexpr byte_count front = byte_count{1} << 63;
    // Products exceed 64 bits. Nonnegative floating-point numbers are ordered as their bits.
    auto product = [](byte_count a, byte_count b) {
        return std::bit_cast<byte_count>(static_cast<double>(a) * static_cast<double>(b));
    };
    std::vector<sort_key> entries;
    entries.reserve(keys.size.size());
    for (buffer_id i = 0; i != keys.size.size(); ++i) {
        byte_count const size = keys.size[i], conflicting = keys.conflicting[i];
        byte_count key = 0, tie = size;
        switch (which) {
        case concurrent_order::size_class:
            key = static_cast<unsigned>(std::bit_width(size));
            tie = 0;
            break;
        case concurrent_order::size:
            key = size;
            tie = conflicting;
            break;
        case concurrent_order::area: key = product(size, conflicting); break;
        case concurrent_order::peak:
            key = keys.is_in_antichain[i] != 0 ? front | conflicting / 2 : product(size, conflicting);
            break;
        case concurrent_order::last: key = keys.last[i]; break;
        case concurrent_order::begin: tie = 0; break;
        }
        entries.push_back({descending(key), descending(tie), i});
    }
    return sorted_ids(std::move(entries));
}

SUBLET_DECL std::vector<buffer_id> order_by_levels(table<buffer_id, byte_count> const& level,
                                                   order_keys const& keys)
{
    std::vector<sort_key> entries;
    entries.reserve(level.size());
    for (buffer_id i = 0; i != level.size(); ++i)
        entries.push_back({level[i], descending(keys.size[i]), i});
    return sorted_ids(std::move(entries));
}

// --- fit concurrently ------------------------------------------------------------------------------------

SUBLET_DECL packing fit_concurrently(table<buffer_id, placement_problem::buffer> const& buffers,
                                     std::vector<buffer_id> const& order, placed_by_range& placed,
                                     byte_count ceiling, std::uint64_t limit, std::uint64_t most)
{
    packing result;
    result.origin.assign(buffers.size(), no_offset);
    placed.clear();
    auto put = [&](buffer_id i, byte_count offset) {
        byte_count const end = offset + buffers[i].size;
        result.origin[i] = offset;
        result.height = larger(result.height, end);
        placed.insert(i, offset, end);
    };
    for (buffer_id i : order)
        if (buffers[i].pinned != no_offset) put(i, buffers[i].pinned);
    for (buffer_id i : order) {
        placement_problem::buffer const& b = buffers[i];
        if (b.pinned != no_offset) continue;
        bool const is_limited = placed.visits() >= limit;
        bool const is_over_limit = placed.visits() >= most;
        byte_count const at =
            is_over_limit ? no_offset : placed.lowest_gap(i, b.size, b.alignment, ceiling, is_limited);
        if (at == no_offset) {
            result.height = no_limit;
            break;
        }
        put(i, at);
    }
    result.visits = placed.visits();
    return result;
}

SUBLET_DECL void lower_by_reordering(table<buffer_id, placement_problem::buffer> const& buffers,
                                     placement_conflicts const& conflicts, placed_by_range& placed,
                                     byte_count bound, std::uint64_t visits, std::vector<buffer_id> order,
                                     packing& best, search_control* control, std::uint64_t seed)
{
    // xorshift: Marsaglia, Journal of Statistical Software 2003
    std::uint64_t state = 88172645463325252u + (seed << 20);
    auto random_below = [&state](std::size_t n) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return to_size((state >> 11) % n);
    };
    packing now = best;
    std::vector<std::uint32_t> too_high; // indexes into the order
    std::vector<buffer_id> next;
    std::size_t rounds = 16 * (order.size() + 16); // more rounds gain nothing for few buffers
    for (std::uint64_t spent = 0; best.height > bound && spent < visits && rounds != 0;
         rounds -= control == nullptr) {
        too_high.clear();
        for (std::uint32_t i = 1; i < order.size(); ++i)
            if (now.origin[order[i]] + buffers[order[i]].size > bound &&
                buffers[order[i]].pinned == no_offset)
                too_high.push_back(i);
        if (too_high.empty() || (control != nullptr && control->stop(best.height, bound, 0))) return;
        bool const is_any = control != nullptr && random_below(2) == 0;
        std::size_t at =
            is_any ? 1 + random_below(order.size() - 1) : too_high[random_below(too_high.size())];
        std::size_t to = random_below(at);
        buffer_id const id = order[at];
        for (int tries = 64; tries != 0 && !conflicts.conflict(order[to], id); --tries) to = random_below(at);
        next = order;
        for (; at != to; --at) next[at] = next[at - 1];
        next[to] = id;
        packing found = fit_concurrently(buffers, next, placed, now.height);
        spent += found.visits + order.size();
        if (found.height > now.height) continue;
        now = std::move(found);
        order.swap(next);
        if (now.height < best.height) best = now;
    }
}

} // namespace sublet::detail
