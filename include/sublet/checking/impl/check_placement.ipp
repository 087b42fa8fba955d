// SPDX-License-Identifier: BSL-1.0

/// One class, a function for each kind of fault, in the order in which faults are reported. Bytes are
/// compared by a sweep over positions with the active parts in a rank_set by offset, or with clocks by a
/// sweep over bytes; all else is arithmetic with what the placement says of itself.

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/detail/stackings.hpp>
#include <sublet/checking/detail/unordered_buffers.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>

#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet::detail {

class placement_checker {
public:
    placement_checker(placement_problem const& problem, placement const& placed,
                      placement::question const& question)
        : clocks_(problem.clocks), problem_(without_clocks(problem)), placed_(placed), question_(question),
          solid_(solid_parts_of(problem_)), buffers_(static_cast<std::uint32_t>(problem.buffers.size()))
    {
    }

    std::optional<counterexample> first_fault()
    {
        if (placed_.offset.size() != buffers_) return counterexample{fault::foreign_placement};
        if (!placed_.pool_of.empty() && placed_.pool_of.size() != buffers_)
            return counterexample{fault::foreign_placement};
        if (auto fact = wrong_pool()) return fact;
        if (auto fact = misplaced()) return fact;
        if (auto fact = not_colocated()) return fact;
        if (auto fact = in_reserved()) return fact;
        if (auto fact = clocks_.threads > 1 ? shared_bytes() : clash()) return fact;
        if (auto fact = not_apart()) return fact;
        if (auto fact = shared_page()) return fact;
        if (auto fact = shared_bank()) return fact;
        if (auto fact = wrong_height()) return fact;
        if (auto fact = wrong_blocks()) return fact;
        return find_false_claim();
    }

private:
    pool_id pool_of(buffer_id b) const
    {
        return placed_.pool_of.empty() ? problem_.buffers[b].pool : placed_.pool_of[b];
    }
    bool is_placed(buffer_id b) const { return placed_.offset[b] != no_offset; }
    pool_limits limits(pool_id pool) const
    {
        return pool < problem_.pools.size() ? problem_.pools[pool] : pool_limits{};
    }

    /// Every buffer is in the pool of its group, which the group may choose; sums the costs.
    std::optional<counterexample> wrong_pool()
    {
        allowed_pools const allowed = allowed_pools_of(problem_, solid_.root);
        for (buffer_id b = 0; b != buffers_; ++b) {
            buffer_id const root = solid_.root[b];
            counterexample::buffers fact{.buffer = b, .pool = pool_of(b)};
            if (fact.pool >= placed_.pools.size()) return counterexample{fault::foreign_placement};
            if (fact.pool != pool_of(root)) return counterexample{fault::wrong_pool, fact};
            if (b != root) continue;
            byte_count const cost = allowed.cost(b, fact.pool);
            if (cost == no_limit) return counterexample{fault::wrong_pool, fact};
            cost_ = checked_add(cost_, cost);
            least_cost_ = checked_add(least_cost_, allowed.least_cost(b));
        }
        return std::nullopt;
    }

    std::optional<counterexample> misplaced() const
    {
        table<pool_id, unsigned char> is_used(placed_.pools.size(), 0);
        for (buffer_id b = 0; b != buffers_; ++b)
            if (solid_.needs_place[b] && is_placed(b)) is_used[pool_of(b)] = 1;
        for (buffer_id b = 0; b != buffers_; ++b) {
            placement_problem::buffer const& buffer = problem_.buffers[b];
            counterexample::buffers fact{.buffer = b, .pool = pool_of(b), .begin = placed_.offset[b]};
            auto refuse = [&fact](fault what, byte_count needed) {
                fact.needed = needed;
                return counterexample{what, fact};
            };
            if (!solid_.needs_place[b]) {
                if (is_placed(b)) return refuse(fault::needless, 0);
                continue;
            }
            if (!is_placed(b)) {
                placement::outcome const status = placed_.pools[fact.pool].status;
                bool const is_filled =
                    status == placement::outcome::optimal || status == placement::outcome::feasible;
                if (is_filled || is_used[fact.pool]) return refuse(fault::unplaced, 0);
                continue;
            }
            for (byte_count a : {buffer.alignment, limits(fact.pool).alignment})
                if (fact.begin % a != 0) return refuse(fault::misaligned, a);
            if (buffer.pinned != no_offset && buffer.pinned != fact.begin)
                return refuse(fault::off_pin, buffer.pinned);
            if (!sum_fits(fact.begin, buffer.size)) {
                fact.end = no_offset;
                return refuse(fault::wrong_height, placed_.pools[fact.pool].height);
            }
        }
        return std::nullopt;
    }

