// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP

#include "network.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace plan_model {

inline constexpr char usage[] =
    "usage: plan_model MODEL.onnx [--order WORD|FILE] [--align N] [--in-place on|off]\n"
    "                  [--symbolic N_MAX | --capacity BYTES]\n"
    "                  [--semantics sequential|concurrent [--strategy offsets|slots | --handoffs [--workers "
    "N]]]\n"
    "                  [--svg FILE] [--dot FILE] [--csv FILE] [--why-peak FILE] [--json] [--quiet]\n"
    "                  [--run [--check off|plan|paint|digest] [--limit BYTES]]\n"
    "\n"
    "Plans where the values of a neural network lie in memory, proves the plan, and prints what it needs.\n"
    "\n"
    "  --order WORD       run the nodes as the file lists them (file, so by default), or in an order that "
    "may "
    "need\n"
    "                     less memory: longest-path, least-peak, exact (by search among all), best (all of "
    "these)\n"
    "  --order FILE       or in this one: one node index a line, counted from 0 (./best is always a file)\n"
    "  --align N          every buffer begins at a multiple of N bytes (1)\n"
    "  --in-place on|off  let results be written over operands where the model allows it (on)\n"
    "  --capacity BYTES   say what to copy out and back, or to make again, to run in so many bytes; exit "
    "status 1\n"
    "                     if it does not fit even so\n"
    "  --symbolic N_MAX   one plan for every batch N from 1 to N_MAX, in formulas; what grows with the batch "
    "is\n"
    "                     found from the dimensions of the inputs\n"
    "  --semantics WORD   sequential: one node after the other (so by default); concurrent: a node runs as "
    "soon\n"
    "                     as its operands are there, and the plan holds in whatever order that is\n"
    "  --strategy WORD    how values share then: offsets, anywhere in an arena (so by default), or slots, "
    "each\n"
    "                     wholly in an allocation of its own or of others\n"
    "  --handoffs         let nodes also wait for memory where that makes the arena smaller\n"
    "  --workers N        accept with --handoffs the time that N workers need; without it no time is lost\n"
    "  --svg FILE         draw the plan: time from left to right, addresses upwards\n"
    "  --dot FILE         draw the network for Graphviz, without its weights: results of one colour can "
    "share\n"
    "                     an allocation\n"
    "  --csv FILE         write the plan: one row a buffer, id,lower,upper,size,offset\n"
    "  --why-peak FILE    write who is alive where most bytes are, for whom, and the peak without it\n"
    "  --run              run it with synthetic kernels in three modes, without a plan (no_plan), counting\n"
    "                     references (recycle), as planned (arena): is the same left at the end?\n"
    "  --check LEVEL      how closely these runs are watched: off, plan, paint or digest (plan)\n"
    "  --limit BYTES      what a run may take (half of this machine's memory); no_plan is left out where it\n"
    "                     needs more\n"
    "  --json             print one JSON object instead of lines\n"
    "  --quiet            print nothing but errors\n"
    "\n"
    "Exit status: 0; 1 if the plan could not be verified, the runs differ, or a capacity is not reached; 2 "
    "for\n"
    "bad input or usage.\n";

/// Of this machine, or no limit where it does not say.
inline sublet::byte_count half_of_memory()
{
#if __has_include(<unistd.h>)
    long const pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        return static_cast<sublet::byte_count>(pages) / 2 * static_cast<sublet::byte_count>(bytes);
#endif
    return sublet::no_limit;
}

/// Throws: input_error.
inline bool parse_choice(std::string const& option, std::string const& word, char const* first,
                         char const* second)
{
    if (word != first && word != second)
        throw input_error("option " + option + " is " + first + " or " + second + ", not " + quoted(word));
    return word == second;
}

struct arguments {
    std::string model;
    std::string order, svg, dot, csv, why_peak; ///< files; empty: not asked for
    sublet::byte_count alignment = 1;
    sublet::byte_count capacity = 0;  ///< 0: as many bytes as it takes
    sublet::byte_count max_batch = 0; ///< 0: one plan for the batch of the file
    bool in_place = true;
    bool concurrent = false, slots = false, handoffs = false;
    std::size_t workers = 0; ///< as many as nodes
    bool run = false;
    sublet::executor_options::checks check = sublet::executor_options::checks::plan;
    sublet::byte_count limit = half_of_memory();
    bool json = false;
    bool quiet = false;
    bool help = false;
};

