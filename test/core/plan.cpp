// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/known_property.hpp>
#include <sublet/core/plan.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(std::is_aggregate_v<memory_plan> && std::is_aggregate_v<slot_plan> &&
              std::is_aggregate_v<memory_plan::placed_buffer>);

TEST_CASE("a property that is known is that of the options, until one value gets another")
{
    known_property<byte_count> constant{8, 3, "bytes"};
    known_property<byte_count> listed{{1, 2, 3}, 3, "bytes"};
    known_property<bool> const flag{std::vector{true, false, true}, 3, "eligible"};
    CHECK(per_value<byte_count>(8).is_constant());
    CHECK(!per_value<byte_count>{1, 2, 3}.is_constant());
    CHECK((constant[0] == 8 && constant[2] == 8));
    CHECK((flag[0] && !flag[1] && flag[2]));
    constant.set(1, 16);
    listed.set(1, 16);
    CHECK((constant[0] == 8 && constant[1] == 16 && constant[2] == 8));
    CHECK((listed[0] == 1 && listed[1] == 16 && listed[2] == 3));
    CHECK_THROWS_AS((known_property<byte_count>{{1, 2}, 3, "bytes"}), precondition_error);
}

TEST_CASE("an offset is that of the value's buffer")
{
    memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 2}, .size = 64, .offset = 0},
                    {.root = 1, .life = {1, 3}, .size = 32, .offset = 64}};
    plan.buffer_of = {0, 1, 0, no_buffer};
    CHECK(plan.offset_of(0) == 0);
    CHECK(plan.offset_of(1) == 64);
    CHECK(plan.offset_of(2) == 0);
    CHECK(plan.offset_of(3) == no_offset);
}

TEST_CASE("buffers need not be in the order of the values")
{
    memory_plan plan;
    plan.buffers = {{2, {0, 1}, 4, 1, 0, 8}, {0, {0, 1}, 8, 1, 0, 0}};
    plan.buffer_of = {1, 1, 0};
    CHECK(plan.offset_of(0) == 0);
    CHECK(plan.offset_of(1) == 0);
    CHECK(plan.offset_of(2) == 8);
}

TEST_CASE("a buffer that was not placed has no offset")
{
    memory_plan plan;
    plan.buffers = {{}};
    plan.buffer_of = {0};
    CHECK(plan.offset_of(0) == no_offset);
}

TEST_CASE("plans are compared by value")
{
    memory_plan const none;
    memory_plan plan = none;
    CHECK(plan == none);
    plan.valid_for = program_reading::concurrent;
    CHECK(plan != none);
    plan = none;
    plan.arena_bytes = {64};
    CHECK(plan != none);

    CHECK(slot_plan{} == slot_plan{{}, 0});
    CHECK(slot_plan{{0, no_slot}, 1} != slot_plan{{0, 0}, 1});
}

// --- per value ---------------------------------------------------------------------------------------------

namespace {

using sizes = per_value<byte_count>;
using answers = std::vector<byte_count>;

template <class X>
constexpr bool is_size = is_value_property<X, byte_count>;

enum open_enum { two = 2 };

} // namespace

static_assert(value_constant<int, byte_count> && value_constant<open_enum, byte_count>);
static_assert(value_table<std::vector<int>, byte_count> && value_table<std::span<int const>, byte_count>);
static_assert(value_table<archetype::table, byte_count>);
static_assert(value_callable<decltype([](int) { return 1; }), byte_count>);
static_assert(!is_size<double> && !is_size<bool> && !is_size<char> && !is_size<int*> &&
              !is_size<std::nullptr_t>);
static_assert(!is_size<std::vector<double>> && !is_size<std::vector<bool>> &&
              !is_size<std::vector<std::string>>);
