// SPDX-License-Identifier: BSL-1.0
#include <sublet/plan.hpp>

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;

static_assert(std::is_aggregate_v<plan_options> && !std::is_default_constructible_v<plan_options>);

TEST_CASE("bytes are all that has to be said")
{
    plan_options const options{.bytes = 64};
    CHECK(options.bytes[3] == 64);
    CHECK(options.alignment[3] == 1);
    CHECK(options.role[3] == value_role::intermediate);
    CHECK(options.alias_of[3] == no_value);
    CHECK(options.pool[3] == 0);
    CHECK(options.pinned[3] == no_offset);
    CHECK(options.eligible[3]);
    CHECK(options.pools.empty());
    CHECK(options.order.empty());
    CHECK(options.in_place);
    CHECK(options.check);
    CHECK(pool_limits{}.capacity == no_limit);
    CHECK(pool_limits{}.alignment == 1);
}

TEST_CASE("each property is given the way its owner has it")
{
    std::vector<int> const sizes{10, 20};
    std::vector<bool> const planned{true, false};
    plan_options const options{.bytes = sizes,
                               .alignment = 64,
                               .role = [](auto v) { return v == 0 ? value_role::input : value_role::output; },
                               .alias_of = {-1, 0},
                               .pool = std::vector<unsigned char>{0, 1},
                               .pinned = no_offset,
                               .eligible = planned,
                               .pools = {{.capacity = 1024}, {.alignment = 256}},
                               .order = {1, 0},
                               .in_place = false};
    CHECK(options.bytes.tabulate(2) == std::vector<byte_count>{10, 20});
    CHECK(options.alignment[1] == 64);
    CHECK(options.role[1] == value_role::output);
    CHECK(options.alias_of[0] == no_value);
    CHECK(options.alias_of[1] == 0);
    CHECK(options.pool[1] == 1);
    CHECK_FALSE(options.eligible[1]);
    CHECK(options.pools[1].capacity == no_limit);
    CHECK(options.order[0] == 1);
}

namespace {

struct my_ir {
    std::vector<long> bytes;
};

plan_options options_of(my_ir ir)
{
    plan_options options{.bytes = ir.bytes, .alignment = [ir](auto v) { return ir.bytes[v] / 10; }};
    options.eligible = std::vector<bool>(ir.bytes.size(), true);
    return options;
}

} // namespace

TEST_CASE("options are stored, copied, returned and assigned, and nothing dangles")
{
    plan_options stored = options_of({{100, 200}});
    plan_options const copy = stored;
    stored = options_of({{1}});
    CHECK(stored.bytes[0] == 1);
    stored = copy;
    CHECK(stored.bytes[1] == 200);
    CHECK(stored.alignment[1] == 20);
    CHECK(copy.eligible.tabulate(2) == std::vector<unsigned char>{1, 1});
}

} // namespace this_test
