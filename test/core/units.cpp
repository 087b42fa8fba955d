// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/units.hpp>

#include "archetype.hpp"
#include "random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(integer<int> && integer<unsigned char> && integer<signed char> && integer<std::uint64_t>);
static_assert(!integer<bool> && !integer<char> && !integer<char16_t> && !integer<wchar_t> &&
              !integer<double>);

namespace {

enum plain_enum { nothing = -1, third = 2 };
enum class closed_enum { third = 2 };

} // namespace

static_assert(integer_like<long> && integer_like<plain_enum> && integer_like<archetype::id>);
static_assert(!integer_like<closed_enum> && !integer_like<bool> && !integer_like<char> &&
              !integer_like<double>);
static_assert(!integer_like<int*> && !integer_like<char const*>);

static_assert(size_function<archetype::sizes> && size_function<int (*)(int)>);
static_assert(!size_function<double (*)(int)> && !size_function<bool (*)(int)> && !size_function<int>);

TEST_CASE("a size is any integer but a negative one")
{
    static_assert(to_byte_count(7) == 7 && to_byte_count(third) == 2);
    CHECK(to_byte_count(~std::uint64_t{0}) == no_size);
    CHECK(to_byte_count(static_cast<signed char>(100)) == 100);
    CHECK(to_byte_count(archetype::sizes{}(3)) == 8);
    CHECK_THROWS_WITH_AS((void)to_byte_count(-1), "sublet: a size is negative: -1", precondition_error);
    CHECK_THROWS_AS((void)to_byte_count(nothing), precondition_error);
}

TEST_CASE("minus one of any signed type is no value")
{
    CHECK(value_id(-1) == no_value);
    CHECK(value_id(static_cast<signed char>(-1)) == no_value);
    CHECK(value_id(short{-1}) == no_value);
    CHECK(value_id(std::int64_t{-1}) == no_value);
    CHECK(value_id(std::uint64_t(-1)) == no_value);
    static_assert(value_id(-1) == no_value && value_id(7) == 7);
}

TEST_CASE("narrow unsigned numbers are ids up to their last")
{
    CHECK(value_id(std::uint8_t{255}) == 255);
    CHECK(value_id(std::uint16_t{65535}) == 65535);
}

TEST_CASE("an id survives a conversion to any wider type and back")
{
    for (std::uint32_t id : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, +no_value}) {
        CHECK(value_id(id) == id);
        CHECK(value_id(std::int64_t{id}) == id);
        CHECK(value_id(std::uint64_t{id}) == id);
    }
}

TEST_CASE("other negative numbers are refused")
{
    doctest::Contains const sentence(" is negative (only -1 has a meaning: none)");
    CHECK_THROWS_WITH_AS((void)value_id(-2), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(static_cast<signed char>(-128)), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(std::numeric_limits<int>::min()), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(std::numeric_limits<std::int64_t>::min()), sentence,
                         precondition_error);
}

TEST_CASE("numbers beyond 32 bits are refused")
{
    doctest::Contains const sentence(" does not fit 32 bits");
    CHECK_THROWS_WITH_AS((void)value_id(std::int64_t{1} << 32), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(std::uint64_t{1} << 32), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(std::numeric_limits<std::int64_t>::max()), sentence,
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)value_id(std::uint64_t(-2)), sentence, precondition_error);
}

TEST_CASE("alignments combine to the least common multiple")
{
    CHECK(combine_alignment(1, 1) == 1);
    CHECK(combine_alignment(64, 16) == 64);
    CHECK(combine_alignment(6, 4) == 12);
    CHECK(combine_alignment(7, 9) == 63);
    for (byte_count a = 1; a != 40; ++a)
        for (byte_count b = 1; b != 40; ++b) {
            byte_count both = a;
            while (both % b != 0) both += a;
            CHECK(combine_alignment(a, b) == both);
        }
    byte_count const half = byte_count{1} << 63;
    CHECK(combine_alignment(half, 2) == half);
    CHECK_THROWS_AS((void)combine_alignment(half, 3), precondition_error);
}

