// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/lifetimes.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace this_test {

using sublet::no_value;
using sublet::value_id;

static auto classes_of(std::vector<value_id> const& alias_of)
{
    return sublet::aliases(alias_of.size(), [&](value_id v) { return alias_of[v]; });
}

TEST_CASE("a view of a view is the same buffer as the root")
{
    auto c = classes_of({no_value, 0, 1, no_value});
    CHECK(c.buffer_of == std::vector<sublet::buffer_id>{0, 0, 0, 1});
    CHECK(c.root == std::vector<value_id>{0, 3});
}

TEST_CASE("without values there are no buffers") { CHECK(classes_of({}).root.empty()); }

TEST_CASE("minus one says that a value is nobody's view")
{
    auto c = sublet::aliases(2, [](auto v) { return v == 0 ? -1 : 0; });
    CHECK(c.root == std::vector<value_id>{0});
}

TEST_CASE("views that run in a circle are refused, also those that lead into one")
{
    CHECK_THROWS_WITH_AS(classes_of({1, 0}), "sublet: views run in a circle", sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({1, 2, 1}), "sublet: views run in a circle", sublet::precondition_error);
    CHECK_THROWS_WITH_AS(classes_of({0}), "sublet: a value is a view of itself", sublet::precondition_error);
    for (value_id nobody : {2u, 5u})
        CHECK_THROWS_WITH_AS(classes_of({nobody, no_value}),
                             "sublet: alias_of names a value that does not exist",
                             sublet::precondition_error);
}

TEST_CASE("a chain of a million views is followed, in either direction of the ids")
{
    std::size_t const n = 1'000'000;
    auto up = sublet::aliases(n, [](value_id v) { return v == 0 ? no_value : v - 1; });
    auto down = sublet::aliases(n, [](value_id v) { return v + 1 == 1'000'000 ? no_value : v + 1; });
    CHECK(up.root == std::vector<value_id>{0});
    CHECK(down.root == std::vector<value_id>{999'999});
}

TEST_CASE("two values are one buffer exactly if following the views from both ends at one root")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        std::size_t const n = 1 + pick() % 12;
        std::vector<value_id> name(n), alias_of(n, no_value); // a forest over shuffled names
        for (std::size_t i = 0; i != n; ++i) name[i] = static_cast<value_id>(i);
        for (std::size_t i = n; i > 1; --i) std::swap(name[i - 1], name[pick() % i]);
        for (std::size_t i = 1; i != n; ++i)
            if (pick() % 3 != 0) alias_of[name[i]] = name[pick() % i];
        auto root = [&](value_id v) {
            while (alias_of[v] != no_value) v = alias_of[v];
            return v;
        };
        auto c = classes_of(alias_of);
        for (value_id v = 0; v != n; ++v) CHECK(c.root[c.buffer_of[v]] == root(v));
        for (std::size_t b = 1; b < c.root.size(); ++b) CHECK(c.root[b - 1] < c.root[b]);
    }
}

} // namespace this_test
