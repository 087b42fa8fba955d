// SPDX-License-Identifier: BSL-1.0

/// Buffers with clocks become buffers with positions, where a position stands for a set of buffers that
/// conflict with each other; the heaviest such set, found by a flow, is a bound.

#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/clocks.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/placement/internal/spacing.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace sublet::detail {

class clock_rows {
public:
    explicit clock_rows(placement_problem const& problem)
        : threads(problem.clocks.threads), begin_(problem.clocks.begin), end_(problem.clocks.end)
    {
        std::size_t const counters = problem.buffers.size() * threads;
        SUBLET_EXPECTS(begin_.size() == counters && end_.size() == counters,
                       "sublet: clocks need one begin and one end for each buffer and thread");
        for (std::size_t i = 0; i != counters; ++i)
            SUBLET_EXPECTS(begin_[i] <= end_[i], "sublet: a clock ends before it begins");
        SUBLET_EXPECTS(problem.gaps.empty() && problem.colocated.empty(),
                       "sublet: buffers with clocks have no gaps and no colocations");
    }

    std::span<std::uint32_t const> begin(buffer_id b) const { return row(begin_, b); }
    std::span<std::uint32_t const> end(buffer_id b) const { return row(end_, b); }
    /// Whether no counter of `low` is above that of `high`.
    bool is_below(std::span<std::uint32_t const> low, std::span<std::uint32_t const> high) const
    {
        for (std::size_t t = 0; t != threads; ++t)
            if (low[t] > high[t]) return false;
        return true;
    }
    /// v may take over the bytes of u.
    bool precedes(buffer_id u, buffer_id v) const { return is_below(end(u), begin(v)); }

    std::size_t const threads;

private:
    std::span<std::uint32_t const> row(std::vector<std::uint32_t> const& counters, buffer_id b) const
    {
        return {counters.data() + b * threads, threads};
    }
    std::vector<std::uint32_t> const& begin_;
    std::vector<std::uint32_t> const& end_;
};

/// The buffers that need bytes, each after all buffers with bytes that it may take over; those of equal
/// begins are adjacent.
SUBLET_DECL std::vector<buffer_id> order_by_begins(placement_problem const& problem, clock_rows const& clocks)
{
    std::vector<buffer_id> order;
    table<buffer_id, std::uint64_t> sum(problem.buffers.size(), 0);
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        if (problem.buffers[b].size == 0 || clocks.precedes(b, b)) continue;
        for (std::uint32_t counter : clocks.begin(b)) sum[b] += counter;
        order.push_back(b);
    }
    sort_by(order, [&](buffer_id a, buffer_id b) {
        if (sum[a] != sum[b]) return sum[a] < sum[b];
        auto const x = clocks.begin(a), y = clocks.begin(b);
        if (!clocks.is_below(x, y))
            return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
        return a < b; // equal: their sums are
    });
    return order;
}

/// The heaviest set of buffers of which none may take over the bytes of another: their weight less the most
/// bytes that can be taken over. Nodes of the flow are the ends 0 .. n - 1, the begins n .. 2 n - 1, a source
/// and a sink.
///
/// Source: Dinitz, "Algorithm for solution of a problem of maximum flow in networks with power estimation",
/// Soviet Mathematics Doklady 11, 1970.
class clock_antichain {
public:
    /// `order` is a part of order_by_begins().
    clock_antichain(placement_problem const& problem, clock_rows const& clocks,
                    std::vector<buffer_id> const& order)
        : order_(order), n_(static_cast<std::uint32_t>(order.size()))
    {
        for (std::uint32_t j = 0; j != n_; ++j) {
            byte_count const weight = problem.buffers[order[j]].size;
            add(source(), j, weight);
            add(n_ + j, sink(), weight);
            add(n_ + j, j, no_limit);
            latest_.clear(); // those before j that come before no other such
            for (std::uint32_t i = j; i-- != 0 && is_within_visits();) {
                if (!clocks.precedes(order[i], order[j])) continue;
                bool is_implied = false;
                for (std::size_t k = 0; k != latest_.size() && !is_implied; ++k, ++visits_)
                    is_implied = clocks.precedes(order[i], order[latest_[k]]);
                if (is_implied) continue;
                latest_.push_back(i);
                add(i, n_ + j, no_limit);
            }
            visits_ += j / 8;
        }
        first_.assign(std::size_t{2} * n_ + 3, 0);
        for (arc const& a : arcs_) ++first_[a.from + std::size_t{1}];
        for (std::size_t x = 1; x != first_.size(); ++x) first_[x] += first_[x - 1];
        leaving_.resize(arcs_.size());
        std::vector<std::uint32_t> next = first_;
        for (std::uint32_t a = 0; a != arcs_.size(); ++a) leaving_[next[arcs_[a].from]++] = a;
    }

