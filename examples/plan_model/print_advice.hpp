// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_PRINT_ADVICE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_PRINT_ADVICE_HPP

#include "network.hpp"
#include "timed_plan.hpp"

#include <sublet/advise_memory.hpp>

#include <algorithm>
#include <ostream>
#include <string>

namespace plan_model {

/// Prints the spills that make a network fit a capacity. Returns whether it fits with them and the plan is
/// proved.
inline bool print_advice(std::ostream& out, std::string const& model, network const& net,
                         plan_settings const& settings, sublet::byte_count capacity)
{
    sublet::plan_options options = as_options(net, settings);
    options.pools = {{.capacity = capacity}};
    auto const advice = sublet::advise_memory(as_program(net), options);
    if (!advice && advice.error().what != sublet::fault::over_capacity)
        throw input_error(model + ": there is no plan for it in this order");
    for (sublet::memory_advice::suggestion const& s : advice.suggestions) {
        out << quoted(net.values[s.value].name) << ", " << s.bytes << " bytes: spilled after "
            << net.operations[s.after].label << ", ";
        if (s.remat_step == sublet::no_step) out << "copied";
        else out << "recomputed by " << net.operations[s.remat_step].label;
        out << " before " << net.operations[s.before].label << ", saves " << s.saved << '\n';
    }
    out << model << ": " << advice.report() << ", with " << advice.suggestions.size() << " suggestions\n";
    sublet::memory_advice::pool const pool =
        advice.pools.empty() ? sublet::memory_advice::pool{} : advice.pools[0];
    if (pool.least > capacity)
        out << "no spills help: " << net.operations[pool.least_step].label << " needs " << pool.least
            << " bytes at once\n";
    auto runs_once = [](operation const& op) { return !op.may_recompute; };
    auto const once = std::count_if(net.operations.begin(), net.operations.end(), runs_once);
    if (!advice && once != 0)
        out << once << " of " << net.operations.size()
            << " nodes are not known to be functions of their inputs, as "
            << std::find_if(net.operations.begin(), net.operations.end(), runs_once)->label
            << ": their results are never recomputed\n";
    return bool(advice) && advice.report().is_checked;
}

} // namespace plan_model

#endif
