// SPDX-License-Identifier: BSL-1.0

// workflow FILE: how much the files of a workflow take at once, in the listed order and in better ones. Reads
// tasks with the files that they make and read, computes an order by each rule and by the search, plans the
// storage for the last, and checks both by counting again. For several workers it also searches schedules.

#include "program.hpp"

#include "../command_line.hpp"
#include "../statements.hpp"
#include "../written_file.hpp"
#include "amounts.hpp"
#include "draw_curve.hpp"
#include "draw_profile.hpp"
#include "read_text.hpp"
#include "schedule_tasks.hpp"
#include "task_graph.hpp"

#ifdef WORKFLOW_READS_JSON
#include "read_wfformat.hpp"
#endif

#include <sublet/listing.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/reporting/csv.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace workflow {
namespace {

using statements::in_quotes;
using method = sublet::node_order::method;

constexpr char usage[] =
    "usage: workflow FILE [--effort LEVEL] [--inputs RULE] [--outputs RULE] [--missing-size BYTES]\n"
    "                [--exact] [--unit NAME] [--order] [--svg FILE] [--csv FILE] [--time]\n"
    "                [--workers N [--cap BYTES] [--longest TIME] [--curve FILE]]\n"
    "\n"
    "Finds an order of the tasks of a workflow in which its files take little storage: a file is there from\n"
    "the task that makes it to the last one that reads it.\n"
    "\n"
    "  FILE                  a text with a line for each task: its name, the files that it makes, as\n"
    "                        file:bytes, and the files that it reads, separated by tabs; behind the name a\n"
    "                        blank and @12 may say that it takes 12, in any unit; or WfFormat 1.3 to 1.6 of\n"
    "                        WfCommons, as JSON, where tasks take whole milliseconds, at least 1\n"
    "  --effort LEVEL        of the search: fast, balanced (the default), thorough, or a count of its work\n"
    "  --inputs RULE         files that no task makes are given (there from the start; the default), staged\n"
    "                        (made by a step of their own when first needed) or ignored\n"
    "  --outputs RULE        files that no task reads are kept to the end (the default) or dropped at once\n"
    "  --missing-size BYTES  the size of files for which none is said; otherwise they are refused\n"
    "  --exact               also search all orders, up to a million sets of tasks that have run: this may\n"
    "                        take a minute, whatever the effort\n"
    "  --unit NAME           sizes are counts of this, such as qubits, and not bytes\n"
    "  --order               print only the order of the search: a line for each task\n"
    "  --svg FILE            draw the live bytes in the listed order and in that of the search\n"
    "  --csv FILE            write a table of the files in the order of the search: the positions from "
    "which\n"
    "                        and before which each is there, its size and its offset in one arena\n"
    "  --time                print the seconds that each order took\n"
    "  --workers N           also search schedules in which up to N tasks run at a time, between the\n"
    "                        shortest and the one of fewest live bytes, and plan the storage of one. Tasks\n"
    "                        for which no duration is said take 1\n"
    "  --cap BYTES           plan the shortest schedule that needs no more: 500MB, 6GiB, 6000000000\n"
    "  --longest TIME        plan the one of fewest bytes that takes no longer\n"
    "  --curve FILE          write all schedules that were found: makespan and live bytes as a table "
    "(.csv),\n"
    "                        or as a picture (.svg); may be given twice, once for each\n"
    "  --version             print the name and the version\n"
    "\n"
    "Prints the peak of each order: the most bytes that are there at once. `proved` says that no order has\n"
    "a lower one. Tasks are listed as in the file where that is possible; else the first one that can run\n"
    "is next.\n"
    "\n"
    "Exit status: 0; 2 for bad input or usage.\n";

struct arguments {
    std::string file, svg, csv, unit, cap, curve_csv, curve_svg;
    schedule_limits limits;
    sublet::effort effort = sublet::effort::balanced;
    completion completed;
    bool keeps_outputs = true, exact = false, only_order = false, time = false, help = false, version = false;
};

/// Throws: input_error.
std::uint64_t read_count(std::string const& option, std::string const& word, std::uint64_t least = 0)
{
    auto const count = statements::number_in<std::uint64_t>(word);
    if (!count || *count == sublet::no_size || *count < least)
        throw input_error("option " + option + " is a number " + (least == 0 ? "" : "from 1 and ") +
                          "below 2^64 - 1, not " + in_quotes(word));
    return *count;
}

/// Throws: input_error.
void read_curve_file(arguments& args, std::string const& file)
{
    bool const is_table = file.ends_with(".csv");
    if (!is_table && !file.ends_with(".svg"))
        throw input_error("option --curve is a file that ends with .csv or .svg, not " + in_quotes(file));
    std::string& known = is_table ? args.curve_csv : args.curve_svg;
    if (!known.empty())
        throw input_error("more than one table or picture of the curve: " + in_quotes(known) + " and " +
                          in_quotes(file));
    known = file;
}

/// What the options say together. Throws: input_error.
void complete_limits(arguments& args)
{
    if (args.limits.workers == 0) {
        bool const has_curve = !args.curve_csv.empty() || !args.curve_svg.empty();
        for (auto const& [is_given, option] : {std::pair(!args.cap.empty(), "--cap"),
                                               {args.limits.longest != 0, "--longest"},
                                               {has_curve, "--curve"}})
            if (is_given)
                throw input_error(std::string("option ") + option +
                                  " is about schedules, which --workers asks for");
        return;
    }
    if (args.only_order)
        throw input_error("option --order prints an order for one worker, and --workers asks for schedules");
    if (args.cap.empty()) return;
    if (!args.unit.empty()) args.limits.most_bytes = read_count("--cap", args.cap);
    else if (auto const bytes = bytes_in(args.cap)) args.limits.most_bytes = *bytes;
    else
        throw input_error("option --cap is a number of bytes below 2^64 - 1, such as 500MB or 6GiB, not " +
                          in_quotes(args.cap));
}

/// One of a few words; `or_else` is what else the option may be. Throws: input_error.
template <class Value, std::size_t Count>
Value one_of(std::string const& option, std::string const& word,
             std::pair<char const*, Value> const (&choices)[Count], char const* or_else = nullptr)
{
    std::string all;
    std::size_t unnamed = Count + (or_else != nullptr);
    auto add = [&](char const* name) {
        all += name + std::string(--unnamed > 1 ? ", " : unnamed == 1 ? " or " : "");
    };
    for (auto const& [name, value] : choices) {
        if (word == name) return value;
        add(name);
    }
    if (or_else != nullptr) add(or_else);
    throw input_error("option " + option + " is " + all + ", not " + in_quotes(word));
}

bool is_same_file(std::string const& one, std::string const& other)
{
    std::error_code error; // of a file that does not exist
    return one == other || std::filesystem::equivalent(one, other, error);
}

/// Throws: input_error.
arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    for (command_line::reader<input_error> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--exact") args.exact = true;
        else if (word == "--order") args.only_order = true;
        else if (word == "--time") args.time = true;
        else if (word == "--svg") args.svg = reader.operand();
        else if (word == "--csv") args.csv = reader.operand();
        else if (word == "--unit") args.unit = reader.operand();
        else if (word == "--workers") args.limits.workers = read_count(word, reader.operand(), 1);
        else if (word == "--cap") args.cap = reader.operand();
        else if (word == "--longest") args.limits.longest = read_count(word, reader.operand(), 1);
        else if (word == "--curve") read_curve_file(args, reader.operand());
        else if (word == "--missing-size") args.completed.missing_size = read_count(word, reader.operand());
        else if (word == "--inputs")
            args.completed.inputs = one_of<input_rule>(word, reader.operand(),
                                                       {{"given", input_rule::given},
                                                        {"staged", input_rule::staged},
                                                        {"ignored", input_rule::ignored}});
        else if (word == "--outputs")
            args.keeps_outputs = one_of<bool>(word, reader.operand(), {{"kept", true}, {"dropped", false}});
        else if (word == "--effort") {
            std::string const effort = reader.operand();
            if (statements::number_in<std::uint64_t>(effort)) args.effort = read_count(word, effort);
            else
                args.effort = one_of<sublet::effort>(word, effort,
                                                     {{"fast", sublet::effort::fast},
                                                      {"balanced", sublet::effort::balanced},
                                                      {"thorough", sublet::effort::thorough}},
                                                     "a count");
        } else if (reader.is_option()) throw input_error("unknown option " + in_quotes(word) + reader.hint());
        else if (args.file.empty()) args.file = word;
        else throw input_error("more than one file: " + in_quotes(args.file) + " and " + in_quotes(word));
    }
    if (args.help || args.version) return args;
    if (args.file.empty()) throw input_error("no file is given (see --help)");
    complete_limits(args);
    std::string const* const files[] = {&args.file, &args.svg, &args.csv, &args.curve_csv, &args.curve_svg};
    for (std::size_t i = 1; i != std::size(files); ++i)
        for (std::size_t other = 0; other != i && !files[i]->empty(); ++other)
            if (!files[other]->empty() && is_same_file(*files[i], *files[other]))
                throw input_error("an output would overwrite " + in_quotes(*files[other]));
    return args;
}