    /// The members in order; none if that takes too many visits.
    std::vector<buffer_id> members()
    {
        while (is_within_visits() && find_levels()) augment();
        std::vector<buffer_id> result;
        for (std::uint32_t i = 0; i != n_ && is_within_visits(); ++i)
            if (level_[i] != 0 && level_[n_ + i] == 0) result.push_back(order_[i]);
        return result;
    }

private:
    struct arc {
        std::uint32_t from, to;
        byte_count room;
    };

    std::uint32_t source() const { return 2 * n_; }
    std::uint32_t sink() const { return 2 * n_ + 1; }
    bool is_within_visits() const { return visits_ < max_antichain_visits; }
    /// Arc a ^ 1 is the reverse of arc a.
    void add(std::uint32_t from, std::uint32_t to, byte_count room)
    {
        arcs_.push_back({from, to, room});
        arcs_.push_back({to, from, 0});
    }

    /// Breadth-first numbers from the source, from 1 on; whether the sink is reached.
    bool find_levels()
    {
        level_.assign(std::size_t{2} * n_ + 2, 0);
        level_[source()] = 1;
        open_.assign(1, source());
        for (std::size_t i = 0; i != open_.size(); ++i)
            for (std::uint32_t k = first_[open_[i]]; k != first_[open_[i] + std::size_t{1}]; ++k, ++visits_) {
                arc const& a = arcs_[leaving_[k]];
                if (a.room == 0 || level_[a.to] != 0) continue;
                level_[a.to] = level_[open_[i]] + 1;
                open_.push_back(a.to);
            }
        return level_[sink()] != 0;
    }

    /// Moves bytes along paths of rising level until none is left.
    void augment()
    {
        next_ = first_;
        path_.clear();
        for (std::uint32_t x = source(); is_within_visits(); ++visits_) {
            if (x == sink()) {
                byte_count bytes = no_limit;
                for (std::uint32_t a : path_) bytes = smaller(bytes, arcs_[a].room);
                std::size_t kept = path_.size();
                for (std::size_t i = path_.size(); i-- != 0; ++visits_) {
                    arc& a = arcs_[path_[i]];
                    if (a.room != no_limit) a.room -= bytes;
                    if (arc& back = arcs_[path_[i] ^ 1]; back.room != no_limit) back.room += bytes;
                    if (a.room == 0) kept = i;
                }
                shorten(path_, kept);
                x = path_.empty() ? source() : arcs_[path_.back()].to;
                continue;
            }
            if (next_[x] == first_[x + std::size_t{1}]) {
                if (x == source()) return;
                x = arcs_[path_.back()].from;
                ++next_[x];
                path_.pop_back();
                continue;
            }
            std::uint32_t const a = leaving_[next_[x]];
            if (arcs_[a].room == 0 || level_[arcs_[a].to] != level_[x] + 1) {
                ++next_[x];
                continue;
            }
            path_.push_back(a);
            x = arcs_[a].to;
        }
    }

    std::vector<buffer_id> const& order_;
    std::uint32_t const n_;
    std::uint64_t visits_ = 0;
    std::vector<arc> arcs_;
    std::vector<std::uint32_t> first_, leaving_, next_; // first_: by node, and one more
    std::vector<std::uint32_t> level_, path_;
    std::vector<std::uint32_t> open_, latest_;
};

/// The counter of a thread at which most bytes of `members` are live.
SUBLET_DECL positioned_clocks::pool_peak
thread_peak(placement_problem const& problem, clock_rows const& clocks, std::vector<buffer_id> const& members)
{
    enum : unsigned { is_end, is_begin };
    positioned_clocks::pool_peak peak;
    std::vector<sort_key> events;
    for (std::uint32_t t = 0; t != clocks.threads; ++t) {
        events.clear();
        for (buffer_id b : members) {
            if (clocks.begin(b)[t] == clocks.end(b)[t]) continue;
            events.push_back({clocks.begin(b)[t], is_begin, b});
            events.push_back({clocks.end(b)[t], is_end, b});
        }
        sort_by_key(events);
        byte_count live = 0;
        for (sort_key const& e : events) {
            byte_count const size = problem.buffers[buffer_id{e.id}].size;
            live = e.tie == is_end ? live - size : checked_add(live, size);
            if (live > peak.bytes) peak = {live, t, static_cast<std::uint32_t>(e.key), false};
        }
    }
    return peak;
}

/// Buffers that conflict with each other.
struct conflicting_set {
    std::vector<buffer_id> members;
    std::vector<std::uint32_t> least_end, most_begin; // by thread

