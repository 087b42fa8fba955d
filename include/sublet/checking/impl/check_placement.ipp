// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/detail/stackings.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

// --- check placement -------------------------------------------------------------------------------------

namespace sublet::detail {

/// Without clocks the same problem. Clocks of one thread become live ranges; with several threads all buffers
/// that need bytes live at position 0.
SUBLET_DECL placement_problem without_clocks(placement_problem problem)
{
    placement_problem::clock_table const clocks = std::exchange(problem.clocks, {});
    std::size_t const n = problem.buffers.size(), threads = clocks.threads;
    if (threads == 0) return problem;
    SUBLET_EXPECTS(clocks.begin.size() == n * threads && clocks.end.size() == n * threads,
                   "sublet: clocks need one begin and one end for each buffer and thread");
    SUBLET_EXPECTS(problem.gaps.empty() && problem.colocated.empty(),
                   "sublet: buffers with clocks have no gaps and no colocations");
    for (buffer_id b = 0; b != n; ++b) {
        bool is_empty = true;
        for (std::size_t i = b * threads; i != (b + 1) * threads; ++i) {
            SUBLET_EXPECTS(clocks.end[i] >= clocks.begin[i], "sublet: a clock ends before it begins");
            is_empty = is_empty && clocks.begin[i] == clocks.end[i];
        }
        problem.buffers[b].life = threads == 1 ? live_range{clocks.begin[b], clocks.end[b]}
                                               : live_range{0, is_empty ? 0u : 1u};
    }
    return problem;
}

/// Whether by clocks neither buffer may take over the bytes of the other.
SUBLET_DECL bool are_unordered(placement_problem::clock_table const& clocks, buffer_id one, buffer_id other)
{
    bool is_one_late = false, is_other_late = false; // one ends after a begin of the other
    std::size_t const i = std::size_t{one} * clocks.threads, j = std::size_t{other} * clocks.threads;
    for (std::size_t t = 0; t != clocks.threads; ++t) {
        is_one_late = is_one_late || clocks.end[i + t] > clocks.begin[j + t];
        is_other_late = is_other_late || clocks.end[j + t] > clocks.begin[i + t];
    }
    return is_one_late && is_other_late;
}

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
        if (auto fact = clocks_.threads > 1 ? shared_bytes() : clash()) return fact;
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
                if (from < to)
                    return counterexample{fault::clash, counterexample::buffers{
                                                            .buffer = smaller(incoming.buffer, other.buffer),
                                                            .other = larger(incoming.buffer, other.buffer),
                                                            .position = incoming.when.first,
                                                            .pool = pool_of(incoming.buffer),
                                                            .begin = from,
                                                            .end = to}};
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
                if (end(other) <= next.tie) continue;
                below[kept++] = other;
                if (are_unordered(clocks_, other, its))
                    return counterexample{fault::clash,
                                          counterexample::buffers{.buffer = smaller(other, its),
                                                                  .other = larger(other, its),
                                                                  .pool = pool,
                                                                  .begin = next.tie,
                                                                  .end = smaller(end(other), end(its))}};
            }
            below.resize(kept);
            below.push_back(its);
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

    placement::outcome true_status(pool_id p) const
    {
        byte_count const capacity = limits(p).capacity, proved = placed_.pools[p].proof.bytes;
        if (!has_unplaced_[p] && top_[p] <= capacity)
            return top_[p] <= placed_.pools[p].lower_bound || question_.objective == placement::objective::fit
                       ? placement::outcome::optimal
                       : placement::outcome::feasible;
        return proved == no_limit || proved > capacity ? placement::outcome::infeasible
                                                       : placement::outcome::limit;
    }

    std::optional<counterexample> find_false_claim() const
    {
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

// --- check proof -----------------------------------------------------------------------------------------

namespace sublet::detail {

class proof_checker {
public:
    proof_checker(placement_problem const& problem, placement const& placed, pool_id pool)
        : clocks_(problem.clocks), placed_(placed), pool_(pool), proof_(placed.pools[pool].proof),
          problem_(with_pairs(without_clocks(problem))),
          limits_(pool < problem.pools.size() ? problem.pools[pool] : pool_limits{}),
          solid_(solid_parts_of(problem_)), allowed_(allowed_pools_of(problem_, solid_.root))
    {
    }

    verdict find()
    {
        placement::outcome const status = placed_.pools[pool_].status;
        counts_all_ = status != placement::outcome::infeasible || problem_.choices.empty();
        verdict first = examine();
        bool const holds = first || first.error().what == fault::not_checkable;
        if (holds || status != placement::outcome::limit) return first;
        counts_all_ = false;
        return examine() ? verdict{} : first;
    }

private:
    enum class finding : std::uint8_t { proved, refuted, wrong_peak, not_checkable };
    static constexpr std::size_t max_groups = 8, max_stacked = 64;

    /// With clocks of several threads: each pair of buffers of the proof that conflicts lives together at a
    /// position of its own.
    placement_problem with_pairs(placement_problem problem) const
    {
        bool const is_needed = proof_.kind == placement::proof::reason::exhausted ||
                               proof_.kind == placement::proof::reason::pins_clash;
        if (clocks_.threads < 2 || !is_needed) return problem;
        std::vector<buffer_id> named;
        for (buffer_id b : proof_.buffers)
            if (b < problem.buffers.size() && !is_empty(problem.buffers[b].life)) named.push_back(b);
        sort_ascending(named);
        named.erase(std::unique(named.begin(), named.end()), named.end());
        auto const n = static_cast<std::uint32_t>(named.size());
        if (n > max_groups) return problem;
        for (std::uint32_t i = 0; i != n; ++i) {
            buffer_id const b = named[i];
            problem.buffers[b].life = {0, n * n};
            for (std::uint32_t j = 0; j != n; ++j)
                for (std::uint32_t k = 0; k != n; ++k) {
                    buffer_id const partner = named[i == j ? k : j];
                    position_id const at = j * n + k;
                    bool const is_own = i == j || i == k;
                    if (!is_own || (j != k && !are_unordered(clocks_, b, partner)))
                        problem.gaps.push_back({b, {at, at + 1}, 0, 0});
                }
        }
        return problem;
    }

    bool is_infeasibility() const
    {
        return proof_.kind == placement::proof::reason::pin_misaligned ||
               proof_.kind == placement::proof::reason::over_block ||
               proof_.kind == placement::proof::reason::pins_clash ||
               proof_.kind == placement::proof::reason::parts_clash;
    }
    verdict examine()
    {
        finding_ = finding::proved;
        found_ = 0;
        sum_live_bytes();
        if (proof_.kind == placement::proof::reason::given) {
            finding_ = finding::not_checkable;
        } else if (!has_needed_buffers() || !holds()) {
            finding_ = finding::refuted;
        } else if (finding_ == finding::proved && !is_infeasibility() &&
                   placed_.pools[pool_].peak_position != (clocks_.threads > 1 ? position_id{0} : peak_)) {
            finding_ = finding::wrong_peak;
            found_ = peak_;
        }
        auto refuse = [this](fault what, char const* text) {
            return counterexample{what, counterexample::proof{pool_, proof_.bytes, found_, text}};
        };
        switch (finding_) {
        case finding::proved: break;
        case finding::refuted: return refuse(fault::wrong_proof, why_refuted());
        case finding::wrong_peak: return refuse(fault::wrong_peak, "gives another peak than position %");
        case finding::not_checkable: return refuse(fault::not_checkable, "is beyond what can be checked");
        }
        return {};
    }
    char const* why_refuted() const
    {
        switch (proof_.kind) {
        case placement::proof::reason::live_bytes: return "is wrong: % are alive there";
        case placement::proof::reason::antichain:
            return "is wrong: its buffers are ordered, or have not as many bytes";
        case placement::proof::reason::top_of_pin: return "is wrong: its buffer may end at %";
        case placement::proof::reason::exhausted:
            return found_ == no_limit ? "is wrong: its buffers can interleave, which was not tried"
                                      : "is wrong: its buffers can be stacked within %";
        default: return "is wrong: there is no such contradiction";
        }
    }

    /// Whether b contributes to the bound: it is in the pool and, if only these count, can be in no other.
    bool counts(buffer_id b) const
    {
        return pool_of(b) == pool_ && (counts_all_ || is_forced_[solid_.root[b]] != 0);
    }
    /// By root, whether the group can lie by itself in at most one of the pools that it may choose.
    table<buffer_id, unsigned char> forced() const
    {
        table<buffer_id, unsigned char> is_forced(problem_.buffers.size(), 0);
        if (problem_.choices.empty()) return is_forced;
        using members_by_root = csr_rows<buffer_id, buffer_id>;
        members_by_root const members = members_by_root::gathered(is_forced.size(), [&](auto add) {
            for (buffer_id b = 0; b != solid_.root.size(); ++b)
                if (solid_.needs_place[b] != 0) add(solid_.root[b], b);
        });
        table<buffer_id, unsigned> possible(is_forced.size(), 0);
        for (sort_key const& candidate : allowed_.pools) {
            auto const root = buffer_id::of(candidate.key >> 32);
            auto const pool = pool_id::of(candidate.key);
            if (candidate.id != allowed_.constraint_count[root]) continue;
            rigid_group g;
            g.root = root;
            for (buffer_id b : members[root]) {
                placement_problem::buffer const& its = problem_.buffers[b];
                g.members.push_back(b);
                g.size = larger(g.size, static_cast<std::int64_t>(solid_.above[b] + its.size));
                if (its.pinned != no_offset)
                    g.pin = static_cast<std::int64_t>(its.pinned - solid_.above[b]);
            }
            pool_limits const limits = pool < problem_.pools.size() ? problem_.pools[pool] : pool_limits{};
            stacking_enumerator alone(problem_, solid_, limits);
            std::int64_t const at = alone.least_origin(g, 0);
            byte_count const most = smaller(limits.capacity, limits.largest_block);
            bool const is_possible = at != rigid_group::nowhere && solid_.is_inconsistent[root] == 0 &&
                                     static_cast<byte_count>(at + g.size) <= most;
            possible[root] += is_possible || alone.hit_limit();
        }
        for (buffer_id root = 0; root != is_forced.size(); ++root)
            is_forced[root] = possible[root] <= 1;
        return is_forced;
    }
    pool_id pool_of(buffer_id b) const
    {
        return placed_.pool_of.empty() ? problem_.buffers[b].pool : placed_.pool_of[b];
    }

    /// Whether the proof names enough buffers, all of this pool, that need a place.
    bool has_needed_buffers() const
    {
        std::size_t least = 0;
        if (proof_.kind == placement::proof::reason::top_of_pin ||
            proof_.kind == placement::proof::reason::over_block ||
            proof_.kind == placement::proof::reason::pin_misaligned)
            least = 1;
        if (proof_.kind == placement::proof::reason::pins_clash ||
            proof_.kind == placement::proof::reason::parts_clash)
            least = 2;
        if (proof_.buffers.size() < least) return false;
        bool const may_need_no_place =
            proof_.kind == placement::proof::reason::parts_clash; // colocated, without bytes
        for (buffer_id b : proof_.buffers) {
            if (b >= problem_.buffers.size() || !counts(b)) return false;
            if (!solid_.needs_place[b] && !may_need_no_place) return false;
        }
        return !is_infeasibility() || proof_.bytes == no_limit;
    }

    bool holds()
    {
        switch (proof_.kind) {
        case placement::proof::reason::nothing: return proof_.bytes == 0;
        case placement::proof::reason::live_bytes:
            found_ = clocks_.threads > 1 ? bytes_at_counter() : live_bytes_;
            return found_ == proof_.bytes;
        case placement::proof::reason::antichain: return is_antichain();
        case placement::proof::reason::top_of_pin: return check_top_of_pin();
        case placement::proof::reason::exhausted: return has_no_stacking();
        case placement::proof::reason::given: return true;
        case placement::proof::reason::over_block: return is_over_block();
        case placement::proof::reason::pin_misaligned: return is_misaligned(proof_.buffers[0]);
        case placement::proof::reason::pins_clash: return do_pins_clash();
        case placement::proof::reason::parts_clash:
            return are_incompatible(proof_.buffers[0], proof_.buffers[1]);
        }
        return false;
    }

    /// Sums the live bytes at the position of the proof, and finds the first peak.
    void sum_live_bytes()
    {
        enum : unsigned { is_end, is_begin };
        std::vector<sort_key> events;
        for (std::size_t i = 0; i != solid_.parts.size(); ++i) {
            solid_part const& p = solid_.parts[i];
            if (!counts(p.buffer)) continue;
            events.push_back({p.when.last, is_end, static_cast<std::uint32_t>(i)});
            events.push_back({p.when.first, is_begin, static_cast<std::uint32_t>(i)});
        }
        sort_by_key(events);
        byte_count live = 0, max_live = 0;
        live_bytes_ = 0;
        peak_ = 0;
        for (std::size_t i = 0; i != events.size(); ++i) {
            solid_part const& p = solid_.parts[events[i].id];
            live = events[i].tie == is_end ? live - (p.end - p.begin) : checked_add(live, p.end - p.begin);
            if (i + 1 != events.size() && events[i + 1].key == events[i].key) continue;
            if (events[i].key <= proof_.position) live_bytes_ = live;
            if (live <= max_live) continue;
            max_live = live;
            peak_ = position_id::of(events[i].key);
        }
    }

    byte_count bytes_at_counter() const
    {
        byte_count bytes = 0;
        std::size_t const threads = clocks_.threads;
        for (buffer_id b = 0; b != problem_.buffers.size() && proof_.thread < threads; ++b)
            if (std::size_t const i = b * threads + proof_.thread;
                counts(b) && clocks_.begin[i] <= proof_.position && proof_.position < clocks_.end[i])
                bytes = checked_add(bytes, problem_.buffers[b].size);
        return bytes;
    }
    bool is_antichain()
    {
        std::vector<buffer_id> const& all = proof_.buffers;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (clocks_.threads == 0) return false;
            found_ = checked_add(found_, problem_.buffers[all[i]].size);
            for (std::size_t j = 0; j != i; ++j)
                if (all[i] == all[j] || !are_unordered(clocks_, all[i], all[j])) return false;
        }
        return found_ == proof_.bytes;
    }

    /// Whether the group of the buffer is above the largest block at its pin, or its lowest origin.
    bool is_over_block()
    {
        rigid_group const g = enumerator_.group_of(solid_.root[proof_.buffers[0]]);
        std::int64_t const at = g.pin != rigid_group::nowhere ? g.pin : enumerator_.least_origin(g, 0);
        return at == rigid_group::nowhere || static_cast<byte_count>(at + g.size) > limits_.largest_block;
    }

    bool is_misaligned(buffer_id b) const
    {
        byte_count const pin = problem_.buffers[b].pinned;
        return pin != no_offset && (pin % problem_.buffers[b].alignment != 0 || pin % limits_.alignment != 0);
    }
    bool check_top_of_pin()
    {
        buffer_id const b = proof_.buffers[0];
        std::int64_t const origin = enumerator_.least_origin(enumerator_.group_of(solid_.root[b]), 0);
        if (enumerator_.hit_limit()) finding_ = finding::not_checkable;
        if (origin == rigid_group::nowhere) return enumerator_.hit_limit(); // else it has no place
        found_ = static_cast<byte_count>(origin) + solid_.above[b] + problem_.buffers[b].size;
        return found_ == proof_.bytes;
    }
    bool do_pins_clash() const
    {
        rigid_group const a = enumerator_.group_of(solid_.root[proof_.buffers[0]]);
        rigid_group const b = enumerator_.group_of(solid_.root[proof_.buffers[1]]);
        if (a.root == b.root || a.pin == rigid_group::nowhere || b.pin == rigid_group::nowhere) return false;
        bool is_overlap = false;
        for_coexisting_parts(a, b, [&](solid_part const& x, solid_part const& y) {
            auto at = [](std::int64_t pin, byte_count up) { return pin + static_cast<std::int64_t>(up); };
            is_overlap = is_overlap ||
                         (at(a.pin, x.begin) < at(b.pin, y.end) && at(b.pin, y.begin) < at(a.pin, x.end));
        });
        return is_overlap;
    }
    /// Whether two buffers of a group contradict each other by distances, pins or alignments.
    bool are_incompatible(buffer_id x, buffer_id y) const
    {
        if (x == y || solid_.root[x] != solid_.root[y]) return false;
        if (solid_.is_inconsistent[solid_.root[x]] != 0) return true;
        if (!solid_.needs_place[x] || !solid_.needs_place[y]) return false;
        std::int64_t const from_x = static_cast<std::int64_t>(solid_.above[y] - solid_.above[x]);
        auto forbids = [&](buffer_id pinned, buffer_id other, std::int64_t distance) {
            byte_count const pin = problem_.buffers[pinned].pinned;
            if (pin == no_offset) return false;
            std::int64_t const at = static_cast<std::int64_t>(pin) + distance;
            byte_count const other_pin = problem_.buffers[other].pinned;
            return at < 0 || (other_pin != no_offset && other_pin != static_cast<byte_count>(at)) ||
                   static_cast<byte_count>(at) % problem_.buffers[other].alignment != 0 ||
                   static_cast<byte_count>(at) % limits_.alignment != 0;
        };
        if (forbids(x, y, from_x) || forbids(y, x, -from_x)) return true;
        // The distance of a multiple of a and a multiple of b is a multiple of gcd(a, b).
        byte_count a = combine_alignment(problem_.buffers[x].alignment, limits_.alignment);
        byte_count b = combine_alignment(problem_.buffers[y].alignment, limits_.alignment);
        while (b != 0) {
            byte_count const remainder = a % b;
            a = b;
            b = remainder;
        }
        return static_cast<byte_count>(from_x < 0 ? -from_x : from_x) % a != 0;
    }

    /// Whether no stacking of the named groups is lower than the bound, and they cannot interleave.
    bool has_no_stacking()
    {
        std::vector<rigid_group> groups;
        for (buffer_id b : proof_.buffers) {
            bool is_new = true;
            for (rigid_group const& g : groups) is_new = is_new && g.root != solid_.root[b];
            if (is_new) groups.push_back(enumerator_.group_of(solid_.root[b]));
            if (groups.size() > max_stacked) break;
        }
        if (groups.size() > max_groups) return has_no_stack(groups);
        std::int64_t const lower = enumerator_.find_below(proof_.bytes, groups);
        found_ = static_cast<byte_count>(lower);
        if (lower != rigid_group::nowhere) return false;
        if (enumerator_.can_interleave(groups)) {
            found_ = no_limit;
            return false;
        }
        if (enumerator_.hit_limit()) finding_ = finding::not_checkable;
        return true;
    }
    /// Whether the groups cannot be stacked below the bound where all of them are solid; if that is nowhere,
    /// it is not checkable. False only if they are rectangles.
    bool has_no_stack(std::vector<rigid_group> const& groups)
    {
        finding_ = finding::not_checkable;
        if (groups.size() > max_stacked) return true;
        // with_pairs() adds positions for few buffers only: without them all seem to live together.
        for (std::size_t i = 0; i != groups.size() && clocks_.threads > 1; ++i)
            for (std::size_t j = 0; j != i; ++j)
                if (!are_unordered(clocks_, groups[i].root, groups[j].root)) return true;
        std::vector<position_id> common; // begins of the last group to begin, where all others are solid
        bool are_rectangles = true;
        for (rigid_group const& g : groups) {
            for (solid_part const& p : g.parts) {
                bool is_common = true;
                for (rigid_group const& other : groups)
                    is_common = is_common &&
                                std::any_of(other.parts.begin(), other.parts.end(), [&](solid_part const& q) {
                                    return contains(q.when, p.when.first);
                                });
                if (is_common) common.push_back(p.when.first);
            }
            are_rectangles = are_rectangles && g.parts.size() == 1 && g.parts[0].begin == 0 &&
                             static_cast<std::int64_t>(g.parts[0].end) == g.size;
        }
        sort_ascending(common);
        common.erase(std::unique(common.begin(), common.end()), common.end());
        for (position_id at : common) {
            std::int64_t const lower = enumerator_.find_below_at(at, proof_.bytes, groups);
            if (enumerator_.hit_limit()) break;
            if (lower == rigid_group::nowhere) {
                finding_ = finding::proved;
                return true;
            }
            if (are_rectangles) {
                found_ = static_cast<byte_count>(lower);
                return false;
            }
        }
        return true;
    }

    placement_problem::clock_table const& clocks_;
    placement const& placed_;
    pool_id const pool_;
    placement::proof const& proof_;
    placement_problem const problem_; // without clocks
    pool_limits const limits_;
    solid_parts const solid_;
    allowed_pools const allowed_;
    table<buffer_id, unsigned char> const is_forced_ = forced(); // by root
    bool counts_all_ = true; // false: only buffers with no other pool
    finding finding_ = finding::proved;
    byte_count found_ = 0;
    byte_count live_bytes_ = 0; // at the position of the proof
    position_id peak_ = 0;
    stacking_enumerator enumerator_{problem_, solid_, limits_};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_proof(placement_problem const& problem, placement const& placed, pool_id pool)
{
    SUBLET_EXPECTS(pool < placed.pools.size(),
                   "sublet: a proof is checked for pool %, but there are only % pools", pool,
                   placed.pools.size());
    return detail::proof_checker(problem, placed, pool).find();
}

} // namespace sublet

// --- check slots -----------------------------------------------------------------------------------------

namespace sublet::detail {

class slot_checker {
public:
    slot_checker(snapshot const& program, slot_plan const& plan)
        : program_(program), plan_(plan), is_given_(program.values(), 1),
          predecessors_(program.graph().transposed(program.nodes())), last_write_(program.nodes(), none),
          reaching_(program.nodes()), is_live_in_(program.nodes())
    {
    }

    std::optional<counterexample> first_fault()
    {
        if (is_foreign()) return counterexample{fault::foreign_plan};
        if (auto fact = unplaced()) return fact;
        auto const in_slot = collect_accesses();
        for (slot_id slot = 0; slot != plan_.slots; ++slot) {
            indices const accesses = in_slot[slot];
            if (!is_shared(accesses)) continue;
            propagate(accesses);
            if (auto fact = clash(accesses)) return fact;
            reset(accesses);
        }
        return std::nullopt;
    }

private:
    enum class slot_access_kind : std::uint8_t { is_given, reads_early, reads, writes, reads_at_end };
    struct slot_access {
        step_id step;
        slot_access_kind what;
        value_id value;
        node_id node;
        bool spans_step() const
        {
            return what == slot_access_kind::reads || what == slot_access_kind::writes;
        }
    };
    using indices = std::span<std::uint32_t const>;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    /// Up to two writes, of different values, that may be the last before this point.
    struct reaching_writes {
        std::uint32_t one = none;
        std::uint32_t another = none;
    };

    bool is_foreign() const
    {
        for (slot_id slot : plan_.slot_of)
            if (slot != no_slot && slot >= plan_.slots) return true;
        return plan_.slot_of.size() != program_.values();
    }

    /// The first write of a value without a slot; records the values that are written.
    std::optional<counterexample> unplaced()
    {
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                if (!t.defines()) continue;
                if (plan_.slot_of[t.value] == no_slot)
                    return counterexample{fault::without_slot,
                                          counterexample::slots{.value = t.value, .step = s}};
                is_given_[t.value] = 0;
            }
        return std::nullopt;
    }

    /// Lists all accesses in the order of the steps, and returns their indices by slot.
    csr_rows<slot_id, std::uint32_t> collect_accesses()
    {
        table<node_id, unsigned char> is_reached(program_.nodes(), 0);
        if (program_.nodes() != 0) open_.push_back(0);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            if (is_reached[n]) continue;
            is_reached[n] = 1;
            for (node_id s : program_.successors(n)) open_.push_back(s);
        }
        auto note = [this](value_id v, node_id n, step_id s, slot_access_kind what) {
            if (plan_.slot_of[v] != no_slot) accesses_.push_back({s, what, v, n});
        };
        auto read = [&](value_id v, node_id n, step_id s, slot_access_kind what) {
            note(v, n, s, what);
            if (!is_given_[v] || !is_reached[n]) return;
            is_given_[v] = 0; // recorded once
            note(v, 0, 0, slot_access_kind::is_given);
        };
        using reads_by_node = csr_rows<node_id, value_id>;
        auto const read_at_end = reads_by_node::gathered(program_.nodes(), [this](auto add) {
            for (edge_use u : program_.edge_uses()) add(u.pred, u.value);
        });
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const steps = program_.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s)
                for (touch t : program_.touches(s))
                    if (t.defines()) note(t.value, n, s, slot_access_kind::writes);
                    else
                        read(t.value, n, s,
                             t.kind == touch::access::use ? slot_access_kind::reads
                                                          : slot_access_kind::reads_early);
            for (value_id v : read_at_end[n]) read(v, n, steps.last - 1, slot_access_kind::reads_at_end);
        }
        SUBLET_EXPECTS(accesses_.size() < none, "sublet: more touches than 32-bit ids");
        return csr_rows<slot_id, std::uint32_t>::gathered(plan_.slots, [this](auto add) {
            for (std::uint32_t d = 0; d != accesses_.size(); ++d) add(plan_.slot_of[accesses_[d].value], d);
        });
    }

    bool is_shared(indices accesses) const
    {
        for (std::uint32_t d : accesses)
            if (accesses_[d].value != accesses_[accesses[0]].value) return true;
        return false;
    }

    /// Finds the nodes at the entry of which the slot is live: a read is reached before a write.
    void find_live_in(indices accesses)
    {
        auto mark_live_in = [this](node_id n) {
            if (is_live_in_[n]) return;
            is_live_in_[n] = 1;
            live_in_.push_back(n);
        };
        node_id node = no_node;
        for (std::uint32_t d : accesses) {
            if (accesses_[d].what == slot_access_kind::is_given || accesses_[d].node == node) continue;
            node = accesses_[d].node;
            if (accesses_[d].what != slot_access_kind::writes) mark_live_in(node); // its first access reads
        }
        for (std::size_t i = 0; i != live_in_.size(); ++i)
            for (node_id p : predecessors_[live_in_[i]])
                if (last_write_[p] == none) mark_live_in(p);
    }

    /// Propagates every write to the nodes that it reaches and where the slot is live.
    void propagate(indices accesses)
    {
        for (std::uint32_t d : accesses)
            if (accesses_[d].what == slot_access_kind::writes) last_write_[accesses_[d].node] = d;
        find_live_in(accesses);
        for (std::uint32_t d : accesses)
            if (accesses_[d].what == slot_access_kind::is_given) add_reaching(0, d);
            else if (last_write_[accesses_[d].node] == d)
                for (node_id s : program_.successors(accesses_[d].node)) add_reaching(s, d);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            for (node_id s : program_.successors(n)) {
                add_reaching(s, reaching_[n].one);
                if (reaching_[n].another != none) add_reaching(s, reaching_[n].another);
            }
        }
    }
    void add_reaching(node_id n, std::uint32_t write)
    {
        if (!is_live_in_[n]) return;
        reaching_writes& reaching = reaching_[n];
        if (reaching.one == none) {
            reaching.one = write;
        } else if (reaching.another == none && accesses_[reaching.one].value != accesses_[write].value) {
            reaching.another = write;
        } else {
            return;
        }
        if (last_write_[n] == none) open_.push_back(n);
    }

    std::optional<counterexample> clash(indices accesses) const
    {
        node_id node = no_node;
        reaching_writes here;
        slot_access const* last_spanning = nullptr; // the last that spans its step
        for (std::uint32_t d : accesses) {
            slot_access const& next_access = accesses_[d];
            if (next_access.what == slot_access_kind::is_given) continue;
            if (next_access.node != node) {
                node = next_access.node;
                here = reaching_[node];
            }
            if (next_access.spans_step()) {
                if (last_spanning != nullptr && last_spanning->step == next_access.step &&
                    last_spanning->value != next_access.value && !can_overwrite(*last_spanning, next_access))
                    return found(last_spanning->value, next_access, next_access);
                last_spanning = &next_access;
            }
            if (next_access.what == slot_access_kind::writes) {
                here = {d, none};
                continue;
            }
            for (std::uint32_t w : {here.one, here.another})
                if (w != none && accesses_[w].value != next_access.value)
                    return found(next_access.value, next_access, accesses_[w]);
        }
        return std::nullopt;
    }
    counterexample found(value_id v, slot_access const& at, slot_access const& other) const
    {
        step_id const written = other.what == slot_access_kind::is_given ? no_step : other.step;
        return {fault::lost_in_slot,
                counterexample::slots{v, other.value, plan_.slot_of[v], at.step, written}};
    }
    bool can_overwrite(slot_access const& in, slot_access const& out) const
    {
        if (in.what != slot_access_kind::reads || out.what != slot_access_kind::writes) return false;
        for (overwrite o : program_.overwrites(out.step))
            if (o.in == in.value && o.out == out.value) return true;
        return false;
    }

    void reset(indices accesses)
    {
        for (std::uint32_t d : accesses) last_write_[accesses_[d].node] = none;
        for (node_id n : live_in_) reaching_[n] = {}, is_live_in_[n] = 0;
        live_in_.clear();
    }

    snapshot const& program_;
    slot_plan const& plan_;
    table<value_id, unsigned char> is_given_; // nothing writes it
    std::vector<slot_access> accesses_;
    csr_rows<node_id, node_id> predecessors_;
    table<node_id, std::uint32_t> last_write_; // its last write to the slot
    table<node_id, reaching_writes> reaching_; // at its beginning
    table<node_id, unsigned char> is_live_in_; // the slot is live at its beginning
    std::vector<node_id> live_in_;             // the nodes of is_live_in_
    std::vector<node_id> open_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_slots(snapshot const& given, slot_plan const& plan)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    return detail::slot_checker(p, plan).first_fault();
}

} // namespace sublet
