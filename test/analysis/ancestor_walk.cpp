// SPDX-License-Identifier: BSL-1.0
#include <sublet/rewriting/detail/happens_before.hpp>

#include "../position_closure.hpp"
#include "../task_families.hpp"

#include <sublet/analysis/dependences.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(precedence_oracle<ancestor_walk>);

TEST_CASE("a comes before b if edges lead there, also through others")
{
    ancestor_walk walk(csr_rows({0, 0, 1, 1, 3}, {0, 1, 2})); // 0 -> 1 -> 3, 2 -> 3
    CHECK(walk.before(0, 3));
    CHECK(walk.before(1, 3));
    CHECK(!walk.before(0, 2));
    CHECK(!walk.before(1, 2));
    CHECK(walk.ancestors(3) == 3);
    CHECK(walk.ancestors(2) == 0);
}

TEST_CASE("questions may come in any order")
{
    for (std::string_view family : family_names) {
        CAPTURE(family);
        dependence_graph const g = dependences(draw_family(family, 700).program());
        auto const n = static_cast<std::uint32_t>(g.positions());
        position_closure const closure(g);
        ancestor_walk walk(g.before);
        dice roll{std::mt19937(1)};
        for (int i = 0; i != 3000; ++i) {
            step_id const b = 1 + roll.below(n - 1);
            for (std::uint32_t again = roll.below(4); again != 0; --again) {
                step_id const a = roll.below(b);
                REQUIRE(walk.before(a, b) == closure.before(a, b));
            }
        }
        std::uint64_t pairs = 0;
        for (step_id b = 0; b != n; ++b) pairs += walk.ancestors(b);
        CHECK(pairs == closure.ordered_pairs());
    }
}

} // namespace this_test