TEST_CASE("sums and products end below 2^64 - 1, which means unknown")
{
    CHECK(checked_add(no_size - 2, 1) == no_size - 1);
    CHECK(checked_multiply(no_size - 1, 1) == no_size - 1);
    CHECK(checked_multiply(0, 5) == 0);
    CHECK(checked_multiply(5, 0) == 0);
    doctest::Contains const sum("sublet: the sum of the sizes");
    CHECK_THROWS_WITH_AS((void)checked_add(no_size - 1, 1), sum, precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_add(no_size, 0), sum, precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_add(0, no_size), sum, precondition_error);
    doctest::Contains const product("sublet: the product of the sizes");
    CHECK_THROWS_WITH_AS((void)checked_multiply(byte_count{1} << 32, byte_count{1} << 32), product,
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_multiply(no_size / 3, 3), product, precondition_error);
}

TEST_CASE("aligning up gives the next multiple, or no offset")
{
    CHECK(align_up(0, 64) == 0);
    CHECK(align_up(1, 64) == 64);
    CHECK(align_up(64, 64) == 64);
    CHECK(align_up(65, 48) == 96);
    CHECK(align_up(no_offset - 1, 1) == no_offset - 1);
    CHECK(align_up(no_offset - 1, 64) == no_offset);
    CHECK(align_up(no_offset, 64) == no_offset);
}

#if defined(__SIZEOF_INT128__)

TEST_CASE("near overflow, arithmetic agrees with 128 bits")
{
    __extension__ using wide = unsigned __int128;
    std::vector<byte_count> numbers;
    for (unsigned shift : {0u, 1u, 6u, 31u, 32u, 33u, 62u, 63u})
        for (byte_count d : {0u, 1u, 2u, 3u}) {
            numbers.push_back((byte_count{1} << shift) + d);
            numbers.push_back((byte_count{1} << shift) - d);
            numbers.push_back(no_size - (byte_count{1} << shift) + 1 - d);
            numbers.push_back(no_size / 3 + d);
        }
    std::mt19937_64 random(1);
    for (int i = 0; i != 100; ++i) numbers.push_back(random() >> (random() % 64));

    auto quantity = [](wide exact) { return exact < no_size; };
    int wrong = 0; // one CHECK for all pairs, which are many
    for (byte_count a : numbers)
        for (byte_count b : numbers) {
            auto holds = [&](wide exact, byte_count (*f)(byte_count, byte_count)) {
                try {
                    return f(a, b) == exact && quantity(exact);
                } catch (precondition_error const&) {
                    return !quantity(exact);
                }
            };
            wrong += !holds(wide{a} + b, checked_add);
            wrong += !holds(wide{a} * b, checked_multiply);
            wrong += sum_fits(a, b) != quantity(wide{a} + b);
            if (b == 0) continue;
            wide const up = (wide{a} + b - 1) / b * b;
            wrong += align_up(a, b) != (quantity(up) ? static_cast<byte_count>(up) : no_offset);
            if (a == 0) continue;
            wrong += !holds(wide{a} / std::gcd(a, b) * b, combine_alignment);
        }
    CHECK(wrong == 0);
}

#endif

// --- live range lists --------------------------------------------------------------------------------------

namespace {

using ranges = std::vector<live_range>;

ranges listed(std::span<live_range const> list) { return ranges(list.begin(), list.end()); }

} // namespace

TEST_CASE("a value in a hole of another does not overlap it")
{
    ranges const a = {{0, 1}, {3, 6}}, b = {{1, 3}};
    CHECK_FALSE(overlaps(a, b));
    CHECK_FALSE(overlaps(b, a));
    CHECK(overlaps(a, ranges{{1, 4}}));
    CHECK(overlaps(a, a));
    CHECK_FALSE(overlaps(a, ranges{}));
    CHECK_FALSE(overlaps(a, ranges{{4, 4}}));
}

TEST_CASE("random lists of ranges overlap if some position is in both")
{
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        ranges list[2];
        std::vector<int> covers(20);
        for (ranges& own : list) {
            position_id at = pick.below(8);
            for (std::uint32_t k = pick.below(4); k != 0; --k) {
                position_id const first = at + pick.below(3), last = first + pick.below(3);
                own.push_back({first, last});
                for (position_id p = first; p != last; ++p) ++covers[p];
                at = last;
            }
        }
        CHECK(overlaps(list[0], list[1]) == (std::count(covers.begin(), covers.end(), 2) != 0));
    }
}

