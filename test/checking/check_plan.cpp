// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_plan.hpp>

#include "../operations.hpp"
#include "../placed_values.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using offsets = std::vector<byte_count>;
using ids = std::vector<value_id>;
using node_ids = std::vector<node_id>;

constexpr value_role input = value_role::input, output = value_role::output, external = value_role::external,
                     inner = value_role::intermediate;

snapshot list(std::size_t values, std::vector<operation> const& operations)
{
    return program_of(operations, values);
}

/// 0: def a; 1: b from a; 2: c from b; 3: d from c. Live ranges [0, 2) [1, 3) [2, 4) [3, 4).
snapshot chain() { return list(4, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {3}}}); }

fault fault_of(verdict const& valid)
{
    REQUIRE(!valid);
    return valid.error().what;
}

} // namespace

TEST_CASE("a plan in which a value reuses the bytes of an ended live range is valid")
{
    CHECK(check_plan(chain(), plan_at({0, 8, 0, 8}, 16), {.bytes = 8}));
}

TEST_CASE("two values that are alive at once and share bytes are named, with the position and the bytes")
{
    auto const found = check_plan(chain(), plan_at({0, 8, 12, 0}, 24), {.bytes = 8});
    CHECK(found ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 1, .other = 2, .position = 2, .begin = 12, .end = 16}});
}

TEST_CASE("the empty plan is valid for the empty program")
{
    CHECK(check_plan(snapshot(), memory_plan(), {.bytes = 8}));
    CHECK(check_plan(list(2, {}), plan_at({no_offset, no_offset}, 0), {.bytes = 8}));
    // An input is live even if no step follows.
    CHECK(fault_of(check_plan(list(1, {}), plan_at({no_offset}, 0), {.bytes = 8, .role = input})) ==
          fault::unplaced);
    auto const given = std::vector{input, input | output};
    CHECK(fault_of(check_plan(list(2, {}), plan_at({0, 0}, 8), {.bytes = 8, .role = given})) == fault::clash);
    CHECK(check_plan(list(2, {}), plan_at({0, 8}, 16), {.bytes = 8, .role = given}));
}

TEST_CASE("any type that models a program is checked like its snapshot")
{
    struct two_steps {
        std::size_t nodes() const { return 2; }
        std::size_t values() const { return 2; }
        std::vector<node_id> successors(node_id) const { return {}; }
        void effects(node_id n, effect_sink& s) const { s.def(+n); }
    };
    CHECK(check_plan(two_steps(), plan_at({0, 0}, 8), {.bytes = 8}));
    CHECK(fault_of(check_plan(two_steps(), plan_at({0, 0}, 7), {.bytes = 8})) == fault::outside_arena);
}

TEST_CASE("a result that is never read occupies its step")
{
    auto const p = list(3, {{{}, {0, 1}}, {{0}, {2}}});
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 8}, 16), {.bytes = 8})) == fault::clash);
    CHECK(check_plan(p, plan_at({0, 8, 8}, 16), {.bytes = 8}));
}

TEST_CASE("a value that is freed after its last read conflicts with a later dead def of it")
{
    // Step 1 is the last to read 0; step 4 writes it again, which is never read, while 2 is live there.
    auto const p = list(6, {{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {3}}, {{2}, {0}}, {{2, 3}, {5}}});
    auto const role = std::vector{inner, inner, inner, inner, inner, output};
    auto const found = check_plan(p, plan_at({0, 8, 0, 8, no_offset, 16}, 24), {.bytes = 8, .role = role});
    CHECK(found == counterexample{
                       fault::clash,
                       counterexample::overlap{.value = 0, .other = 2, .position = 2, .begin = 0, .end = 8}});
    CHECK(check_plan(p, plan_at({0, 8, 16, 8, no_offset, 24}, 32), {.bytes = 8, .role = role}));
}

