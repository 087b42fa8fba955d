// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/release.hpp>

#include "../dice.hpp"
#include "../random_program.hpp"

#include <sublet/analysis/lifetimes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using rows = std::vector<std::vector<std::uint32_t>>;

rows rows_of(csr_rows const& all)
{
    rows result;
    for (std::size_t r = 0; r != all.rows(); ++r) result.emplace_back(all[r].begin(), all[r].end());
    return result;
}

/// 0: a; 1: a -> b; 2: a -> c; 3: b, c -> d
snapshot diamond()
{
    return sequence(
        4, 4,
        [](step_id s) {
            return std::vector<std::vector<int>>{{}, {0}, {0}, {1, 2}}[s];
        },
        [](step_id s) { return std::vector<value_id>{s}; });
}
std::vector<buffer_id> const each_its_own{0, 1, 2, 3};
auto const last_is_output = std::vector<value_role>{{}, {}, {}, value_role::output};

release_points concurrent(snapshot const& p, std::size_t buffers, std::vector<buffer_id> const& buffer_of,
                          std::vector<value_role> const& role)
{
    return releases(p, dependences(p, {.role = role}), buffers, buffer_of, role);
}

} // namespace

TEST_CASE("in one order a buffer dies after its last touch")
{
    auto const points = releases(diamond(), 4, each_its_own, {.role = last_is_output});
    CHECK(rows_of(points.after) == rows{{}, {}, {0}, {1, 2}});
    CHECK(points.counter == std::vector<std::uint32_t>{1, 1, 1, 0});
    CHECK(points.at_start.empty());
    auto const turned = releases(diamond(), 4, each_its_own, {.role = last_is_output, .order = {0, 2, 1, 3}});
    CHECK(rows_of(turned.after) == rows{{}, {0}, {}, {1, 2}});
}

TEST_CASE("what is given and not touched is released at the start, and what is the caller's never")
{
    snapshot const p = sequence(
        1, 5,
        [](step_id) {
            return std::vector{1, 3};
        },
        [](step_id) { return std::vector{2}; });
    std::vector<value_role> const role{value_role::input, value_role::input, value_role::output,
                                       value_role::external, value_role::intermediate};
    std::vector<buffer_id> const own{0, 1, 2, 3, 4};
    for (auto const& points : {releases(p, 5, own, {.role = role}), concurrent(p, 5, own, role)}) {
        CHECK(points.at_start == std::vector<buffer_id>{0});
        CHECK(rows_of(points.after) == rows{{1}});
        CHECK(points.counter == std::vector<std::uint32_t>{0, 1, 0, 0, 0});
    }
}

TEST_CASE("a result that nobody reads is released where it is made")
{
    snapshot const p = sequence(
        1, 1, [](step_id) { return std::vector<int>{}; }, [](step_id) { return std::vector{0}; });
    CHECK(rows_of(releases(p, 1, {0}).after) == rows{{0}});
    CHECK(rows_of(concurrent(p, 1, {0}, {{}}).after) == rows{{0}});
}

TEST_CASE("what is in no buffer is not released, and there may be no buffer at all")
{
    CHECK(rows_of(releases(diamond(), 1, {no_buffer, 0, no_buffer, no_buffer}).after) ==
          rows{{}, {}, {}, {0}});
    CHECK(releases(snapshot(), 0, {}).after.rows() == 0);
    CHECK(concurrent(snapshot(), 0, {}, {}).after.rows() == 0);
    CHECK(concurrent(diamond(), 0, std::vector<buffer_id>(4, no_buffer), last_is_output).buffers() == 0);
    CHECK_THROWS_AS((void)releases(diamond(), 0, each_its_own), precondition_error);
    CHECK_THROWS_AS((void)releases(diamond(), 4, {0}), precondition_error);
    CHECK_THROWS_AS((void)releases(diamond(), 4, each_its_own, {.order = {0, 0, 1, 2}}), precondition_error);
    CHECK_THROWS_AS((void)concurrent(diamond(), 3, each_its_own, last_is_output), precondition_error);
}

TEST_CASE("a slot is released after the last of its tenants")
{
    auto const points = releases(diamond(), 2, {0, 1, 1, 0}); // slots, as if they did not overlap
    CHECK(rows_of(points.after) == rows{{}, {}, {}, {0, 1}});
}

