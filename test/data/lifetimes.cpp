// SPDX-License-Identifier: BSL-1.0
// Every file of real lifetimes: the lower bound is the one that is known, and a plan of a program with those
// lifetimes is proved. The folder comes in the environment variable SUBLET_DATA.
#include <sublet/placement/place.hpp>
#include <sublet/planner.hpp>

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace sublet;

namespace {

std::string data_folder()
{
    char const* folder = std::getenv("SUBLET_DATA");
    return folder == nullptr ? "" : folder;
}

/// Columns id,lower,upper,size; the files are plain integers.
std::vector<placement_buffer> read_lifetimes(std::string const& name)
{
    std::ifstream file(data_folder() + "/lifetimes/" + name);
    REQUIRE_MESSAGE(file.good(), "cannot open " << name);
    std::string line;
    std::getline(file, line);
    REQUIRE(line.substr(0, 19) == "id,lower,upper,size");
    std::vector<placement_buffer> buffers;
    while (std::getline(file, line)) {
        placement_buffer b;
        std::istringstream fields(line);
        std::string id;
        char comma = 0;
        std::getline(fields, id, ',');
        fields >> b.life.first >> comma >> b.life.last >> comma >> b.size;
        REQUIRE(fields);
        buffers.push_back(b);
    }
    return buffers;
}

struct known {
    std::size_t rows;
    byte_count lower_bound;
};

std::map<std::string, known> const files{
    {"idealloc_iopddl_G_1.csv", {816, 3030937746}}, {"idealloc_iopddl_S_1.csv", {28526, 1498635932}},
    {"iopddl_A_min.csv", {30011, 429571388}},       {"iopddl_B_max.csv", {665, 418691216}},
    {"minimalloc_A.1048576.csv", {154, 1048576}},   {"minimalloc_C.1048576.csv", {203, 1039360}},
    {"minimalloc_E.1048576.csv", {215, 1048576}},   {"minimalloc_F.1048576.csv", {296, 1048576}},
    {"minimalloc_I.1048576.csv", {374, 1048576}},   {"minimalloc_K.1048576.csv", {454, 1048576}},
    {"minimalloc_input.12.csv", {5, 12}},           {"somas_resnet50.csv", {1042, 1515472556}}};

} // namespace

TEST_CASE("real lifetimes have the known lower bound, and their plans are proved")
{
    for (auto const& file : files) {
        std::string const& name = file.first;
        known const& expected = file.second;
        CAPTURE(name);
        auto const buffers = read_lifetimes(name);
        CHECK(buffers.size() == expected.rows);
        step_id end = 0;
        for (auto const& b : buffers) end = std::max(end, b.life.last);
        std::vector<std::vector<value_id>> born(end), last_used(end);
        std::vector<byte_count> bytes;
        for (std::size_t v = 0; v != buffers.size(); ++v) {
            auto const& b = buffers[v];
            born[b.life.first].push_back(static_cast<value_id>(v));
            if (b.life.last - 1 != b.life.first)
                last_used[b.life.last - 1].push_back(static_cast<value_id>(v));
            bytes.push_back(b.size);
        }
        auto const program = sequence(
            end, buffers.size(), [&](auto s) -> auto& { return last_used[s]; },
            [&](auto s) -> auto& { return born[s]; });
        auto const planned = plan_memory(program, {.bytes = bytes});
        CHECK(planned.is_sound());
        CHECK(planned.report.is_checked);
        CHECK(planned.report.lower_bound_bytes == expected.lower_bound);

        auto const placed = place(placement_problem{buffers});
        CHECK(placed.pools[0].lower_bound == expected.lower_bound);
        CHECK(placed.pools[0].height == planned.report.arena_bytes);
        MESSAGE(name << ": " << placed.pools[0].height << " bytes, bound " << expected.lower_bound << ", "
                     << 100.0 * (static_cast<double>(placed.pools[0].height) /
                                     static_cast<double>(expected.lower_bound) -
                                 1)
                     << " % above");
    }
}
