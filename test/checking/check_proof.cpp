// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_proof.hpp>

#include "../placement_oracle.hpp"
#include "../random_placements.hpp"
#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace this_test {

namespace {

using namespace sublet;
using namespace sublet::detail;

/// What is said of a proof of pool 0, with the peak as given.
verdict finding(placement_problem const& problem, placement::proof proof)
{
    placement placed;
    placed.pools.resize(1);
    placed.pools[0].proof = std::move(proof);
    verdict const first = check_proof(problem, placed, 0);
    if (first || first.error().what != fault::wrong_peak) return first;
    placed.pools[0].peak_position = position_id::of(first.error().as<counterexample::proof>()->found);
    return check_proof(problem, placed, 0);
}

std::optional<fault> fault_of(verdict const& valid)
{
    return valid ? std::nullopt : std::optional(valid.error().what);
}
std::optional<fault> fault_of(placement_problem const& problem, placement::proof proof)
{
    return fault_of(finding(problem, std::move(proof)));
}

/// The number that contradicts the proof.
byte_count found_in(verdict const& wrong)
{
    REQUIRE(!wrong);
    REQUIRE(wrong.error().as<counterexample::proof>() != nullptr);
    return wrong.error().as<counterexample::proof>()->found;
}

constexpr std::optional<fault> proved = std::nullopt, refuted = fault::wrong_proof,
                               wrong_peak = fault::wrong_peak, not_checkable = fault::not_checkable;

} // namespace

TEST_CASE("the bytes alive at a position are summed again")
{
    placement_problem problem{{{{0, 4}, 8}, {{2, 6}, 16}, {{6, 8}, 24}}};
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 24, 3}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 24, 7}) == proved);
    for (byte_count wrong : {byte_count{23}, byte_count{25}}) {
        auto const found = finding(problem, {placement::proof::reason::live_bytes, wrong, 3});
        CHECK(fault_of(found) == refuted);
        CHECK(found_in(found) == 24);
    }
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 24, 4}) == refuted);
    problem.gaps = {{0, {2, 4}, 0, 5}};
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 21, 3}) == proved);
    problem.colocated = {{2, 1, 0}};
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 24, 6}) == proved);
    problem.buffers[1].pool = problem.buffers[2].pool = 1;
    CHECK(fault_of(problem, {placement::proof::reason::live_bytes, 5, 3}) == proved);
}

TEST_CASE("the peak is the first position with the most bytes alive")
{
    placement_problem const problem{{{{1, 4}, 8}, {{2, 6}, 16}, {{6, 8}, 24}}};
    placement placed;
    placed.pools.resize(1);
    placed.pools[0].proof = {placement::proof::reason::live_bytes, 24, 6};
    for (position_id at : {0u, 2u, 6u}) {
        placed.pools[0].peak_position = at;
        auto const found = check_proof(problem, placed, 0);
        CHECK(fault_of(found) == (at == 2 ? proved : wrong_peak));
        if (at != 2) CHECK(found_in(found) == 2);
    }
}

TEST_CASE("a buffer ends at least where its pin or its size requires")
{
    placement_problem problem{{{{0, 4}, 8, 4, 0, 16}, {{2, 6}, 16}}};
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 24, 0, {0}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 25, 0, {0}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 16, 0, {1}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 17, 0, {1}}) == refuted);
    problem.colocated = {{1, 0, 4}};
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 36, 0, {1}}) == proved);
    problem.buffers[0].pinned = no_offset;
    problem.buffers[1].alignment = 3;
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 28, 0, {1}}) == proved); // 8 and 12
}

TEST_CASE("proofs of infeasible pins, alignments and distances are checked")
{
    placement_problem problem{{{{0, 4}, 8, 4, 0, 18}, {{3, 6}, 16, 1, 0, 25}, {{4, 6}, 8, 1, 0, 40}}};
    CHECK(fault_of(problem, {placement::proof::reason::pin_misaligned, no_limit, 0, {0}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::pin_misaligned, no_limit, 0, {1}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::pin_misaligned, 64, 0, {0}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {0, 1}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {1, 0}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {1, 2}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {0, 2}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {0, 0}}) == refuted);
    problem.buffers[1].pinned = 24;
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {1, 2}}) == refuted);
    problem.pools = {{.alignment = 16}};
    CHECK(fault_of(problem, {placement::proof::reason::pin_misaligned, no_limit, 0, {1}}) == proved);
}

