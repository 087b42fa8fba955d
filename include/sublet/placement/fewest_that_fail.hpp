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
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

struct failing_shapes {
    std::vector<std::uint32_t> shapes; ///< ascending
    bool is_minimal = true;            ///< none can be left out; false: the nodes were spent
    std::uint64_t nodes = 0;
};

/// Requires:   no stacking of all shapes is within `capacity`, nor one of `blamed` alone, which ascend.
/// Ensures:    no stacking of the result is. Same input, same result.
/// Complexity: O(b^2) looks and at most b searches that together have `nodes` nodes, b = blamed.
[[nodiscard]] failing_shapes fewest_that_fail(placement_shapes const& all, byte_count capacity,
                                              std::vector<std::uint32_t> blamed, std::uint64_t nodes,
                                              search_driver& driver);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/fewest_that_fail.ipp>
#endif

#endif
