// SPDX-License-Identifier: BSL-1.0

/// plan_symbolic(): buffers as for the largest shape, pairs of sizes that are proved to be equal only, and a
/// stacking of these buffers that is low for the samples.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/placement/internal/choose_stacking.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/in_every_schedule.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/planning/detail/sampled_shapes.hpp>
#include <sublet/planning/detail/stack_for_shapes.hpp>
#include <sublet/planning/detail/stages.hpp>
#include <sublet/planning/detail/top_formula.hpp>
#include <sublet/sharing/in_place.hpp>

#include <algorithm>
#include <ctime>
#include <optional>
#include <utility>

namespace sublet {

SUBLET_DECL double planned_symbolic::summary::excess() const
{
    double worst = 0;
    for (planned_symbolic::summary::sample const& s : samples) {
        if (s.arena_bytes <= s.own_bytes) continue;
        double const ratio = static_cast<double>(s.arena_bytes) / static_cast<double>(s.own_bytes) - 1;
        worst = ratio > worst ? ratio : worst;
    }
    return worst;
}

} // namespace sublet

namespace sublet::detail {

/// A program with only those in-place pairs that hold for every shape.
template <class HoldsAlways>
struct program_of_pairs {
    snapshot const& program;
    HoldsAlways holds_always; // (in, out)

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
                if (holds_always(o.in, o.out)) sink.may_overwrite(o.in, o.out);
            copy_step_facts(program, s, sink);
        }
        for (edge_use u : program.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    }
};

/// The planner's tables, by value.
struct symbolic_values {
    table<value_id, formula> bytes, in_root; ///< sizes, and the first byte in the root
    table<value_id, value_id> root;
};

SUBLET_DECL symbolic_values tabulate_symbolic(snapshot const& p, symbolic_options const& options)
{
    symbolic_values values{options.bytes.tabulate(p.values(), "bytes"),
                           options.view_offset.tabulate(p.values(), "view_offset"),
                           {}};
    auto const alias_of = options.alias_of.tabulate(p.values(), "alias_of");
    table<value_id, byte_count> const pinned = options.pinned.tabulate(p.values(), "pinned");
    buffer_classes const classes = classes_of(alias_of);
    for (value_id v = 0; v != p.values(); ++v) values.root.push_back(classes.root[classes.buffer_of[v]]);
    // Each value adds the offset of what it is a view of; a chain is walked once, from its root on.
    table<value_id, unsigned char> is_known(p.values(), 0);
    std::vector<value_id> chain;
    bool is_by_shape = false;
    for (value_id v = 0; v != p.values(); ++v) {
        for (value_id at = v; !is_known[at]; at = alias_of[at]) {
            chain.push_back(at);
            if (alias_of[at] == no_value) break;
        }
        for (; !chain.empty(); chain.pop_back()) {
            value_id const at = chain.back(), of = alias_of[at];
            is_known[at] = 1;
            if (of == no_value) values.in_root[at] = 0;
            else if (values.in_root[of] != formula{}) values.in_root[at] += values.in_root[of];
        }
        SUBLET_EXPECTS(pinned[v] == no_offset || values.in_root[v].is_constant(),
                       "sublet: value % is pinned, and is a view at an offset that depends on the shape", v);
        is_by_shape = is_by_shape || values.bytes[v].is_by_shape();
        SUBLET_EXPECTS(!values.bytes[v].is_by_shape() || options.bytes_at,
                       "sublet: the size of value % is by shape, but bytes_at is not given", v);
        SUBLET_EXPECTS(!values.in_root[v].is_by_shape(),
                       "sublet: the offset of view % is by shape, not a formula", v);
        for (formula const* its : {&values.bytes[v], &values.in_root[v]}) {
            if (!its->is_known() || its->is_by_shape() || its->is_constant()) continue;
            char const* const what = its == &values.bytes[v] ? "size" : "offset";
            SUBLET_EXPECTS(dimensions_of(*its) <= options.dims.size(),
                           "sublet: the % of value % is in dimension %, but `dims` has only %", what, v,
                           dimensions_of(*its) - 1, options.dims.size());
            SUBLET_EXPECTS(never_above(formula{}, *its, options.dims),
                           "sublet: the % of value % is not proved to be at least 0 for every shape", what,
                           v);
        }
    }
    SUBLET_EXPECTS(
        is_by_shape || !options.bytes_at,
        "sublet: bytes_at is given, but the size of no value is by shape: say formula::by_shape()");
    return values;
}