TEST_CASE("all stackings of a few groups are tried, and of more groups only where all are solid")
{
    placement_problem problem{{{{0, 2}, 8}, {{1, 3}, 8}, {{2, 4}, 8}, {{0, 1}, 8, 16}}};
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 16, 0, {0, 1, 2}}) == proved);
    auto const found = finding(problem, {placement::proof::reason::exhausted, 17, 0, {0, 1, 2}});
    CHECK(fault_of(found) == refuted);
    CHECK(found_in(found) == 16);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 16, 0, {}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 16, 0, {0, 4}}) == refuted);
    for (buffer_id b = 0; b != 9; ++b) problem.buffers.push_back({{4, 5}, 8});
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 64, 0, {5, 6, 7, 8, 9, 10, 11, 12, 12}}) ==
          proved);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 72, 0, {4, 5, 6, 7, 8, 9, 10, 11, 12}}) ==
          proved);
    auto const stack =
        finding(problem, {placement::proof::reason::exhausted, 73, 0, {4, 5, 6, 7, 8, 9, 10, 11, 12}});
    CHECK(fault_of(stack) == refuted);
    CHECK(found_in(stack) == 72);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 64, 0, {0, 5, 6, 7, 8, 9, 10, 11, 12}}) ==
          not_checkable);
    problem.gaps = {{4, {4, 5}, 0, 7}}; // the last byte is free
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 71, 0, {4, 5, 6, 7, 8, 9, 10, 11, 12}}) ==
          proved);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 72, 0, {4, 5, 6, 7, 8, 9, 10, 11, 12}}) ==
          not_checkable);
}

TEST_CASE("buffers that clocks order are not stacked, however many there are")
{
    placement_problem problem;
    placement::proof proof{placement::proof::reason::exhausted, 36, 0, {}};
    problem.clocks.threads = 2;
    for (buffer_id b = 0; b != 9; ++b) {
        problem.buffers.push_back({{}, 4});
        proof.buffers.push_back(b);
        for (unsigned thread : {0u, 1u}) {
            problem.clocks.begin.push_back(thread == 0 ? 0 : +b);
            problem.clocks.end.push_back(thread == 0 ? b + 1 : 9);
        }
    }
    CHECK(fault_of(problem, proof) == proved);
    problem.clocks.begin[16] = 8; // the last begins when the first has ended
    problem.clocks.begin[17] = 9;
    problem.clocks.end[1] = problem.clocks.end[3] = 8;
    CHECK(fault_of(problem, proof) == not_checkable);
}

TEST_CASE("the least stack of many groups is that of all their orders, mutated proofs are refused")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        random_source pick{std::mt19937(seed)};
        placement_problem problem;
        std::vector<buffer_id> all;
        for (buffer_id b = 0; b != 9; ++b) {
            byte_count const alignment = byte_count{1} << pick.below(4);
            problem.buffers.push_back({{0, 1}, 1 + pick.below(3) * 5u, alignment});
            if (b < 2 && pick.below(2) == 0) problem.buffers[b].pinned = alignment * (b * 64 / alignment);
            all.push_back(b);
        }
        std::vector<buffer_id> order = all;
        byte_count least = no_limit;
        auto key = [&](buffer_id b) {
            auto const& x = problem.buffers[b];
            return std::tuple(x.size, x.alignment, x.pinned);
        };
        auto comes_before = [&](buffer_id a, buffer_id b) { return key(a) < key(b); };
        std::sort(order.begin(), order.end(), comes_before);
        do {
            byte_count top = 0;
            for (buffer_id b : order) {
                auto const& x = problem.buffers[b];
                byte_count const at =
                    x.pinned != no_offset && top <= x.pinned ? x.pinned : align_up(top, x.alignment);
                top = x.pinned != no_offset && at != x.pinned ? no_limit : at + x.size;
                if (top >= least) break;
            }
            least = std::min(least, top);
        } while (std::next_permutation(order.begin(), order.end(), comes_before));
        REQUIRE(least != no_limit);
        CAPTURE(seed);
        CHECK(fault_of(problem, {placement::proof::reason::exhausted, least, 0, all}) == proved);
        auto const above = finding(problem, {placement::proof::reason::exhausted, least + 1, 0, all});
        CHECK(fault_of(above) == refuted);
        CHECK(found_in(above) == least);
    }
}

TEST_CASE("beyond 62 bits stackings are not tried")
{
    byte_count const unit = byte_count{1} << 60; // four of them lie at 0, 4, 8 and 12 units
    placement_problem problem{{{{0, 3}, 3 * unit, 2 * unit}}};
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 3 * unit, 0, {0}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 5 * unit, 0, {0}}) == refuted);
    problem.buffers.resize(4, problem.buffers[0]);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 7 * unit, 0, {0, 1}}) == not_checkable);
    CHECK(fault_of(problem, {placement::proof::reason::exhausted, 15 * unit, 0, {0, 1, 2, 3}}) ==
          not_checkable);
}

