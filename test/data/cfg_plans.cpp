// SPDX-License-Identifier: BSL-1.0
// The functions of SQLite planned by their control flow, with random sizes: in SSA form, and as in the
// source, with variables that are written many times. The environment variable SUBLET_DATA names the folder.
#include "cfg_file.hpp"
#include "random_source.hpp"

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/plan_flow.hpp>

#include <cstdlib>
#include <ctime>
#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::vector<cfg_file::function> functions_of(std::string const& name)
{
    char const* folder = std::getenv("SUBLET_DATA");
    return cfg_file::functions_of(std::string(folder == nullptr ? "" : folder) + "/cfg/" + name);
}

struct sums {
    std::size_t functions = 0, buffers = 0, holes = 0, optimal = 0;
    byte_count naive = 0, arenas = 0, bounds = 0, in_hulls = 0;
    double plan_seconds = 0, check_seconds = 0, slowest = 0;
};

double seconds_since(std::clock_t begin)
{
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Plans every `every`-th function, or all if SUBLET_ROUNDS is at least 2.
sums planned(std::vector<cfg_file::function> const& functions, std::size_t every, flow_options const& flow)
{
    if (rounds(1) > 1) every = 1;
    sums all;
    for (std::size_t i = 0; i < functions.size(); i += every) {
        CAPTURE(functions[i].name);
        snapshot const program(cfg_file::as_program<touch::access::use>{functions[i]});
        random_source pick{std::mt19937(static_cast<std::uint32_t>(i))};
        std::vector<byte_count> bytes;
        for (std::size_t v = 0; v != program.values(); ++v)
            bytes.push_back(8 * (1 + pick.below(pick.below(4) == 0 ? 64 : 4)));
        plan_options const options{.bytes = bytes, .alignment = 8, .check = false};

        std::clock_t begin = std::clock();
        planned_flow const found = plan_flow(program, options, flow);
        double const seconds = seconds_since(begin);
        all.plan_seconds += seconds;
        if (seconds > all.slowest) all.slowest = seconds;
        begin = std::clock();
        auto const valid = check_flow_plan(program, found.plan, options, flow);
        all.check_seconds += seconds_since(begin);
        REQUIRE(found);
        REQUIRE(valid);
        CHECK(found.report().lower_bound_bytes <= found.report().arena_bytes);

        ++all.functions;
        all.buffers += found.plan.buffers.size();
        all.holes += found.lives.ranges() - found.plan.buffers.size();
        all.optimal += found.report().lower_bound_bytes == found.report().arena_bytes;
        all.naive += found.report().naive_bytes;
        all.arenas += found.report().arena_bytes;
        all.bounds += found.report().lower_bound_bytes;
        placement_problem whole; // live ranges without holes
        for (memory_plan::placed_buffer const& b : found.plan.buffers)
            whole.buffers.push_back({.life = b.life, .size = b.size, .alignment = b.alignment});
        for (placement::pool_result const& pool : detail::pack(whole).pools) all.in_hulls += pool.height;
    }
    MESSAGE(all.functions, " functions, ", all.buffers, " buffers with ", all.holes, " holes: ", all.naive,
            " bytes, planned ", all.arenas, ", bound ", all.bounds, " (reached in ", all.optimal,
            "), without holes ", all.in_hulls, "; ", all.plan_seconds, " s to plan, ", all.check_seconds,
            " s to check, slowest ", all.slowest, " s");
    return all;
}

} // namespace

TEST_CASE("real functions in SSA form are planned by their control flow, and the plans are proved")
{
    sums const all = planned(functions_of("sqlite_cfg.txt.gz"), 1, {});
    CHECK(all.functions == 1931);
    CHECK(all.arenas < all.naive / 4);
    CHECK(all.arenas <= all.in_hulls);
    CHECK(all.arenas - all.bounds < all.bounds / 100);
}

TEST_CASE("real functions with variables that are written many times are planned as well")
{
    sums const all = planned(functions_of("sqlite_vars_nonssa.txt.gz"), 4, {.allows_undefined = true});
    CHECK(all.functions >= 800);
    CHECK(all.arenas < all.naive);
    CHECK(all.arenas <= all.in_hulls);
}

} // namespace this_test
