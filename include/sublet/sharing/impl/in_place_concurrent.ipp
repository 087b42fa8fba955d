// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SHARING_IMPL_IN_PLACE_CONCURRENT_IPP
#define SUBLET_SHARING_IMPL_IN_PLACE_CONCURRENT_IPP

#include <sublet/impl/config.hpp>
#include <sublet/sharing/in_place_concurrent.hpp>

namespace sublet::detail {

/// Who comes before a position, looked for as far down as is asked. For few queries, or many about one.
class ancestor_search {
public:
    explicit ancestor_search(dependence_graph const& g) : g_(g), leads_to_(g.positions(), no_step) {}

    bool before(step_id a, step_id b)
    {
        if (to_ != b) {
            to_ = low_ = b;
            mark(b);
        }
        for (; leads_to_[a] != b && low_ > a + 1; --low_)
            if (leads_to_[low_ - 1] == b) mark(low_ - 1);
        return leads_to_[a] == b;
    }

private:
    void mark(step_id from)
    {
        for (step_id at : g_.before[from]) leads_to_[at] = to_;
    }

    dependence_graph const& g_;
    std::vector<step_id> leads_to_; // by position: the last target that it was found to come before
    step_id to_ = no_step;
    step_id low_ = 0; // positions from here on have marked those before them
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL buffer_table take_in_place_concurrently(snapshot const& p, dependence_graph const& g,
                                                    buffer_table table)
{
    detail::ancestor_search search(g);
    return take_in_place_concurrently(p, g, std::move(table), search);
}

} // namespace sublet

#endif
