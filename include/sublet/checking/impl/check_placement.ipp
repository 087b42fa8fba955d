// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_PLACEMENT_IPP
#define SUBLET_CHECKING_IMPL_CHECK_PLACEMENT_IPP

#include <sublet/checking/allowed_pools.hpp>
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/solid_parts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/plan_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class placement_opponent {
public:
    placement_opponent(placement_problem const& problem, placement const& placed,
                       placement_question const& question)
        : problem_(problem), placed_(placed), question_(question), solid_(solid_parts_of(problem)),
          buffers_(static_cast<buffer_id>(problem.buffers.size()))
    {
    }

    std::optional<placement_fault> first_fault()
    {
        if (placed_.offset.size() != buffers_) return placement_fault{misplacement::foreign};
        if (!placed_.pool_of.empty() && placed_.pool_of.size() != buffers_)
            return placement_fault{misplacement::foreign};
        if (auto fact = wrong_pool()) return fact;
        if (auto fact = misplaced()) return fact;
        if (auto fact = torn()) return fact;
        if (auto fact = clash()) return fact;
        if (auto fact = wrong_height()) return fact;
        return wrong_claim();
    }

private:
    pool_id pool_of(buffer_id b) const
    {
        return placed_.pool_of.empty() ? problem_.buffers[b].pool : placed_.pool_of[b];
    }
    bool is_placed(buffer_id b) const { return placed_.offset[b] != no_offset; }
    pool_limits limits(std::size_t pool) const
    {
        return pool < problem_.pools.size() ? problem_.pools[pool] : pool_limits{};
    }

    /// Each is where its storage is, in one of the pools that this may be in.
    std::optional<placement_fault> wrong_pool()
    {
        allowed_pools const allowed = allowed_pools_of(problem_, solid_.root);
        for (buffer_id b = 0; b != buffers_; ++b) {
            buffer_id const root = solid_.root[b];
            placement_fault fact{misplacement::wrong_pool, b};
            fact.pool = pool_of(b);
            if (fact.pool >= placed_.pools.size()) return placement_fault{misplacement::foreign};
            if (fact.pool != pool_of(root)) return fact;
            if (b != root) continue;
            byte_count const cost = allowed.cost(b, fact.pool);
            if (cost == no_limit) return fact;
            cost_ = checked_add(cost_, cost);
            least_cost_ = checked_add(least_cost_, allowed.least_cost(b));
        }
        return std::nullopt;
    }

    std::optional<placement_fault> misplaced() const
    {
        std::vector<unsigned char> is_used(placed_.pools.size(), 0);
        for (buffer_id b = 0; b != buffers_; ++b)
            if (solid_.needs_place[b] && is_placed(b)) is_used[pool_of(b)] = 1;
        for (buffer_id b = 0; b != buffers_; ++b) {
            placement_buffer const& buffer = problem_.buffers[b];
            placement_fault fact{.buffer = b, .begin = placed_.offset[b], .pool = pool_of(b)};
            auto refuse = [&fact](misplacement what, byte_count needed) {
                fact.what = what;
                fact.needed = needed;
                return fact;
            };
            if (!solid_.needs_place[b]) {
                if (is_placed(b)) return refuse(misplacement::needless, 0);
                continue;
            }
            if (!is_placed(b)) {
                placement_status const status = placed_.pools[fact.pool].status;
                bool const is_filled =
                    status == placement_status::optimal || status == placement_status::feasible;
                if (is_filled || is_used[fact.pool]) return refuse(misplacement::unplaced, 0);
                continue;
            }
            for (byte_count a : {buffer.alignment, limits(fact.pool).alignment})
                if (fact.begin % a != 0) return refuse(misplacement::misaligned, a);
            if (buffer.pinned != no_offset && buffer.pinned != fact.begin)
                return refuse(misplacement::off_pin, buffer.pinned);
            if (!sum_fits(fact.begin, buffer.size)) {
                fact.end = no_offset;
                return refuse(misplacement::wrong_height, placed_.pools[fact.pool].height);
            }
        }
        return std::nullopt;
    }

    /// Whether each lies above its root's lowest as far as the ties say.
    std::optional<placement_fault> torn() const
    {
        std::vector<buffer_id> first(buffers_, no_buffer); // by root: of those that are placed
        for (buffer_id b = 0; b != buffers_; ++b) {
            if (!solid_.needs_place[b] || !is_placed(b)) continue;
            buffer_id& other = first[solid_.root[b]];
            if (other == no_buffer) other = b;
            byte_count const should = placed_.offset[other] + solid_.above[b] - solid_.above[other];
            if (placed_.offset[b] != should || solid_.contradicts[solid_.root[b]])
                return placement_fault{.what = misplacement::torn,
                                       .buffer = b,
                                       .other = other,
                                       .begin = placed_.offset[b],
                                       .needed = should,
                                       .pool = pool_of(b)};
        }
        return std::nullopt;
    }

    std::optional<placement_fault> clash() const
    {
        std::vector<keyed> births, deaths, by_place;
        std::vector<solid_part> const& parts = solid_.parts;
        auto begin = [&](solid_part const& p) {
            return placed_.offset[p.buffer] - solid_.above[p.buffer] + p.begin;
        };
        for (std::size_t i = 0; i != parts.size(); ++i) {
            if (!is_placed(parts[i].buffer)) continue;
            auto const who = static_cast<std::uint32_t>(i);
            births.push_back({parts[i].when.first, 0, who});
            deaths.push_back({parts[i].when.last, 0, who});
            by_place.push_back({pool_of(parts[i].buffer), begin(parts[i]), who});
        }
        sort_keyed(births);
        sort_keyed(deaths);
        sort_keyed(by_place);
        std::vector<std::uint32_t> rank(parts.size());
        for (std::size_t r = 0; r != by_place.size(); ++r)
            rank[by_place[r].who] = static_cast<std::uint32_t>(r);

        rank_set living(by_place.size());
        auto dead = deaths.begin();
        for (keyed const& birth : births) {
            for (; dead->key <= birth.key; ++dead) living.erase(rank[dead->who]);
            solid_part const& born = parts[birth.who];
            std::uint32_t const at = rank[birth.who];
            for (std::uint32_t next : {living.below(at), living.above(at)}) {
                if (next == living.none || by_place[next].key != by_place[at].key) continue;
                solid_part const& other = parts[by_place[next].who];
                byte_count const from = larger(begin(born), begin(other));
                byte_count const to =
                    smaller(begin(born) + (born.end - born.begin), begin(other) + (other.end - other.begin));
                if (from < to)
                    return placement_fault{.what = misplacement::clash,
                                           .buffer = smaller(born.buffer, other.buffer),
                                           .other = larger(born.buffer, other.buffer),
                                           .position = born.when.first,
                                           .begin = from,
                                           .end = to,
                                           .pool = pool_of(born.buffer)};
            }
            living.insert(at);
        }
        return std::nullopt;
    }

    std::optional<placement_fault> wrong_height()
    {
        top_.assign(placed_.pools.size(), 0);
        is_nowhere_.assign(placed_.pools.size(), 0);
        for (buffer_id b = 0; b != buffers_; ++b) {
            if (!solid_.needs_place[b]) continue;
            pool_id const p = pool_of(b);
            if (is_placed(b)) top_[p] = larger(top_[p], placed_.offset[b] + problem_.buffers[b].size);
            else is_nowhere_[p] = 1;
        }
        for (std::size_t p = 0; p != top_.size(); ++p)
            if (!is_nowhere_[p] && top_[p] != placed_.pools[p].height)
                return placement_fault{.what = misplacement::wrong_height,
                                       .end = top_[p],
                                       .needed = placed_.pools[p].height,
                                       .pool = static_cast<pool_id>(p)};
        return std::nullopt;
    }

    placement_status true_status(std::size_t p) const
    {
        byte_count const capacity = limits(p).capacity, proved = placed_.pools[p].proof.bytes;
        if (!is_nowhere_[p] && top_[p] <= capacity)
            return top_[p] <= placed_.pools[p].lower_bound || question_.objective == placement_objective::fit
                       ? placement_status::optimal
                       : placement_status::feasible;
        return proved == no_limit || proved > capacity ? placement_status::infeasible
                                                       : placement_status::limit;
    }

    std::optional<placement_fault> wrong_claim() const
    {
        placement_fault fact{.needed = 0};
        auto refuse = [&fact](misplacement what, byte_count end, byte_count needed) {
            fact.what = what;
            fact.end = end;
            fact.needed = needed;
            return fact;
        };
        placement_status worst = placement_status::optimal;
        pool_id first = 0;
        for (std::size_t p = 0; p != top_.size(); ++p) {
            placed_pool const& pool = placed_.pools[p];
            fact.pool = static_cast<pool_id>(p);
            if (!is_nowhere_[p] && (pool.lower_bound > top_[p] || pool.proof.bytes > top_[p]))
                return refuse(misplacement::wrong_bound, top_[p], pool.lower_bound);
            if (pool.proof.bytes != no_limit && pool.proof.bytes != pool.lower_bound)
                return refuse(misplacement::wrong_bound, pool.proof.bytes, pool.lower_bound);
            if (pool.status != true_status(p)) return refuse(misplacement::wrong_status, 0, 0);
            if (pool.status <= worst) continue;
            worst = pool.status;
            first = fact.pool;
        }
        fact.pool = first;
        if (worst == placement_status::optimal && cost_ != least_cost_) worst = placement_status::feasible;
        if (placed_.status != worst || placed_.pool != first) return refuse(misplacement::wrong_status, 0, 0);
        fact.pool = 0;
        if (placed_.cost != cost_) return refuse(misplacement::wrong_cost, cost_, placed_.cost);
        if (placed_.cost_bound != least_cost_)
            return refuse(misplacement::wrong_cost, least_cost_, placed_.cost_bound);
        byte_count moved = 0;
        for (buffer_id b = 0; b != buffers_ && b != question_.previous.size(); ++b)
            if (is_placed(b) && question_.previous[b] != no_offset &&
                question_.previous[b] != placed_.offset[b])
                moved = checked_add(moved, problem_.buffers[b].size);
        if (placed_.moved_bytes != moved)
            return refuse(misplacement::wrong_movement, moved, placed_.moved_bytes);
        return std::nullopt;
    }

    placement_problem const& problem_;
    placement const& placed_;
    placement_question const& question_;
    solid_parts const solid_;
    buffer_id const buffers_;
    byte_count cost_ = 0, least_cost_ = 0;  // of the pools
    std::vector<byte_count> top_;           // by pool
    std::vector<unsigned char> is_nowhere_; // by pool
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<placement_fault>
check_placement(placement_problem const& problem, placement const& placed, placement_question const& question)
{
    return detail::placement_opponent(problem, placed, question).first_fault();
}

} // namespace sublet

#endif
