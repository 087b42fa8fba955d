// SPDX-License-Identifier: BSL-1.0
// Random control flow: whatever the library says of it is what the definitions say.
#include "../flow_oracle.hpp"
#include "../random_flow.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace sublet;

namespace {

/// How many programs are drawn, and from which seed on: more by hand than each time.
unsigned from_environment(char const* name, unsigned usual)
{
    char const* const said = std::getenv(name);
    return said == nullptr ? usual : static_cast<unsigned>(std::strtoul(said, nullptr, 10));
}

/// Draws programs with `draw` and calls `judge` with each.
template <class Draw, class Judge>
void for_random_programs(unsigned usual, flow_limits const& limits, Draw draw, Judge judge)
{
    unsigned const first = from_environment("SUBLET_SEED", 0);
    unsigned const rounds = from_environment("SUBLET_ROUNDS", usual);
    for (unsigned seed = first; seed != first + rounds; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        judge(draw(pick, limits).program());
    }
}

} // namespace

TEST_CASE("three ways to find what is live, which have nothing in common, find the same")
{
    for (auto draw : {draw_flow, draw_ssa})
        for_random_programs(2000, {}, draw, [](snapshot const& p) {
            liveness_tables const live = searched_liveness(p);
            CHECK(solved_liveness(p) == live);
            CHECK(walked_liveness(p) == live);
        });
}

TEST_CASE("programs that are drawn as strict SSA are, and others rarely")
{
    unsigned strict = 0, all = 0;
    for_random_programs(2000, {}, draw_ssa, [](snapshot const& p) { CHECK(flow_oracle(p).is_strict_ssa()); });
    for_random_programs(2000, {}, draw_flow, [&](snapshot const& p) {
        strict += flow_oracle(p).is_strict_ssa();
        ++all;
    });
    CHECK(strict < all / 2);
}