static_assert(!is_size<std::map<int, int>> && !is_size<std::unordered_map<unsigned, int>>);
static_assert(!is_size<std::string> && !is_size<char const*> && !is_size<std::optional<int>>);
static_assert(!is_size<decltype([](auto) { return 0.5; })> && !is_size<decltype([](auto) { return true; })>);
static_assert(!is_size<decltype([](auto) {})> && !is_size<decltype([](std::string) { return 1; })>);
static_assert(is_value_property<bool, bool> && is_value_property<std::vector<char>, bool>);
static_assert(!is_value_property<int*, bool> && !is_value_property<double, bool>);
static_assert(!is_value_property<char[4], bool> && !is_value_property<int const[4], bool>);
static_assert(is_value_property<value_role, value_role> && !is_value_property<int, value_role>);
static_assert(!is_value_property<value_role, byte_count> && !std::is_default_constructible_v<sizes>);

TEST_CASE("a constant is the same for every value")
{
    sizes const bytes = 64;
    CHECK(bytes[0] == 64);
    CHECK(bytes[4000000000u] == 64);
    CHECK(bytes.tabulate(3) == answers{64, 64, 64});
    CHECK(bytes.tabulate(0).empty());
    CHECK(sizes(two)[0] == 2);
    CHECK(sizes(no_size)[0] == no_size);
}

TEST_CASE("a table is anything with [] and size()")
{
    answers const expected{10, 20, 30};
    std::vector<short> const vector{10, 20, 30};
    int const plain[] = {10, 20, 30};
    CHECK(sizes(vector).tabulate(3) == expected);
    CHECK(sizes(std::array{10l, 20l, 30l}).tabulate(3) == expected);
    CHECK(sizes(std::deque<unsigned>{10, 20, 30}).tabulate(3) == expected);
    CHECK(sizes(std::span(vector)).tabulate(3) == expected);
    CHECK(sizes(plain).tabulate(3) == expected);
    CHECK(sizes({10, 20, 30}).tabulate(3) == expected);
    CHECK(sizes(archetype::table({10, 20, 30})).tabulate(3) == expected);
    sizes const braces = {10, 20, 30};
    CHECK(braces[1] == 20);
}

TEST_CASE("a callable may take any type to which an id converts")
{
    std::vector<byte_count> const held{10, 20, 30};
    CHECK(sizes([](int v) { return 10 * (v + 1); }).tabulate(3) == held);
    CHECK(sizes([](auto v) { return 10 * (v + 1); }).tabulate(3) == held);
    CHECK(sizes([](value_id v) { return byte_count{10} * (v + 1); }).tabulate(3) == held);
    CHECK(sizes([&](auto v) -> auto& { return held[v]; }).tabulate(3) == held);
    CHECK(sizes([](int v) { return archetype::id(10 * (v + 1)); }).tabulate(3) == held);
    byte_count (*const function)(value_id) = [](value_id v) { return byte_count{10} * (v + 1); };
    CHECK(sizes(function).tabulate(3) == held);
}

TEST_CASE("a bool property accepts bools and numbers")
{
    per_value<bool> const from_bits = std::vector<bool>{true, false, true};
    CHECK(from_bits[0]);
    CHECK_FALSE(from_bits[1]);
    CHECK(from_bits.tabulate(3) == std::vector<unsigned char>{1, 0, 1});
    CHECK(per_value<bool>(std::vector<char>{0, 1}).tabulate(2) == std::vector<unsigned char>{0, 1});
    bool const plain[] = {false, true};
    CHECK(per_value<bool>(plain).tabulate(2) == std::vector<unsigned char>{0, 1});
    CHECK(per_value<bool>([](int v) { return v == 1; }).tabulate(2) == std::vector<unsigned char>{0, 1});
}

TEST_CASE("a role is given like any other property")
{
    CHECK(per_value<value_role>(value_role::input)[5] == value_role::input);
    per_value<value_role> const roles = {value_role::input, value_role::output | value_role::external};
    CHECK(roles[1] == (value_role::output | value_role::external));
    CHECK(per_value<value_role>([](int v) {
              return v == 0 ? value_role::state : value_role::intermediate;
          })[0] == value_role::state);
}

