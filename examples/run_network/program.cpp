// SPDX-License-Identifier: BSL-1.0

// A real network, end to end, on planned memory: read its layers, make up what the file does not hold, plan,
// run it in each memory mode, and compare all results with those of the first run.

#include "program.hpp"

#include "arguments.hpp"
#include "compare_runs.hpp"
#include "cuda_runs.hpp"
#include "host_runs.hpp"
#include "layered_program.hpp"
#include "read_layers.hpp"
#include "weights.hpp"

#include <sublet/planner.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>
#include <ostream>
#include <string>
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
    for (auto const& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".onnx") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    std::size_t runnable = 0;
    for (auto const& file : files) {
        std::string line;
        try {
            for (auto const& why : read_layers(file).missing()) line += (line.empty() ? "" : ", ") + why;
            runnable += line.empty();
            line = line.empty() ? "runs" : "lacks " + line;
        } catch (input_error const& e) {
            line = std::string("is no input: ") + e.what();
        }
        out << file_name(file) << ": " << line << '\n';
    }
    out << "runnable: " << runnable << " of " << files.size() << '\n';
    return 0;
}

void print_largest(std::ostream& out, std::vector<float> const& output)
{
    std::vector<std::size_t> order(output.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t const shown = std::min<std::size_t>(5, order.size());
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
        [&](std::size_t a, std::size_t b) { return output[a] != output[b] ? output[a] > output[b] : a < b; });
    out << "largest:";
    for (std::size_t i = 0; i != shown; ++i)
        out << (i == 0 ? " " : ", ") << order[i] << " (" << fixed(output[order[i]], 6) << ')';
    out << '\n';
}

int run(arguments const& asked, std::ostream& out, std::ostream& err)
{
    layered_network const all = read_layers(asked.model);
    if (auto const missing = all.missing(); !missing.empty()) {
        err << "run_network: " << asked.model << ": cannot be run, it lacks:\n";
        for (auto const& why : missing) err << "  " << why << '\n';
        return 3;
    }
    if (outputs_of(all.net).empty()) throw input_error(asked.model + ": has no outputs to compare");
    weights given(all, asked.seed, asked.is_uniform);
    layered_program const made = program_of(all);
    auto const planned = sublet::plan_memory(made.program, made.options);
    std::vector<mode_run> runs = run_on_host(all, made, planned.plan, given, asked);
    if (asked.formulas) runs.push_back(run_formulas(all, given));
    std::string cuda_device;
    if (asked.cuda) {
#ifdef RUN_NETWORK_HAS_CUDA
        cuda_outcome const outcome = run_on_cuda(all, given, asked);
        runs.insert(runs.end(), outcome.runs.begin(), outcome.runs.end());
        cuda_device = outcome.why;
#else
        cuda_device = "not used: this program was built without nvcc";
#endif
    }
    verdict const judged = judge(runs);
    bool const tells = is_telling(runs.front().outputs);
    char const* const found = judged.are_equal ? "identical" : tells ? "DIFFERENT" : "PROVE NOTHING";
    for (auto const& remark : judged.remarks) err << "run_network: " << remark << '\n';

    if (asked.csv) {
        if (!cuda_device.empty()) err << "run_network: cuda: " << cuda_device << '\n';
        out << "model,executor,mode,peak_bytes,allocations,milliseconds\n";
        for (mode_run const& r : runs)
            out << file_name(asked.model) << ',' << r.executor << ',' << r.mode << ',' << r.peak_bytes << ','
                << r.allocations << ',' << fixed(r.milliseconds, 3) << '\n';
        return judged.are_equal ? 0 : 1;
    }
    out << "model: " << file_name(asked.model) << "\noperations: " << all.layers.size()
        << "\ngiven_bytes: " << given.total_bytes() << "\nlargest_scratch_bytes: " << made.largest_scratch
        << "\nlower_bound_bytes: " << planned.report.lower_bound_bytes << '\n';
    if (asked.cuda) out << "cuda: " << cuda_device << '\n';
    for (mode_run const& r : runs)
        out << r.executor << ' ' << r.mode << ": peak_bytes " << r.peak_bytes << ", allocations "
            << r.allocations << ", ms " << fixed(r.milliseconds, 1) << '\n';
    if (tells) print_largest(out, runs.front().outputs.front());
    out << "results: " << found << '\n';
    return judged.are_equal ? 0 : 1;
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    try {
        arguments const asked = read_arguments(count, words);
        if (asked.help) {
            out << usage;
            return 0;
        }
        return asked.folder.empty() ? run(asked, out, err) : list(asked.folder, out);
    } catch (std::exception const& e) {
        err << "run_network: " << e.what() << '\n';
        return 2;
    }
}

} // namespace run_network