TEST_CASE("an output is live to the end, an input from the beginning")
{
    auto const p = chain();
    auto const plan = plan_at({0, 8, 0, 8}, 16);
    auto const first_kept = std::vector{output, inner, inner, inner};
    CHECK(check_plan(p, plan, {.bytes = 8, .role = first_kept}).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 2, .position = 2, .begin = 0, .end = 8}});
    auto const last_given = std::vector{inner, inner, inner, input};
    CHECK(check_plan(p, plan, {.bytes = 8, .role = last_given}).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 1, .other = 3, .position = 1, .begin = 8, .end = 16}});
}

TEST_CASE("a result may not overlap an operand of its own step")
{
    CHECK(fault_of(check_plan(chain(), plan_at({0, 0, 8, 16}, 24), {.bytes = 8})) == fault::clash);
}

TEST_CASE("a result may overlap an operand that is read early, but not if it is also read late")
{
    auto const p = list(2, {{{}, {0}}, {{}, {1}, {}, {0}}});
    CHECK(check_plan(p, plan_at({0, 0}, 8), {.bytes = 8}));
    auto const both = list(2, {{{}, {0}}, {{0}, {1}, {}, {0}}});
    CHECK(fault_of(check_plan(both, plan_at({0, 0}, 8), {.bytes = 8})) == fault::clash);
    // A def occupies its own step, even if all reads are early.
    auto const unread = list(2, {{{}, {0, 1}}, {{}, {}, {}, {0, 1}}});
    CHECK(fault_of(check_plan(unread, plan_at({0, 0}, 8), {.bytes = 8})) == fault::clash);
}

TEST_CASE("a declared result may be written over an operand that ends there, at the same offset")
{
    auto const p = list(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {{1, 2}}}});
    CHECK(check_plan(p, plan_at({0, 0, 0}, 8), {.bytes = 8}));
    CHECK(check_plan(p, plan_at({0, 0, 0}, 8), {.bytes = {8, 8, 4}}));
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 0}, 8), {.bytes = 8, .in_place = false})) == fault::clash);
    CHECK(fault_of(check_plan(p, plan_at({0, 4, 16}, 24), {.bytes = {8, 4, 4}})) == fault::clash);
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 8}, 16), {.bytes = {4, 8, 8}})) == fault::clash);
}

TEST_CASE("the bytes that a smaller in-place result leaves free are reusable from the next step on")
{
    // 0: def a    1: b over a    2: def c    3: use b, c
    auto const later = list(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{}, {2}}, {{1, 2}, {}}});
    CHECK(check_plan(later, plan_at({0, 0, 8}, 16), {.bytes = {16, 8, 8}}));
    CHECK(fault_of(check_plan(later, plan_at({0, 0, 7}, 16), {.bytes = {16, 8, 8}})) == fault::clash);
    auto const at_once = list(3, {{{}, {0}}, {{0}, {1, 2}, {{0, 1}}}, {{1, 2}, {}}});
    CHECK(fault_of(check_plan(at_once, plan_at({0, 0, 8}, 16), {.bytes = {16, 8, 8}})) == fault::clash);
    CHECK(check_plan(at_once, plan_at({0, 0, 16}, 24), {.bytes = {16, 8, 8}}));
}

TEST_CASE("a plan for a program with a backward edge, even to the node itself, is refused")
{
    auto const p = [](std::vector<std::vector<node_id>> const& next) {
        return tasks(
            3, 1, [&](node_id n) -> auto& { return next[n]; },
            [](node_id n, effect_sink& s) { n == 0 ? s.def(0) : s.use(0); });
    };
    auto const plan = plan_at({0}, 8);
    CHECK(check_plan(p({{1, 2}, {2}, {}}), plan, {.bytes = 8}));
    auto const found = check_plan(p({{1}, {2}, {1}}), plan, {.bytes = 8});
    REQUIRE(!found);
    CHECK(found.error().what == fault::leads_back);
    CHECK(found.error().position() == 2);
    CHECK(check_plan(p({{1}, {1, 2}, {0}}), plan, {.bytes = 8}).error().position() == 1);
    auto turned = plan;
    turned.order = {0, 2, 1};
    CHECK(check_plan(p({{1, 2}, {}, {1}}), turned, {.bytes = 8, .order = {0, 2, 1}}));
    CHECK(fault_of(check_plan(p({{1, 2}, {2}, {}}), turned, {.bytes = 8, .order = {0, 2, 1}})) ==
          fault::leads_back);
}

