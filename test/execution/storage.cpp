// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/storage.hpp>

#include "lender.hpp"
#include "op_list.hpp"

#include <sublet/execution/run_options.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using storage = detail::value_storage;

namespace {

//     a ─► b ─► c ─► d        each read once, by the next
snapshot const chain = op_list(4, {{}, {0}, {1}, {2}}, {{0}, {1}, {2}, {3}});
/// The same, each result written over its operand if it may.
snapshot const chain_in_place = sequence(4, 4, [](auto step, effect_sink& s) {
    if (step != 0) s.use(step - 1), s.may_overwrite(step - 1, step);
    s.def(step);
});
value_role const none = value_role::intermediate, input = value_role::input, output = value_role::output;

/// Live bytes while each step runs, and after the last.
template <class Mode>
std::vector<std::size_t> live_bytes(snapshot const& p, plan_options const& options, Mode const& mode,
                                    lender& source)
{
    run_tape const tape = tape_of(p, options, false);
    storage values(tape, mode, counted_memory(&source));
    std::vector<std::size_t> live;
    for (buffer_id b = 0; b != tape.holds.size(); ++b)
        if (has_role(tape.table.buffers[b].role, input)) values.provide(tape, b);
    values.begin(tape);
    for (step_id at = 0; at != tape.positions(); ++at) {
        values.before(tape, at);
        live.push_back(source.live());
        values.after(tape, at);
    }
    live.push_back(source.live());
    values.end(tape);
    live.push_back(source.live());
    return live;
}
using sizes = std::vector<std::size_t>;

std::optional<witness> refusal(snapshot const& p, plan_options const& options, memory_plan const& plan)
{
    lender source;
    try {
        storage(tape_of(p, options, false), arena{plan}, counted_memory(&source));
    } catch (unsound_plan const& e) {
        CHECK(source.asked.empty());
        return e.why();
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("each mode holds what its picture says: all to the end, what is still touched, or one block")
{
    plan_options const options{.bytes = {1, 20, 300, 4000}, .role = {none, none, none, output}};
    lender source;
    CHECK(live_bytes(chain, options, no_plan{}, source) == sizes{1, 21, 321, 4321, 4321, 4000});
    CHECK(live_bytes(chain, options, recycle{}, source) == sizes{1, 21, 320, 4300, 4000, 4000});
    CHECK(source.lent.empty());
    source.asked.clear();
    auto const planned = plan_memory(chain, options);
    std::size_t const all = planned.report.arena_bytes;
    CHECK(live_bytes(chain, options, arena{planned.plan}, source) == sizes{all, all, all, all, all, all});
    CHECK(source.asked.size() == 1);
    CHECK(source.lent.empty());
}

TEST_CASE(
    "a result that nobody reads is freed with its step, an input with its last reader or with the first step")
{
    auto const p = op_list(5, {{0}, {0}, {}}, {{2}, {3}, {4}});
    plan_options const options{.bytes = {1, 20, 300, 4000, 50000}, .role = {input, input, none, none, none}};
    lender source;
    CHECK(live_bytes(p, options, recycle{}, source) == sizes{321, 4001, 50000, 0, 0});
    CHECK(live_bytes(p, options, no_plan{}, source) == sizes{321, 4321, 54321, 54321, 0});
}

TEST_CASE(
    "in recycle a result takes over the block of an operand that is done with, if it is as large and aligned")
{
    lender source;
    CHECK(live_bytes(chain_in_place, {.bytes = 8}, recycle{}, source) == sizes{8, 8, 8, 8, 0, 0});
    CHECK(source.asked.size() == 1);
    auto asks = [&](plan_options const& options, snapshot const& p = chain_in_place) {
        source.asked.clear();
        live_bytes(p, options, recycle{}, source);
        CHECK(source.lent.empty());
        return source.asked.size();
    };
    CHECK(asks({.bytes = 8, .in_place = false}) == 4);
    CHECK(asks({.bytes = {8, 8, 9, 8}}) == 3);
    CHECK(asks({.bytes = 8, .alignment = {8, 16, 8, 8}}) == 2);
    CHECK(asks({.bytes = 8, .alignment = {16, 8, 8, 16}}) == 1);
    CHECK(asks({.bytes = 8, .pool = {0, 0, 1, 1}}) == 2);
    CHECK(asks({.bytes = 8, .role = {none, output, none, none}}) == 2);
    CHECK(asks({.bytes = 8, .role = {input, none, none, output}}) == 1);
    CHECK(asks({.bytes = 8, .role = {none, value_role::external, none, none}}) == 2);
    auto const read_later = sequence(3, 2, [](auto step, effect_sink& s) {
        if (step != 0) s.use(0);
        if (step == 1) s.may_overwrite(0, 1);
        if (step != 2) s.def(step);
    });
    CHECK(asks({.bytes = 8}, read_later) == 2);
    auto const two_heirs = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0);
        s.use(0);
        for (value_id v : {1u, 2u}) s.def(v), s.may_overwrite(0, v);
    });
    CHECK(asks({.bytes = 8}, two_heirs) == 2);
    auto const two_operands = sequence(2, 3, [](auto step, effect_sink& s) {
        if (step == 0) return s.def(0), s.def(1);
        for (value_id v : {0u, 1u}) s.use(v), s.may_overwrite(v, 2);
        s.def(2);
    });
    CHECK(asks({.bytes = 8}, two_operands) == 2);
}

