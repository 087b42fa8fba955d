// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/formula.hpp>
#include <sublet/core/formula_text.hpp>
#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/internal/formula_grid.hpp>
#include <sublet/core/plan.hpp>

#include "counted_heap.hpp"
#include "random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace this_test {

using namespace sublet;
using detail::formula_c;
using detail::text_of_formula;
using detail::is_multiple_of;
using detail::is_rising_in;

using sizes = std::vector<byte_count>;

// --- an expression as it was built, and its value --------------------------------------------------------

enum class operation { constant, symbol, sum, difference, product, quotient, largest };

struct expression {
    operation of = operation::constant;
    std::int64_t number = 0; ///< the constant, the dimension or the divisor
    std::vector<expression> operands;
};

std::int64_t value_of(expression const& e, sizes const& at)
{
    if (e.of == operation::constant) return e.number;
    if (e.of == operation::symbol) return static_cast<std::int64_t>(at[static_cast<std::size_t>(e.number)]);
    std::int64_t const a = value_of(e.operands[0], at);
    if (e.of == operation::quotient) {
        std::int64_t down = a / e.number;
        while (down * e.number > a) --down;
        while (down * e.number < a) ++down;
        return down;
    }
    std::int64_t const b = value_of(e.operands[1], at);
    if (e.of == operation::sum) return a + b;
    if (e.of == operation::difference) return a - b;
    if (e.of == operation::product) return a * b;
    return a > b ? a : b;
}

formula formula_of(expression const& e)
{
    if (e.of == operation::constant) return e.number;
    if (e.of == operation::symbol) return symbol(static_cast<std::uint32_t>(e.number));
    formula const a = formula_of(e.operands[0]);
    if (e.of == operation::quotient) return ceil_divide(a, static_cast<byte_count>(e.number));
    formula const b = formula_of(e.operands[1]);
    if (e.of == operation::sum) return a + b;
    if (e.of == operation::difference) return a - b;
    if (e.of == operation::product) return a * b;
    return larger_of(a, b);
}

struct random_expressions {
    random_source& draw;
    std::uint32_t dimensions = 3;
    bool is_polynomial = false; ///< no quotients and maxima
    bool has_minus = true;

    expression leaf()
    {
        if (draw.below(3) != 0) return {operation::symbol, draw.below(dimensions), {}};
        std::int64_t const number = draw.below(13);
        return {operation::constant, has_minus && draw.below(3) == 0 ? -number : number, {}};
    }
    expression tree(unsigned depth)
    {
        if (depth == 0 || draw.below(8) == 0) return leaf();
        static constexpr operation all[] = {operation::sum,        operation::product,  operation::sum,
                                            operation::difference, operation::quotient, operation::largest};
        operation of = all[draw.below(is_polynomial ? 4 : 6)];
        if (of == operation::difference && !has_minus) of = operation::sum;
        expression made{of, 0, {}};
        made.operands.push_back(tree(depth - 1));
        if (of == operation::quotient) made.number = 1 + draw.below(12);
        else made.operands.push_back(tree(depth - 1));
        return made;
    }
    sizes shape(std::uint32_t below)
    {
        sizes made(dimensions);
        for (byte_count& size : made) size = draw.below(below);
        return made;
    }
};

/// Every shape in the ranges.
template <class Visit>
void for_each_shape(std::vector<dimension> const& dims, Visit visit)
{
    sizes at;
    for (dimension const& d : dims) at.push_back(d.least);
    for (;;) {
        visit(at);
        std::size_t i = 0;
        for (; i != dims.size(); ++i) {
            at[i] += dims[i].stride;
            if (at[i] <= dims[i].most) break;
            at[i] = dims[i].least;
        }
        if (i == dims.size()) return;
    }
}

std::vector<dimension> random_dims(random_source& draw, std::uint32_t count, std::uint32_t most_steps)
{
    std::vector<dimension> dims(count);
    for (dimension& d : dims) {
        d.stride = 1 + draw.below(3);
        if (draw.below(3) == 0) d.stride = 8;
        d.least = draw.below(3) == 0 ? d.stride * draw.below(3) : draw.below(10);
        d.most = d.least + d.stride * draw.below(most_steps + 1) +
                 draw.below(static_cast<std::uint32_t>(d.stride));
    }
    return dims;
}

/// Reads what text_of_formula() and formula_c() write.
struct reader {
    char const* at;
    sizes const& shape;
    std::vector<dimension> const& dims;

    void skip() { at += *at == ' '; }
    bool is_next(char c)
    {
        skip();
        if (*at != c) return false;
        ++at;
        skip();
        return true;
    }
    std::int64_t sum()
    {
        std::int64_t total = 0;
        bool is_minus = is_next('-');
        for (;;) {
            std::int64_t const one = product();
            total += is_minus ? -one : one;
            if (is_next('+')) is_minus = false;
            else if (is_next('-')) is_minus = true;
            else return total;
        }
    }
    std::int64_t product()
    {
        std::int64_t total = 1;
        do {
            std::int64_t const base = factor();
            std::int64_t power = 1;
            if (is_next('^')) power = factor();
            for (; power != 0; --power) total *= base;
        } while (is_next('*'));
        return total;
    }
    static std::int64_t up(std::int64_t a, std::int64_t n)
    {
        return a / n + (a % n > 0);
    } // as the header says
    std::int64_t factor()
    {
        if (is_next('(')) {
            std::int64_t const inner = sum();
            REQUIRE(is_next(')'));
            return inner;
        }
        if (*at >= '0' && *at <= '9') {
            std::int64_t n = 0;
            for (; *at >= '0' && *at <= '9'; ++at) n = n * 10 + (*at - '0');
            if (at[0] == 'l' && at[1] == 'l') at += 2;
            return n;
        }
        std::string name;
        while ((*at >= 'a' && *at <= 'z') || *at == '_' || (*at >= '0' && *at <= '9')) name += *at++;
        if (!is_next('(')) {
            for (std::size_t i = 0; i != dims.size(); ++i)
                if (name == (dims[i].name.empty() ? "d" + std::to_string(i) : dims[i].name.c_str()))
                    return static_cast<std::int64_t>(shape[i]);
            FAIL("no such name: ", name);
        }
        std::int64_t total = sum();
        if (name == "ceil") {
            REQUIRE(is_next('/'));
            total = up(total, factor());
        } else {
            REQUIRE((name == "max" || name == "sublet_max" || name == "sublet_ceil_div"));
            while (is_next(',')) {
                std::int64_t const other = sum();
                total = name == "sublet_ceil_div" ? up(total, other) : total > other ? total : other;
            }
        }
        REQUIRE(is_next(')'));
        return total;
    }
};