/// A view that is not proved to be within its root for every shape; with a sample that shows it, if there is
/// one.
SUBLET_DECL std::optional<counterexample>
open_view(symbolic_values const& values, symbolic_options const& options, std::vector<shape> const& samples)
{
    for (value_id v = 0; v != values.root.size(); ++v) {
        value_id const r = values.root[v];
        formula const &root = values.bytes[r], &its = values.bytes[v];
        if (v == r || !root.is_known()) continue;
        bool const by_shape = root.is_by_shape() || its.is_by_shape();
        formula const end = its.is_known() && !by_shape ? values.in_root[v] + its : values.in_root[v];
        if (!by_shape && (end == root || never_above(end, root, options.dims))) continue;
        counterexample::view view{.value = v, .other = r};
        auto of = [&](formula const& bytes, value_id of_value, shape const& s) {
            return bytes.is_by_shape() ? options.bytes_at(of_value, s) : bytes.at(s);
        };
        for (shape const& s : samples) {
            byte_count const begin = values.in_root[v].at(s);
            view.end = its.is_known() ? checked_add(begin, of(its, v, s)) : begin;
            view.needed = of(root, r, s);
            if (view.end > view.needed)
                return counterexample{.what = fault::oversized_view, .of = view, .at_shape = s};
        }
        view.end = view.needed = 0; // no sample shows it
        if (!by_shape) return counterexample{.what = fault::oversized_view, .of = view, .at_shape = shape{}};
    }
    return std::nullopt;
}

/// Accesses of one storage that share bytes for every shape: of a view with an open place or size, none; or
/// those that may share bytes for some: it is all of its storage.
SUBLET_DECL dependence_options dependences_of(symbolic_options const& options, symbolic_values const& values,
                                              bool for_some = false)
{
    table<value_id, byte_count> bytes, begin;
    table<value_id, value_id> root = values.root; // each view is one of its root
    for (value_id v = 0; v != root.size(); ++v) {
        formula const &its = values.bytes[v], &place = values.in_root[v];
        bool const is_open = !place.is_constant() || !its.is_constant();
        bool const is_whole = root[v] == v || (place == formula{} && its == values.bytes[root[v]]) ||
                              (for_some && (is_open || its == formula{}));
        if (root[v] == v) root[v] = no_value;
        bytes.push_back(is_whole ? no_size : is_open ? 0 : its.at({}));
        begin.push_back(is_whole || is_open ? 0 : place.at({}));
    }
    return {.role = options.role,
            .handoffs = options.handoffs,
            .alias_of = std::move(root),
            .view_offset = std::move(begin),
            .bytes = std::move(bytes),
            .listed = options.order};
}

/// What an order may not move: of a view with an open place or size, all bytes of its storage.
SUBLET_DECL lifetimes_options lifetimes_of(symbolic_options const& options, symbolic_values const& values)
{
    lifetimes_options made{.role = options.role, .order = options.order, .alias_of = options.alias_of};
    if (options.order.empty()) return made; // nothing is moved
    table<value_id, byte_count> bytes, begin;
    table<value_id, value_id> root = values.root; // each view is one of its root
    for (value_id v = 0; v != root.size(); ++v)
        if (root[v] == v) root[v] = no_value;
    for (value_id v = 0; v != values.root.size(); ++v) {
        bool const is_placed = values.in_root[v].is_constant();
        bool const is_sized = is_placed && values.bytes[v].is_constant();
        bytes.push_back(is_sized ? values.bytes[v].at({}) : no_size);
        begin.push_back(is_placed ? values.in_root[v].at({}) : 0);
    }
    made.alias_of = root;
    made.bytes = bytes;
    made.view_offset = begin;
    return made;
}

/// Numbers of equal formulas: each once, in the order in which they are first seen.
class formula_numbers {
public:
    formula_numbers(std::vector<formula>& all, std::vector<shape> const& samples)
        : all_(all), samples_(samples)
    {
    }

    std::uint32_t number_of(formula const& one)
    {
        std::uint64_t key = 0;
        for (shape const& s : samples_)
            key = (key ^ (one.is_known() && !one.is_by_shape() ? one.at(s) : no_size)) * 0x9e3779b97f4a7c15u;
        std::size_t at = partition_point(keys_.size(), [&](std::size_t i) { return keys_[i].key >= key; });
        for (; at != keys_.size() && keys_[at].key == key; ++at)
            if (all_[keys_[at].id] == one) return keys_[at].id;
        auto const number = static_cast<std::uint32_t>(all_.size());
        all_.push_back(one);
        keys_.insert(keys_.begin() + static_cast<std::ptrdiff_t>(at), {key, 0, number});
        return number;
    }

private:
    std::vector<formula>& all_;
    std::vector<shape> const& samples_;
    std::vector<sort_key> keys_; // ascending
};