TEST_CASE("a million results in a row may each be written over the one before")
{
    constexpr std::size_t steps = 1'000'000;
    auto const p = sequence(steps, steps, [](step_id s, effect_sink& sink) {
        sink.def(+s);
        if (s == 0) return;
        sink.use(s - 1);
        sink.may_overwrite(s - 1, +s);
    });
    auto plan = plan_at({0}, 8);
    plan.buffer_of.assign(steps, 0);
    CHECK(check_plan(p, plan, {.bytes = 8}));
    CHECK(check_plan(p, plan, {.bytes = 8, .in_place = false}).error().position() == 1);
}

TEST_CASE("an operand that the next step reads early is not overwritten, although its live range has ended")
{
    auto const p = list(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {}, {0}}});
    auto const found = check_plan(p, plan_at({0, 0, 8}, 16), {.bytes = 8});
    CHECK(found == counterexample{
                       fault::clash,
                       counterexample::overlap{.value = 0, .other = 1, .position = 1, .begin = 0, .end = 8}});
    CHECK(check_plan(p, plan_at({0, 8, 0}, 16), {.bytes = 8}));
}

TEST_CASE("an operand that is needed again is not overwritten")
{
    plan_options const eight{.bytes = 8};
    auto const plan = plan_at({0, 0, 8}, 16);
    auto const read_later = list(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{0, 1}, {2}}});
    CHECK(check_plan(read_later, plan, eight).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 1, .position = 1, .begin = 0, .end = 8}});
    auto const written_later = list(3, {{{}, {0}}, {{0}, {1}, {{0, 1}}}, {{1}, {0, 2}}});
    CHECK(fault_of(check_plan(written_later, plan, eight)) == fault::clash);
    auto const written_now = list(3, {{{}, {0}}, {{0}, {0, 1}, {{0, 1}}}, {{1}, {2}}});
    CHECK(fault_of(check_plan(written_now, plan, eight)) == fault::clash);
}

TEST_CASE("the last step does not write over an operand that is an output")
{
    auto const p = list(2, {{{}, {0}}, {{0}, {1}, {{0, 1}}}});
    auto const keep = std::vector{output, output};
    CHECK(fault_of(check_plan(p, plan_at({0, 0}, 8), {.bytes = 8, .role = keep})) == fault::clash);
}

TEST_CASE("the first step does not write a given result over another input")
{
    auto const p = list(2, {{{0}, {1}, {{0, 1}}}});
    CHECK(check_plan(p, plan_at({0, 0}, 8), {.bytes = 8, .role = std::vector{input, inner}}));
    CHECK(fault_of(check_plan(p, plan_at({0, 0}, 8), {.bytes = 8, .role = input})) == fault::clash);
}

TEST_CASE("a pinned operand is not overwritten")
{
    auto const p = list(2, {{{}, {0}}, {{0}, {1}, {{0, 1}}}});
    CHECK(fault_of(check_plan(p, plan_at({0, 0}, 8), {.bytes = 8, .pinned = offsets{0, no_offset}})) ==
          fault::clash);
}

TEST_CASE("an operand that an edge reads at the end of the node is not overwritten")
{
    // Node 0 writes 1 over 0 in its last step; the edge to node 1 reads 0.
    auto const p = tasks(
        2, 3, [](node_id n) { return n == 0 ? node_ids{1} : node_ids{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 1) {
                sink.use_at_end_of(0, 0);
                sink.def(2);
                return;
            }
            sink.def(0);
            sink.next_step();
            sink.use(0);
            sink.def(1);
            sink.may_overwrite(0, 1);
        });
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 8}, 16), {.bytes = 8})) == fault::clash);
    CHECK(check_plan(p, plan_at({0, 8, 0}, 16), {.bytes = 8}));
}

TEST_CASE("two results are not written over one operand")
{
    auto const p = list(3, {{{}, {0}}, {{0}, {1, 2}, {{0, 1}, {0, 2}}}});
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 0}, 8), {.bytes = {8, 4, 4}})) == fault::clash);
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 4}, 8), {.bytes = {8, 4, 4}})) == fault::clash);
    CHECK(check_plan(p, plan_at({0, 0, 8}, 12), {.bytes = {8, 4, 4}}));
}