std::int64_t read_text(std::vector<char> const& text, sizes const& shape, std::vector<dimension> const& dims)
{
    REQUIRE(text.back() == '\0');
    reader r{text.data(), shape, dims};
    std::int64_t const value = r.sum();
    REQUIRE(*r.at == '\0');
    return value;
}

std::string text_of(formula const& f, std::vector<dimension> const& dims = {})
{
    return text_of_formula(f, dims).data();
}
std::string c_of(formula const& f, std::vector<dimension> const& dims = {})
{
    return formula_c(f, dims).data();
}

template <class Call>
std::string refused(Call call)
{
    try {
        call();
    } catch (precondition_error const& e) {
        return e.what();
    }
    return "";
}

formula const x = symbol(0), y = symbol(1), z = symbol(2);

// --- numbers ---------------------------------------------------------------------------------------------

static_assert(std::is_nothrow_move_constructible_v<formula> && sizeof(formula) <= 8 + 3 * sizeof(void*) + 4);
static_assert(std::is_convertible_v<int, formula> && std::is_convertible_v<byte_count, formula>);
static_assert(!std::is_convertible_v<bool, formula> && !std::is_convertible_v<double, formula> &&
              !std::is_convertible_v<char, formula> && !std::is_convertible_v<value_id, formula>);

TEST_CASE("a formula has the value of the expression that it was built from")
{
    random_source draw{std::mt19937{first_seed()}};
    std::vector<dimension> const dims{{"batch"}, {nullptr}, {"h_2"}};
    for (unsigned round = 0; round != rounds(3000); ++round) {
        CAPTURE(round);
        random_expressions random{draw};
        expression const tree = random.tree(4);
        formula const f = formula_of(tree);
        std::vector<char> const text = text_of_formula(f, dims), c = formula_c(f, dims);
        for (int i = 0; i != 8; ++i) {
            sizes const shape = random.shape(i < 4 ? 5 : 13);
            std::int64_t const expected = value_of(tree, shape);
            CHECK(read_text(text, shape, dims) == expected);
            CHECK(read_text(c, shape, dims) == expected);
            if (expected >= 0) CHECK(f.at(shape) == static_cast<byte_count>(expected));
            else
                CHECK(refused([&] { (void)f.at(shape); }) ==
                      "sublet: a formula is negative for a shape: " + std::to_string(expected));
        }
    }
}

