// SPDX-License-Identifier: BSL-1.0

// sharing [--smoke] [--most N] [--family NAME] [--visits N] [FILE.onnx ...]: the cost and savings of sharing
// that is valid for every schedule, on graphs of nine families (test/task_families.hpp has pictures) of 1000,
// 10000, 100000 and 1000000 tasks, or on the networks of files. Prints for each graph a line of facts:
//
//     order    milliseconds for the happens-before order, and for the begins and ends of all buffers
//     ranges   milliseconds for the conflict ranges of buffers, and their number per buffer
//     bound    milliseconds for the lower bound of all plans for every schedule, and its bytes; "exact" if no
//              antichain is heavier
//     pairs    number of ordered pairs of positions; up to 10000 tasks counted by three methods that must
//              agree, and then by the fastest
//     hash     of the answers to 1000 random happens-before queries
//
// and a line for each method:
//
//     tokens   slots, by handing on tokens
//     chains   slots, by conflict ranges: in the order in which buffers begin, and the largest first
//     offsets  in an arena, never above chains
//
// "ms" is the time of the method alone; "all ms" includes order and ranges; the check of its plan is listed
// separately. MiB is the peak of the process beyond the program, without the check.

#include "../test/task_families.hpp"
#include "measure.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/analysis/internal/conflict_ranges.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/internal/place_concurrently.hpp>
#include <sublet/placement/internal/stack_slots.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/planning/detail/antichain.hpp>
#include <sublet/planning/detail/concurrent_bounds.hpp>
#include <sublet/planning/detail/planned_buffers.hpp>
#include <sublet/rewriting/detail/happens_before.hpp>
#include <sublet/sharing/detail/chains.hpp>
#include <sublet/sharing/detail/tokens.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"

#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace sublet;
using namespace sublet::detail;

