// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_ARGUMENTS_HPP
#define SUBLET_EXAMPLES_PACK_ARGUMENTS_HPP

#include "../command_line.hpp"
#include "csv_rows.hpp"
#include "formats.hpp"

#include <sublet/core/units.hpp>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace pack {

inline constexpr char usage[] =
    "usage: pack --capacity=BYTES|--minimize --input=FILE [--output=FILE] [--format=NAME] [--pins=FILE]\n"
    "            [--time-limit=TIME] [--threads=N] [--seed=N] [--svg=FILE] [--html=FILE [--before]]\n"
    "            [--trace=FILE] [--period=N] [--quiet]\n"
    "       pack --penalties=FILE [--time-limit=TIME] [--threads=N] [--seed=N]\n"
    "\n"
    "Assigns offsets to buffers with known lifetimes so that no two live buffers overlap. Takes the options\n"
    "and tables of MiniMalloc, with extensions.\n"
    "\n"
    "  --capacity=BYTES   no buffer may end above this\n"
    "  --minimize         use as few bytes as possible\n"
    "  --input=FILE       a table with the columns id, lower, upper, size and optionally alignment, gaps,\n"
    "                     offset (fixed), hint (preferred); upper is exclusive, but a column called end is\n"
    "                     inclusive; a gap is a-b, or a-b@v:w if the bytes [v, w) are live in it; with\n"
    "                     several threads lower and upper are vector clocks, a counter a thread: 3:0:7\n"
    "  --output=FILE      write the table with the offsets\n"
    "  --format=NAME      of both files; --input-format and --output-format are of one. Without it .plc is\n"
    "                     idealloc, .tflm is tflm, and all else is csv: see below\n"
    "  --pins=FILE        fixed offsets from a file of the format tflm\n"
    "  --time-limit=TIME  stop after this time: seconds, or with a unit as 500ms, 10s, 5m; or inf. Default:\n"
    "                     after 20 million search nodes, with the same result on every machine\n"
    "                     (also: --timeout)\n"
    "  --threads=N        search with N threads (1); this changes the time, not the result\n"
    "  --seed=N           search in another order (0)\n"
    "  --svg=FILE         draw the placement: time to the right, offsets upwards; not with several threads\n"
    "  --html=FILE        write a page that shows the placement in a browser: to zoom, to search by id, "
    "with\n"
    "                     the reasons of the peak and of each offset; not with several threads\n"
    "  --before           beside it on the page the placement of the columns offset and hint if these place\n"
    "                     every row, otherwise the one before the search\n"
    "  --trace=FILE       the same as trace events, for ui.perfetto.dev or chrome://tracing\n"
    "  --period=N         the table is one round of N positions, of which one follows another: a buffer\n"
    "                     that the next round still needs ends behind N, at most N after it begins\n"
    "  --penalties=FILE   instead of a table: instances in which pairs of buffers pay for bytes that they\n"
    "                     share one after the other. Prints of each what is paid, the proved bound, the "
    "best\n"
    "                     known cost, the height and the seconds, and then the sums. A time limit is for "
    "each\n"
    "                     instance\n"
    "  --quiet            print only errors\n"
    "  --validate         has no effect: every placement is checked\n"
    "  --version          print the name and the version\n"
    "\n"
    "Formats; lifetimes are [lower, upper) unless it is said:\n"
    "  csv         as above; written is the table that was read, with its own columns, and offset\n"
    "  minimalloc  id,lower,upper,size[,alignment][,hint][,gaps],offset without quotes; no clocks\n"
    "  omnimalloc  id,lower,upper,size,offset[,kind], lines end with CR LF; clocks; no alignment, no gaps; "
    "the\n"
    "              first line may be # pool_offset=N, and offsets count from there\n"
    "  idealloc    64 bytes a job, as 8 big-endian numbers: id, birth, death, size, heap, offset, alignment\n"
    "              or 0, requested size. Live between birth and death, without both: written times are\n"
    "              doubled if a lifetime has one position. Offsets are not read; ids that are not numbers\n"
    "              become row numbers from 0; no gaps, no clocks\n"
    "  tflm        OfflineMemoryAllocation of TensorFlow Lite Micro, little-endian numbers of 32 bits: "
    "version\n"
    "              1, subgraph, n, and the offset of each of n tensors, or -1 to allocate it at run time. "
    "No\n"
    "              lifetimes: it is an output, and pins of a table. A row is the tensor that its id says if\n"
    "              all ids are different numbers below a million, else tensor 0, 1, ...\n"
    "\n"
    "Prints the number of buffers, lower_bound (proved: no placement is lower), the height found, and the\n"
    "status: optimal (the height is the bound), feasible (higher, and within the capacity), limit (above\n"
    "the capacity, and nothing is proved), or infeasible (proved: no placement fits).\n"
    "\n"
    "A bound is proved by the bytes live at a position, a pin, a size, or a few buffers that need as much\n"
    "in every stacking order. The last proof does not cover buffers that need not be stacked: if windows of\n"
    "a buffer have no byte in common, it may lie above another one now and below it later. The search tries\n"
    "such placements, but not all of them, so height and bound may differ in the end.\n"
    "With vector clocks v may take over the bytes of u if no counter of u's upper is above that of v's "
    "lower;\n"
    "then the bound is the most bytes of buffers none of which may take over those of another.\n"
    "\n"
    "Exit status: 0 solved: it fits, or no placement is lower; 1 no placement fits, proved; 2 bad input or\n"
    "usage; 3 not decided: a limit was reached, or not all was tried; the best placement is written.\n";

