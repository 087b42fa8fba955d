// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_CLASHING_PINS_HPP
#define SUBLET_PLACEMENT_CLASHING_PINS_HPP

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

#include <sublet/live_range.hpp>
#include <sublet/placement/shapes.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

namespace detail {

/// Who reaches highest over a range of positions. Whoever is painted reaches above all that were painted
/// there before.
class skyline {
public:
    static constexpr std::uint32_t nobody = ~std::uint32_t{0};

    struct roof {
        byte_count top = 0;
        std::uint32_t who = nobody;
    };

    explicit skyline(std::size_t ranks) : leaves_(ranks), within_(2 * ranks), over_(2 * ranks) {}

    void paint(live_range when, roof const& fresh);
    [[nodiscard]] roof highest(live_range when) const;

private:
    static void raise(roof& old, roof const& fresh)
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
    std::vector<roof> within_, over_; // by node: somewhere below it, and all over it
};

} // namespace detail

/// Two that share a byte at a position, `are` is false if no two do.
struct clashing_pair {
    bool are = false;
    std::uint32_t one = 0; ///< the lower number
    std::uint32_t other = 0;
};

/// Complexity: O(p log p) time and O(p) memory, p = pieces of pinned shapes; O(shapes) if there are none.
[[nodiscard]] clashing_pair clashing_pins(placement_shapes const& all);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/clashing_pins.ipp>
#endif

#endif
