// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_flow_plan.hpp>

#include "../flow_nodes.hpp"
#include "../operations.hpp"
#include "../placed_values.hpp"
#include "../random_source.hpp"
#include "../view_sizes.hpp"
#include "flow_walks.hpp"

#include <sublet/plan_flow.hpp>

#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using flow_nodes::ids, flow_nodes::node, flow_nodes::program_of;

namespace {

/// A buffer for each value of 64 bytes, at the given offsets.
memory_plan plan_of(std::vector<byte_count> const& offsets)
{
    memory_plan plan = flow_plan_at(offsets, 64);
    plan.arena_bytes = {1024};
    return plan;
}

/// The definition, value by value: after each path, is it unwritten, intact or clobbered? All states that
/// paths can reach are visited.
class path_oracle {
public:
    path_oracle(flow_program const& f, memory_plan const& plan) : f_(f), plan_(plan)
    {
        for (value_id v = 0; v != f.program.values(); ++v) root_.push_back(root_of(f.alias_of, v));
    }
    bool has_clash() const
    {
        for (value_id v = 0; v != root_.size(); ++v)
            if (plan_.buffer_of[v] != no_buffer && is_clobbered_at_use(v)) return true;
        return false;
    }

private:
    enum state { nothing, right, clobbered };
    bool shares_bytes(value_id a, value_id b) const
    {
        if (plan_.buffer_of[a] == no_buffer || plan_.buffer_of[b] == no_buffer || root_[a] == root_[b])
            return false;
        auto const &x = plan_.buffers[plan_.buffer_of[a]], &y = plan_.buffers[plan_.buffer_of[b]];
        return x.pool == y.pool && x.offset < y.offset + f_.bytes[root_[b]] &&
               y.offset < x.offset + f_.bytes[root_[a]];
    }
    bool is_clobbered_at_use(value_id v) const
    {
        snapshot const& p = f_.program;
        std::vector<std::vector<bool>> is_seen(p.nodes(), std::vector<bool>(3));
        std::vector<std::pair<node_id, state>> open;
        auto propagate = [&](node_id n, state now) {
            if (!is_seen[n][now]) open.push_back({n, now});
            is_seen[n][now] = true;
        };
        state first = is_given(f_.role[v]) ? right : nothing;
        for (value_id w = 0; w != root_.size(); ++w)
            if (first == right && is_given(f_.role[w]) && shares_bytes(v, w)) first = clobbered;
        propagate(0, first);
        while (!open.empty()) {
            auto [n, now] = open.back();
            open.pop_back();
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                bool is_held = false, is_written = false;
                bool makes = false;
                for (touch t : p.touches(s)) makes |= t.value == v && t.defines();
                for (touch t : p.touches(s)) // a view is of bytes that are intact
                    if (t.makes_view() && root_[t.value] == v && !makes && now == clobbered) return true;
                for (touch t : p.touches(s)) {
                    if (t.value != v) continue;
                    if (t.defines()) is_written = true;
                    else if (now == clobbered) return true;
                    else is_held = is_held || t.kind == touch::access::use;
                }
                bool is_clobbered = false;
                for (touch t : p.touches(s))
                    if (t.writes() && shares_bytes(v, t.value)) {
                        is_clobbered = true;
                        if (is_written || (is_held && !may_take(s, v, t.value))) return true;
                    }
                if (is_written) now = right;
                else if (is_clobbered && now == right) now = clobbered;
            }
            auto const next = p.successors(n);
            bool is_read = false;
            for (edge_use u : p.edge_uses()) is_read = is_read || (u.pred == n && u.value == v);
            if (has_role(f_.role[v], value_role::output)) is_read = is_read || !leads_out(n) || next.empty();
            if (is_read && now == clobbered) return true;
            for (node_id s : next) propagate(s, now);
        }
        return false;
    }
    bool leads_out(node_id from) const
    {
        std::vector<bool> is_seen(f_.program.nodes());
        std::vector<node_id> open{from};
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            if (is_seen[n]) continue;
            is_seen[n] = true;
            if (f_.program.successors(n).empty()) return true;
            for (node_id s : f_.program.successors(n)) open.push_back(s);
        }
        return false;
    }
    bool may_take(step_id s, value_id in, value_id out) const
    {
        auto const &x = plan_.buffers[plan_.buffer_of[in]], &y = plan_.buffers[plan_.buffer_of[out]];
        bool is_declared = false;
        for (overwrite o : f_.program.overwrites(s))
            is_declared = is_declared || (o.in == in && o.out == out);
        return f_.options.in_place && is_declared && x.offset == y.offset &&
               f_.bytes[root_[out]] <= f_.bytes[root_[in]];
    }

    flow_program const& f_;
    memory_plan const& plan_;
    std::vector<value_id> root_;
};

} // namespace