TEST_CASE("no other value may start within an operand that a smaller result overwrites")
{
    // 1 leaves half of 0 free, but only from the next step on.
    auto const p = list(4, {{{}, {0}}, {{0}, {1, 2}, {{0, 1}}}, {{1}, {3}}});
    CHECK(check_plan(p, plan_at({0, 0, 4, 8}, 16), {.bytes = {8, 4, 4, 4}}).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 2, .position = 1, .begin = 4, .end = 8}});
    CHECK(check_plan(p, plan_at({0, 0, 8, 4}, 16), {.bytes = {8, 4, 4, 4}}));
}

TEST_CASE("a pair is ignored if the step does not define its result or does not use its operand")
{
    plan_options const options{.bytes = 8, .alias_of = ids{no_value, no_value, 1}};
    // Step 1 defines 1, and declares only 2, which is a view of it.
    auto const elsewhere =
        with_views(list(3, {{{}, {0}}, {{0}, {1}, {{0, 2}}}, {{1}, {2}}}), ids{no_value, no_value, 1});
    CHECK(fault_of(check_plan(elsewhere, plan_at({0, 0, 0}, 8), options)) == fault::clash);
    // Step 2 reads 2, and declares 1, the root of that view.
    auto const by_another = with_views(list(4, {{{}, {1}}, {{1}, {2}}, {{2}, {0}, {{1, 0}}}}),
                                       ids{no_value, no_value, 1, no_value});
    plan_options const four{.bytes = 8, .alias_of = ids{no_value, no_value, 1, no_value}};
    CHECK(fault_of(check_plan(by_another, plan_at({0, 0, 0, no_offset}, 8), four)) == fault::clash);
}

TEST_CASE("an operand is not overwritten while the step also reads a view of it")
{
    auto const views = ids{no_value, 0, no_value};
    auto const p = with_views(list(3, {{{}, {0}}, {{0}, {1}}, {{0, 1}, {2}, {{0, 2}}}}), views);
    CHECK(fault_of(check_plan(p, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = views})) == fault::clash);
    auto const by_view = with_views(list(3, {{{}, {0}}, {{0}, {1}}, {{1}, {2}, {{1, 2}}}}), views);
    CHECK(check_plan(by_view, plan_at({0, 0, 0}, 8), {.bytes = 8, .alias_of = views}));
}

TEST_CASE("a view keeps the bytes of its root live, and lies at the same place")
{
    auto const views = ids{no_value, 0, no_value, no_value};
    auto const p = with_views(list(4, {{{}, {0}}, {{0}, {1}}, {{}, {2}}, {{1}, {3}}}), views);
    plan_options const options{.bytes = 8, .alias_of = views};
    CHECK(check_plan(p, plan_at({0, 0, 8, 8}, 16), options));
    CHECK(check_plan(p, plan_at({0, 0, 0, 8}, 16), options).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 2, .position = 2, .begin = 0, .end = 8}});
    CHECK(check_plan(p, plan_at({0, 4, 8, 8}, 16), options).error() ==
          counterexample{fault::misplaced_view,
                         counterexample::view{.value = 1, .other = 0, .begin = 4, .needed = 0}});
}

TEST_CASE("a view in another pool than its root is refused, even at the right offset")
{
    auto plan = plan_at({0, 0}, 8);
    plan.buffers[1].pool = 1;
    auto const views = ids{no_value, 0};
    auto const p = with_views(list(2, {{{}, {0}}, {{0}, {1}}}), views);
    CHECK(fault_of(check_plan(p, plan, {.bytes = 8, .alias_of = views})) == fault::misplaced_view);
}