    /// Every buffer lies at its colocation distance from the first placed buffer of its group.
    std::optional<counterexample> not_colocated() const
    {
        table<buffer_id, buffer_id> first(buffers_, no_buffer); // by root: of those that are placed
        for (buffer_id b = 0; b != buffers_; ++b) {
            if (!solid_.needs_place[b] || !is_placed(b)) continue;
            buffer_id& other = first[solid_.root[b]];
            if (other == no_buffer) other = b;
            byte_count const should = placed_.offset[other] + solid_.above[b] - solid_.above[other];
            if (placed_.offset[b] != should || solid_.is_inconsistent[solid_.root[b]])
                return counterexample{fault::not_colocated,
                                      counterexample::buffers{.buffer = b,
                                                              .other = other,
                                                              .pool = pool_of(b),
                                                              .begin = placed_.offset[b],
                                                              .needed = should}};
        }
        return std::nullopt;
    }

    /// The first solid part in a reserved range, or closer to one than the guard.
    std::optional<counterexample> in_reserved() const
    {
        for (solid_part const& part : solid_.parts) {
            if (!is_placed(part.buffer)) continue;
            pool_limits const its = limits(pool_of(part.buffer));
            byte_count const origin = placed_.offset[part.buffer] - solid_.above[part.buffer];
            for (auto const& range : its.reserved) {
                bool const is_apart = origin + part.begin >= checked_add(range.second, its.guard) ||
                                      checked_add(origin + part.end, its.guard) <= range.first;
                if (range.first < range.second && !is_apart)
                    return counterexample{fault::in_reserved,
                                          counterexample::buffers{.buffer = part.buffer,
                                                                  .pool = pool_of(part.buffer),
                                                                  .begin = range.first,
                                                                  .end = range.second,
                                                                  .needed = placed_.offset[part.buffer]}};
            }
        }
        return std::nullopt;
    }

    /// Two buffers of a pool, of which one begins at `from`, and one that begins below ends at `to`: if they
    /// share bytes, or are closer than the guard.
    std::optional<counterexample::buffers> near(buffer_id a, buffer_id b, byte_count from,
                                                byte_count to) const
    {
        pool_id const pool = pool_of(a);
        if (from >= to && from - to >= limits(pool).guard) return std::nullopt;
        return counterexample::buffers{.buffer = smaller(a, b),
                                       .other = larger(a, b),
                                       .pool = pool,
                                       .begin = smaller(from, to),
                                       .end = larger(from, to)};
    }