    void add(buffer_id b, clock_rows const& clocks)
    {
        least_end.resize(clocks.threads, ~std::uint32_t{0});
        most_begin.resize(clocks.threads, 0);
        for (std::size_t t = 0; t != clocks.threads; ++t) {
            least_end[t] = smaller(least_end[t], clocks.end(b)[t]);
            most_begin[t] = larger(most_begin[t], clocks.begin(b)[t]);
        }
        members.push_back(b);
    }
    bool accepts(buffer_id b, clock_rows const& clocks) const
    {
        if (clocks.is_below(least_end, clocks.begin(b)))
            for (buffer_id m : members)
                if (clocks.precedes(m, b)) return false;
        if (clocks.is_below(clocks.end(b), most_begin))
            for (buffer_id m : members)
                if (clocks.precedes(b, m)) return false;
        return true;
    }
};

SUBLET_DECL positioned_clocks positions_of_clocks(placement_problem const& problem)
{
    clock_rows const clocks(problem);
    positioned_clocks result{.problem = problem, .threads = problem.clocks.threads};
    table<buffer_id, placement_problem::buffer>& buffers = result.problem.buffers;
    result.problem.clocks = {};
    if (clocks.threads == 1) {
        for (buffer_id b = 0; b != buffers.size(); ++b)
            buffers[b].life = {clocks.begin(b)[0], clocks.end(b)[0]};
        return result;
    }
    for (placement_problem::buffer& b : buffers) b.life = {};
    std::vector<buffer_id> const order = order_by_begins(problem, clocks);
    std::size_t const n = order.size();

    // A class: buffers of equal begins, [first_of[c], first_of[c + 1]) of the order.
    std::vector<std::uint32_t> first_of; // by class
    table<buffer_id, position_id> class_of(buffers.size(), 0);
    for (std::uint32_t j = 0; j != n; ++j) {
        if (j == 0 || !clocks.is_below(clocks.begin(order[j]), clocks.begin(order[j - 1])))
            first_of.push_back(j);
        class_of[order[j]] = position_id::of(first_of.size() - 1);
    }
    std::size_t const classes = first_of.size();
    first_of.push_back(static_cast<std::uint32_t>(n));

    placement_problem const apart = has_spacing(problem) ? spaced(problem) : placement_problem{};
    placement_problem const& own = has_spacing(problem) ? apart : problem;

    // The sets that are bounds are positions of the last class among their members.
    table<position_id, std::vector<conflicting_set>> bounds(classes);
    result.peaks.resize(pool_count(problem));
    table<pool_id, std::vector<buffer_id>> in_pool(result.peaks.size());
    for (buffer_id b : order) in_pool[buffers[b].pool].push_back(b);
    for (pool_id pool = 0; pool != in_pool.size(); ++pool) {
        std::vector<buffer_id> const& members = in_pool[pool];
        positioned_clocks::pool_peak& peak = result.peaks[pool] = thread_peak(own, clocks, members);
        std::vector<buffer_id> heaviest;
        byte_count total = 0; // must fit 64 bits, for the flow
        for (buffer_id b : members) total = checked_add(total, own.buffers[b].size);
        if (members.size() <= max_antichain_buffers)
            heaviest = clock_antichain(own, clocks, members).members();
        peak.has_antichain = !heaviest.empty();
        peak.bytes = least_height(limits_of(problem, pool), peak.bytes);
        if (heaviest.empty())
            for (buffer_id b : members)
                if (clocks.begin(b)[peak.thread] <= peak.counter && peak.counter < clocks.end(b)[peak.thread])
                    heaviest.push_back(b);
        if (heaviest.empty()) continue;
        std::vector<conflicting_set>& sets = bounds[class_of[heaviest.back()]];
        sets.emplace_back();
        for (buffer_id b : heaviest) sets.back().add(b, clocks);
    }

    // By thread, the least counter of the begins from class c on: what ends below is over.
    std::vector<std::uint32_t> least((classes + 1) * clocks.threads, ~std::uint32_t{0});
    for (std::size_t c = classes; c-- != 0;)
        for (std::size_t t = 0; t != clocks.threads; ++t)
            least[c * clocks.threads + t] =
                smaller(least[(c + 1) * clocks.threads + t], clocks.begin(order[first_of[c]])[t]);

    auto expect_few = [](std::uint64_t entries) {
        SUBLET_EXPECTS(entries <= most_clock_entries,
                       "sublet: too many buffers with clocks conflict: their sets have more than % entries",
                       most_clock_entries);
    };
    std::uint64_t least_entries = n; // a class has a set with each buffer before it that it conflicts with
    result.begin = class_of;
    std::vector<std::uint32_t> first{0};
    std::vector<live_range> ranges;
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        live_range conflicting{class_of[b], class_of[b] + 1};
        for (position_id c = conflicting.last; c < classes; ++c) {
            if (c == conflicting.last &&
                clocks.is_below(clocks.end(b), {&least[c * clocks.threads], clocks.threads}))
                break;
            if (clocks.precedes(b, order[first_of[c]])) continue;
            if (c != conflicting.last) ranges.push_back(std::exchange(conflicting, {c, c}));
            ++conflicting.last;
            ++least_entries;
        }
        expect_few(least_entries);
        ranges.push_back(conflicting);
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    result.conflicts = {buffer_range_lists::source::from_liveness, static_cast<std::uint32_t>(classes),
                        std::move(first), std::move(ranges)};

    std::vector<buffer_id> alive;
    std::uint64_t entries = 0;
    for (std::size_t c = 0; c != classes; ++c) {
        std::span<buffer_id const> const incoming{order.data() + first_of[c], order.data() + first_of[c + 1]};
        std::span<std::uint32_t const> const later{least.data() + c * clocks.threads, clocks.threads};
        std::vector<conflicting_set>& sets = bounds[c];
        std::size_t const known = sets.size(); // these may already have members of any class up to c
        std::size_t kept = 0;
        auto has = [&](std::size_t s, buffer_id b) {
            std::vector<buffer_id> const& in = sets[s].members;
            return s < known && std::find(in.begin(), in.end(), b) != in.end();
        };
        for (std::size_t s = 0; s != known; ++s)
            for (buffer_id b : incoming)
                if (!has(s, b)) sets[s].add(b, clocks);
        auto add_set = [&] {
            sets.emplace_back();
            for (buffer_id b : incoming) sets.back().add(b, clocks);
        };
        for (buffer_id a : alive) {
            if (clocks.is_below(clocks.end(a), later)) continue;
            alive[kept++] = a;
            if (clocks.precedes(a, incoming[0])) continue;
            std::size_t s = 0;
            while (s != sets.size() && !sets[s].accepts(a, clocks)) ++s;
            if (s == sets.size()) add_set();
            if (!has(s, a)) sets[s].add(a, clocks);
        }
        shorten(alive, kept);
        alive.insert(alive.end(), incoming.begin(), incoming.end());
        if (sets.empty()) add_set();
        for (conflicting_set& s : sets) {
            entries += s.members.size();
            expect_few(entries);
            auto const position = position_id::of(result.at.size());
            for (buffer_id m : s.members) {
                live_range& life = buffers[m].life;
                if (life.last == 0) life.first = position;
                else if (life.last != position)
                    result.problem.gaps.push_back({m, {life.last, position}, 0, 0});
                life.last = position + 1;
            }
            result.at.push_back(std::move(s.members));
        }
        std::vector<conflicting_set>().swap(sets);
    }
    return result;
}