/// Throws: input_error.
task_graph read_workflow(arguments const& args)
{
    std::ifstream in = statements::open_text<input_error>(args.file);
    std::string const text(std::istreambuf_iterator<char>(in), {});
    if (in.bad()) throw input_error("cannot be read");
    graph_builder graph(args.limits.workers != 0);
    std::size_t const first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos || (text[first] != '{' && text[first] != '[')) read_text(graph, text);
    else {
#ifdef WORKFLOW_READS_JSON
        read_wfformat(graph, text);
#else
        throw input_error("is JSON, and this program was built without nlohmann's library, which reads it");
#endif
    }
    return graph.finish(args.completed);
}

/// Its handles are names in the graph.
list_of_files as_listing(task_graph const& g, arguments const& args)
{
    using sublet::value_role;
    list_of_files list;
    list.effort = args.effort;
    if (!args.unit.empty()) list.unit = args.unit.c_str();
    for (file const& f : g.files)
        if (f.maker == none) list.facts(f.name, {.bytes = f.bytes, .role = value_role::input});
    std::vector<list_of_files::step_ref> steps;
    for (task const& t : g.tasks) {
        auto step = list.step(t.name);
        for (std::size_t f : t.reads) step.read(g.files[f].name);
        for (std::size_t f : t.makes) {
            bool const is_output = !g.files[f].is_read && args.keeps_outputs;
            step.make(g.files[f].name, {.bytes = g.files[f].bytes,
                                        .role = is_output ? value_role::output : value_role::intermediate});
        }
        for (std::size_t other : t.after) step.wait_for(steps[other]);
        steps.push_back(step);
    }
    return list;
}