TEST_CASE("an exhausted search of stackings proves nothing about buffers that can interleave")
{
    // At offset 0 each is above the other at half of the positions: 2 bytes suffice, stacked they need 4.
    placement_problem two{{{{0, 4}, 2}, {{0, 4}, 2}, {{0, 4}, 3}},
                          {},
                          {{0, {0, 2}, 0, 1}, {0, {2, 4}, 1, 2}, {1, {0, 2}, 1, 2}, {1, {2, 4}, 0, 1}}};
    REQUIRE(placement_oracle(two).lowest_placement(20) == 5);
    auto const found = finding(two, {placement::proof::reason::exhausted, 4, 0, {0, 1}});
    CHECK(fault_of(found) == refuted);
    CHECK(found_in(found) == no_limit);
    CHECK(found_in(finding(two, {placement::proof::reason::exhausted, 7, 0, {0, 1, 2}})) == no_limit);
    CHECK(found_in(finding(two, {placement::proof::reason::exhausted, 8, 0, {0, 1, 2}})) ==
          7); // not even stacked
    CHECK(fault_of(two, {placement::proof::reason::exhausted, 5, 0, {0, 2}}) == proved);
    // A third buffer at common positions changes nothing, nor do alignments that forbid the interleaving.
    two.buffers[0].alignment = two.buffers[1].alignment = 2;
    CHECK(fault_of(two, {placement::proof::reason::exhausted, 4, 0, {0, 1}}) == refuted);

    placement_problem const circle = circle_of_three();
    placement_oracle const oracle(circle);
    CHECK(oracle.lowest_stacking() == 20);
    CHECK(oracle.lowest_placement(20) == 10);
    CHECK(fault_of(circle, {placement::proof::reason::exhausted, 20, 0, {0, 1, 2}}) == refuted);
    CHECK(fault_of(circle, {placement::proof::reason::exhausted, 10, 0, {0, 1}}) == proved);
}

TEST_CASE("a proof without buffers, with buffers of another pool, or with buffers without bytes is refused")
{
    placement_problem problem{{{{0, 4}, 8}, {{0, 4}, 0}, {{0, 4}, 8, 1, 1}}};
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 8, 0, {}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 0, 0, {1}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 8, 0, {2}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::top_of_pin, 8, 0, {3}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {0}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::parts_clash, no_limit, 0, {0, 0}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::nothing, 0, 0, {}}) == proved);
    CHECK(fault_of(problem, {placement::proof::reason::nothing, 1, 0, {}}) == refuted);
    CHECK(fault_of(problem, {placement::proof::reason::given, 8, 0, {}}) == not_checkable);
}

