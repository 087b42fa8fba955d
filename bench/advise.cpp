// SPDX-License-Identifier: BSL-1.0

// advise [--smoke] [FILE.onnx ...]: the cost of running a program with less memory than it needs, for the
// networks of files or for a chain of layers run forward and backward. Prints for each the bytes that its
// order needs, and then for 80, 60 and 50 % of them, with three kinds of spills: by copies out and back, by
// recomputation, or by the cheaper of both:
//
//     capacity  if no spills reach it, the plan is made for what they reach, and a percent more for gaps
//     least     below which no spills lead, in chains of recomputed steps or not
//     arena     of the resulting plan, in percent of what the order needs
//     spills    their number, and of these how many by recomputation (remats)
//     copied    MiB out and back, each direction counted
//     flops     of recomputed steps, in percent of all; if the file has none: bytes instead
//     ms        with all plans and checks
//
// The unit of cost is a copied byte: as much as 400 flops, or as 20 bytes that a step reads or writes.

#include "measure.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_memory.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace sublet;

struct subject {
    std::string name;
    snapshot program;
    plan_options options;
    std::vector<byte_count> flops; ///< by step
};

double percent(byte_count part, byte_count whole)
{
    return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// By step, the bytes that it reads and writes.
std::vector<byte_count> touched_bytes(snapshot const& p, std::vector<byte_count> const& bytes)
{
    std::vector<byte_count> touched(p.steps(), 0);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s))
            if (bytes[t.value] != no_size) touched[s] = checked_add(touched[s], bytes[t.value]);
    return touched;
}

void run(subject const& s)
{
    auto const bytes = s.options.bytes.tabulate(s.program.values());
    auto const touched = touched_bytes(s.program, bytes);
    byte_count all_flops = 0;
    std::vector<byte_count> remat_cost(s.program.values(), 1); // of the step that writes it first
    for (step_id step = static_cast<step_id>(s.program.steps()); step-- != 0;) {
        all_flops = checked_add(all_flops, s.flops[step]);
        for (touch t : s.program.touches(step))
            if (t.defines()) remat_cost[t.value] = 1 + s.flops[step] / 400 + touched[step] / 20;
    }
    byte_count const whole = plan_memory(s.program, s.options).report().lower_bound_bytes;
    std::printf("\n%s: %zu steps, %.1f MiB\n", s.name.c_str(), s.program.steps(),
                static_cast<double>(whole) / (1 << 20));
    std::printf("%8s %7s %-6s %8s %9s %7s %11s %8s %9s\n", "capacity", "least", "by", "arena", "spills",
                "remats", "copied MiB", "flops", "ms");
    for (unsigned const share : {80u, 60u, 50u})
        for (std::string const by : {"copies", "remats", "both"}) {
            plan_options options = s.options;
            options.pools = {{whole / 100 * share, 1}};
            memory_advice advice{{}, {}, {}, 0, {}, options};
            auto advise = [&] {
                advice = advise_memory(
                    s.program, options,
                    {.copies = by != "remats", .remats = by != "copies", .remat_cost = remat_cost});
            };
            double ms = bench::milliseconds(advise);
            byte_count const least = advice.pools[0].least, reached = advice.pools[0].peak_after;
            bool const is_below = reached > options.pools[0].capacity;
            if (is_below) { // plus the space for alignment and fragmentation
                options.pools[0].capacity = reached + reached / 100;
                ms = bench::milliseconds(advise);
            }
            byte_count copied = 0, recomputed = 0;
            std::size_t count = 0;
            for (memory_advice::suggestion const& a : advice.suggestions) {
                if (a.remat_step == no_step) copied += 2 * a.bytes;
                else recomputed += all_flops == 0 ? touched[a.remat_step] : s.flops[a.remat_step];
                count += a.remat_step != no_step;
            }
            byte_count all_touched = 0;
            for (byte_count b : touched) all_touched = checked_add(all_touched, b);
            std::printf("%6u %% %5.0f %% %-6s %6.1f %% %9zu %7zu %11.1f %6.1f %% %9.1f%s\n", share,
                        percent(least, whole), by.c_str(), percent(advice.plan.arena_bytes[0], whole),
                        advice.suggestions.size(), count, static_cast<double>(copied) / (1 << 20),
                        percent(recomputed, all_flops == 0 ? all_touched : all_flops), ms,
                        is_below        ? "  for what they reach"
                        : !bool(advice) ? "  does not fit"
                                        : "");
            std::fflush(stdout);
        }
}

subject read_network([[maybe_unused]] std::string const& file)
{
#ifdef SUBLET_BENCH_READS_ONNX
    plan_model::network const net = plan_model::read_onnx(file);
    plan_options options = plan_model::as_options(net);
    snapshot program = plan_model::as_program(net);
    options.bytes = options.bytes.tabulate(program.values()); // outlives the network
    options.role = options.role.tabulate(program.values());
    options.alias_of = options.alias_of.tabulate(program.values());
    std::vector<byte_count> flops;
    for (auto const& op : net.operations) flops.push_back(op.flops);
    return {file, std::move(program), options, flops};
#else
    throw std::runtime_error("this program was built without ONNX and reads no files");
#endif
}

/// Activations of so many layers, computed forward and used backward.
subject chain(step_id layers)
{
    auto const p = sequence(2 * layers, 2 * layers, [layers](std::uint32_t s, effect_sink& step) {
        if (s != 0) step.use(s - 1);
        if (s >= layers) step.use(2 * layers - 1 - s);
        step.def(s);
        step.may_recompute();
    });
    return {"a chain of layers, forward and backward",
            p,
            {.bytes = byte_count{1} << 20},
            std::vector<byte_count>(p.steps(), 0)};
}

constexpr char usage[] = "usage: bench_advise [--smoke] [FILE ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        step_id layers = 500;
        std::vector<std::string> files;
        for (int i = 1; i != count; ++i) {
            std::string const word = words[i];
            if (word == "--smoke") layers = 20;
            else if (word[0] != '-') files.push_back(word);
            else bench::refuse_option(word);
        }
        for (std::string const& file : files) run(read_network(file));
        if (files.empty()) run(chain(layers));
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "advise: %s\n", e.what());
        return 2;
    }
}
