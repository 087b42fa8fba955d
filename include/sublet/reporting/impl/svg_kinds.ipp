// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_IMPL_SVG_KINDS_IPP
#define SUBLET_REPORTING_IMPL_SVG_KINDS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/reporting/svg_kinds.hpp>

namespace sublet::detail {

SUBLET_DECL svg_legend legend_of(buffer_kinds const& all, std::uint64_t width)
{
    std::size_t const own = smaller(all.kinds.size(), svg_colors);
    std::uint64_t letters = own < all.kinds.size() ? 14 : 7; // "99 other kinds", "unnamed"
    for (std::size_t k = 0; k != own; ++k)
        letters = larger(letters, smaller<std::uint64_t>(all.kinds[k].characters, svg_legend::longest));
    std::uint64_t const cell = svg_legend::swatch + (letters + 9) * svg_letter; // 9: " 45.2 %  "
    return {smaller(all.kinds.size(), svg_colors + 1), larger<std::uint64_t>(width / cell, 1), cell};
}

} // namespace sublet::detail

#endif