/// Placement by positions takes a visit for each piece: with very many, placement by conflicts is better.
inline constexpr std::size_t many_clock_gaps = 100'000;

SUBLET_DECL pack_options positioned_clocks::budgets(pack_options options) const
{
    if (threads != 1 && problem.gaps.size() > many_clock_gaps)
        options.visits /= 16, options.improve_visits /= 16;
    return options;
}

/// The begins of buffers, as place_concurrently() asks for them.
struct begin_rows {
    struct rows {
        table<buffer_id, position_id> const& at;
        std::span<position_id const> operator[](buffer_id b) const { return {at.data() + b, 1}; }
    };
    rows begins, ends;
    std::uint32_t positions = 0;

    std::size_t buffers() const { return begins.at.size(); }
    position_id first(buffer_id b) const { return begins.at[b]; }
};

SUBLET_DECL void positioned_clocks::lower(placement& placed, placement::objective objective,
                                          std::uint64_t visits,
                                          table<buffer_id, unsigned char> const& fixed,
                                          search_control* control, std::uint64_t seed) const
{
    if (threads == 1) return;
    placement_problem now{.buffers = problem.buffers, .pools = problem.pools};
    place_concurrently_options how{.fallback = placed.offset, .visits = visits};
    bool is_open = false;
    for (pool_id p = 0; p != placed.pools.size(); ++p) {
        placement::pool_result const& pool = placed.pools[p];
        bool const can_be_lower =
            pool.status == placement::outcome::feasible || pool.status == placement::outcome::limit;
        pool_limits const its = limits_of(problem, p);
        bool const has_banks = its.bank != 1 && !problem.apart.empty();
        if (its.largest_block != no_limit || !its.reserved.empty() || its.page != 1 || has_banks) {
            how.bounds.push_back(no_limit); // no borders there, no ranges, no pages and no banks
            continue;
        }
        byte_count const goal =
            objective == placement::objective::fit ? limits_of(problem, p).capacity : pool.lower_bound;
        how.bounds.push_back(can_be_lower ? goal : no_limit);
        is_open = is_open || can_be_lower;
        if (pool.proof.kind == placement::proof::reason::live_bytes)
            for (buffer_id b : at[pool.proof.position])
                if ((placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b]) == p)
                    how.antichain.push_back(b);
    }
    if (!is_open) return;
    how.control = control;
    how.seed = seed;
    for (buffer_id b = 0; b != now.buffers.size(); ++b) {
        placement_problem::buffer& buffer = now.buffers[b];
        if (!placed.pool_of.empty()) buffer.pool = placed.pool_of[b];
        if (is_empty(buffer.life)) buffer.size = 0;
        if (!fixed.empty() && fixed[b] != 0) buffer.pinned = placed.offset[b];
    }
    placement const found =
        place_concurrently(now, begin_rows{{begin}, {begin}, conflicts.positions()}, conflicts, how);
    table<pool_id, unsigned char> is_lower;
    for (pool_id p = 0; p != placed.pools.size(); ++p) {
        placement::pool_result& pool = placed.pools[p];
        pool.packings += found.pools[p].packings;
        is_lower.push_back(how.bounds[p] != no_limit && found.pools[p].height < pool.height);
        if (is_lower[p] == 0) continue;
        byte_count const capacity = limits_of(problem, p).capacity;
        pool.height = found.pools[p].height;
        pool.status = status_of(pool.height, pool.lower_bound, capacity);
        if (objective == placement::objective::fit && pool.status == placement::outcome::feasible)
            pool.status = placement::outcome::optimal;
    }
    for (buffer_id b = 0; b != now.buffers.size(); ++b)
        if (is_lower[now.buffers[b].pool] != 0) placed.offset[b] = found.offset[b];
    set_overall_status(placed);
}

