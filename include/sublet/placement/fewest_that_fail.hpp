// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_FEWEST_THAT_FAIL_HPP
#define SUBLET_PLACEMENT_FEWEST_THAT_FAIL_HPP

/// A few shapes that already cannot be stacked within a capacity, out of many that cannot.
///
///     blamed by the search   a b c d e f g
///     without a              it still fails, and blames  b d e g
///     without b              fits: b is needed
///     without d              fits: d is needed ...
///     left                   b d e g                      of these none can be left out
///
/// Shapes that are in nobody's way, and such as lie at another time, are gone after a few questions, for each
/// search that fails says whom it has looked at. Before any search, one shape that is too high alone and two
/// that neither fit one way round nor the other are looked for.
///
/// Source: deletion filtering, Chinneck and Dravnieks, "Locating minimal infeasible constraint sets in linear
/// programs", ORSA Journal on Computing 3, 1991; here with what a failed search has looked at.

#include <sublet/placement/driver.hpp>
#include <sublet/placement/portfolio.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/placement/subset.hpp>
#include <sublet/sorting.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet {

struct failing_shapes {
    std::vector<std::uint32_t> shapes; ///< ascending
    bool is_minimal = true;            ///< none can be left out; false: the nodes were spent
    std::uint64_t nodes = 0;
};

namespace detail {

/// The lowest place within the capacity for one shape at or above `from`; `no_offset` if there is none.
inline byte_count lowest_place(placement_shape const& shape, byte_count from, byte_count capacity)
{
    byte_count at = align_up(from, shape);
    if (shape.pinned != no_offset) at = at <= shape.pinned ? shape.pinned : no_offset;
    return at <= capacity && shape.size <= capacity - at ? at : no_offset;
}

/// Whether `above` can be stacked on `below`, and both within the capacity.
inline bool stacks(placement_shapes const& all, std::uint32_t below, std::uint32_t above, byte_count capacity)
{
    byte_count const at = lowest_place(all.shapes[below], 0, capacity);
    shape_reach const up = reach(all, below, above);
    if (at == no_offset || !up.meets) return at != no_offset;
    auto const from = larger(static_cast<std::int64_t>(at) + up.distance, std::int64_t{0});
    return lowest_place(all.shapes[above], static_cast<byte_count>(from), capacity) != no_offset;
}

} // namespace detail

/// Requires:   no stacking of all shapes is within `capacity`, nor one of `blamed` alone, which ascend.
/// Ensures:    no stacking of the result is. Same input, same result.
/// Complexity: O(b^2) looks and at most b searches that together have `nodes` nodes, b = blamed.
[[nodiscard]] inline failing_shapes fewest_that_fail(placement_shapes const& all, byte_count capacity,
                                                     std::vector<std::uint32_t> blamed, std::uint64_t nodes,
                                                     search_driver& driver)
{
    for (std::uint32_t s : blamed)
        if (detail::lowest_place(all.shapes[s], 0, capacity) == no_offset) return {{s}};
    for (std::uint32_t a : blamed)
        for (std::uint32_t b : blamed)
            if (a < b && !detail::stacks(all, a, b, capacity) && !detail::stacks(all, b, a, capacity))
                return {{a, b}};

    failing_shapes result{std::move(blamed)};
    std::vector<unsigned char> is_needed(all.size(), 0);
    for (;;) {
        std::uint32_t smallest = no_buffer; // of those that might not be needed
        for (std::uint32_t s : result.shapes)
            if (is_needed[s] == 0 &&
                (smallest == no_buffer || all.shapes[s].size < all.shapes[smallest].size))
                smallest = s;
        if (smallest == no_buffer) return result;
        if (result.nodes >= nodes) {
            result.is_minimal = false;
            return result;
        }
        is_needed[smallest] = 1;
        std::vector<std::uint32_t> rest;
        for (std::uint32_t s : result.shapes)
            if (s != smallest) rest.push_back(s);
        search_result const found =
            decide(subset_of(all, rest), capacity, {.nodes = nodes - result.nodes}, driver);
        result.nodes += found.nodes;
        if (found.outcome == search_outcome::exhausted) {
            result.shapes.clear();
            for (std::uint32_t i : found.blamed) result.shapes.push_back(rest[i]);
        }
        if (found.outcome == search_outcome::limit) result.is_minimal = false;
    }
}

} // namespace sublet

#endif
