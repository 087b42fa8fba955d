// SPDX-License-Identifier: BSL-1.0

/// Finds what is wrong with numbers that should be a permutation: the first that is too large or named twice,
/// by a mark for each; else the lowest without a mark.

#include <sublet/core/ids.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

[[noreturn]] SUBLET_DECL void broken_numbers(std::vector<std::uint32_t> const& order, std::size_t count,
                                             char const* item)
{
    std::vector<unsigned char> named(count);
    for (std::uint32_t i : order) {
        SUBLET_EXPECTS(i < count, "sublet: an order names % %, but there are only % of them", item, i, count);
        SUBLET_EXPECTS(named[i] == 0, "sublet: an order names % % twice", item, i);
        named[i] = 1;
    }
    std::size_t missing = 0;
    while (missing != count && named[missing] != 0) ++missing;
    broken_precondition("sublet: an order does not name % %", item, missing);
}

} // namespace sublet::detail
