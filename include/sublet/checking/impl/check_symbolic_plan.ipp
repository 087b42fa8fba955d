// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_SYMBOLIC_PLAN_IPP
#define SUBLET_CHECKING_IMPL_CHECK_SYMBOLIC_PLAN_IPP

#include <sublet/affine_bytes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/keyed.hpp>
#include <sublet/live_range.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

class symbolic_opponent {
public:
    symbolic_opponent(snapshot const& program, symbolic_plan const& plan, symbolic_options const& options)
        : program_(program), plan_(plan), options_(options), most_(options.max_batch)
    {
    }

    std::optional<symbolic_witness> first_fault() const
    {
        if (is_foreign()) return symbolic_witness{{.what = fault::foreign_plan}, 1};
        for (byte_count batch : {byte_count{1}, most_})
            if (auto fact = check_plan(program_, plan_.at(batch), options_at(options_, batch)))
                return symbolic_witness{*fact, batch};
        plan_demands const asked = demands(program_, options_at(options_, most_));
        std::optional<symbolic_witness> fact = too_small(asked);
        if (!fact) fact = misaligned(asked);
        if (!fact) fact = clash(asked);
        if (fact && fact->batch != 0) confirm(*fact);
        return fact;
    }

private:
    bool is_foreign() const
    {
        if (plan_.max_batch != most_ || plan_.buffer_of.size() != program_.values()) return true;
        for (buffer_id b : plan_.buffer_of)
            if (b != no_buffer && b >= plan_.buffers.size()) return true;
        for (symbolic_buffer const& b : plan_.buffers)
            if (b.pool >= plan_.arena.size() || b.alignment == 0 || !b.size.is_known() || !b.start.is_known())
                return true;
        return false;
    }

    /// What seems wrong for a batch may be right: two that meet may be a pair in place, for just that batch.
    void confirm(symbolic_witness& fact) const
    {
        if (auto found = check_plan(program_, plan_.at(fact.batch), options_at(options_, fact.batch)))
            fact.found = *found;
        else fact.batch = 0;
    }

