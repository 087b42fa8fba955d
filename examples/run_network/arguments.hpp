// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_ARGUMENTS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_ARGUMENTS_HPP

#include "../command_line.hpp"
#include "../plan_model/arguments.hpp"
#include "read_layers.hpp"

#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace run_network {

using plan_model::input_error;
using plan_model::quoted;

inline constexpr char usage[] =
    "usage: run_network MODEL.onnx [--mode none|recycle|arena|all] [--threads N] [--streams N] [--cuda]\n"
    "                   [--formulas] [--weights noise|uniform] [--seed S] [--runs N]\n"
    "                   [--check off|plan|paint|digest] [--limit BYTES] [--csv] [--trace FILE]\n"
    "                   [--capacity BYTES|N%] [--restore copies|steps|both]\n"
    "                   [--dim NAME=N]... [--value INPUT=N]...\n"
    "       run_network --list FOLDER\n"
    "\n"
    "Runs a neural network with real kernels on planned memory, and compares the results with a run without\n"
    "a plan, element by element.\n"
    "\n"
    "  --mode WORD      without a plan (none), by reference counting (recycle), as planned (arena), or all\n"
    "                   three (all, default)\n"
    "  --threads N      also on N threads\n"
    "  --streams N      also on N streams of a simulated device, which uses every freedom of stream order\n"
    "  --cuda           also on a CUDA device, on as many streams (4); without a device, prints why and\n"
    "                   continues\n"
    "  --capacity BYTES|N%\n"
    "                   also on the host with an arena of at most so many bytes, or N percent of what the\n"
    "                   plan needs: values are copied out and back, or their steps run again; on threads\n"
    "                   and streams also with hand-offs, by which steps wait only where bytes need it\n"
    "  --restore WORD   by copies, by steps that run again, or by both, which costs least (both)\n"
    "  --formulas       also as a CUDA device computes it, one element after the other: slow\n"
    "                   Runs with the same kernels must agree bit by bit; a CUDA device or a formula may\n"
    "                   deviate by a thousandth of the largest element\n"
    "  --weights WORD   replacement of weights that the file does not hold: noise (default), or uniform,\n"
    "                   which makes all classes equal\n"
    "  --seed S         seed of the noise (1)\n"
    "  --runs N         run each N times and print the median time (1)\n"
    "  --check LEVEL    what runs on the host verify: off, plan, paint or digest (plan)\n"
    "  --limit BYTES    memory limit of a run (2 GiB, or 256 KiB for each byte of the model's file if that\n"
    "                   is more, and at most half of this machine's memory)\n"
    "  --dim NAME=N     the size of a dimension that the file leaves open, by its name or as INPUT:AXIS=N\n"
    "  --value INPUT=N  what all elements of an input are, if sizes or branches depend on them\n"
    "  --data FOLDER    take the inputs from input_0.pb, input_1.pb, ..., and compare the outputs with\n"
    "                   output_0.pb, ...: tensors of ONNX, as in its own tests\n"
    "  --csv            print one row for each run\n"
    "  --trace FILE     write when each operation ran on which thread or simulated stream, as trace events "
    "for\n"
    "                   ui.perfetto.dev or chrome://tracing; not on a CUDA device\n"
    "  --list FOLDER    print for each model in a folder whether all its operations are implemented\n"
    "  --version        print the name and the version\n"
    "\n"
    "Exit status: 0; 1 if results differ, are not finite or are all 0; 2 for bad input or usage; 3 if the\n"
    "model needs operations that are not implemented.\n";

/// The bytes that an arena may have; 0: any number.
struct arena_capacity {
    std::uint64_t number = 0;
    bool is_percent = false; ///< of the arena without a limit

    /// At most that arena.
    sublet::byte_count of(sublet::byte_count arena) const
    {
        return is_percent ? arena / 100 * number + arena % 100 * number / 100 : std::min(arena, number);
    }
};

