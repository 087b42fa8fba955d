// SPDX-License-Identifier: BSL-1.0

/// check_plan() for the smallest and the largest batch; between them a comparison of tops and starts, both
/// affine.

#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/affine.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet::detail {

class symbolic_checker {
public:
    symbolic_checker(snapshot const& program, symbolic_plan const& plan, symbolic_options const& options)
        : program_(program), plan_(plan), options_(options), max_batch_(options.max_batch)
    {
    }

    std::optional<counterexample> first_fault() const
    {
        if (is_foreign()) return counterexample{.what = fault::foreign_plan, .batch = 1};
        for (byte_count batch : {byte_count{1}, max_batch_})
            if (verdict valid = check_plan(program_, plan_.at(batch), options_.at(batch)); !valid) {
                valid.error().batch = batch;
                return valid.error();
            }
        plan_requirements const required = derive_requirements(program_, options_.at(max_batch_));
        std::optional<counterexample> fact = too_small(required);
        if (!fact) fact = misaligned(required);
        if (!fact) fact = clash(required);
        if (fact && fact->batch != 0) confirm(*fact);
        return fact;
    }

private:
    bool is_foreign() const
    {
        if (plan_.max_batch != max_batch_ || plan_.buffer_of.size() != program_.values()) return true;
        for (buffer_id b : plan_.buffer_of)
            if (b != no_buffer && b >= plan_.buffers.size()) return true;
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (b.pool >= plan_.arena.size() || b.alignment == 0 || !b.size.is_known() || !b.start.is_known())
                return true;
        return false;
    }

    /// Confirms a conflict for a batch: two overlapping values may be an in-place pair for that batch.
    void confirm(counterexample& fact) const
    {
        byte_count const batch = *fact.batch;
        verdict const valid = check_plan(program_, plan_.at(batch), options_.at(batch));
        if (!valid) fact = valid.error();
        fact.batch = valid ? 0 : batch;
    }

