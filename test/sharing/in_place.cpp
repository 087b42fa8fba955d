// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/pressure.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/sharing/in_place.hpp>

#include "../operations.hpp"
#include "../random_source.hpp"

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using operations = std::vector<operation>;

buffer_table joined(operations const& ops, std::size_t values, plan_options const& options)
{
    auto p = program_of(ops, values);
    auto lives = lifetimes(p, {.role = options.role});
    REQUIRE(lives);
    return take_in_place(p, steps_in_order(p, {}), gather_buffers(lives, options));
}

bool joins(operations const& ops, std::size_t values, plan_options const& options, value_id a, value_id b)
{
    auto t = joined(ops, values, options);
    return t.buffer_of[a] == t.buffer_of[b];
}

operations const relu{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {}}};

} // namespace

TEST_CASE("a result is written over an operand with its last use there")
{
    auto t = joined(relu, 3, {.bytes = 8});
    REQUIRE(t.buffers.size() == 2);
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 0, 1});
    CHECK(t.buffers[0].root == 0);
    CHECK(t.buffers[0].life == live_range{0, 3});
}

TEST_CASE("without a declared pair nothing is joined")
{
    CHECK(!joins({{{}, {0}, {}}, {{0}, {1}, {}}}, 2, {.bytes = 8}, 0, 1));
}

TEST_CASE("an operand that is read later is kept")
{
    CHECK(!joins({{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{0, 1}, {2}, {}}}, 3, {.bytes = 8}, 0, 1));
}

TEST_CASE("an operand with a later reader of one of its views is kept")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {}}, {{0}, {2}, {{0, 2}}}, {{1, 2}, {3}, {}}};
    CHECK(!joins(ops, 4, {.bytes = 8, .alias_of = {-1, 0, -1, -1}}, 0, 2));
    CHECK(joins(ops, 4, {.bytes = 8}, 0, 2));
}

TEST_CASE("an operand that is written again later is kept")
{
    CHECK(!joins({{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{}, {0}, {}}}, 2, {.bytes = 8}, 0, 1));
}

TEST_CASE("an operand with a view that the same step reads is kept")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {}}, {{0, 1}, {2}, {{0, 2}}}};
    CHECK(!joins(ops, 3, {.bytes = 8, .alias_of = {-1, 0, -1}}, 0, 2));
}

// PaddlePaddle's transpiler: a variable that the operation reads and writes is not replaced (SYSTEMS T5).
TEST_CASE("an operand that the step writes as well is kept")
{
    CHECK(!joins({{{}, {0}, {}}, {{0}, {0, 1}, {{0, 1}}}}, 2, {.bytes = 8}, 0, 1));
}

TEST_CASE("outputs, pinned, external and ineligible operands are kept; an input may be overwritten")
{
    auto with = [](value_role r) {
        return plan_options{
            .bytes = 8,
            .role = std::vector<value_role>{r, value_role::intermediate, value_role::intermediate}};
    };
    CHECK(!joins(relu, 3, with(value_role::output), 0, 1));
    CHECK(!joins(relu, 3, with(value_role::external), 0, 1));
    CHECK(!joins(relu, 3, with(value_role::state), 0, 1));
    CHECK(joins(relu, 3, with(value_role::input), 0, 1));
    CHECK(!joins(relu, 3, {.bytes = 8, .pinned = std::vector<byte_count>{0, no_offset, no_offset}}, 0, 1));
    CHECK(!joins(relu, 3, {.bytes = 8, .pinned = std::vector<byte_count>{no_offset, 0, no_offset}}, 0, 1));
    CHECK(!joins(relu, 3, {.bytes = 8, .eligible = std::vector<bool>{false, true, true}}, 0, 1));
}

TEST_CASE("an output is kept at the last step although its live range ends there")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}};
    CHECK(!joins(
        ops, 2, {.bytes = 8, .role = std::vector<value_role>{value_role::output, value_role::output}}, 0, 1));
}

TEST_CASE("only buffers of one pool and known size are joined, and results no larger than the operand")
{
    CHECK(joined(relu, 3, {.bytes = {4, 8, 8}}).in_place.empty());
    CHECK(!joins(relu, 3, {.bytes = 8, .pool = {0, 1, 0}}, 0, 1));
    CHECK(!joins(relu, 3, {.bytes = no_size}, 0, 1));
}

