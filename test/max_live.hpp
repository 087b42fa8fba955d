// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_MAX_LIVE_HPP
#define SUBLET_TEST_MAX_LIVE_HPP

#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

/// The most values that occupy one step: defined or held by it, live after it, or live in at the start of the
/// program. From the end of each node backwards.
inline std::size_t max_live(sublet::snapshot const& p, sublet::live_sets const& live)
{
    using namespace sublet;
    std::size_t most = 0;
    std::vector<bool> is_alive(p.values());
    std::size_t alive = 0;
    auto set = [&](value_id v, bool to) {
        if (is_alive[v] == to) return;
        is_alive[v] = to;
        to ? ++alive : --alive;
    };
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (value_id v : live.live_out(n)) set(v, true);
        step_range const own = p.steps_of(n);
        for (step_id s = own.last; s-- != own.first;) {
            for (touch t : p.touches(s))
                if (t.kind != touch::access::use_early) set(t.value, true);
            if (s == 0)
                for (value_id v : live.live_in(0)) set(v, true);
            most = std::max(most, alive);
            for (touch t : p.touches(s))
                if (t.kind == touch::access::def) set(t.value, false);
            for (touch t : p.touches(s))
                if (t.kind != touch::access::def) set(t.value, true);
        }
        for (value_id v : live.live_in(n)) set(v, false);
    }
    return most;
}

#endif
