// SPDX-License-Identifier: BSL-1.0

#include "size_samples.hpp"

#include <sublet/core/errors.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace plan_model {

sublet::shape shape_at(std::vector<dimension_range> const& ranges, grid_point const& at)
{
    sublet::shape sizes;
    for (std::size_t i = 0; i != ranges.size(); ++i)
        sizes.push_back(static_cast<sublet::byte_count>(ranges[i].least + at[i] * ranges[i].stride));
    return sizes;
}

std::vector<grid_point> first_points(std::vector<dimension_range> const& ranges)
{
    std::size_t const m = ranges.size();
    std::vector<grid_point> points;
    std::set<grid_point> known;
    auto add = [&](grid_point const& at) {
        if (known.insert(at).second) points.push_back(at);
    };
    auto make = [&](auto step_of) {
        grid_point at(m);
        for (std::size_t i = 0; i != m; ++i) at[i] = std::min<std::int64_t>(step_of(i), ranges[i].steps());
        return at;
    };
    add(make([&](std::size_t i) { return ranges[i].steps(); })); // the largest shape is the first
    add(grid_point(m));
    for (std::int64_t t : {1, 2})
        for (std::size_t only = 0; only != m; ++only)
            add(make([&](std::size_t i) { return i == only ? t : 0; }));
    constexpr std::size_t most_for_all_corners = 4;
    if (m <= most_for_all_corners)
        for (std::size_t corner = 0; corner != std::size_t{1} << m; ++corner)
            add(make([&](std::size_t i) { return (corner >> i & 1) != 0 ? ranges[i].steps() : 0; }));
    add(make([&](std::size_t i) { return ranges[i].steps() / 2; }));
    std::uint64_t state = 1;
    for (std::size_t n = 0; n != 4 + 2 * m; ++n)
        add(make([&](std::size_t i) {
            state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's
            return static_cast<std::int64_t>((state >> 24) %
                                             static_cast<std::uint64_t>(ranges[i].steps() + 1));
        }));
    return points;
}

void size_samples::add(grid_point const& at, std::vector<std::int64_t> const& all)
{
    if (points.empty()) {
        class_of.assign(all.size(), 0);
        numbers.emplace_back();
    }
    index_of.emplace(at, points.size());
    points.push_back(at);
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> split;
    for (std::size_t n = 0; n != all.size(); ++n) {
        std::size_t& c = class_of[n];
        auto const [known, is_new] = split.emplace(std::pair{c, all[n]}, c);
        if (is_new && numbers[c].size() == points.size()) { // another number has extended it
            known->second = numbers.size();
            std::vector<std::int64_t> before(numbers[c].begin(), numbers[c].end() - 1);
            numbers.push_back(std::move(before));
        }
        if (is_new) numbers[known->second].push_back(all[n]);
        c = known->second;
    }
}

bool agrees(sublet::formula const& f, size_samples const& samples, std::vector<std::int64_t> const& numbers)
{
    try {
        for (std::size_t s = 0; s != numbers.size(); ++s)
            if (numbers[s] < 0 || f.at(shape_at(samples.ranges, samples.points[s])) !=
                                      static_cast<sublet::byte_count>(numbers[s]))
                return false;
    } catch (sublet::precondition_error const&) { // it is too large, or negative
        return false;
    }
    return true;
}

} // namespace plan_model