/// Lists the buffers that need storage in the plan; `external` gets the roots of storage that is not planned.
/// `any_order`: of every schedule.
SUBLET_DECL std::optional<counterexample>
list_symbolic(snapshot const& p, symbolic_options const& options, symbolic_values const& values,
              live_ranges const& lives, dependence_graph const* any_order, std::vector<shape> const& samples,
              symbolic_plan& plan, std::vector<value_id>& external)
{
    plan_options largest = options.at(samples.back());
    table<value_id, byte_count> bytes = largest.bytes.tabulate(p.values(), "bytes");
    for (byte_count& its : bytes)
        if (its == 0) its = 1; // it may have bytes for another shape
    largest.bytes = bytes;
    buffer_table table = gather_buffers(lives, largest);
    external = external_roots(table);
    std::optional<counterexample> refuted;
    if (options.in_place && !p.overwrites().empty()) {
        auto holds_always = [&](value_id in, value_id out) {
            formula const &a = values.bytes[values.root[in]], &b = values.bytes[values.root[out]];
            if (!a.is_known() || a.is_by_shape() || b.is_by_shape() || !b.is_known()) return false;
            auto are_equal = [&](formula const& one, formula const& other) {
                return one == other ||
                       (never_above(one, other, options.dims) && never_above(other, one, options.dims));
            };
            return are_equal(a, b) && are_equal(values.in_root[in], values.in_root[out]);
        };
        snapshot const paired(program_of_pairs<decltype(holds_always)>{p, holds_always});
        table = any_order != nullptr ? take_in_place(paired, *any_order, std::move(table))
                                     : take_in_place(paired, steps_in_order(p, options.order),
                                                     std::move(table), in_place_fit::equal);
    }
    sublet::table<buffer_id, buffer_id> planned(table.buffers.size(), no_buffer);
    formula_numbers numbers(plan.sizes, samples);
    for (buffer_id i = 0; i != table.buffers.size(); ++i) {
        buffer const& b = table.buffers[i];
        if (b.is_unsized()) plan.unsized.push_back(b.root);
        if (!b.is_planned()) continue;
        if (b.conflicting_pin != no_offset && !refuted)
            refuted = counterexample{.what = fault::off_pin,
                                     .of = counterexample::place{.value = b.root,
                                                                 .pool = b.pool,
                                                                 .begin = b.pinned,
                                                                 .needed = b.conflicting_pin},
                                     .at_shape = samples.back()};
        planned[i] = buffer_id::of(plan.buffers.size());
        byte_count alignment = b.alignment;
        if (b.pool < options.pools.size())
            alignment = combine_alignment(alignment, options.pools[b.pool].alignment);
        if (b.pinned != no_offset && b.pinned % alignment != 0 && !refuted)
            refuted =
                counterexample{.what = fault::misaligned,
                               .of = counterexample::place{
                                   .value = b.root, .pool = b.pool, .begin = b.pinned, .needed = alignment}};
        plan.buffers.push_back(
            {b.root, b.life, numbers.number_of(values.bytes[b.root]), alignment, b.pool, b.pinned});
    }
    for (buffer_id b : table.buffer_of) plan.buffer_of.push_back(planned[b]);
    bool has_offsets = false;
    for (formula const& begin : values.in_root) has_offsets = has_offsets || begin != formula{};
    if (has_offsets) plan.offset_in_root = values.in_root;
    return refuted;
}

