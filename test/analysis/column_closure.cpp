// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/detail/happens_before.hpp>

#include "../position_closure.hpp"
#include "../task_families.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(precedence_oracle<column_closure>);

TEST_CASE("a comes before b if edges lead there, also through others")
{
    column_closure closure(csr_rows({0, 0, 1, 1, 3}, {0, 1, 2})); // 0 -> 1 -> 3, 2 -> 3
    CHECK(closure.blocks() == 1);
    CHECK(closure.before(0, 3));
    CHECK(closure.before(1, 3));
    CHECK(!closure.before(0, 2));
    CHECK(!closure.before(1, 2));
    CHECK(closure.loaded_pairs() == 4);
}

TEST_CASE("without positions there is no block") { CHECK(column_closure(csr_rows()).blocks() == 0); }

TEST_CASE("all pairs are as edges lead, across blocks and whatever was asked before")
{
    for (std::string_view family : family_names)
        for (std::size_t tasks : {511u, 512u, 513u, 1100u}) {
            CAPTURE(family);
            CAPTURE(tasks);
            dependence_graph const g = dependences(draw_family(family, tasks).program());
            auto const n = static_cast<std::uint32_t>(g.positions());
            position_closure const plain(g);
            column_closure columns(g.before);
            for (step_id b = 0; b != n; ++b)
                for (step_id a = 0; a < b; ++a)
                    if (columns.before(a, b) != plain.before(a, b)) FAIL("pair ", a, ' ', b);
            dice roll{std::mt19937(1)};
            for (int i = 0; i != 50; ++i) {
                step_id const b = 1 + roll.below(n - 1), a = roll.below(b);
                REQUIRE(columns.before(a, b) == plain.before(a, b));
            }
            std::uint64_t pairs = 0;
            for (std::size_t block = 0; block != columns.blocks(); ++block) {
                columns.load(block);
                pairs += columns.loaded_pairs();
            }
            CHECK(pairs == plain.ordered_pairs());
        }
}

TEST_CASE("the next position after several is the first that all of them come before")
{
    for (std::string_view family : family_names) {
        CAPTURE(family);
        dependence_graph const g = dependences(draw_family(family, 1100).program());
        auto const n = static_cast<std::uint32_t>(g.positions());
        position_closure const plain(g);
        column_closure columns(g.before);
        dice roll{std::mt19937(1)};
        for (std::size_t block = 0; block != columns.blocks(); ++block) {
            columns.load(block);
            auto const first = static_cast<step_id>(block * column_closure::width);
            step_id const last = first + column_closure::width;
            for (step_id a = 0; a != n; ++a) {
                bool is_listed = false;
                for (step_id at = first; at != smaller(n, last); ++at) is_listed |= plain.before(a, at);
                REQUIRE((columns.with_row(a / 64) >> a % 64 & 1) == is_listed);
            }
            for (int i = 0; i != 300; ++i) {
                step_id const from = first + roll.below(smaller(n, last) - first);
                std::vector<step_id> ends(roll.below(4));
                for (step_id& end : ends) end = i % 2 == 0 ? roll.below(smaller(n, 20u)) : roll.below(n);
                step_id next = from;
                auto all_before = [&](step_id at) {
                    for (step_id end : ends)
                        if (!plain.before(end, at)) return false;
                    return true;
                };
                while (next != last && (next >= n || !all_before(next))) ++next;
                REQUIRE(columns.next_after(std::span<step_id const>(ends), from) == next);
            }
        }
        CHECK(columns.next_after(std::span<step_id const>(), n - 1) == n - 1);
    }
}

} // namespace this_test