// --- orders ----------------------------------------------------------------------------------------------

/// An order by one rule, or by the search.
struct found_order {
    std::string name;
    sublet::node_order result;
    double seconds = 0;
};

constexpr std::pair<method, char const*> method_names[] = {{method::listed, "listed"},
                                                           {method::longest_path, "longest path"},
                                                           {method::breadth_first, "breadth first"},
                                                           {method::depth_first, "depth first"},
                                                           {method::on_demand, "on demand"},
                                                           {method::series_parallel, "branches"},
                                                           {method::least_peak, "least peak"},
                                                           {method::exact, "exact search"},
                                                           {method::reversed, "least peak, reversed"},
                                                           {method::improved, "search in parts"}};
/// The first of them are rules; the last rule is asked for by an option.
constexpr std::size_t rules = 8;

std::vector<std::size_t> tasks_of(sublet::node_order const& found)
{
    return {found.order.begin(), found.order.end()};
}

/// Throws: std::logic_error if the peak is not that of the order.
template <class Order>
found_order timed(std::string name, task_graph const& g, bool keeps_outputs, Order order)
{
    auto const start = std::chrono::steady_clock::now();
    found_order found{std::move(name), order(), 0};
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!found.result) {
        std::ostringstream why;
        why << found.result.error();
        throw std::logic_error("internal error: no order was found: " + why.str());
    }
    auto const live = live_bytes(g, tasks_of(found.result), keeps_outputs);
    if (*std::max_element(live.begin(), live.end()) != found.result.peak)
        throw std::logic_error("internal error: the peak of the order " + found.name +
                               " is another one when counted again");
    return found;
}

// --- output ----------------------------------------------------------------------------------------------

std::string plural(std::size_t count, char const* thing)
{
    return std::to_string(count) + ' ' + thing + (count == 1 ? "" : "s");
}