/// Upper bounds of the bytes of each pool, for every shape, and of samples where sizes are by shape; and what
/// a pin or a capacity refutes.
SUBLET_DECL std::optional<counterexample> bound_pools(symbolic_plan& plan, symbolic_options const& options,
                                                      std::vector<shape> const& samples,
                                                      std::vector<stacked_sample>& sized)
{
    auto misses_pin = [&plan](verdict const& placed, shape const& s) {
        auto const& what = *placed.error().as<counterexample::buffers>();
        return counterexample{.what = fault::off_pin,
                              .of = counterexample::place{.value = plan.buffers[what.buffer].root,
                                                          .pool = what.pool,
                                                          .begin = what.begin,
                                                          .needed = what.needed},
                              .at_shape = s};
    };
    auto exceeds = [&options](table<pool_id, byte_count> const& bytes,
                              shape const& s) -> std::optional<counterexample> {
        for (pool_id p = 0; p != options.pools.size(); ++p)
            if (bytes[p] > options.pools[p].capacity)
                return counterexample{.what = fault::over_capacity,
                                      .of = counterexample::place{.pool = p,
                                                                  .end = bytes[p],
                                                                  .needed = options.pools[p].capacity},
                                      .at_shape = s};
        return std::nullopt;
    };
    std::optional<counterexample> refuted;
    plan.most_bytes.assign(plan.stack.pools, 0);
    for (std::size_t i = 0; i != samples.size(); ++i) {
        verdict const placed = plan.stack.place(sized[i].size, sized[i].at);
        if (!placed) {
            if (!refuted) refuted = misses_pin(placed, samples[i]);
            sized[i].at.bytes.assign(plan.stack.pools, 0);
            continue;
        }
        if (!refuted) refuted = exceeds(sized[i].at.bytes, samples[i]);
        for (pool_id p = 0; p != plan.stack.pools; ++p)
            plan.most_bytes[p] = larger(plan.most_bytes[p], sized[i].at.bytes[p]);
    }
    std::vector<byte_count> bounds, most;
    for (formula const& size : plan.sizes) {
        if (size.is_by_shape()) return refuted;
        bounds.push_back(upper_bound_of(size, options.dims));
    }
    for (symbolic_plan::buffer const& b : plan.buffers) {
        most.push_back(bounds[b.size]);
        bool const has_limit = b.pinned != no_offset ||
                               (b.pool < options.pools.size() && options.pools[b.pool].capacity != no_limit);
        if (most.back() != no_size) continue;
        if (has_limit && !refuted) // nothing is proved of its size
            refuted = counterexample{.what = fault::outside_arena,
                                     .of = counterexample::place{.value = b.root, .pool = b.pool},
                                     .at_shape = shape{}};
        return refuted;
    }
    stacking::offsets highest;
    verdict const placed = plan.stack.place(most, highest);
    if (!placed && !refuted) refuted = misses_pin(placed, {});
    if (!placed) return refuted;
    if (!refuted) refuted = exceeds(highest.bytes, {});
    plan.most_bytes = highest.bytes;
    return refuted;
}

SUBLET_DECL void fill_report(planned_symbolic::summary& report, symbolic_plan const& plan,
                             std::vector<shape> const& samples, std::vector<stacked_sample> const& sized)
{
    report.buffers = plan.buffers.size();
    report.unsized = plan.unsized;
    std::vector<byte_count> count(plan.sizes.size(), 0);
    bool is_known = true;
    for (symbolic_plan::buffer const& b : plan.buffers) ++count[b.size];
    for (std::size_t i = 0; i != count.size(); ++i) {
        is_known = is_known && !plan.sizes[i].is_by_shape();
        is_known = is_known && add_times(report.naive, plan.sizes[i], count[i]);
    }
    bool has_formulas = true;
    for (formula const& size : plan.sizes) has_formulas = has_formulas && !size.is_by_shape();
    if (!is_known) report.naive = formula::by_shape(); // or with too many terms
    report.arena = has_formulas ? top_formula(plan, samples) : formula::by_shape();
    for (std::size_t i = 0; i != samples.size(); ++i) {
        planned_symbolic::summary::sample one{.shape = samples[i]};
        for (byte_count height : sized[i].at.bytes) one.arena_bytes = checked_add(one.arena_bytes, height);
        for (placement::pool_result const& pool : sized[i].own.pools) {
            one.own_bytes = checked_add(one.own_bytes, pool.height);
            one.lower_bound_bytes = checked_add(one.lower_bound_bytes, pool.lower_bound);
        }
        report.samples.push_back(std::move(one));
    }
}