SUBLET_DECL void positioned_clocks::keep_lower(placement& placed, placement const& other,
                                               placement::objective objective) const
{
    table<pool_id, unsigned char> is_lower;
    for (pool_id p = 0; p != placed.pools.size(); ++p) {
        placement::pool_result& pool = placed.pools[p];
        placement::pool_result const& its = other.pools[p];
        is_lower.push_back(its.height < pool.height);
        pool.nodes += its.nodes;
        pool.packings += its.packings;
        if (its.lower_bound > pool.lower_bound) {
            pool.lower_bound = its.lower_bound;
            pool.proof = its.proof;
            pool.peak_position = its.peak_position;
        }
        if (is_lower[p] != 0) {
            pool.height = its.height;
            pool.blocks = its.blocks;
        }
        pool.status = status_of(pool.height, pool.lower_bound, limits_of(problem, p).capacity, objective);
    }
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        if (is_lower[problem.buffers[b].pool] != 0) placed.offset[b] = other.offset[b];
    set_overall_status(placed);
}

SUBLET_DECL void positioned_clocks::name_proofs(placement& placed,
                                                table<buffer_id, unsigned char> const& has_choice) const
{
    if (threads == 1) return;
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        placement::pool_result& out = placed.pools[pool];
        out.peak_position = 0;
        if (out.proof.kind != placement::proof::reason::live_bytes) continue;
        pool_limits const limits = limits_of(problem, pool);
        position_id const position = std::exchange(out.proof.position, position_id{0});
        for (bool is_forced : {false, true}) {
            out.proof.buffers.clear();
            byte_count bytes = 0;
            for (buffer_id b : at[position]) {
                pool_id const where = placed.pool_of.empty() ? problem.buffers[b].pool : placed.pool_of[b];
                if (where != pool || (is_forced && !has_choice.empty() && has_choice[b] != 0)) continue;
                out.proof.buffers.push_back(b);
                bytes += problem.buffers[b].size + limits.guard;
            }
            bytes = least_height(limits, bytes);
            if (bytes == out.proof.bytes) break;
        }
        out.proof.kind = placement::proof::reason::antichain;
        sort_ascending(out.proof.buffers);
        if (!placed.pool_of.empty() || peaks[pool].has_antichain || peaks[pool].bytes != out.proof.bytes)
            continue;
        out.proof = {placement::proof::reason::live_bytes,
                     out.proof.bytes,
                     peaks[pool].counter,
                     {},
                     peaks[pool].thread};
    }
}

} // namespace sublet::detail
