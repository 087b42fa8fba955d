// SPDX-License-Identifier: BSL-1.0
#include "arguments.hpp"
#include "run_modes.hpp"
#include "summary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace plan_model;

/// x -> a -> b, y = a + b and z = f(x): 64 bytes each; x is an input, y and z are outputs.
network diamond()
{
    auto operation_of = [](std::string type, std::vector<sublet::value_id> from, sublet::value_id to) {
        return operation{
            "node " + std::to_string(to - 1) + " (" + type + ')', type, from, {to}, {}, {}, 0, false, {}};
    };
    using enum sublet::value_role;
    network net;
    for (auto [name, role] :
         {std::pair{"x", external}, {"a", intermediate}, {"b", intermediate}, {"y", output}, {"z", output}}) {
        sublet::node_id const maker =
            net.values.empty() ? sublet::no_node : sublet::node_id(net.values.size() - 1);
        net.values.push_back({name, 64, role, sublet::no_value, maker});
    }
    net.operations = {operation_of("Relu", {0}, 1), operation_of("Relu", {1}, 2),
                      operation_of("Add", {1, 2}, 3), operation_of("Tanh", {0}, 4)};
    net.results = 4;
    return net;
}

sublet::memory_plan plan_of(network const& net) { return plan(net, {}).planned.plan; }

/// The plan, with one value moved onto another.
sublet::memory_plan clobbering_plan(network const& net, sublet::value_id moved, sublet::value_id over)
{
    sublet::memory_plan plan = plan_of(net);
    plan.buffers[plan.buffer_of[moved]].offset = plan.offset_of(over);
    return plan;
}

std::string printed(mode_comparison const& run, bool as_json)
{
    std::ostringstream out;
    print(out, {.verified = true, .run = run}, as_json);
    std::string const text = out.str();
    return text.substr(text.find(as_json ? "\"run\"" : "run: "));
}

constexpr auto off = sublet::executor_options::checks::off;

} // namespace

TEST_CASE("the runs of one network in three modes have the same result")
{
    network const net = diamond();
    auto const all = compare_modes(net, {}, plan_of(net));
    CHECK(all.is_identical());
    CHECK(printed(all, false) == "run: identical\n"
                                 "peak_bytes_no_plan: 256\npeak_bytes_recycle: 192\npeak_bytes_arena: 192\n"
                                 "allocations_no_plan: 4\nallocations_recycle: 4\nallocations_arena: 1\n");
}

TEST_CASE("the digest depends on weights, and on writes to external storage")
{
    network const net = diamond();
    network longer = net;
    longer.values[0].bytes = 65;
    CHECK(compare_modes(net, {}, plan_of(net)).arena->outputs !=
          compare_modes(longer, {}, plan_of(longer)).arena->outputs);
    network state = net;
    state.operations[3].mutated = {0};
    auto const all = compare_modes(state, {}, plan_of(state));
    CHECK(all.is_identical());
    CHECK(all.arena->outputs != compare_modes(net, {}, plan_of(net)).arena->outputs);
}

TEST_CASE("a value that overlaps another changes the result")
{
    network const net = diamond();
    auto const all = compare_modes(net, {}, clobbering_plan(net, 2, 1), {.check = off});
    REQUIRE(all.faults.size() == 1);
    CHECK(all.faults[0] == "in mode arena the results differ from those in mode no_plan");
    CHECK(!all.is_identical());
    CHECK(printed(all, false).substr(0, 15) == "run: DIFFERENT\n");
    CHECK(printed(all, true).substr(0, 19) == "\"run\": \"DIFFERENT\",");
}

TEST_CASE("the planned modes are compared with each other if the limit excludes the run without a plan")
{
    network const net = diamond();
    sublet::byte_count const room = 255 + 64; // x is external, and counts for the limit
    CHECK(compare_modes(net, {}, plan_of(net), {.limit = room + 1}).no_plan);
    auto const same = compare_modes(net, {}, plan_of(net), {.limit = room});
    CHECK(same.is_identical());
    REQUIRE(same.remarks.size() == 1);
    CHECK(same.remarks[0] == "a run without a plan needs 320 bytes, more than the limit of 319; the planned "
                             "modes are compared with each other");
    CHECK(printed(same, true) == "\"run\": \"identical\", "
                                 "\"peak_bytes_no_plan\": null, \"peak_bytes_recycle\": 192, "
                                 "\"peak_bytes_arena\": 192, \"allocations_no_plan\": null, "
                                 "\"allocations_recycle\": 4, \"allocations_arena\": 1}\n");

    auto const other = compare_modes(net, {}, clobbering_plan(net, 2, 1), {.check = off, .limit = room});
    REQUIRE(other.faults.size() == 1);
    CHECK(other.faults[0] == "in mode arena the results differ from those in mode recycle");
}

