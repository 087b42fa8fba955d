// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/in_place.hpp>

#include <sublet/analysis/pressure.hpp>

#include <doctest/doctest.h>
#include <random>
#include <vector>

using namespace sublet;

namespace {

struct operation {
    std::vector<value_id> uses, defs;
    std::vector<std::pair<value_id, value_id>> may_overwrite;
};
using operations = std::vector<operation>;

snapshot program_of(operations const& ops, std::size_t values)
{
    return sequence(ops.size(), values, [&](auto o, effect_sink& s) {
        for (auto v : ops[o].uses) s.use(v);
        for (auto v : ops[o].defs) s.def(v);
        for (auto [in, out] : ops[o].may_overwrite) s.may_overwrite(in, out);
    });
}

buffer_table joined(operations const& ops, std::size_t values, plan_options const& options)
{
    auto p = program_of(ops, values);
    auto lives = lifetimes(p, {.role = options.role});
    REQUIRE(!lives.violation);
    return take_in_place(p, steps_in_order(p, {}), gather_buffers(lives, options));
}

bool joins(operations const& ops, std::size_t values, plan_options const& options, value_id a, value_id b)
{
    auto t = joined(ops, values, options);
    return t.buffer_of[a] == t.buffer_of[b];
}

operations const relu{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {}}};

} // namespace

TEST_CASE("a result is written over the operand that dies there")
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

TEST_CASE("an operand that somebody reads later is kept")
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

TEST_CASE("an operand whose view the same step reads is kept")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {}}, {{0, 1}, {2}, {{0, 2}}}};
    CHECK(!joins(ops, 3, {.bytes = 8, .alias_of = {-1, 0, -1}}, 0, 2));
}

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

TEST_CASE("an output at the last step is kept though its life ends there like any other")
{
    operations const ops{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}};
    CHECK(!joins(
        ops, 2, {.bytes = 8, .role = std::vector<value_role>{value_role::output, value_role::output}}, 0, 1));
}

TEST_CASE("only buffers of one size and one pool are joined, and of known size")
{
    CHECK(!joins(relu, 3, {.bytes = {8, 4, 8}}, 0, 1));
    CHECK(!joins(relu, 3, {.bytes = 8, .pool = {0, 1, 0}}, 0, 1));
    CHECK(!joins(relu, 3, {.bytes = no_size}, 0, 1));
}

TEST_CASE("one output per input, the first that asks; one input per output")
{
    auto two_outputs =
        joined({{{}, {0}, {}}, {{0}, {1, 2}, {{0, 1}, {0, 2}}}, {{2}, {}, {}}}, 3, {.bytes = 8});
    CHECK(two_outputs.buffer_of == std::vector<buffer_id>{0, 0, 1});
    auto two_inputs = joined({{{}, {0, 1}, {}}, {{0, 1}, {2}, {{0, 2}, {1, 2}}}}, 3, {.bytes = 8});
    CHECK(two_inputs.buffer_of == std::vector<buffer_id>{0, 1, 0});
}

TEST_CASE("an operand given twice is one operand")
{
    CHECK(joins({{{}, {0}, {}}, {{0, 0}, {1}, {{0, 1}}}}, 2, {.bytes = 8}, 0, 1));
}

TEST_CASE("an operand that an edge carries out of the node is kept")
{
    auto p = flow(
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

TEST_CASE("in-place pairs never raise the bytes that are alive, and nothing alive is overwritten")
{
    for (unsigned seed = 0; seed != 1000; ++seed) {
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
                    if (pick() % 2 == 0) op.may_overwrite.push_back({in, values});
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

        // Run it: every buffer holds the alias class that wrote it last; a reader must find its own class
        // there.
        std::vector<buffer_id> holds(after.buffers.size(), no_buffer);
        for (operation const& op : ops) {
            for (value_id v : op.uses) CHECK(holds[after.buffer_of[v]] == before.buffer_of[v]);
            for (value_id v : op.defs) holds[after.buffer_of[v]] = before.buffer_of[v];
            for (value_id a : op.defs)
                for (value_id b : op.defs)
                    if (before.buffer_of[a] != before.buffer_of[b])
                        CHECK(after.buffer_of[a] != after.buffer_of[b]);
        }
    }
}