    std::optional<counterexample> clash() const
    {
        std::vector<sort_key> range_starts, range_ends, by_place;
        std::vector<solid_part> const& parts = solid_.parts;
        auto begin = [&](solid_part const& p) {
            return placed_.offset[p.buffer] - solid_.above[p.buffer] + p.begin;
        };
        for (std::size_t i = 0; i != parts.size(); ++i) {
            if (!is_placed(parts[i].buffer)) continue;
            auto const id = static_cast<std::uint32_t>(i);
            range_starts.push_back({parts[i].when.first, 0, id});
            range_ends.push_back({parts[i].when.last, 0, id});
            by_place.push_back({pool_of(parts[i].buffer), begin(parts[i]), id});
        }
        sort_by_key(range_starts);
        sort_by_key(range_ends);
        sort_by_key(by_place);
        std::vector<std::uint32_t> rank(parts.size());
        for (std::size_t r = 0; r != by_place.size(); ++r)
            rank[by_place[r].id] = static_cast<std::uint32_t>(r);

        rank_set active(by_place.size());
        auto next_end = range_ends.begin();
        for (sort_key const& starting : range_starts) {
            for (; next_end->key <= starting.key; ++next_end) active.erase(rank[next_end->id]);
            solid_part const& incoming = parts[starting.id];
            std::uint32_t const at = rank[starting.id];
            for (std::uint32_t next : {active.below(at), active.above(at)}) {
                if (next == active.none || by_place[next].key != by_place[at].key) continue;
                solid_part const& other = parts[by_place[next].id];
                byte_count const from = larger(begin(incoming), begin(other));
                byte_count const to = smaller(begin(incoming) + (incoming.end - incoming.begin),
                                              begin(other) + (other.end - other.begin));
                if (auto fact = near(incoming.buffer, other.buffer, from, to)) {
                    fact->position = incoming.when.first;
                    return counterexample{from < to ? fault::clash : fault::too_close, *fact};
                }
            }
            active.insert(at);
        }
        return std::nullopt;
    }

    /// Compares the clocks of all pairs of buffers that share bytes.
    std::optional<counterexample> shared_bytes() const
    {
        std::vector<sort_key> by_place;
        for (buffer_id b = 0; b != buffers_; ++b)
            if (is_placed(b)) by_place.push_back({pool_of(b), placed_.offset[b], b});
        sort_by_key(by_place);
        auto end = [this](buffer_id b) { return placed_.offset[b] + problem_.buffers[b].size; };
        std::vector<buffer_id> below; // those that reach the next one
        pool_id pool = 0;
        for (sort_key const& next : by_place) {
            if (next.key != pool) below.clear();
            pool = pool_id::of(next.key);
            std::size_t kept = 0;
            buffer_id const its = next.id;
            for (buffer_id other : below) {
                byte_count const to = smaller(end(other), end(its));
                auto const fact = near(other, its, next.tie, to);
                if (!fact) continue;
                below[kept++] = other;
                if (are_unordered(clocks_, other, its))
                    return counterexample{next.tie < to ? fault::clash : fault::too_close, *fact};
            }
            below.resize(kept);
            below.push_back(its);
        }
        return std::nullopt;
    }

    /// Adds up what each penalty costs; finds the first that forbids what the placement does.
    std::optional<counterexample> not_apart()
    {
        paid_.assign(placed_.pools.size(), 0);
        has_penalties_.assign(placed_.pools.size(), 0);
        for (placement_problem::penalty const& p : problem_.penalties) {
            for (buffer_id b : {p.buffer, p.other})
                SUBLET_EXPECTS(b < buffers_, "sublet: a penalty names buffer %, but there are only % buffers",
                               b, buffers_);
            pool_id const pool = pool_of(p.buffer);
            if (pool != pool_of(p.other)) continue;
            has_penalties_[pool] = 1;
            if (!is_placed(p.buffer) || !is_placed(p.other)) continue;
            byte_count const begin = larger(placed_.offset[p.buffer], placed_.offset[p.other]);
            byte_count const end = smaller(placed_.offset[p.buffer] + problem_.buffers[p.buffer].size,
                                           placed_.offset[p.other] + problem_.buffers[p.other].size);
            if (begin >= end) continue;
            if (p.cost == no_limit)
                return counterexample{
                    fault::not_apart,
                    counterexample::buffers{
                        .buffer = p.buffer, .other = p.other, .pool = pool, .begin = begin, .end = end}};
            paid_[pool] = checked_add(paid_[pool], p.cost);
        }
        return std::nullopt;
    }