TEST_CASE("sums and products are checked at 63 bits, by both ways to multiply")
{
    using limits = std::numeric_limits<std::int64_t>;
    random_source draw{std::mt19937{first_seed()}};
    auto number = [&] {
        auto const wide = static_cast<std::int64_t>(draw.wide() >> 1);
        if (draw.below(8) == 0) return draw.below(2) == 0 ? limits::max() : -limits::max();
        return draw.below(2) == 0 ? wide : -wide;
    };
    for (unsigned round = 0; round != rounds(20000); ++round) {
        std::int64_t const a = number();
        std::int64_t const b = number();
        long double const sum = static_cast<long double>(a) + static_cast<long double>(b),
                          product = static_cast<long double>(a) * static_cast<long double>(b);
        long double const most = 9223372036854775808.0L;
        std::int64_t made = 1, portable = 2;
        CHECK(detail::add_signed(a, b, made) == (sum < most && sum > -most));
        bool const fits = detail::multiply_signed(a, b, made);
        CHECK(fits == (product < most && product > -most));
        CHECK(detail::multiply_portably(a, b, portable) == fits);
        if (fits) CHECK(made == portable);
        if (fits)
            CHECK(static_cast<std::uint64_t>(made) ==
                  static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    }
    std::int64_t made = 0;
    CHECK_FALSE(detail::multiply_signed(std::int64_t{1} << 62, -2, made)); // -2^63
    CHECK_FALSE(detail::multiply_portably(std::int64_t{1} << 62, -2, made));
    CHECK_FALSE(detail::add_signed(-limits::max(), -1, made));
}

TEST_CASE("a shape that a formula has no number for is refused by a sentence")
{
    CHECK((x * y).at({3, 4}) == 12);
    CHECK((x * y).at(sizes{3, 4, 9}) == 12);
    CHECK(formula(7).at({}) == 7);
    CHECK(formula().at({}) == 0);
    CHECK(formula::unknown().at({1}) == no_size);
    CHECK(refused([] { (void)(x * z).at({1, 2}); }) ==
          "sublet: a formula has dimension 2, but the shape has 2 dimensions");
    CHECK(refused([] { (void)ceil_divide(z, 2).at({1, 2}); }) ==
          "sublet: a formula has dimension 2, but the shape has 2 dimensions");
    CHECK(refused([] { (void)larger_of(x, z).at({1, 2}); }) ==
          "sublet: a formula has dimension 2, but the shape has 2 dimensions");
    CHECK(refused([] { (void)x.at({byte_count{1} << 63}); }) ==
          "sublet: dimension 0 of a shape is 9223372036854775808: it reaches 2^63");
    CHECK(refused([] { (void)(x * y).at({no_size - 2, no_size - 4}); }) ==
          "sublet: dimension 0 of a shape is 18446744073709551613: it reaches 2^63");
    CHECK(x.at({(byte_count{1} << 63) - 1}) == (byte_count{1} << 63) - 1);
    byte_count const big = byte_count{1} << 31;
    CHECK((x * y).at({big, big}) == big * big);
    CHECK(refused([&] { (void)(2 * x * y).at({big, big}); }) ==
          "sublet: a formula or a part of it reaches 2^63 for a shape");
    CHECK(refused([&] { (void)(x * y + x * x).at({big, big}); }) ==
          "sublet: a formula or a part of it reaches 2^63 for a shape");
    CHECK(refused([] { (void)(x - 5).at({4}); }) == "sublet: a formula is negative for a shape: -1");
    CHECK(refused([] { (void)formula(-2).at({}); }) == "sublet: a formula is negative for a shape: -2");
    CHECK((x - 5).at({5}) == 0);
}

TEST_CASE("what is negative is rounded up, too")
{
    formula const f = 10 + ceil_divide(x - y, 4);
    for (auto const& row : std::vector<std::array<byte_count, 2>>{
             {0, 8}, {1, 8}, {3, 9}, {4, 9}, {5, 9}, {6, 9}, {7, 10}, {8, 10}, {9, 10}, {10, 10}, {11, 11}}) {
        CAPTURE(row[0]);
        CHECK(f.at({row[0], 10}) == row[1]); // (a - 10) / 4: -2.5, -2.25, -1.75 ...
    }
    CHECK(ceil_divide(-5, 4) == -1);
    CHECK(ceil_divide(-4, 4) == -1);
    CHECK(ceil_divide(-3, 4) == 0);
    CHECK(ceil_divide(5, 4) == 2);
    CHECK(ceil_divide(4, 4) == 1);
}

#if !defined(HEAP_IS_NOT_COUNTED)
TEST_CASE("a constant allocates nothing, nor does a number for a shape")
{
    formula const mask = x * ceil_divide(y * y, 8) + larger_of(x, y);
    sizes const shape{3, 20};
    std::size_t const before = heap_allocations;
    formula constant = 12;
    formula const copy = constant;
    constant += copy * 2;
    byte_count const number = mask.at(shape), sum = constant.at(shape);
    bool const is_below = never_above(copy, constant, {});
    std::size_t const after = heap_allocations;
    CHECK(after == before);
    CHECK(number == 3 * 50 + 20);
    CHECK(sum == 36);
    CHECK(is_below);
}
#endif

// --- one form --------------------------------------------------------------------------------------------

TEST_CASE("equal polynomials are equal formulas")
{
    CHECK((x + y) * (x - y) == x * x - y * y);
    CHECK((x + 1) * (x + 1) == x * x + 2 * x + 1);
    CHECK(x - x == 0);
    CHECK(0 * x == formula());
    CHECK((x - x).is_constant());
    CHECK(x + y == y + x);
    CHECK_FALSE(x == y);
    CHECK_FALSE(x == x + 1);
    CHECK_FALSE(x == x * x);
    formula f = x;
    f += y;
    f *= f;
    f -= y * y;
    CHECK(f == x * x + 2 * x * y);
    random_source draw{std::mt19937{first_seed()}};
    for (unsigned round = 0; round != rounds(1000); ++round) {
        CAPTURE(round);
        random_expressions random{draw};
        formula const a = formula_of(random.tree(2)), b = formula_of(random.tree(2)),
                      c = formula_of(random.tree(2));
        byte_count const m = 1 + draw.below(12);
        byte_count const n = 1 + draw.below(12);
        CHECK(a + b == b + a);
        CHECK(a * b == b * a);
        CHECK((a + b) + c == a + (b + c));
        CHECK((a * b) * c == a * (b * c));
        CHECK(a * (b - c) == a * b - a * c);
        CHECK(a - a == 0);
        CHECK(larger_of(a, b) == larger_of(b, a));
        CHECK(larger_of(a, a) == a);
        CHECK(larger_of(a, a + 3) == a + 3);
        CHECK(larger_of(a + 3, a) == a + 3);
        CHECK(larger_of(larger_of(a, b), c) == larger_of(a, larger_of(b, c)));
        CHECK(larger_of(larger_of(a, b), b) == larger_of(a, b));
        CHECK(ceil_divide(a, 1) == a);
        CHECK(ceil_divide(n * a, n) == a);
        CHECK(ceil_divide(n * a + b, n) == a + ceil_divide(b, n));
        CHECK(ceil_divide(m * a, m * n) == ceil_divide(a, n));
        formula const one =
            formula_of(random.tree(1)); // of two quotients in a sum the first is multiplied out
        CHECK(ceil_divide(ceil_divide(one, m), n) == ceil_divide(one, m * n));
        CHECK(round_up(a, n) == n * ceil_divide(a, n));
        CHECK(round_up(round_up(a, n), n) == round_up(a, n));
        formula const own = a;
        CHECK(own == a);
    }
}

TEST_CASE("polynomials are equal if their values are, and only then")
{
    random_source draw{std::mt19937{first_seed()}};
    unsigned equal = 0;
    for (unsigned round = 0; round != rounds(2000); ++round) {
        CAPTURE(round);
        random_expressions random{draw, 2, true};
        expression const a = random.tree(2), b = random.tree(2);
        bool is_same = true; // of degree 4 at most in each: 5 sizes decide
        for_each_shape({{nullptr, 0, 4}, {nullptr, 0, 4}}, [&](sizes const& shape) {
            is_same = is_same && value_of(a, shape) == value_of(b, shape);
        });
        CHECK((formula_of(a) == formula_of(b)) == is_same);
        equal += is_same;
    }
    if (rounds(2000) >= 2000) CHECK(equal > 5);
}

TEST_CASE("quotients and maxima are simplified")
{
    CHECK(ceil_divide(32 * x + 64, 32) == x + 2);
    CHECK(ceil_divide(32 * x + 65, 32) == x + 3);
    CHECK(ceil_divide(33 * x, 32) == x + ceil_divide(x, 32));
    CHECK(ceil_divide(6 * x + 1, 8) == ceil_divide(3 * x + 1, 4));
    CHECK(ceil_divide(6 * x + 7, 8) == 1 + ceil_divide(3 * x, 4)); // (3 x + 3.5) / 4
    CHECK(ceil_divide(ceil_divide(x, 3) + y, 4) == ceil_divide(x + 3 * y, 12));
    CHECK(ceil_divide(7 * x, 8) == x + ceil_divide(-1 * x, 8));
    CHECK(round_up(x, 8) == 8 * ceil_divide(x, 8));
    CHECK(round_up(8 * x, 8) == 8 * x);
    CHECK(round_up(13, 8) == 16);
    CHECK(larger_of(3, 5) == 5);
    CHECK(larger_of(x, larger_of(y, x + 1)) == larger_of(y, x + 1));
    CHECK(larger_of(x, y) - larger_of(y, x) == 0);
    CHECK_FALSE(larger_of(x, y) == larger_of(x, z));
    CHECK_FALSE(2 * larger_of(x, y) == larger_of(x, larger_of(x, y)));
    CHECK(larger_of(larger_of(x, y) + 1, y) == larger_of(x, y) + 1);
    CHECK(larger_of(x + 3, y + 5) == 3 + larger_of(x, y + 2));
    CHECK_FALSE(ceil_divide(x, 8) == ceil_divide(x, 16));
}

TEST_CASE("a size is unknown, or known by the shape only")
{
    formula const unknown = formula::unknown(), by_shape = formula::by_shape();
    CHECK_FALSE(unknown.is_known());
    CHECK_FALSE(unknown.is_constant());
    CHECK_FALSE(unknown.is_by_shape());
    CHECK(by_shape.is_known());
    CHECK(by_shape.is_by_shape());
    CHECK_FALSE(by_shape.is_constant());
    CHECK_FALSE(x.is_by_shape());
    CHECK_FALSE(formula().is_by_shape());
    CHECK(formula(5).is_constant());
    CHECK_FALSE(x.is_constant());
    CHECK(unknown == formula::unknown());
    CHECK(by_shape == formula::by_shape());
    CHECK_FALSE(unknown == by_shape);
    CHECK_FALSE(unknown == 0);
    CHECK_FALSE(by_shape == 0);
    std::vector<dimension> const dims{{"n", 1, 8}};
    for (formula const& none : {unknown, by_shape}) {
        std::string const why = none.is_by_shape()
                                    ? "sublet: a formula has an operand that is known by its shape only"
                                    : "sublet: a formula has an operand that is unknown";
        CHECK(refused([&] { (void)(none + x); }) == why);
        CHECK(refused([&] { (void)(x - none); }) == why);
        CHECK(refused([&] { (void)(x * none); }) == why);
        CHECK(refused([&] { (void)(0 * none); }) == why);
        CHECK(refused([&] { (void)ceil_divide(none, 1); }) == why);
        CHECK(refused([&] { (void)round_up(none, 4); }) == why);
        CHECK(refused([&] { (void)larger_of(none, none); }) == why);
        CHECK(refused([&] { (void)larger_of(x, none); }) == why);
        CHECK(refused([&] { (void)formula_c(none, dims); }) == why);
    }
    CHECK(refused([&] { (void)by_shape.at({1}); }) ==
          "sublet: a formula has an operand that is known by its shape only");
    CHECK_FALSE(never_above(by_shape, by_shape, dims));
    CHECK_FALSE(never_above(0, by_shape, dims));
    CHECK_FALSE(never_above(by_shape, x, dims));
    CHECK_FALSE(is_multiple_of(by_shape, 1, dims));
    CHECK_FALSE(is_rising_in(by_shape, 0, dims));
    for (auto const& pair :
         std::vector<std::array<formula, 2>>{{unknown, x}, {x, unknown}, {unknown, by_shape}})
        CHECK(refused([&] { (void)never_above(pair[0], pair[1], dims); }) ==
              "sublet: a formula that is unknown is compared");
}

TEST_CASE("what exceeds a limit is refused by a sentence")
{
    byte_count const most = (byte_count{1} << 63) - 1;
    CHECK(formula(most).at({}) == most);
    CHECK(refused([&] { (void)formula(most + 1); }) ==
          "sublet: the constant 9223372036854775808 of a formula is 2^63 or more");
    CHECK(refused([] { (void)formula(std::numeric_limits<std::int64_t>::min()); }) ==
          "sublet: the constant -9223372036854775808 of a formula is -2^63 or less");
    std::string const reaches = "sublet: a coefficient of a formula reaches 2^63";
    CHECK(refused([&] { (void)(most * x + x); }) == reaches);
    CHECK(refused([&] { (void)(formula(most) + 1); }) == reaches);
    CHECK(refused([&] { (void)(0 - formula(most) - 1); }) == reaches);
    CHECK(refused([&] { (void)(most * x * 2); }) == reaches);
    CHECK(refused([&] { (void)((x + most) * (y + 2)); }) == reaches);
    CHECK(refused([&] { (void)((most * x + y) * (x - y)); }) == "");
    CHECK(refused([&] { (void)((most * x + y) * (x + most * y)); }) == reaches);
    CHECK(refused([] { (void)ceil_divide(x, 0); }) == "sublet: a formula is divided by 0");
    CHECK(refused([] { (void)round_up(x, 0); }) == "sublet: a formula is rounded up to a multiple of 0");
    CHECK(refused([&] { (void)ceil_divide(x, most + 1); }) ==
          "sublet: a formula is divided by 9223372036854775808: it reaches 2^63");
    CHECK(ceil_divide(x, most).at({5}) == 1);

    formula sum, nested = 0;
    for (std::uint32_t d = 0; d != 4096; ++d) sum += symbol(d);
    CHECK(sum.at(sizes(4096, 2)) == 8192);
    CHECK(sum + 1 == 1 + sum);
    std::string const terms = "sublet: a formula has more than 4096 terms";
    CHECK(refused([&] { (void)(sum + symbol(4096)); }) == terms);
    CHECK(refused([&] { (void)ceil_divide(sum + 1, 2); }) == terms); // one more with those inside
    CHECK(refused([&] { (void)larger_of(sum, x); }) == terms);
    CHECK(refused([&] { (void)(sum * sum); }) == terms);
    CHECK(refused([&] { (void)((sum - symbol(7)) * (1 + symbol(5000))); }) == terms);

    formula power = 1;
    for (int i = 0; i != 64; ++i) power *= x;
    CHECK(power.at({1}) == 1);
    CHECK(refused([&] { (void)(power * y); }) == "sublet: a term of a formula has more than 64 factors");

    for (int i = 0; i != 64; ++i) {
        byte_count const by = byte_count{1} << 62; // too large to be multiplied out
        nested = i % 2 == 0 ? ceil_divide(nested + x * y, by) : larger_of(nested + 1, x);
    }
    CHECK(nested.at({6, 1}) == 6);
    std::string const depth = "sublet: quotients and maxima of a formula are nested more than 64 deep";
    CHECK(refused([&] { (void)ceil_divide(nested + y, 2); }) == depth);
    CHECK(refused([&] { (void)larger_of(2 * nested, y); }) == depth);
    CHECK(larger_of(nested, nested) == nested);
    CHECK(larger_of(nested, y).at({6, 9}) == 9); // flat
    std::vector<dimension> const dims{{"n", 1, 8}, {"m", 1, 8}};
    CHECK(never_above(nested, nested + x, dims));
}

// --- proofs ----------------------------------------------------------------------------------------------

TEST_CASE("a proof on a small grid is right, and found where there is one")
{
    random_source draw{std::mt19937{first_seed()}};
    unsigned holding = 0, zero = 0, multiple = 0;
    for (unsigned round = 0; round != rounds(1500); ++round) {
        CAPTURE(round);
        std::vector<dimension> const dims = random_dims(draw, 3, 5);
        random_expressions random{draw, 3, draw.below(3) == 0, draw.below(2) == 0};
        expression const a = random.tree(3), b = random.tree(2);
        formula const fa = formula_of(a), fb = formula_of(b);
        bool is_below = true, is_equal = true, is_multiple = true;
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        std::int64_t const n = 1 + draw.below(9);
        for_each_shape(dims, [&](sizes const& shape) {
            std::int64_t const va = value_of(a, shape), vb = value_of(b, shape);
            is_below = is_below && va <= vb;
            is_equal = is_equal && va == vb;
            is_multiple = is_multiple && va % n == 0;
            least = std::min(least, vb - va);
        });
        CHECK(never_above(fa, fb, dims) == is_below);
        CHECK(never_above(fa + least, fb, dims));
        CHECK_FALSE(never_above(fa + least + 1, fb, dims));
        CHECK((never_above(fa, fb, dims) && never_above(fb, fa, dims)) == is_equal);
        CHECK(is_multiple_of(fa, static_cast<byte_count>(n), dims) == is_multiple);
        for (std::uint32_t d = 0; d != 3; ++d) {
            bool is_rising = true;
            for_each_shape(dims, [&](sizes const& shape) {
                sizes next = shape;
                next[d] += dims[d].stride;
                if (next[d] <= dims[d].most) is_rising = is_rising && value_of(a, next) >= value_of(a, shape);
            });
            CHECK(is_rising_in(fa, d, dims) == is_rising);
        }
        holding += is_below;
        zero += is_equal;
        multiple += is_multiple && n != 1;
    }
    if (rounds(1500) >= 1500) CHECK((holding > 100 && zero > 0 && multiple > 20));
}

TEST_CASE("a proof on a large grid is right, and mostly found")
{
    random_source draw{std::mt19937{first_seed()}};
    unsigned others = 0, others_proved = 0, plain = 0, plain_proved = 0;
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::vector<dimension> dims = random_dims(draw, 2, 5);
        for (dimension& d : dims)
            d.most = d.least + d.stride * (65 + draw.below(10)); // more than 4096 shapes
        bool const is_polynomial = draw.below(2) == 0;
        random_expressions random{draw, 2, is_polynomial};
        expression const a = random.tree(3), b = random.tree(2);
        formula const fa = formula_of(a), fb = formula_of(b);
        std::int64_t least = std::numeric_limits<std::int64_t>::max();
        bool is_rising = true, is_multiple = true;
        std::int64_t const n = 1 + draw.below(9);
        for_each_shape(dims, [&](sizes const& shape) {
            std::int64_t const value = value_of(a, shape);
            least = std::min(least, value_of(b, shape) - value);
            is_multiple = is_multiple && value % n == 0;
            sizes next = shape;
            next[0] += dims[0].stride;
            if (next[0] <= dims[0].most) is_rising = is_rising && value_of(a, next) >= value;
        });
        // At the least difference, so that one byte less is wrong.
        bool const is_proved = never_above(fa + least, fb, dims);
        CAPTURE(text_of(fb - fa));
        CHECK_FALSE(never_above(fa + least + 1, fb, dims));
        if (is_rising_in(fa, 0, dims)) CHECK(is_rising);
        if (is_multiple_of(fa, static_cast<byte_count>(n), dims)) CHECK(is_multiple);
        else if (is_polynomial) CHECK_FALSE(is_multiple);
        ++(is_polynomial ? plain : others);
        (is_polynomial ? plain_proved : others_proved) += is_proved;
    }
    MESSAGE(plain_proved, " of ", plain, " polynomials, ", others_proved, " of ", others, " others");
    if (rounds(300) >= 300) {
        CHECK(plain_proved * 10 > plain * 9);
        CHECK(others_proved * 10 > others * 9);
    }
}