TEST_CASE("lists give their values, hulls and the most values live at once")
{
    live_range_lists const lists(live_range_lists::source::one_pass, 6, {0, 2, 2, 3},
                                 {{0, 1}, {3, 6}, {1, 4}});
    CHECK(lists.values() == 3);
    CHECK(lists.positions() == 6);
    CHECK(lists.ranges() == 3);
    CHECK(lists.method() == live_range_lists::source::one_pass);
    CHECK(listed(lists[0]) == ranges{{0, 1}, {3, 6}});
    CHECK(listed(lists[1]) == ranges{});
    CHECK(lists.hull(0) == live_range{0, 6});
    CHECK(is_empty(lists.hull(1)));
    CHECK(lists.max_live() == 2);
    CHECK(lists == live_range_lists(live_range_lists::source::from_liveness, 6, {0, 2, 2, 3},
                                    {{0, 1}, {3, 6}, {1, 4}}));
    CHECK_FALSE(lists == live_range_lists(live_range_lists::source::one_pass, 7, {0, 2, 2, 3},
                                          {{0, 1}, {3, 6}, {1, 4}}));
}

TEST_CASE("default lists are empty")
{
    CHECK(live_range_lists().values() == 0);
    CHECK(live_range_lists().max_live() == 0);
}

TEST_CASE("ranges added from last to first are merged where they touch, for any number of them")
{
    detail::range_collector found(2);
    found.add(0, {8, 9});
    found.add(0, {5, 6});
    found.add(1, {5, 5}); // empty
    found.add(0, {3, 4});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{3, 4}, {5, 6}, {8, 9}});
    found.add(0, {2, 3});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{2, 4}, {5, 6}, {8, 9}});
    found.add(0, {1, 5});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{1, 6}, {8, 9}});
    found.add(0, {0, 9});
    CHECK(listed(found.lists(live_range_lists::source::one_pass, 9)[0]) == ranges{{0, 9}});
    CHECK(found.lists(live_range_lists::source::one_pass, 9)[1].empty());
}

// --- contract ----------------------------------------------------------------------------------------------

static_assert(std::is_nothrow_copy_constructible_v<sublet::precondition_error>);

TEST_CASE("a precondition that holds has no effect, and a violated one throws its sentence")
{
    CHECK_NOTHROW(SUBLET_EXPECTS(1 + 1 == 2, "sublet: never seen"));
    CHECK_THROWS_WITH_AS(SUBLET_EXPECTS(1 + 1 == 3, "sublet: two is not three"), "sublet: two is not three",
                         sublet::precondition_error);
}

TEST_CASE("a sentence about a violated precondition names numbers and names in its order")
{
    using detail::broken_precondition;
    CHECK_THROWS_WITH_AS(
        SUBLET_EXPECTS(false, "sublet: step % touches value %, but there are only % values", 3, 17u, 12ull),
        "sublet: step 3 touches value 17, but there are only 12 values", precondition_error);
    CHECK_THROWS_WITH(broken_precondition("sublet: the table of % has % entries", "bytes", 3),
                      "sublet: the table of bytes has 3 entries");
    CHECK_THROWS_WITH(broken_precondition("%, %, %, %", 0, -1, no_size, INT64_MIN),
                      "0, -1, 18446744073709551615, -9223372036854775808");
    CHECK_THROWS_WITH(broken_precondition("%%", 1, 2), "12");
    CHECK_THROWS_WITH(broken_precondition("60 % of it"), "60 % of it");
}

TEST_CASE("a precondition_error owns its sentence")
{
    std::string text = "sublet: no";
    precondition_error const error(text.c_str());
    precondition_error const copy = error;
    text = "overwritten";
    CHECK(error.what() == std::string("sublet: no"));
    CHECK(copy.what() == std::string("sublet: no"));
    CHECK(precondition_error("").what() == std::string());
}