TEST_CASE("a chain of a hundred thousand views is one class, in either direction of the ids")
{
    constexpr std::uint32_t values = 100'000;
    auto makes_view = [](value_id root, value_id view) {
        return sequence(2, values, [=](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(root);
            else sink.use(root), sink.view(view);
        });
    };
    auto plan = plan_at({0}, 8);
    plan.buffer_of.assign(values, 0);
    auto down = [](value_id v) { return v == 0 ? no_value : value_id{v - 1}; };
    auto up = [](value_id v) { return v + 1 == values ? no_value : value_id{v + 1}; };
    CHECK(check_plan(makes_view(0, values - 1), plan, {.bytes = 8, .alias_of = down}));
    CHECK(check_plan(makes_view(values - 1, 0), plan, {.bytes = 8, .alias_of = up}));
}

TEST_CASE("a plan that misses a pin is refused")
{
    auto const pins = offsets{no_offset, 16, no_offset, no_offset};
    CHECK(check_plan(chain(), plan_at({0, 8, 0, 8}, 24), {.bytes = 8, .pinned = pins}).error() ==
          counterexample{fault::off_pin, counterexample::place{.value = 1, .begin = 8, .needed = 16}});
    CHECK(check_plan(chain(), plan_at({0, 16, 0, 8}, 24), {.bytes = 8, .pinned = pins}));
}

TEST_CASE("a pin on a view pins its class, and two different pins cannot both be met")
{
    auto const views = ids{no_value, 0};
    auto const p = with_views(list(2, {{{}, {0}}, {{0}, {1}}}), views);
    CHECK(fault_of(check_plan(p, plan_at({0, 0}, 16),
                              {.bytes = 8, .alias_of = views, .pinned = offsets{no_offset, 8}})) ==
          fault::off_pin);
    CHECK(
        check_plan(p, plan_at({8, 8}, 16), {.bytes = 8, .alias_of = views, .pinned = offsets{no_offset, 8}}));
    for (byte_count offset : {0u, 8u})
        CHECK(fault_of(check_plan(p, plan_at({offset, offset}, 16),
                                  {.bytes = 8, .alias_of = views, .pinned = offsets{0, 8}})) ==
              fault::off_pin);
}

TEST_CASE("a value that misses its own, its view's or its pool's alignment is refused")
{
    auto const views = ids{no_value, 0};
    auto const p = with_views(list(2, {{{}, {0}}, {{0}, {1}}}), views);
    auto at = [&](byte_count offset, std::vector<byte_count> alignment, byte_count of_pool) {
        std::vector<pool_limits> const pools{{.alignment = of_pool}};
        return check_plan(p, plan_at({offset, offset}, 100),
                          {.bytes = 8, .alignment = alignment, .alias_of = views, .pools = pools});
    };
    CHECK(at(60, {4, 6}, 5));
    CHECK(at(30, {4, 6}, 5) ==
          counterexample{fault::misaligned,
                         counterexample::place{.value = 0, .begin = 30, .end = 0, .needed = 4}});
    CHECK(at(20, {4, 6}, 5) ==
          counterexample{fault::misaligned,
                         counterexample::place{.value = 1, .begin = 20, .end = 0, .needed = 6}});
    CHECK(at(12, {4, 6}, 5) ==
          counterexample{fault::misaligned,
                         counterexample::place{.value = 0, .begin = 12, .end = 0, .needed = 5}});
    // Their lcm does not fit 64 bits; offset 0 is a multiple of it.
    byte_count const huge = 1ull << 63;
    CHECK(at(0, {huge, huge - 1}, 3));
}

TEST_CASE("a value in a wrong pool is refused, and pools do not interact")
{
    auto plan = plan_at({0, 0, 8, 8}, 16);
    plan.arena_bytes = {16, 16};
    auto const pools = std::vector<pool_id>{0, 1, 1, 0};
    CHECK(check_plan(chain(), plan, {.bytes = 8, .pool = pools}).error() ==
          counterexample{fault::wrong_pool, counterexample::place{.value = 1, .pool = 1}});
    plan.buffers[1].pool = plan.buffers[2].pool = 1;
    CHECK(check_plan(chain(), plan, {.bytes = 8, .pool = pools}));
    plan.arena_bytes = {16};
    CHECK(fault_of(check_plan(chain(), plan, {.bytes = 8, .pool = pools})) == fault::foreign_plan);
}