/// Shapes at both ends of each range and between them.
bool holds_for_some(formula const& a, formula const& b, std::vector<dimension> const& dims,
                    random_source& draw)
{
    for (int i = 0; i != 200; ++i) {
        sizes shape;
        for (dimension const& d : dims) {
            auto const steps = static_cast<std::uint32_t>((d.most - d.least) / d.stride);
            std::uint32_t const where = draw.below(4);
            std::uint32_t const step = where == 0   ? 0
                                       : where == 1 ? steps
                                       : where == 2 ? draw.below(steps < 4 ? steps + 1 : 4)
                                                    : draw.below(steps + 1);
            shape.push_back(d.least + d.stride * step);
        }
        std::int64_t value_a = 0, value_b = 0;
        if (!detail::evaluate(detail::formula_parts::of(a), shape, value_a) ||
            !detail::evaluate(detail::formula_parts::of(b), shape, value_b))
            return true;
        if (value_a > value_b) return false;
    }
    return true;
}

TEST_CASE("no proof is found where a shape contradicts, in ranges of thousands of sizes")
{
    random_source draw{std::mt19937{first_seed()}};
    unsigned proved = 0;
    for (unsigned round = 0; round != rounds(500); ++round) {
        CAPTURE(round);
        std::vector<dimension> dims = random_dims(draw, 1 + draw.below(4), 5000);
        random_expressions random{draw, static_cast<std::uint32_t>(dims.size())};
        formula const a = formula_of(random.tree(3)), b = formula_of(random.tree(4));
        bool const is_proved = never_above(a, b, dims);
        if (is_proved) CHECK(holds_for_some(a, b, dims, draw));
        CAPTURE(text_of(a));
        CHECK(never_above(larger_of(a, 0), larger_of(a, x * x), dims));
        proved += is_proved;
    }
    if (rounds(500) >= 500) CHECK(proved > 20);
}

