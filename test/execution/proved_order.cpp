// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/proved_order.hpp>

#include "../operations.hpp"

#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

//     a ─┬─► b ─► d ─┬─► f
//        └─► c ─► e ─┘
snapshot const diamond = op_list(6, {{0}, {0}, {1}, {2}, {3, 4}}, {{1}, {2}, {3}, {4}, {5}});
plan_options const options{
    .bytes = 64, .role = [](auto v) {
        return v == 0 ? value_role::input : v == 5 ? value_role::output : value_role::intermediate;
    }};

/// The fault of a plan, if any.
std::optional<fault> fault_of(memory_plan const& plan, executor_options const& how = {})
{
    try {
        (void)detail::proved_order(diamond, options, arena{plan}, {}, how);
    } catch (unsound_plan const& e) {
        return e.why().what;
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("a plan is proved for its own reading, and the waits that it needs are returned")
{
    memory_plan const in_order = plan_memory(diamond, options).plan;
    memory_plan const in_any = plan_concurrent(diamond, options).plan;
    CHECK(!fault_of(in_order));
    CHECK(!fault_of(in_any));
    CHECK(detail::proved_order(diamond, options, arena{in_order}, {}, {})
              .waits.count(step_waits::kind::handoff) > 0);
    CHECK(detail::proved_order(diamond, options, arena{in_any}, {}, {})
              .waits.count(step_waits::kind::handoff) == 0);
    CHECK(detail::proved_order(diamond, options, recycle{}, {}, {}).waits.list.size() == 4);

    memory_plan claimed = in_order; // not true: it is for one order
    claimed.valid_for = program_reading::concurrent;
    CHECK(fault_of(claimed) == fault::overwritten);
    memory_plan clash = in_order;
    for (memory_plan::placed_buffer& b : clash.buffers) b.offset = 0;
    CHECK(fault_of(clash) == fault::clash);
    for (executor_options::checks const level :
         {executor_options::checks::paint, executor_options::checks::digest})
        CHECK(fault_of(clash, {.check = level}) == fault::clash);
    CHECK(!fault_of(clash, {.check = executor_options::checks::off}));
    CHECK(!fault_of(clash, {.check = executor_options::checks::digest, .prove = false}));
}

TEST_CASE("additional hand-offs are kept, and rejected if they lead to a lower position")
{
    auto const waits = detail::proved_order(diamond, options, recycle{}, {{1, 2}}, {}).waits;
    CHECK(waits.list.size() == 5);
    CHECK(waits.count(step_waits::kind::handoff) == 1);
    CHECK_THROWS_AS((void)detail::proved_order(diamond, options, recycle{}, {{3, 1}}, {}), unsound_plan);
}

} // namespace this_test