TEST_CASE("a value beyond the end of its arena is refused")
{
    CHECK(check_plan(chain(), plan_at({0, 8, 0, 8}, 15), {.bytes = 8}).error() ==
          counterexample{fault::outside_arena,
                         counterexample::place{.value = 1, .begin = 8, .end = 16, .needed = 15}});
}

TEST_CASE("offsets beyond 4 GiB are compared exactly, and sums near 2^64 do not wrap around")
{
    byte_count const giant = 1ull << 32;
    CHECK(check_plan(chain(), plan_at({0, giant, 0, giant}, 2 * giant), {.bytes = giant}));
    CHECK(check_plan(chain(), plan_at({0, giant - 1, 0, giant}, 2 * giant), {.bytes = giant}).error() ==
          counterexample{fault::clash,
                         counterexample::overlap{
                             .value = 0, .other = 1, .position = 1, .begin = giant - 1, .end = giant}});
    byte_count const last = no_offset - 1;
    CHECK(fault_of(check_plan(chain(), plan_at({last, 8, 16, 24}, last), {.bytes = 8})) ==
          fault::outside_arena);
    CHECK(check_plan(chain(), plan_at({last - 8, 8, 16, 24}, last), {.bytes = 8}));
    CHECK(fault_of(check_plan(chain(), plan_at({last - 7, 8, 16, 24}, last), {.bytes = 8})) ==
          fault::outside_arena);
}

TEST_CASE("an arena larger than its pool is refused")
{
    plan_options const options{.bytes = 8, .pools = {{.capacity = 15}}};
    CHECK(check_plan(chain(), plan_at({0, 8, 0, 8}, 16), options).error() ==
          counterexample{fault::over_capacity, counterexample::place{.end = 16, .needed = 15}});
    CHECK(check_plan(chain(), plan_at({0, 8, 0, 8}, 16), {.bytes = 8, .pools = {{.capacity = 16}}}));
}

TEST_CASE("a value without storage is refused, and so is needless storage")
{
    CHECK(check_plan(chain(), plan_at({0, no_offset, 0, 8}, 16), {.bytes = 8}).error() ==
          counterexample{fault::unplaced, counterexample::place{.value = 1}});
    auto nowhere = plan_at({0, 8, 0, 8}, 16);
    nowhere.buffers[2].offset = no_offset;
    CHECK(check_plan(chain(), nowhere, {.bytes = 8}).error() ==
          counterexample{fault::unplaced, counterexample::place{.value = 2}});

    counterexample const needless{fault::needless, counterexample::place{.value = 2}};
    auto const plan = plan_at({0, 8, 0, 8}, 16);
    CHECK(check_plan(chain(), plan, {.bytes = {8, 8, 0, 8}}) == needless);
    CHECK(check_plan(chain(), plan, {.bytes = offsets{8, 8, no_size, 8}}) == needless);
    CHECK(check_plan(chain(), plan, {.bytes = 8, .role = std::vector{inner, inner, external, inner}}) ==
          needless);
    CHECK(check_plan(chain(), plan, {.bytes = 8, .eligible = std::vector<bool>{true, true, false, true}}) ==
          needless);
    auto const untouched = list(3, {{{}, {0}}, {{0}, {1}}});
    CHECK(check_plan(untouched, plan_at({0, 8, 16}, 24), {.bytes = 8}) == needless);
}

TEST_CASE("an external or ineligible root keeps its views out of the arena, and no view its root")
{
    auto const views = ids{no_value, 0};
    auto const p = with_views(list(2, {{{}, {0}}, {{0}, {1}}}), views);
    auto const nowhere = plan_at({no_offset, no_offset}, 0);
    auto eligible = [](bool root, bool view) { return std::vector<bool>{root, view}; };
    CHECK(check_plan(p, nowhere, {.bytes = 8, .alias_of = views, .eligible = eligible(false, true)}));
    CHECK(check_plan(p, nowhere, {.bytes = 8, .alias_of = views, .eligible = eligible(false, false)}));
    CHECK(fault_of(
              check_plan(p, nowhere, {.bytes = 8, .alias_of = views, .eligible = eligible(true, false)})) ==
          fault::unlike_root);
    auto const state = value_role::state;
    CHECK(check_plan(p, nowhere, {.bytes = 8, .role = std::vector{state, inner}, .alias_of = views}));
    CHECK(fault_of(
              check_plan(p, nowhere, {.bytes = 8, .role = std::vector{inner, state}, .alias_of = views})) ==
          fault::unlike_root);
    CHECK(fault_of(check_plan(p, nowhere, {.bytes = 8, .alias_of = views})) == fault::unplaced);
}