TEST_CASE("polynomials without a minus are compared by their coefficients")
{
    random_source draw{std::mt19937{first_seed()}};
    for (unsigned round = 0; round != rounds(300); ++round) {
        CAPTURE(round);
        std::vector<dimension> dims = random_dims(draw, 3, 5);
        for (dimension& d : dims) d.most = no_limit - 2; // no size is above
        random_expressions random{draw, 3, false, false};
        formula const a = formula_of(random.tree(3)), more = formula_of(random.tree(3));
        CHECK(never_above(a, a + more, dims));
        CHECK(never_above(a, a, dims));
        CHECK(never_above(a, 12 * a, dims));
        CHECK_FALSE(never_above(a + more + 1, a, dims));
        CAPTURE(text_of(a));
        CHECK(never_above(ceil_divide(a, 8), a, dims));
        CHECK(never_above(a, round_up(a, 64), dims));
        CHECK(never_above(round_up(a, 64), a + 63, dims));
        CHECK_FALSE(never_above(round_up(a + 1, 64), a, dims));
    }
}

TEST_CASE("each rule proves what no other does")
{
    std::vector<dimension> const dims{{"n", 1, 100000}, {"h", 64, 1 << 20, 32}, {"w", 3, 100002}};
    std::vector<dimension> const open{{"n", 1, no_limit}, {"h", 64, no_limit - 63, 32}};
    formula const n = x, h = y, w = z;
    // From the first size: (n - 1) (n + 1) is k^2 + 2 k.
    CHECK(never_above(1, n * n, dims));
    CHECK(never_above(1, n * n, open));
    CHECK(never_above(64 * n, h * n, open));
    CHECK_FALSE(never_above(65 * n, h * n, open));
    // From the last: (100000 - n) is k.
    CHECK(never_above(n, 100000, dims));
    CHECK(never_above(n * n, 100000 * n, dims));
    CHECK_FALSE(never_above(n, 99999, dims));
    CHECK_FALSE(never_above(n, 100000, open));
    CHECK_FALSE(never_above(n, std::numeric_limits<std::int64_t>::max(), open)); // it may be larger
    // From the first of one and the last of the other.
    CHECK(never_above(n * (h - 64), 100000 * (h - 64), dims));
    // Positive terms outweigh negative ones: k^2 - k with k of integers.
    CHECK(never_above(3 * n, 2 + n * n, dims)); // (n - 1) (n - 2), 0 at 1 and 2
    CHECK(never_above(3 * n, 2 + n * n, open));
    CHECK_FALSE(never_above(3 * n, 1 + n * n, dims));
    // In halves: 0 at n = 50000 and 50001 only.
    CHECK(never_above(100001 * n, formula(50000) * 50001 + n * n, dims));
    CHECK_FALSE(never_above(100001 * n, formula(50000) * 50001 - 1 + n * n, dims));
    // Quotients are exact with strides, between bounds without.
    CHECK(never_above(round_up(h, 32), h, open));
    CHECK_FALSE(never_above(round_up(h, 64), h, open));
    CHECK(never_above(round_up(h, 64), h + 32, open));
    CHECK_FALSE(never_above(round_up(h, 64), h + 31, open));
    CHECK(never_above(n * ceil_divide(w * w, 8), 12 * n * w * w, dims));
    CHECK(never_above(ceil_divide(n, 7) + ceil_divide(w, 7), ceil_divide(n + w, 7) + 1, dims));
    CHECK(never_above(ceil_divide(n + w, 7), ceil_divide(n, 7) + ceil_divide(w, 7), dims));
    // Of a maximum on the right one operand suffices, on the left all are needed.
    CHECK(never_above(n, larger_of(h, n * n), dims));
    CHECK(never_above(2 * n + 64, larger_of(h, n) + larger_of(n, w) + larger_of(n, 5), dims));
    CHECK(never_above(larger_of(h, n * n), h + n * n, dims));
    CHECK(never_above(larger_of(n * h, n * w), n * larger_of(h, w), dims));
    CHECK(never_above(n * larger_of(h, w), larger_of(n * h, n * w), dims));
    CHECK_FALSE(never_above(larger_of(h, n * n), h, dims));
    CHECK_FALSE(never_above(n * n, larger_of(h, w), dims));
    CHECK(never_above(larger_of(h, w) * larger_of(h, w), h * h + w * w, dims));
    // Inside of a quotient there may be a minus.
    CHECK_FALSE(never_above(0, ceil_divide(larger_of(0 - h, 0 - n), 7), dims));
    CHECK(never_above(0, ceil_divide(larger_of(0 - h, n), 7), open));
    // Constants.
    CHECK(never_above(3, 3, {}));
    CHECK_FALSE(never_above(4, 3, {}));
    // What is too large is not proved.
    byte_count const big = byte_count{1} << 62;
    CHECK_FALSE(never_above(0 - big * n, big * n, dims)); // it holds
}

