// SPDX-License-Identifier: BSL-1.0
/// plan_symbolic(): buffers as for the largest batch, pairs of equal size for every batch only, offsets that
/// are affine in the batch; proved for the smallest and the largest.

#include <sublet/analysis/internal/listed_steps.hpp>

#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/pack_symbolic.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/sharing/in_place.hpp>

#include <ctime>
#include <optional>
#include <utility>

namespace sublet {

SUBLET_DECL double planned_symbolic::summary::excess() const
{
    double worst = 0;
    for (planned_symbolic::summary::batch const& b : batches) {
        if (b.arena_bytes <= b.own_bytes) continue;
        double const ratio = static_cast<double>(b.arena_bytes) / static_cast<double>(b.own_bytes) - 1;
        worst = ratio > worst ? ratio : worst;
    }
    return worst;
}

} // namespace sublet

namespace sublet::detail {

/// A program with only the in-place pairs of equal size for every batch.
struct equal_size_pairs {
    snapshot const& program;
    table<value_id, buffer_id> const& class_of;
    table<buffer_id, affine_bytes> const& size; // of a class

    std::size_t nodes() const { return program.nodes(); }
    std::size_t values() const { return program.values(); }
    auto successors(node_id n) const { return program.successors(n); }
    edge_meaning edges() const { return program.edges(); }
    void effects(node_id n, effect_sink& sink) const
    {
        step_range const mine = program.steps_of(n);
        for (step_id s = mine.first; s != mine.last; ++s) {
            if (s != mine.first) sink.next_step();
            for (touch t : program.touches(s)) sink.add(t.kind, t.value);
            for (overwrite o : program.overwrites(s))
                if (size[class_of[o.in]] == size[class_of[o.out]]) sink.may_overwrite(o.in, o.out);
            copy_step_facts(program, s, sink);
        }
        for (edge_use u : program.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    }
};

/// Lists the buffers that need storage. They are compared and joined with the sizes of the largest batch,
/// which are known and not 0 if and only if those of all other batches are. Returns what refutes every plan:
/// a view that is larger than its root for the largest or the smallest batch (otherwise for none); `external`
/// gets the roots of storage that is not planned.
SUBLET_DECL std::optional<counterexample> list_symbolic(snapshot const& p, symbolic_options const& options,
                                                        live_ranges const& lives, symbolic_plan& plan,
                                                        std::vector<value_id>& external)
{
    auto const bytes = options.bytes.tabulate(p.values(), "bytes");
    buffer_table table = gather_buffers(lives, options.at(options.max_batch));
    external = external_roots(table);
    std::optional<counterexample> refuted;
    for (byte_count batch : {options.max_batch, byte_count{1}})
        if (auto const fact = oversized_view(gather_buffers(lives, options.at(batch))))
            refuted = fact, refuted->batch = batch;
    if (options.in_place && !p.overwrites().empty()) {
        sublet::table<buffer_id, affine_bytes> size;
        for (buffer const& b : table.buffers) size.push_back(bytes[b.root]);
        sublet::table<value_id, buffer_id> const class_of = table.buffer_of;
        snapshot const paired(equal_size_pairs{p, class_of, size});
        table = take_in_place(paired, steps_in_order(p, options.order), std::move(table));
    }
    sublet::table<buffer_id, buffer_id> planned(table.buffers.size(), no_buffer);
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (b.is_unsized()) plan.unsized.push_back(b.root);
        if (!b.is_planned()) continue;
        planned[i] = buffer_id::of(plan.buffers.size());
        byte_count alignment = b.alignment;
        if (b.pool < options.pools.size())
            alignment = combine_alignment(alignment, options.pools[b.pool].alignment);
        plan.buffers.push_back({b.root, b.life, bytes[b.root], alignment, b.pool});
    }
    for (buffer_id b : table.buffer_of) plan.buffer_of.push_back(planned[b]);
    for (value_id v = 0; v != p.values(); ++v)
        if (buffer const& b = table.buffers[table.buffer_of[v]]; b.is_empty_storage())
            plan.empty.push_back({v, b.pool, 0});
    if (table.offset_in_root.empty()) return refuted;
    auto const offset = options.view_offset.tabulate(p.values(), "view_offset");
    auto const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    plan.offset_in_root.resize(p.values());
    for (value_id v = 0; v != p.values(); ++v)
        for (value_id view = v; alias_of[view] != no_value; view = alias_of[view])
            plan.offset_in_root[v] = checked_add(plan.offset_in_root[v], offset[view]);
    return refuted;
}

/// The largest batch that fits the capacities: arenas never shrink as the batch grows.
SUBLET_DECL byte_count largest_that_fits(symbolic_plan const& plan, table<pool_id, pool_limits> const& pools)
{
    auto fits = [&](byte_count batch) {
        memory_plan const one = plan.at(batch);
        for (pool_id p = 0; p != pools.size() && p != one.arena_bytes.size(); ++p)
            if (one.arena_bytes[p] > smaller(pools[p].capacity, pools[p].largest_block)) return false;
        return true;
    };
    if (fits(plan.max_batch)) return plan.max_batch;
    byte_count good = 0, bad = plan.max_batch;
    while (bad - good > 1) {
        byte_count const middle = good + (bad - good) / 2;
        (fits(middle) ? good : bad) = middle;
    }
    return good;
}

/// The first pool that the largest batch does not fit, if there is one.
SUBLET_DECL std::optional<counterexample>
first_overflow(symbolic_plan const& plan, symbolic_options const& options, byte_count fits_up_to)
{
    if (fits_up_to == options.max_batch) return std::nullopt;
    memory_plan const last = plan.at(options.max_batch);
    for (pool_id pool = 0; pool != options.pools.size(); ++pool) {
        byte_count const capacity = options.pools[pool].capacity;
        bool const is_over = last.arena_bytes[pool] > capacity;
        byte_count const most = is_over ? capacity : options.pools[pool].largest_block;
        if (last.arena_bytes[pool] > most)
            return counterexample{
                .what = is_over ? fault::over_capacity : fault::over_block,
                .of = counterexample::place{.pool = pool, .end = last.arena_bytes[pool], .needed = most},
                .batch = options.max_batch};
    }
    return std::nullopt;
}

SUBLET_DECL void fill_report(planned_symbolic::summary& report, symbolic_plan const& plan,
                             symbolic_packing const& packed)
{
    report.buffers = plan.buffers.size();
    report.unsized = plan.unsized;
    for (symbolic_plan::buffer const& b : plan.buffers) report.naive = checked_add(report.naive, b.size);
    for (affine_bytes const& arena : plan.arena) report.arena = checked_add(report.arena, arena);
    for (batch_sample const& sample : packed.samples) {
        planned_symbolic::summary::batch one{.batch = sample.batch};
        for (byte_count height : plan.at(sample.batch).arena_bytes)
            one.arena_bytes = checked_add(one.arena_bytes, height);
        for (placement::pool_result const& pool : sample.own.pools) {
            one.own_bytes = checked_add(one.own_bytes, pool.height);
            one.lower_bound_bytes = checked_add(one.lower_bound_bytes, pool.lower_bound);
        }
        report.batches.push_back(one);
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_symbolic plan_symbolic(snapshot const& p, symbolic_options const& given)
{
    SUBLET_EXPECTS(given.max_batch >= 1, "sublet: the largest batch is at least 1");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    symbolic_options const& options = *asked;
    std::clock_t const begun = std::clock();
    planned_symbolic result;
    symbolic_plan& plan = result.plan;
    plan.max_batch = result.figures.max_batch = options.max_batch;
    plan.order = options.order;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    plan_options const largest = options.at(options.max_batch);
    // An offset is affine in the batch: a multiple of an alignment for 1 and 2 is one for all.
    for (byte_count batch :
         {options.max_batch, byte_count{1}, detail::smaller(options.max_batch, byte_count{2})})
        if (auto unclear = detail::find_unclear(p, options.at(batch))) {
            if (unclear->what == fault::unlike_root) unclear->batch = batch;
            result.figures.refute(std::move(unclear));
            return result;
        }
    live_ranges const lives = lifetimes(p, detail::lifetimes_of(largest));
    if (!result.figures.refute(lives) ||
        !result.figures.refute(detail::first_backward_edge(p, options.order))) {
        result.figures.error().batch = 1;
        return result;
    }
    plan.buffer_of.clear();
    result.figures.refute(detail::list_symbolic(p, options, lives, plan, result.figures.external));
    detail::symbolic_packing packed = detail::pack_symbolic(plan.buffers, options.max_batch, options.mixing,
                                                            detail::pack_budgets(options.effort));
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) plan.buffers[b].start = packed.start[b];
    plan.arena = std::move(packed.arena);
    if (plan.arena.size() < options.pools.size()) plan.arena.resize(options.pools.size());
    for (memory_plan::empty_value const& e : plan.empty) {
        SUBLET_EXPECTS(e.pool < 65536,
                       "sublet: value % names pool %, which is out of range (pools are numbered from 0)",
                       e.value, e.pool);
        if (e.pool >= plan.arena.size()) plan.arena.resize(e.pool + 1);
    }
    detail::fill_report(result.figures, plan, packed);
    result.figures.fits_up_to = detail::largest_that_fits(plan, options.pools);

    if (result) result.figures.refute(detail::first_overflow(plan, options, result.figures.fits_up_to));
    detail::finish_plan(result, begun, options.check, [&] { return check_plan(p, plan, options); });
    return result;
}

} // namespace sublet
