// SPDX-License-Identifier: BSL-1.0

/// shaped_values: most sizes are those of buffers, which the plan evaluates once for each formula; the others
/// are listed when it is made. Lowering is that of the first shape, with one difference: a view that has no
/// bytes for one shape may have some for another, so whatever touches a buffer counts as an access.

#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/checking/internal/check_waits.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/execution/detail/plan_addresses.hpp>
#include <sublet/execution/detail/shaped_values.hpp>
#include <sublet/execution/detail/wait_finder.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

namespace sublet::detail {

SUBLET_DECL shaped_values::shaped_values(arena_blocks const& blocks, symbolic_options const& options,
                                         std::size_t values)
    : blocks_(&blocks), is_whole_(values, 0), bytes_(values, 0)
{
    symbolic_plan const& plan = blocks.plan();
    if (!plan.offset_in_root.empty()) begin_.assign(values, 0);
    for (value_id v = 0; v != values; ++v) {
        formula its = options.bytes[v];
        buffer_id const b = plan.buffer_of[v];
        bool const is_by_shape = its.is_by_shape();
        bool const is_whole = b != no_buffer && (is_by_shape ? plan.buffers[b].root == v
                                                             : plan.sizes[plan.buffers[b].size] == its);
        if (is_whole) is_whole_[v] = 1;
        else if (!its.is_known()) bytes_[v] = no_size;
        else if (its.is_constant() && !is_by_shape) bytes_[v] = its.at({});
        else open_.push_back({v, std::move(its)});
    }
}

SUBLET_DECL void shaped_values::find(lowered_program const& lowered, shape_view one)
{
    SUBLET_EXPECTS(
        blocks_ != nullptr,
        "sublet: set_shape() is called for an executor that was made with the options of one shape");
    symbolic_plan const& plan = blocks_->plan();
    plan.place(one, now_);
    table<pool_id, byte_count> const& arenas = now_.at.bytes;
    for (pool_id pool = 0; pool != arenas.size(); ++pool)
        if (arenas[pool] != 0) (void)blocks_->address_for(pool, arenas[pool], 1);
    for (value_id v = 0; v != bytes_.size(); ++v)
        if (is_whole_[v]) bytes_[v] = now_.size[+plan.buffer_of[v]];
    for (open_size const& its : open_)
        bytes_[its.value] =
            its.bytes.is_by_shape() ? plan.bytes_at(its.value, now_.shape) : its.bytes.at(now_.shape);
    for (value_id v = 0; v != begin_.size(); ++v) begin_[v] = plan.offset_in_root[v].at(now_.shape);
    for (value_id v = 0; v != bytes_.size(); ++v) { // sizes by shape are not proved
        value_id const root = lowered.table.buffers[lowered.table.buffer_of[v]].root;
        byte_count const begin = begin_.empty() ? 0 : begin_[v], whole = bytes_[root];
        byte_count const own = bytes_[v] == no_size ? 0 : bytes_[v];
        if (whole == no_size || (begin <= whole && own <= whole - begin)) continue;
        throw unsound_plan({.what = fault::oversized_view,
                            .of = counterexample::view{.value = v,
                                                       .other = root,
                                                       .end = checked_add(begin, own),
                                                       .needed = whole},
                            .at_shape = now_.shape});
    }
    for (buffer const& b : lowered.table.buffers) {
        if (bytes_[b.root] == 0 || !(b.is_planned() || b.is_empty_storage())) continue;
        buffer_id const its = plan.buffer_of[b.root];
        if (its == no_buffer)
            throw unsound_plan({.what = fault::unplaced,
                                .of = counterexample::place{.value = b.root},
                                .at_shape = now_.shape});
        expect_place(b, bytes_[b.root], now_.at.of[its], arenas[b.pool]);
    }
}

SUBLET_DECL void shaped_values::apply(lowered_program& lowered) const
{
    if (!begin_.empty()) lowered.table.offset_in_root = begin_;
    for (buffer& b : lowered.table.buffers) b.size = bytes_[b.root];
    for (value_id v = 0; v != bytes_.size(); ++v)
        lowered.bytes[v] = std::min(bytes_[v], lowered.table.buffers[lowered.table.buffer_of[v]].size);
}

/// What the plan places, for any shape, is what needs storage, in the same pools.
/// Throws: unsound_plan.
SUBLET_DECL void expect_same_storage(lowered_program const& lowered, symbolic_plan const& plan)
{
    for (buffer const& b : lowered.table.buffers) {
        buffer_id const its = plan.buffer_of[b.root];
        if (its == no_buffer) continue; // find() refuses it for shapes for which it has bytes
        bool const needs_storage = b.is_planned() || b.is_empty_storage();
        if (!needs_storage || plan.buffers[its].pool != b.pool) throw unsound_plan({fault::foreign_plan});
    }
}

/// The options of one shape, in which a view with an open place or size is all of its storage, and each
/// storage has bytes.
SUBLET_DECL plan_options options_of_whole_views(snapshot const& p, symbolic_options const& options,
                                                symbolic_plan const& plan, plan_options made)
{
    table<value_id, formula> const bytes = options.bytes.tabulate(p.values(), "bytes");
    table<value_id, value_id> root = roots_of(options.alias_of.tabulate(p.values(), "alias_of"));
    table<value_id, byte_count> size, begin;
    byte_count whole = 1; // more than any of the other views
    for (value_id v = 0; v != p.values(); ++v) {
        formula const place = plan.offset_in_root.empty() ? formula{} : plan.offset_in_root[v];
        // One without bytes counts as all of a storage that may have none, either.
        bool const has_bytes = bytes[v].is_constant() && bytes[v] != formula{};
        bool const is_placed = root[v] != v && has_bytes && place.is_constant();
        begin.push_back(is_placed ? place.at({}) : 0);
        size.push_back(is_placed ? bytes[v].at({}) : no_size);
        if (is_placed) whole = std::max(whole, checked_add(begin[v], size[v]) + 1);
    }
    for (value_id v = 0; v != p.values(); ++v)
        if (size[v] == no_size && bytes[root[v]].is_known()) size[v] = whole;
    for (value_id v = 0; v != p.values(); ++v)
        if (root[v] == v) root[v] = no_value;
    made.bytes = std::move(size);
    made.alias_of = std::move(root);
    made.view_offset = std::move(begin);
    return made;
}

/// The waits of a lowered program in which values have the sizes and places of other options.
SUBLET_DECL step_waits waits_of_whole_views(snapshot const& p, plan_options const& whole,
                                            lowered_program lowered, std::vector<handoff> const& handoffs)
{
    lowered.bytes = whole.bytes.tabulate(p.values(), "bytes");
    lowered.table.offset_in_root = whole.view_offset.tabulate(p.values(), "view_offset");
    for (buffer& b : lowered.table.buffers) b.size = lowered.bytes[b.root];
    wait_finder finder(p, whole, lowered);
    finder.follow_touches(nullptr);
    finder.follow_edges();
    finder.follow(handoffs);
    return finder.reduced();
}

/// Each position waits for the one before.
SUBLET_DECL step_waits one_after_another(std::uint32_t positions)
{
    step_waits waits;
    for (position_id at = 1; at < positions; ++at)
        waits.list.push_back({at - 1, at, step_waits::kind::handoff});
    auto rows = [&](position_id step_waits::wait::* of, position_id step_waits::wait::* which) {
        return csr_rows<position_id, position_id>::gathered(positions, [&](auto add) {
            for (step_waits::wait const& w : waits.list) add(w.*of, w.*which);
        });
    };
    waits.after = rows(&step_waits::wait::from, &step_waits::wait::to);
    waits.before = rows(&step_waits::wait::to, &step_waits::wait::from);
    return waits;
}

SUBLET_DECL shaped_program proved_shapes(snapshot const& p, symbolic_options const& given, arena const& mode,
                                         executor_options const& settings,
                                         std::vector<handoff> const& handoffs)
{
    arena_blocks const* const blocks = blocks_of_arena::of(mode);
    SUBLET_EXPECTS(
        blocks != nullptr,
        "sublet: an executor for every shape takes the arena of a growing arena, memory.at(shape)");
    auto asked = with_said_views(p, tabulated_options(given, p.values()));
    if (given.bytes_at) asked.own().bytes_at = blocks->plan().bytes_at; // one callable for all sizes by shape
    bool const is_any_schedule = blocks->plan().valid_for == program_reading::concurrent;
    SUBLET_EXPECTS(asked->valid_for == blocks->plan().valid_for,
                   is_any_schedule
                       ? "sublet: the plan for every shape is for every schedule, and valid_for of the "
                         "options says another reading"
                       : "sublet: the plan for every shape is for one order, and valid_for of the "
                         "options says another reading");
    bool const proves = settings.prove && settings.check != executor_options::checks::off;
    if (proves)
        if (verdict const valid = check_plan(p, blocks->plan(), *asked); !valid)
            throw unsound_plan(valid.error());
    if (blocks->plan().buffer_of.size() != p.values()) throw unsound_plan({fault::foreign_plan});
    shape const& one = blocks_of_arena::shape_of(mode);
    if (mode.plan != blocks->plan().at(one)) throw unsound_plan({fault::foreign_plan}); // it was changed
    plan_options first = asked->at(one);
    std::vector<handoff> const kept = all_handoffs(p, &mode.plan, handoffs);
    lowered_program lowered;
    step_waits waits;
    if (is_any_schedule) {
        plan_options const whole = options_of_whole_views(p, *asked, blocks->plan(), first);
        lowered =
            lower_program(p, options_of_plan(p, first, mode.plan), concurrent_step_order(p, whole, kept));
        waits = waits_of_whole_views(p, whole, lowered, kept);
        if (proves)
            if (verdict const valid = check_waits(p, whole, nullptr, lowered.step_at, waits.after, kept);
                !valid)
                throw unsound_plan(valid.error());
    } else {
        lowered = lower_planned(p, options_of_plan(p, first, mode.plan), &mode.plan);
        waits = one_after_another(lowered.positions());
    }
    shaped_program made{std::move(lowered),
                        std::move(waits),
                        {},
                        shaped_values(*blocks, *asked, p.values()),
                        std::move(first)};
    made.lowered.accessed = made.lowered.touched;
    expect_same_storage(made.lowered, blocks->plan());
    // A pool without bytes for the first shape may have some for another.
    made.lowered.pools = std::max(made.lowered.pools, blocks->plan().most_bytes.size());
    made.with_bytes = made.lowered;
    for (buffer& b : made.with_bytes.table.buffers)
        if (blocks->plan().buffer_of[b.root] != no_buffer && b.size == 0) b.size = 1;
    return made;
}

} // namespace sublet::detail