TEST_CASE("a dimension without a range is refused by a sentence")
{
    std::vector<dimension> const one{{"n", 1, 8}}, no_stride{{"n", 1, 8, 0}}, reversed{{"n", 9, 8}},
        unnamed{{nullptr, 9, 8}};
    CHECK(refused([&] { (void)never_above(x, y, one); }) ==
          "sublet: a formula has dimension 1, but there are 1 dimensions");
    CHECK(refused([&] { (void)never_above(y, y, one); }) ==
          "sublet: a formula has dimension 1, but there are 1 dimensions");
    CHECK(refused([&] { (void)never_above(x, 9, no_stride); }) ==
          "sublet: dimension 0 (n) has a stride of 0");
    CHECK(refused([&] { (void)never_above(9, ceil_divide(x, 8), reversed); }) ==
          "sublet: dimension 0 (n) is at least 9 and at most 8");
    CHECK(refused([&] { (void)never_above(larger_of(x, 3), 9, unnamed); }) ==
          "sublet: dimension 0 (no name) is at least 9 and at most 8");
    CHECK(refused([&] { (void)is_multiple_of(x, 8, reversed); }) != "");
    CHECK(refused([&] { (void)is_multiple_of(x, 0, one); }) == "sublet: a formula is divided by 0");
    CHECK(refused([&] { (void)is_rising_in(x, 0, reversed); }) != "");
    CHECK(never_above(3, 4, reversed)); // it does not occur
}