    /// Checks sizes and tops of the plan's buffers; check_plan() derives sizes from the program instead.
    std::optional<counterexample> too_small(plan_requirements const& required) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values(), "bytes");
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            affine_bytes const needed = bytes[required.root[v]];
            for (byte_count batch : {byte_count{1}, max_batch_})
                if (b.size.at(batch) < needed.at(batch)) {
                    byte_count const at = b.offset_at(batch);
                    return counterexample{
                        .what = fault::outside_arena,
                        .of = counterexample::place{.value = v,
                                                    .pool = b.pool,
                                                    .begin = at,
                                                    .end = checked_add(at, needed.at(batch)),
                                                    .needed = checked_add(at, b.size.at(batch))},
                        .batch = batch};
                }
        }
        for (symbolic_plan::buffer const& b : plan_.buffers)
            if (!never_above(b.top(), plan_.arena[b.pool], max_batch_))
                return counterexample{.what = fault::outside_arena,
                                      .of =
                                          counterexample::place{.value = b.root,
                                                                .pool = b.pool,
                                                                .begin = b.offset_at(max_batch_),
                                                                .end = b.top().at(max_batch_),
                                                                .needed = plan_.arena[b.pool].at(max_batch_)},
                                      .batch = 0};
        return std::nullopt;
    }

    /// Offsets are aligned for every batch if their rounding is a multiple; or if nothing is rounded and both
    /// affine coefficients are multiples.
    std::optional<counterexample> misaligned(plan_requirements const& required) const
    {
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            if (plan_.buffer_of[v] == no_buffer) continue;
            symbolic_plan::buffer const& b = plan_.buffers[plan_.buffer_of[v]];
            byte_count const of_pool = b.pool < options_.pools.size() ? options_.pools[b.pool].alignment : 1;
            for (byte_count needed : {required.alignment[v], of_pool}) {
                auto is_multiple = [needed](byte_count n) { return n % needed == 0; };
                if (is_multiple(b.alignment)) continue;
                if (max_padding(b.start, b.alignment) == 0 && is_multiple(b.start.fixed) &&
                    is_multiple(b.start.per_batch))
                    continue;
                byte_count batch = smaller(max_batch_, byte_count{2}), at = b.offset_at(batch);
                if (is_multiple(at)) batch = 0;
                return counterexample{
                    .what = fault::misaligned,
                    .of = counterexample::place{.value = v, .pool = b.pool, .begin = at, .needed = needed},
                    .batch = batch};
            }
        }
        return std::nullopt;
    }

    /// As plan_checker::clash(), for both ends of the batch range; in-place pairs are in one buffer.
    std::optional<counterexample> clash(plan_requirements const& required) const
    {
        auto const bytes = options_.bytes.tabulate(program_.values(), "bytes");
        table<buffer_id, live_range> life(plan_.buffers.size());
        table<buffer_id, symbolic_plan::buffer> needed = plan_.buffers; // sized by their values
        for (symbolic_plan::buffer& b : needed) b.size = {};
        for (value_id v = 0; v != plan_.buffer_of.size(); ++v) {
            buffer_id const b = plan_.buffer_of[v];
            if (b == no_buffer) continue;
            life[b] = hull(life[b], required.life[required.root[v]]);
            needed[b].size = least_above(needed[b].size, bytes[required.root[v]], max_batch_);
        }
        std::vector<sort_key> range_starts, range_ends, by_start;
        for (buffer_id b = 0; b != plan_.buffers.size(); ++b) {
            if (is_empty(life[b])) continue;
            range_starts.push_back({life[b].first, 0, b});
            range_ends.push_back({life[b].last, 0, b});
            by_start.push_back({plan_.buffers[b].pool, plan_.buffers[b].start.at(1), b});
        }
        sort_by_key(range_starts);
        sort_by_key(range_ends);
        sort_by_key(by_start);
        table<buffer_id, std::uint32_t> rank(plan_.buffers.size(), rank_set::none);
        for (std::size_t i = 0; i != by_start.size(); ++i)
            rank[by_start[i].id] = static_cast<std::uint32_t>(i);

        rank_set active(by_start.size());
        auto next_end = range_ends.begin();
        for (sort_key const& starting : range_starts) {
            for (; next_end->key <= starting.key; ++next_end) active.erase(rank[next_end->id]);
            std::uint32_t const below = active.below(rank[starting.id]),
                                above = active.above(rank[starting.id]);
            if (below != active.none)
                if (auto fact = reaches_into(needed[by_start[below].id], needed[starting.id], starting.key))
                    return fact;
            if (above != active.none)
                if (auto fact = reaches_into(needed[starting.id], needed[by_start[above].id], starting.key))
                    return fact;
            active.insert(rank[starting.id]);
        }
        return std::nullopt;
    }

    std::optional<counterexample> reaches_into(symbolic_plan::buffer const& a, symbolic_plan::buffer const& b,
                                               std::uint64_t when) const
    {
        if (a.pool != b.pool || never_above(a.top(), b.start, max_batch_)) return std::nullopt;
        counterexample::overlap both{.value = smaller(a.root, b.root),
                                     .other = larger(a.root, b.root),
                                     .position = position_id::of(when),
                                     .pool = a.pool};
        // If they swap their order: the last batch with a below b, and the next one.
        byte_count last = 1, beyond = max_batch_;
        while (beyond - last > 1) {
            byte_count const middle = last + (beyond - last) / 2;
            (a.start.at(middle) <= b.start.at(middle) ? last : beyond) = middle;
        }
        for (byte_count batch : {last, beyond}) {
            byte_count const begin = larger(a.offset_at(batch), b.offset_at(batch));
            byte_count const end =
                smaller(a.offset_at(batch) + a.size.at(batch), b.offset_at(batch) + b.size.at(batch));
            if (begin >= end) continue;
            both.begin = begin;
            both.end = end;
            return counterexample{.what = fault::clash, .of = both, .batch = batch};
        }
        return counterexample{.what = fault::clash, .of = both, .batch = 0};
    }

    snapshot const& program_;
    symbolic_plan const& plan_;
    symbolic_options const& options_;
    byte_count const max_batch_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_plan(snapshot const& p, symbolic_plan const& plan, symbolic_options const& options)
{
    auto const asked = detail::with_said_views(p, detail::tabulated_options(options, p.values()));
    return detail::symbolic_checker(p, plan, *asked).first_fault();
}

} // namespace sublet
