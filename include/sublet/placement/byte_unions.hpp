// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_BYTE_UNIONS_HPP
#define SUBLET_PLACEMENT_BYTE_UNIONS_HPP

/// Sets of bytes, many of them, which only grow.
///
///     bytes     0   4   8  12  16
///     union     [===)   [===)          two stretches;
///     + [4, 8)  [===========)          now one: neighbours grow together
///
/// Whoever lies packed well is one stretch, however many they are. Stretches of all unions lie in one table,
/// each linked to the next above and below in its own.

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class byte_unions {
public:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct stretch {
        byte_count begin, end;
        std::uint32_t below, above; ///< their numbers, or `none`
    };
    /// Stretches that do not touch.
    struct byte_union {
        std::uint32_t lowest = none;
        std::uint32_t recent = none; ///< where the last bytes went
    };

    /// The stretches of all unions are gone; unions made before mean nothing any more.
    void clear()
    {
        stretches_.clear();
        unused_ = none;
    }
    /// How many have been made since then, those that were swallowed too.
    [[nodiscard]] std::size_t size() const { return stretches_.size(); }
    [[nodiscard]] stretch const& operator[](std::uint32_t number) const { return stretches_[number]; }

    /// Add the bytes [begin, end) to a union. Returns the number of stretches looked at.
    ///
    /// Requires:   begin < end; the union was empty, or filled here since the last clear().
    /// Complexity: from where the last bytes went up or down to where these go, for neighbours in an order
    ///             lie near each other as a rule.
    std::uint64_t unite(byte_union& all, byte_count begin, byte_count end);

private:
    std::vector<stretch> stretches_;
    std::uint32_t unused_ = none; // the first of a list of stretches
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/byte_unions.ipp>
#endif

#endif