TEST_CASE("multiples and rising formulas are found beyond the shapes that are tried")
{
    std::vector<dimension> const dims{
        {"n", 1, no_limit - 2}, {"h", 64, byte_count{1} << 30, 32}, {"b", 7, 7}, {"odd", 1, 1000001, 2}};
    formula const n = x, h = y, b = z, odd = symbol(3);
    CHECK(is_multiple_of(h, 32, dims));
    CHECK_FALSE(is_multiple_of(h, 64, dims));
    CHECK(is_multiple_of(n * h * h, 1024, dims));
    CHECK(is_multiple_of(n * (n + 1), 2, dims));
    CHECK(is_multiple_of(n * (n + 1) * (n + 2), 6, dims));
    CHECK_FALSE(is_multiple_of(n * n + 1, 3, dims));
    CHECK_FALSE(is_multiple_of(n * n + 2, 3, dims));
    CHECK(is_multiple_of(odd * odd - 1, 8, dims));
    CHECK_FALSE(is_multiple_of(odd * odd - 1, 16, dims));
    CHECK(is_multiple_of(round_up(n, 64) + b + 57, 64, dims));
    CHECK(is_multiple_of(8 * larger_of(n, h), 8, dims));

    CHECK(is_rising_in(12 * n * h * h, 1, dims));
    CHECK(is_rising_in(12 * n * h * h, 2, dims)); // it does not occur
    CHECK(is_rising_in(n * ceil_divide(h * h, 8) + larger_of(n, round_up(h, 256)), 1, dims));
    CHECK(is_rising_in(n * n - n, 0, dims));
    CHECK_FALSE(is_rising_in(h - n, 0, dims));
    CHECK(is_rising_in(h - n, 1, dims));
    CHECK_FALSE(is_rising_in(n * (100 - h), 0, dims));
    CHECK_FALSE(is_rising_in(n * ceil_divide(0 - h, 7), 0, dims));
    CHECK_FALSE(is_rising_in(n * larger_of(0 - h, 0 - odd), 0, dims));
    CHECK(is_rising_in(ceil_divide(odd - h, 8), 3, dims));
    CHECK_FALSE(is_rising_in(round_up(n, 8) - n, 0, dims));
    CHECK(is_rising_in(0 - b, 2, dims)); // it has one size

    auto are_equal = [&dims](formula const& one, formula const& other) {
        return never_above(one, other, dims) && never_above(other, one, dims);
    };
    CHECK(are_equal(round_up(h, 32), h));
    CHECK_FALSE(are_equal(round_up(h, 64), h));
    CHECK(are_equal(larger_of(h, b), h));
    CHECK_FALSE(are_equal(n, h));
}