TEST_CASE("one output per input, the first declared; one input per output")
{
    auto two_outputs =
        joined({{{}, {0}, {}}, {{0}, {1, 2}, {{0, 1}, {0, 2}}}, {{2}, {}, {}}}, 3, {.bytes = 8});
    CHECK(two_outputs.buffer_of == std::vector<buffer_id>{0, 0, 1});
    auto two_inputs = joined({{{}, {0, 1}, {}}, {{0, 1}, {2}, {{0, 2}, {1, 2}}}}, 3, {.bytes = 8});
    CHECK(two_inputs.buffer_of == std::vector<buffer_id>{0, 1, 0});
}

TEST_CASE("a pair with a result that the step does not define has no effect, even if another value of its "
          "buffer is defined there")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {{0, 2}}}, {{1}, {2}, {}}};
    CHECK(!joins(ops, 3, {.bytes = 8, .alias_of = {-1, -1, 1}}, 0, 2));
}

TEST_CASE("an operand listed twice is one operand")
{
    CHECK(joins({{{}, {0}, {}}, {{0, 0}, {1}, {{0, 1}}}}, 2, {.bytes = 8}, 0, 1));
}

TEST_CASE("an operand that is used on an outgoing edge is kept")
{
    auto p = tasks(
        2, 3, [](auto n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](auto n, effect_sink& s) {
            if (n == 0) s.def(0), s.next_step(), s.use(0), s.def(1), s.may_overwrite(0, 1);
            else s.use_at_end_of(0, 0), s.use(1), s.def(2);
        });
    auto t = take_in_place(p, steps_in_order(p, {}), gather_buffers(lifetimes(p), plan_options{.bytes = 8}));
    CHECK(t.buffer_of[0] != t.buffer_of[1]);
}

TEST_CASE("a chain of in-place steps is one buffer")
{
    operations ops{{{}, {0}, {}}};
    for (value_id v = 1; v != 1000; ++v) ops.push_back({{v - 1}, {v}, {{v - 1, v}}});
    auto t = joined(ops, 1000, {.bytes = 8});
    CHECK(t.buffers.size() == 1);
    CHECK(t.buffers[0].life == live_range{0, 1000});
}

TEST_CASE("an operand that is read early is dead when its result is defined: there is nothing to save")
{
    auto p = sequence(2, 2, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        else s.use_early(0), s.def(1), s.may_overwrite(0, 1);
    });
    auto t = take_in_place(p, steps_in_order(p, {}), gather_buffers(lifetimes(p), plan_options{.bytes = 8}));
    CHECK(t.buffers.size() == 2);
    CHECK(t.in_place.empty());
}

TEST_CASE("an input read early is held to the end of the first step and may be overwritten there")
{
    auto p = sequence(1, 2, [](auto, effect_sink& s) { s.use_early(0), s.def(1), s.may_overwrite(0, 1); });
    plan_options const options{.bytes = 8,
                               .role = std::vector<value_role>{value_role::input, value_role::intermediate}};
    auto t = take_in_place(p, steps_in_order(p, {}),
                           gather_buffers(lifetimes(p, {.role = options.role}), options));
    CHECK(t.buffers.size() == 1);
}

TEST_CASE("a smaller result is written over a larger operand, and the rest of the operand is free")
{
    auto t = joined(relu, 3, {.bytes = {8, 4, 8}});
    REQUIRE(t.buffers.size() == 3);
    CHECK(t.buffers[1].over == 0);
    CHECK(t.buffers[0].life == live_range{0, 2});
    CHECK(t.buffers[1].life == live_range{2, 3});
    CHECK(t.in_place == std::vector<memory_plan::in_place_pair>{{1, 0, 1, 4}});
}

TEST_CASE("for slots only operands of equal size are taken")
{
    auto p = program_of(relu, 3);
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = {8, 4, 8}});
    CHECK(take_in_place(p, steps_in_order(p, {}), table, in_place_fit::equal).in_place.empty());
}

TEST_CASE("a view of part of a buffer is overwritten from the beginning of the buffer")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {{1, 2}}}, {{2}, {3}, {}}};
    auto t = joined(ops, 4, {.bytes = {8, 2, 8, 8}, .alias_of = {-1, 0, -1, -1}});
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 0, 0, 1}); // sized by the root, as every view
}

TEST_CASE("a result with views is written over an operand and lives as long as its views")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {}}, {{2}, {3}, {}}};
    auto t = joined(ops, 4, {.bytes = {8, 4, 4, 8}, .alias_of = {-1, -1, 1, -1}});
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 1, 1, 2});
    CHECK(t.buffers[1].over == 0);
    CHECK(t.buffers[1].life == live_range{2, 4});
}

