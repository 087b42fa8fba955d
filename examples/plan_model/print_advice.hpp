// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_PRINT_ADVICE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_PRINT_ADVICE_HPP

/// What to spill or to run again so that a network fits, and what less memory costs.

#include "network.hpp"
#include "summary.hpp"
#include "timed_plan.hpp"

#include <sublet/advise_memory.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

inline bool has_flops(network const& net)
{
    return std::any_of(net.operations.begin(), net.operations.end(), [](auto& op) { return op.flops != 0; });
}

/// The cost of a node that runs again: the bytes that it reads and writes. If the file has flops, the unit is
/// a copied byte: as much as 400 flops, or as 20 bytes that a node reads or writes.
inline sublet::advice_options advice_costs(network const& net, sublet::snapshot const& program)
{
    if (!has_flops(net)) return {};
    std::vector<sublet::byte_count> cost;
    for (sublet::step_id s = 0; s != program.steps(); ++s) {
        sublet::byte_count touched = 0;
        for (sublet::touch const t : program.touches(s))
            if (sublet::byte_count const bytes = net.values[t.value].bytes; bytes != sublet::no_size)
                touched = sublet::checked_add(touched, bytes);
        cost.push_back(1 + net.operations[s].flops / 400 + touched / 20);
    }
    return {.step_cost = cost};
}

/// Prints the spills that make a network fit a capacity. Returns whether it fits with them and the plan is
/// proved.
inline bool print_advice(std::ostream& out, std::string const& model, network const& net,
                         plan_settings const& settings, sublet::byte_count capacity)
{
    sublet::plan_options options = as_options(net, settings);
    options.pools = {{.capacity = capacity}};
    sublet::snapshot const program = as_program(net);
    auto const advice = sublet::advise_memory(program, options, advice_costs(net, program));
    if (!advice && advice.error().what != sublet::fault::over_capacity)
        throw input_error(model + ": there is no plan for it in this order");
    for (sublet::memory_advice::suggestion const& s : advice.suggestions) {
        out << quoted(net.values[s.value].name) << ", " << s.bytes << " bytes: spilled after "
            << net.operations[s.after].label << ", ";
        if (s.remat_step == sublet::no_step) out << "copied";
        else out << "recomputed by " << net.operations[s.remat_step].label;
        if (s.before == sublet::no_step) out << " at the end";
        else out << " before " << net.operations[s.before].label;
        out << ", cost " << s.cost << '\n';
    }
    out << model << ": " << advice.report() << ", with " << advice.suggestions.size() << " suggestions, cost "
        << advice.cost << '\n';
    sublet::memory_advice::pool const pool =
        advice.pools.empty() ? sublet::memory_advice::pool{} : advice.pools[0];
    if (pool.least > capacity)
        out << "no spills help: " << net.operations[pool.least_step].label << " needs " << pool.least
            << " bytes at once\n";
    auto runs_once = [](operation const& op) { return !op.may_recompute && !op.may_recompute_results; };
    auto const once = std::count_if(net.operations.begin(), net.operations.end(), runs_once);
    if (!advice && once != 0)
        out << once << " of " << net.operations.size()
            << " nodes are not known to be functions of their inputs, as "
            << std::find_if(net.operations.begin(), net.operations.end(), runs_once)->label
            << ": their results are never recomputed\n";
    return bool(advice) && advice.report().is_checked;
}

/// What a network costs within one limit.
struct limit_row {
    sublet::byte_count limit = 0;
    bool fits = false, is_verified = false;
    sublet::byte_count bytes = 0; ///< of the arena; without a plan, those that were reached
    sublet::byte_count cost = 0;
    std::size_t again = 0;         ///< nodes that run again, as often as they do
    sublet::byte_count copied = 0; ///< out and back, each direction counted
    double more_flops = 0;         ///< of the nodes that run again, in percent of all
};

