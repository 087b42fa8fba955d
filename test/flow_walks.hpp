// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_FLOW_WALKS_HPP
#define SUBLET_TEST_FLOW_WALKS_HPP

/// Execution of control flow: random programs with all that a plan must respect, and a random walk that keeps
/// values in an arena, as a plan says, and each class of values separately for comparison.
///
///     node 0 -> 2 -> 1 -> 2 -> ...      every byte that a step reads is compared with its expected value
///
/// Where the plan says that bytes are dead, they are painted before the step writes.

#include "operations.hpp"
#include "random_flow.hpp"
#include "random_source.hpp"
#include "view_sizes.hpp"

#include <sublet/plan_flow.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

struct flow_program {
    sublet::snapshot program;
    sublet::plan_options options;
    std::vector<sublet::value_id> alias_of;
    std::vector<sublet::value_role> role;
    std::vector<sublet::byte_count> bytes;
};

/// The flow with random in-place pairs of operands and results of steps.
inline sublet::snapshot with_pairs(random_flow const& f, random_source& pick, std::uint32_t one_in)
{
    std::vector<std::vector<std::vector<sublet::overwrite>>> pairs(f.nodes.size());
    for (std::size_t n = 0; n != f.nodes.size(); ++n)
        for (auto const& step : f.nodes[n].steps) {
            pairs[n].emplace_back();
            for (auto in : step.uses)
                for (auto out : step.defs)
                    if (pick.below(one_in) == 0) pairs[n].back().push_back({0, in, out});
        }
    return sublet::flow(
        f.nodes.size(), f.values, [&f](sublet::node_id n) -> auto& { return f.nodes[n].successors; },
        [&](sublet::node_id n, sublet::effect_sink& s) {
            for (std::size_t i = 0; i != f.nodes[n].steps.size(); ++i) {
                if (i != 0) s.next_step();
                for (auto v : f.nodes[n].steps[i].defs) s.def(v);
                for (auto v : f.nodes[n].steps[i].uses) s.use(v);
                for (auto v : f.nodes[n].steps[i].early) s.use_early(v);
                for (auto o : pairs[n][i]) s.may_overwrite(o.in, o.out);
            }
            for (auto o : f.nodes[n].operands) s.use_at_end_of(o.pred, o.value);
        });
}

inline flow_program draw_flow_program(random_source& pick, flow_limits const& most = {.values = 10})
{
    using namespace sublet;
    using namespace sublet::detail;
    flow_limits limits;
    limits.nodes = 1 + pick.below(most.nodes);
    limits.values = 1 + pick.below(most.values);
    random_flow const f = pick.below(2) == 0 ? draw_flow(pick, limits) : draw_ssa(pick, limits);
    flow_program drawn{with_pairs(f, pick, 1 + pick.below(3)), {.bytes = 1}, {}, {}, {}};
    bool const views = pick.below(3) == 0, pools = pick.below(4) == 0, roles = pick.below(3) != 0;
    bool const pins = pick.below(8) == 0;
    std::uint32_t const sizes = 1 + pick.below(4);
    std::vector<pool_id> pool;
    std::vector<byte_count> alignment, pinned;
    for (value_id v = 0; v != f.values; ++v) {
        drawn.alias_of.push_back(views && v != 0 && pick.below(4) == 0 ? value_id{pick.below(v)} : no_value);
        drawn.bytes.push_back(pick.below(16) == 0 ? (pick.below(2) == 0 ? 0 : no_size)
                                                  : 2 * (1 + pick.below(sizes)));
        std::uint32_t const kind = roles ? pick.below(12) : 0;
        drawn.role.push_back(kind == 1 || kind == 2 ? value_role::input
                             : kind == 3            ? value_role::output
                             : kind == 4            ? value_role::input | value_role::output
                             : kind == 5            ? value_role::external
                                                    : value_role::intermediate);
        pool.push_back(pools ? pick.below(2) : 0);
        alignment.push_back(pick.below(6) == 0 ? 1 + pick.below(6) : 1);
        pinned.push_back(pins && pick.below(5) == 0 ? 60 * pick.below(3) : no_offset);
    }
    for (value_id v = 0; v != f.values; ++v) {
        value_id const root = root_of(drawn.alias_of, v);
        bool const is_external = has_role(drawn.role[v], value_role::external);
        if (is_external && !has_role(drawn.role[root], value_role::external))
            drawn.role[v] = value_role::input;
    }
    drawn.bytes = within_roots(std::move(drawn.bytes), drawn.alias_of);
    drawn.program = with_views(drawn.program, drawn.alias_of, true);
    drawn.options = {.bytes = drawn.bytes,
                     .alignment = alignment,
                     .role = drawn.role,
                     .alias_of = drawn.alias_of,
                     .pool = of_roots(pool, drawn.alias_of),
                     .pinned = pinned};
    drawn.options.in_place = pick.below(8) != 0;
    if (pick.below(4) == 0) { // any order
        for (node_id n = 0; n != f.nodes.size(); ++n) drawn.options.order.push_back(n);
        for (std::uint32_t n = 1; n < f.nodes.size(); ++n)
            std::swap(drawn.options.order[n], drawn.options.order[pick.below(n + 1)]);
    }
    return drawn;
}

