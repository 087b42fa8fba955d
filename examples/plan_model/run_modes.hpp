// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_RUN_MODES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_RUN_MODES_HPP

/// Runs a network in three memory modes and compares the digests of their results.
///
///     no_plan   every value has storage of its own: the oracle ──► digest ─┐
///     recycle   freed after the last use ────────────────────────► digest ─┼─► identical or DIFFERENT
///     arena     at the offsets of the plan ──────────────────────► digest ─┘
///
/// The first run is in the order of the file or in the requested one. A plan for every schedule is run in an
/// order that respects its hand-offs, and in the arena a second time, the last ready step first.

#include "network.hpp"
#include "run_network.hpp"
#include "timed_plan.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution.hpp>
#include <sublet/plan_memory.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace plan_model {

struct mode_comparison {
    std::optional<mode_run> no_plan, recycle, arena; ///< empty: not run, or failed
    std::vector<std::string> remarks;                ///< what was skipped
    std::vector<std::string> faults;                 ///< errors

    bool is_run() const { return recycle || arena || !faults.empty(); }
    bool is_identical() const { return is_run() && faults.empty(); }
};

struct limit_exceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A clobbered value in terms of the model.
inline std::string explain(sublet::clobbered_value::finding const& what, network const& net)
{
    auto value = [&](auto v) { return "value " + quoted(net.values[v].name); };
    std::string text = value(what.value);
    if (what.producer != sublet::no_step) text += ", made by " + net.operations[what.producer].label + ',';
    text += " is not what it was when ";
    if (what.reader == sublet::no_step) text += "the run ends";
    else text += net.operations[what.reader].label + " needs it";
    if (what.culprit != sublet::no_value) text += ": " + value(what.culprit) + " lies over it";
    return text;
}

/// Runs the three modes one after the other, so that no two of them need memory at once. The run without a
/// plan is skipped if it would exceed the limit.
///
/// Requires: the plan is one of this network with these settings. (It may be unsound if `how` skips the
///           proof.)
/// Throws:   limit_exceeded if the plan also exceeds the limit; allocation_error.
inline mode_comparison compare_modes(network const& net, plan_settings const& settings,
                                     sublet::memory_plan const& plan, sublet::executor_options how = {})
{
    bool const is_any_order = plan.valid_for == sublet::program_reading::concurrent;
    sublet::snapshot const program = as_program(net);
    sublet::plan_options const options = as_options(net, settings);
    external_storage external(net, settings.alignment);

    auto with_external = [&](sublet::byte_count bytes) {
        sublet::byte_count const more = external.total_bytes();
        return more < sublet::no_size - bytes ? bytes + more : sublet::no_limit;
    };
    std::string const limit = std::to_string(how.limit);
    sublet::byte_count arenas = 0;
    for (sublet::byte_count bytes : plan.arena_bytes) arenas = sublet::checked_add(arenas, bytes);
    if (with_external(arenas) > how.limit)
        throw limit_exceeded("even with its plan a run needs " + std::to_string(with_external(arenas)) +
                             " bytes, " + std::to_string(arenas) + " for planned values and " +
                             std::to_string(external.total_bytes()) +
                             " for weights and other storage outside of the plan, more than the limit of " +
                             limit + " (see --limit)");

    mode_comparison result;
    sublet::plan_options naive_options = options;
    naive_options.in_place = naive_options.check = false;
    sublet::byte_count const unplanned =
        with_external(sublet::plan_memory(program, naive_options).report().naive_bytes);
    bool const fits = unplanned <= how.limit;
    if (!fits)
        result.remarks.push_back("a run without a plan needs " + std::to_string(unplanned) +
                                 " bytes, more than the limit of " + limit +
                                 "; the planned modes are compared with each other");

    if (how.limit != sublet::no_limit) how.limit -= external.total_bytes();
    char const* oracle = nullptr; // the first mode that completes
    std::uint64_t expected = 0;
    auto attempt = [&](char const* name, auto run_it, char const* order = "") -> std::optional<mode_run> {
        std::string const where = std::string("in mode ") + name + order;
        try {
            mode_run const mode_result = run_it();
            if (oracle == nullptr) oracle = name, expected = mode_result.outputs;
            if (mode_result.outputs != expected)
                result.faults.push_back(where + " the results differ from those in mode " + oracle);
            return mode_result;
        } catch (sublet::clobbered_value const& e) {
            result.faults.push_back(where + ", " + explain(e.details(), net));
            return std::nullopt;
        }
    };
    auto in_mode = [&](auto const& mode, bool last_first = false) {
        return [&, last_first] {
            return is_any_order ? run_any_order(net, program, options, mode, last_first, external, how)
                                : run(net, program, options, mode, external, how);
        };
    };
    if (fits)
        result.no_plan =
            attempt("no_plan", [&] { return run(net, program, options, sublet::no_plan{}, external, how); });
    result.recycle = attempt("recycle", in_mode(sublet::recycle{}));
    result.arena = attempt("arena", in_mode(sublet::arena{plan}));
    if (is_any_order && result.arena)
        attempt("arena", in_mode(sublet::arena{plan}, true), ", the last steps first,");
    return result;
}

} // namespace plan_model

#endif
