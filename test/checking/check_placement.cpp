// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>

#include "../placement_oracle.hpp"
#include "../printed.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// Heights, bounds and status that follow from the offsets, valid or not.
placement described(placement_problem const& problem, std::vector<byte_count> offset,
                    std::vector<pool_id> pool_of = {})
{
    placement result;
    result.offset = std::move(offset);
    result.pool_of = std::move(pool_of);
    result.pools.resize(std::max<std::size_t>(problem.pools.size(), 1));
    for (buffer_id b = 0; b != problem.buffers.size(); ++b) {
        if (result.offset[b] == no_offset) continue;
        placement::pool_result& pool =
            result.pools[result.pool_of.empty() ? problem.buffers[b].pool : result.pool_of[b]];
        pool.height = std::max(pool.height, result.offset[b] + problem.buffers[b].size);
    }
    for (std::size_t p = 0; p != result.pools.size(); ++p) {
        placement::pool_result& pool = result.pools[p];
        byte_count const capacity = p < problem.pools.size() ? problem.pools[p].capacity : no_limit;
        pool.status = pool.height > capacity ? placement::outcome::limit
                      : pool.height == 0     ? placement::outcome::optimal
                                             : placement::outcome::feasible;
        if (pool.status > result.status) result.pool = pool_id::of(p);
        result.status = std::max(result.status, pool.status);
    }
    return result;
}

/// Two buffers that are both live from position 2 to 4, stacked, and a later one.
struct three_buffers {
    placement_problem problem{{{{0, 4}, 8}, {{2, 6}, 16, 4}, {{6, 8}, 24}}, {{}}};
    placement placed = described(problem, {0, 8, 0});

    verdict check(placement::question const& question = {}) const
    {
        return check_placement(problem, placed, question);
    }
    fault what(placement::question const& question = {}) const
    {
        verdict const valid = check(question);
        REQUIRE(!valid);
        return valid.error().what;
    }
};

} // namespace

TEST_CASE("two buffers that share bytes at a position are named, with the position and the bytes")
{
    three_buffers t;
    CHECK(t.check());
    t.placed = described(t.problem, {0, 4, 0});
    CHECK(t.check() ==
          counterexample{fault::clash, counterexample::buffers{
                                           .buffer = 0, .other = 1, .position = 2, .begin = 4, .end = 8}});
    t.problem.gaps = {{0, {2, 4}}};
    CHECK(t.check());
    t.problem.gaps = {{0, {2, 4}, 0, 5}};
    CHECK(t.check() ==
          counterexample{fault::clash, counterexample::buffers{
                                           .buffer = 0, .other = 1, .position = 2, .begin = 4, .end = 5}});
    t.problem.gaps = {{0, {2, 3}}};
    CHECK(t.check().error().position() == 3);
    t.problem.gaps = {{1, {2, 3}}, {1, {3, 4}, 4, 9}};
    CHECK(t.check());
}

TEST_CASE("equal offsets in two pools do not conflict")
{
    three_buffers t;
    t.problem.buffers[1].pool = 1;
    t.problem.pools.resize(2);
    t.placed = described(t.problem, {0, 0, 0});
    CHECK(t.check());
    t.placed.pools.resize(1);
    CHECK(t.what() == fault::foreign_placement);
}

TEST_CASE("an offset must respect alignment, pool and pin")
{
    three_buffers t;
    t.placed = described(t.problem, {0, 10, 0});
    CHECK(t.check() ==
          counterexample{fault::misaligned, counterexample::buffers{.buffer = 1, .begin = 10, .needed = 4}});
    t.placed = described(t.problem, {0, 12, 0});
    t.problem.pools[0].alignment = 8;
    CHECK(t.check() ==
          counterexample{fault::misaligned, counterexample::buffers{.buffer = 1, .begin = 12, .needed = 8}});
    t.problem.pools[0].alignment = 1;
    t.problem.buffers[1].pinned = 8;
    CHECK(t.check() ==
          counterexample{fault::off_pin, counterexample::buffers{.buffer = 1, .begin = 12, .needed = 8}});
    t.problem.buffers[1].pinned = 12;
    CHECK(t.check());
}