/// One walk of `steps()` steps.
class flow_walk {
public:
    flow_walk(flow_program const& f, sublet::planned_flow const& planned) : f_(f), planned_(planned)
    {
        using namespace sublet;
        using namespace sublet::detail;
        for (value_id v = 0; v != f.program.values(); ++v) root_.push_back(root_of(f.alias_of, v));
        for (byte_count size : planned.plan.arena_bytes) arena_.emplace_back(size, paint);
        content_.resize(root_.size());
        is_there_.assign(root_.size(), false);
        position_.resize(f.program.steps());
        position_id at = 0;
        for (node_id n : planned.plan.order)
            for (step_id s = f.program.steps_of(n).first; s != f.program.steps_of(n).last; ++s)
                position_[s] = at++;
    }

    /// Whether every byte that was read was right.
    bool run(random_source& pick, std::size_t most_nodes)
    {
        using namespace sublet;
        using namespace sublet::detail;
        if (f_.program.nodes() == 0) return true;
        for (value_id v = 0; v != root_.size(); ++v)
            if (is_given(f_.role[v])) write(v, pick.random());
        node_id n = 0;
        for (std::size_t k = 0; k != most_nodes; ++k) {
            for (step_id s = f_.program.steps_of(n).first; s != f_.program.steps_of(n).last; ++s)
                if (!do_step(s, pick)) return false;
            auto const next = f_.program.successors(n);
            if (next.empty()) return are_outputs_right();
            node_id const to = pick.one_of(next);
            for (node_id other : next) // the operand of a phi is known at the end of the node
                for (edge_use u : f_.program.edge_uses(other))
                    if (u.pred == n && !is_right(u.value)) return false;
            n = to;
        }
        return true;
    }
    std::size_t steps() const { return steps_; }

private:
    static constexpr std::uint8_t paint = 0xEE;

    bool is_placed(sublet::value_id v) const { return planned_.plan.buffer_of[v] != sublet::no_buffer; }
    sublet::byte_count size_of(sublet::value_id v) const { return f_.bytes[root_[v]]; }
    std::uint8_t* bytes_of(sublet::value_id v)
    {
        auto const& b = planned_.plan.buffers[planned_.plan.buffer_of[v]];
        return arena_[b.pool].data() + b.offset;
    }
    void write(sublet::value_id v, std::uint64_t seed)
    {
        is_there_[v] = true;
        content_[root_[v]] = seed;
        if (!is_placed(v)) return;
        for (sublet::byte_count i = 0; i != size_of(v); ++i) bytes_of(v)[i] = byte_of(seed, i);
    }
    static std::uint8_t byte_of(std::uint64_t seed, std::uint64_t i)
    {
        std::uint64_t const mixed = (seed + i * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
        return static_cast<std::uint8_t>(mixed >> 56);
    }
    bool is_right(sublet::value_id v)
    {
        if (!is_there_[v] || !is_placed(v)) return true;
        for (sublet::byte_count i = 0; i != size_of(v); ++i)
            if (bytes_of(v)[i] != byte_of(content_[root_[v]], i)) return false;
        return true;
    }
    bool are_outputs_right()
    {
        for (sublet::value_id v = 0; v != root_.size(); ++v)
            if (has_role(f_.role[v], sublet::value_role::output) && !is_right(v)) return false;
        return true;
    }
    bool do_step(sublet::step_id s, random_source& pick)
    {
        using namespace sublet;
        using namespace sublet::detail;
        ++steps_;
        for (touch t : f_.program.touches(s))
            if (!t.defines() && !is_right(t.value)) return false;
        paint_dead(position_[s]);
        for (touch t : f_.program.touches(s)) // held to the end, unless the step may write over it
            if (t.kind == touch::access::use && f_.program.overwrites(s).empty() && !is_right(t.value))
                return false;
        for (touch t : f_.program.touches(s))
            if (t.writes()) write(t.value, pick.random());
        return true;
    }
    void paint_dead(sublet::position_id position)
    {
        using namespace sublet;
        using namespace sublet::detail;
        std::vector<std::vector<bool>> is_used;
        for (auto const& pool : arena_) is_used.emplace_back(pool.size());
        for (buffer_id b = 0; b != planned_.plan.buffers.size(); ++b)
            for (live_range r : planned_.lives[b])
                if (contains(r, position)) {
                    auto const& it = planned_.plan.buffers[b];
                    for (byte_count i = 0; i != it.size; ++i) is_used[it.pool][it.offset + i] = true;
                }
        for (std::size_t pool = 0; pool != arena_.size(); ++pool)
            for (std::size_t i = 0; i != arena_[pool].size(); ++i)
                if (!is_used[pool][i]) arena_[pool][i] = paint;
    }

    flow_program const& f_;
    sublet::planned_flow const& planned_;
    sublet::table<sublet::value_id, sublet::value_id> root_;
    sublet::table<sublet::step_id, sublet::position_id> position_;
    std::vector<std::vector<std::uint8_t>> arena_;
    std::vector<std::uint64_t> content_; // by root
    std::vector<bool> is_there_;         // by value
    std::size_t steps_ = 0;
};

#endif
