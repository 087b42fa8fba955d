// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_CHOOSE_ORDER_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_CHOOSE_ORDER_HPP

/// Selects the order to plan for: the order of the file, of another file, or one that needs less memory.

#include "read_order.hpp"
#include "timed_plan.hpp"

#include <sublet/ordering/order.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

struct chosen_order {
    std::vector<sublet::node_id> order;      ///< empty: the order of the file
    std::string word;                        ///< the requested kind of order; empty: a file, or none
    std::optional<sublet::node_order> facts; ///< of a computed order
    double milliseconds = 0;                 ///< to compute it
};

/// `word` is file, longest-path, least-peak, exact or best; any other word is the name of a file that lists
/// the nodes. `wanted` holds the other settings of the plan.
///
/// Throws: input_error.
inline chosen_order choose_order(std::string const& word, network const& net, plan_settings const& wanted)
{
    if (word.empty()) return {};
    std::map<std::string, sublet::node_order::method> const methods{
        {"file", sublet::node_order::method::listed},
        {"longest-path", sublet::node_order::method::longest_path},
        {"least-peak", sublet::node_order::method::least_peak},
        {"exact", sublet::node_order::method::exact}};
    auto const method = methods.find(word);
    if (method == methods.end() && word != "best") return {read_order(word, net), {}, {}, 0};

    auto const start = std::chrono::steady_clock::now();
    sublet::snapshot const program = as_program(net);
    sublet::plan_options const options = as_options(net, wanted);
    sublet::node_order facts = method == methods.end() ? sublet::order(program, options)
                                                       : sublet::order(program, options, method->second);
    if (!facts) return {}; // the planner reports the error
    chosen_order chosen{facts.order, word, std::move(facts), 0};
    chosen.milliseconds = milliseconds_since(start);
    return chosen;
}

} // namespace plan_model

#endif