SUBLET_DECL void expect_valid(symbolic_options const& options)
{
    for (std::size_t d = 0; d != options.dims.size(); ++d) {
        dimension const& its = options.dims[d];
        SUBLET_EXPECTS(its.least <= its.most, "sublet: open dimension % is from % to %, which is empty", d,
                       its.least, its.most);
        SUBLET_EXPECTS(its.stride >= 1,
                       "sublet: the stride of open dimension % is 0, but has to be at least 1", d);
    }
    for (pool_id p = 0; p != options.pools.size(); ++p) {
        SUBLET_EXPECTS(
            options.pools[p].largest_block == no_limit,
            "sublet: pool % has a largest block, and a plan for every shape has one block in each pool", p);
        SUBLET_EXPECTS(options.pools[p].guard == 0,
                       "sublet: pool % has a guard, and a plan for every shape keeps none", p);
        SUBLET_EXPECTS(options.pools[p].reserved.empty(),
                       "sublet: pool % has reserved bytes, and plan_symbolic() does not keep them free", p);
        SUBLET_EXPECTS(options.pools[p].page == 1, "sublet: pool % has pages, and plan_symbolic() keeps none",
                       p);
    }
    SUBLET_EXPECTS(options.valid_for != program_reading::control_flow,
                   "sublet: plan_flow() plans for control flow, and for one shape");
    SUBLET_EXPECTS(options.handoffs.empty() || options.valid_for == program_reading::concurrent,
                   "sublet: hand-offs are given, and steps in one order have none: say valid_for = "
                   "program_reading::concurrent");
}

SUBLET_DECL planned_symbolic plan_shapes(snapshot const& p, symbolic_options const& given)
{
    expect_valid(given);
    auto const asked = with_said_views(p, tabulated_options(given, p.values()));
    symbolic_options const& options = *asked;
    std::clock_t const begun = std::clock();
    planned_symbolic result;
    symbolic_plan& plan = result.plan;
    bool const in_any_order = options.valid_for == program_reading::concurrent;
    plan.dims = result.figures.dims = options.dims;
    plan.valid_for = options.valid_for;
    if (!in_any_order) plan.order = options.order;
    plan.handoffs = options.handoffs;
    plan.bytes_at = options.bytes_at;
    plan.buffer_of.assign(p.values(), no_buffer);
    result.figures.steps = p.steps();
    result.figures.values = p.values();

    symbolic_values const values = tabulate_symbolic(p, options);
    sampled_shapes samples = sample_shapes(options);
    for (shape const& s : samples.shapes)
        if (auto unclear = find_unclear(p, options.at(s))) {
            if (unclear->what == fault::unlike_root || unclear->what == fault::unwritten)
                unclear->at_shape = s;
            result.figures.refute(std::move(unclear));
            return result;
        }
    auto const role = options.role.tabulate(p.values(), "role");
    live_ranges lives;
    dependence_graph any_order;
    if (in_any_order) {
        any_order = dependences(p, dependences_of(options, values));
        if (!result.figures.refute(any_order)) return result;
        dependence_graph const with_all_waits = dependences(p, dependences_of(options, values, true));
        if (!result.figures.refute(with_all_waits)) {
            result.figures.error().at_shape = shape{};
            return result;
        }
        lives = touch_ranges(p, role);
    } else {
        lives = lifetimes(p, lifetimes_of(options, values));
        if (!result.figures.refute(lives) || !result.figures.refute(first_backward_edge(p, options.order)))
            return result;
    }
    plan.buffer_of.clear();
    result.figures.refute(open_view(values, options, samples.shapes));
    if (auto refuted = list_symbolic(p, options, values, lives, in_any_order ? &any_order : nullptr,
                                     samples.shapes, plan, result.figures.external))
        if (result) result.figures.refute(std::move(refuted));

    std::vector<stacked_sample> sized;
    unsized_buffers const buffers = without_sizes(plan, options.pools.size());
    if (in_any_order) {
        SUBLET_EXPECTS(buffers.layers.size() <= in_every_schedule::few,
                       "sublet: a plan for every shape and every schedule has % buffers, and may have %",
                       buffers.layers.size(), in_every_schedule::few);
        in_every_schedule reading(p, any_order, buffers, plan.buffer_of, role, options.effort);
        stack_for_shapes(plan, buffers, reading, options, samples, sized);
    } else {
        in_one_order reading(buffers, pack_budgets(options.effort));
        stack_for_shapes(plan, buffers, reading, options, samples, sized);
    }
    auto refuted = bound_pools(plan, options, samples.shapes, sized);
    if (result) result.figures.refute(std::move(refuted));
    fill_report(result.figures, plan, samples.shapes, sized);
    finish_plan(result, begun, options.check, [&] { return check_plan(p, plan, options); });
    return result;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL planned_symbolic plan_symbolic(snapshot const& p, symbolic_options const& given)
{
    planned_symbolic result = detail::plan_shapes(p, given);
    if (!result && given.dims.empty()) result.figures.error().at_shape.reset(); // there is one shape
    return result;
}

} // namespace sublet
