// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_DETAIL_PACK_SHAPES_HPP
#define SUBLET_PLACEMENT_DETAIL_PACK_SHAPES_HPP

/// The placement of the shapes of one pool: orders, cuts, ejection, search, as internal/pack.hpp draws it.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>
#include <sublet/placement/detail/bound.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/pack_options.hpp>

#include <cstddef>
#include <cstdint>

namespace sublet::detail {

/// Reports the best height and the bound of the pool, not of the current subproblem.
class pool_control final : public part_control {
public:
    pool_control(search_control& control, byte_count best, placement::pool_result const& known)
        : part_control(control), best_(best), bound_(known.lower_bound), nodes_(known.nodes)
    {
    }
    [[nodiscard]] bool stop(byte_count found, byte_count, std::uint64_t more) override
    {
        return control_.stop(smaller(best_, found), bound_, nodes_ + more);
    }

private:
    byte_count best_, bound_;
    std::uint64_t nodes_;
};

packing pack_shapes(placement_shapes const& shapes, placement_bound const& bound, byte_count capacity,
                    pack_options const& options, search_control& control, placement::pool_result& out);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/placement/impl/pack_shapes.ipp>
#endif

#endif