TEST_CASE("an operand that the next step reads early is kept although its live range ends before that step")
{
    auto p = sequence(3, 3, [](auto step, effect_sink& s) {
        if (step == 0) s.def(0);
        if (step == 1) s.use(0), s.def(1), s.may_overwrite(0, 1);
        if (step == 2) s.use_early(0), s.use(1), s.def(2);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = 8});
    CHECK(table.buffers[0].life == live_range{0, 2});
    CHECK(take_in_place(p, steps_in_order(p, {}), table).buffers.size() == 3);
}

TEST_CASE("a result that is used on an outgoing edge is not overwritten by a later step of its node")
{
    auto p = tasks(
        2, 4, [](auto n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](auto n, effect_sink& s) {
            if (n == 1) return s.use_at_end_of(0, 1), s.use(2), s.def(3);
            s.def(0), s.next_step();
            s.use(0), s.def(1), s.may_overwrite(0, 1), s.next_step();
            s.use(1), s.def(2), s.may_overwrite(1, 2);
        });
    auto t = take_in_place(p, steps_in_order(p, {}), gather_buffers(lifetimes(p), plan_options{.bytes = 8}));
    CHECK(t.buffer_of == std::vector<buffer_id>{0, 0, 1, 2});
}

TEST_CASE("a step with as many pairs as the program has values takes linear time")
{
    value_id const pairs = 100'000;
    auto p = sequence(2, 2 * pairs, [=](auto step, effect_sink& s) {
        for (value_id v = 0; v != pairs; ++v) {
            if (step == 0) s.def(v);
            else s.use(v), s.def(pairs + v), s.may_overwrite(v, pairs + v);
        }
    });
    auto t = take_in_place(p, steps_in_order(p, {}), gather_buffers(lifetimes(p), plan_options{.bytes = 8}));
    CHECK(t.buffers.size() == pairs);
    CHECK(t.buffer_of[pairs] == 0);
    CHECK(t.buffer_of[2 * pairs - 1] == pairs - 1);
}

TEST_CASE("in-place pairs never raise the live bytes, and nothing alive is overwritten")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        operations ops;
        value_id values = 0;
        std::vector<byte_count> bytes;
        std::vector<value_id> alias_of;
        for (std::size_t i = 0, n = 2 + pick() % 10; i != n; ++i) {
            operation op;
            for (std::size_t k = 0, n_uses = 1 + pick() % 3; values != 0 && k != n_uses; ++k)
                op.uses.push_back(static_cast<value_id>(pick() % values));
            for (std::size_t k = 0, n_defs = 1 + pick() % 2; k != n_defs; ++k) {
                op.defs.push_back(values);
                bytes.push_back(4 * (1 + pick() % 2));
                alias_of.push_back(!op.uses.empty() && pick() % 4 == 0 ? op.uses[0] : no_value);
                for (value_id in : op.uses)
                    if (pick() % 2 == 0) op.overwrites.push_back({in, values});
                ++values;
            }
            ops.push_back(op);
        }
        plan_options const options{.bytes = bytes, .alias_of = alias_of};
        auto p = program_of(ops, values);
        auto lives = lifetimes(p);
        auto before = gather_buffers(lives, options);
        auto after = take_in_place(p, steps_in_order(p, {}), before);
        auto live_bytes = [&](buffer_table const& t) {
            return pressure(
                       t.buffers.size(), [&](auto b) { return t.buffers[b].life; },
                       [&](auto b) { return t.buffers[b].size; }, lives.positions)
                .live_bytes;
        };
        auto was = live_bytes(before), is = live_bytes(after);
        for (std::size_t x = 0; x != was.size(); ++x) CHECK(is[x] <= was[x]);
        for (buffer const& b : after.buffers) // over a larger one: the same storage
            if (b.over != no_buffer) CHECK(after.buffers[b.over].size > b.size);
        auto storage = [&](value_id v) {
            buffer_id b = after.buffer_of[v];
            while (after.buffers[b].over != no_buffer) b = after.buffers[b].over;
            return b;
        };

        // Simulates a run: each buffer holds the alias class that wrote it last; a reader must find its own.
        std::vector<buffer_id> holds(after.buffers.size(), no_buffer);
        for (operation const& op : ops) {
            for (value_id v : op.uses) CHECK(holds[storage(v)] == before.buffer_of[v]);
            for (value_id v : op.defs) holds[storage(v)] = before.buffer_of[v];
            for (value_id a : op.defs)
                for (value_id b : op.defs)
                    if (before.buffer_of[a] != before.buffer_of[b]) CHECK(storage(a) != storage(b));
        }
    }
}