// --- text ------------------------------------------------------------------------------------------------

TEST_CASE("a dimension keeps a copy of its name")
{
    std::vector<dimension> dims;
    for (int i = 0; i != 2; ++i) {
        std::string const name = "a name that is longer than a small string " + std::to_string(i);
        dims.push_back({name.c_str(), 1, 8});
        dims.push_back({name, 1, 8});
        dims.push_back({std::string_view(name).substr(2, 4), 1, 8});
    }
    CHECK(text_of(x + symbol(4), dims) ==
          "a name that is longer than a small string 0 + a name that is longer "
          "than a small string 1");
    CHECK(text_of(symbol(2), dims) == "name");
    CHECK(dims[0].name == dims[1].name);
    CHECK(dims[0].name != dims[3].name);
    CHECK(dimension{std::string()}.name.empty());
    CHECK(dimension{std::string_view("ab\0c", 4)}.name == dimension{"ab"}.name);
}

TEST_CASE("formulas are written with the names of dimensions")
{
    std::vector<dimension> const dims{{"batch"}, {"height"}, {nullptr}, {""}};
    CHECK(text_of(12 * x * y * y + 40, dims) == "40 + 12*batch*height^2");
    CHECK(text_of(x - 3 * y - 1, dims) == "-1 + batch - 3*height");
    CHECK(text_of(0 - x, dims) == "-batch");
    CHECK(text_of(0, dims) == "0");
    CHECK(text_of(-7, dims) == "-7");
    CHECK(text_of(z * symbol(3) * symbol(9), dims) == "d2*d3*d9");
    CHECK(text_of(8 * ceil_divide(y * y, 8), dims) == "8*ceil(height^2/8)");
    CHECK(text_of(ceil_divide(x + 2 * y, 8), dims) == "ceil((batch + 2*height)/8)");
    CHECK(text_of(ceil_divide(x + 1, 8), dims) == "ceil((1 + batch)/8)");
    CHECK(text_of(x * larger_of(64, larger_of(x * y, z)), dims) == "batch*max(64, d2, batch*height)");
    CHECK(text_of(larger_of(x, y) * larger_of(y, x), dims) == "max(batch, height)^2");
    CHECK(text_of(formula::unknown(), dims) == "?");
    CHECK(text_of(formula::by_shape(), dims) == "by shape");
    CHECK(text_of(100 * x + 48) == "48 + 100*d0");
}

TEST_CASE("formulas are written as expressions of C")
{
    std::vector<dimension> const dims{{"batch"}, {"height"}, {nullptr}};
    CHECK(c_of(12 * x * y * y + 40, dims) == "40ll + 12ll*batch*height*height");
    CHECK(c_of(x - 3 * y - 1, dims) == "-1ll + batch - 3ll*height");
    CHECK(c_of(8 * ceil_divide(y * y + 3, 8), dims) == "8ll*sublet_ceil_div(3ll + height*height, 8ll)");
    CHECK(c_of(larger_of(64, larger_of(x, larger_of(y, z))), dims) ==
          "sublet_max(64ll, sublet_max(batch, sublet_max(height, d2)))");
    CHECK(c_of(larger_of(x, y), dims) == "sublet_max(batch, height)");
    CHECK(c_of(0, dims) == "0ll");
    std::vector<dimension> const odd{{"batch size"}, {"int"},  {"d0"}, {"n"},          {"n"}, {"2n"},
                                     {"_n"},         {"ok_2"}, {""},   {"sublet_max"}, {"d"}, {"dim"}};
    formula all;
    for (std::uint32_t d = 0; d != 12; ++d) all += symbol(d);
    CHECK(c_of(all, odd) == "d0 + d1 + d2 + d3 + d4 + d5 + d6 + ok_2 + d8 + d9 + d + dim");
}

// --- as a property of values -----------------------------------------------------------------------------

TEST_CASE("sizes of values are a formula, a table of formulas, or a callable")
{
    per_value<formula> const constant = 64, symbolic = 2 * x, table = std::vector<formula>{x, 7, x * y},
                             numbers = std::vector{1, 2, 3}, callable = [](value_id v) { return +v * x; },
                             plain = [](value_id v) { return +v + 1; };
    CHECK(constant[2] == 64);
    CHECK(symbolic[1] == 2 * x);
    CHECK(table[2] == x * y);
    CHECK(numbers[2] == 3);
    CHECK(callable[2] == 2 * x);
    CHECK(plain[2] == 3);
    CHECK(table.tabulate(3)[value_id(1)] == 7);
    CHECK(callable.tabulate(3)[value_id(2)] == 2 * x);
    CHECK(symbolic.tabulate(3)[value_id(2)] == 2 * x);
    CHECK_FALSE(detail::is_value_property<bool, formula, value_id>);
    CHECK_FALSE(detail::is_value_property<double, formula, value_id>);
    CHECK_FALSE(detail::is_value_property<char, formula, value_id>);
    CHECK_FALSE(detail::is_value_property<int*, formula, value_id>);
    CHECK_FALSE(detail::is_value_property<std::vector<double>, formula, value_id>);
    CHECK_FALSE(detail::is_value_property<std::vector<bool>, formula, value_id>);
    CHECK(detail::is_value_property<std::uint64_t, formula, value_id>);
    CHECK(detail::is_value_property<std::vector<std::uint64_t>, formula, value_id>);
}

} // namespace this_test
