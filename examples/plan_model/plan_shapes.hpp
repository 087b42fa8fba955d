// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_PLAN_SHAPES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_PLAN_SHAPES_HPP

/// One plan of a network for every shape in the ranges of its open dimensions, and its output.

#include "any_shape.hpp"
#include "arguments.hpp"
#include "network.hpp"
#include "summary.hpp"
#include "timed_plan.hpp"

#include <sublet/core/formula.hpp>
#include <sublet/plan_symbolic.hpp>

#include <chrono>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace plan_model {

/// What is printed of a plan for every shape.
struct shapes_summary {
    struct at_shape {
        sublet::shape shape;
        sublet::byte_count arena_bytes = 0, own_bytes = 0, lower_bound_bytes = 0;
    };
    std::size_t buffers = 0;
    std::string naive, arena; ///< formulas as text
    std::vector<at_shape> samples;
    double excess = 0; ///< of the arena over that of a plan for one shape, at most
    double milliseconds = 0;
    bool is_verified = false;
    sublet::counterexample error = {};
    sublet::symbolic_plan plan = {}; ///< refers to the network where sizes are by shape
};

/// The options of a plan for all of them; they refer to the network.
inline sublet::symbolic_options as_symbolic_options(shaped_network const& shaped, arguments const& args,
                                                    std::vector<sublet::node_id> const& order)
{
    sublet::plan_options const facts = as_options(shaped.net);
    sublet::symbolic_options options{.bytes = shaped.bytes,
                                     .dims = shaped.dims(),
                                     .alignment = args.alignment,
                                     .role = facts.role,
                                     .alias_of = facts.alias_of,
                                     .order = order,
                                     .in_place = args.in_place};
    for (sublet::formula const& its : shaped.bytes)
        if (its.is_by_shape())
            options.bytes_at = [&shaped](sublet::value_id v, auto shape) {
                return shaped.bytes_at(v, shape);
            };
    return options;
}

inline shapes_summary plan_shapes(shaped_network const& shaped, arguments const& args,
                                  std::vector<sublet::node_id> const& order)
{
    auto const start = std::chrono::steady_clock::now();
    auto const planned =
        sublet::plan_symbolic(as_program(shaped.net), as_symbolic_options(shaped, args, order));
    sublet::planned_symbolic::summary const& report = planned.report();
    auto text_of = [&](sublet::formula const& bytes) {
        std::ostringstream text;
        text << sublet::with_names(bytes, report.dims);
        return text.str();
    };
    shapes_summary all;
    all.buffers = report.buffers;
    all.naive = text_of(report.naive);
    all.arena = text_of(report.arena);
    all.excess = report.excess();
    all.milliseconds = milliseconds_since(start);
    all.is_verified = planned && report.is_checked;
    for (auto const& at : report.samples)
        all.samples.push_back({at.shape, at.arena_bytes, at.own_bytes, at.lower_bound_bytes});
    if (!planned) all.error = planned.error();
    else all.plan = planned.plan;
    return all;
}

/// "batch=1:64, height=64:1024:32".
inline std::string text_of_ranges(std::vector<dimension_range> const& ranges)
{
    std::string text;
    for (dimension_range const& r : ranges) {
        std::string const name = quoted_in_short(r.where);
        text += (text.empty() ? "" : ", ") + name.substr(1, name.size() - 2) + '=' + std::to_string(r.least) +
                ':' + std::to_string(r.most);
        if (r.stride != 1) text += ':' + std::to_string(r.stride);
    }
    return text;
}

/// Prints lines or one JSON object: the formulas, then for a few shapes the bytes of this plan and of a plan
/// for that shape alone.
inline void print(std::ostream& out, std::string const& model, shaped_network const& shaped,
                  shapes_summary const& plan, bool as_json)
{
    keyed_output line{out, as_json};
    auto words = [&](std::string const& text) { return line.words(text); };
    line("model", words(model));
    line("operations", std::to_string(shaped.net.operations.size()));
    line("values", std::to_string(shaped.net.results));
    if (!shaped.net.unsized.empty()) line("left_out", std::to_string(shaped.net.unsized.size()));
    line("buffers", std::to_string(plan.buffers));
    line("dimensions", words(text_of_ranges(shaped.ranges)));
    line("reads", std::to_string(shaped.reads));
    line("reading_ms", with_decimals(shaped.milliseconds, 3));
    line("sizes_by_shape", std::to_string(shaped.by_shape));
    if (!plan.naive.empty()) line("naive_bytes", words(plan.naive));
    if (!plan.arena.empty()) line("arena_bytes", words(plan.arena));
    for (std::size_t i = 0; i != plan.samples.size(); ++i) {
        shapes_summary::at_shape const& at = plan.samples[i];
        std::string const n = std::to_string(i + 1);
        line("shape_" + n, words(text_of_shape(shaped.ranges, at.shape)));
        line("arena_bytes_at_" + n, std::to_string(at.arena_bytes));
        line("own_bytes_at_" + n, std::to_string(at.own_bytes));
        line("lower_bound_bytes_at_" + n, std::to_string(at.lower_bound_bytes));
    }
    line("excess_percent", with_decimals(100 * plan.excess, 2));
    line("planning_ms", with_decimals(plan.milliseconds, 3));
    line("verified", words(plan.is_verified ? "yes" : "no"));
    if (as_json) out << "}\n";
}

} // namespace plan_model

#endif