TEST_CASE("minus one is the id none, and no other number may be negative")
{
    per_value<value_id> const parents = {-1, 0, 1};
    CHECK(parents.tabulate(3) == std::vector<value_id>{no_value, 0, 1});
    CHECK(per_value<value_id>(-1)[0] == no_value);
    CHECK(per_value<value_id>(std::vector<std::int64_t>{-1})[0] == no_value);
    CHECK(per_value<value_id>(archetype::table({-1}))[0] == no_value);
    CHECK_THROWS_WITH_AS((void)per_value<value_id>(-2)[0],
                         "sublet: id -2 is negative (only -1 has a meaning: none)", precondition_error);
    CHECK_THROWS_WITH_AS((void)per_value<value_id>(std::int64_t{1} << 32)[0],
                         "sublet: id 4294967296 does not fit 32 bits", precondition_error);

    doctest::Contains const negative("sublet: a property of a value is negative: -");
    CHECK_THROWS_WITH_AS((void)sizes(-1), negative, precondition_error); // a constant, when it is given
    CHECK_THROWS_WITH_AS((void)sizes({4, -4}).tabulate(2), negative, precondition_error);
    CHECK_THROWS_WITH_AS((void)sizes([](auto) { return std::int64_t{-8}; })[0], negative, precondition_error);
    CHECK_THROWS_WITH_AS((void)sizes(archetype::table({-4}))[0], negative, precondition_error);
}

TEST_CASE("what converts to a pointer is no truth value")
{
    auto const takes_text = [](char const*) { return false; };
    CHECK(!detail::is_value_property<decltype(takes_text), bool, value_id>);
    CHECK(!detail::is_value_property<bool (*)(char const*), bool, value_id>);
    CHECK(!detail::is_value_property<char const*, bool, value_id>);
    auto const takes_value = [](value_id) { return false; }; // where the buffer is passed
    CHECK(!detail::is_value_property<decltype(takes_value), bool, buffer_id>);
    CHECK(detail::is_value_property<decltype(takes_value), bool, value_id>);
    CHECK(detail::is_value_property<std::true_type, bool, value_id>);
    CHECK(detail::is_value_property<std::vector<bool>, bool, value_id>);
    CHECK(detail::is_value_property<std::vector<bool>::reference, bool, value_id>);
}

TEST_CASE("a table of another length is refused in every way of reading it")
{
    sizes const two_entries = std::vector{1, 2};
    CHECK_THROWS_WITH_AS((void)two_entries.tabulate(3),
                         "sublet: the table of a property has 2 entries for 3 values", precondition_error);
    CHECK_THROWS_WITH_AS((void)two_entries.tabulate(1),
                         "sublet: the table of a property has 2 entries for 1 values", precondition_error);
    CHECK_THROWS_WITH_AS((void)two_entries[2],
                         "sublet: the table of a property has no entry for value 2, but 2 entries",
                         precondition_error);
    CHECK(sizes(std::vector<int>{}).tabulate(0).empty());
}

TEST_CASE("braces are a table, even around one number")
{
    sizes const one = {64};
    CHECK(one[0] == 64);
    CHECK_THROWS_AS((void)one[1], precondition_error);
}

TEST_CASE("a callable is preferred to a table, and a table to a constant")
{
    struct chameleon {
        int operator()(value_id) const { return 1; }
        int operator[](std::size_t) const { return 2; }
        std::size_t size() const { return 1; }
        operator int() const { return 3; }
    };
    struct newt {
        int operator[](std::size_t) const { return 2; }
        std::size_t size() const { return 1; }
        operator int() const { return 3; }
    };
    CHECK(sizes(chameleon{})[0] == 1);
    CHECK(sizes(newt{})[0] == 2);
}

namespace {

sizes made_from_locals(int kind)
{
    std::vector<int> const local{100, 200};
    int const plain[] = {100, 200};
    auto const shared = std::make_shared<std::vector<int>>(local);
    switch (kind) {
    case 0: return local;
    case 1: return plain;
    case 2: return {100, 200};
    case 3: return [local](auto v) { return local[v]; };
    case 4: return [shared](auto v) { return (*shared)[v]; };
    default: return std::array{100, 200};
    }
}

} // namespace