/// Throws: input_error.
inline std::uint64_t read_number(std::string const& option, std::string const& number,
                                 char const* what = "a number")
{
    std::uint64_t read = 0;
    auto const [end, error] = std::from_chars(number.data(), number.data() + number.size(), read);
    if (error != std::errc{} || end != number.data() + number.size() || read == 0)
        throw input_error("option " + option + " is " + what + " from 1 on, not " + quoted(number));
    return read;
}

/// Throws: input_error.
inline sublet::byte_count read_byte_count(std::string const& option, std::string const& number)
{
    return read_number(option, number, "a number of bytes");
}

/// Throws: input_error.
inline sublet::executor_options::checks read_check_level(std::string const& word)
{
    using enum sublet::executor_options::checks;
    for (auto [name, level] : {std::pair{"off", off}, {"plan", plan}, {"paint", paint}, {"digest", digest}})
        if (word == name) return level;
    throw input_error("option --check is off, plan, paint or digest, not " + quoted(word));
}

/// Throws: input_error.
inline arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    bool has_model = false;
    std::string only_with_run, only_if_concurrent; // the last option of that kind
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        auto operand = [&] {
            if (++i == count || words[i][0] == '\0')
                throw input_error("option " + word + " needs an operand (see --help)");
            return std::string(words[i]);
        };
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--order") args.order = operand();
        else if (word == "--svg") args.svg = operand();
        else if (word == "--dot") args.dot = operand();
        else if (word == "--csv") args.csv = operand();
        else if (word == "--why-peak") args.why_peak = operand();
        else if (word == "--run") args.run = true;
        else if (word == "--json") args.json = true;
        else if (word == "--quiet") args.quiet = true;
        else if (word == "--in-place") {
            args.in_place = !parse_choice(word, operand(), "on", "off");
        } else if (word == "--semantics") {
            args.concurrent = parse_choice(word, operand(), "sequential", "concurrent");
        } else if (word == "--strategy") {
            args.slots = parse_choice(word, operand(), "offsets", "slots");
            only_if_concurrent = word;
        } else if (word == "--handoffs") {
            args.handoffs = true;
            only_if_concurrent = word;
        } else if (word == "--workers") {
            args.workers = read_number(word, operand());
        } else if (word == "--align") {
            args.alignment = read_byte_count(word, operand());
        } else if (word == "--capacity") {
            args.capacity = read_byte_count(word, operand());
        } else if (word == "--symbolic") {
            args.max_batch = read_number(word, operand());
        } else if (word == "--limit") {
            args.limit = read_byte_count(word, operand());
            only_with_run = word;
        } else if (word == "--check") {
            args.check = read_check_level(operand());
            only_with_run = word;
        } else if (word.size() > 1 && word[0] == '-') {
            throw input_error("unknown option " + quoted(word) + " (see --help)");
        } else if (has_model) {
            throw input_error("more than one model: " + quoted(args.model) + " and " + quoted(word));
        } else {
            args.model = word;
            has_model = true;
        }
    }
    if (!has_model && !args.help) throw input_error("no model is given (see --help)");
    if (!args.run && !only_with_run.empty())
        throw input_error("option " + only_with_run + " is about a run: it needs --run (see --help)");
    if (!args.concurrent && !only_if_concurrent.empty())
        throw input_error("option " + only_if_concurrent + " needs --semantics concurrent (see --help)");
    if (args.workers != 0 && !args.handoffs)
        throw input_error("option --workers is about waiting: it needs --handoffs (see --help)");
    if (args.capacity != 0 &&
        (args.concurrent || args.run || args.json || args.max_batch != 0 || !args.svg.empty() ||
         !args.dot.empty() || !args.csv.empty() || !args.why_peak.empty()))
        throw input_error(
            "option --capacity prints advice: it does not go with runs, files of one plan, --json, "
            "--symbolic or --semantics concurrent");
    if (args.max_batch != 0 && (args.concurrent || args.run || !args.svg.empty() || !args.dot.empty() ||
                                !args.csv.empty() || !args.why_peak.empty()))
        throw input_error(
            "option --symbolic is about every batch: it does not go with runs, files of one plan "
            "or --semantics concurrent");
    if (args.slots && args.handoffs)
        throw input_error("option --handoffs makes offsets: it does not go with --strategy slots");
    if (args.concurrent && !(args.order.empty() && args.why_peak.empty()))
        throw input_error("option " + std::string(args.order.empty() ? "--why-peak" : "--order") +
                          " is about one order: it does not go with --semantics concurrent");
    if (args.run && !std::has_single_bit(args.alignment))
        throw input_error("option --run needs an alignment that is a power of two, not " +
                          std::to_string(args.alignment));
    return args;
}

} // namespace plan_model

#endif
