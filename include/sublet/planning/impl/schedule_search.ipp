// SPDX-License-Identifier: BSL-1.0

/// For each number of workers, reference and rank: without caps, then by bisection the lowest cap that keeps
/// the makespan; for a curve, caps that grow by equal factors.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/schedule_search.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

SUBLET_DECL void capped_curve::offer(capped_schedule schedule)
{
    if (!schedule.is_found) return;
    std::size_t const at = partition_point(
        points_.size(), [&](std::size_t i) { return points_[i].makespan >= schedule.makespan; });
    if (at != 0 && points_[at - 1].bytes <= schedule.bytes) return;
    if (at != points_.size() && points_[at].makespan == schedule.makespan &&
        points_[at].bytes <= schedule.bytes)
        return;
    std::size_t end = at;
    while (end != points_.size() && points_[end].bytes >= schedule.bytes) ++end;
    if (end == at) {
        points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(at), std::move(schedule));
    } else {
        points_[at] = std::move(schedule);
        points_.erase(points_.begin() + static_cast<std::ptrdiff_t>(at + 1),
                      points_.begin() + static_cast<std::ptrdiff_t>(end));
    }
}

SUBLET_DECL capped_schedule const* capped_curve::within_time(std::uint64_t longest) const
{
    std::size_t const at =
        partition_point(points_.size(), [&](std::size_t i) { return points_[i].makespan > longest; });
    return at == 0 ? nullptr : &points_[at - 1];
}

SUBLET_DECL capped_schedule const* capped_curve::within_bytes(byte_count most) const
{
    std::size_t const at =
        partition_point(points_.size(), [&](std::size_t i) { return points_[i].bytes <= most; });
    return at == points_.size() ? nullptr : &points_[at];
}

SUBLET_DECL bool is_within(capped_schedule const& schedule, schedule_caps const& caps)
{
    bool fits = schedule.bytes <= caps.all;
    for (pool_id pool = 0; pool != caps.of.size() && pool != schedule.of_pool.size(); ++pool)
        fits = fits && schedule.of_pool[pool] <= caps.of[pool];
    return fits;
}

/// Ranks between the reference order, at 0, and the longest path ahead, at 4.
SUBLET_DECL table<step_id, std::uint64_t> mixed_rank(schedule_problem const& problem,
                                                     std::vector<step_id> const& reference, unsigned share)
{
    table<step_id, std::uint64_t> rank(problem.steps(), 0);
    if (share == 0) return rank;
    std::uint64_t longest = 1;
    for (std::uint64_t path : problem.path_ahead) longest = larger(longest, path);
    if (share == 4) {
        for (step_id s = 0; s != problem.steps(); ++s) rank[s] = longest - problem.path_ahead[s];
        return rank;
    }
    // Both as parts of 2^20.
    for (std::size_t i = 0; i != reference.size(); ++i) {
        step_id const s = reference[i];
        std::uint64_t const behind = longest - problem.path_ahead[s];
        auto const path = static_cast<std::uint64_t>(static_cast<double>(behind) /
                                                     static_cast<double>(longest) * double(1 << 20));
        rank[s] = path * share + (std::uint64_t{i} << 20) / reference.size() * (4 - share);
    }
    return rank;
}

/// Schedules for one number of workers, reference and rank.
class schedule_attempts {
public:
    schedule_attempts(schedule_problem const& problem, schedule_wish const& wish, capped_curve& curve)
        : problem_(problem), wish_(wish), curve_(curve), left_(wish.work)
    {
        byte_count all = 0;
        for (byte_count size : problem.size) all = all > no_size - size ? no_size : all + size;
        has_caps_ = all >> 63 == 0;
    }
    /// Sums of bytes are so small that schedules can be made under caps.
    [[nodiscard]] bool has_caps() const { return has_caps_; }
    [[nodiscard]] bool has_work() const { return left_ >= problem_.steps(); }

    capped_schedule make(std::vector<step_id> const& reference, std::size_t workers,
                         table<step_id, std::uint64_t> const& rank, byte_count cap)
    {
        schedule_caps caps = wish_.caps;
        caps.all = smaller(caps.all, cap);
        capped_schedule found = schedule_within(problem_, reference, workers, rank, kept(caps));
        if (!is_within(found, caps)) found.is_found = false;
        left_ -= smaller(left_, std::uint64_t{problem_.steps()});
        curve_.offer(found);
        return found;
    }