TEST_CASE("a sentence beyond 511 characters is cut, and says so")
{
    auto said = [](std::string const& text) { return std::string(precondition_error(text.c_str()).what()); };
    std::string const longest(511, 'a');
    CHECK(said(longest) == longest);
    CHECK(said(longest + "a") == std::string(508, 'a') + "...");
    CHECK_THROWS_WITH(detail::broken_precondition("%%", longest.c_str(), std::string(2000, 'b').c_str()),
                      (std::string(508, 'a') + "...").c_str());
}

TEST_CASE("an order that does not name each item once is told where")
{
    auto refuses = [](std::vector<std::uint32_t> const& order, char const* sentence) {
        CHECK_THROWS_WITH_AS(detail::broken_order(order, 3), sentence, precondition_error);
    };
    refuses({0, 3, 1}, "sublet: an order names node 3, but there are only 3 of them");
    refuses({0, 1, 0}, "sublet: an order names node 0 twice");
    refuses({0, 2}, "sublet: an order does not name node 1");
    refuses({}, "sublet: an order does not name node 0");
    CHECK_THROWS_WITH(detail::broken_order(std::vector<step_id>{1, 1}, 2, "step"),
                      "sublet: an order names step 1 twice");
}

TEST_CASE("a violated precondition can be caught as std::exception")
{
    CHECK_THROWS_AS(SUBLET_EXPECTS(false, "sublet: no"), std::exception);
}

TEST_CASE("the condition is evaluated once")
{
    int asked = 0;
    SUBLET_EXPECTS(++asked == 1, "sublet: evaluated twice");
    CHECK(asked == 1);
}

namespace {

constexpr int half(int even)
{
    SUBLET_EXPECTS(even % 2 == 0, "sublet: odd");
    return even / 2;
}

static_assert(half(4) == 2);

struct truthy {
    explicit operator bool() const { return true; }
};

} // namespace

TEST_CASE("a condition may be any type that converts to bool in an if")
{
    CHECK_NOTHROW(SUBLET_EXPECTS(truthy{}, "sublet: never seen"));
}

// --- live range --------------------------------------------------------------------------------------------

static_assert(live_range_function<archetype::lives>);
static_assert(!live_range_function<int> && !live_range_function<decltype([](auto) { return 3; })>);
static_assert(!live_range_function<decltype([](std::vector<int>) { return live_range{}; })>);

TEST_CASE("a range that ends where another begins does not overlap it")
{
    CHECK_FALSE(overlaps(live_range{0, 3}, live_range{3, 4}));
    CHECK(overlaps(live_range{0, 3}, live_range{2, 4}));
    CHECK(length(live_range{0, 3}) == 3);
    CHECK(contains(live_range{0, 3}, 2));
    CHECK_FALSE(contains(live_range{0, 3}, 3));
}

TEST_CASE("a default range is empty")
{
    CHECK(is_empty(live_range{}));
    CHECK(live_range{} == live_range{0, 0});
}

TEST_CASE("ranges are sets of positions")
{
    std::uint32_t const top = 5;
    auto positions = [](live_range r) {
        std::vector<bool> in(top, false);
        for (position_id p = 0; p != top; ++p) in[p] = contains(r, p);
        return in;
    };
    for (position_id a = 0; a != top; ++a)
        for (position_id b = 0; b != top; ++b)
            for (position_id c = 0; c != top; ++c)
                for (position_id d = 0; d != top; ++d) {
                    live_range const x{a, b}, y{c, d};
                    std::vector<bool> const in_x = positions(x), in_y = positions(y),
                                            in_hull = positions(hull(x, y));
                    std::uint32_t in_one = 0, in_both = 0, first = top, last = 0, covered = 0;
                    for (std::uint32_t p = 0; p != top; ++p) {
                        in_one += in_x[p];
                        in_both += in_x[p] && in_y[p];
                        covered += in_hull[p];
                        if (!in_x[p] && !in_y[p]) continue;
                        if (first == top) first = p;
                        last = p + 1;
                        CHECK(in_hull[p]);
                    }
                    CHECK(length(x) == in_one);
                    CHECK(is_empty(x) == (in_one == 0));
                    CHECK(overlaps(x, y) == (in_both != 0));
                    CHECK(covered == (first == top ? 0 : last - first));
                }
}

} // namespace this_test
