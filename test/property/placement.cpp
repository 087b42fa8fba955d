// SPDX-License-Identifier: BSL-1.0 Random placement problems, small enough to try all stackings and, where
// buffers can interleave, all offsets: every placer is right about what fits and why the rest does not. With
// SUBLET_ROUNDS=50 in the environment there are fifty times as many problems, with SUBLET_SEED=7 the seeds
// begin at 7.
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/place.hpp>

#include "../all_shapes.hpp"
#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Calls `judge` with the generator and a problem.
template <class Judge>
void for_random_placements(unsigned usual, Judge judge)
{
    unsigned const first = first_seed();
    unsigned const problems = rounds(usual);
    for (unsigned seed = first; seed != first + problems; ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        placement_problem problem = draw_placement(pick, draw_placement_shape(pick));
        if (pick.below(8) == 0) problem = draw_interlocking(pick, 2 + pick.below(4));
        if (pick.below(32) == 0) problem = draw_circle(pick);
        judge(pick, problem);
    }
}

/// As a placement without a claim beyond its height.
placement placed_at(placement_problem const& problem, placement_shapes const& shapes,
                    std::vector<byte_count> const& origin, byte_count height)
{
    placement result;
    result.offset.assign(problem.buffers.size(), no_offset);
    for (shape_part const& p : shapes.parts) result.offset[p.buffer] = origin[p.shape] + p.distance;
    result.pools.resize(1);
    result.pools[0].height = height;
    if (height > problem.pools[0].capacity) result.status = placement::outcome::limit;
    else if (height != 0) result.status = placement::outcome::feasible;
    result.pools[0].status = result.status;
    return result;
}

/// The same buffers with other ids, and with reversed time.
placement_problem mirrored(random_source& pick, placement_problem const& problem)
{
    placement_problem other = problem;
    std::vector<buffer_id> number;
    for (buffer_id b = 0; b != problem.buffers.size(); ++b)
        number.insert(number.begin() + pick.below(b + 1), b);
    constexpr std::uint32_t end = 100;
    auto turned = [](live_range r) { return live_range{end - r.last, end - r.first}; };
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        other.buffers[number[b]] = problem.buffers[b];
        other.buffers[number[b]].life = turned(problem.buffers[b].life);
    }
    for (placement_problem::gap& g : other.gaps) {
        g.buffer = number[g.buffer];
        g.when = turned(g.when);
    }
    for (placement_problem::colocation& c : other.colocated) {
        c.buffer = number[c.buffer];
        c.anchor = number[c.anchor];
    }
    return other;
}

/// The capacity is `bytes`, or the nearest legal one.
byte_count capacity_of(placement_oracle::bytes bytes)
{
    return bytes < 0 ? 0 : static_cast<byte_count>(bytes);
}

} // namespace

TEST_CASE("all orders and all offsets agree on stackings, and no placement is higher than the best stacking")
{
    unsigned interleaved = 0, only_stacked = 0;
    for_random_placements(400, [&](random_source& pick, placement_problem&) {
        auto shape = draw_placement_shape(pick);
        shape.buffers = smaller(shape.buffers, 4u);
        shape.sizes = smaller(shape.sizes, 4u);
        shape.scale = 1;
        placement_problem problem = draw_placement(pick, shape);
        if (pick.below(2) == 0) problem = draw_interlocking(pick, 2 + pick.below(2));
        if (pick.below(8) == 0) problem = draw_circle(pick);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        auto const by_order = oracle.lowest_stacking();
        std::int64_t const limit = by_order == oracle.unplaceable ? 20 : by_order + 1;
        auto const by_grid = oracle.by_grid(limit);
        CHECK(by_grid.stacking == by_order);
        CHECK(by_grid.placement <= by_grid.stacking);
        CHECK(oracle.lowest_placement(limit) == by_grid.placement);
        interleaved += by_grid.placement < by_grid.stacking;
        if (oracle.can_interleave()) return;
        ++only_stacked;
        CHECK(by_grid.placement == by_grid.stacking);
    });
    if (fuzzed.is_on) return;
    CHECK(interleaved > rounds(20)); // some are lower with interleaved buffers
    CHECK(only_stacked > rounds(100));
}

