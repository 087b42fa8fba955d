// SPDX-License-Identifier: BSL-1.0
/// Levels of each dimension (0: the least size, 1: the middle, 2: the largest) are listed as numbers to the
/// base 3.

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/sampled_shapes.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sublet::detail {

/// The size nearest to the geometric middle, from below: a power of two times the least.
SUBLET_DECL byte_count middle_size(dimension const& its)
{
    byte_count const last = its.largest();
    byte_count middle = larger(its.least, byte_count{1});
    while (middle < last / middle * larger(its.least, byte_count{1})) middle *= 2;
    middle = smaller(larger(middle, its.least), last);
    return its.least + (middle - its.least) / its.stride * its.stride;
}

SUBLET_DECL sampled_shapes sample_shapes(symbolic_options const& options)
{
    std::vector<dimension> const& dims = options.dims;
    std::size_t const d = dims.size();
    sampled_shapes result;
    auto add = [&result](shape one, std::uint32_t weight) {
        auto const found = std::find(result.shapes.begin(), result.shapes.end(), one);
        if (found == result.shapes.end()) {
            result.shapes.push_back(std::move(one));
            result.weights.push_back(weight);
        } else {
            result.weights[static_cast<std::size_t>(found - result.shapes.begin())] += weight;
        }
    };
    auto add_levels = [&](std::vector<unsigned> const& levels) {
        shape one;
        for (std::size_t i = 0; i != d; ++i) {
            dimension const& its = dims[i];
            byte_count const last = its.largest();
            one.push_back(levels[i] == 0 ? its.least : levels[i] == 1 ? middle_size(its) : last);
        }
        add(std::move(one), options.samples.empty() ? 1 : 0);
    };
    for (symbolic_options::sample const& given : options.samples) {
        (void)options.at(given.shape); // refuses one that is in none of the ranges
        add(given.shape, given.weight);
    }
    if (d <= 4) {
        std::size_t all = 1;
        for (std::size_t i = 0; i != d; ++i) all *= 3;
        for (std::size_t number = 0; number != all; ++number) {
            std::vector<unsigned> levels;
            unsigned middles = 0, least = 0;
            for (std::size_t rest = number, i = 0; i != d; ++i, rest /= 3) {
                levels.push_back(static_cast<unsigned>(rest % 3));
                middles += levels.back() == 1;
                least += levels.back() == 0;
            }
            if (d <= 2 || middles == 0 || middles == d || (middles == 1 && least == 0)) add_levels(levels);
        }
    } else {
        add_levels(std::vector<unsigned>(d, 0));
        add_levels(std::vector<unsigned>(d, 1));
        for (std::size_t i = 0; i != d; ++i)
            for (unsigned level : {0u, 2u}) {
                std::vector<unsigned> levels(d, 1);
                levels[i] = level;
                add_levels(levels);
            }
        add_levels(std::vector<unsigned>(d, 2));
    }
    // The largest sizes come last, also if they were asked for.
    shape most;
    for (dimension const& its : dims) most.push_back(its.largest());
    auto const at = static_cast<std::size_t>(std::find(result.shapes.begin(), result.shapes.end(), most) -
                                             result.shapes.begin());
    std::rotate(result.shapes.begin() + static_cast<std::ptrdiff_t>(at),
                result.shapes.begin() + static_cast<std::ptrdiff_t>(at) + 1, result.shapes.end());
    std::rotate(result.weights.begin() + static_cast<std::ptrdiff_t>(at),
                result.weights.begin() + static_cast<std::ptrdiff_t>(at) + 1, result.weights.end());
    return result;
}

/// The digits of a number to a base in the reverse order, behind the point: in parts of 2^32.
SUBLET_DECL std::uint64_t reversed_digits(std::uint32_t number, std::uint32_t base)
{
    std::uint64_t parts = 0;
    for (std::uint64_t digit = std::uint64_t{1} << 32; number != 0 && digit != 0; number /= base) {
        digit /= base;
        parts += digit * (number % base);
    }
    return parts;
}

/// This part of the way from the least size to the largest, by doublings; within one it is even.
SUBLET_DECL byte_count size_between(dimension const& its, std::uint64_t part)
{
    byte_count const last = its.largest();
    byte_count top = larger(its.least, byte_count{1}), size = top;
    if (last <= top) return last;
    constexpr unsigned digits = 16;
    auto fraction_of = [](byte_count a, byte_count b) { // a < b
        return b >> digits == 0 ? (a << digits) / b : a / (b >> digits);
    };
    std::uint64_t doublings = 0; // in parts of 2^16
    for (; top <= last / 2; top *= 2) doublings += std::uint64_t{1} << digits;
    doublings += fraction_of(last - top, top);
    std::uint64_t const walked = doublings * part >> 32, rest = walked % (std::uint64_t{1} << digits);
    size <<= walked >> digits;
    size = smaller(size + (size >> digits == 0 ? size * rest >> digits : (size >> digits) * rest), last);
    return its.least + (size - its.least) / its.stride * its.stride;
}

SUBLET_DECL shape spread_shape(std::vector<dimension> const& dims, std::uint32_t number)
{
    shape one;
    std::uint32_t prime = 1;
    for (dimension const& its : dims) {
        for (bool is_prime = false; !is_prime;) {
            ++prime;
            is_prime = true;
            for (std::uint32_t factor = 2; factor * factor <= prime; ++factor)
                is_prime = is_prime && prime % factor != 0;
        }
        one.push_back(size_between(its, reversed_digits(number, prime)));
    }
    return one;
}

} // namespace sublet::detail
