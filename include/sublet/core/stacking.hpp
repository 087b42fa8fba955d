// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_STACKING_HPP
#define SUBLET_CORE_STACKING_HPP

/// A placement without sizes: of each two buffers that conflict, which one lies below.
///
///     order      a   b   c   d          offset of c     the larger of the tops of a and b
///     below c    a, b                   sizes 64 32     c at 64           sizes 10 500     c at 500
///     below d    c                      d on top of c                     d on top of c
///
/// It is an acyclic orientation of the conflict graph, and each placement has one. Each offset is the longest
/// path of sizes below it, so whatever the sizes are, no two buffers that conflict overlap: a stacking is
/// proved once, for every shape. Only the height depends on the choice.
///
/// A pair that follows from others is left out: with a below b and b below c, a is below c.
///
/// Source: the orientation of conflicts as in job shop scheduling (Roy and Sussmann, "Les problemes
/// d'ordonnancement avec contraintes disjonctives", 1964), with offsets for start times.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// Which buffers lie below which.
struct stacking {
    /// A buffer in its place in the order.
    struct layer {
        buffer_id buffer = no_buffer;  ///< the buffer
        std::uint32_t first_below = 0; ///< the index in `below` of the first buffer that lies below it
        pool_id pool = 0;              ///< the pool that it lies in
        byte_count alignment = 1;      ///< its offset is a multiple of it
        byte_count pinned = no_offset; ///< its offset, if that is prescribed
        buffer_id over = no_buffer;    ///< it is written over this larger buffer, and lies where it lies
        friend bool operator==(stacking::layer const&, stacking::layer const&) = default;
    };

    /// The offsets for sizes of one shape.
    struct offsets {
        table<buffer_id, byte_count> of;  ///< the first byte of each buffer in its pool
        table<pool_id, byte_count> bytes; ///< the highest end of each pool
    };

    std::vector<stacking::layer> order = {}; ///< every buffer once, after those that lie below it
    /// Of each buffer in the order, those that lie directly below it: up to the first of the next one.
    std::vector<buffer_id> below = {};
    std::uint32_t pools = 0; ///< how many pools there are

    /// The buffers that lie directly below the one at this index of the order.
    [[nodiscard]] std::span<buffer_id const> below_of(std::size_t index) const
    {
        std::size_t const first = order[index].first_below,
                          last = index + 1 == order.size() ? below.size() : order[index + 1].first_below;
        return {below.data() + first, last - first};
    }

    /// The offsets for one size of each buffer, in bytes; a buffer of 0 bytes has an offset, too.
    ///
    /// Requires:   there is a size for each buffer.
    /// Ensures:    true; or an error: a pinned buffer lies above its pin, or one that is written over another
    ///             is larger.
    /// Complexity: O(buffers + pairs); allocates nothing if `result` was used before.
    /// Throws:     precondition_error if the sizes and paddings of all buffers exceed 64 bits together.
    verdict place(std::span<byte_count const> sizes, stacking::offsets& result) const;

    friend bool operator==(stacking const&, stacking const&) = default;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/core/impl/stacking.ipp>
#endif

#endif
