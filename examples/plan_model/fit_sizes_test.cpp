// SPDX-License-Identifier: BSL-1.0

// Numbers with a known formula, sampled as a file would be: what is found is held against the formula at
// other shapes.

#include "fit_sizes.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <vector>

namespace {

using namespace plan_model;
using number_of = std::function<std::int64_t(sublet::shape const&)>;

struct fitted_numbers {
    std::vector<std::optional<sublet::formula>> of;
    std::size_t reads = 0;
};

fitted_numbers fit_all(std::vector<dimension_range> const& ranges, std::vector<number_of> const& numbers)
{
    size_samples samples{ranges};
    auto read = [&](grid_point const& at) {
        std::vector<std::int64_t> all;
        for (auto const& number : numbers) all.push_back(number(shape_at(ranges, at)));
        samples.add(at, all);
    };
    std::vector<grid_point> wanted = first_points(ranges);
    fitted_sizes found;
    while (!wanted.empty()) {
        for (grid_point const& at : wanted) read(at);
        REQUIRE(samples.points.size() < 400);
        found = fit_sizes(samples, std::vector<bool>(samples.numbers.size(), true));
        wanted = found.wanted;
    }
    fitted_numbers result;
    for (std::size_t n = 0; n != numbers.size(); ++n) {
        auto const& size = found.of[samples.class_of[n]];
        result.of.push_back(size ? std::optional(size->as_formula()) : std::nullopt);
    }
    result.reads = samples.points.size();
    return result;
}

sublet::shape draw_shape(std::mt19937& pick, std::vector<dimension_range> const& ranges)
{
    grid_point at;
    for (dimension_range const& r : ranges)
        at.push_back(static_cast<std::int64_t>(pick() % static_cast<unsigned>(r.steps() + 1)));
    return shape_at(ranges, at);
}

void check_found(fitted_numbers const& found, std::vector<dimension_range> const& ranges,
                 std::vector<number_of> const& numbers, unsigned seed)
{
    std::mt19937 pick(seed);
    for (std::size_t n = 0; n != numbers.size(); ++n) {
        CAPTURE(n);
        REQUIRE(found.of[n]);
        for (int shapes = 0; shapes != 50; ++shapes) {
            sublet::shape const shape = draw_shape(pick, ranges);
            CHECK(found.of[n]->at(shape) == static_cast<sublet::byte_count>(numbers[n](shape)));
        }
    }
}

std::int64_t size(sublet::shape const& shape, std::size_t i) { return static_cast<std::int64_t>(shape[i]); }

TEST_CASE("polynomials of up to three dimensions are found from few samples")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick(seed);
        std::vector<dimension_range> ranges;
        for (unsigned d = 0; d <= seed % 3; ++d) {
            std::int64_t const least = 1 + pick() % 16, stride = 1 + pick() % 4;
            ranges.push_back({std::string(1, static_cast<char>('a' + d)), least,
                              least + stride * static_cast<std::int64_t>(1 + pick() % 20), stride});
        }
        std::vector<number_of> numbers;
        for (int n = 0; n != 5; ++n) {
            std::vector<int> degree;
            for (std::size_t i = 0; i != ranges.size(); ++i)
                degree.push_back(static_cast<int>(pick() % (i == 0 ? 5 : 2)));
            std::int64_t const factor = 1 + pick() % 50, constant = pick() % 9;
            numbers.push_back([=](sublet::shape const& shape) {
                std::int64_t product = factor;
                for (std::size_t i = 0; i != degree.size(); ++i)
                    for (int e = 0; e != degree[i]; ++e) product *= size(shape, i);
                return product + constant;
            });
        }
        fitted_numbers const found = fit_all(ranges, numbers);
        check_found(found, ranges, numbers, seed);
    }
}

TEST_CASE("a polynomial with fractions is a quotient without a rest")
{
    std::vector<dimension_range> const ranges{{"n", 1, 1000, 1}, {"h", 64, 1024, 32}};
    std::vector<number_of> const numbers{[](auto const& s) { return size(s, 0) * (size(s, 0) + 1) / 2; },
                                         [](auto const& s) { return size(s, 1) / 32 * size(s, 0); }};
    fitted_numbers const found = fit_all(ranges, numbers);
    check_found(found, ranges, numbers, 1);
    CHECK(found.of[0] == sublet::ceil_divide(sublet::symbol(0) * sublet::symbol(0) + sublet::symbol(0), 2));
    CHECK(found.of[1] == sublet::ceil_divide(sublet::symbol(0) * sublet::symbol(1), 32));
    CHECK(found.reads < 40);
}