namespace {

struct drawn {
    snapshot program;
    std::vector<node_id> order;
    plan_options options;
};

/// Nodes of several steps in any order, views, early uses, second defs, edge uses, all roles.
drawn draw(std::mt19937& pick)
{
    auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(pick() % n); };
    auto shuffled = [&]<class Id>(Id, std::size_t n) {
        std::vector<Id> ids(n);
        std::iota(ids.begin(), ids.end(), Id{0});
        for (std::size_t i = n; i > 1; --i) std::swap(ids[i - 1], ids[below(i)]);
        return ids;
    };
    struct step {
        std::vector<touch> touches;
        std::vector<std::pair<value_id, value_id>> pairs;
    };
    struct node {
        std::vector<step> steps;
        std::vector<int> next;
        std::vector<edge_use> phis;
    };
    std::vector<node> nodes(1 + below(4));
    for (node& n : nodes) {
        n.steps.resize(1 + below(3));
        for (std::size_t k = below(3); k != 0; --k) n.next.push_back(static_cast<int>(below(nodes.size())));
    }
    std::size_t const values = 32;
    std::vector<value_id> const name = shuffled(value_id{}, values);
    std::vector<byte_count> bytes(values), alignment(values, 1), pinned(values, no_offset);
    std::vector<value_role> role(values);
    std::vector<value_id> alias_of(values, no_value), known;
    std::vector<pool_id> pool(values);
    std::vector<bool> eligible(values, true);
    auto value = [&] {
        value_id const v = name[known.size()];
        bytes[v] = below(20) == 0 ? (below(2) == 0 ? 0 : no_size) : below(3) == 0 ? 4 * (1 + below(4)) : 8;
        alignment[v] = 1 + below(3);
        pool[v] = below(12) == 0 ? 1 : 0;
        eligible[v] = below(20) != 0;
        if (below(16) == 0) pinned[v] = 60 * below(3);
        if (!known.empty() && below(6) == 0) alias_of[v] = known[below(known.size())];
        known.push_back(v);
        return v;
    };
    value_role const given[] = {value_role::input, value_role::input | value_role::output,
                                value_role::external};
    for (std::size_t i = 0, n = 1 + below(2); i != n; ++i) role[value()] = given[below(3)];
    std::vector<node_id> const order = shuffled(node_id{}, nodes.size());
    for (node_id n : order) {
        for (step& s : nodes[n].steps) {
            std::vector<value_id> in, out;
            for (std::size_t k = below(4); k != 0; --k)
                in.push_back(
                    known[below(4) != 0 ? known.size() - 1 - below(std::min<std::size_t>(4, known.size()))
                                        : below(known.size())]);
            for (std::size_t k = below(4); k != 0 && known.size() != values; --k) {
                out.push_back(value());
                if (below(10) == 0) role[out.back()] = below(2) == 0 ? value_role::output : value_role::input;
            }
            for (value_id v : in)
                s.touches.push_back({v, below(5) == 0 ? touch::access::use_early : touch::access::use});
            for (value_id v : out) s.touches.push_back({v, touch::access::def});
            if (below(10) == 0) s.touches.push_back({known[below(known.size())], touch::access::def});
            for (std::size_t k = below(8); k != 0; --k) {
                value_id const from =
                    in.empty() || below(6) == 0 ? known[below(known.size())] : in[below(in.size())];
                s.pairs.push_back({from, out.empty() || below(8) == 0 ? known[below(known.size())]
                                                                      : out[below(out.size())]});
            }
        }
        for (int to : nodes[n].next)
            if (below(4) == 0)
                nodes[static_cast<std::size_t>(to)].phis.push_back(
                    {static_cast<node_id>(to), n, known[below(known.size())]});
    }
    snapshot program = tasks(
        nodes.size(), values, [&](auto n) -> auto& { return nodes[n].next; },
        [&](auto n, effect_sink& sink) {
            for (std::size_t i = 0; i != nodes[n].steps.size(); ++i) {
                if (i != 0) sink.next_step();
                for (touch t : nodes[n].steps[i].touches) {
                    if (t.kind == touch::access::use) sink.use(t.value);
                    if (t.kind == touch::access::use_early) sink.use_early(t.value);
                    if (t.kind == touch::access::def) sink.def(t.value);
                }
                for (auto [from, to] : nodes[n].steps[i].pairs) sink.may_overwrite(from, to);
            }
            for (edge_use u : nodes[n].phis) sink.use_at_end_of(u.pred, u.value);
        });
    return {std::move(program), order,
            plan_options{.bytes = bytes,
                         .alignment = alignment,
                         .role = role,
                         .alias_of = alias_of,
                         .pool = pool,
                         .pinned = pinned,
                         .eligible = eligible,
                         .order = order}};
}

} // namespace