    /// What a reference order needs in sequence.
    [[nodiscard]] byte_count least(std::vector<step_id> const& reference) const
    {
        table<step_id, std::uint64_t> const equal(problem_.steps(), 0);
        return schedule_within(problem_, reference, 1, equal, kept(wish_.caps)).bytes;
    }

    /// The lowest cap that keeps the makespan, to about a hundredth.
    void lower_cap(std::vector<step_id> const& reference, std::size_t workers,
                   table<step_id, std::uint64_t> const& rank, byte_count least, byte_count most,
                   std::uint64_t longest)
    {
        for (byte_count cap = least; has_work() && cap < most;) {
            capped_schedule const found = make(reference, workers, rank, cap);
            if (found.is_found && found.makespan <= longest) most = smaller(cap, found.bytes);
            else least = cap;
            if (most <= least || most - least <= larger(byte_count{1}, most / 128)) break;
            cap = least + (most - least) / 2;
        }
    }

private:
    [[nodiscard]] schedule_caps kept(schedule_caps caps) const
    {
        return has_caps_ ? std::move(caps) : schedule_caps{};
    }

    schedule_problem const& problem_;
    schedule_wish const& wish_;
    capped_curve& curve_;
    std::uint64_t left_;
    bool has_caps_;
};

SUBLET_DECL void search_schedules(schedule_problem const& problem,
                                  std::vector<std::vector<step_id>> const& references,
                                  schedule_wish const& wish, capped_curve& curve)
{
    schedule_attempts attempts(problem, wish, curve);
    std::size_t const most_workers = smaller(wish.workers, larger(problem.steps(), std::size_t{1}));
    std::uint64_t longest = wish.longest;
    bool is_first = true;
    auto is_settled = [&] {
        capped_schedule const* const best =
            wish.wanted == schedule_wish::goal::time ? curve.within_time(longest) : nullptr;
        return best != nullptr && best->bytes <= wish.floor;
    };
    for (std::size_t workers = most_workers; workers != 0 && !is_settled();
         workers = fewer_workers(workers)) {
        struct attempt {
            std::size_t reference;
            table<step_id, std::uint64_t> rank;
            byte_count least; ///< that the reference order needs in sequence
            byte_count most;  ///< of this schedule without a cap
            std::uint64_t makespan;
        };
        std::vector<attempt> made;
        for (std::size_t r = 0; r != references.size(); ++r) {
            byte_count least = no_limit;
            for (unsigned share : {0u, 4u, 2u, 1u}) {
                if (!attempts.has_work() && !(is_first && share % 4 == 0)) break;
                attempt next{r, mixed_rank(problem, references[r], share), least, 0, 0};
                if (share == 0) next.least = least = attempts.least(references[r]);
                capped_schedule const found = attempts.make(references[r], workers, next.rank, no_limit);
                next.most = found.bytes;
                next.makespan = found.makespan;
                if (found.is_found) made.push_back(std::move(next));
            }
        }
        if (is_first && wish.wanted == schedule_wish::goal::time && longest == 0 && !curve.points().empty())
            longest = curve.points().front().makespan;
        is_first = false;
        if (!attempts.has_caps()) continue;
        for (attempt const& a : made) {
            if (is_settled()) return;
            if (wish.wanted == schedule_wish::goal::curve) {
                double factor = 1;
                for (int i = 0; i != 16 && attempts.has_work(); ++i) {
                    double const cap = static_cast<double>(a.least) * factor;
                    if (cap >= static_cast<double>(a.most)) break;
                    attempts.make(references[a.reference], workers, a.rank,
                                  larger(a.least, static_cast<byte_count>(cap)));
                    factor *= 1.2;
                }
            }
            if (wish.wanted == schedule_wish::goal::bytes) continue;
            std::uint64_t const within = wish.wanted == schedule_wish::goal::time ? longest : a.makespan;
            capped_schedule const* const best = curve.within_time(within);
            // The caps that are tried do not depend on what was found before, with other workers.
            if (a.makespan <= within && (best == nullptr || a.least < best->bytes))
                attempts.lower_cap(references[a.reference], workers, a.rank, a.least, a.most, within);
        }
    }
}

} // namespace sublet::detail