TEST_CASE("what is of the caller's, of no size or of 0 bytes is never allocated")
{
    auto const p = op_list(5, {{}, {0, 1, 2, 3}}, {{0, 1, 2, 3}, {4}});
    lender source;
    plan_options const options{.bytes = std::vector<byte_count>{0, no_size, 8, 8, 8},
                               .role = {none, none, value_role::external, none, none},
                               .eligible = {true, true, true, false, true}};
    CHECK(live_bytes(p, options, no_plan{}, source) == sizes{0, 8, 8, 0});
    CHECK(live_bytes(p, options, recycle{}, source) == sizes{0, 8, 0, 0});
    CHECK(live_bytes(p, options, arena{plan_memory(p, options).plan}, source) == sizes{8, 8, 8, 8});

    run_tape const tape = tape_of(p, options, false);
    storage values(tape, no_plan{}, counted_memory(&source));
    CHECK(values.bytes_of(1).empty());
    CHECK(values.shown_by(tape, 1).data() == nullptr);
    std::vector<std::byte> lent(100);
    values.bind(1, std::span(lent));
    values.bind(2, std::span(lent));
    CHECK(values.bytes_of(1).size() == 100);
    CHECK(values.shown_by(tape, 1).size() == 100);
    CHECK(values.shown_by(tape, 2).size() == 8);
    values.release_all(tape);
    CHECK(values.where(1) == lent.data());
}

TEST_CASE("a view shows the first bytes of its root")
{
    auto const p = op_list(3, {{}, {0}}, {{0}, {1, 2}});
    plan_options const options{.bytes = std::vector<byte_count>{16, 4, no_size}, .alias_of = {-1, 0, 0}};
    run_tape const tape = tape_of(p, options, false);
    lender source;
    storage values(tape, no_plan{}, counted_memory(&source));
    values.begin(tape);
    values.before(tape, 0);
    CHECK(values.shown_by(tape, 0).size() == 16);
    CHECK(values.shown_by(tape, 1).data() == values.shown_by(tape, 0).data());
    CHECK(values.shown_by(tape, 1).size() == 4);
    CHECK(values.shown_by(tape, 2).size() == 16);
    CHECK(source.asked.size() == 1);
}

TEST_CASE("an arena is one block a pool, aligned as the most demanding of its values and as the pool")
{
    lender source;
    plan_options const options{.bytes = 24,
                               .alignment = {8, 64, 16, 2},
                               .pool = {0, 0, 2, 2},
                               .pools = {{no_limit, 4}, {no_limit, 4096}, {no_limit, 256}}};
    auto const planned = plan_memory(chain, options);
    REQUIRE(planned.is_sound());
    run_tape const tape = tape_of(chain, options, false);
    storage values(tape, arena{planned.plan}, counted_memory(&source));
    CHECK(source.asked == std::vector<std::pair<std::size_t, std::size_t>>{
                              {planned.plan.arena_bytes[0], 64}, {planned.plan.arena_bytes[2], 256}});
    CHECK(values.arenas().size() == 3);
    for (value_id v = 0; v != 4; ++v) {
        CHECK(values.where(v) == values.arenas()[options.pool[v]].bytes + planned.plan.offset_of(v));
        CHECK(reinterpret_cast<std::uintptr_t>(values.where(v)) % options.alignment[v] == 0);
    }
    CHECK(values.memory().use().bytes.live == planned.report.arena_bytes);
}