TEST_CASE("a use at the end of a node belongs to its last step")
{
    snapshot const p = flow(
        2, 1, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) {
                s.def(0);
                s.next_step();
            } else {
                s.use_at_end_of(0, 0);
            }
        });
    CHECK(rows_of(releases(p, 1, {0}).after) == rows{{}, {0}, {}});
    CHECK(rows_of(concurrent(p, 1, {0}, {{}}).after) == rows{{}, {0}, {}});
}

// SYSTEMS T8: a forward and a backward part, whose indexes are noted before anything is inserted.
TEST_CASE("releases are inserted from the end to the front, and what was noted stays right")
{
    std::vector<int> list{0, 1, 2, 3}; // operations; -1 releases
    std::size_t backward = 2, inserted_before = 0;
    auto const points = releases(diamond(), 4, each_its_own, {.role = last_is_output});
    std::vector<std::vector<buffer_id>> released;
    insert_releases(points, {}, [&](step_id i, auto buffers) {
        released.emplace_back(buffers.begin(), buffers.end());
        list.insert(list.begin() + i, -1);
        if (i <= backward) ++inserted_before;
    });
    CHECK(list == std::vector<int>{0, 1, 2, -1, 3, -1});
    CHECK(released == std::vector<std::vector<buffer_id>>{{1, 2}, {0}});
    CHECK(inserted_before == 0);
    auto const shifted = shifted_positions(points);
    CHECK(shifted == std::vector<step_id>{0, 1, 2, 4});
    for (step_id at = 0; at != 4; ++at) CHECK(list[shifted[at]] == static_cast<int>(at));
    auto const any = concurrent(diamond(), 4, each_its_own, last_is_output);
    CHECK_THROWS_AS(insert_releases(any, {}, [](step_id, auto) {}), precondition_error);
}

// An interpreter that frees: nothing is touched that is not there, freed twice or left over, and nothing is
// kept longer than to its last touch.
TEST_CASE("in one order everything is released once, directly after its last touch")
{
    std::size_t released = 0, at_start = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        random_program const drawn = draw_program(pick, 10);
        snapshot const p = drawn.program();
        auto const classes = aliases(drawn.values(), [&](value_id v) { return drawn.alias_of[v]; });
        std::size_t const buffers = classes.root.size();
        auto const points =
            releases(p, buffers, classes.buffer_of, {.role = drawn.role, .order = drawn.order});
        auto const turns = drawn.turns();
        std::vector<step_id> order;
        for (auto const& turn : turns) order.push_back(turn.id);

        struct entry {
            bool is_insertion;
            step_id step;
            std::vector<buffer_id> freed;
        };
        std::vector<entry> list;
        for (step_id s : order) list.push_back({false, s, {}});
        step_id last_place = no_step;
        insert_releases(points, order, [&](step_id i, std::span<buffer_id const> freed) {
            REQUIRE(i < last_place);
            last_place = i;
            list.insert(list.begin() + i, {true, no_step, {freed.begin(), freed.end()}});
        });
        auto const shifted = shifted_positions(points, order);
        for (std::size_t at = 0; at != order.size(); ++at) REQUIRE(list[shifted[at]].step == order[at]);

        auto const history = history_of(drawn);
        std::vector<bool> is_freed(buffers);
        std::size_t position = 0;
        for (entry const& e : list) {
            if (!e.is_insertion) {
                for (auto const& [root, touches] : history)
                    if (touches.count(static_cast<step_id>(position)) != 0 &&
                        !touches.at(static_cast<step_id>(position)).is_given_up)
                        REQUIRE(!is_freed[classes.buffer_of[root]]);
                ++position;
                continue;
            }
            for (buffer_id b : e.freed) {
                REQUIRE(!is_freed[b]);
                is_freed[b] = true;
                ++released;
                auto const& touches = history.at(classes.root[b]);
                bool const is_untouched = touches.rbegin()->second.is_given_up;
                at_start += is_untouched;
                REQUIRE(position == (is_untouched ? 0 : touches.rbegin()->first + 1));
            }
        }
        for (buffer_id b = 0; b != buffers; ++b) {
            auto const role = drawn.class_role(classes.root[b]);
            bool const is_kept = has_role(role, value_role::output) || has_role(role, value_role::external);
            bool const is_there = history.count(classes.root[b]) != 0;
            REQUIRE(is_freed[b] == (is_there && !is_kept));
        }
    }
    CHECK(released > rounds(10'000));
    CHECK(at_start > rounds(100));
}

} // namespace this_test
