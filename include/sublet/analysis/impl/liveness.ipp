// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVENESS_IPP
#define SUBLET_ANALYSIS_IMPL_LIVENESS_IPP

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/crossing.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/liveness_loop_forest.hpp>
#include <sublet/analysis/liveness_per_value.hpp>
#include <sublet/analysis/liveness_worklist.hpp>
#include <sublet/graph/loops.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// The same lists for some of the values only (ascending), numbered anew.
SUBLET_DECL crossing_values restricted(crossing_values const& all, std::vector<value_id> values)
{
    crossing_values some;
    some.value = std::move(values);
    some.column.assign(all.column.size(), no_value);
    for (std::size_t c = 0; c != some.value.size(); ++c)
        some.column[some.value[c]] = static_cast<std::uint32_t>(c);
    for (auto list : {&crossing_values::reads, &crossing_values::writes, &crossing_values::reads_at_end})
        for (std::size_t n = 0; n != (all.*list).rows(); ++n) {
            for (std::uint32_t c : (all.*list)[n])
                if (std::uint32_t const mine = some.column[all.value[c]]; mine != no_value)
                    (some.*list).append(mine);
            (some.*list).close_row();
        }
    return some;
}

/// By any policy but loop_forest.
SUBLET_DECL live_sets live_by_cost(snapshot const& p, liveness_options const& options)
{
    std::size_t const nodes = p.nodes();
    crossing_values cross = crossing(p);
    liveness_policy policy = options.policy;
    std::size_t most_sets = ~std::size_t{0};
    if (policy == liveness_policy::automatic) {
        if (bit_rows::words_for(cross.value.size()) * nodes <= options.dense_words)
            policy = liveness_policy::worklist;
        most_sets = nodes / bit_rows::word_bits;
    }
    sparse_sets lists;
    if (policy != liveness_policy::worklist) {
        lists = live_by_exploration(p, cross, most_sets);
        if (lists.given_up.empty()) policy = liveness_policy::per_value;
        else if (lists.given_up.size() == cross.value.size()) policy = liveness_policy::worklist;
        cross = restricted(cross, std::move(lists.given_up));
    }
    dense_sets bits;
    if (!cross.value.empty()) bits = live_by_worklist(p, cross);
    return {policy,
            nodes,
            std::move(cross.column),
            std::move(cross.value),
            {std::move(bits.in), std::move(lists.in)},
            {std::move(bits.out), std::move(lists.out)}};
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_sets liveness(snapshot const& p, liveness_options const& options)
{
    if (options.policy != liveness_policy::loop_forest) return detail::live_by_cost(p, options);
    crossing_values cross = crossing(p);
    detail::dense_sets bits = detail::live_by_loop_forest(p, cross);
    return {options.policy,           p.nodes(),
            std::move(cross.column),  std::move(cross.value),
            {std::move(bits.in), {}}, {std::move(bits.out), {}}};
}

SUBLET_DECL live_sets liveness(snapshot const& p) { return detail::live_by_cost(p, {}); }

} // namespace sublet

#endif
