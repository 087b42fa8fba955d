// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_INFEASIBLE_CORE_HPP
#define SUBLET_PLACEMENT_DETAIL_INFEASIBLE_CORE_HPP

/// A minimal set of shapes that cannot be stacked within a capacity, for errors and proofs. It is two pins
/// that overlap, or the result of a deletion filter that calls the exact search at most once per shape.

#include <sublet/core/units.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/structures/internal/segment_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- conflicting pins ------------------------------------------------------------------------------------

/// Finds two pinned shapes that overlap.
///
///     offset       +---+
///          |   +---| c |        the pieces from below: a, b, c
///          |   | b +---+        the top so far during c is that of b, and c begins below it
///          |   +-+-+--+
///          |     |  a |
///          +-----+----+---> position
///
/// Pieces are painted over positions, the lowest first. As long as there is no conflict, each is above all
/// below it, so the last paint at each position suffices: a tree of maxima over ranks.

namespace sublet::detail {

/// The highest top over a range of positions, and its shape; each painted range is above all earlier ones.
class skyline {
public:
    static constexpr std::uint32_t no_shape = ~std::uint32_t{0};

    struct skyline_top {
        byte_count top = 0;
        std::uint32_t id = no_shape;
    };

    explicit skyline(std::size_t ranks) : tree_{ranks}, within_(2 * ranks), over_(2 * ranks) {}

    void paint(live_range when, skyline_top const& fresh);
    [[nodiscard]] skyline_top highest(live_range when) const;

private:
    static void raise(skyline_top& old, skyline_top const& fresh)
    {
        if (fresh.top > old.top) old = fresh;
    }

    segment_nodes tree_;
    std::vector<skyline_top> within_, over_; // by node: maximum under it, and over all of it
};

struct clashing_pair {
    bool conflict = false;
    std::uint32_t one = 0; ///< the lower number
    std::uint32_t other = 0;
};

/// Complexity: O(p log p) time and O(p) memory, p = pieces of pinned shapes; O(shapes) if there are none.
[[nodiscard]] clashing_pair clashing_pins(placement_shapes const& all);

// --- subset ----------------------------------------------------------------------------------------------

///     shapes      0  1  2  3  4        ranks of positions are unchanged, so that numbers by
///     chosen         1     3  4        position of all shapes can be compared with those of
///     subset         0     1  2        the subset
///
/// Requires:   `chosen` ascends.
/// Ensures:    shape i of the result is `chosen[i]`, with its parts.
/// Complexity: O(all shapes and their parts + positions).
[[nodiscard]] placement_shapes subset_of(placement_shapes const& all,
                                         std::vector<std::uint32_t> const& chosen);

// --- infeasible core -------------------------------------------------------------------------------------

///     core of the search     a b c d e f g
///     without a              still infeasible, with the core b d e g
///     without b              feasible: b is needed
///     without d              feasible: d is needed ...
///     result                 b d e g                      of these none can be left out
///
/// Irrelevant shapes are dropped after few searches, since each failed search reports the shapes in its
/// conflict. Single shapes and pairs that cannot fit are looked for before any search.
///
/// Source: deletion filtering, Chinneck and Dravnieks, "Locating minimal infeasible constraint sets in
/// linear programs", ORSA Journal on Computing 3, 1991; here with the conflicts of failed searches.

struct infeasible_core {
    std::vector<std::uint32_t> shapes; ///< ascending
    bool is_minimal = true;            ///< none can be left out; false: nodes were spent, or it was stopped
    std::uint64_t nodes = 0;
};

/// Requires:   no stacking of all shapes is within `capacity`, nor one of `core` alone, which ascends.
/// Ensures:    no stacking of the result is. Same input, same result.
/// Complexity: O(b^2) pair tests and at most b searches with `nodes` nodes in all, b = size of `core`.
[[nodiscard]] infeasible_core minimize_core(placement_shapes const& all, byte_count capacity,
                                            std::vector<std::uint32_t> core, std::uint64_t nodes,
                                            search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/infeasible_core.ipp>
#endif

#endif