TEST_CASE("for any order, a fit is a valid placement")
{
    for_random_placements(1000, [](random_source&, placement_problem const& problem) {
        CAPTURE(problem);
        placement_shapes const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none || clashing_pins(shapes).conflict) return;
        placement_oracle const oracle(problem);
        placement_bound const bound = lower_bound(shapes);
        auto judge = [&](packing const& packed) {
            REQUIRE(packed.height != no_limit);
            CHECK(packed.height >= bound.bytes);
            placement const placed = placed_at(problem, shapes, packed.origin, packed.height);
            if (auto valid = check_placement(problem, placed); !valid) FAIL_CHECK(valid.error());
            CHECK(oracle.is_valid(placed.offset, packed.height));
        };
        for (placement_order which : {placement_order::size, placement_order::birth, placement_order::load})
            for (fit_rule choice : {fit_rule::first_fit, fit_rule::best_fit})
                judge(fit(shapes, order_by(which, shapes, bound), choice));
        judge(first_packing(shapes, bound));
        std::uint32_t tried = 0;
        judge(best_packing(shapes, bound, 100'000, first_packing(shapes, bound), tried));
    });
}

TEST_CASE("a search finds a stacking wherever there is one, and otherwise reports a small set without one")
{
    unsigned found = 0, exhausted = 0;
    for_random_placements(1500, [&](random_source& pick, placement_problem const& problem) {
        CAPTURE(problem);
        placement_shapes const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) return;
        placement_oracle const oracle(problem);
        auto const lowest = oracle.lowest_stacking();
        std::int64_t const around = lowest == oracle.unplaceable ? 20 : lowest;
        for (std::int64_t more : {-1, 0, 1, -2, static_cast<int>(pick.below(8)) - 6}) {
            byte_count const capacity = capacity_of(around + more);
            CAPTURE(capacity);
            deterministic_control control;
            search_result const answer = decide(shapes, capacity, {}, control);
            bool const fits = lowest != oracle.unplaceable && static_cast<byte_count>(lowest) <= capacity;
            CHECK(answer.outcome == (fits ? search_outcome::found : search_outcome::exhausted));
            if (answer.outcome == search_outcome::found) {
                ++found;
                CHECK(answer.height <= capacity);
                placement const placed = placed_at(problem, shapes, answer.origin, answer.height);
                if (auto valid = check_placement(problem, placed); !valid) FAIL_CHECK(valid.error());
                CHECK(oracle.is_valid(placed.offset, capacity));
            } else if (answer.outcome == search_outcome::exhausted) {
                ++exhausted;
                std::vector<bool> core(oracle.groups.size());
                for (shape_part const& p : shapes.parts)
                    if (std::find(answer.core.begin(), answer.core.end(), p.shape) != answer.core.end())
                        core[oracle.group_of[p.buffer]] = true;
                auto const of_blamed = oracle.lowest_stacking(core);
                CHECK((of_blamed == oracle.unplaceable || static_cast<byte_count>(of_blamed) > capacity));
            }
        }
    });
    if (fuzzed.is_on) return;
    CHECK(found > rounds(1000));
    CHECK(exhausted > rounds(1000));
}

