// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/trace.hpp>

#include "../random_source.hpp"
#include "../trace_reading.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::string trace(memory_plan const& plan)
{
    std::ostringstream out;
    write_trace(out, plan);
    return out.str();
}

} // namespace

TEST_CASE("three buffers give the expected events")
{
    memory_plan plan;
    plan.arena_bytes = {96};
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 64, .offset = 0},
                    {.root = 1, .life = {1, 3}, .size = 32, .offset = 64},
                    {.root = 2, .life = {2, 5}, .size = 48, .offset = 0}};
    std::string const names[] = {"a", "b", "c"};
    std::ostringstream out;
    write_trace(out, plan, {.names = names});
    CHECK(out.str() == R"({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "pool 0"}},
{"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "offset 0"}},
{"ph": "M", "pid": 1, "tid": 1, "name": "thread_sort_index", "args": {"sort_index": 0}},
{"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "offset 64"}},
{"ph": "M", "pid": 1, "tid": 2, "name": "thread_sort_index", "args": {"sort_index": 1}},
{"ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 2, "name": "a", "args": {"offset": "0", "size": "64"}},
{"ph": "X", "pid": 1, "tid": 1, "ts": 2, "dur": 3, "name": "c", "args": {"offset": "0", "size": "48"}},
{"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 2, "name": "b", "args": {"offset": "64", "size": "32"}},
{"ph": "C", "pid": 1, "ts": 0, "name": "live bytes", "args": {"live bytes": 64}},
{"ph": "C", "pid": 1, "ts": 1, "name": "live bytes", "args": {"live bytes": 96}},
{"ph": "C", "pid": 1, "ts": 2, "name": "live bytes", "args": {"live bytes": 80}},
{"ph": "C", "pid": 1, "ts": 3, "name": "live bytes", "args": {"live bytes": 48}},
{"ph": "C", "pid": 1, "ts": 5, "name": "live bytes", "args": {"live bytes": 0}}
]}
)");
}

TEST_CASE("a plan without buffers has no events")
{
    trace_reading const read(trace({}));
    CHECK(read.events.empty());
    CHECK(read.processes.empty());
}

TEST_CASE("buffers without bytes, offset or life have no event")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 0, .offset = 0},
                    {.root = 1, .life = {0, 2}, .size = 8},
                    {.root = 2, .life = {2, 2}, .size = 8, .offset = 0}};
    CHECK(trace_reading(trace(plan)).events.empty());
}

TEST_CASE("names are escaped, and extreme numbers are written")
{
    memory_plan plan;
    plan.buffers = {
        {.root = 0, .life = {0, no_step - 1}, .size = 1, .pool = ~pool_id{0}, .offset = no_size - 2}};
    std::ostringstream out;
    write_trace(out, plan, {.names = [](auto) { return "\"<a>&\\\n\xFF"; }});
    trace_reading const read(out.str());
    REQUIRE(read.events.size() == 1);
    auto const& e = read.events.begin()->second.front();
    CHECK(e.name == "\"<a>&\\\n?");
    CHECK(e.last == 1000 * std::int64_t{no_step - 1});
    CHECK(e.arguments["offset"] == "18446744073709551613");
    CHECK(read.processes.begin()->second == "pool 4294967295");
}

TEST_CASE("live bytes beyond 64 bits are refused")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 1}, .size = no_size - 1, .offset = 0},
                    {.root = 1, .life = {0, 1}, .size = 1, .offset = 0}};
    CHECK_THROWS_AS(trace(plan), precondition_error);
}

TEST_CASE(
    "events of random plans, valid or not, are disjoint in their rows, and the counter is the live bytes")
{
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        memory_plan plan;
        for (value_id v = 0, n = pick.below(30); v != n; ++v) {
            std::uint32_t const first = pick.below(20), length = pick.below(6);
            byte_count const size = pick.below(4), offset = pick.below(9) == 0 ? no_offset : pick.below(4);
            plan.buffers.push_back({.root = v,
                                    .life = {first, first + length},
                                    .size = size,
                                    .pool = pick.below(3),
                                    .offset = offset});
        }
        trace_reading const read(trace(plan));
        CHECK(read.are_disjoint());
        std::vector<unsigned> events(plan.buffers.size());
        for (auto const& [where, of_row] : read.events)
            for (auto const& e : of_row) {
                memory_plan::placed_buffer const& b = plan.buffers[std::stoul(e.name)];
                ++events[b.root];
                CHECK(where.first == static_cast<int>(b.pool) + 1);
                CHECK(read.rows.at(where) == "offset " + std::to_string(b.offset));
                CHECK(e.first == 1000 * std::int64_t{b.life.first});
                CHECK(e.last == 1000 * std::int64_t{b.life.last});
            }
        auto is_shown = [](auto const& b) {
            return b.size != 0 && b.offset != no_offset && !is_empty(b.life);
        };
        for (auto const& b : plan.buffers) CHECK(events[b.root] == is_shown(b));
        for (pool_id pool = 0; pool != 3; ++pool)
            for (byte_count offset = 0; offset != 4; ++offset) {
                std::size_t most = 0; // at once: as many rows
                for (position_id at = 0; at != 30; ++at)
                    most = std::max(most, static_cast<std::size_t>(std::count_if(
                                              plan.buffers.begin(), plan.buffers.end(), [&](auto const& b) {
                                                  return b.pool == pool && b.offset == offset &&
                                                         is_shown(b) && contains(b.life, at);
                                              })));
                std::size_t rows = 0;
                for (auto const& [where, name] : read.rows)
                    rows += where.first == static_cast<int>(pool) + 1 &&
                            name == "offset " + std::to_string(offset);
                CHECK(rows == most);
            }
        for (pool_id pool = 0; pool != 3; ++pool)
            for (position_id at = 0; at != 30; ++at) {
                byte_count live = 0;
                for (auto const& b : plan.buffers)
                    if (b.pool == pool && is_shown(b) && contains(b.life, at)) live += b.size;
                double counted = 0;
                if (auto const of_pool = read.counts.find(static_cast<int>(pool) + 1);
                    of_pool != read.counts.end())
                    for (auto const& [when, bytes] : of_pool->second)
                        if (when <= at) counted = bytes;
                CHECK(counted == static_cast<double>(live));
            }
    }
}

} // namespace this_test