TEST_CASE("a buffer has an offset if and only if it needs bytes")
{
    three_buffers t;
    t.placed.offset[1] = no_offset;
    CHECK(t.check() ==
          counterexample{fault::unplaced, counterexample::buffers{.buffer = 1, .begin = no_offset}});
    t.problem.buffers[1].size = 0;
    CHECK(t.check());
    t.placed.offset[1] = 0;
    CHECK(t.what() == fault::needless);
    t.problem.buffers[1] = {{3, 3}, 16};
    CHECK(t.what() == fault::needless);
    t.problem.buffers[1] = {{2, 6}, 16};
    t.problem.gaps = {{1, {0, 9}}};
    CHECK(t.what() == fault::needless);
    t.placed.offset[1] = no_offset;
    CHECK(t.check());
    t.placed.offset.pop_back();
    CHECK(t.what() == fault::foreign_placement);
}

TEST_CASE("a pool that cannot be filled may be left empty, but not partly filled")
{
    three_buffers t;
    t.placed.offset.assign(3, no_offset);
    CHECK(t.what() == fault::unplaced);
    t.placed.pools[0].status = t.placed.status = placement::outcome::infeasible;
    t.placed.pools[0].proof.bytes = no_limit;
    CHECK(t.check());
    t.placed.pools[0].proof.bytes = 0;
    CHECK(t.what() == fault::wrong_status);
    t.placed.pools[0].status = t.placed.status = placement::outcome::limit;
    CHECK(t.check());
    t.placed.offset[0] = 0;
    CHECK(t.what() == fault::unplaced);
}

TEST_CASE("colocated buffers keep their distance and are in one pool")
{
    three_buffers t;
    t.problem.colocated = {{1, 0, 8}};
    CHECK(t.check());
    t.placed = described(t.problem, {0, 12, 0});
    CHECK(t.check() ==
          counterexample{fault::not_colocated,
                         counterexample::buffers{.buffer = 1, .other = 0, .begin = 12, .needed = 8}});
    t.problem.colocated.push_back({1, 0, 12});
    for (byte_count at : {byte_count{8}, byte_count{12}}) { // neither is right
        t.placed = described(t.problem, {0, at, 0});
        CHECK(t.what() == fault::not_colocated);
    }
    t.problem.colocated = {{1, 0, 8}};
    t.problem.pools.resize(2);
    t.placed = described(t.problem, {0, 8, 0}, {0, 1, 0});
    CHECK(t.what() == fault::wrong_pool);
}

TEST_CASE("a buffer with choices is in a chosen pool at the cost of that pool")
{
    three_buffers t;
    t.problem.pools.resize(3);
    t.placed = described(t.problem, {0, 0, 0}, {0, 1, 0});
    CHECK(t.check() == counterexample{fault::wrong_pool, counterexample::buffers{.buffer = 1, .pool = 1}});
    t.problem.choices = {{1, 2, 1}, {1, 1, 7}, {2, 0, 5}};
    CHECK(t.check() == counterexample{fault::wrong_cost, counterexample::buffers{.end = 12, .needed = 0}});
    t.placed.cost = 12;
    CHECK(t.check() == counterexample{fault::wrong_cost, counterexample::buffers{.end = 6, .needed = 0}});
    t.placed.cost_bound = 6;
    CHECK(t.check());
    for (placement::pool_result& pool : t.placed.pools) {
        pool.lower_bound = pool.proof.bytes = pool.height; // lowest heights, but not the least cost
        pool.status = placement::outcome::optimal;
    }
    CHECK(t.check());
    t.placed.status = placement::outcome::optimal;
    CHECK(t.what() == fault::wrong_status);
    t.placed = described(t.problem, {0, 8, 0}, {0, 0, 0}); // its own pool is not among the choices
    CHECK(t.check() == counterexample{fault::wrong_pool, counterexample::buffers{.buffer = 1, .pool = 0}});
    t.problem.colocated = {{1, 0, 8}}; // an anchored buffer has no choice
    t.placed.cost = t.placed.cost_bound = 5;
    CHECK(t.check());
}

