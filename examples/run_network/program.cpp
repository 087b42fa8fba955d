// SPDX-License-Identifier: BSL-1.0

// Runs a real network end to end on planned memory: reads its layers, generates missing weights, plans, runs
// in each memory mode, and compares all results with those of the first run.

#include "program.hpp"

#include "../written_file.hpp"
#include "arguments.hpp"
#include "compare_runs.hpp"
#include "cuda_runs.hpp"
#include "given_data.hpp"
#include "host_program.hpp"
#include "host_runs.hpp"
#include "host_steps.hpp"
#include "read_layers.hpp"
#include "weights.hpp"
#include "within_capacity.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/trace.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

namespace run_network {
namespace {

std::string file_name(std::string const& path) { return std::filesystem::path(path).filename().string(); }

std::string fixed(double number, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

int list(std::string const& folder, std::ostream& out)
{
    std::vector<std::string> files;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
        if (at->path().extension() == ".onnx") files.push_back(at->path().string());
    if (error) throw input_error(folder + ": cannot be read, or is no folder");
    std::sort(files.begin(), files.end());
    std::size_t runnable = 0;
    for (auto const& file : files) {
        std::string line;
        try {
            for (auto const& reason : read_layers(file).missing())
                line += (line.empty() ? "" : ", ") + reason.why;
            runnable += line.empty();
            line = line.empty() ? "runs" : "lacks " + line;
        } catch (input_error const& e) {
            line = std::string("is not a valid model: ") + e.what();
        }
        out << file_name(file) << ": " << line << '\n';
    }
    out << "runnable: " << runnable << " of " << files.size() << '\n';
    return 0;
}

void print_largest(std::ostream& out, std::vector<double> const& output)
{
    std::vector<std::size_t> largest; // the first of equal ones
    for (std::size_t i = 0; i != output.size(); ++i) {
        largest.insert(std::upper_bound(largest.begin(), largest.end(), i,
                                        [&](std::size_t a, std::size_t b) { return output[a] > output[b]; }),
                       i);
        if (largest.size() > 5) largest.pop_back();
    }
    out << "largest:";
    for (std::size_t i = 0; i != largest.size(); ++i)
        out << (i == 0 ? " " : ", ") << largest[i] << " (" << fixed(output[largest[i]], 6) << ')';
    out << '\n';
}

/// The bytes that executors may allocate, beyond what the caller keeps: weights, also on a simulated device,
/// and the results of each run.
///
/// `within`: null without a capacity.
/// Throws: input_error if that is too little, before weights are made.
sublet::byte_count run_byte_limit(host_steps const& steps, sublet::memory_plan const& plan,
                                  steps_within const* within, arguments const& args)
{
    auto sum = [](sublet::byte_count a, sublet::byte_count b) {
        return b < sublet::no_size - a ? a + b : sublet::no_limit;
    };
    std::size_t const modes = std::size_t{args.none} + args.recycle + args.arena;
    std::size_t const on_workers = std::size_t{args.threads != 0} + (args.streams != 0);
    std::size_t const limited = within == nullptr ? 0 : 1 + 2 * on_workers;
    std::size_t const runs = modes * (1 + on_workers + args.cuda) + limited + args.formulas;
    sublet::byte_count kept = within == nullptr ? 0 : within->home_bytes(), unplanned = 0, planned = 0;
    for (std::size_t i = 0; i != std::size_t{1} + (args.streams != 0) + args.formulas; ++i)
        kept = sum(kept, layout_of(steps).bytes);
    for (std::size_t i = 0; i != runs; ++i)
        for (auto v : outputs_of(steps.all->net)) kept = sum(kept, steps.bytes[v]);
    for (host_step const& s : steps.steps) {
        for (auto v : s.defs)
            if (steps.view_of[v] == sublet::no_value) unplanned = sum(unplanned, steps.bytes[v]);
        if (s.scratch != sublet::no_value) unplanned = sum(unplanned, steps.bytes[s.scratch]);
    }
    for (auto bytes : plan.arena_bytes) planned = sum(planned, bytes);
    auto expect = [&](char const* what, sublet::byte_count needed, char const* see) {
        if (needed == sublet::no_limit)
            throw input_error(args.model + ": " + what + " needs more bytes than 64 bits can count");
        if (needed > args.limit)
            throw input_error(args.model + ": " + what + " needs " + std::to_string(needed) +
                              " bytes, more than the limit of " + std::to_string(args.limit) + see);
    };
    expect("even with its plan a run", sum(kept, planned), " (see --limit)");
    if (args.none) expect("a run without a plan", sum(kept, unplanned), " (see --mode and --limit)");
    return args.limit - kept;
}

/// The run in an arena without a capacity, or the first one.
mode_run const& reference_of(std::vector<mode_run> const& runs)
{
    auto const is_in_arena = [](mode_run const& r) { return r.mode == "arena"; };
    auto const found = std::find_if(runs.begin(), runs.end(), is_in_arena);
    return found == runs.end() ? runs.front() : *found;
}

int run(arguments const& args, std::ostream& out, std::ostream& err)
{
    given_data const data = args.data.empty() ? given_data{} : read_data(args.data);
    open_sizes open = args.open;
    open.inputs = data.inputs;
    layered_network const all = read_layers(args.model, open);
    if (auto const missing = all.missing(); !missing.empty()) {
        err << "run_network: " << args.model << ": cannot be run, it lacks:\n";
        for (auto const& reason : missing) err << "  " << reason.why << ": " << reason.where << '\n';
        return 3;
    }
    if (outputs_of(all.net).empty()) throw input_error(args.model + ": has no outputs to compare");
    host_steps const steps = steps_of(all);
    auto const planned = sublet::plan_memory(steps.program(), steps.options());
    std::optional<steps_within> within;
    if (args.capacity.number != 0)
        within.emplace(fit_to(args.capacity.of(planned.bytes()),
                              {.copies = args.copies, .remats = args.runs_again}, steps, args.model));
    sublet::byte_count const room = run_byte_limit(steps, planned.plan, within ? &*within : nullptr, args);
    weights given(steps, args.seed, args.is_uniform);
    sublet::run_trace recorded;
    sublet::run_trace* const trace = args.trace.empty() ? nullptr : &recorded;
    std::vector<mode_run> runs;
    host_program whole = program_of(steps);
    auto each_mode = [&](std::size_t, auto run_in) { for_each_mode(args, planned.plan, run_in); };
    run_on_host(runs, whole, each_mode, given, args, room, trace);
    std::size_t const first_within = runs.size();
    std::optional<sublet::planned_with_handoffs> with_handoffs;
    if (within) {
        auto each_plan = [&](std::size_t workers, auto run_in) {
            run_in("capacity", sublet::arena{within->plan});
            if (workers == 0) return;
            if (!with_handoffs) with_handoffs = within->with_handoffs();
            if (*with_handoffs) run_in("handoffs", sublet::arena{with_handoffs->plan});
        };
        run_on_host(runs, within->what, each_plan, given, args, room, trace);
    }
    if (args.formulas) runs.push_back(run_formulas(all, args));
    std::string cuda_device;
    if (args.cuda) {
#ifdef RUN_NETWORK_HAS_CUDA
        cuda_outcome const outcome = run_on_cuda(all, given, args);
        runs.insert(runs.end(), outcome.runs.begin(), outcome.runs.end());
        cuda_device = outcome.why;
#else
        cuda_device = "not used: this program was built without nvcc";
#endif
    }
    auto name_of = [&](sublet::step_id s) { return (within ? within->what : whole).label(s); };
    auto write = [&](auto& to) { sublet::write_trace(to, recorded, {.steps = name_of}); };
    if (!args.trace.empty() && !written::write_file(args.trace, write))
        throw input_error(args.trace + ": cannot be written");
    run_comparison const compared = compare_runs(runs, data.outputs.empty());
    bool const conclusive = is_conclusive(runs.front().outputs);
    char const* const found = compared.are_equal ? "identical" : conclusive ? "DIFFERENT" : "PROVE NOTHING";
    std::string const deviation = deviation_from(data, all, runs.front().outputs);
    if (!deviation.empty()) err << "run_network: " << deviation << '\n';
    bool const are_right = compared.are_equal && deviation.empty();
    for (auto const& remark : compared.remarks) err << "run_network: " << remark << '\n';

    if (args.csv) {
        if (!cuda_device.empty()) err << "run_network: cuda: " << cuda_device << '\n';
        out << "model,executor,mode,peak_bytes,allocations,milliseconds\n";
        for (mode_run const& r : runs)
            out << file_name(args.model) << ',' << r.executor << ',' << r.mode << ',' << r.peak_bytes << ','
                << r.allocations << ',' << fixed(r.milliseconds, 3) << '\n';
        return are_right ? 0 : 1;
    }
    out << "model: " << file_name(args.model) << "\noperations: " << all.layers.size()
        << "\ngiven_bytes: " << given.total_bytes() << "\nlargest_scratch_bytes: " << steps.largest_scratch()
        << "\nlower_bound_bytes: " << planned.report().lower_bound_bytes << '\n';
    if (args.cuda) out << "cuda: " << cuda_device << '\n';
    for (mode_run const& r : runs)
        out << r.executor << ' ' << r.mode << ": peak_bytes " << r.peak_bytes << ", allocations "
            << r.allocations << ", ms " << fixed(r.milliseconds, 1) << '\n';
    if (within)
        out << "capacity: " << within->capacity << ", arena_bytes " << within->arena_bytes << " instead of "
            << planned.bytes() << ", steps_again " << within->steps_again << ", copied_bytes "
            << within->copied_bytes << ", ms " << fixed(runs[first_within].milliseconds, 1) << " instead of "
            << fixed(reference_of(runs).milliseconds, 1) << '\n';
    if (with_handoffs && !*with_handoffs) out << "handoffs: no plan within the capacity was found\n";
    if (conclusive) print_largest(out, runs.front().outputs.front());
    out << "results: " << found << '\n';
    if (!data.outputs.empty())
        out << "given outputs: " << (deviation.empty() ? "equal" : "DIFFERENT") << '\n';
    return are_right ? 0 : 1;
}

std::string cause_of(sublet::run_error const& error)
{
    if (!error.cause()) return error.what();
    try {
        std::rethrow_exception(error.cause());
    } catch (std::exception const& e) {
        return e.what();
    }
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    std::string about;
    try {
        arguments const args = read_arguments(count, words);
        if (args.help) {
            out << usage;
            return 0;
        }
        if (args.version) {
            out << command_line::version_of("run_network");
            return 0;
        }
        about = args.model + ": ";
        return args.folder.empty() ? run(args, out, err) : list(args.folder, out);
    } catch (input_error const& e) {
        err << "run_network: " << e.what() << '\n';
    } catch (sublet::run_error const& e) { // of a kernel, which names its operation
        err << "run_network: " << about << cause_of(e) << '\n';
    } catch (std::exception const& e) { // an internal error, or out of memory
        err << "run_network: " << about << e.what() << '\n';
    }
    return 2;
}

} // namespace run_network