TEST_CASE("in every mode alignments are powers of two")
{
    auto made = [](auto const& mode, plan_options const& options) {
        (void)storage(tape_of(chain, options, false), mode, counted_memory());
    };
    auto const sentence = "sublet: an executor takes alignments that are powers of two";
    for (plan_options const& options : {plan_options{.bytes = 8, .alignment = {1, 2, 3, 4}},
                                        plan_options{.bytes = 8, .alignment = 4, .pools = {{no_limit, 6}}}}) {
        CHECK_THROWS_WITH_AS(made(no_plan{}, options), sentence, precondition_error);
        CHECK_THROWS_WITH_AS(made(recycle{}, options), sentence, precondition_error);
        CHECK_THROWS_WITH_AS(made(arena{plan_memory(chain, options).plan}, options), sentence,
                             precondition_error);
    }
    made(recycle{}, {.bytes = 0, .alignment = 3}); // nobody to be aligned
}

TEST_CASE("a place that is none is refused with its witness, before anything is allocated")
{
    plan_options const options{.bytes = 16};
    memory_plan const good = plan_memory(chain, options).plan;
    REQUIRE(good.arena_bytes == std::vector<byte_count>{32});
    CHECK(!refusal(chain, options, good));
    auto after = [&](auto change) {
        memory_plan plan = good;
        change(plan);
        return refusal(chain, options, plan).value_or(witness{.what = fault::needless});
    };
    witness const foreign{.what = fault::foreign_plan};
    CHECK(after([](memory_plan& plan) { plan = {}; }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of.push_back(0); }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of[3] = 4; }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.arena_bytes.clear(); }) == foreign);
    CHECK(after([](memory_plan& plan) { plan.buffer_of[3] = no_buffer; }) ==
          witness{.what = fault::unplaced, .value = 3});
    auto outside = [](byte_count begin, byte_count end) {
        return witness{.what = fault::outside_arena, .value = 2, .begin = begin, .end = end, .needed = 32};
    };
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = 17; }) == outside(17, 33));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = 33; }) == outside(33, 49));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = no_offset; }) ==
          outside(no_offset, no_offset));
    CHECK(after([](memory_plan& plan) { plan.buffers[2].offset = no_offset - 8; }) ==
          outside(no_offset - 8, no_offset));
    CHECK(after([](memory_plan& plan) { plan.arena_bytes[0] = 31; }).what == fault::outside_arena);
    CHECK(after([](memory_plan& plan) { plan.arena_bytes[0] = 15; }).what == fault::outside_arena);
}

TEST_CASE("if one arena cannot be had the others are given back, and the error tells its bytes")
{
    plan_options const options{.bytes = {8, 16, 32, 64}, .pool = {0, 1, 2, 3}};
    memory_plan const plan = plan_memory(chain, options).plan;
    for (std::size_t gives = 0; gives != 4; ++gives) {
        lender source{.gives = gives};
        try {
            storage(tape_of(chain, options, false), arena{plan}, counted_memory(&source));
            FAIL_CHECK("an arena could not be had");
        } catch (allocation_error const& e) {
            CHECK(e.bytes() == byte_count{8} << gives);
            CHECK(e.step() == no_step);
            CHECK_THROWS_AS(std::rethrow_exception(e.cause()), std::bad_alloc);
        }
        CHECK(source.asked.size() == gives);
        CHECK(source.lent.empty());
    }
}

TEST_CASE("a run that begins keeps inputs, one that ends keeps outputs, and all is given back in the end")
{
    plan_options const options{.bytes = {1, 20, 300, 4000}, .role = {input, none, none, output}};
    run_tape const tape = tape_of(chain, options, false);
    lender source;
    {
        storage values(tape, recycle{}, counted_memory(&source));
        values.provide(tape, 0);
        std::byte* const given = values.where(0);
        values.provide(tape, 0);
        CHECK(values.where(0) == given);
        CHECK(source.asked.size() == 1);
        for (int run = 0; run != 2; ++run) {
            values.provide(tape, 0);
            values.begin(tape);
            CHECK(source.live() == 1);
            for (step_id at = 0; at != 4; ++at) values.before(tape, at), values.after(tape, at);
            values.end(tape);
            CHECK(source.live() == 4000);
        }
        values.before(tape, 1);
        CHECK(source.live() == 4021);
        values.release_all(tape);
        CHECK(source.live() == 0);
        values.provide(tape, 0);
        storage moved = std::move(values);
        CHECK(source.live() == 1);
    }
    CHECK(source.lent.empty());
}

} // namespace this_test