TEST_CASE("a height is the highest end, and a bound is at most the height")
{
    three_buffers t;
    for (byte_count wrong : {byte_count{23}, byte_count{25}}) {
        t.placed.pools[0].height = wrong;
        CHECK(t.check() ==
              counterexample{fault::wrong_height, counterexample::buffers{.end = 24, .needed = wrong}});
    }
    t.placed.pools[0].height = 24;
    t.placed.pools[0].lower_bound = t.placed.pools[0].proof.bytes = 25;
    CHECK(t.check() == counterexample{fault::wrong_bound, counterexample::buffers{.end = 24, .needed = 25}});
    t.placed.pools[0].lower_bound = t.placed.pools[0].proof.bytes = 23;
    CHECK(t.check());
    t.placed.pools[0].proof.bytes = 22;
    CHECK(t.check() == counterexample{fault::wrong_bound, counterexample::buffers{.end = 22, .needed = 23}});
    t.placed.offset[2] = no_offset - 8;
    REQUIRE(t.what() == fault::wrong_height);
    CHECK(t.check().error().as<counterexample::buffers>()->end == no_offset);
}

TEST_CASE("the status of each pool and of the placement follows from height, bound and capacity")
{
    three_buffers t;
    auto set = [&t](placement::outcome status) { t.placed.pools[0].status = t.placed.status = status; };
    using enum placement::outcome;
    struct expected {
        byte_count bound, capacity;
        placement::outcome status;
    };
    for (expected e : {expected{24, no_limit, optimal},
                       {23, no_limit, feasible},
                       {24, 24, optimal},
                       {8, 24, feasible},
                       {8, 23, limit},
                       {24, 23, infeasible}}) {
        t.placed.pools[0].lower_bound = t.placed.pools[0].proof.bytes = e.bound;
        t.problem.pools[0].capacity = e.capacity;
        for (placement::outcome said : {optimal, feasible, limit, infeasible}) {
            set(said);
            CHECK(bool{t.check()} == (said == e.status));
            if (e.status == feasible)
                CHECK(bool{t.check({.objective = placement::objective::fit})} == (said == optimal));
        }
    }
    set(infeasible);
    t.placed.status = limit;
    CHECK(t.what() == fault::wrong_status);
    set(infeasible);
    t.placed.pool = 1;
    CHECK(t.what() == fault::wrong_status);
}

TEST_CASE(
    "by clocks of two threads, buffers share bytes if on each thread the same one ends before the other")
{
    for (unsigned drawn = 0; drawn != 256 * 16; ++drawn) { // all clocks below 4, and which end they are
        std::vector<std::uint32_t> begin, end;
        for (unsigned i = 0; i != 4; ++i) {
            begin.push_back(drawn >> 2 * i & 3);
            end.push_back(begin.back() + 1 + (drawn >> (8 + i) & 1));
        }
        placement_problem const problem{.buffers = {{{}, 8}, {{}, 8}}, .clocks = {2, begin, end}};
        CAPTURE(drawn);
        bool const first_is_free = end[0] <= begin[2] && end[1] <= begin[3];
        bool const second_is_free = end[2] <= begin[0] && end[3] <= begin[1];
        verdict const shared = check_placement(problem, described(problem, {0, 7}));
        REQUIRE(bool{shared} == (first_is_free || second_is_free));
        if (!shared)
            REQUIRE(
                shared ==
                counterexample{fault::clash,
                               counterexample::buffers{
                                   .buffer = 0, .other = 1, .position = no_position, .begin = 7, .end = 8}});
        REQUIRE(check_placement(problem, described(problem, {0, 8})));
    }
}

TEST_CASE("each buffer lies in one block, and no block is too large")
{
    unsigned right = 0;
    for (byte_count first : {0u, 3u, 6u, 9u})
        for (byte_count second : {0u, 3u, 6u, 9u, 12u})
            for (byte_count border = 0; border <= std::max(first, second) + 6; ++border) {
                // The second begins when the first has ended: they may share bytes.
                placement_problem const problem{{{{0, 1}, 6}, {{1, 2}, 6}}, {{.largest_block = 12}}};
                placement placed = described(problem, {first, second});
                byte_count const top = placed.pools[0].height;
                placed.pools[0].blocks = {{0, 0, border}, {0, border, top - border}};
                CAPTURE(first);
                CAPTURE(second);
                CAPTURE(border);
                auto const found = check_placement(problem, placed);
                bool const is_too_large = border > 12 || top - border > 12;
                auto lies_in_one = [=](byte_count at) { return at + 6 <= border || at >= border; };
                if (is_too_large) {
                    REQUIRE(!found);
                    CHECK(found.error().what == fault::wrong_blocks);
                } else if (!lies_in_one(first) || !lies_in_one(second)) {
                    REQUIRE(!found);
                    CHECK(found.error().what == fault::crosses_block);
                } else {
                    CHECK(found);
                    ++right;
                }
            }
    CHECK(right > 20);
}