/// `whole`: bytes of the plan without limits.
inline std::vector<limit_row> cost_within(network const& net, plan_settings const& settings,
                                          sublet::byte_count whole, std::vector<memory_limit> const& limits)
{
    sublet::snapshot const program = as_program(net);
    std::vector<sublet::byte_count> bytes;
    for (memory_limit const& each : limits) bytes.push_back(each.bytes_of(whole));
    double all_flops = 0;
    for (operation const& op : net.operations) all_flops += static_cast<double>(op.flops);
    std::vector<limit_row> rows;
    for (sublet::memory_advice const& advice :
         sublet::advise_limits(program, as_options(net, settings), bytes, advice_costs(net, program))) {
        limit_row& row = rows.emplace_back();
        row.limit = bytes[rows.size() - 1];
        row.fits = bool(advice);
        row.is_verified = !row.fits || advice.report().is_checked;
        row.bytes = advice.bytes();
        if (!row.fits && !advice.pools.empty()) row.bytes = std::max(row.bytes, advice.pools[0].peak_after);
        row.cost = advice.cost;
        for (sublet::memory_advice::suggestion const& s : advice.suggestions)
            if (s.remat_step == sublet::no_step) row.copied += 2 * s.bytes;
        double flops = 0;
        for (sublet::spilled_program::step const& s : advice.spilled.steps) {
            if (s.kind != sublet::spilled_program::kind::rematerialize) continue;
            ++row.again;
            flops += static_cast<double>(net.operations[s.step].flops);
        }
        if (all_flops != 0) row.more_flops = 100 * flops / all_flops;
    }
    return rows;
}

/// Bytes of the arena and cost, from the plan without limits on; empty without rows.
inline std::vector<std::pair<sublet::byte_count, sublet::byte_count>>
cost_curve(sublet::byte_count whole, std::vector<limit_row> const& rows)
{
    std::vector<std::pair<sublet::byte_count, sublet::byte_count>> curve;
    if (!rows.empty()) curve.emplace_back(whole, 0);
    for (limit_row const& row : rows)
        if (row.fits && std::find(curve.begin(), curve.end(), std::pair(row.bytes, row.cost)) == curve.end())
            curve.emplace_back(row.bytes, row.cost);
    return curve;
}

/// The cells behind the limit: the arena, the cost, nodes run again, copied bytes and, if the file has them,
/// flops.
inline std::vector<std::string> cells_of(limit_row const& row, bool with_flops)
{
    std::vector<std::string> cells{std::to_string(row.bytes), std::to_string(row.cost),
                                   std::to_string(row.again), std::to_string(row.copied)};
    if (with_flops) cells.push_back(with_decimals(row.more_flops, 2));
    return cells;
}

/// One row a limit, right-aligned.
inline void print_limits(std::ostream& out, std::vector<limit_row> const& rows, bool with_flops)
{
    std::vector<std::vector<std::string>> table{{"limit", "arena", "cost", "again", "copied"}};
    if (with_flops) table.front().push_back("flops %");
    for (limit_row const& row : rows) {
        table.push_back({std::to_string(row.limit)});
        if (!row.fits) table.back().push_back("none, " + std::to_string(row.bytes) + " reached");
        else
            for (std::string const& cell : cells_of(row, with_flops)) table.back().push_back(cell);
    }
    std::array<std::size_t, 6> widths = {};
    for (auto const& line : table) {
        std::size_t const columns = line.size() == 2 ? 1 : line.size(); // "none" needs no column
        for (std::size_t i = 0; i != columns; ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    for (auto const& line : table) {
        for (std::size_t i = 0; i != line.size(); ++i) {
            std::size_t const width = std::max(widths[i], line[i].size());
            out << (i == 0 ? "" : "  ") << std::string(width - line[i].size(), ' ') << line[i];
        }
        out << '\n';
    }
}

/// Without a plan the cells behind the limit are empty.
inline void write_limits(std::ostream& out, std::vector<limit_row> const& rows, bool with_flops)
{
    out << "limit,arena,cost,again,copied" << (with_flops ? ",flops_percent\n" : "\n");
    for (limit_row const& row : rows) {
        out << row.limit;
        for (std::string const& cell : cells_of(row, with_flops)) out << ',' << (row.fits ? cell : "");
        out << '\n';
    }
}

} // namespace plan_model

#endif
