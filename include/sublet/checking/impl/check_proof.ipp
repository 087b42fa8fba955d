// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_PROOF_IPP
#define SUBLET_CHECKING_IMPL_CHECK_PROOF_IPP

#include <sublet/checking/all_stackings.hpp>
#include <sublet/checking/allowed_pools.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/checking/solid_parts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/plan_options.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class proof_opponent {
public:
    proof_opponent(placement_problem const& problem, placement const& placed, pool_id pool)
        : problem_(problem), placed_(placed), pool_(pool), proof_(placed.pools[pool].proof),
          limits_(pool < problem.pools.size() ? problem.pools[pool] : pool_limits{}),
          solid_(solid_parts_of(problem)), allowed_(allowed_pools_of(problem, solid_.root))
    {
    }

    proof_finding finding()
    {
        placement_status const status = placed_.pools[pool_].status;
        counts_all_ = status != placement_status::infeasible || problem_.choices.empty();
        proof_finding const first = look();
        bool const holds =
            first.verdict == proof_verdict::proved || first.verdict == proof_verdict::not_checkable;
        if (holds || status != placement_status::limit) return first;
        counts_all_ = false;
        proof_finding const second = look();
        return second.verdict == proof_verdict::proved ? second : first;
    }

private:
    static constexpr std::size_t most_groups = 8;

    bool is_never() const
    {
        return proof_.kind == proof_kind::pin_misaligned || proof_.kind == proof_kind::pins_clash ||
               proof_.kind == proof_kind::parts_clash;
    }
    proof_finding look()
    {
        result_ = {proof_verdict::proved, proof_.kind, pool_, proof_.bytes, 0};
        add_up();
        if (proof_.kind == proof_kind::given) result_.verdict = proof_verdict::not_checkable;
        else if (!names_enough() || !holds()) result_.verdict = proof_verdict::refuted;
        else if (result_.verdict == proof_verdict::proved && !is_never() &&
                 placed_.pools[pool_].peak_position != peak_) {
            result_.verdict = proof_verdict::wrong_peak;
            result_.found = peak_;
        }
        return result_;
    }

    /// Whether b bounds the pool: it is in it; and has to be, where the proof is about no others.
    bool counts(buffer_id b) const
    {
        return pool_of(b) == pool_ && (counts_all_ || allowed_.count(solid_.root[b]) == 1);
    }
    pool_id pool_of(buffer_id b) const
    {
        return placed_.pool_of.empty() ? problem_.buffers[b].pool : placed_.pool_of[b];
    }

    /// Whether the proof names as many buffers as it speaks of, of this pool, that need a place.
    bool names_enough() const
    {
        std::size_t least = 0;
        if (proof_.kind == proof_kind::top_of_pin || proof_.kind == proof_kind::pin_misaligned) least = 1;
        if (proof_.kind == proof_kind::pins_clash || proof_.kind == proof_kind::parts_clash) least = 2;
        if (proof_.buffers.size() < least) return false;
        bool const may_be_a_link = proof_.kind == proof_kind::parts_clash; // of ties, without bytes
        for (buffer_id b : proof_.buffers) {
            if (b >= problem_.buffers.size() || !counts(b)) return false;
            if (!solid_.needs_place[b] && !may_be_a_link) return false;
        }
        return !is_never() || proof_.bytes == no_limit;
    }

    bool holds()
    {
        switch (proof_.kind) {
        case proof_kind::nothing: return proof_.bytes == 0;
        case proof_kind::live_bytes: result_.found = live_bytes_; return live_bytes_ == proof_.bytes;
        case proof_kind::top_of_pin: return ends_there();
        case proof_kind::exhausted: return has_no_stacking();
        case proof_kind::given: return true;
        case proof_kind::pin_misaligned: return is_misaligned(proof_.buffers[0]);
        case proof_kind::pins_clash: return are_pinned_together();
        case proof_kind::parts_clash: return cannot_both_be(proof_.buffers[0], proof_.buffers[1]);
        }
        return false;
    }

    /// The bytes alive at the position of the proof, and where most are.
    void add_up()
    {
        enum : unsigned { dies, is_born };
        std::vector<keyed> events;
        for (std::size_t i = 0; i != solid_.parts.size(); ++i) {
            solid_part const& p = solid_.parts[i];
            if (!counts(p.buffer)) continue;
            events.push_back({p.when.last, dies, static_cast<std::uint32_t>(i)});
            events.push_back({p.when.first, is_born, static_cast<std::uint32_t>(i)});
        }
        sort_keyed(events);
        byte_count live = 0, most = 0;
        live_bytes_ = 0;
        peak_ = 0;
        for (std::size_t i = 0; i != events.size(); ++i) {
            solid_part const& p = solid_.parts[events[i].who];
            live = events[i].tie == dies ? live - (p.end - p.begin) : checked_add(live, p.end - p.begin);
            if (i + 1 != events.size() && events[i + 1].key == events[i].key) continue;
            if (events[i].key <= proof_.position) live_bytes_ = live;
            if (live <= most) continue;
            most = live;
            peak_ = static_cast<step_id>(events[i].key);
        }
    }

    // --- one buffer, or two ------------------------------------------------------------------------------

    bool is_misaligned(buffer_id b) const
    {
        byte_count const pin = problem_.buffers[b].pinned;
        return pin != no_offset && (pin % problem_.buffers[b].alignment != 0 || pin % limits_.alignment != 0);
    }
    bool ends_there()
    {
        buffer_id const b = proof_.buffers[0];
        std::int64_t const origin = stackings_.least_origin(stackings_.group_of(solid_.root[b]), 0);
        if (stackings_.is_too_long()) result_.verdict = proof_verdict::not_checkable;
        if (origin == rigid_group::nowhere) return stackings_.is_too_long(); // else it has no place at all
        result_.found = static_cast<byte_count>(origin) + solid_.above[b] + problem_.buffers[b].size;
        return result_.found == proof_.bytes;
    }
    bool are_pinned_together() const
    {
        rigid_group const a = stackings_.group_of(solid_.root[proof_.buffers[0]]);
        rigid_group const b = stackings_.group_of(solid_.root[proof_.buffers[1]]);
        if (a.root == b.root || a.pin == rigid_group::nowhere || b.pin == rigid_group::nowhere) return false;
        bool do_meet = false;
        for_common_parts(a, b, [&](solid_part const& x, solid_part const& y) {
            auto at = [](std::int64_t pin, byte_count up) { return pin + static_cast<std::int64_t>(up); };
            do_meet =
                do_meet || (at(a.pin, x.begin) < at(b.pin, y.end) && at(b.pin, y.begin) < at(a.pin, x.end));
        });
        return do_meet;
    }
    /// Two of one group: by their distances, their pins, or their alignments.
    bool cannot_both_be(buffer_id x, buffer_id y) const
    {
        if (x == y || solid_.root[x] != solid_.root[y]) return false;
        if (solid_.contradicts[solid_.root[x]] != 0) return true;
        if (!solid_.needs_place[x] || !solid_.needs_place[y]) return false;
        std::int64_t const from_x = static_cast<std::int64_t>(solid_.above[y] - solid_.above[x]);
        auto forbids = [&](buffer_id pinned, buffer_id other, std::int64_t distance) {
            byte_count const pin = problem_.buffers[pinned].pinned;
            if (pin == no_offset) return false;
            std::int64_t const at = static_cast<std::int64_t>(pin) + distance;
            byte_count const also = problem_.buffers[other].pinned;
            return at < 0 || (also != no_offset && also != static_cast<byte_count>(at)) ||
                   static_cast<byte_count>(at) % problem_.buffers[other].alignment != 0 ||
                   static_cast<byte_count>(at) % limits_.alignment != 0;
        };
        if (forbids(x, y, from_x) || forbids(y, x, -from_x)) return true;
        // One at a multiple of a, the other at a multiple of b: their distance is one of the common divisor.
        byte_count a = combine_alignment(problem_.buffers[x].alignment, limits_.alignment);
        byte_count b = combine_alignment(problem_.buffers[y].alignment, limits_.alignment);
        while (b != 0) {
            byte_count const rest = a % b;
            a = b;
            b = rest;
        }
        return static_cast<byte_count>(from_x < 0 ? -from_x : from_x) % a != 0;
    }

    /// Whether no stacking of the named groups is lower than the proof says, and they can only be stacked.
    bool has_no_stacking()
    {
        std::vector<rigid_group> groups;
        for (buffer_id b : proof_.buffers) {
            bool is_new = true;
            for (rigid_group const& g : groups) is_new = is_new && g.root != solid_.root[b];
            if (is_new) groups.push_back(stackings_.group_of(solid_.root[b]));
            if (groups.size() > most_groups) break;
        }
        std::int64_t const lower =
            groups.size() > most_groups ? rigid_group::nowhere : stackings_.lower_than(proof_.bytes, groups);
        result_.found = static_cast<byte_count>(lower);
        if (lower != rigid_group::nowhere) return false;
        if (groups.size() <= most_groups && stackings_.can_be_threaded(groups)) {
            result_.found = no_limit;
            return false;
        }
        if (groups.size() > most_groups || stackings_.is_too_long())
            result_.verdict = proof_verdict::not_checkable;
        return true;
    }

    placement_problem const& problem_;
    placement const& placed_;
    pool_id const pool_;
    placement_proof const& proof_;
    pool_limits const limits_;
    solid_parts const solid_;
    allowed_pools const allowed_;
    bool counts_all_ = true; // or only those that have no other pool
    proof_finding result_;
    byte_count live_bytes_ = 0; // at the position of the proof
    step_id peak_ = 0;
    all_stackings stackings_{problem_, solid_, limits_};
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL proof_finding check_proof(placement_problem const& problem, placement const& placed, pool_id pool)
{
    SUBLET_EXPECTS(pool < placed.pools.size(), "sublet: a proof is asked of a pool that is not placed");
    return detail::proof_opponent(problem, placed, pool).finding();
}

} // namespace sublet

#endif
