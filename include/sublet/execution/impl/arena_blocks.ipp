// SPDX-License-Identifier: BSL-1.0

/// arena_blocks: pools that shrink give their pages back before those that grow take new ones, so that a
/// change of executor never needs more than the larger of both.

#include <sublet/execution/detail/arena_blocks.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>

namespace sublet::detail {

SUBLET_DECL std::byte* arena_blocks::address_for(pool_id pool, byte_count bytes, byte_count alignment) const
{
    SUBLET_EXPECTS(pool < most_.size() && bytes <= most_[pool],
                   "sublet: % bytes of pool % are needed in a growing arena that has fewer: it was made for "
                   "another plan, or a size by shape exceeds those of the samples",
                   bytes, pool);
    std::byte* const first = addresses_[pool];
    SUBLET_EXPECTS(
        reinterpret_cast<std::uintptr_t>(first) % alignment == 0,
        "sublet: a growing arena is not aligned to %, but pool % needs it: plan with that alignment",
        alignment, pool);
    return first;
}

SUBLET_DECL void arena_blocks::use_for(std::uint64_t user, std::span<byte_count const> bytes)
{
    user_ = 0;
    pool_id pool = 0;
    try { // what one pool gives back may be what another needs
        for (pool = 0; pool != bytes.size(); ++pool)
            if (bytes[pool] != 0 && bytes[pool] <= bytes_[pool]) resize_(*this, pool, bytes[pool]);
        for (pool = 0; pool != bytes.size(); ++pool)
            if (bytes[pool] != 0 && bytes[pool] > bytes_[pool]) resize_(*this, pool, bytes[pool]);
    } catch (...) {
        throw allocation_error(no_step, bytes[pool], std::current_exception());
    }
    user_ = user;
}

} // namespace sublet::detail
