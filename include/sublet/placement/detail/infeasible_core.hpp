// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_INFEASIBLE_CORE_HPP
#define SUBLET_PLACEMENT_DETAIL_INFEASIBLE_CORE_HPP

/// A small set of buffers that already does not fit, for errors and for proofs.

#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

// --- clashing pins ---------------------------------------------------------------------------------------

/// Are two shapes pinned onto each other?
///
///     offset       +---+
///          |   +---| c |        the pieces from below: a, b, c
///          |   | b +---+        the top so far at the life of c is that of b, and c begins below it
///          |   +-+-+--+
///          |     |  a |
///          +-----+----+---> position
///
/// Pieces are painted over positions, the lowest first. As long as none clashes, each covers what is below
/// it, so that it is enough to know of each position who was painted last: a tree of maxima over ranks.

namespace sublet::detail {

/// Who reaches highest over a range of positions. Whoever is painted reaches above all that were painted
/// there before.
class skyline {
public:
    static constexpr std::uint32_t no_shape = ~std::uint32_t{0};

    struct skyline_top {
        byte_count top = 0;
        std::uint32_t id = no_shape;
    };

    explicit skyline(std::size_t ranks) : leaves_(ranks), within_(2 * ranks), over_(2 * ranks) {}

    void paint(live_range when, skyline_top const& fresh);
    [[nodiscard]] skyline_top highest(live_range when) const;

private:
    static void raise(skyline_top& old, skyline_top const& fresh)
    {
        if (fresh.top > old.top) old = fresh;
    }
    /// The nodes that together are the range.
    template <class Visit>
    void for_each_node(live_range when, Visit visit) const
    {
        for (std::size_t i = when.first + leaves_, j = when.last + leaves_; i < j; i /= 2, j /= 2) {
            if (i % 2 == 1) visit(i++);
            if (j % 2 == 1) visit(--j);
        }
    }
    /// Those that have such a node below them.
    template <class Visit>
    void for_each_above(live_range when, Visit visit) const
    {
        for (std::size_t i = (when.first + leaves_) / 2; i != 0; i /= 2) visit(i);
        for (std::size_t j = (when.last - 1 + leaves_) / 2; j != 0; j /= 2) visit(j);
    }

    std::size_t leaves_;
    std::vector<skyline_top> within_, over_; // by node: somewhere below it, and all over it
};

/// Two that share a byte at a position, `conflict` is false if no two do.
struct clashing_pair {
    bool conflict = false;
    std::uint32_t one = 0; ///< the lower number
    std::uint32_t other = 0;
};

/// Complexity: O(p log p) time and O(p) memory, p = pieces of pinned shapes; O(shapes) if there are none.
[[nodiscard]] clashing_pair clashing_pins(placement_shapes const& all);

// --- subset ----------------------------------------------------------------------------------------------

/// Some of the shapes of a pool, as a problem of their own.
///
///     shapes      0  1  2  3  4        positions stay as they are, with the same ranks: what was read off
///     chosen         1     3  4        the whole at a position can be compared with what is read off the
///     subset         0     1  2        part

/// Requires:   `chosen` ascends.
/// Ensures:    shape i of the result is `chosen[i]`, with its parts.
/// Complexity: O(all shapes and their parts + positions).
[[nodiscard]] placement_shapes subset_of(placement_shapes const& all,
                                         std::vector<std::uint32_t> const& chosen);

// --- fewest that fail ------------------------------------------------------------------------------------

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

struct infeasible_core {
    std::vector<std::uint32_t> shapes; ///< ascending
    bool is_minimal = true;            ///< none can be left out; false: the nodes were spent
    std::uint64_t nodes = 0;
};

/// Requires:   no stacking of all shapes is within `capacity`, nor one of `core` alone, which ascend.
/// Ensures:    no stacking of the result is. Same input, same result.
/// Complexity: O(b^2) looks and at most b searches that together have `nodes` nodes, b = blamed.
[[nodiscard]] infeasible_core minimize_core(placement_shapes const& all, byte_count capacity,
                                            std::vector<std::uint32_t> core, std::uint64_t nodes,
                                            search_control& control);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/infeasible_core.ipp>
#endif

#endif
