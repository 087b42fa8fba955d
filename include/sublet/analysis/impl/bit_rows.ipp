// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_BIT_ROWS_IPP
#define SUBLET_ANALYSIS_IMPL_BIT_ROWS_IPP

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/impl/config.hpp>

#include <bit>

namespace sublet {

SUBLET_DECL std::size_t bit_rows::count(std::size_t row) const
{
    std::size_t sum = 0;
    for (std::size_t w = 0; w != words_; ++w) sum += static_cast<std::size_t>(std::popcount((*this)[row][w]));
    return sum;
}

} // namespace sublet

#endif