/// "12.5 % above the bound", "20 times the bound". Requires: count > than.
std::string above(byte_count count, byte_count than, std::string const& what)
{
    if (than == 0) return "above " + what;
    double const ratio = static_cast<double>(count) / static_cast<double>(than);
    if (ratio < 1.001) return "less than 0.1 % above " + what;
    char text[32];
    if (ratio < 10) std::snprintf(text, sizeof text, "%.1f %% above ", 100 * (ratio - 1));
    else std::snprintf(text, sizeof text, "%.0f times ", ratio);
    return text + what;
}

void print_head(std::ostream& out, arguments const& args, task_graph const& g)
{
    static constexpr char const* words[] = {"given", "staged", "ignored"};
    std::size_t outputs = 0;
    for (file const& f : g.files) outputs += !f.is_read;
    std::size_t const staged = args.completed.inputs == input_rule::staged ? g.inputs : 0;
    out << std::filesystem::path(args.file).filename().string() << ": "
        << plural(g.tasks.size() - staged, "task") << ", " << plural(g.files.size(), "file") << " of "
        << amount(g.bytes, args.unit);
    if (args.completed.inputs == input_rule::ignored) out << "; inputs ignored";
    else out << "; " << plural(g.inputs, "input") << ' ' << words[static_cast<int>(args.completed.inputs)];
    out << ", " << plural(outputs, "output") << (args.keeps_outputs ? " kept" : " dropped") << '\n';
}

/// A name, bytes twice, and a remark.
void print_row(std::ostream& out, std::string const& unit, std::string const& name, byte_count bytes,
               std::string const& remark)
{
    out << std::left << std::setw(15) << name << std::right << std::setw(14) << amount(bytes, unit);
    if (unit.empty()) out << std::setw(21) << bytes;
    out << (remark.empty() ? "" : "  ") << remark << '\n';
}

void print_order(std::ostream& out, arguments const& args, found_order const& found, byte_count bound)
{
    byte_count const peak = found.result.peak;
    std::string remark = peak == bound ? "proved" : above(peak, bound, "the bound");
    if (found.name == "search")
        for (auto const& [how, name] : method_names)
            if (how == found.result.found_by) remark += ", by " + std::string(name);
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "; %.3f s", found.seconds);
    print_row(out, args.unit, found.name, peak, remark + (args.time ? seconds : ""));
}

/// "12", "12 ms".
std::string time_text(std::uint64_t time, std::string const& unit)
{
    return std::to_string(time) + (unit.empty() ? "" : ' ' + unit);
}

/// What tasks take: "tasks take 3 to 12 ms, and 1 ms where none is said".
std::string durations_text(task_graph const& g)
{
    std::uint64_t least = ~std::uint64_t{0}, most = 0;
    bool is_said = false, is_missing = false;
    for (task const& t : g.tasks) {
        (t.duration == 0 ? is_missing : is_said) = true;
        if (t.duration == 0) continue;
        least = std::min(least, t.duration);
        most = std::max(most, t.duration);
    }
    if (!is_said) return "each task takes 1";
    std::string text = "tasks take " + (least == most ? "" : std::to_string(least) + " to ");
    text += time_text(most, g.time_unit);
    return text + (is_missing ? ", and " + time_text(1, g.time_unit) + " where none is said" : "");
}

void print_schedules(std::ostream& out, arguments const& args, task_graph const& g,
                     taken_schedule const& found, double seconds)
{
    sublet::schedule_curve const& curve = found.curve;
    auto in = [&](std::uint64_t makespan) { return "in " + time_text(makespan, g.time_unit); };
    auto row = [&](char const* name, byte_count bytes, std::string const& remark) {
        print_row(out, args.unit, name, bytes, remark);
    };
    char took[32];
    std::snprintf(took, sizeof took, "; %.3f s", seconds);
    out << '\n'
        << plural(args.limits.workers, "worker") << ": " << durations_text(g)
        << "; no schedule is shorter than " << time_text(curve.least_makespan, g.time_unit)
        << (args.time ? took : "") << '\n';
    row("bound", curve.least_bytes, "no schedule has fewer live bytes");

    sublet::step_schedule const& shortest = curve.points.front();
    row("shortest", shortest.live_bytes,
        in(shortest.makespan) + ", " +
            (shortest.makespan == curve.least_makespan
                 ? "proved"
                 : above(shortest.makespan, curve.least_makespan, "the bound")) +
            "; " + plural(curve.points.size(), "schedule") + " found");
    sublet::step_schedule const& lowest = curve.points.back();
    row("fewest bytes", lowest.live_bytes,
        in(lowest.makespan) + ", " +
            (lowest.live_bytes == curve.least_bytes
                 ? "proved"
                 : above(lowest.live_bytes, curve.least_bytes, "the bound")));

    std::string why = args.cap.empty() ? "the fewest bytes" : "the shortest";
    if (!args.cap.empty()) why += " within " + amount(args.limits.most_bytes, args.unit);
    if (args.limits.longest != 0)
        why += (args.cap.empty() ? " within " : " and ") + time_text(args.limits.longest, g.time_unit);
    else if (args.cap.empty()) why += " at the shortest makespan";
    if (found.passed_over != 0)
        why += "; offsets of " + plural(found.passed_over, "shorter one") + " need more";
    sublet::step_schedule const& taken = curve.points[found.taken];
    row("taken", taken.live_bytes, in(taken.makespan) + ": " + why);
    row("plan", found.arena, in(found.makespan) + ", with " + plural(found.handoffs, "hand-off"));
}