TEST_CASE("a property outlives its argument")
{
    for (int kind = 0; kind != 6; ++kind) {
        sizes stored = made_from_locals(kind);
        sizes copy = stored;
        stored = sizes(1);
        CHECK(stored[0] == 1);
        stored = std::move(copy);
        CHECK(stored.tabulate(2) == answers{100, 200});
        stored = *&stored;
        CHECK(stored.tabulate(2) == answers{100, 200});
        std::vector<sizes> many(3, stored);
        many.erase(many.begin());
        CHECK(many[1][1] == 200);
    }
}

TEST_CASE("a span refers to its table and shows later changes")
{
    std::vector<int> table{1, 2};
    sizes const bytes = std::span(table);
    table[1] = 7;
    CHECK(bytes[1] == 7);
}

TEST_CASE("a stored property is released")
{
    auto const counted = std::make_shared<int>(5);
    {
        sizes const bytes = [counted](auto) { return *counted; };
        sizes copy = bytes;
        copy = bytes;
        CHECK(copy[0] == 5);
        CHECK(counted.use_count() == 3);
    }
    CHECK(counted.use_count() == 1);
}

TEST_CASE("a constant, a table and a callable may be assigned to each other")
{
    auto const counted = std::make_shared<int>(7);
    {
        sizes const all[] = {5, std::vector{6, 6}, [counted](auto) { return *counted; }};
        for (sizes const& before : all)
            for (sizes const& after : all) {
                sizes one = before;
                one = after;
                CHECK(one[1] == after[1]);
                CHECK(one.tabulate(2) == after.tabulate(2));
                CHECK(one.is_callable() == after.is_callable());
                one = *&one;
                CHECK(one[1] == after[1]);
                CHECK(before[1] == sizes(before)[1]);
            }
        CHECK((all[0][1] == 5 && all[1][1] == 6 && all[2][1] == 7));
    }
    CHECK(counted.use_count() == 1);
}

// --- plan options ------------------------------------------------------------------------------------------

static_assert(std::is_aggregate_v<plan_options> && !std::is_default_constructible_v<plan_options>);

TEST_CASE("bytes are the only required option")
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

TEST_CASE("each property may be a constant, a table or a callable")
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

// --- value role --------------------------------------------------------------------------------------------

TEST_CASE("roles are a set")
{
    value_role const both = value_role::input | value_role::output;
    CHECK(has_role(both, value_role::input));
    CHECK(has_role(both, value_role::output));
    CHECK(has_role(both, both));
    CHECK_FALSE(has_role(both, value_role::external));
    CHECK_FALSE(has_role(value_role::input, both));
    CHECK((value_role::intermediate | value_role::output) == value_role::output);
}

TEST_CASE("state is external storage, and external storage need not be state")
{
    CHECK(has_role(value_role::state, value_role::external));
    CHECK_FALSE(has_role(value_role::external, value_role::state));
}

TEST_CASE("inputs, external values and state exist before the first step")
{
    CHECK(is_given(value_role::input));
    CHECK(is_given(value_role::external));
    CHECK(is_given(value_role::state));
    CHECK(is_given(value_role::input | value_role::output));
    CHECK_FALSE(is_given(value_role::intermediate));
    CHECK_FALSE(is_given(value_role::output));
}

TEST_CASE("every set of roles contains the empty set")
{
    CHECK(has_role(value_role::external, value_role::intermediate));
    CHECK(has_role(value_role::intermediate, value_role::intermediate));
}

// --- effort ------------------------------------------------------------------------------------------------

TEST_CASE("an effort scales the work of every search, or is a count")
{
    CHECK(effort(effort::fast).of(100) == 0);
    CHECK(effort(effort::balanced).of(100) == 100);
    CHECK(effort(effort::thorough).of(100) == 1600);
    CHECK(effort(effort::thorough).of(no_limit / 2) == no_limit);
    CHECK(effort(7).of(100) == 7);
    CHECK(effort(std::uint64_t{1} << 40).of(100) == std::uint64_t{1} << 40);
    CHECK_THROWS_AS(effort(-1), precondition_error);
    plan_options const options{.bytes = 8, .effort = effort::fast};
    CHECK(options.effort == effort::fast);
    CHECK(plan_options{.bytes = 8}.effort == effort::balanced);
}

} // namespace this_test