// SYSTEMS R1: operators declare that an output may reuse an input.
TEST_CASE("random programs: every pair taken is legal, and no choice has fewer live bytes at any position")
{
    std::size_t taken = 0, compared = 0, smaller_ones = 0, choices = 0;
    for (unsigned seed = 0; seed != rounds(12000); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        drawn const d = draw(pick);
        snapshot const& p = d.program;
        auto const lives = lifetimes(p, {.role = d.options.role, .order = d.order});
        if (!lives) continue;
        auto const steps = steps_in_order(p, d.order);
        buffer_table const before = gather_buffers(lives, d.options);
        buffer_table const after = take_in_place(p, steps, before);
        std::size_t const buffers = before.buffers.size();

        // The legal pairs, by a scan of all touches and values.
        auto any = [&](buffer_id b, auto holds) {
            for (value_id v = 0; v != p.values(); ++v)
                if (before.buffer_of[v] == b && holds(v)) return true;
            return false;
        };
        auto touched = [&](buffer_id b, std::size_t first, std::size_t last) {
            for (std::size_t at = first; at < last; ++at)
                for (touch t : p.touches(steps[at]))
                    if (before.buffer_of[t.value] == b) return true;
            return false;
        };
        auto carried = [&](buffer_id b, std::size_t from) {
            for (edge_use u : p.edge_uses())
                for (std::size_t at = from; at != steps.size(); ++at)
                    if (before.buffer_of[u.value] == b && steps[at] == p.steps_of(u.pred).last - 1)
                        return true;
            return false;
        };
        auto is_out_of_bounds = [&](value_id v) { // no storage is planned, or it is pinned
            return has_role(d.options.role[v], value_role::external) || !d.options.eligible[v] ||
                   d.options.pinned[v] != no_offset;
        };
        struct legal_pair {
            std::size_t at;
            memory_plan::in_place_pair pair;
            buffer_id in, out;
        };
        std::vector<legal_pair> legal;
        for (std::size_t at = 0; at != steps.size(); ++at)
            for (overwrite o : p.overwrites(steps[at])) {
                buffer_id const in = before.buffer_of[o.in], out = before.buffer_of[o.out];
                bool uses = false, holds = false, defines = false, otherwise = false;
                for (touch t : p.touches(steps[at])) {
                    bool const is_use = t.value == o.in && t.kind != touch::access::def;
                    uses = uses || is_use;
                    holds = holds || (is_use && t.kind == touch::access::use);
                    otherwise = otherwise || (before.buffer_of[t.value] == in && !is_use);
                    defines = defines || (t.value == o.out && t.kind == touch::access::def);
                    otherwise =
                        otherwise || (before.buffer_of[t.value] == out && t.writes() && t.value != o.out);
                }
                bool const is_input =
                    any(in, [&](auto v) { return has_role(d.options.role[v], value_role::input); });
                if (!uses || !defines || otherwise || touched(in, at + 1, steps.size()) || carried(in, at) ||
                    touched(out, 0, at))
                    continue;
                if (!holds && !(is_input && at == 0)) continue; // read early: dead before the write
                if (any(in, [&](auto v) { return has_role(d.options.role[v], value_role::output); }))
                    continue;
                if (any(out, [&](auto v) { return has_role(d.options.role[v], value_role::input); }))
                    continue;
                if (any(in, is_out_of_bounds) || any(out, is_out_of_bounds)) continue;
                byte_count const size = before.buffers[in].size, needed = before.buffers[out].size;
                if (needed == 0 || size == no_size || needed > size) continue;
                if (before.buffers[in].pool != before.buffers[out].pool) continue;
                legal.push_back({at, {steps[at], o.in, o.out, needed}, in, out});
            }
        for (memory_plan::in_place_pair const& pair : after.in_place)
            CHECK(std::any_of(legal.begin(), legal.end(), [&](auto const& l) { return l.pair == pair; }));
        taken += after.in_place.size();
        if (legal.size() > 10) continue;
        ++compared;

        // Live bytes with these pairs: a joined buffer has the size of its largest live member.
        auto alive = [&](std::vector<std::pair<buffer_id, buffer_id>> const& joints) {
            std::vector<buffer_id> part(buffers);
            std::iota(part.begin(), part.end(), buffer_id{0});
            for (auto [in, out] : joints) {
                buffer_id const from = part[out], to = part[in];
                std::replace(part.begin(), part.end(), from, to);
            }
            std::vector<byte_count> bytes;
            for (position_id at = 0; at != lives.positions; ++at)
                for (pool_id pool = 0; pool != 2; ++pool) {
                    std::vector<byte_count> most(buffers, 0);
                    for (buffer_id b = 0; b != buffers; ++b)
                        if (buffer const& its = before.buffers[b];
                            its.is_planned() && its.pool == pool && contains(its.life, at))
                            most[part[b]] = std::max(most[part[b]], its.size);
                    bytes.push_back(std::accumulate(most.begin(), most.end(), byte_count{0}));
                }
            return bytes;
        };
        std::vector<byte_count> fewest = alive({});
        for (std::uint32_t set = 1; set != 1u << legal.size(); ++set) {
            std::vector<std::pair<buffer_id, buffer_id>> joints;
            std::vector<unsigned char> is_reused(buffers), is_successor(buffers);
            bool is_choice = true;
            for (std::size_t i = 0; i != legal.size(); ++i) {
                if ((set >> i & 1) == 0) continue;
                is_choice = is_choice && !is_reused[legal[i].in] && !is_successor[legal[i].out];
                is_reused[legal[i].in] = is_successor[legal[i].out] = 1;
                joints.push_back({legal[i].in, legal[i].out});
            }
            if (!is_choice) continue;
            ++choices;
            std::vector<byte_count> const bytes = alive(joints);
            for (std::size_t i = 0; i != bytes.size(); ++i) fewest[i] = std::min(fewest[i], bytes[i]);
        }
        std::vector<std::pair<buffer_id, buffer_id>> ours;
        for (memory_plan::in_place_pair const& pair : after.in_place)
            ours.push_back({before.buffer_of[pair.in], before.buffer_of[pair.out]});
        CHECK(alive(ours) == fewest);

        // The table has the same joins and the same successors.
        std::vector<byte_count> listed;
        for (position_id at = 0; at != lives.positions; ++at)
            for (pool_id pool = 0; pool != 2; ++pool) {
                listed.push_back(0);
                for (buffer const& b : after.buffers)
                    if (b.is_planned() && b.pool == pool && contains(b.life, at)) listed.back() += b.size;
            }
        CHECK(listed == fewest);
        for (value_id v = 0; v != p.values(); ++v) {
            buffer const& joint = after.buffers[after.buffer_of[v]];
            live_range life;
            byte_count alignment = 1, size = 0;
            auto role = value_role::intermediate;
            for (value_id u = 0; u != p.values(); ++u) {
                if (after.buffer_of[u] != after.buffer_of[v]) continue;
                life = hull(life, lives.of[u]);
                alignment = combine_alignment(alignment, d.options.alignment[u]);
                role = role | d.options.role[u];
                size = std::max(size, before.buffers[before.buffer_of[u]].size);
            }
            CHECK(joint.slot_life() == life);
            CHECK(joint.size == before.buffers[before.buffer_of[joint.root]].size);
            if (joint.is_planned()) CHECK(joint.size == size);
            CHECK(joint.alignment == alignment);
            CHECK(joint.role == role);
            if (joint.over == no_buffer) continue;
            CHECK(after.buffers[joint.over].size > joint.size);
            CHECK(after.buffers[joint.over].life.last == joint.life.first);
            ++smaller_ones;
        }
        for (std::size_t b = 1; b < after.buffers.size(); ++b)
            CHECK(after.buffers[b - 1].root < after.buffers[b].root);
    }
    CAPTURE(choices);
    CHECK(compared > rounds(12000) / 2); // both outcomes occur
    CHECK(taken > rounds(12000) / 6);
    CHECK(smaller_ones > rounds(12000) / 60);
    CHECK(choices > rounds(12000) / 2);
}