/// Throws: input_error.
inline arena_capacity read_capacity(std::string const& word)
{
    arena_capacity read{0, word.ends_with('%')};
    char const* const end = word.data() + word.size() - read.is_percent;
    auto const [last, error] = std::from_chars(word.data(), end, read.number);
    if (error != std::errc{} || last != end || read.number == 0 || (read.is_percent && read.number > 100))
        throw input_error("option --capacity is a number of bytes from 1 on, or 1% to 100%, not " +
                          quoted(word));
    return read;
}

struct arguments {
    std::string model, folder;
    std::string data;                               ///< a folder; empty: none is given
    open_sizes open;                                ///< what the file leaves open
    std::string trace;                              ///< a file name; empty: not requested
    bool none = true, recycle = true, arena = true; ///< modes
    std::size_t threads = 0, streams = 0;           ///< 0: not used
    bool cuda = false, formulas = false;
    bool is_uniform = false;
    std::uint64_t seed = 1;
    std::size_t runs = 1;
    sublet::executor_options::checks check = sublet::executor_options::checks::plan;
    sublet::byte_count limit = 0; ///< 0: that of plan_model::default_run_limit()
    arena_capacity capacity;
    bool copies = true, runs_again = true; ///< what may be done to be within it
    bool csv = false;
    bool help = false, version = false;
};

/// Throws: input_error.
inline arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    bool has_restore = false;
    for (command_line::reader<input_error> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        auto operand = [&] { return reader.operand(); };
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--mode") {
            std::string const mode = operand();
            bool const all = mode == "all";
            args.none = all || mode == "none";
            args.recycle = all || mode == "recycle";
            args.arena = all || mode == "arena";
            if (!args.none && !args.recycle && !args.arena)
                throw input_error("option --mode is none, recycle, arena or all, not " + quoted(mode));
        } else if (word == "--threads") args.threads = plan_model::read_number(word, operand());
        else if (word == "--streams") args.streams = plan_model::read_number(word, operand());
        else if (word == "--cuda") args.cuda = true;
        else if (word == "--formulas") args.formulas = true;
        else if (word == "--weights")
            args.is_uniform = plan_model::parse_choice(word, operand(), "noise", "uniform");
        else if (word == "--seed") args.seed = plan_model::read_number(word, operand());
        else if (word == "--runs") args.runs = plan_model::read_number(word, operand());
        else if (word == "--check") args.check = plan_model::read_check_level(operand());
        else if (word == "--limit") args.limit = plan_model::read_byte_count(word, operand());
        else if (word == "--capacity") args.capacity = read_capacity(operand());
        else if (word == "--restore") {
            std::string const how = operand();
            args.copies = how == "both" || how == "copies";
            args.runs_again = how == "both" || how == "steps";
            if (!args.copies && !args.runs_again)
                throw input_error("option --restore is copies, steps or both, not " + quoted(how));
            has_restore = true;
        } else if (word == "--dim") args.open.dimensions.push_back(plan_model::read_dimension(operand()));
        else if (word == "--value") args.open.values.push_back(plan_model::read_value(operand()));
        else if (word == "--data") args.data = operand();
        else if (word == "--csv") args.csv = true;
        else if (word == "--trace") args.trace = operand();
        else if (word == "--list") args.folder = operand();
        else if (reader.is_option()) throw input_error("unknown option " + quoted(word) + reader.hint());
        else if (!args.model.empty())
            throw input_error("more than one model: " + quoted(args.model) + " and " + quoted(word));
        else args.model = word;
    }
    if (args.help || args.version) return args;
    std::error_code ignored; // of a path that does not exist
    if (!args.trace.empty() && std::filesystem::equivalent(args.trace, args.model, ignored))
        throw input_error("the trace would overwrite the model " + quoted(args.model));
    if (!args.model.empty() && !args.folder.empty())
        throw input_error("option --list takes a folder and no model");
    if (args.model.empty() && args.folder.empty()) throw input_error("no model is given (see --help)");
    if (has_restore && args.capacity.number == 0)
        throw input_error("option --restore is about a capacity: it needs --capacity (see --help)");
    if (args.limit == 0) args.limit = plan_model::default_run_limit(args.model);
    return args;
}

} // namespace run_network

#endif