TEST_CASE("a use before every def is reported for any plan")
{
    auto const late = list(2, {{{1}, {0}}, {{}, {1}}});
    auto const plan = plan_at({0, 8}, 16);
    CHECK(check_plan(late, plan, {.bytes = 8}).error() ==
          counterexample{fault::used_undefined,
                         counterexample::access{.value = 1, .other = 1, .position = 0, .maker = 1}});
    auto turned = plan;
    turned.order = {1, 0};
    CHECK(check_plan(late, turned, {.bytes = 8, .order = {1, 0}}));
    auto const same_step = list(2, {{{}, {1}}, {{0}, {0}}});
    CHECK(
        check_plan(same_step, plan, {.bytes = 8}).error() ==
        counterexample{fault::used_undefined, counterexample::access{.value = 0, .other = 0, .position = 1}});
    auto const never = list(2, {{{}, {0}}, {{0, 1}, {}}});
    CHECK(check_plan(never, plan, {.bytes = 8}).error() ==
          counterexample{fault::used_undefined,
                         counterexample::access{.value = 1, .other = no_value, .position = 1}});
    CHECK(check_plan(never, plan, {.bytes = 8, .role = std::vector{inner, input}}));
}

TEST_CASE("an output that is never defined is missing at the end")
{
    auto const p = list(2, {{{}, {0}}});
    auto const role = std::vector{inner, output};
    CHECK(check_plan(p, plan_at({0, 8}, 16), {.bytes = 8, .role = role}).error() ==
          counterexample{fault::used_undefined,
                         counterexample::access{.value = 1, .other = no_value, .position = 1}});
}

TEST_CASE("the first undefined use by position, not by step, is reported")
{
    auto const p = list(3, {{{0}, {}}, {{1}, {}}, {{}, {0, 1}}});
    plan_options const options{.bytes = 8, .order = {1, 0, 2}};
    auto plan = plan_at({0, 8, no_offset}, 16);
    plan.order = {1, 0, 2};
    CHECK(check_plan(p, plan, options).error().value() == 1);
}

TEST_CASE("of two undefined uses in one step the lower value is reported")
{
    for (auto const& uses : {ids{1, 2}, ids{2, 1}})
        CHECK(check_plan(list(3, {{uses, {0}}}), plan_at({0, 8, 16}, 24), {.bytes = 8}).error().value() == 1);
}

TEST_CASE("positions follow the order, and the steps of a node stay together")
{
    // Node 0: def 0; use 0, def 1.   Node 1: def 2; use 2, def 3.
    auto const p = tasks(
        2, 4, [](node_id) { return node_ids{}; },
        [](node_id n, effect_sink& sink) {
            sink.def(2 * n);
            sink.next_step();
            sink.use(2 * n);
            sink.def(2 * n + 1);
        });
    auto plan = plan_at({0, 8, 0, 8}, 16);
    plan.order = {1, 0};
    CHECK(check_plan(p, plan, {.bytes = 8, .order = {1, 0}}));
    plan.buffers[1].offset = 0;
    CHECK(check_plan(p, plan, {.bytes = 8, .order = {1, 0}}).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 1, .position = 3, .begin = 0, .end = 8}});
}

TEST_CASE("a use at the end of a predecessor keeps its value live to that node's last step")
{
    auto const p = tasks(
        3, 4, [](node_id n) { return n == 0 ? node_ids{1, 2} : node_ids{}; },
        [](node_id n, effect_sink& sink) {
            sink.def(+n);
            if (n == 0) sink.next_step(), sink.def(3);
            if (n == 2) sink.use_at_end_of(0, 0);
        });
    CHECK(check_plan(p, plan_at({0, 0, 0, 8}, 16), {.bytes = 8}));
    CHECK(check_plan(p, plan_at({0, 0, 0, 0}, 16), {.bytes = 8}).error() ==
          counterexample{fault::clash, counterexample::overlap{
                                           .value = 0, .other = 3, .position = 1, .begin = 0, .end = 8}});
}

