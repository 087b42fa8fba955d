// SPDX-License-Identifier: BSL-1.0

/// One function for each reason that a proof may give. It is derived again from the problem, and the bound
/// has to be what is found; only an exhausted search is repeated, by an enumeration of stackings that
/// knows nothing of the search. What is too much for that is reported as not checkable.

#include <sublet/checking/check_proof.hpp>
#include <sublet/checking/detail/stackings.hpp>
#include <sublet/checking/detail/unordered_buffers.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

class proof_checker {
public:
    proof_checker(placement_problem const& problem, placement const& placed, pool_id pool)
        : given_(problem), clocks_(problem.clocks), placed_(placed), pool_(pool),
          proof_(placed.pools[pool].proof), problem_(with_pairs(without_clocks(problem))),
          limits_(pool < problem.pools.size() ? problem.pools[pool] : pool_limits{}),
          solid_(with_guards(solid_parts_of(problem_))), allowed_(allowed_pools_of(problem_, solid_.root))
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

    /// The bytes that must be free of others, which are a guard more.
    solid_parts with_guards(solid_parts solid) const
    {
        for (solid_part& p : solid.parts)
            if (pool_of(p.buffer) == pool_) p.end += limits_.guard;
        return solid;
    }
    /// What bytes with guards behind them take at least: the highest needs none.
    byte_count without_last_guard(byte_count bytes) const { return bytes - smaller(bytes, limits_.guard); }
    /// The same where they lie outside of the reserved ranges: as many are free below the end.
    byte_count least_end(byte_count bytes) const
    {
        byte_count end = bytes;
        std::vector<std::pair<byte_count, byte_count>> ranges = limits_.reserved;
        std::sort(ranges.begin(), ranges.end());
        byte_count above = 0; // the end of the ranges so far
        for (auto range : ranges) {
            if (range.first >= range.second || bytes == 0) continue;
            range.second = checked_add(range.second, limits_.guard);
            if (end <= larger(range.first, above)) break;
            if (range.second > above) end = checked_add(end, range.second - larger(range.first, above));
            above = larger(above, range.second);
        }
        return without_last_guard(end);
    }
    /// The problem in which reserved ranges are pinned buffers, which live always, as far as they are below
    /// the bound; and the same proof there.
    bool has_no_stacking_around()
    {
        placement_problem around = given_;
        placement placed = placed_;
        placement::proof& proof = placed.pools[pool_].proof;
        around.pools[pool_].reserved.clear();
        around.pools[pool_].alignment = 1;
        position_id last = 1;
        std::uint32_t end = 1;
        for (std::uint32_t counter : around.clocks.end) end = larger(end, counter);
        for (buffer_id b = 0; b != given_.buffers.size(); ++b) {
            last = larger(last, given_.buffers[b].life.last);
            if (pool_of(b) != pool_) continue;
            byte_count& alignment = around.buffers[b].alignment;
            alignment = combine_alignment(alignment, limits_.alignment);
        }
        if (around.period != 0) last = position_id{around.period};
        std::vector<std::pair<byte_count, byte_count>> ranges = limits_.reserved;
        std::sort(ranges.begin(), ranges.end());
        for (auto range :
             ranges) { // a guard apart, as buffers are: nothing fits between those that are closer
            range.second = smaller(range.second, proof.bytes - smaller(proof.bytes, byte_count{1}));
            if (range.first >= range.second) continue;
            if (around.buffers.size() != given_.buffers.size()) {
                placement_problem::buffer& below = around.buffers.back();
                if (range.first <= checked_add(below.pinned + below.size, limits_.guard)) {
                    below.size = larger(below.size, range.second - below.pinned);
                    continue;
                }
            }
            proof.buffers.push_back(buffer_id::of(around.buffers.size()));
            around.buffers.push_back({.life = {0, last},
                                      .size = range.second - range.first,
                                      .pool = pool_,
                                      .pinned = range.first});
            if (!placed.pool_of.empty()) placed.pool_of.push_back(pool_);
            for (std::uint32_t t = 0; t != around.clocks.threads; ++t) {
                around.clocks.begin.push_back(0);
                around.clocks.end.push_back(end);
            }
        }
        proof_checker its(around, placed, pool_);
        bool const holds = its.has_no_stacking();
        finding_ = its.finding_;
        found_ = its.found_;
        return holds;
    }
    bool is_pin_reserved() const
    {
        rigid_group const g = enumerator_.group_of(solid_.root[proof_.buffers[0]]);
        bool is_in = false;
        for (solid_part const& p : g.parts) // with their guards
            for (auto const& range : limits_.reserved)
                is_in = is_in || (g.pin != rigid_group::nowhere && range.first < range.second &&
                                  static_cast<byte_count>(g.pin) + p.begin < range.second + limits_.guard &&
                                  range.first < static_cast<byte_count>(g.pin) + p.end);
        return is_in;
    }