    /// What pools say that they pay, and the bounds on that: none where nothing fits.
    std::optional<counterexample> wrong_penalty() const
    {
        byte_count paid = 0, bounds = 0;
        auto refuse = [](fault what, pool_id pool, byte_count is, byte_count said, byte_count begin = 0) {
            return counterexample{
                what, counterexample::buffers{.pool = pool, .begin = begin, .end = is, .needed = said}};
        };
        for (pool_id p = 0; p != top_.size(); ++p) {
            placement::pool_result const& pool = placed_.pools[p];
            bool const fits = !has_unplaced_[p] && top_[p] <= limits(p).capacity;
            if (pool.penalty != paid_[p]) return refuse(fault::wrong_penalty, p, paid_[p], pool.penalty);
            byte_count const most = fits ? paid_[p] : 0;
            if (pool.penalty_bound > most)
                return refuse(fault::wrong_penalty_bound, p, most, pool.penalty_bound);
            paid = checked_add(paid, pool.penalty);
            bounds = checked_add(bounds, pool.penalty_bound);
        }
        if (placed_.penalty != paid) return refuse(fault::wrong_penalty, 0, paid, placed_.penalty, no_offset);
        if (placed_.penalty_bound != bounds)
            return refuse(fault::wrong_penalty_bound, 0, bounds, placed_.penalty_bound, no_offset);
        return std::nullopt;
    }

    /// All pairs of solid parts of different kinds, in pools with pages.
    std::optional<counterexample> shared_page() const
    {
        std::vector<solid_part> parts;
        for (solid_part const& part : solid_.parts)
            if (is_placed(part.buffer) && limits(pool_of(part.buffer)).page > 1) parts.push_back(part);
        auto begin = [this](solid_part const& p) {
            return placed_.offset[p.buffer] - solid_.above[p.buffer] + p.begin;
        };
        auto conflict = [this](solid_part const& a, solid_part const& b) {
            return clocks_.threads > 1 ? are_unordered(clocks_, a.buffer, b.buffer)
                                       : overlaps(a.when, b.when);
        };
        for (solid_part const& a : parts)
            for (solid_part const& b : parts) {
                pool_id const pool = pool_of(a.buffer);
                bool const are_kinds = problem_.buffers[a.buffer].kind != problem_.buffers[b.buffer].kind;
                if (a.buffer >= b.buffer || pool != pool_of(b.buffer) || !are_kinds) continue;
                if (solid_.root[a.buffer] == solid_.root[b.buffer]) continue;
                byte_count const page = limits(pool).page;
                byte_count const first = larger(begin(a) / page, begin(b) / page);
                byte_count const last = smaller((begin(a) + (a.end - a.begin) - 1) / page,
                                                (begin(b) + (b.end - b.begin) - 1) / page);
                if (first > last || !conflict(a, b)) continue;
                bool const by_clocks = clocks_.threads > 1;
                return counterexample{
                    fault::shared_page,
                    counterexample::buffers{.buffer = a.buffer,
                                            .other = b.buffer,
                                            .position =
                                                by_clocks ? no_position : larger(a.when.first, b.when.first),
                                            .pool = pool,
                                            .begin = first * page,
                                            .end = (first + 1) * page}};
            }
        return std::nullopt;
    }