TEST_CASE("a run without a plan writes nothing in place, and the limit takes that into account")
{
    network net = diamond();
    net.operations[1].overwritable = {1};
    net.operations[2].inputs = {2}; // b may overwrite a
    auto const all = compare_modes(net, {}, plan_of(net), {.limit = 256 + 64});
    REQUIRE(all.no_plan);
    CHECK(all.no_plan->peak_bytes == 256);
    CHECK(all.recycle->allocations == 3);
    CHECK(!compare_modes(net, {}, plan_of(net), {.limit = 256 + 63}).no_plan);
}

TEST_CASE("a limit below what the plan needs is refused")
{
    network const net = diamond();
    CHECK(compare_modes(net, {}, plan_of(net), {.limit = 192 + 64}).is_identical());
    CHECK_THROWS_WITH_AS(
        compare_modes(net, {}, plan_of(net), {.limit = 192 + 63}),
        "even with its plan a run needs 256 bytes, 192 for planned values and 64 for weights and other "
        "storage outside of the plan, more than the limit of 255 (see --limit)",
        limit_exceeded);
}

TEST_CASE("without a limit a run takes 2 GiB, or more for a large file, but no more than half of the memory")
{
    sublet::byte_count const two = sublet::byte_count{2} << 30, small = default_run_limit("no such file");
    CHECK(small <= two);
    std::string const file = "run_modes_test.size";
    auto limit_for = [&](unsigned bytes) {
        std::ofstream(file) << std::string(bytes, ' ');
        return default_run_limit(file);
    };
    CHECK(limit_for(8192) == small);
    sublet::byte_count const most = limit_for(1 << 24); // 4 TiB, or half of the memory
    CHECK(limit_for(8193) == std::min(most, two + (1 << 18)));
    CHECK(limit_for(20000) == std::min(most, sublet::byte_count{20000} << 18));
    std::filesystem::remove(file);
}

TEST_CASE("reference counting may need more than the plan, and more than the limit")
{
    network const net = diamond();
    sublet::memory_plan small = plan_of(net);
    for (auto& b : small.buffers) b.offset = 0;
    small.arena_bytes = {64};
    CHECK_THROWS_AS(compare_modes(net, {}, small, {.check = off, .limit = 192 + 63}),
                    sublet::allocation_error);
}

TEST_CASE("an unsound plan is not run unless the options allow it")
{
    network const net = diamond();
    CHECK_THROWS_AS(compare_modes(net, {}, clobbering_plan(net, 2, 1)), sublet::unsound_plan);
}

TEST_CASE("a clobbered value is reported in terms of the model")
{
    network const net = diamond();
    sublet::executor_options const watched{.check = sublet::executor_options::checks::digest, .prove = false};
    auto const read = compare_modes(net, {}, clobbering_plan(net, 2, 1), watched);
    REQUIRE(read.faults.size() == 1);
    CHECK(read.faults[0] == "in mode arena, value 'a', made by node 0 (Relu), is not what it was when "
                            "node 1 (Relu) needs it: value 'b' lies over it");
    CHECK(!read.arena);
    CHECK(read.no_plan->outputs == read.recycle->outputs);
    CHECK(printed(read, false) ==
          "run: DIFFERENT\n"
          "peak_bytes_no_plan: 256\npeak_bytes_recycle: 192\npeak_bytes_arena: not run\n"
          "allocations_no_plan: 4\nallocations_recycle: 4\nallocations_arena: not run\n");

    auto const left = compare_modes(net, {}, clobbering_plan(net, 4, 3), watched);
    REQUIRE(left.faults.size() == 1);
    CHECK(left.faults[0] == "in mode arena, value 'y', made by node 2 (Add), is not what it was when the run "
                            "ends: value 'z' lies over it");
}

TEST_CASE("external storage is aligned")
{
    network net = diamond();
    net.operations[3].mutated = {0};
    net.values.push_back({"w", 3, sublet::value_role::external, sublet::no_value, sublet::no_node});
    net.operations[0].inputs.push_back(5);
    for (sublet::byte_count alignment : {1u, 2u, 64u, 4096u}) {
        CAPTURE(alignment);
        plan_settings const settings{.alignment = alignment};
        CHECK(compare_modes(net, settings, plan(net, settings).planned.plan).is_identical());
    }
}

