// SPDX-License-Identifier: BSL-1.0

// pack --capacity=BYTES|--minimize --input=FILE.csv: places buffers with fixed lifetimes. Reads the table,
// searches, prints the quality of the placement and its proof, and writes the table with offsets.

#include "program.hpp"

#include "../written_file.hpp"
#include "arguments.hpp"
#include "draw_placement.hpp"
#include "explain.hpp"
#include "foreign_tables.hpp"
#include "penalty_sets.hpp"
#include "progress_line.hpp"
#include "read_lifetimes.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/place.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace pack {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string with_decimals(double number, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

template <class Write>
void write_if_asked(std::string const& file, Write write)
{
    if (!file.empty() && !written::write_file(file, write)) throw input_error(file + ": cannot be written");
}

/// The counterexample of the library's checker; empty if the placement is valid.
std::string mistake_in(sublet::placement const& placed, sublet::placement_problem const& problem,
                       sublet::placement::objective objective)
{
    std::ostringstream text;
    auto const valid = sublet::check_placement(problem, placed, {.objective = objective});
    auto const proof = sublet::check_proof(problem, placed, 0);
    if (!valid) text << valid.error();
    else if (!proof && proof.error().what == sublet::fault::wrong_proof) text << proof.error();
    return std::move(text).str();
}

int run(arguments const& args, std::ostream& out, std::ostream& err)
{
    lifetimes table = read_table(args.input, args.input_format);
    offline_offsets const pins = args.pins.empty() ? offline_offsets() : read_pins(args.pins);
    std::string remarks; // printed when all that can be refused has been read
    auto say = [&](std::string const& what) {
        if (!args.quiet) remarks += "pack: " + args.input + ": " + what + '\n';
    };
    if (table.problem.clocks.threads != 0 && !(args.svg.empty() && args.html.empty() && args.trace.empty()))
        throw input_error(args.input + ": lifetimes of several threads cannot be drawn");
    auto const pinned = std::count_if(table.problem.buffers.begin(), table.problem.buffers.end(),
                                      [](auto const& b) { return b.pinned != sublet::no_offset; });
    try {
        if (!args.pins.empty()) pin(table, pins);
        if (!args.output.empty())
            for (std::string const& lost : lost_in(args.output_format, table)) say(lost);
    } catch (input_error const& e) {
        throw input_error(args.input + ": " + e.what());
    }
    if (pinned != 0)
        say("its offsets are pins: " + std::to_string(pinned) + " of " + std::to_string(table.rows.size()) +
            " rows are pinned there and do not move (empty the column offset to place them)");
    for (std::string const& name : table.unused) say("column " + in_quotes(name) + " is not used");
    table.problem.pools = {{.capacity = args.capacity}};
    table.problem.period = args.period;

    auto const objective =
        args.minimize ? sublet::placement::objective::minimize : sublet::placement::objective::fit;
    auto const start = std::chrono::steady_clock::now();
    sublet::placement const placed = [&] {
        progress_line line(err, args.quiet, args.time_limit);
        return sublet::place(table.problem,
                             {.time_limit = args.time_limit,
                              .threads = args.threads,
                              .seed = args.seed,
                              .objective = objective,
                              .effort = 20'000'000,
                              .stop = [] { return pack::is_interrupted != 0; },
                              .progress = [&](auto best, auto bound, auto) { line.show(best, bound); }});
    }();
    double const seconds = seconds_since(start);
    if (std::string const mistake = mistake_in(placed, table.problem, objective); !mistake.empty())
        throw std::logic_error("internal error: the placement is invalid: " + mistake);

    using enum sublet::placement::outcome;
    sublet::placement::pool_result const& pool = placed.pools[0];
    bool const is_infeasible = placed.status == infeasible;
    bool const is_solved = placed.status == optimal || (placed.status == feasible && !args.minimize);
    bool const is_lowest = pool.height == pool.lower_bound; // for a capacity `optimal` means that it suffices
    if (is_infeasible) {
        say("nothing fits: " + explain(pool.proof, table));
        err << remarks;
    } else {
        try {
            if (args.output_format == format::tflm) (void)offline_offsets_of(table, placed.offset, pins);
        } catch (input_error const& e) {
            throw input_error(args.output + ": " + e.what());
        }
        err << remarks;
        write_if_asked(args.output,
                       [&](auto& to) { write_table(to, args.output_format, table, placed.offset, pins); });
        std::string const title = std::filesystem::path(args.input).filename().string();
        write_if_asked(args.svg, [&](auto& to) { draw_placement(to, table, placed, title); });
        write_if_asked(args.html, [&](auto& to) { write_page(to, table, placed, args.before, title); });
        write_if_asked(args.trace, [&](auto& to) { trace_placement(to, table, placed); });
    }
    if (!args.quiet)
        out << "buffers: " << table.rows.size() << "\nlower_bound: " << pool.lower_bound
            << "\nheight: " << pool.height
            << "\nstatus: " << word_of(placed.status == optimal && !is_lowest ? feasible : placed.status)
            << "\nseconds: " << with_decimals(seconds, 6) << "\nnodes: " << pool.nodes << '\n';
    return is_solved ? 0 : is_infeasible ? 1 : 3;
}