TEST_CASE("a buffer counts as moved if it had an offset and has another")
{
    three_buffers t;
    std::vector<byte_count> const previous{4, 0, no_offset};
    t.placed.moved_bytes = 24;
    CHECK(t.check({.previous = previous}));
    CHECK(t.check() ==
          counterexample{fault::wrong_movement, counterexample::buffers{.end = 0, .needed = 24}});
    std::vector<byte_count> const first_only{4};
    CHECK(t.check({.previous = first_only}) ==
          counterexample{fault::wrong_movement, counterexample::buffers{.end = 8, .needed = 24}});
    t.placed.moved_bytes = 0;
    CHECK(t.check({.previous = t.placed.offset}));
}

TEST_CASE("on random problems the checker agrees with the definition for valid and damaged placements")
{
    unsigned right = 0, wrong = 0;
    for (unsigned seed = 0; seed != rounds(20'000); ++seed) {
        random_source pick{std::mt19937{seed}};
        placement_problem const problem = draw_placement(pick, draw_placement_shape(pick));
        placement_oracle const oracle(problem);
        std::vector<std::size_t> order;
        for (std::size_t g = 0; g != oracle.groups.size(); ++g)
            order.insert(order.begin() + pick.below(static_cast<unsigned>(g) + 1), g);
        auto const origin = oracle.stacked(order);
        std::vector<byte_count> offset(problem.buffers.size(), no_offset);
        if (origin.size() != order.size()) continue;
        for (std::size_t g = 0; g != oracle.groups.size(); ++g)
            for (auto const& p : oracle.groups[g].parts)
                offset[p.buffer] = static_cast<byte_count>(origin[g] + p.distance);

        CAPTURE(seed);
        CAPTURE(problem);
        auto agree = [&] {
            verdict const valid = check_placement(problem, described(problem, offset));
            bool const is_right = oracle.is_valid(offset, no_limit);
            CHECK(bool{valid} == is_right);
            ++(is_right ? right : wrong);
            if (valid || valid.error().what != fault::clash) return;
            // The counterexample is checked by itself.
            REQUIRE(valid.error().as<counterexample::buffers>() != nullptr);
            auto const both = *valid.error().as<counterexample::buffers>();
            std::size_t const a = oracle.group_of[both.buffer], b = oracle.group_of[both.other];
            REQUIRE((a != oracle.none && b != oracle.none && a != b));
            REQUIRE(both.position != no_position);
            auto solid = [&](buffer_id id, std::size_t g) {
                auto const& group = oracle.groups[g];
                auto part = group.parts.begin();
                while (part->buffer != id) ++part;
                auto const at = static_cast<std::int64_t>(offset[id]) - part->distance;
                auto const extent = group.solid[both.position];
                return std::pair{at + extent.begin, at + extent.end};
            };
            auto const x = solid(both.buffer, a), y = solid(both.other, b);
            CHECK(std::max(x.first, y.first) == static_cast<std::int64_t>(both.begin));
            CHECK(std::min(x.second, y.second) == static_cast<std::int64_t>(both.end));
        };
        agree();
        for (unsigned damage = 0; damage != 3; ++damage) { // each of three kinds
            byte_count& one = pick.one_of(offset);
            unsigned const how = pick.below(8);
            if (how == 0) one = one == no_offset ? 0 : no_offset;
            else if (one != no_offset)
                one = pick.below(2) == 0 ? one + how : one - smaller<byte_count>(one, how);
            agree();
        }
    }
    CHECK(right > rounds(10'000));
    CHECK(wrong > rounds(10'000));
}

// --- sentences ---------------------------------------------------------------------------------------------

TEST_CASE("a conflict prints as a sentence with both buffers, the position and the bytes")
{
    counterexample::buffers both{
        .buffer = 3, .other = 7, .position = 12, .pool = 1, .begin = 4096, .end = 8192};
    CHECK(printed(counterexample{fault::clash, both}) ==
          "buffers 3 and 7 are both alive at position 12 and share bytes [4096, 8192) of pool 1");
    both.position = no_position;
    CHECK(printed(counterexample{fault::clash, both}) ==
          "buffers 3 and 7 are not ordered by their clocks and share bytes [4096, 8192) of pool 1");
}

TEST_CASE("each fault prints a distinct sentence with the fault and the required value")
{
    counterexample::buffers const shown{
        .buffer = 3, .other = 7, .position = 12, .pool = 5, .begin = 40, .end = 80, .needed = 64};
    struct expected {
        fault what;
        char const* words;
    };
    std::set<std::string> sentences;
    for (expected e : {expected{fault::foreign_placement, "does not belong to this problem"},
                       {fault::wrong_pool, "buffer 3 lies in pool 5"},
                       {fault::unplaced, "buffer 3 needs bytes"},
                       {fault::needless, "an offset, 40"},
                       {fault::misaligned, "not a multiple of its alignment 64"},
                       {fault::off_pin, "pinned to 64"},
                       {fault::not_colocated, "(offset 40, not 64)"},
                       {fault::wrong_height, "pool 5 end at 80, but its height is given as 64"},
                       {fault::clash, "bytes [40, 80) of pool 5"},
                       {fault::wrong_bound, "pool 5 is given as 64"},
                       {fault::wrong_status, "(pool 5)"},
                       {fault::wrong_cost, "cost 80, and that is given as 64"},
                       {fault::wrong_movement, "80 bytes have moved, and they are given as 64"},
                       {fault::not_apart, "buffers 3 and 7 share bytes [40, 80) of pool 5, and a penalty"},
                       {fault::wrong_penalty, "the penalties of pool 5 are 80, and given as 64"},
                       {fault::wrong_penalty_bound, "of pool 5 is given as 64, and at most 80 is right"}}) {
        std::string const text = printed(counterexample{e.what, shown});
        CAPTURE(text);
        CHECK(text.find(e.words) != std::string::npos);
        CHECK(sentences.insert(text).second);
    }
}

// --- sentences of proofs -----------------------------------------------------------------------------------

TEST_CASE("a proof that does not hold is told in a sentence")
{
    auto said_of = [](placement_problem problem, placement::proof const& proof, position_id peak = 0) {
        for (placement_problem::buffer& b : problem.buffers) b.pool = 2;
        problem.pools.resize(3);
        placement placed;
        placed.pools.resize(3);
        placed.pools[2].proof = proof;
        placed.pools[2].peak_position = peak;
        return printed(check_proof(problem, placed, 2));
    };
    using enum placement::proof::reason;
    placement_problem const three{{{{1, 4}, 8}, {{2, 6}, 16}, {{6, 8}, 24}}};
    CHECK(said_of(three, {live_bytes, 24, 3}, 2) == "");
    CHECK(said_of(three, {live_bytes, 96, 3}) ==
          "the proof of pool 2, of 96 bytes, is wrong: 24 are alive there");
    CHECK(said_of(three, {live_bytes, 24, 3}, 6) ==
          "the proof of pool 2, of 24 bytes, gives another peak than position 2");
    CHECK(said_of(three, {given, 96, 0}) ==
          "the proof of pool 2, of 96 bytes, is beyond what can be checked");
    CHECK(said_of(three, {antichain, 24, 0, {0, 1}}) ==
          "the proof of pool 2, of 24 bytes, is wrong: its buffers are ordered, or have not as many bytes");
    CHECK(said_of(three, {pin_misaligned, 96, 0, {0}}) ==
          "the proof of pool 2, of 96 bytes, is wrong: there is no such contradiction");
    placement_problem const pinned{{{{0, 4}, 8, 4, 0, 16}, {{2, 6}, 16}}};
    CHECK(said_of(pinned, {top_of_pin, 96, 0, {0}}) ==
          "the proof of pool 2, of 96 bytes, is wrong: its buffer may end at 24");
    placement_problem const stack{{{{0, 2}, 8}, {{1, 3}, 8}, {{2, 4}, 8}}};
    CHECK(said_of(stack, {exhausted, 17, 0, {0, 1, 2}}) ==
          "the proof of pool 2, of 17 bytes, is wrong: its buffers can be stacked within 16");
    placement_problem const two{{{{0, 4}, 2}, {{0, 4}, 2}},
                                {},
                                {{0, {0, 2}, 0, 1}, {0, {2, 4}, 1, 2}, {1, {0, 2}, 1, 2}, {1, {2, 4}, 0, 1}}};
    CHECK(said_of(two, {exhausted, 4, 0, {0, 1}}) ==
          "the proof of pool 2, of 4 bytes, is wrong: its buffers can interleave, which was not tried");
}

} // namespace this_test
