// SPDX-License-Identifier: BSL-1.0
/// plan_nested(): flattens the tree with its options, refuses what a body and its surroundings
/// say differently of one value, and plans the control flow.

#include <sublet/analysis/internal/late_def.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/plan_nested.hpp>
#include <sublet/planning/detail/previous_places.hpp>
#include <sublet/planning/detail/stages.hpp>

#include <utility>

namespace sublet {

namespace detail {

SUBLET_DECL std::optional<counterexample> unlike_borders(program_tree const& tree, flat_tree const& flat,
                                                         table<program_id, plan_options> const& options,
                                                         plan_options const& all)
{
    buffer_classes const classes =
        group_views(flat.value_of.size(), [&all](value_id v) { return all.alias_of[v]; });
    table<value_id, byte_count> const offset = offsets_in_roots(
        all.alias_of.tabulate(flat.value_of.size()), all.view_offset.tabulate(flat.value_of.size()));
    auto root = [&classes](value_id v) { return classes.root[classes.buffer_of[v]]; };
    plan_options const nothing{.bytes = no_size}; // is said
    std::optional<counterexample> found;
    auto unlike = [&found](fault what, tree_value one, tree_value other, char const* fact, byte_count is,
                           byte_count should_be) {
        if (found || is == should_be) return;
        // The two may be one flat value: they have ids of their own, for their names.
        found = counterexample{
            what, counterexample::view{.value = 0, .other = 1, .end = is, .needed = should_be, .fact = fact}};
        found->value_in_tree = one;
        found->other_in_tree = other;
    };
    for (program_id i = 1; i != tree.size(); ++i) {
        program_body const& body = tree.body(i);
        plan_options const& own = options[i];
        for (program_body::capture c : body.captures) {
            value_id const v = flat.flat_of[i][c.inner];
            pool_id const pool = all.pool[root(v)];
            auto capture = [&](char const* name, byte_count is, byte_count should_be) {
                unlike(fault::unlike_capture, {i, c.inner}, {body.parent, c.outer}, name, is, should_be);
            };
            each_value_fact([&](auto const& fact) {
                auto const is = (own.*fact.member)[c.inner], unsaid = (nothing.*fact.member)[0];
                if (is == unsaid || fact.captured == captured_fact::renamed) return;
                auto should_be = (all.*fact.member)[v];
                if constexpr (std::same_as<decltype(should_be), pool_id>) should_be = pool;
                if constexpr (std::same_as<decltype(should_be), byte_count>) {
                    if (fact.captured == captured_fact::divides) {
                        if (pool < all.pools.size())
                            should_be = combine_alignment(should_be, all.pools[pool].alignment);
                        if (is != 0 && should_be % is == 0) return;
                    }
                }
                capture(fact.name, static_cast<byte_count>(is), static_cast<byte_count>(should_be));
            });
            if (value_id const of = own.alias_of[c.inner]; of != no_value) {
                value_id const to = flat.flat_of[i][of];
                capture("alias_of", +root(to), +root(v));
                capture("view_offset", checked_add(offset[to], own.view_offset[c.inner]), offset[v]);
            }
        }
        auto copy = [&](program_id from, value_id a, program_id to, value_id b) {
            if (a == no_value || b == no_value) return;
            byte_count const is = all.bytes[flat.flat_of[from][a]],
                             should_be = all.bytes[flat.flat_of[to][b]];
            if (is != no_size && should_be != no_size)
                unlike(fault::unlike_binding, {from, a}, {to, b}, "bytes", is, should_be);
        };
        for (program_body::binding b : body.bindings) {
            copy(body.parent, b.initial, i, b.inner);
            copy(i, b.next, i, b.inner);
            copy(i, b.inner, body.parent, b.result);
        }
    }
    return found;
}

/// Says of a use of an undefined value which later step of the same program makes it.
SUBLET_COLD_DECL void explain_late_def_in_tree(counterexample& why, program_tree const& tree,
                                               flat_tree const& flat,
                                               table<program_id, plan_options> const& options)
{
    auto const* const read = why.as<counterexample::access>();
    if (why.what != fault::used_undefined || read->other == no_value) return;
    program_id const in = why.value_in_tree.program;
    snapshot const& p = tree.program_of(in);
    auto const late = late_def(p, options[in].role.tabulate(p.values()),
                               roots_of_views(p, options[in].alias_of), options[in].order);
    if (!late || flat.flat_of[in][late->value()] != why.value()) return;
    counterexample::access use = *read;
    use.has_order = late->as<counterexample::access>()->has_order;
    for (step_id s = 0; s != flat.program.steps() && use.maker == no_step; ++s)
        for (touch t : flat.program.touches(s))
            if (t.defines() && t.value == use.value) use.maker = s;
    why.of = use;
}

} // namespace detail

SUBLET_DECL planned_nested plan_nested(program_tree const& tree, table<program_id, plan_options> const& given,
                                       flow_options const& how)
{
    for (plan_options const& one : given) detail::expect_no_previous(one, "plan_nested");
    for (plan_options const& one : given) detail::expect_no_pages(one, "plan_nested()");
    detail::flat_tree_with_options flattened = detail::flatten_with_options(tree, given);
    table<program_id, plan_options> const& options = flattened.own;
    planned_nested result;
    result.flat = std::move(flattened.flat);
    flat_tree const& flat = result.flat;
    plan_options const& all = flattened.all;
    if (auto unlike = detail::unlike_borders(tree, flat, options, all)) {
        result.plan.valid_for = result.figures.reading = program_reading::control_flow;
        result.plan.buffer_of.assign(flat.value_of.size(), no_buffer);
        result.figures.refute(std::move(unlike));
        return result;
    }
    static_cast<planned_flow&>(result) = plan_flow(flat.program, all, how);

    memory_plan const& plan = result.plan;
    buffer_classes const classes =
        group_views(flat.value_of.size(), [&all](value_id v) { return all.alias_of[v]; });
    for (flat_tree::move const& m : flat.moves) {
        buffer_id const from = plan.buffer_of[m.from], to = plan.buffer_of[m.to];
        bool const is_there = from != no_buffer && to != no_buffer &&
                              plan.buffers[from].pool == plan.buffers[to].pool &&
                              plan.offset_of(m.from) == plan.offset_of(m.to);
        value_id const root = classes.root[classes.buffer_of[m.from]]; // sizes a view
        if (!is_there && all.bytes[root] != 0) result.copies.push_back(m);
    }
    if (!result) {
        auto named = [&](value_id v) { return v == no_value ? tree_value{} : flat.value_of[v]; };
        counterexample& why = result.figures.error();
        table<position_id, step_id> const steps = detail::steps_in_order(flat.program, plan.order);
        why.value_in_tree = named(why.value());
        why.other_in_tree = named(why.other());
        if (why.position() < steps.size()) detail::set_step(why, steps[why.position()]);
        detail::explain_late_def_in_tree(why, tree, flat, options);
    }
    return result;
}

} // namespace sublet
