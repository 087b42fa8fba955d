// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_ARGUMENTS_HPP

#include "../command_line.hpp"
#include "network.hpp"
#include "open_dimensions.hpp"
#include "read_model.hpp"
#include "tflm_plan.hpp"

#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/run_options.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace plan_model {

inline constexpr char usage[] =
    "usage: plan_model MODEL [--dim NAME=N|LEAST:MOST]... [--value INPUT=N]... [--strict] [--inline]\n"
    "                  [--order WORD|FILE] [--align N] [--in-place WORD]\n"
    "                  [--capacity BYTES | --limits LIST [--limits-csv FILE]]\n"
    "                  [--semantics sequential|concurrent\n"
    "                   [--strategy offsets|slots | --handoffs [--workers N] [--waits]]]\n"
    "                  [--html FILE [--before]] [--svg FILE] [--dot FILE] [--csv FILE] [--values FILE]\n"
    "                  [--why-peak FILE] [--trace FILE] [--header FILE] [--c-header FILE] [--tflm FILE]\n"
    "                  [--json] [--quiet]\n"
    "                  [--run [--check off|plan|paint|digest] [--limit BYTES]]\n"
    "\n"
    "Plans the memory of a neural network's values, proves the plan, and prints what it needs. The model is\n"
    "an ONNX or a TensorFlow Lite file: its contents decide, not its name.\n"
    "\n"
    "  --dim NAME=N       the size of a dimension that the file leaves open, by its name or as "
    "INPUT:AXIS=N.\n"
    "                     A single open dimension, if it is the first of its inputs, is a batch of 1\n"
    "  --dim NAME=LEAST:MOST, --dim NAME=LEAST:MOST:STRIDE\n"
    "                     all sizes from LEAST to MOST, those that are STRIDE apart: one plan for every "
    "shape,\n"
    "                     with formulas. INPUT:AXIS=LEAST:MOST also opens a dimension that the file "
    "declares\n"
    "                     with a number. The file is read at some shapes (reads), by which sizes are fitted, "
    "and\n"
    "                     at others, which they must meet. A size that is no formula is read at each shape\n"
    "  --dim NAME=OTHER   this dimension has the sizes of OTHER, which another --dim gives\n"
    "  --value INPUT=N    what all elements of an input are, if sizes or branches depend on them\n"
    "  --strict           refuse a file of which a result has no known size (default: it is left out, with "
    "a\n"
    "                     remark), or declares another size than its operators make\n"
    "  --inline           put the nodes of the model's functions in the place of their calls (default: what\n"
    "                     lies inside a function is not planned)\n"
    "  --order WORD       the order of the nodes: file (as in the file, default), or one that may need less\n"
    "                     memory: longest-path, least-peak, exact (exhaustive search), best (of all these)\n"
    "  --order FILE       an order from a file: one node index per line, from 0 (./best is always a file)\n"
    "  --align N          every offset is a multiple of N bytes (1)\n"
    "  --in-place WORD    which results may overwrite operands: off: none; listed: those that the model "
    "lists\n"
    "                     in an attribute may_inplace; on: also those of standard operators that work "
    "element\n"
    "                     by element, and of batch normalization at inference (default); softmax: also "
    "those\n"
    "                     of Softmax along the last axis.\n"
    "                     on assumes kernels of these kinds. An operator of one or two operands, and Where,\n"
    "                     reads element i of each operand of the result's shape before it writes element i\n"
    "                     of the result. Sum, Max, Min and Mean of more operands do so with the first two,\n"
    "                     then combine the result with one further operand after the other: only the first\n"
    "                     is overwritten, and only if the node does not read it twice. softmax assumes a\n"
    "                     kernel that has read a row before it writes it. For other kernels list the pairs\n"
    "                     in the model, or choose off\n"
    "  --capacity BYTES   print what to spill to fit this capacity, by copies out and back or by running a\n"
    "                     node again that is known to be a function of its operands; exit status 1 if it\n"
    "                     does not fit even so\n"
    "  --limits LIST      print what less memory costs, as 90%,80%,50% of the arena or as bytes: of each "
    "limit\n"
    "                     the arena, the cost, how many nodes run again, the bytes copied out and back and,\n"
    "                     if the file has flops, those that are run again in percent of all. The cost of a\n"
    "                     copied byte is 1, that of a node the bytes that it reads and writes; with flops "
    "it\n"
    "                     is a byte for each 400 flops and for each 20 of these bytes. The page of --html\n"
    "                     draws it\n"
    "  --limits-csv FILE  write this table, limit,arena,cost,again,copied and with flops flops_percent;\n"
    "                     without a plan these are empty\n"
    "  --semantics WORD   sequential: one node after the other (default); concurrent: a node may run as\n"
    "                     soon as its operands are computed, and the plan holds for every such order\n"
    "  --strategy WORD    what a concurrent plan assigns: offsets in an arena (default), or slots,\n"
    "                     which are allocations shared as a whole\n"
    "  --handoffs         let nodes also wait for storage where that makes the arena smaller\n"
    "  --workers N        with --handoffs: accept the makespan of N workers (default: of unlimited workers)\n"
    "  --waits            with --handoffs: also how many nodes wait for storage if the arena may have up to\n"
    "                     half as many bytes again as it needs; the page of --html draws it\n"
    "  --html FILE        write a page that shows the plan in a browser: to zoom, to search by name, with "
    "the\n"
    "                     reasons of the peak and of each offset\n"
    "  --before           beside it on the page the plan for the order of the file and without in-place\n"
    "                     results; with --handoffs the plan without them\n"
    "  --svg FILE         draw the plan: time to the right, offsets upwards\n"
    "  --trace FILE       write lifetimes as trace events, for ui.perfetto.dev or chrome://tracing\n"
    "  --dot FILE         draw the network for Graphviz, without weights: results of one colour can share\n"
    "                     an allocation\n"
    "  --csv FILE         write the plan: one row per buffer, id,lower,upper,size,offset\n"
    "  --values FILE      write all results, also views: one row each, value,made_by,bytes,view_of,offset\n"
    "  --why-peak FILE    write which values are live at the peak, until which node, and the peak without\n"
    "                     each of them\n"
    "  --header FILE      write the plan for firmware as a header of C++17 that needs nothing of this "
    "library:\n"
    "                     constants, and a table that each compiler proves again; its namespace is named as\n"
    "                     FILE\n"
    "  --c-header FILE    the same for C99 and later: macros that begin with the name of FILE. With ranges "
    "two\n"
    "                     functions, which find all offsets from the sizes of the open dimensions\n"
    "  --tflm FILE        write the plan of a TensorFlow Lite model for TensorFlow Lite Micro: an offset\n"
    "                     of 32 bits for each tensor, to be the OfflineMemoryAllocation of its metadata.\n"
    "                     Then graph inputs and outputs lie in the arena, too, inputs from the begin and\n"
    "                     outputs to the end. Offsets are multiples of 16. Without --in-place reshaped\n"
    "                     results are copies, and no result overwrites an operand; with it the kernels\n"
    "                     must allow both. Constants, variables and unused tensors get -1. The ids of\n"
    "                     --csv are numbers of tensors then: pack --minimize --input=CSV --pins=FILE\n"
    "                     checks that no two overlap\n"
    "  --run              run with synthetic kernels in three modes and compare the results: without a plan\n"
    "                     (no_plan), by reference counting (recycle), as planned (arena)\n"
    "  --check LEVEL      what these runs verify: off, plan, paint or digest (plan)\n"
    "  --limit BYTES      memory limit of a run (2 GiB, or 256 KiB for each byte of the model's file if\n"
    "                     that is more, and at most half of this machine's memory); no_plan is skipped if\n"
    "                     it needs more\n"
    "  --json             print one JSON object instead of lines\n"
    "  --quiet            print only errors\n"
    "  --version          print the name and the version\n"
    "\n"
    "Weights, constants and inputs of the graph lie outside of the plan. Graphs inside If, Loop and Scan lie "
    "in\n"
    "the same arena: branches share bytes, and what one iteration hands to the next is in place or copied\n"
    "(copies: of all bindings). With ranges, --semantics concurrent, --order, --capacity, --limits or a "
    "header\n"
    "it is one step, with an arena of its own inside. Results without a known size are left out (left_out), "
    "by\n"
    "name.\n"
    "\n"
    "Exit status: 0; 1 if the plan could not be verified, the runs differ, or the capacity is exceeded;\n"
    "2 for bad input or usage.\n";