// --- in place pairs ----------------------------------------------------------------------------------------

namespace {

/// 0: def 0    1: use 0, def 1 over 0 or def 2 over 0    2: use 1, def 3 over 1
snapshot const fork = sequence(3, 4, [](step_id s, effect_sink& sink) {
    if (s == 0) sink.def(0);
    if (s == 1) sink.use(0), sink.def(1), sink.def(2), sink.may_overwrite(0, 1), sink.may_overwrite(0, 2);
    if (s == 2) sink.use(1), sink.def(3), sink.may_overwrite(1, 3);
});

auto const always = [](buffer_id, step_id) { return true; };
auto const never = [](buffer_id, step_id) { return false; };

buffer_table gathered(plan_options const& options) { return gather_buffers(lifetimes(fork), options); }
using ids = std::vector<buffer_id>;

} // namespace

TEST_CASE("an operand is overwritten by one result, the first declared, and a chain is one buffer")
{
    auto const t = join_in_place(fork, gathered({.bytes = 8}), always, always);
    CHECK(t.buffer_of == ids{0, 0, 1, 0});
    CHECK(t.buffers[0].life == live_range{0, 3});
}

TEST_CASE("buffers that are not free or do not begin at the step are not joined")
{
    CHECK(join_in_place(fork, gathered({.bytes = 8}), never, always).buffers.size() == 4);
    CHECK(join_in_place(fork, gathered({.bytes = 8}), always, never).buffers.size() == 4);
    auto not_1 = [](buffer_id b, step_id) { return b != 1; };
    CHECK(join_in_place(fork, gathered({.bytes = 8}), always, not_1).buffer_of == ids{0, 1, 0, 1});
}

