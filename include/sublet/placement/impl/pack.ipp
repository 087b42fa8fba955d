// SPDX-License-Identifier: BSL-1.0

/// pack(): the shapes of each pool, packed by pack_shapes().

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/pack_few.hpp>
#include <sublet/placement/detail/pack_shapes.hpp>
#include <sublet/placement/detail/pools.hpp>
#include <sublet/placement/internal/pack.hpp>

namespace sublet::detail {

SUBLET_DECL placement pack(placement_problem const& problem, pack_options const& options,
                           search_control& control)
{
    SUBLET_EXPECTS(problem.clocks.threads == 0, "sublet: pack() takes no clocks; place() does");
    bool tries_few = options.tries_few && control.is_alone();
    if (tries_few) {
        placement few;
        if (place_few(problem, options.objective, few)) return few;
        tries_few = few.pools.size() != 1; // this pool was tried
    }
    return pack_pools(
        problem, options.objective, control, 1,
        [&](auto const& shapes, auto const& bound, byte_count capacity, placement::pool_result& out,
            std::size_t) { return pack_shapes(shapes, bound, capacity, options, control, out); },
        tries_few);
}

} // namespace sublet::detail