struct arguments {
    std::string input, output, pins, svg, html, trace, penalties; ///< file names; empty: not requested
    format input_format = format::csv, output_format = format::csv;
    sublet::byte_count capacity = sublet::no_limit;
    bool minimize = false;
    double time_limit = 0; ///< in seconds; 0: none
    unsigned threads = 1;
    std::uint64_t seed = 0;
    std::uint32_t period = 0; ///< 0: there is one round
    bool before = false; ///< also on the page
    bool quiet = false, help = false, version = false;
};

/// Throws: input_error.
inline std::uint64_t read_count(std::string const& option, std::string const& text, std::uint64_t least,
                                std::uint64_t most)
{
    std::uint64_t read = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc{} || end != text.data() + text.size() || read < least || read > most)
        throw input_error("option " + option + " is a number from " + std::to_string(least) + " to " +
                          std::to_string(most) + ", not " + in_quotes(text));
    return read;
}

/// In seconds.
/// Throws: input_error.
inline double read_time(std::string const& option, std::string const& text)
{
    char* end = nullptr;
    double const number = std::strtod(text.c_str(), &end);
    std::string_view const unit = end;
    double const scale = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 0.001 : unit == "m" ? 60 : 0;
    if (end == text.c_str() || !(number > 0) || scale == 0)
        throw input_error("option " + option + " is a time, like 0.5, 500ms, 10s or 5m, not " +
                          in_quotes(text));
    return number * scale;
}

/// Whether both name one file, which need not exist.
inline bool is_same_file(std::string const& one, std::string const& other)
{
    std::error_code error; // of a path that does not exist: it is not read or written either
    auto path = [&](std::string const& of) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(of, error), error);
    };
    return path(one) == path(other) && !error;
}

/// Throws: input_error.
inline arguments read_arguments(int count, char const* const* words)
{
    constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
    arguments args;
    bool has_capacity = false;
    std::optional<format> input_format, output_format;
    for (command_line::reader<input_error> reader(count, words, usage); reader.next();) {
        std::string const& name = reader.name();
        auto operand = [&] { return reader.operand(); };
        if (name == "--input") args.input = operand();
        else if (name == "--output") args.output = operand();
        else if (name == "--pins") args.pins = operand();
        else if (name == "--svg") args.svg = operand();
        else if (name == "--html") args.html = operand();
        else if (name == "--before") args.before = true;
        else if (name == "--trace") args.trace = operand();
        else if (name == "--penalties") args.penalties = operand();
        else if (name == "--format") input_format = output_format = read_format(name, operand());
        else if (name == "--input-format") input_format = read_format(name, operand());
        else if (name == "--output-format") output_format = read_format(name, operand());
        else if (name == "--minimize") args.minimize = true;
        else if (name == "--time-limit" || name == "--timeout") args.time_limit = read_time(name, operand());
        else if (name == "--seed") args.seed = read_count(name, operand(), 0, any);
        else if (name == "--quiet") args.quiet = true;
        else if (name == "--help" || name == "-h") args.help = true;
        else if (name == "--version") args.version = true;
        else if (name == "--period") {
            args.period = static_cast<std::uint32_t>(read_count(name, operand(), 1, sublet::no_step - 1));
        } else if (name == "--threads") {
            args.threads = static_cast<unsigned>(read_count(name, operand(), 1, 1024));
        } else if (name == "--capacity") {
            args.capacity = read_count(name, operand(), 0, sublet::no_limit - 1);
            has_capacity = true;
        } else if (name != "--validate") {
            throw input_error((name[0] == '-' ? "unknown option " : "not an option: ") + in_quotes(name) +
                              reader.hint());
        }
    }
    if (args.help || args.version) return args;
    if (!args.penalties.empty()) {
        if (has_capacity || args.minimize || args.before || args.period != 0 || args.quiet ||
            !(args.input + args.output + args.pins + args.svg + args.html + args.trace).empty())
            throw input_error(
                "with --penalties there are only --time-limit, --threads and --seed (see --help)");
        return args;
    }
    if (has_capacity == args.minimize)
        throw input_error("one of --capacity and --minimize is needed (see --help)");
    if (args.input.empty()) throw input_error("no --input is given (see --help)");
    if (args.before && args.html.empty())
        throw input_error("option --before is about a page: it needs --html (see --help)");
    args.input_format = input_format.value_or(format_of_ending(args.input));
    args.output_format = output_format.value_or(format_of_ending(args.output));
    auto expect_other = [](char const* what, std::string const& file, std::string const& other) {
        if (!file.empty() && !other.empty() && is_same_file(file, other))
            throw input_error(std::string("the ") + what + " would overwrite " + in_quotes(other));
    };
    for (std::string const* other : {&args.input, &args.output, &args.pins, &args.trace})
        expect_other("picture", args.svg, *other);
    for (std::string const* other : {&args.input, &args.output, &args.pins, &args.trace, &args.svg})
        expect_other("page", args.html, *other);
    for (std::string const* other : {&args.input, &args.output, &args.pins})
        expect_other("trace", args.trace, *other);
    expect_other("output", args.output, args.pins);
    return args;
}

} // namespace pack

#endif
