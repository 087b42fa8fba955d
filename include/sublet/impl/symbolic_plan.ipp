// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SYMBOLIC_PLAN_IPP
#define SUBLET_IMPL_SYMBOLIC_PLAN_IPP

#include <sublet/impl/config.hpp>
#include <sublet/symbolic_plan.hpp>
#include <sublet/units.hpp>

namespace sublet {

SUBLET_DECL plan_options options_at(symbolic_options const& options, byte_count batch)
{
    SUBLET_EXPECTS(batch >= 1 && batch <= options.max_batch, "sublet: a plan holds from 1 to its max_batch");
    return {.bytes = [bytes = options.bytes, batch](value_id v) { return bytes[v].at(batch); },
            .alignment = options.alignment,
            .role = options.role,
            .alias_of = options.alias_of,
            .pool = options.pool,
            .eligible = options.eligible,
            .pools = options.pools,
            .order = options.order,
            .in_place = options.in_place,
            .check = options.check};
}

} // namespace sublet

#endif