TEST_CASE("on random problems the verdict on each proof agrees with the definition")
{
    unsigned contradictions = 0, stacked = 0, impossible = 0, interleaved = 0;
    for (unsigned seed = 0; seed != rounds(3000); ++seed) {
        random_source pick{std::mt19937{seed}};
        auto shape = draw_placement_shape(pick);
        shape.buffers = smaller(shape.buffers, 6u);
        placement_problem problem = draw_placement(pick, shape);
        if (pick.below(16) == 0) problem = draw_interlocking(pick, 2 + pick.below(3));
        CAPTURE(seed);
        CAPTURE(problem);
        placement_oracle const oracle(problem);
        std::vector<buffer_id> all_buffers;
        for (buffer_id b = 0; b != problem.buffers.size(); ++b)
            if (oracle.group_of[b] != oracle.none) all_buffers.push_back(b);
        bool contradicts = false;
        for (auto const& g : oracle.groups) contradicts = contradicts || g.clashes;

        for (position_id at = 0; at != 12 && !contradicts; ++at) {
            auto const alive = static_cast<byte_count>(oracle.live_bytes(at));
            CHECK(fault_of(problem, {placement::proof::reason::live_bytes, alive, at}) == proved);
            CHECK(fault_of(problem, {placement::proof::reason::live_bytes, alive + 1, at}) == refuted);
        }
        auto const lowest = oracle.lowest_stacking();
        byte_count const height = lowest == oracle.unplaceable ? no_limit : static_cast<byte_count>(lowest);
        impossible += height == no_limit;
        stacked += height != no_limit;
        auto const found = fault_of(problem, {placement::proof::reason::exhausted, height, 0, all_buffers});
        if (oracle.can_interleave()) {
            auto const limit = lowest == oracle.unplaceable ? 30 : lowest;
            bool const is_interleaved =
                oracle.offset_combinations(limit) < 1e6 && oracle.lowest_placement(limit) < lowest;
            if (is_interleaved) CHECK(found == refuted);
            interleaved += is_interleaved;
        } else {
            CHECK(found == proved);
        }
        if (height != no_limit)
            CHECK(fault_of(problem, {placement::proof::reason::exhausted, height + 1, 0, all_buffers}) ==
                  refuted);
        for (buffer_id b : all_buffers) {
            std::size_t const g = oracle.group_of[b];
            auto const origin = oracle.least_origin(g, 0);
            if (origin == oracle.unplaceable) continue;
            std::int64_t end = origin + static_cast<std::int64_t>(problem.buffers[b].size);
            for (auto const& p : oracle.groups[g].parts)
                if (p.buffer == b) end += p.distance;
            CHECK(fault_of(problem,
                           {placement::proof::reason::top_of_pin, static_cast<byte_count>(end), 0, {b}}) ==
                  proved);
            CHECK(
                fault_of(problem,
                         {placement::proof::reason::top_of_pin, static_cast<byte_count>(end - 1), 0, {b}}) ==
                refuted);
            for (buffer_id other : all_buffers) {
                std::size_t const h = oracle.group_of[other];
                bool const are_pinned = origin == oracle.least_origin(g, origin + 1) ||
                                        oracle.least_origin(g, origin + 1) == oracle.unplaceable;
                if (!are_pinned || g == h || oracle.least_origin(h, 0) == oracle.unplaceable) continue;
                if (oracle.least_origin(h, oracle.least_origin(h, 0) + 1) != oracle.unplaceable) continue;
                bool const clash = !oracle.is_apart(g, origin, h, oracle.least_origin(h, 0));
                CHECK(fault_of(problem, {placement::proof::reason::pins_clash, no_limit, 0, {b, other}}) ==
                      (clash ? proved : refuted));
            }
        }
        for (buffer_id b : all_buffers)
            for (buffer_id other : all_buffers) {
                if (b == other || oracle.group_of[b] != oracle.group_of[other]) continue;
                bool is_misaligned = false;
                placement_problem two = problem; // only these two have bytes
                for (buffer_id i = 0; i != two.buffers.size(); ++i) {
                    if (i != b && i != other) two.buffers[i].size = 0;
                    else if (two.buffers[i].pinned != no_offset)
                        is_misaligned = is_misaligned ||
                                        two.buffers[i].pinned % two.buffers[i].alignment != 0 ||
                                        two.buffers[i].pinned % two.pools[0].alignment != 0;
                }
                placement_oracle const of_two(two);
                if (is_misaligned || of_two.groups.empty()) continue;
                bool const impossible_two = of_two.least_origin(0, 0) == oracle.unplaceable;
                contradictions += impossible_two;
                CHECK(fault_of(problem, {placement::proof::reason::parts_clash, no_limit, 0, {b, other}}) ==
                      (impossible_two ? proved : refuted));
            }
    }
    CHECK(stacked > rounds(2000));
    CHECK(impossible > rounds(100));
    CHECK(interleaved > rounds(10));
    CHECK(contradictions > rounds(100));
}

TEST_CASE("with clocks a proof names a counter of a thread, or buffers that conflict with each other")
{
    placement_problem const problem{.buffers = {{{}, 8}, {{}, 16}, {{}, 8}},
                                    .clocks = {2, {0, 0, 0, 1, 2, 3}, {2, 1, 3, 3, 4, 5}}};
    placement placed;
    placed.offset = {0, 8, 0};
    placed.pools = {{.height = 24, .lower_bound = 24}};
    auto check = [&](placement::proof const& proof) {
        placed.pools[0].proof = proof;
        return fault_of(check_proof(problem, placed, 0));
    };
    constexpr auto antichain = placement::proof::reason::antichain,
                   live = placement::proof::reason::live_bytes;
    CHECK(check({antichain, 24, 0, {0, 1}}) == proved);
    CHECK(check({antichain, 24, 0, {1, 2}}) == proved);
    CHECK(check({antichain, 32, 0, {0, 1, 2}}) == refuted); // 2 takes over the bytes of 0
    CHECK(check({antichain, 24, 0, {1}}) == refuted);
    CHECK(check({antichain, 24, 0, {0, 0, 0}}) == refuted);
    CHECK(check({antichain, 24, 0, {0, 3}}) == refuted);
    CHECK(check({live, 24, 1, {}, 0}) == proved);
    CHECK(check({live, 24, 1, {}, 1}) == refuted); // 16 only
    CHECK(check({live, 24, 1, {}, 2}) == refuted);
    CHECK(check({placement::proof::reason::exhausted, 24, 0, {0, 1, 2}}) == proved);
    CHECK(check({placement::proof::reason::exhausted, 25, 0, {0, 1, 2}}) == refuted);
    CHECK(check({placement::proof::reason::exhausted, 24, 0, {0, 2}}) == refuted);
}

} // namespace this_test
