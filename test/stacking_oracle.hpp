// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_STACKING_ORACLE_HPP
#define SUBLET_TEST_STACKING_ORACLE_HPP

#include "all_shapes.hpp"
#include "random_source.hpp"

#include <sublet/placement/detail/shapes.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

/// The lowest height of all stackings, by enumeration of orders; nothing if no order respects the pins.
inline std::optional<sublet::byte_count> lowest_stacking(sublet::detail::placement_shapes const& all)
{
    using namespace sublet;
    using namespace sublet::detail;
    std::vector<std::uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    std::optional<byte_count> best;
    do {
        std::vector<byte_count> origin(all.size());
        byte_count height = 0;
        bool fits = true;
        for (std::size_t i = 0; i != order.size() && fits; ++i) {
            std::uint32_t const a = order[i];
            std::int64_t at = 0;
            for (std::size_t j = 0; j != i; ++j) {
                shape_separation const r = min_separation(all, order[j], a);
                if (r.meets) at = std::max(at, static_cast<std::int64_t>(origin[order[j]]) + r.distance);
            }
            placement_shape const& s = all.shapes[a];
            origin[a] = align_up(static_cast<byte_count>(at), s);
            if (s.pinned != no_offset) {
                fits = origin[a] <= s.pinned;
                origin[a] = s.pinned;
            }
            height = std::max(height, origin[a] + s.size);
        }
        if (fits && (!best || height < *best)) best = height;
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

/// Limits of a random problem.
struct stacking_traits {
    std::uint32_t buffers = 6, positions = 6, sizes = 6;
    bool gaps = false, pins = false, alignments = false, colocated = false;
};

inline sublet::placement_problem random_stacking(random_source& random, stacking_traits traits)
{
    using namespace sublet;
    placement_problem problem;
    std::uint32_t const n = 1 + random.below(traits.buffers);
    std::uint32_t const scale = random.below(3) == 0 ? 8 : 1;
    for (buffer_id b = 0; b != n; ++b) {
        placement_problem::buffer buffer;
        buffer.life.first = random.below(traits.positions);
        buffer.life.last = buffer.life.first + 1 + random.below(traits.positions - buffer.life.first);
        buffer.size = byte_count{scale} * (1 + random.below(traits.sizes));
        if (traits.alignments && random.below(2) == 0) buffer.alignment = byte_count{1} << random.below(4);
        if (traits.alignments && random.below(8) == 0) buffer.alignment = 1 + random.below(6);
        if (traits.pins && random.below(4) == 0)
            buffer.pinned = buffer.alignment * random.below(2 * traits.sizes * scale);
        problem.buffers.push_back(buffer);
        if (traits.gaps && random.below(2) == 0) {
            placement_problem::gap gap{b, {}, 0, 0};
            gap.when.first = buffer.life.first + random.below(length(buffer.life) + 1);
            gap.when.last = gap.when.first + random.below(3);
            if (random.below(3) != 0) {
                gap.begin = random.below(static_cast<std::uint32_t>(buffer.size));
                gap.end = gap.begin + 1 + random.below(static_cast<std::uint32_t>(buffer.size - gap.begin));
            }
            problem.gaps.push_back(gap);
        }
        if (traits.colocated && b != 0 && random.below(4) == 0)
            problem.colocated.push_back({b, random.below(b), byte_count{scale} * random.below(4)});
    }
    return problem;
}

/// Calls `judge` with the generator, a problem and its shapes, unless these contradict each other.
template <class Judge>
void for_random_stackings(std::uint32_t problems, stacking_traits traits, Judge judge)
{
    random_source random{};
    for (std::uint32_t i = 0; i != problems; ++i) {
        CAPTURE(i);
        auto const problem = random_stacking(random, traits);
        auto const all = shapes_of_all(problem);
        if (all.fault == sublet::detail::shape_fault::none) judge(random, problem, all);
    }
}

#endif
