// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_ANY_BATCH_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_ANY_BATCH_HPP

/// One plan of a network for every batch size up to a maximum, and its output.

#include "arguments.hpp"
#include "network.hpp"
#include "summary.hpp"

#include <sublet/plan_symbolic.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace plan_model {

/// For example 12 + 7867392*N, where N is the batch size.
inline std::string formula(sublet::affine_bytes bytes)
{
    if (bytes.per_batch == 0) return std::to_string(bytes.fixed);
    std::string const growing = std::to_string(bytes.per_batch) + "*N";
    return bytes.fixed == 0 ? growing : std::to_string(bytes.fixed) + " + " + growing;
}

inline sublet::planned_symbolic plan_any_batch(network const& net, arguments const& args,
                                               std::vector<sublet::node_id> const& order)
{
    sublet::symbolic_options options = as_symbolic_options(net, args.max_batch);
    options.alignment = args.alignment;
    options.in_place = args.in_place;
    options.order = order;
    return sublet::plan_symbolic(as_program(net), options);
}

/// Prints lines or one JSON object: the formulas, then for a few batch sizes the bytes of this plan and of a
/// plan for that size alone.
inline void print(std::ostream& out, std::string const& model, network const& net,
                  sublet::planned_symbolic const& planned, bool as_json)
{
    sublet::planned_symbolic::summary const& r = planned.report();
    char const* before = as_json ? "{" : "";
    auto line = [&](std::string const& key, std::string const& text) {
        if (as_json) out << before << '"' << key << "\": " << text;
        else out << key << ": " << text << '\n';
        before = ", ";
    };
    auto words = [&](std::string const& text) { return as_json ? json_string(text) : text; };
    line("model", words(model));
    line("operations", std::to_string(net.operations.size()));
    line("values", std::to_string(net.results));
    line("buffers", std::to_string(r.buffers));
    line("max_batch", std::to_string(r.max_batch));
    line("naive_bytes", words(formula(r.naive)));
    line("arena_bytes", words(formula(r.arena)));
    for (sublet::planned_symbolic::summary::batch const& b : r.batches) {
        std::string const batch = std::to_string(b.batch);
        line("arena_bytes_at_" + batch, std::to_string(b.arena_bytes));
        line("own_bytes_at_" + batch, std::to_string(b.own_bytes));
    }
    line("excess_percent", with_decimals(100 * r.excess(), 2));
    line("planning_ms", with_decimals(1000 * r.seconds, 3));
    line("verified", words(r.is_checked && bool(planned) ? "yes" : "no"));
    if (as_json) out << "}\n";
}

} // namespace plan_model

#endif