    /// The listed pairs, by what is solid of each buffer itself.
    std::optional<counterexample> shared_bank() const
    {
        if (problem_.apart.empty()) return std::nullopt;
        placement_problem alone = problem_;
        alone.colocated.clear();
        std::vector<solid_part> const parts = solid_parts_of(alone).parts;
        table<buffer_id, std::uint32_t> first(buffers_, 0), end(buffers_, 0);
        for (std::uint32_t i = 0; i != parts.size(); ++i) {
            buffer_id const b = parts[i].buffer;
            if (end[b] == 0) first[b] = i;
            end[b] = i + 1;
        }
        bool const by_clocks = clocks_.threads > 1;
        for (auto const& pair : problem_.apart) {
            SUBLET_EXPECTS(pair.first < buffers_ && pair.second < buffers_ && pair.first != pair.second,
                           "sublet: buffers % and % are kept apart, of % buffers", pair.first, pair.second,
                           buffers_);
            buffer_id const a = smaller(pair.first, pair.second), b = larger(pair.first, pair.second);
            SUBLET_EXPECTS(solid_.root[a] != solid_.root[b],
                           "sublet: buffers % and % are kept apart, and are colocated", a, b);
            if (!is_placed(a) || !is_placed(b) || pool_of(a) != pool_of(b)) continue;
            if (by_clocks && !are_unordered(clocks_, a, b)) continue;
            byte_count const bank = limits(pool_of(a)).bank;
            SUBLET_EXPECTS(bank != 0, "sublet: the banks of pool % have 0 bytes", pool_of(a));
            for (std::uint32_t i = first[a]; i != end[a]; ++i)
                for (std::uint32_t j = first[b]; j != end[b]; ++j) {
                    solid_part const &x = parts[i], &y = parts[j];
                    byte_count const at = placed_.offset[a], other = placed_.offset[b];
                    byte_count const from = larger((at + x.begin) / bank, (other + y.begin) / bank);
                    byte_count const last = smaller((at + x.end - 1) / bank, (other + y.end - 1) / bank);
                    if (from > last || !overlaps(x.when, y.when)) continue;
                    position_id const meet = larger(x.when.first, y.when.first);
                    return counterexample{fault::shared_bank,
                                          counterexample::buffers{.buffer = a,
                                                                  .other = b,
                                                                  .position = by_clocks ? no_position : meet,
                                                                  .pool = pool_of(a),
                                                                  .begin = from * bank,
                                                                  .end = (from + 1) * bank}};
                }
        }
        return std::nullopt;
    }

    std::optional<counterexample> wrong_height()
    {
        top_.assign(placed_.pools.size(), 0);
        has_unplaced_.assign(placed_.pools.size(), 0);
        for (buffer_id b = 0; b != buffers_; ++b) {
            if (!solid_.needs_place[b]) continue;
            pool_id const p = pool_of(b);
            if (is_placed(b)) top_[p] = larger(top_[p], placed_.offset[b] + problem_.buffers[b].size);
            else has_unplaced_[p] = 1;
        }
        for (pool_id p = 0; p != top_.size(); ++p)
            if (!has_unplaced_[p] && top_[p] != placed_.pools[p].height)
                return counterexample{
                    fault::wrong_height,
                    counterexample::buffers{.pool = p, .end = top_[p], .needed = placed_.pools[p].height}};
        return std::nullopt;
    }

    /// Blocks are in order, not too large, and hold each buffer and each solid part as a whole.
    std::optional<counterexample> wrong_blocks() const
    {
        for (pool_id p = 0; p != top_.size(); ++p) {
            std::vector<memory_plan::block> const& blocks = placed_.pools[p].blocks;
            byte_count const largest = limits(p).largest_block;
            byte_count end = 0;
            bool is_wrong = largest == no_limit && !blocks.empty();
            for (memory_plan::block const& b : blocks) {
                is_wrong = is_wrong || b.pool != p || b.begin < end || b.size > largest;
                end = b.begin + b.size;
            }
            if (largest != no_limit && !has_unplaced_[p]) is_wrong = is_wrong || end != top_[p];
            if (is_wrong)
                return counterexample{fault::wrong_blocks,
                                      counterexample::buffers{.pool = p, .needed = largest}};
        }
        auto crosses = [this](buffer_id b, byte_count begin,
                              byte_count end) -> std::optional<counterexample> {
            pool_id const p = pool_of(b);
            if (limits(p).largest_block == no_limit) return std::nullopt;
            std::vector<memory_plan::block> const& blocks = placed_.pools[p].blocks;
            std::size_t const after =
                partition_point(blocks.size(), [&](std::size_t i) { return blocks[i].begin > begin; });
            if (after != 0 && end <= blocks[after - 1].begin + blocks[after - 1].size) return std::nullopt;
            return counterexample{
                fault::crosses_block,
                counterexample::buffers{.buffer = b, .pool = p, .begin = begin, .end = end}};
        };
        for (buffer_id b = 0; b != buffers_; ++b)
            if (solid_.needs_place[b] && is_placed(b))
                if (auto fact = crosses(b, placed_.offset[b], placed_.offset[b] + problem_.buffers[b].size))
                    return fact;
        for (solid_part const& part : solid_.parts) {
            if (!is_placed(part.buffer)) continue;
            byte_count const origin = placed_.offset[part.buffer] - solid_.above[part.buffer];
            if (auto fact = crosses(part.buffer, origin + part.begin, origin + part.end)) return fact;
        }
        return std::nullopt;
    }