TEST_CASE("a write on one of two paths clobbers what is read where they meet")
{
    snapshot const p = program_of(2, {{{1, 2}, {}, {0}}, {{3}, {}, {1}}, {{3}, {}, {}}, {{}, {0}, {}}});
    auto const valid = check_flow_plan(p, plan_of({0, 32}), {.bytes = 64});
    REQUIRE(!valid);
    CHECK(valid.error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 1, .position = 1, .begin = 32, .end = 64}});
    CHECK(check_flow_plan(p, plan_of({0, 64}), {.bytes = 64}));
    // If a is not read after the write, the write is valid.
    snapshot const apart = program_of(2, {{{1, 2}, {}, {0}}, {{3}, {}, {1}}, {{3}, {0}, {}}, {{}, {}, {}}});
    CHECK(check_flow_plan(apart, plan_of({0, 32}), {.bytes = 64}));
}

// REGRESSIONS, user thread 4: storage of `then` was used in `else`.
TEST_CASE("storage that one branch writes is not free in the other branch if it is read after both")
{
    // then: t = ..; r = t     else: e = ..; r = ..     use r: e may not overlap r
    snapshot const p = program_of(3, {{{1, 3}, {}, {}},
                                      {{2}, {}, {0}},
                                      {{5}, {0}, {1}},
                                      {{4}, {}, {1, 2}},
                                      {{5}, {2}, {}},
                                      {{}, {1}, {}}});
    CHECK(check_flow_plan(p, plan_of({0, 64, 0}), {.bytes = 64}));
    auto const valid = check_flow_plan(p, plan_of({0, 64, 64}), {.bytes = 64});
    REQUIRE(!valid);
    CHECK(valid.error().what == fault::clash);
    CHECK(valid.error().position() == 3);
}

TEST_CASE("a step may write over its operand only if that is declared, and the operand is not read later")
{
    auto check = [](bool is_declared, bool is_read_later, byte_count offset, bool in_place = true) {
        snapshot const p = program_of(
            2, {{{1}, {}, {0}},
                {{2}, {0}, {1}, is_declared ? std::vector{overwrite{0, 0, 1}} : std::vector<overwrite>{}},
                {{}, is_read_later ? ids{0} : ids{1}, {}}});
        return check_flow_plan(p, plan_of({0, offset}), {.bytes = 64, .in_place = in_place});
    };
    CHECK(check(true, false, 0));
    CHECK_FALSE(check(true, true, 0));
    CHECK_FALSE(check(true, false, 32));
    CHECK_FALSE(check(false, false, 0));
    CHECK_FALSE(check(true, false, 0, false));
    CHECK(check(false, true, 64));
}

TEST_CASE("results of a step are disjoint, also unread ones")
{
    snapshot const p = program_of(2, {{{}, {}, {0, 1}}});
    CHECK(check_flow_plan(p, plan_of({0, 64}), {.bytes = 64}));
    CHECK(!check_flow_plan(p, plan_of({0, 63}), {.bytes = 64}));
}

TEST_CASE("inputs are disjoint, and outputs are intact wherever the program may end")
{
    snapshot const in = program_of(2, {{{}, {0}, {}}});
    CHECK(!check_flow_plan(in, plan_of({0, 32}), {.bytes = 64, .role = value_role::input}));
    CHECK(check_flow_plan(in, plan_of({0, 64}), {.bytes = 64, .role = value_role::input}));

    std::vector<value_role> const role{value_role::output, value_role::intermediate};
    snapshot const out = program_of(2, {{{1, 2}, {}, {0}}, {{}, {}, {1}}, {{}, {}, {}}});
    CHECK(!check_flow_plan(out, plan_of({0, 0}), {.bytes = 64, .role = role}));
    snapshot const infinite_loop = program_of(2, {{{1}, {}, {0}}, {{2}, {}, {1}}, {{1}, {1}, {}}});
    CHECK(!check_flow_plan(infinite_loop, plan_of({0, 0}), {.bytes = 64, .role = role}));
    CHECK(check_flow_plan(infinite_loop, plan_of({0, 64}), {.bytes = 64, .role = role}));
}