TEST_CASE("windows of any stride and offset are quotients of their dimension")
{
    for (unsigned seed = 0; seed != 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick(seed);
        std::int64_t const least = 700 + pick() % 100;
        std::vector<dimension_range> const ranges{{"n", 1, 16, 1}, {"samples", least, least + 100000, 1}};
        std::vector<number_of> numbers;
        for (int n = 0; n != 4; ++n) {
            std::int64_t const window = 1 + pick() % 600, stride = 2 + pick() % 300, padding = pick() % 3;
            numbers.push_back([=](auto const& s) { return (size(s, 1) + padding - window) / stride + 1; });
        }
        fitted_numbers const found = fit_all(ranges, numbers);
        check_found(found, ranges, numbers, seed);
        CHECK(found.reads < 160);
    }
}

TEST_CASE("products and sums of what is found are found")
{
    std::vector<dimension_range> const ranges{{"n", 1, 8, 1}, {"h", 32, 640, 1}, {"w", 32, 640, 1}};
    auto part = [](std::size_t i, std::int64_t by) {
        return [=](sublet::shape const& s) { return (size(s, i) + by - 1) / by; };
    };
    std::vector<number_of> numbers;
    for (std::int64_t by : {8, 16, 32}) {
        numbers.push_back(part(1, by));
        numbers.push_back(part(2, by));
        numbers.push_back([=](auto const& s) { return part(1, by)(s) * part(2, by)(s); });
        numbers.push_back([=](auto const& s) { return 3 * size(s, 0) * part(1, by)(s); });
    }
    numbers.push_back([=](auto const& s) {
        std::int64_t sum = 0;
        for (std::int64_t by : {8, 16, 32}) sum += part(1, by)(s) * part(2, by)(s);
        return sum;
    });
    numbers.push_back([](auto const& s) { return size(s, 0); });
    numbers.push_back([=](auto const& s) { return part(1, 8)(s) + 5; });
    fitted_numbers const found = fit_all(ranges, numbers);
    check_found(found, ranges, numbers, 1);
    CHECK(found.reads < 100);
}

TEST_CASE("what is neither is not found, and costs few samples")
{
    std::vector<dimension_range> const ranges{{"n", 1, 10000, 1}, {"m", 1, 50, 1}};
    std::vector<number_of> const numbers{
        [](auto const& s) { return static_cast<std::int64_t>(std::sqrt(static_cast<double>(size(s, 0)))); },
        [](auto const& s) { return std::max(size(s, 0), 20 * size(s, 1)); },
        [](auto const& s) { return size(s, 0) * 31 % 64; },
        [](auto const& s) { return size(s, 0) == 1 ? 7 : 4 * size(s, 0); },
        [](auto const& s) { return (std::int64_t{1} << 58) - size(s, 0); }};
    fitted_numbers const found = fit_all(ranges, numbers);
    for (std::size_t n = 0; n != 4; ++n) CHECK_FALSE(found.of[n]);
    CHECK(found.reads < 160);
}

TEST_CASE("one size is a constant")
{
    std::vector<dimension_range> const ranges{{"n", 5, 5, 1}, {"m", 3, 4, 7}};
    std::vector<number_of> const numbers{[](auto const& s) { return size(s, 0) * size(s, 1); },
                                         [](auto const&) { return 0; }};
    fitted_numbers const found = fit_all(ranges, numbers);
    CHECK(found.of[0] == sublet::formula(15));
    CHECK(found.of[1] == sublet::formula(0));
    CHECK(found.reads == 1);
}

TEST_CASE("numbers that are equal so far are one class until they differ")
{
    size_samples samples{{{"n", 1, 9, 1}}};
    samples.add({0}, {4, 4, 7, 4});
    CHECK(samples.class_of == std::vector<std::size_t>{0, 0, 1, 0});
    samples.add({1}, {5, 4, 7, 5});
    CHECK(samples.class_of == std::vector<std::size_t>{0, 2, 1, 0});
    CHECK(samples.numbers == std::vector<std::vector<std::int64_t>>{{4, 5}, {7, 7}, {4, 4}});
}

} // namespace