TEST_CASE("claims of minimal height and of infeasibility hold among all placements, stacked and interleaved")
{
    unsigned counts[4] = {}, threadable = 0, interleaved = 0, found = 0, proved = 0;
    for_random_placements(1500, [&](random_source& pick, placement_problem& problem) {
        placement_oracle const oracle(problem);
        auto const stacked = oracle.lowest_stacking();
        auto const limit = stacked == oracle.unplaceable ? 40 : stacked;
        bool const can_interleave = oracle.can_interleave();
        bool const is_known = !can_interleave || oracle.offset_combinations(limit) < 1e7;
        auto const lowest =
            can_interleave && is_known ? std::min(oracle.lowest_placement(limit), stacked) : stacked;
        if (lowest != oracle.unplaceable && pick.below(2) == 0)
            problem.pools[0].capacity = capacity_of(lowest + static_cast<std::int64_t>(pick.below(4)) - 2);
        CAPTURE(problem);
        CAPTURE(can_interleave);
        byte_count const capacity = problem.pools[0].capacity;
        for (placement::objective objective : {placement::objective::minimize, placement::objective::fit}) {
            CAPTURE(static_cast<int>(objective));
            placement const placed = pack(problem, {.objective = objective, .improve_visits = 100'000});
            placement::pool_result const& pool = placed.pools[0];
            ++counts[static_cast<int>(placed.status)];
            if (auto valid = check_placement(problem, placed, {.objective = objective}); !valid)
                FAIL_CHECK(valid.error());
            if (auto valid = check_proof(problem, placed, 0); !valid) FAIL_CHECK(valid.error());

            bool const fits = lowest != oracle.unplaceable && static_cast<byte_count>(lowest) <= capacity;
            bool const is_placed =
                placed.status == placement::outcome::optimal || placed.status == placement::outcome::feasible;
            if (is_placed) CHECK(oracle.is_valid(placed.offset, capacity));
            if (is_known && lowest != oracle.unplaceable)
                CHECK(pool.proof.bytes <= static_cast<byte_count>(lowest));
            if (is_known && fits) CHECK(placed.status != placement::outcome::infeasible);
            if (!can_interleave) { // then the search is complete
                CHECK(placed.status ==
                      (!fits ? placement::outcome::infeasible : placement::outcome::optimal));
                if (fits && objective == placement::objective::minimize)
                    CHECK(pool.height == static_cast<byte_count>(lowest));
            } else if (objective == placement::objective::minimize && is_known && fits) {
                ++threadable;
                interleaved += lowest < stacked;
                found += lowest < stacked && pool.height == static_cast<byte_count>(lowest);
                proved += placed.status == placement::outcome::optimal;
            }
        }
    });
    if (fuzzed.is_on) return;
    CHECK(counts[static_cast<int>(placement::outcome::optimal)] > rounds(1000));
    CHECK(counts[static_cast<int>(placement::outcome::infeasible)] > rounds(400));
    CHECK(threadable > rounds(150));
    CHECK(interleaved > rounds(20)); // lower than all stackings,
    CHECK(found >= interleaved / 2); // which no search looks for
    CHECK(proved > threadable / 2);  // only stackings exist, or the height is the peak of live bytes
}

TEST_CASE("the minimal height is proved, and neither ids nor the direction of time change it")
{
    for_random_placements(500, [](random_source& pick, placement_problem const& problem) {
        CAPTURE(problem);
        placement_shapes const shapes = shapes_of_all(problem);
        if (shapes.fault != shape_fault::none) return;
        placement_oracle const oracle(problem);
        auto const lowest = oracle.lowest_stacking();
        bool const can_interleave = oracle.can_interleave();
        placement_problem const other = mirrored(pick, problem);
        for (placement_shapes const& all : {shapes, shapes_of_all(other)}) {
            deterministic_control control;
            placement_bound const bound = lower_bound(all);
            minimize_result const answer =
                minimize(all, bound.bytes, {{}, no_limit, 0}, {.seed = pick.below(3)}, control);
            byte_count const height =
                lowest == placement_oracle::unplaceable ? no_limit : static_cast<byte_count>(lowest);
            CHECK(answer.best.height == height);
            CHECK(answer.least_stacking == height);
            CHECK(answer.bound <= height);
            if (!can_interleave) CHECK(answer.bound == height);
            CHECK(answer.is_proved == (answer.bound == height));
        }
        if (can_interleave) return; // then results depend on the order of the search
        auto lowest_of = [](placement_problem const& any) { return pack(any).pools[0]; };
        placement::pool_result const one = lowest_of(problem), two = lowest_of(other);
        CHECK(one.status == two.status);
        CHECK(one.proof.bytes == two.proof.bytes);
    });
}

TEST_CASE("two threads give the same placement as one, and every buffer of a reported proof is necessary")
{
    for_random_placements(150, [](random_source& pick, placement_problem& problem) {
        placement_oracle const oracle(problem);
        auto const lowest = oracle.lowest_stacking();
        if (lowest != oracle.unplaceable && pick.below(4) != 0)
            problem.pools[0].capacity = capacity_of(lowest - 1);
        CAPTURE(problem);
        placement const one = place(problem), two = place(problem, {.threads = 2});
        CHECK(one.offset == two.offset);
        CHECK(one.status == two.status);
        CHECK(one.pools[0].proof.buffers == two.pools[0].proof.buffers);
        if (auto valid = check_placement(problem, one); !valid) FAIL_CHECK(valid.error());
        if (auto valid = check_proof(problem, one, 0); !valid) FAIL_CHECK(valid.error());
        if (one.pools[0].proof.kind != placement::proof::reason::exhausted ||
            one.status != placement::outcome::infeasible)
            return;
        std::vector<bool> named(oracle.groups.size());
        for (buffer_id b : one.pools[0].proof.buffers) named[oracle.group_of[b]] = true;
        for (std::size_t g = 0; g != named.size(); ++g) {
            if (!named[g]) continue;
            std::vector<bool> others = named;
            others[g] = false;
            auto const without = oracle.lowest_stacking(others);
            CHECK((without != oracle.unplaceable &&
                   static_cast<byte_count>(without) <= problem.pools[0].capacity));
        }
    });
}

TEST_CASE("chosen pools and kept offsets are as reported")
{
    unsigned counts[4] = {}, moved = 0;
    for_random_placements(400, [&](random_source& pick, placement_problem&) {
        auto shape = draw_placement_shape(pick);
        shape.pools = 1 + pick.below(3);
        placement_problem problem = draw_placement(pick, shape);
        unsigned const choosing = pick.below(2) * static_cast<unsigned>(problem.buffers.size());
        for (buffer_id b = 0; b != choosing; ++b)
            for (pool_id pool = 0; pool != shape.pools && pick.below(2) == 0; ++pool) {
                if (std::any_of(problem.colocated.begin(), problem.colocated.end(),
                                [&](placement_problem::colocation const& c) {
                                    return c.buffer == b || c.anchor == b;
                                }))
                    continue;
                problem.choices.push_back({b, pool, pick.below(9)});
            }
        for (pool_limits& pool : problem.pools)
            if (pick.below(2) == 0) pool.capacity = shape.scale * (1 + pick.below(3 * shape.sizes));
        CAPTURE(problem);
        placement const placed = place(problem);
        ++counts[static_cast<int>(placed.status)];
        if (auto valid = check_placement(problem, placed); !valid) FAIL_CHECK(valid.error());
        for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
            if (auto valid = check_proof(problem, placed, pool); !valid) FAIL_CHECK(valid.error());
        }
        if (!problem.choices.empty()) return;

        // One buffer is new, and one lives longer; all others had offsets, and some must keep them.
        pick.one_of(problem.buffers).life = {0, shape.positions};
        std::vector<byte_count> previous = placed.offset;
        std::vector<unsigned char> keep(previous.size(), 0);
        pick.one_of(previous) = no_offset;
        for (std::size_t b = 0; b != keep.size(); ++b)
            keep[b] =
                previous[b] != no_offset && problem.buffers[b].pinned == no_offset && pick.below(4) == 0;
        placement const again = place(problem, {.previous = previous, .keep = keep});
        if (auto valid = check_placement(problem, again, {.previous = previous}); !valid)
            FAIL_CHECK(valid.error());
        for (std::size_t b = 0; b != keep.size(); ++b)
            if (keep[b] && again.offset[b] != no_offset) CHECK(again.offset[b] == previous[b]);
        moved += again.moved_bytes != 0;
    });
    if (fuzzed.is_on) return;
    CHECK(*std::min_element(counts, counts + 4) >= 1);
    CHECK(moved >= 1);
}

} // namespace this_test
