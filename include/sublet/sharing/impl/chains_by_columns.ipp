// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_CHAINS_BY_COLUMNS_IPP
#define SUBLET_SHARING_IMPL_CHAINS_BY_COLUMNS_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/chains_by_columns.hpp>

namespace sublet::detail {

SUBLET_DECL void waiting_tenants::wait(buffer_id u, step_id end)
{
    next_[u] = first_[end];
    first_[end] = u;
    is_waited_at_[end / 64] |= std::uint64_t{1} << end % 64;
}

SUBLET_DECL std::vector<step_id>
least_promising_ends(dependence_graph const& g, concurrent_lives const& lives, csr_rows const& beginning)
{
    std::vector<step_id> last(g.positions(), 0); // at which somebody begins who comes after it
    for (step_id t = lives.positions; t-- != 0;) {
        step_id const here = last[t] == 0 && !beginning[t].empty() ? t : last[t];
        for (step_id p : g.before[t]) last[p] = larger(last[p], here);
    }
    std::vector<step_id> least(lives.buffers(), 0);
    for (buffer_id b = 0; b != lives.buffers(); ++b) {
        step_id until = no_step;
        for (step_id end : lives.ends[b]) {
            step_id const mine = end == lives.positions ? 0 : last[end];
            if (mine >= until) continue;
            until = mine;
            least[b] = mine == 0 ? no_step : end;
        }
    }
    return least;
}

} // namespace sublet::detail

#endif