template <class Write>
void write_if_asked(std::string const& file, Write write)
{
    if (!file.empty() && !written::write_file(file, write)) throw input_error(file + ": cannot be written");
}

void run(arguments const& args, std::ostream& out)
{
    task_graph const g = read_workflow(args);
    list_of_files list = as_listing(g, args);
    auto with_time = [&](std::string const& name, auto order) {
        return timed(name, g, args.keeps_outputs, order);
    };

    found_order const best = with_time("search", [&] { return sublet::order(list); });
    std::vector<found_order> by_rule;
    std::size_t const asked = args.only_order ? 1 : args.exact ? rules : rules - 1;
    for (auto const& rule : std::span(method_names).first(asked))
        by_rule.push_back(with_time(rule.second, [&] { return sublet::order(list, rule.first); }));
    byte_count bound = best.result.lower_bound;
    for (found_order const& one : by_rule) bound = std::max(bound, one.result.lower_bound);

    taken_schedule scheduled;
    double seconds = 0;
    if (args.limits.workers != 0) {
        auto const start = std::chrono::steady_clock::now();
        scheduled = schedule_tasks(g, list, args.limits);
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    list.order = best.result.order;
    auto const planned = sublet::plan_memory(list);
    if (!planned) {
        std::ostringstream why;
        why << planned.error();
        throw std::logic_error("internal error: no plan was found: " + why.str());
    }

    write_if_asked(args.csv, [&](auto& to) { sublet::write_csv(to, planned, {.names = list.names()}); });
    write_if_asked(args.svg, [&](auto& to) {
        draw_profiles(to, {.title = std::filesystem::path(args.file).filename().string(),
                           .before = live_bytes(g, tasks_of(by_rule[0].result), args.keeps_outputs),
                           .after = live_bytes(g, tasks_of(best.result), args.keeps_outputs),
                           .bound = bound,
                           .before_name = "as listed",
                           .after_name = "in the order found",
                           .unit = args.unit});
    });
    write_if_asked(args.curve_csv, [&](auto& to) { write_curve(to, scheduled.curve); });
    write_if_asked(args.curve_svg, [&](auto& to) {
        draw_curve(to, {.title = std::filesystem::path(args.file).filename().string() + " on " +
                                 plural(args.limits.workers, "worker"),
                        .curve = scheduled.curve,
                        .taken = scheduled.taken,
                        .unit = args.unit,
                        .time_unit = g.time_unit});
    });
    if (args.only_order) {
        for (std::size_t t : tasks_of(best.result)) out << g.tasks[t].name << '\n';
        return;
    }
    byte_count const peak = best.result.peak;
    print_head(out, args, g);
    for (found_order const& one : by_rule) print_order(out, args, one, bound);
    print_order(out, args, best, bound);
    print_row(out, args.unit, "bound", bound, "no order needs less");
    print_row(out, args.unit, "arena", planned.bytes(),
              planned.bytes() == peak
                  ? "in the order of the search: its peak"
                  : "in the order of the search: " + above(planned.bytes(), peak, "its peak"));
    if (args.limits.workers != 0) print_schedules(out, args, g, scheduled, seconds);
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    return command_line::answer(
        "workflow", usage, out, err, [&] { return read_arguments(count, words); }, run);
}

} // namespace workflow