namespace {

/// x -> a -> y and x -> c, of 12, 16 and 16 bytes.
network two_branches()
{
    network net;
    net.values = {{"x", 4, sublet::value_role::external, sublet::no_value, sublet::no_node},
                  {"a", 12, sublet::value_role::intermediate, sublet::no_value, 0},
                  {"y", 16, sublet::value_role::output, sublet::no_value, 1},
                  {"c", 16, sublet::value_role::intermediate, sublet::no_value, 2}};
    net.operations = {{"node 0 (F)", "F", {0}, {1}, {}, {}, 0, false, {}},
                      {"node 1 (F)", "F", {1}, {2}, {}, {}, 0, false, {}},
                      {"node 2 (F)", "F", {0}, {3}, {}, {}, 0, false, {}}};
    net.results = 3;
    return net;
}

mode_comparison run_concurrently(network const& net, timed_plan const& timed,
                                 sublet::executor_options how = {})
{
    return compare_modes(net, {}, timed.planned.plan, how);
}

} // namespace

TEST_CASE("a plan with hand-offs is run in an order that respects them")
{
    network const net = two_branches();
    timed_plan const timed = plan(net, {.concurrent = true, .handoffs = true});
    REQUIRE(timed.is_verified());
    auto const& handoffs = timed.planned.plan.handoffs; // y reuses the bytes of c
    REQUIRE(handoffs.size() == 1);
    REQUIRE(handoffs[0] == sublet::handoff{2, 1});
    auto const all = run_concurrently(net, timed);
    CHECK(all.is_identical());
    CHECK(all.arena->peak_bytes == 28);
    CHECK(all.no_plan->outputs == all.arena->outputs);
}

TEST_CASE("a plan for every schedule is also run with the last ready step first")
{
    network net = two_branches();
    net.values[3].role = sublet::value_role::output;
    timed_plan timed = plan(net, {.concurrent = true});
    sublet::memory_plan& plan = timed.planned.plan;
    plan.buffers[2].offset = plan.buffers[0].offset; // a ends before c begins
    plan.arena_bytes = {48};
    auto const all = run_concurrently(net, timed, {.check = off, .prove = false});
    REQUIRE(all.faults.size() == 1);
    CHECK(all.faults[0] ==
          "in mode arena, the last steps first, the results differ from those in mode no_plan");
}

TEST_CASE("a write to a value is visible through its views, in any order")
{
    network net = two_branches(); // y is a view of a, an output, and node 2 writes a
    net.values[2] = {"y", 12, sublet::value_role::output, 1, 1};
    net.operations[2] = {"node 2 (G)", "G", {0, 1}, {3}, {1}, {}, 0, false, {}};
    for (bool waits : {false, true}) {
        timed_plan const timed = plan(net, {.concurrent = true, .handoffs = waits});
        REQUIRE(timed.is_verified());
        CHECK(run_concurrently(net, timed).is_identical());
    }
}

TEST_CASE("a write to an intermediate has the same result in every schedule")
{
    network net = two_branches();
    net.operations[2] = {"node 2 (G)", "G", {0, 1}, {3}, {1}, {}, 0, false, {}}; // writes a
    net.operations.push_back({"node 3 (H)", "H", {1, 3}, {4}, {}, {}, 0, false, {}});
    net.values.push_back({"z", 8, sublet::value_role::output, sublet::no_value, 3});
    net.results = 4;
    network view = net; // and through a view of it
    view.values.insert(view.values.end(), {"part", 4, sublet::value_role::intermediate, 1, 0});
    view.operations[0].outputs.push_back(5);
    view.operations[2].inputs[1] = view.operations[2].mutated[0] = 5;
    for (network const& variant : {net, view})
        for (bool waits : {false, true}) {
            timed_plan const timed = plan(variant, {.concurrent = true, .handoffs = waits});
            REQUIRE(timed.is_verified());
            CHECK(run_concurrently(variant, timed).is_identical());
            CHECK(run_concurrently(variant, timed, {.check = sublet::executor_options::checks::digest})
                      .is_identical());
            CHECK(run_concurrently(variant, timed).arena->outputs ==
                  compare_modes(variant, {}, plan_of(variant)).arena->outputs);
        }
    CHECK(compare_modes(net, {}, plan_of(net)).arena->outputs !=
          compare_modes(view, {}, plan_of(view)).arena->outputs);
}

TEST_CASE("success needs a verified plan, and identical runs if they were requested")
{
    network const net = diamond();
    mode_comparison const nothing, same = compare_modes(net, {}, plan_of(net)),
                                   other = compare_modes(net, {}, clobbering_plan(net, 2, 1), {.check = off});
    CHECK(summary{.verified = true}.is_good());
    CHECK(!summary{.verified = false}.is_good());
    CHECK(summary{.verified = true, .run = same}.is_good());
    CHECK(!summary{.verified = true, .run = other}.is_good());
    CHECK(!summary{.verified = true, .run = nothing}.is_good());
    CHECK(printed(nothing, false).substr(0, 13) == "run: not run\n");
    CHECK(printed(nothing, true).substr(0, 12) == "\"run\": null,");
}
