// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/liveness.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using sets = std::vector<std::set<value_id>>; // by node

namespace {

ids listed(live_list const& list)
{
    ids all;
    for (value_id v : list) all.push_back(v);
    return all;
}

ids visited_in(live_sets const& live, node_id n)
{
    ids all;
    live.for_each_live_in(n, [&](value_id v) { all.push_back(v); });
    std::sort(all.begin(), all.end());
    return all;
}
ids visited_out(live_sets const& live, node_id n)
{
    ids all;
    live.for_each_live_out(n, [&](value_id v) { all.push_back(v); });
    std::sort(all.begin(), all.end());
    return all;
}

/// These sets, the values that `is_bit` names stored as bits.
live_sets stored(std::size_t values, sets const& in, sets const& out, std::set<value_id> const& is_bit)
{
    std::vector<std::uint32_t> column(values, no_value);
    ids value;
    for (value_id v : is_bit) {
        column[v] = static_cast<std::uint32_t>(value.size());
        value.push_back(v);
    }
    auto half = [&](sets const& of) {
        detail::node_sets result{bit_rows(of.size(), value.size()), {}};
        for (std::size_t n = 0; n != of.size(); ++n) {
            for (value_id v : of[n])
                if (column[v] != no_value) result.bits.set(n, column[v]);
                else result.listed.append(v);
            if (value.size() != values) result.listed.close_row();
        }
        return result;
    };
    return {liveness_options::method::automatic, in.size(), column, value, half(in), half(out)};
}

} // namespace

TEST_CASE("values stored as bits and values listed come out in one ascending sequence")
{
    sets const in{{}, {0, 2, 3, 5}, {5}}, out{{0, 1, 2, 3, 4, 5}, {1}, {}};
    live_sets const live = stored(6, in, out, {1, 2, 5});
    CHECK(live.nodes() == 3);
    CHECK(live.values() == 6);
    CHECK(live.values_as_bits() == 3);
    CHECK(listed(live.live_in(1)) == ids{0, 2, 3, 5});
    CHECK(listed(live.live_in(2)) == ids{5});
    CHECK(listed(live.live_out(0)) == ids{0, 1, 2, 3, 4, 5});
    CHECK(live.live_in(0).empty());
    CHECK_FALSE(live.live_out(1).empty());
    CHECK(live.live_in_count(1) == 4);
    CHECK(live.live_out_count(0) == 6);
    CHECK(live.live_out_count(2) == 0);
    CHECK(live.is_live_in(0, 1));
    CHECK(live.is_live_in(2, 1));
    CHECK_FALSE(live.is_live_in(1, 1));
    CHECK_FALSE(live.is_live_in(4, 1));
    CHECK_FALSE(live.is_live_out(0, 1));
}

TEST_CASE("sets are equal however they are stored, and not if one value more is in one of them")
{
    sets const in{{0, 2}, {1}}, out{{2}, {}};
    live_sets const bits = stored(3, in, out, {0, 1, 2}), lists = stored(3, in, out, {});
    CHECK(bits == lists);
    CHECK(stored(3, in, out, {1}) == lists);
    CHECK(bits != stored(3, {{0, 2}, {1, 2}}, out, {0, 1, 2}));
    CHECK(bits != stored(3, {{0}, {1}}, out, {}));
    CHECK(bits != stored(3, {{0, 1}, {1}}, out, {}));
    CHECK(bits != stored(3, in, {{2}, {0}}, {0}));
    CHECK(bits != stored(4, in, out, {}));
    CHECK(bits != stored(3, {{0, 2}, {1}, {}}, {{2}, {}, {}}, {}));
}

TEST_CASE("no program has no sets, and no values empty ones")
{
    CHECK(live_sets{}.nodes() == 0);
    CHECK(live_sets{}.values() == 0);
    CHECK(live_sets{} == live_sets{});
    live_sets const idle = stored(0, {{}, {}}, {{}, {}}, {});
    CHECK(idle.live_in(1).empty());
    CHECK(listed(idle.live_out(0)).empty());
    CHECK(idle != live_sets{});
}

TEST_CASE("a cursor may be copied, compared and moved on before or after it is read")
{
    live_sets const live = stored(4, {{0, 1, 3}}, {{}}, {1, 3});
    auto at = live.live_in(0).begin();
    auto const first = at;
    CHECK(*at++ == 0);
    CHECK(*at == 1);
    CHECK(at != first);
    CHECK(*++at == 3);
    CHECK(++at == live.live_in(0).end());
    CHECK(*first == 0);
    CHECK(live_list::cursor{} == live.live_in(0).end());
}

TEST_CASE("whatever is stored how, it comes out as it went in")
{
    for (unsigned seed = 0; seed != rounds(200); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        auto const values = 1 + pick.below(200), some = 1 + pick.below(8), bits = pick.below(4);
        sets in(4), out(4);
        std::set<value_id> is_bit;
        for (value_id v = 0; v != values; ++v) {
            if (bits == 3 || pick.below(3) < bits) is_bit.insert(v);
            for (std::size_t n = 0; n != 4; ++n) {
                if (pick.below(some) == 0) in[n].insert(v);
                if (pick.below(some) == 0) out[n].insert(v);
            }
        }
        live_sets const live = stored(values, in, out, is_bit);
        for (node_id n = 0; n != 4; ++n) {
            REQUIRE(listed(live.live_in(n)) == ids(in[n].begin(), in[n].end()));
            REQUIRE(listed(live.live_out(n)) == ids(out[n].begin(), out[n].end()));
            REQUIRE(visited_in(live, n) == ids(in[n].begin(), in[n].end()));
            REQUIRE(visited_out(live, n) == ids(out[n].begin(), out[n].end()));
            REQUIRE(live.live_in_count(n) == in[n].size());
            REQUIRE(live.live_out_count(n) == out[n].size());
            for (value_id v = 0; v != values; ++v) {
                REQUIRE(live.is_live_in(v, n) == (in[n].count(v) != 0));
                REQUIRE(live.is_live_out(v, n) == (out[n].count(v) != 0));
            }
        }
        CHECK(live == stored(values, in, out, {}));
    }
}

} // namespace this_test