TEST_CASE("the callables get the original buffers and the current step")
{
    std::vector<std::pair<buffer_id, step_id>> free, begins;
    auto note = [](auto& to) {
        return [&to](buffer_id b, step_id s) {
            to.push_back({b, s});
            return true;
        };
    };
    (void)join_in_place(fork, gathered({.bytes = 8}), note(free), note(begins));
    using asked = std::vector<std::pair<buffer_id, step_id>>;
    CHECK(free == asked{{0, 1}, {0, 1}, {1, 2}});
    CHECK(begins == asked{{1, 1}, {2, 1}, {3, 2}});
}

TEST_CASE("an operand is kept if the step touches its buffer in another way too")
{
    auto touching = [](auto other) { // 0: def 0, def 3    1: use 0, def 1 over 0, and more
        return sequence(2, 4, [other](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(0), sink.def(3);
            else sink.use(0), sink.def(1), sink.may_overwrite(0, 1), other(sink);
        });
    };
    auto joins = [](snapshot const& p, plan_options const& options) {
        auto const t = join_in_place(p, gather_buffers(lifetimes(p), options), always, always);
        return t.buffer_of[0] == t.buffer_of[1];
    };
    plan_options const views{.bytes = 8, .alias_of = {-1, -1, 0, 0}};
    CHECK(joins(touching([](effect_sink&) {}), views));
    CHECK(joins(touching([](effect_sink& s) { s.use(0); }), views));
    CHECK(!joins(touching([](effect_sink& s) { s.use(3); }), views));       // a view is read
    CHECK(!joins(touching([](effect_sink& s) { s.use_early(3); }), views)); // even early
    CHECK(!joins(touching([](effect_sink& s) { s.def(2); }), views));       // or defined
    CHECK(!joins(touching([](effect_sink& s) { s.def(0); }), views));
}

TEST_CASE("a pair has no effect if the step does not use the operand or does not define the result")
{
    auto const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(2);
        if (s == 1) sink.use(0), sink.may_overwrite(0, 1);
        if (s == 2) sink.def(1), sink.may_overwrite(2, 1);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = 8});
    CHECK(join_in_place(p, table, always, always).buffers.size() == 3);
}

TEST_CASE("a result is joined once, although two operands are free")
{
    auto const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) sink.def(0), sink.def(1);
        else sink.use(0), sink.use(1), sink.def(2), sink.may_overwrite(0, 2), sink.may_overwrite(1, 2);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = 8});
    CHECK(join_in_place(p, table, always, always).buffer_of == ids{0, 1, 0});
}

