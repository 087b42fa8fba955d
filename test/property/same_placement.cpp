// SPDX-License-Identifier: BSL-1.0 Equal input and options give equal placements: on every compiler, at every
// optimization level, on any number of threads. The hashes here were recorded with one compiler. If you
// change how buffers are placed, update them; nothing else may change them.
#include <sublet/placement/detail/pack.hpp>
#include <sublet/placement/place.hpp>

#include "../random_placements.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// Fowler, Noll and Vo's hash.
struct digest {
    std::uint64_t value = 14695981039346656037u;

    void add(std::uint64_t number)
    {
        for (int byte = 0; byte != 8; ++byte, number >>= 8) value = (value ^ (number & 255)) * 1099511628211u;
    }
    void add(placement_problem const& problem)
    {
        std::ostringstream text;
        text << problem;
        for (char c : text.str()) add(static_cast<std::uint64_t>(c));
    }
    void add(placement const& placed)
    {
        for (byte_count offset : placed.offset) add(offset);
        for (placement::pool_result const& pool : placed.pools) {
            add(pool.height);
            add(pool.lower_bound);
            add(pool.nodes);
            for (buffer_id b : pool.proof.buffers) add(b);
        }
    }
};

/// Live ranges of all lengths and sizes of all magnitudes, which greedy orders alone do not place well.
placement_problem hard_problem(std::uint32_t seed, std::uint32_t buffers, std::uint32_t positions)
{
    std::mt19937 random(seed);
    auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    placement_problem problem;
    for (std::uint32_t i = 0; i != buffers; ++i) {
        step_id const first = below(positions), length = 1 + below(1 + positions / 3);
        byte_count const size = byte_count{1 + below(64)} << below(8);
        problem.buffers.push_back({{first, first + length}, size});
    }
    return problem;
}

} // namespace

TEST_CASE("small problems with all features are placed equally on every platform")
{
    digest problems, placements;
    for (unsigned seed = 0; seed != 300; ++seed) {
        random_source pick{std::mt19937{seed}};
        auto const problem = draw_placement(pick, draw_placement_shape(pick));
        problems.add(problem);
        placements.add(detail::pack(problem));
    }
    REQUIRE(problems.value == 7590278099454851428u); // the problems are the same
    CHECK(placements.value == 9022950184430084510u);
}

TEST_CASE("orders, repair and search give equal placements on every platform, on any number of threads")
{
    detail::pack_options const few{.improve_visits = 2'000'000, .nodes = 3000};
    digest problems, one_thread, three_threads;
    for (std::uint32_t buffers : {50u, 150u, 400u, 3000u}) {
        auto const problem = hard_problem(buffers, buffers, buffers / 2);
        problems.add(problem);
        one_thread.add(place(problem, {}, few));
        three_threads.add(place(problem, {.threads = 3}, few));
    }
    REQUIRE(problems.value == 11129625743202695548u);
    CHECK(one_thread.value == 14187984110260329962u);
    CHECK(three_threads.value == one_thread.value);
}

} // namespace this_test
