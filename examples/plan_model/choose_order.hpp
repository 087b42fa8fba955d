// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_CHOOSE_ORDER_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_CHOOSE_ORDER_HPP

/// The order to plan for: as the file lists the nodes, as another file says, or one that needs less memory.

#include "read_order.hpp"
#include "timed_plan.hpp"

#include <sublet/ordering/best_order.hpp>
#include <sublet/ordering/order_graph.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

struct chosen_order {
    std::vector<sublet::node_id> order;      ///< empty: as the file lists the nodes
    std::string word;                        ///< by which it was asked for; empty: by a file, or not at all
    std::optional<sublet::node_order> facts; ///< of an order asked for by a word
    double milliseconds = 0;                 ///< to find it
};

/// `word` is file, longest-path, least-peak, exact or best, anything else the name of a file that names the
/// nodes; `wanted` says all else of the plan.
///
/// Throws: input_error.
inline chosen_order choose_order(std::string const& word, network const& net, wishes const& wanted)
{
    if (word.empty()) return {};
    bool const longest = word == "longest-path", least = word == "least-peak", exact = word == "exact",
               best = word == "best";
    if (!longest && !least && !exact && !best && word != "file") return {read_order(word, net), {}, {}, 0};

    auto const start = std::chrono::steady_clock::now();
    sublet::order_graph const g = sublet::order_graph_of(as_program(net), as_options(net, wanted));
    if (g.violation) return {}; // the planner says why
    sublet::order_contest contest(g);
    sublet::node_order facts = contest.best();
    if (longest) {
        facts.order = sublet::longest_path(g);
        facts.peak = sublet::peak_of(g, facts.order);
    }
    if (least) facts = sublet::least_peak(g);
    if (exact) facts = sublet::exact_order(g);
    if (best) facts = sublet::best_order(g);
    if (!exact && !best) facts.lower_bound = sublet::order_lower_bound(g);
    chosen_order chosen{facts.order, word, std::move(facts), 0};
    chosen.milliseconds = milliseconds_since(start);
    return chosen;
}

} // namespace plan_model

#endif