TEST_CASE("a view that reads its root leaves it intact, and is clobbered with it")
{
    // 0: def a; 1: use a, def b (a view of a); 2: def c; 3: use a, use b
    ids const views{no_value, 0, no_value};
    snapshot const p =
        with_views(program_of(3, {{{1}, {}, {0}}, {{2}, {0}, {1}}, {{3}, {}, {2}}, {{}, {0, 1}, {}}}), views);
    plan_options const options{.bytes = 64, .alias_of = views};
    memory_plan plan = plan_of({0, 0, 64});
    CHECK(check_flow_plan(p, plan, options));
    plan = plan_of({0, 0, 32});
    auto const valid = check_flow_plan(p, plan, options);
    REQUIRE(!valid);
    CHECK(valid.error().position() == 2);
    CHECK(check_flow_plan(p, plan_of({0, 64, 128}), options).error().what == fault::misplaced_view);
}

TEST_CASE("a plan of another program, reading or order is foreign")
{
    snapshot const p = program_of(1, {{{1}, {}, {0}}, {{}, {}, {}}});
    memory_plan plan = plan_of({0});
    auto is_foreign = [&](plan_options const& options = {.bytes = 64}) {
        auto const valid = check_flow_plan(p, plan, options);
        return !valid && valid.error().what == fault::foreign_plan;
    };
    CHECK_FALSE(is_foreign());
    CHECK(is_foreign({.bytes = 64, .order = {1, 0}}));
    plan.order = {0, 0};
    CHECK(is_foreign());
    plan.order = {0};
    CHECK(is_foreign());
    plan.order = {1, 2};
    CHECK(is_foreign());
    plan.order = {1, 0};
    CHECK_FALSE(is_foreign());
    plan.valid_for = program_reading::sequential;
    CHECK(is_foreign());
    plan = plan_of({0, 64});
    CHECK(is_foreign());
    CHECK(check_flow_plan(snapshot(), {.valid_for = program_reading::control_flow}, {.bytes = 64}));
}

TEST_CASE("undefined reads are faults unless allowed, and then clobbered values are still found")
{
    // 0 -> 1: def a -> 2: def b -> 3: use a, and 0 -> 2
    snapshot const p = program_of(2, {{{1, 2}, {}, {}}, {{2}, {}, {0}}, {{3}, {}, {1}}, {{}, {0}, {}}});
    auto const valid = check_flow_plan(p, plan_of({0, 64}), {.bytes = 64});
    REQUIRE(!valid);
    CHECK(valid.error() == counterexample{fault::used_undefined,
                                          counterexample::access{.value = 0, .other = 0, .position = 3}});
    CHECK(check_flow_plan(p, plan_of({0, 64}), {.bytes = 64}, {.allows_undefined = true}));
    CHECK(check_flow_plan(p, plan_of({0, 0}), {.bytes = 64}, {.allows_undefined = true}).error().what ==
          fault::clash);
    // Where the write comes before every def, no value is clobbered.
    snapshot const early = program_of(2, {{{1}, {}, {1}}, {{2, 3}, {}, {}}, {{3}, {}, {0}}, {{}, {0}, {}}});
    CHECK(check_flow_plan(early, plan_of({0, 0}), {.bytes = 64}, {.allows_undefined = true}));
}

namespace {

/// Whether two given values of different roots share bytes.
bool do_given_overlap(flow_program const& f, memory_plan const& plan)
{
    for (value_id v = 0; v != f.program.values(); ++v)
        for (value_id u = 0; u != v; ++u) {
            value_id const a = root_of(f.alias_of, u), b = root_of(f.alias_of, v);
            bool const are_placed = plan.buffer_of[u] != no_buffer && plan.buffer_of[v] != no_buffer;
            if (a == b || !are_placed || !is_given(f.role[u]) || !is_given(f.role[v])) continue;
            if (plan.buffers[plan.buffer_of[u]].pool != plan.buffers[plan.buffer_of[v]].pool) continue;
            byte_count const at = plan.offset_of(a), other = plan.offset_of(b);
            if (at < other + f.bytes[b] && other < at + f.bytes[a]) return true;
        }
    return false;
}

} // namespace