/// 2 GiB, or 256 KiB for each byte of the model's file if that is more; at most half of this machine's
/// memory. A file of a few bytes may declare values of any size.
inline sublet::byte_count default_run_limit(std::string const& model)
{
    std::error_code none;
    std::uintmax_t const file = std::filesystem::file_size(model, none);
    sublet::byte_count limit = sublet::byte_count{2} << 30;
    if (!none) limit = std::max(limit, std::min<sublet::byte_count>(file, sublet::no_limit >> 18) << 18);
#if __has_include(<unistd.h>)
    long const pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        limit = std::min(limit,
                         static_cast<sublet::byte_count>(pages) / 2 * static_cast<sublet::byte_count>(bytes));
#endif
    return limit;
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
    std::string order, html, svg, dot, csv, values, why_peak, trace; ///< file names; empty: not asked for
    std::string header, c_header, tflm;                              ///< also file names
    sublet::byte_count alignment = 1;
    sublet::byte_count capacity = 0;  ///< 0: unlimited
    std::vector<memory_limit> limits; ///< not empty: what they cost is asked for
    std::string limits_csv;           ///< a file name
    bool in_place = true;
    model_options reading = {.pairs = in_place_pairs::operators};
    std::vector<dimension_range> ranges; ///< not empty: one plan for all of these sizes
    bool concurrent = false, slots = false, handoffs = false, waits = false;
    std::size_t workers = 0; ///< 0: one per node
    bool run = false;
    sublet::executor_options::checks check = sublet::executor_options::checks::plan;
    sublet::byte_count limit = 0; ///< 0: that of default_run_limit()
    bool before = false;          ///< also on the page
    bool json = false;
    bool quiet = false;
    bool help = false, version = false;

    bool has_header() const { return !header.empty() || !c_header.empty(); }
    /// Files of one plan other than a page.
    bool has_files_besides_page() const
    {
        return has_header() || !(svg.empty() && dot.empty() && csv.empty() && values.empty() &&
                                 why_peak.empty() && trace.empty());
    }
    bool has_files_of_plan() const { return has_header() || has_files_of_shape(); }
    /// Files that only a plan with numbers has.
    bool has_files_of_shape() const
    {
        return !(header.empty() && html.empty() && svg.empty() && dot.empty() && csv.empty() &&
                 values.empty() && why_peak.empty() && trace.empty());
    }
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

/// 90%,80%,1000000.
///
/// Throws: input_error.
inline std::vector<memory_limit> read_limits(std::string const& option, std::string const& list)
{
    std::vector<memory_limit> limits;
    for (std::size_t at = 0; at <= list.size();) {
        std::size_t const end = std::min(list.find(',', at), list.size());
        std::string number = list.substr(at, end - at);
        at = end + 1;
        bool const is_percent = number.ends_with('%');
        if (is_percent) number.pop_back();
        limits.push_back({read_number(option, number, "a list of bytes or of percent, numbers"), is_percent});
        if (is_percent && limits.back().number > 100)
            throw input_error("option " + option + " is at most 100%, not " + quoted(number + '%'));
    }
    return limits;
}

/// Throws: input_error.
inline sublet::executor_options::checks read_check_level(std::string const& word)
{
    using enum sublet::executor_options::checks;
    for (auto [name, level] : {std::pair{"off", off}, {"plan", plan}, {"paint", paint}, {"digest", digest}})
        if (word == name) return level;
    throw input_error("option --check is off, plan, paint or digest, not " + quoted(word));
}

/// A name and a number out of NAME=N, where NAME may hold any character.
///
/// Throws: input_error.
inline std::pair<std::string, std::int64_t> read_named_number(std::string const& option, char const* form,
                                                              std::string const& words, std::int64_t least,
                                                              std::int64_t most)
{
    auto const equal = words.rfind('=');
    char const* const end = words.data() + words.size();
    char const* const digits = equal == std::string::npos ? end : words.data() + equal + 1;
    std::int64_t number = 0;
    auto const [last, error] = std::from_chars(digits, end, number);
    if (equal == 0 || digits == end || error != std::errc{} || last != end || number < least || number > most)
        throw input_error("option " + option + " is " + form + " with a whole number N, not " +
                          quoted(words));
    return {words.substr(0, equal), number};
}

/// LEAST:MOST or LEAST:MOST:STRIDE after the last `=`, if there is a colon.
///
/// Throws: input_error.
inline std::optional<dimension_range> read_range(std::string const& words)
{
    auto const equal = words.rfind('=');
    if (equal == std::string::npos || words.find(':', equal) == std::string::npos) return std::nullopt;
    constexpr std::int64_t most = std::int64_t{1} << 40;
    std::int64_t numbers[3] = {0, 0, 1};
    std::size_t read = 0;
    char const *at = words.data() + equal + 1, *const end = words.data() + words.size();
    for (bool goes_on = true; goes_on;) {
        std::int64_t number = 0;
        auto const [last, error] = std::from_chars(at, end, number);
        goes_on = last != end && *last == ':';
        if (equal == 0 || read == 3 || error != std::errc{} || (last != end && !goes_on) || number < 1 ||
            number > most)
            throw input_error(
                "option --dim has a range NAME=LEAST:MOST or NAME=LEAST:MOST:STRIDE of whole numbers "
                "from 1 on, not " +
                quoted(words));
        numbers[read++] = number;
        at = last + 1;
    }
    if (numbers[0] > numbers[1])
        throw input_error("option --dim has a range of which the least size is above the most: " +
                          quoted(words));
    return dimension_range{words.substr(0, equal), numbers[0], numbers[1], numbers[2]};
}

/// Throws: input_error.
inline given_dimension read_dimension(std::string const& words)
{
    auto const [name, size] =
        read_named_number("--dim", "NAME=N or INPUT:AXIS=N", words, 0, std::int64_t{1} << 40);
    return {name, size};
}

/// Throws: input_error.
inline given_value read_value(std::string const& words)
{
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    auto const [name, element] = read_named_number("--value", "INPUT=N", words, -most, most);
    return {name, element};
}

/// NAME=OTHER, where another option --dim gives the sizes of OTHER: both are one dimension.
///
/// Throws: input_error, also if none gives it.
inline void join_dimension(arguments& args, std::string const& words)
{
    auto const equal = words.rfind('=');
    std::string const name = words.substr(0, equal), other = words.substr(equal + 1);
    auto is_other = [&](auto const& given) { return given.where == other; };
    auto const range = std::find_if(args.ranges.begin(), args.ranges.end(), is_other);
    if (range != args.ranges.end()) return range->also.push_back(name);
    auto const given = std::find_if(args.reading.dimensions.begin(), args.reading.dimensions.end(), is_other);
    if (given != args.reading.dimensions.end()) args.reading.dimensions.push_back({name, given->size});
    else args.reading.dimensions.push_back(read_dimension(words)); // which refuses it
}

/// `joined`: what comes last, as it names another dimension.
///
/// Throws: input_error.
inline void add_dimension(arguments& args, std::string const& words, std::vector<std::string>& joined)
{
    auto const equal = words.rfind('=');
    bool const is_named = equal != std::string::npos && equal != 0 && equal + 1 != words.size() &&
                          std::string_view("-:0123456789").find(words[equal + 1]) == std::string_view::npos;
    if (is_named) return joined.push_back(words);
    std::optional<dimension_range> range = read_range(words);
    if (!range) args.reading.dimensions.push_back(read_dimension(words));
    else args.ranges.push_back(std::move(*range));
}

/// A dimension with a range has no other size, and no second range.
///
/// Throws: input_error.
inline void expect_single_ranges(arguments const& args)
{
    std::vector<std::string> names;
    for (dimension_range const& range : args.ranges) {
        names.push_back(range.where);
        names.insert(names.end(), range.also.begin(), range.also.end());
    }
    for (std::string const& name : names)
        if (std::count(names.begin(), names.end(), name) != 1 ||
            std::any_of(args.reading.dimensions.begin(), args.reading.dimensions.end(),
                        [&](given_dimension const& given) { return given.where == name; }))
            throw input_error("option --dim is given twice for dimension " + quoted(name) +
                              ", and one is a range");
}

/// Throws: input_error.
inline void read_in_place(arguments& args, std::string const& word)
{
    args.in_place = word != "off";
    if (word == "off" || word == "listed") args.reading.pairs = in_place_pairs::listed;
    else if (word == "on") args.reading.pairs = in_place_pairs::operators;
    else if (word == "softmax") args.reading.pairs = in_place_pairs::softmax;
    else throw input_error("option --in-place is off, listed, on or softmax, not " + quoted(word));
}

/// Throws: input_error.
inline arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    bool has_model = false, has_pairs = false, has_alignment = false;
    std::string only_with_run, only_if_concurrent; // the last such option
    std::vector<std::string> joined;               // --dim NAME=OTHER
    for (command_line::reader<input_error> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        auto operand = [&] { return reader.operand(); };
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--order") args.order = operand();
        else if (word == "--html") args.html = operand();
        else if (word == "--before") args.before = true;
        else if (word == "--svg") args.svg = operand();
        else if (word == "--trace") args.trace = operand();
        else if (word == "--header") args.header = operand();
        else if (word == "--c-header") args.c_header = operand();
        else if (word == "--dot") args.dot = operand();
        else if (word == "--csv") args.csv = operand();
        else if (word == "--values") args.values = operand();
        else if (word == "--why-peak") args.why_peak = operand();
        else if (word == "--tflm") args.tflm = operand();
        else if (word == "--run") args.run = true;
        else if (word == "--json") args.json = true;
        else if (word == "--dim") add_dimension(args, operand(), joined);
        else if (word == "--value") args.reading.values.push_back(read_value(operand()));
        else if (word == "--strict") args.reading.is_strict = true;
        else if (word == "--inline") args.reading.inlines_functions = true;
        else if (word == "--quiet") args.quiet = true;
        else if (word == "--in-place") {
            read_in_place(args, operand());
            has_pairs = true;
        } else if (word == "--semantics") {
            args.concurrent = parse_choice(word, operand(), "sequential", "concurrent");
        } else if (word == "--strategy") {
            args.slots = parse_choice(word, operand(), "offsets", "slots");
            only_if_concurrent = word;
        } else if (word == "--handoffs") {
            args.handoffs = true;
            only_if_concurrent = word;
        } else if (word == "--waits") {
            args.waits = true;
        } else if (word == "--workers") {
            args.workers = read_number(word, operand());
        } else if (word == "--align") {
            args.alignment = read_byte_count(word, operand());
            has_alignment = true;
        } else if (word == "--capacity") {
            args.capacity = read_byte_count(word, operand());
        } else if (word == "--limits") {
            args.limits = read_limits(word, operand());
        } else if (word == "--limits-csv") {
            args.limits_csv = operand();
        } else if (word == "--limit") {
            args.limit = read_byte_count(word, operand());
            only_with_run = word;
        } else if (word == "--check") {
            args.check = read_check_level(operand());
            only_with_run = word;
        } else if (reader.is_option()) {
            throw input_error("unknown option " + quoted(word) + reader.hint());
        } else if (has_model) {
            throw input_error("more than one model: " + quoted(args.model) + " and " + quoted(word));
        } else {
            args.model = word;
            has_model = true;
        }
    }
    if (args.help || args.version) return args;
    for (std::string const& names : joined) join_dimension(args, names);
    if (!has_model) throw input_error("no model is given (see --help)");
    if (!args.run && !only_with_run.empty())
        throw input_error("option " + only_with_run + " is about a run: it needs --run (see --help)");
    if (!args.concurrent && !only_if_concurrent.empty())
        throw input_error("option " + only_if_concurrent + " needs --semantics concurrent (see --help)");
    if (args.before && args.html.empty())
        throw input_error("option --before is about a page: it needs --html (see --help)");
    if (args.waits && !args.handoffs)
        throw input_error("option --waits is about waiting: it needs --handoffs (see --help)");
    if (args.workers != 0 && !args.handoffs)
        throw input_error("option --workers is about waiting: it needs --handoffs (see --help)");
    if (args.capacity != 0 && (args.concurrent || args.run || args.json || args.has_files_of_plan()))
        throw input_error(
            "option --capacity prints advice: it does not go with runs, files of one plan, --json, "
            "or --semantics concurrent");
    if (!args.limits_csv.empty() && args.limits.empty())
        throw input_error("option --limits-csv is about limits: it needs --limits (see --help)");
    if (!args.limits.empty() &&
        (args.concurrent || args.run || args.json || args.capacity != 0 || args.has_files_besides_page()))
        throw input_error("option --limits prints a table: it does not go with runs, files of one plan (but "
                          "--html), --json, --capacity or --semantics concurrent");
    expect_single_ranges(args);
    bool const is_advice = args.capacity != 0 || !args.limits.empty();
    if (!args.ranges.empty() && (args.concurrent || args.run || is_advice || args.has_files_of_shape()))
        throw input_error(
            "option --dim has a range, which is about every shape: it does not go with runs, files of one "
            "plan (but --c-header), --capacity, --limits or --semantics concurrent");
    if (args.slots && args.handoffs)
        throw input_error("option --handoffs makes offsets: it does not go with --strategy slots");
    if (args.concurrent && !(args.order.empty() && args.why_peak.empty()))
        throw input_error("option " + std::string(args.order.empty() ? "--why-peak" : "--order") +
                          " is about one order: it does not go with --semantics concurrent");
    if (args.concurrent && args.has_header())
        throw input_error(std::string("option ") + (args.header.empty() ? "--c-header" : "--header") +
                          " is about one order: it does not go with " +
                          (args.handoffs ? "--handoffs"
                           : args.slots  ? "--strategy slots"
                                         : "--semantics concurrent"));
    if (!args.tflm.empty()) {
        if (args.concurrent || !args.ranges.empty() || is_advice ||
            !(args.order.empty() || args.order == "file"))
            throw input_error(
                "option --tflm writes one plan for the order of the file: it does not go with "
                "ranges of --dim, --capacity, --limits, --semantics concurrent or another --order");
        if (!has_pairs) args.in_place = false;
        args.reading.is_micro = true;
        args.reading.has_views = args.in_place; // otherwise off stops only pairs
        if (!has_alignment) args.alignment = tflm_alignment;
        if (args.alignment % tflm_alignment != 0)
            throw input_error("option --tflm needs an alignment that is a multiple of 16, not " +
                              std::to_string(args.alignment));
    }
    if (args.run && !std::has_single_bit(args.alignment))
        throw input_error("option --run needs an alignment that is a power of two, not " +
                          std::to_string(args.alignment));
    if (args.limit == 0) args.limit = default_run_limit(args.model);
    return args;
}

} // namespace plan_model

#endif
