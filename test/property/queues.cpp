// SPDX-License-Identifier: BSL-1.0
// Where all steps are in a few queues, a plan for every schedule has the conflicts that the clocks of the
// queues have: it takes no more bytes than place() with these clocks.
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>

#include "../../bench/queue_frames.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace this_test {

using namespace sublet;

TEST_CASE("a plan for every schedule of a few queues is no larger than a placement by their clocks")
{
    for (std::uint32_t queues : {2u, 3u}) {
        unsigned optimal = 0, shared = 0;
        unsigned const frames = queues == 2 ? rounds(500) : rounds(200);
        for (std::uint32_t seed = 0; seed != frames; ++seed) {
            CAPTURE(queues);
            CAPTURE(seed);
            bench::queue_frame const frame = bench::draw_queue_frame(queues, seed);
            auto const planned = plan_concurrent(frame.list);
            placement const placed = place(frame.problem);
            REQUIRE(planned);
            REQUIRE(planned.report().is_checked);
            REQUIRE(planned.report().lower_bound_bytes == placed.pools[0].lower_bound);
            REQUIRE(planned.report().arena_bytes <= placed.pools[0].height);
            optimal += planned.report().arena_bytes == planned.report().lower_bound_bytes;
            shared += planned.report().arena_bytes < planned.report().naive_bytes;
        }
        CHECK(100 * optimal > 99 * frames);
        CHECK(2 * shared > frames);
    }
}

} // namespace this_test
