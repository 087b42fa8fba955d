// SPDX-License-Identifier: BSL-1.0
// Programs of 100,000 values; of ten million, in about 6 GB and 2 minutes, if SUBLET_ROUNDS is at least 3.
#include "rounds.hpp"

#include <sublet/analysis/liveness.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/sharing/color_graph.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;

static std::size_t const values = rounds(1) >= 3 ? 10'000'000 : 100'000;

static plan_options small_buffers()
{
    return {.bytes = [](value_id v) { return byte_count{64} * (1 + v % 7); }, .effort = effort::fast};
}

/// Each step reads the value before it and, `far` steps back at most, another one.
static snapshot sequence_of_values(std::size_t far)
{
    return sequence(values, values, [far](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        std::size_t const within = std::min<std::size_t>(far, s);
        if (within != 0) sink.use(s - 1 - (s * std::size_t{2654435761} >> 7) % within);
        sink.def(+s);
    });
}

/// A line of nodes, of which the last of 16 leads back to the middle of them.
static snapshot loops_of_values()
{
    return flow(
        values, values,
        [](node_id n) {
            std::vector<node_id> next;
            if (n + 1 < values) next.push_back(n + 1);
            if (n % 16 == 15) next.push_back(n - 8);
            return next;
        },
        [](node_id n, effect_sink& sink) {
            if (n != 0) sink.use(n - 1);
            if (n % 16 != 0) sink.use(n - n % 16);
            sink.def(+n);
        });
}

TEST_CASE("a sequence of very many values is planned at its peak or a little above, and proved")
{
    auto const planned = plan_memory(sequence_of_values(1000), small_buffers());
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.bytes() < planned.report().lower_bound_bytes * 5 / 4);
}

TEST_CASE("a chain of very many values is planned for every schedule, and proved")
{
    auto const planned = plan_concurrent(sequence_of_values(0), small_buffers());
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.bytes() < 1000);
}

TEST_CASE("a chain of very many values of any sizes is planned at its bound")
{
    std::vector<byte_count> bytes(values);
    for (std::size_t v = 0; v != values; ++v) {
        bytes[v] = 1 + (v * std::size_t{2654435761} >> 7) % 100;
        if (v != 0 && bytes[v] + bytes[v - 1] > 139) bytes[v] = 139 - bytes[v - 1]; // two are live at once
    }
    auto const planned = plan_memory(sequence_of_values(0), {.bytes = bytes});
    REQUIRE(planned);
    CHECK(planned.report().lower_bound_bytes == 139);
    CHECK(planned.bytes() == 139);
}

TEST_CASE("very many blocks with loops are coloured and planned, and proved")
{
    snapshot const p = loops_of_values();
    live_sets const live = liveness(p);
    chordal_coloring const colored = color(p, live);
    CHECK(colored);
    CHECK(colored.plan.slots < 8);
    auto const planned = plan_flow(p, small_buffers());
    REQUIRE(planned);
    CHECK(planned.report().is_checked);
    CHECK(planned.bytes() < 4000);
}

} // namespace this_test
