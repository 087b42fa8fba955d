// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_DENSE_LISTS_HPP
#define SUBLET_TEST_DENSE_LISTS_HPP

#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// The result of a solver over rows of bits, by node: the values live in, then those live out.
inline std::vector<std::vector<std::uint32_t>>
dense_lists(sublet::detail::cross_block_values const& cross_block, sublet::detail::dense_sets const& sets)
{
    std::vector<std::vector<std::uint32_t>> all;
    for (sublet::detail::bit_rows const* half : {&sets.in, &sets.out})
        for (std::size_t n = 0; n != cross_block.reads.rows(); ++n) {
            std::vector<std::uint32_t>& set = all.emplace_back();
            for (std::size_t c = 0; c != cross_block.value.size(); ++c)
                if (half->test(n, c)) set.push_back(cross_block.value[c]);
        }
    return all;
}

#endif