    /// What is to be the least of a pool that fits is proved.
    bool is_proved(pool_id p) const
    {
        if (has_penalties_[p] != 0) return placed_.pools[p].penalty_bound == paid_[p];
        return top_[p] <= placed_.pools[p].lower_bound || question_.objective == placement::objective::fit;
    }
    placement::outcome true_status(pool_id p) const
    {
        byte_count const capacity = limits(p).capacity, proved = placed_.pools[p].proof.bytes;
        if (!has_unplaced_[p] && top_[p] <= capacity)
            return is_proved(p) ? placement::outcome::optimal : placement::outcome::feasible;
        return proved == no_limit || proved > capacity ? placement::outcome::infeasible
                                                       : placement::outcome::limit;
    }

    std::optional<counterexample> find_false_claim() const
    {
        if (auto fact = wrong_penalty()) return fact;
        counterexample::buffers fact{};
        auto refuse = [&fact](fault what, byte_count end, byte_count needed) {
            fact.end = end;
            fact.needed = needed;
            return counterexample{what, fact};
        };
        placement::outcome worst = placement::outcome::optimal;
        pool_id first = 0;
        for (pool_id p = 0; p != top_.size(); ++p) {
            placement::pool_result const& pool = placed_.pools[p];
            fact.pool = p;
            if (!has_unplaced_[p] && (pool.lower_bound > top_[p] || pool.proof.bytes > top_[p]))
                return refuse(fault::wrong_bound, top_[p], pool.lower_bound);
            if (pool.proof.bytes != no_limit && pool.proof.bytes != pool.lower_bound)
                return refuse(fault::wrong_bound, pool.proof.bytes, pool.lower_bound);
            if (pool.status != true_status(p)) return refuse(fault::wrong_status, 0, 0);
            if (pool.status <= worst) continue;
            worst = pool.status;
            first = fact.pool;
        }
        fact.pool = first;
        if (worst == placement::outcome::optimal && cost_ != least_cost_)
            worst = placement::outcome::feasible;
        if (placed_.status != worst || placed_.pool != first) return refuse(fault::wrong_status, 0, 0);
        fact.pool = 0;
        if (placed_.cost != cost_) return refuse(fault::wrong_cost, cost_, placed_.cost);
        if (placed_.cost_bound != least_cost_)
            return refuse(fault::wrong_cost, least_cost_, placed_.cost_bound);
        byte_count moved = 0;
        for (buffer_id b = 0; b != buffers_ && b != question_.previous.size(); ++b)
            if (is_placed(b) && question_.previous[b] != no_offset &&
                question_.previous[b] != placed_.offset[b])
                moved = checked_add(moved, problem_.buffers[b].size);
        if (placed_.moved_bytes != moved) return refuse(fault::wrong_movement, moved, placed_.moved_bytes);
        return std::nullopt;
    }

    placement_problem::clock_table const& clocks_;
    placement_problem const problem_; // without clocks
    placement const& placed_;
    placement::question const& question_;
    solid_parts const solid_;
    std::uint32_t const buffers_;
    byte_count cost_ = 0, least_cost_ = 0; // of the pools
    table<pool_id, byte_count> paid_;
    table<pool_id, unsigned char> has_penalties_;
    table<pool_id, byte_count> top_;
    table<pool_id, unsigned char> has_unplaced_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_placement(placement_problem const& problem, placement const& placed,
                                    placement::question const& question)
{
    return detail::placement_checker(problem, placed, question).first_fault();
}

} // namespace sublet
