// SPDX-License-Identifier: BSL-1.0
// Every file of real lifetimes: its placement reaches its known lower bound, and so does the plan of a
// program with those lifetimes; both are checked. The environment variable SUBLET_DATA names the folder.
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_memory.hpp>

#include "../../examples/pack/read_lifetimes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

struct known {
    std::string name;
    std::size_t rows;
    byte_count lower_bound;
};

known const files[] = {
    {"idealloc_iopddl_G_1.csv", 816, 3030937746}, {"idealloc_iopddl_S_1.csv", 28526, 1498635932},
    {"iopddl_A_min.csv", 30011, 429571388},       {"iopddl_B_max.csv", 665, 418691216},
    {"minimalloc_A.1048576.csv", 154, 1048576},   {"minimalloc_C.1048576.csv", 203, 1039360},
    {"minimalloc_E.1048576.csv", 215, 1048576},   {"minimalloc_F.1048576.csv", 296, 1048576},
    {"minimalloc_I.1048576.csv", 374, 1048576},   {"minimalloc_K.1048576.csv", 454, 1048576},
    {"minimalloc_input.12.csv", 5, 12},           {"somas_resnet50.csv", 1042, 1515472556}};

std::string folder()
{
    char const* const data = std::getenv("SUBLET_DATA");
    return std::string(data == nullptr ? "" : data) + "/lifetimes/";
}

/// A program of values with the live ranges of the buffers.
snapshot program_of(std::vector<placement_problem::buffer> const& buffers)
{
    position_id end = 0;
    for (auto const& b : buffers) end = std::max(end, b.life.last);
    std::vector<std::vector<value_id>> born(end), last_used(end);
    for (value_id v = 0; v != buffers.size(); ++v) {
        live_range const life = buffers[v].life;
        born[life.first].push_back(v);
        if (life.last - 1 != life.first) last_used[life.last - 1].push_back(v);
    }
    return sequence(
        end, buffers.size(), [&](auto s) -> auto& { return last_used[s]; },
        [&](auto s) -> auto& { return born[s]; });
}

} // namespace

TEST_CASE("the table lists every file of lifetimes")
{
    std::size_t found = 0;
    for (auto const& entry : std::filesystem::directory_iterator(folder()))
        if (entry.path().extension() == ".csv") ++found;
    CHECK(found == std::size(files));
}

TEST_CASE("each file is placed at its lower bound, with a proof")
{
    for (known const& file : files) {
        std::string const& name = file.name;
        byte_count const lower_bound = file.lower_bound;
        CAPTURE(name);
        auto const problem = pack::read_lifetimes(folder() + name).problem;
        CHECK(problem.buffers.size() == file.rows);
        auto const placed = place(problem);
        CHECK(placed.status == placement::outcome::optimal);
        CHECK(placed.pools.at(0).height == lower_bound);
        CHECK(placed.pools.at(0).lower_bound == lower_bound);
        CHECK(placed.pools.at(0).proof.kind == placement::proof::reason::live_bytes);
        CHECK_FALSE(placed.is_timed_out);
        CHECK(check_placement(problem, placed));
        CHECK(check_proof(problem, placed, 0));
        MESSAGE(name << ": " << placed.pools[0].height << " bytes, " << placed.pools[0].packings
                     << " packings, " << placed.pools[0].nodes << " nodes");
    }
}

TEST_CASE("the plan of a program with those lifetimes reaches the same bound, with a proof")
{
    for (known const& file : files) {
        std::string const& name = file.name;
        byte_count const lower_bound = file.lower_bound;
        CAPTURE(name);
        auto const buffers = pack::read_lifetimes(folder() + name).problem.buffers;
        auto const size_of = [&](std::uint32_t v) { return buffers[v].size; };
        auto const planned = plan_memory(program_of(buffers), {.bytes = size_of});
        CHECK(planned);
        CHECK(planned.report().is_checked);
        CHECK(planned.report().lower_bound_bytes == lower_bound);
        CHECK(planned.report().arena_bytes == lower_bound);
    }
}

TEST_CASE("the MiniMalloc cases fit into 1048576 bytes, and none fits one byte below its bound")
{
    for (known const& file : files) {
        std::string const& name = file.name;
        byte_count const lower_bound = file.lower_bound;
        CAPTURE(name);
        if (name.find("1048576") == std::string::npos) continue;
        auto problem = pack::read_lifetimes(folder() + name).problem;
        problem.pools = {{.capacity = 1048576}};
        auto const placed = place(problem, {.objective = placement::objective::fit});
        CHECK(placed.status == placement::outcome::optimal);
        CHECK(placed.pools[0].height <= 1048576);
        CHECK(check_placement(problem, placed, {.objective = placement::objective::fit}));

        problem.pools[0].capacity = lower_bound - 1;
        auto const refused = place(problem);
        CHECK(refused.status == placement::outcome::infeasible);
        CHECK(refused.pools[0].proof.bytes == lower_bound);
        CHECK(check_placement(problem, refused));
        CHECK(check_proof(problem, refused, 0));
    }
}

} // namespace this_test