TEST_CASE("a plan of another program, order or reading is foreign")
{
    auto const sound = plan_at({0, 8, 0, 8}, 16);
    plan_options const options{.bytes = 8};
    auto is_foreign = [&](memory_plan const& plan) {
        return fault_of(check_plan(chain(), plan, options)) == fault::foreign_plan;
    };
    auto plan = sound;
    plan.valid_for = program_reading::concurrent;
    CHECK(is_foreign(plan));
    plan = sound;
    plan.buffer_of.pop_back();
    CHECK(is_foreign(plan));
    plan = sound;
    plan.buffer_of[3] = 4;
    CHECK(is_foreign(plan));
    plan = sound;
    plan.order = {0, 1, 3, 2};
    CHECK(is_foreign(plan));
    plan.order = {0, 1, 2};
    CHECK(is_foreign(plan));
    plan.order = {0, 1, 2, 3};
    CHECK(check_plan(chain(), plan, options));
    CHECK(check_plan(chain(), sound, {.bytes = 8, .order = {0, 1, 2, 3}}));
}

TEST_CASE("broken preconditions throw, and wrong plans do not")
{
    auto const p = chain();
    auto const plan = plan_at({0, 8, 0, 8}, 16);
    auto throws = [&](plan_options const& options) {
        CHECK_THROWS_AS((void)check_plan(p, plan, options), precondition_error);
    };
    throws({.bytes = offsets{8, 8, 8}});
    throws({.bytes = 8, .alignment = 0});
    throws({.bytes = 8, .alias_of = ids{1, 2, 0, no_value}});
    throws({.bytes = 8, .alias_of = ids{0, no_value, no_value, no_value}});
    throws({.bytes = 8, .alias_of = ids{no_value, 4, no_value, no_value}});
    throws({.bytes = 8, .pools = {{.alignment = 0}}});
    throws({.bytes = 8, .order = {0, 1, 2}});
    throws({.bytes = 8, .order = {0, 1, 2, 2}});
    throws({.bytes = 8, .order = {0, 1, 2, 4}});
}

TEST_CASE("the only two of a hundred thousand values that conflict are found")
{
    // Value v is live for `width` steps in one of `width` shuffled lanes. Then one value grows by a byte.
    constexpr std::size_t values = 100'000, width = 700;
    auto const p = sequence(values, values, [](step_id s, effect_sink& sink) {
        sink.def(+s);
        if (s + 1 >= width) sink.use(s + 1 - width);
    });
    std::mt19937 pick{7};
    offsets lane(width), where(values), size(values, 16);
    for (std::size_t i = 0; i != width; ++i) lane[i] = 16 * i;
    for (std::size_t i = width; i != 1; --i) std::swap(lane[i - 1], lane[pick() % i]);
    for (std::size_t v = 0; v != values; ++v) where[v] = lane[v % width];
    auto const plan = plan_at(where, 16 * width);
    CHECK(check_plan(p, plan, {.bytes = size}));

    for (value_id grown : {0u, 54'321u, 98'765u}) {
        size.assign(values, 16);
        size[grown] = 17;
        auto const found = check_plan(p, plan, {.bytes = size});
        if (where[grown] + 16 == 16 * width) {
            CHECK(fault_of(found) == fault::outside_arena);
            continue;
        }
        CHECK(fault_of(found) == fault::clash);
        CHECK((found.error().value() == grown || found.error().other() == grown));
        value_id const beside =
            found.error().value() == grown ? found.error().other() : found.error().value();
        CHECK(where[beside] == where[grown] + 16);
        auto const* both = found.error().as<counterexample::overlap>();
        REQUIRE(both != nullptr);
        CHECK(both->begin == where[beside]);
        CHECK(both->end == both->begin + 1);
    }
}

} // namespace this_test