int run_penalties(arguments const& args, std::ostream& out)
{
    std::string const text = file_contents(args.penalties);
    auto const instances = [&] {
        try {
            return read_penalties(text);
        } catch (input_error const& e) {
            throw input_error(args.penalties + ": " + e.what());
        }
    }();
    sublet::byte_count cost = 0, bound = 0, best_known = 0;
    std::size_t proved = 0, infeasible = 0;
    bool all_fit = true;
    double seconds_of_all = 0;
    for (penalty_instance const& instance : instances) {
        auto const start = std::chrono::steady_clock::now();
        sublet::placement const placed = sublet::place(
            instance.problem,
            {.time_limit = args.time_limit, .threads = args.threads, .seed = args.seed, .stop = [] {
                 return is_interrupted != 0;
             }});
        double const seconds = seconds_since(start);
        auto const minimize = sublet::placement::objective::minimize;
        if (std::string const mistake = mistake_in(placed, instance.problem, minimize); !mistake.empty())
            throw std::logic_error("internal error: the placement is invalid: " + mistake);
        sublet::byte_count height = 0;
        for (auto const& pool : placed.pools) height = std::max(height, pool.height);
        bool const fits = placed.status <= sublet::placement::outcome::feasible;
        all_fit = all_fit && fits;
        proved += fits && placed.penalty == placed.penalty_bound;
        infeasible += placed.status == sublet::placement::outcome::infeasible;
        cost += fits ? placed.penalty : 0;
        bound += fits ? placed.penalty_bound : 0;
        best_known += instance.best_known.value_or(0);
        seconds_of_all += seconds;
        out << instance.name << ": cost " << placed.penalty << " bound " << placed.penalty_bound;
        if (instance.best_known) out << " best_known " << *instance.best_known;
        out << " height " << height << " seconds " << with_decimals(seconds, 3);
        if (!fits)
            out << (placed.status == sublet::placement::outcome::infeasible ? " nothing fits"
                                                                            : " does not fit");
        out << '\n';
        out.flush();
    }
    out << "instances: " << instances.size() << "\nproved: " << proved << "\ninfeasible: " << infeasible
        << "\ncost: " << cost << "\nbound: " << bound << "\nbest_known: " << best_known
        << "\nseconds: " << with_decimals(seconds_of_all, 3) << '\n';
    return all_fit ? 0 : 3;
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
            out << command_line::version_of("pack");
            return 0;
        }
        if (!args.penalties.empty()) {
            about = args.penalties + ": ";
            return run_penalties(args, out);
        }
        about = args.input + ": ";
        return run(args, out, err);
    } catch (input_error const& e) {
        err << "pack: " << e.what() << '\n';
    } catch (std::exception const& e) { // sizes beyond 64 bits in total, out of memory
        std::string_view says = e.what();
        if (says.starts_with("sublet: ")) says.remove_prefix(8);
        err << "pack: " << about << says << '\n';
    }
    return 2;
}

} // namespace pack