TEST_CASE("the checker agrees with an enumeration of the states of all paths, for valid and broken plans")
{
    std::size_t sound = 0, moved = 0, faulty = 0;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_program f = draw_flow_program(pick);
        f.options.pinned = no_offset;
        f.options.alignment = byte_count{1};
        flow_options const flow{.allows_undefined = pick.below(2) == 0};
        plan_options unchecked = f.options;
        unchecked.check = false;
        planned_flow const planned = plan_flow(f.program, unchecked, flow);
        if (!planned) {
            CHECK(planned.error().what == fault::used_undefined);
            auto const valid = check_flow_plan(f.program, planned.plan, f.options, flow);
            REQUIRE(!valid);
            REQUIRE(valid.error().what == fault::used_undefined);
            continue;
        }
        ++sound;
        memory_plan plan = planned.plan;
        REQUIRE(check_flow_plan(f.program, plan, f.options, flow));
        REQUIRE_FALSE(path_oracle(f, plan).has_clash());
        if (plan.buffers.empty()) continue;
        // A buffer of a plan may hold several classes: each gets its own, to be moved.
        plan.buffers.clear();
        for (value_id v = 0; v != f.program.values(); ++v) {
            buffer_id const b = plan.buffer_of[v];
            if (b == no_buffer) continue;
            plan.buffers.push_back(planned.plan.buffers[b]);
            plan.buffer_of[v] = buffer_id::of(plan.buffers.size() - 1);
            for (value_id r = v; f.alias_of[r] != no_value; r = f.alias_of[r])
                if (f.alias_of[r] < v) plan.buffer_of[v] = plan.buffer_of[f.alias_of[r]];
        }
        for (int changes = 0; changes != 4; ++changes) {
            auto const which = pick.below(static_cast<std::uint32_t>(plan.buffers.size()));
            memory_plan::placed_buffer& b = plan.buffers[which];
            b.offset = pick.below(static_cast<std::uint32_t>(plan.arena_bytes[b.pool] - b.size + 1));
            auto const valid = check_flow_plan(f.program, plan, f.options, flow);
            bool const has_clash = path_oracle(f, plan).has_clash() || do_given_overlap(f, plan);
            REQUIRE(bool{valid} == !has_clash);
            ++moved;
            if (valid) continue;
            ++faulty;
            REQUIRE(valid.error().what == fault::clash);
            auto const* both = valid.error().as<counterexample::overlap>();
            REQUIRE(both != nullptr);
            REQUIRE(both->begin < both->end);
            bool is_written_there = false;
            position_id at = 0;
            for (node_id n : plan.order)
                for (step_id s = f.program.steps_of(n).first; s != f.program.steps_of(n).last; ++s, ++at)
                    for (touch t : f.program.touches(s))
                        if (at == both->position && t.writes() && t.value == both->other)
                            is_written_there = true;
            REQUIRE((is_written_there || is_given(f.role[both->other])));
        }
    }
    MESSAGE(sound, " sound plans, ", moved, " moved, ", faulty, " of them wrong");
    CHECK(faulty > 100);
    CHECK(faulty < moved);
}

TEST_CASE("plans keep guards on all paths, and the checker agrees with an enumeration of larger values")
{
    std::size_t planned_ones = 0, sound = 0, too_close = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        flow_program f = draw_flow_program(pick);
        f.options.pinned = no_offset;
        f.options.alignment = byte_count{1};
        flow_options const flow{.allows_undefined = true};
        planned_flow const closer = plan_flow(f.program, f.options, flow);
        if (!closer) continue; // it reads what nothing defines
        byte_count const guard = 1 + pick.below(16);
        plan_options guarded = f.options;
        guarded.pools = std::vector<pool_limits>(4, {.guard = guard});
        flow_program larger = f;
        for (byte_count& bytes : larger.bytes) bytes += bytes != 0 ? guard : 0;
        planned_flow const planned = plan_flow(f.program, guarded, flow);
        REQUIRE(planned);
        ++planned_ones;
        for (memory_plan const& plan : {closer.plan, planned.plan}) {
            auto const valid = check_flow_plan(f.program, plan, guarded, flow);
            bool const has_clash = path_oracle(larger, plan).has_clash() || do_given_overlap(larger, plan);
            REQUIRE(bool{valid} == !has_clash);
            ++(valid ? sound : too_close);
            if (!valid) CHECK(valid.error().what == fault::too_close);
        }
    }
    CHECK(planned_ones > rounds(2000) / 3);
    CHECK(sound > planned_ones);
    CHECK(too_close > planned_ones / 4);
}

TEST_CASE("given values that overlap are refused, although nothing reads them")
{
    for (std::size_t nodes : {0u, 1u}) {
        snapshot const p = flow(
            nodes, 2, [](node_id) { return std::vector<node_id>{}; }, [](node_id, effect_sink&) {});
        plan_options const options{.bytes = 8, .role = value_role::input};
        memory_plan plan = plan_flow(p, options).plan;
        CHECK(check_flow_plan(p, plan, options));
        plan.buffers[1].offset = plan.buffers[0].offset + 4;
        auto const valid = check_flow_plan(p, plan, options);
        REQUIRE(!valid);
        CHECK(valid.error().what == fault::clash);
        auto const* both = valid.error().as<counterexample::overlap>();
        REQUIRE(both != nullptr);
        CHECK(both->begin == plan.buffers[1].offset);
        CHECK(both->end == plan.buffers[0].offset + 8);
    }
}

} // namespace this_test
