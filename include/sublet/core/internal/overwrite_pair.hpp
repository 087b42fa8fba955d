// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_OVERWRITE_PAIR_HPP
#define SUBLET_CORE_INTERNAL_OVERWRITE_PAIR_HPP

/// A result and an operand that may have the same storage, by their buffers: what is chosen among.

#include <sublet/core/units.hpp>

namespace sublet::detail {

/// A result that may be written over an operand, by the ids of their buffers.
struct overwrite_pair {
    buffer_id in = no_buffer;
    buffer_id out = no_buffer;
    byte_count saved = 0; ///< the size of `out`: the same in all its pairs
    friend bool operator==(overwrite_pair const&, overwrite_pair const&) = default;
};

} // namespace sublet::detail

#endif