    /// What check_plan() does not believe either: it asks the program, and tops here are of the plan's sizes.
    std::optional<symbolic_witness> too_small(plan_demands const& asked) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values());
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            affine_bytes const needed = bytes[asked.root[v]];
            for (byte_count batch : {byte_count{1}, most_})
                if (b.size.at(batch) < needed.at(batch)) {
                    byte_count const at = b.offset_at(batch);
                    return symbolic_witness{{.what = fault::outside_arena,
                                             .value = v,
                                             .begin = at,
                                             .end = checked_add(at, needed.at(batch)),
                                             .needed = checked_add(at, b.size.at(batch)),
                                             .pool = b.pool},
                                            batch};
                }
        }
        for (symbolic_buffer const& b : plan_.buffers)
            if (!never_above(b.top(), plan_.arena[b.pool], most_))
                return symbolic_witness{{.what = fault::outside_arena,
                                         .value = b.root,
                                         .begin = b.offset_at(most_),
                                         .end = b.top().at(most_),
                                         .needed = plan_.arena[b.pool].at(most_),
                                         .pool = b.pool},
                                        0};
        return std::nullopt;
    }

    /// Offsets are multiples for every batch if what they are rounded to is one; or if nothing is rounded and
    /// both parts are.
    std::optional<symbolic_witness> misaligned(plan_demands const& asked) const
    {
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            byte_count const of_pool = b.pool < options_.pools.size() ? options_.pools[b.pool].alignment : 1;
            for (byte_count needed : {asked.alignment[v], of_pool}) {
                auto is_multiple = [needed](byte_count n) { return n % needed == 0; };
                if (is_multiple(b.alignment)) continue;
                if (most_rounding(b.start, b.alignment) == 0 && is_multiple(b.start.fixed) &&
                    is_multiple(b.start.per_batch))
                    continue;
                byte_count batch = smaller(most_, byte_count{2}), at = b.offset_at(batch);
                if (is_multiple(at)) batch = 0;
                return symbolic_witness{
                    {.what = fault::misaligned, .value = v, .begin = at, .needed = needed, .pool = b.pool},
                    batch};
            }
        }
        return std::nullopt;
    }

    /// As plan_opponent::clash(), but with two ends for each address, and without in-place pairs: they are in
    /// one buffer.
    std::optional<symbolic_witness> clash(plan_demands const& asked) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values());
        std::vector<live_range> life(plan_.buffers.size());
        std::vector<symbolic_buffer> needed = plan_.buffers; // as large as its values
        for (symbolic_buffer& b : needed) b.size = {};
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            buffer_id const b = plan_.buffer_of[v];
            if (b == no_buffer) continue;
            life[b] = hull(life[b], asked.life[asked.root[v]]);
            needed[b].size = least_above(needed[b].size, bytes[asked.root[v]], most_);
        }
        std::vector<keyed> births, deaths, by_start;
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b) {
            if (is_empty(life[b])) continue;
            births.push_back({life[b].first, 0, b});
            deaths.push_back({life[b].last, 0, b});
            by_start.push_back({plan_.buffers[b].pool, plan_.buffers[b].start.at(1), b});
        }
        sort_keyed(births);
        sort_keyed(deaths);
        sort_keyed(by_start);
        std::vector<std::uint32_t> rank(plan_.buffers.size(), rank_set::none);
        for (std::size_t i = 0; i != by_start.size(); ++i)
            rank[by_start[i].who] = static_cast<std::uint32_t>(i);

        rank_set living(by_start.size());
        auto dead = deaths.begin();
        for (keyed const& birth : births) {
            for (; dead->key <= birth.key; ++dead) living.erase(rank[dead->who]);
            std::uint32_t const below = living.below(rank[birth.who]), above = living.above(rank[birth.who]);
            if (below != living.none)
                if (auto fact = reaches_into(needed[by_start[below].who], needed[birth.who], birth.key))
                    return fact;
            if (above != living.none)
                if (auto fact = reaches_into(needed[birth.who], needed[by_start[above].who], birth.key))
                    return fact;
            living.insert(rank[birth.who]);
        }
        return std::nullopt;
    }

    std::optional<symbolic_witness> reaches_into(symbolic_buffer const& a, symbolic_buffer const& b,
                                                 std::uint64_t when) const
    {
        if (a.pool != b.pool || never_above(a.top(), b.start, most_)) return std::nullopt;
        symbolic_witness w{{.what = fault::clash,
                            .value = smaller(a.root, b.root),
                            .other = larger(a.root, b.root),
                            .position = static_cast<step_id>(when),
                            .pool = a.pool},
                           0};
        // Where they change sides, if they do: the last batch with b above a, and the next one.
        byte_count last = 1, beyond = most_;
        while (beyond - last > 1) {
            byte_count const middle = last + (beyond - last) / 2;
            (a.start.at(middle) <= b.start.at(middle) ? last : beyond) = middle;
        }
        for (byte_count batch : {last, beyond}) {
            byte_count const begin = larger(a.offset_at(batch), b.offset_at(batch));
            byte_count const end =
                smaller(a.offset_at(batch) + a.size.at(batch), b.offset_at(batch) + b.size.at(batch));
            if (begin >= end) continue;
            w.batch = batch;
            w.found.begin = begin;
            w.found.end = end;
            break;
        }
        return w;
    }

    snapshot const& program_;
    symbolic_plan const& plan_;
    symbolic_options const& options_;
    byte_count const most_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<symbolic_witness> check_symbolic_plan(snapshot const& p, symbolic_plan const& plan,
                                                                symbolic_options const& options)
{
    return detail::symbolic_opponent(p, plan, options).first_fault();
}

} // namespace sublet

#endif
