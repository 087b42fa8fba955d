// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_AFFINE_BYTES_HPP
#define SUBLET_TEST_AFFINE_BYTES_HPP

#include <sublet/core/formula.hpp>

#include <vector>

/// Sizes that are linear in one open dimension, as two numbers.
struct affine_bytes {
    sublet::byte_count fixed = 0, per_batch = 0;

    static affine_bytes unknown() { return {sublet::no_size, 0}; }
    sublet::byte_count at(sublet::byte_count batch) const
    {
        return fixed == sublet::no_size ? fixed : fixed + per_batch * batch;
    }
    operator sublet::formula() const
    {
        if (fixed == sublet::no_size) return sublet::formula::unknown();
        return fixed + per_batch * sublet::symbol(0);
    }
};

/// One open dimension, from 1 to `most`.
inline std::vector<sublet::dimension> batches(sublet::byte_count most) { return {{"N", 1, most}}; }

#endif