TEST_CASE("only planned buffers of one size and pool are joined, and none that is pinned or kept")
{
    auto is_joined = [](plan_options const& options) {
        return join_in_place(fork, gathered(options), always, always).buffers.size() != 4;
    };
    using roles = std::vector<value_role>;
    auto const in = value_role::input, out = value_role::output, ext = value_role::external;
    CHECK(is_joined({.bytes = 8}));
    CHECK(!is_joined({.bytes = {8, 16, 24, 32}}));
    CHECK(!is_joined({.bytes = no_size}));
    CHECK(!is_joined({.bytes = 0}));
    CHECK(!is_joined({.bytes = 8, .pool = {0, 1, 1, 2}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{out, out, {}, {}}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{{}, in, in, in}}));
    CHECK(is_joined({.bytes = 8, .role = roles{in, out, out, out}}));
    CHECK(!is_joined({.bytes = 8, .role = roles{ext, {}, {}, ext}}));
    for (value_id loose : {0u, 3u})
        CHECK(!is_joined({.bytes = 8, .pinned = [loose](value_id v) {
                              return v == loose ? no_offset : byte_count{64} * v;
                          }}));
}

TEST_CASE("the largest results are taken, and one with a choice leaves its operand to another")
{
    auto const p = sequence(2, 5, [](step_id s, effect_sink& sink) {
        if (s == 0) return sink.def(0), sink.def(1);
        sink.use(0), sink.use(1), sink.def(2), sink.def(3), sink.def(4);
        sink.may_overwrite(0, 2), sink.may_overwrite(1, 2); // 2 may be over either
        sink.may_overwrite(0, 3), sink.may_overwrite(0, 4); // the others only over 0
    });
    auto matched = [&](plan_options const& options) {
        auto const table = gather_buffers(lifetimes(p), options);
        return match_in_place(p, table, always, always, false);
    };
    using pairs = std::vector<memory_plan::in_place_pair>;
    CHECK(matched({.bytes = {8, 8, 8, 8, 8}}) == pairs{{1, 1, 2, 8}, {1, 0, 3, 8}});
    CHECK(matched({.bytes = {8, 8, 8, 4, 6}}) == pairs{{1, 1, 2, 8}, {1, 0, 4, 6}});
    CHECK(matched({.bytes = {8, 4, 8, 4, 6}}) == pairs{{1, 0, 2, 8}});
    CHECK(matched({.bytes = {9, 8, 8, 9, 9}}) == pairs{{1, 1, 2, 8}, {1, 0, 3, 9}});
}

TEST_CASE("a smaller result goes over the smallest operand, and only if larger operands are allowed")
{
    auto const p = sequence(2, 3, [](step_id s, effect_sink& sink) {
        if (s == 0) return sink.def(0), sink.def(1);
        sink.use(0), sink.use(1), sink.def(2), sink.may_overwrite(0, 2), sink.may_overwrite(1, 2);
    });
    auto const table = gather_buffers(lifetimes(p), plan_options{.bytes = {64, 16, 8}});
    using pairs = std::vector<memory_plan::in_place_pair>;
    CHECK(match_in_place(p, table, always, always, false) == pairs{{1, 1, 2, 8}});
    CHECK(match_in_place(p, table, always, always).empty());
}

TEST_CASE("a smaller result keeps its buffer, which follows the operand at its offset")
{
    auto const t = join_in_place(gathered({.bytes = {8, 4, 4, 4}}), {{1, 0, 1, 4}, {2, 1, 3, 4}});
    CHECK(t.buffer_of == ids{0, 1, 2, 1}); // 3 is as large as 1: one buffer
    CHECK(t.buffers[0].life == live_range{0, 2});
    CHECK(t.buffers[1].life == live_range{2, 3});
    CHECK(t.buffers[1].slot_life() == live_range{1, 3});
    CHECK(t.buffers[1].over == 0);
    CHECK(t.buffers[0].over == no_buffer);
    CHECK(t.in_place.size() == 2);
}

TEST_CASE("a smaller result without later uses is part of the operand's buffer")
{
    auto const t = join_in_place(gathered({.bytes = {8, 8, 4, 4}}), {{1, 0, 2, 4}});
    CHECK(t.buffer_of == ids{0, 1, 0, 2});
    CHECK(t.buffers[0].size == 8);
    CHECK(t.buffers[0].life == live_range{0, 2});
}

TEST_CASE("joined buffers have the roles and the alignment of both")
{
    auto const t = join_in_place(
        fork,
        gathered({.bytes = 8,
                  .alignment = {4, 6, 1, 1},
                  .role = std::vector<value_role>{value_role::input, {}, {}, value_role::output}}),
        always, always);
    REQUIRE(t.buffers.size() == 2);
    CHECK(t.buffers[0].alignment == 12);
    CHECK(t.buffers[0].role == (value_role::input | value_role::output));
}

} // namespace this_test