    bool is_infeasibility() const
    {
        return proof_.kind == placement::proof::reason::pin_misaligned ||
               proof_.kind == placement::proof::reason::over_block ||
               proof_.kind == placement::proof::reason::pins_clash ||
               proof_.kind == placement::proof::reason::parts_clash ||
               proof_.kind == placement::proof::reason::pin_reserved;
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
                if (its.pinned != no_offset) g.pin = static_cast<std::int64_t>(its.pinned - solid_.above[b]);
            }
            pool_limits const limits = pool < problem_.pools.size() ? problem_.pools[pool] : pool_limits{};
            stacking_enumerator alone(problem_, solid_, limits);
            std::int64_t const at = alone.least_origin(g, 0);
            byte_count const most = smaller(limits.capacity, limits.largest_block);
            bool const is_possible = at != rigid_group::nowhere && solid_.is_inconsistent[root] == 0 &&
                                     static_cast<byte_count>(at + g.size) <= most;
            possible[root] += is_possible || alone.hit_limit();
        }
        for (buffer_id root = 0; root != is_forced.size(); ++root) is_forced[root] = possible[root] <= 1;
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
            proof_.kind == placement::proof::reason::pin_misaligned ||
            proof_.kind == placement::proof::reason::pin_reserved)
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
            found_ = least_end(clocks_.threads > 1 ? bytes_at_counter() : live_bytes_);
            return found_ == proof_.bytes;
        case placement::proof::reason::antichain: return is_antichain();
        case placement::proof::reason::top_of_pin: return check_top_of_pin();
        case placement::proof::reason::exhausted:
            return limits_.reserved.empty() ? has_no_stacking() : has_no_stacking_around();
        case placement::proof::reason::given: return true;
        case placement::proof::reason::over_block: return is_over_block();
        case placement::proof::reason::pin_misaligned: return is_misaligned(proof_.buffers[0]);
        case placement::proof::reason::pins_clash: return do_pins_clash();
        case placement::proof::reason::pin_reserved: return is_pin_reserved();
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
                counts(b) && clocks_.begin[i] <= proof_.position && proof_.position < clocks_.end[i] &&
                problem_.buffers[b].size != 0)
                bytes = checked_add(bytes, checked_add(problem_.buffers[b].size, limits_.guard));
        return bytes;
    }
    bool is_antichain()
    {
        std::vector<buffer_id> const& all = proof_.buffers;
        for (std::size_t i = 0; i != all.size(); ++i) {
            if (clocks_.threads == 0) return false;
            found_ = checked_add(found_, checked_add(problem_.buffers[all[i]].size, limits_.guard));
            for (std::size_t j = 0; j != i; ++j)
                if (all[i] == all[j] || !are_unordered(clocks_, all[i], all[j])) return false;
        }
        found_ = least_end(found_);
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
            byte_count const most =
                proof_.bytes > no_limit - limits_.guard ? no_limit : proof_.bytes + limits_.guard;
            std::int64_t const lower = enumerator_.find_below_at(at, most, groups);
            if (enumerator_.hit_limit()) break;
            if (lower == rigid_group::nowhere) {
                finding_ = finding::proved;
                return true;
            }
            if (are_rectangles) {
                found_ = without_last_guard(static_cast<byte_count>(lower));
                return false;
            }
        }
        return true;
    }

    placement_problem const& given_;
    placement_problem::clock_table const& clocks_;
    placement const& placed_;
    pool_id const pool_;
    placement::proof const& proof_;
    placement_problem const problem_; // without clocks
    pool_limits const limits_;
    solid_parts const solid_;
    allowed_pools const allowed_;
    table<buffer_id, unsigned char> const is_forced_ = forced(); // by root
    bool counts_all_ = true;                                     // false: only buffers with no other pool
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