/// Processor time, not wall time: much of this runs for seconds on shared machines.
template <class Work>
double cpu_milliseconds(Work&& work)
{
    std::clock_t const start = std::clock();
    work();
    return 1000 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

struct arguments {
    std::size_t most = 1'000'000;
    std::string family;
    std::uint64_t visits = 100'000'000;
    std::vector<std::string> files;
};

/// The problem: each value with a size has a buffer of its own.
struct subject {
    std::string name;
    snapshot program;
    plan_options options{.bytes = 0};
};

/// The common input of all methods.
struct prepared {
    dependence_graph graph;
    concurrent_live_ranges lives;
    conflict_ranges conflicts;
    placement_problem problem;
    memory_plan plan; ///< without offsets
    antichain bound;
    double order_ms = 0, ranges_ms = 0, bound_ms = 0;
};

void list_buffers(subject const& s, prepared& input)
{
    auto const role = s.options.role.tabulate(s.program.values());
    buffer_table const table = gather_buffers(detail::touch_ranges(s.program, role), s.options);
    if (detail::list_planned(table, input.plan, input.problem)) throw std::runtime_error(s.name + ": pins");
    input.plan.valid_for = program_reading::concurrent;
}

prepared prepare(subject const& s, bool with_ranges)
{
    prepared input;
    list_buffers(s, input);
    auto const role = s.options.role.tabulate(s.program.values());
    input.order_ms = cpu_milliseconds([&] {
        input.graph = dependences(s.program, detail::dependences_of(s.options, {}));
        if (!input.graph) throw std::runtime_error(s.name + ": cannot be read as concurrent");
        input.lives = concurrent_lifetimes(s.program, input.graph, input.plan.buffers.size(),
                                           input.plan.buffer_of, role);
    });
    if (with_ranges)
        input.ranges_ms =
            cpu_milliseconds([&] { input.conflicts = find_conflict_ranges(input.graph, input.lives); });
    return input;
}

/// Answers to random queries, and ordered pairs; all methods must agree.
void print_order(prepared const& input)
{
    std::size_t const n = input.graph.positions();
    std::vector<std::pair<position_id, position_id>> queries; // by the later position, as clock columns need
    random_source roll{std::mt19937(7)};
    while (n > 1 && queries.size() != 1000) {
        auto const a = roll.below(static_cast<std::uint32_t>(n));
        auto const b = roll.below(static_cast<std::uint32_t>(n));
        if (a != b) queries.push_back({std::max(a, b), std::min(a, b)});
    }
    std::sort(queries.begin(), queries.end());
    std::uint64_t expected_pairs = 0, expected_hash = 0;
    bool is_first = true;
    using enum detail::precedence_method;
    for (detail::precedence_method method : {automatic, ranges, columns, search}) {
        if (n > 10'000 && method != automatic) break;
        detail::precedence order = detail::happens_before(input.graph, {.method = method});
        std::uint64_t const pairs = order.ordered_pairs();
        std::uint64_t hash = 14695981039346656037u; // FNV-1a
        for (auto [b, a] : queries)
            hash = (hash ^ static_cast<unsigned>(order.before(a, b))) * 1099511628211u;
        if (is_first) expected_pairs = pairs, expected_hash = hash;
        is_first = false;
        if (pairs != expected_pairs || hash != expected_hash)
            throw std::runtime_error("the methods of happens-before do not agree");
    }
    std::printf("   ordered_pairs %llu, hash %016llx\n", static_cast<unsigned long long>(expected_pairs),
                static_cast<unsigned long long>(expected_hash));
}

/// Runs `method` on the prepared input; it returns slots and their placement.
struct method_result {
    std::size_t slots = 0; ///< 0: no slots
    placement placed;
};

template <class Method>
void measure(subject const& s, char const* name, bool needs_ranges, byte_count bound, Method method)
{
    bench::reset_peak_rss();
    double const before = bench::process_mebibytes("VmRSS");
    prepared input = prepare(s, needs_ranges);
    method_result result;
    double const ms = cpu_milliseconds([&] { result = method(input); });
    double const mebibytes = bench::process_mebibytes("VmHWM") - before;
    detail::set_offsets(result.placed, input.plan);
    byte_count bytes = 0;
    for (byte_count arena : input.plan.arena_bytes) bytes += arena;
    double const check_ms = cpu_milliseconds([&] {
        if (!check_concurrent_plan(s.program, input.plan, s.options))
            throw std::runtime_error(s.name + ": a plan by " + name + " is refuted");
    });
    double const over = bound == 0 ? 0 : 100 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1);
    std::printf(
        "   %-16s %9zu slots %16llu bytes %8.2f %% over %10.2f ms %10.2f all ms %10.2f check ms %8.0f MiB\n",
        name, result.slots, static_cast<unsigned long long>(bytes), over, ms,
        input.order_ms + input.ranges_ms + ms, check_ms, mebibytes);
    std::fflush(stdout);
}

void run(subject const& s, arguments const& args)
{
    byte_count bound = 0;
    bool is_coarse = false;
    std::vector<buffer_id> antichain_members;
    {
        prepared input = prepare(s, true);
        is_coarse = input.conflicts.undecided != 0;
        std::vector<byte_count> weights;
        for (placement_problem::buffer const& b : input.problem.buffers) weights.push_back(b.size);
        input.bound_ms = cpu_milliseconds(
            [&] { input.bound = heaviest_antichain(input.graph, input.lives, input.conflicts, weights); });
        bound = input.bound.bytes;
        antichain_members = input.bound.members;
        std::printf(
            "%s: %zu steps, %zu edges, %zu buffers; order %.2f ms; ranges %.2f ms, %.2f a buffer%s; bound "
            "%.2f ms, %llu bytes%s\n",
            s.name.c_str(), s.program.steps(), input.graph.edges(), input.problem.buffers.size(),
            input.order_ms, input.ranges_ms,
            static_cast<double>(input.conflicts.of.ranges()) /
                static_cast<double>(std::max<std::size_t>(input.problem.buffers.size(), 1)),
            is_coarse ? " (coarse)" : "", input.bound_ms, static_cast<unsigned long long>(bound),
            input.bound.is_exact ? " exact" : " (not exact)");
        print_order(input);
    }
    auto size_of = [](prepared const& input) {
        return [&input](buffer_id b) { return input.problem.buffers[b].size; };
    };
    auto stacked = [](prepared const& input, sized_slot_plan const& slots) {
        return method_result{slots.slots, stack_slots(input.problem, slots)};
    };
    measure(s, "tokens", false, bound, [&](prepared const& input) {
        return stacked(input, share_by_tokens(input.graph, input.lives, size_of(input)));
    });
    auto chains = [&](prepared const& input, chain_options::ranking order) {
        return share_in_chains(input.lives, input.conflicts, size_of(input), {.order = order});
    };
    measure(s, "chains by begin", true, bound, [&](prepared const& input) {
        return stacked(input, chains(input, chain_options::ranking::by_begin));
    });
    measure(s, "chains by size", true, bound, [&](prepared const& input) {
        return stacked(input, chains(input, chain_options::ranking::largest_first));
    });
    measure(s, "offsets", true, bound, [&](prepared const& input) {
        auto const slots = chains(input, chain_options::ranking::by_begin);
        return method_result{0, place_concurrently(input.problem, input.lives, input.conflicts.of,
                                                   {.bounds = {bound},
                                                    .antichain = antichain_members,
                                                    .fallback = stack_slots(input.problem, slots).offset,
                                                    .visits = args.visits})};
    });
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        auto operand = [&] {
            if (++i == count) throw std::runtime_error(word + " needs an operand");
            return std::string(words[i]);
        };
        if (word == "--smoke") args.most = 1000;
        else if (word == "--most") args.most = bench::number_in(operand());
        else if (word == "--family") args.family = operand();
        else if (word == "--visits") args.visits = bench::number_in(operand());
        else if (word[0] != '-') args.files.push_back(word);
        else bench::refuse_option(word);
    }
    if (!args.family.empty() &&
        std::find(std::begin(family_names), std::end(family_names), args.family) == std::end(family_names))
        throw std::runtime_error("there is no family '" + args.family + "'");
    return args;
}

subject read_network([[maybe_unused]] std::string const& file)
{
#ifdef SUBLET_BENCH_READS_ONNX
    plan_model::network const net = plan_model::read_onnx(file);
    plan_options options = plan_model::as_options(net);
    options.in_place = false;
    snapshot program = plan_model::as_program(net);
    options.bytes = options.bytes.tabulate(program.values()); // outlives the network
    options.role = options.role.tabulate(program.values());
    options.alias_of = options.alias_of.tabulate(program.values());
    return {file, std::move(program), options};
#else
    throw std::runtime_error("this program was built without ONNX and reads no files");
#endif
}

constexpr char usage[] =
    "usage: bench_sharing [--smoke] [--most N] [--family NAME] [--visits N] [FILE ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        for (std::string const& file : args.files) run(read_network(file), args);
        if (!args.files.empty()) return 0;
        for (std::string_view family : family_names)
            for (std::size_t const n : {1000u, 10'000u, 100'000u, 1'000'000u}) {
                if (n > args.most || (!args.family.empty() && family != args.family)) continue;
                task_family drawn = draw_family(family, n);
                subject const s{std::string(family) + ' ' + std::to_string(n),
                                drawn.program(),
                                {.bytes = std::move(drawn.bytes), .in_place = false}};
                run(s, args);
            }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "sharing: %s\n", e.what());
        return 2;
    }
}
