// SPDX-License-Identifier: BSL-1.0

// advise [--smoke] [--csv] [--growth] [FILE.onnx ...]: the cost of running a program with less memory than it needs, for
// the networks of files; without files for a chain of layers and two decoders in training. Prints for each the
// bytes that its order needs and `least`, below which no copies and no steps run again lead. Then for limits
// of 90, 80, 66, 50 and 40 % of these bytes what four ways give: copies out and back (copies), steps that run
// again (remats), the cheaper of both for each value (both), and DTR, a published heuristic that runs steps
// again (dtr.hpp), the cheapest of its variants:
//
//     arena    of the plan, in percent of what the order needs; none: no plan fits, only what is reached
//     cost     of copies and of steps that run again, in thousands of copied bytes
//     runs     how many steps run again
//     copied   MiB out and back, each direction counted
//     flops    of the steps that run again, in percent of all; a chain has none
//     touched  bytes that they read and write, in percent of all
//     ms       with all plans and checks; of DTR, of all variants
//
// The unit of cost is a copied byte: as much as 400 flops, or as 20 bytes that a step reads or writes. One
// recomputed step costs one more. With --csv: one line for each, with bytes. With --growth: the time for
// chains of 500, 5000 and 50,000 steps.

#include "dtr.hpp"
#include "measure.hpp"
#include "trained_decoders.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_memory.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <algorithm>
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

/// One way to run a program within a limit.
struct result {
    bool fits = false;
    byte_count reached = no_size; ///< bytes of the arena; without a plan, those that were reached
    byte_count cost = 0, copied = 0;
    std::vector<step_id> again; ///< steps that run again
};

/// What the library gives, for the cost of each step.
memory_advice advised(snapshot const& p, plan_options const& options, bool copies, bool remats,
                      std::vector<byte_count> const& step_cost)
{
    return advise_memory(p, options, {.copies = copies, .remats = remats, .step_cost = step_cost});
}

result as_result(memory_advice const& advice)
{
    byte_count const reached = std::max(advice.plan.arena_bytes[0], advice.pools[0].peak_after);
    result r{bool(advice), bool(advice) ? advice.bytes() : reached, advice.cost, 0, {}};
    for (memory_advice::suggestion const& a : advice.suggestions)
        if (a.remat_step == no_step) r.copied += 2 * a.bytes;
    for (spilled_program::step const& s : advice.spilled.steps)
        if (s.kind == spilled_program::kind::rematerialize) r.again.push_back(s.step);
    return r;
}

/// Prints rows of a network.
class report {
public:
    report(subject const& s, std::vector<byte_count> const& touched, byte_count whole, bool is_csv)
        : s_(s), touched_(touched), whole_(whole), is_csv_(is_csv)
    {
        for (byte_count b : touched) all_touched_ = checked_add(all_touched_, b);
        for (byte_count f : s.flops) all_flops_ = checked_add(all_flops_, f);
    }

    void print_head(byte_count least) const
    {
        if (is_csv_) return;
        std::printf("\n%s: %zu steps, %.1f MiB, least %.1f %%\n", s_.name.c_str(), s_.program.steps(),
                    static_cast<double>(whole_) / (1 << 20), percent(least, whole_));
        std::printf("%5s %-6s %7s %11s %6s %8s %8s %8s %9s\n", "limit", "by", "arena", "cost/1000", "runs",
                    "copied", "flops", "touched", "ms");
    }

    void print(unsigned share, std::string const& by, result const& r, double ms) const
    {
        byte_count flops = 0, touched = 0;
        for (step_id step : r.again) {
            flops = checked_add(flops, s_.flops[step]);
            touched = checked_add(touched, touched_[step]);
        }
        if (is_csv_ && !r.fits) std::printf("%s,%u,%s,,,,,,,%.1f\n", s_.name.c_str(), share, by.c_str(), ms);
        else if (is_csv_)
            std::printf("%s,%u,%s,%zu,%zu,%zu,%zu,%.2f,%.2f,%.1f\n", s_.name.c_str(), share, by.c_str(),
                        static_cast<std::size_t>(r.reached), static_cast<std::size_t>(r.cost), r.again.size(),
                        static_cast<std::size_t>(r.copied), percent(flops, all_flops_),
                        percent(touched, all_touched_), ms);
        else if (!r.fits && r.reached == no_size)
            std::printf("%3u %% %-6s %7s %56.1f\n", share, by.c_str(), "none", ms);
        else if (!r.fits)
            std::printf("%3u %% %-6s %7s, %5.1f %% reached %38.1f\n", share, by.c_str(), "none",
                        percent(r.reached, whole_), ms);
        else
            std::printf("%3u %% %-6s %5.1f %% %11.0f %6zu %8.1f %6.1f %% %6.1f %% %9.1f\n", share, by.c_str(),
                        percent(r.reached, whole_), static_cast<double>(r.cost) / 1000, r.again.size(),
                        static_cast<double>(r.copied) / (1 << 20), percent(flops, all_flops_),
                        percent(touched, all_touched_), ms);
        std::fflush(stdout);
    }

private:
    subject const& s_;
    std::vector<byte_count> const& touched_;
    byte_count whole_, all_touched_ = 0, all_flops_ = 0;
    bool is_csv_;
};

void run(subject const& s, bool is_csv)
{
    auto const touched = touched_bytes(s.program, s.options.bytes.tabulate(s.program.values()));
    std::vector<byte_count> step_cost;
    for (step_id step = 0; step != s.program.steps(); ++step)
        step_cost.push_back(1 + s.flops[step] / 400 + touched[step] / 20);
    byte_count const whole = plan_memory(s.program, s.options).report().lower_bound_bytes;
    report const rows(s, touched, whole, is_csv);
    bool has_head = false;
    for (unsigned const share : {90u, 80u, 66u, 50u, 40u}) {
        plan_options options = s.options;
        options.pools = {{whole / 100 * share, 1}};
        for (std::string const by : {"copies", "remats", "both"}) {
            memory_advice advice{{}, {}, {}, 0, {}, options};
            double const ms = bench::milliseconds(
                [&] { advice = advised(s.program, options, by != "remats", by != "copies", step_cost); });
            if (!has_head) rows.print_head(advice.pools[0].least);
            has_head = true;
            rows.print(share, by, as_result(advice), ms);
        }
        bench::dtr_result dtr;
        double const ms = bench::milliseconds([&] {
            dtr = bench::plan_by_dtr(s.program, s.options, step_cost, options.pools[0].capacity, whole);
        });
        rows.print(share, "DTR", {dtr.fits, dtr.arena, dtr.cost, 0, dtr.again}, ms);
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
    return {"a chain of layers forward and backward",
            p,
            {.bytes = byte_count{1} << 20},
            std::vector<byte_count>(p.steps(), 0)};
}

/// 12 layers as wide as those of GPT-2, all weights updated at the end; 24 layers of long sequences, each
/// weight updated once its gradient is there.
std::vector<subject> decoders(bool is_small)
{
    std::vector<subject> all;
    for (bench::trained_decoder_sizes sizes :
         {bench::trained_decoder_sizes{12, 4, 512, 768, 12, 32000, false},
          bench::trained_decoder_sizes{24, 1, 2048, 1024, 16, 32000, true}}) {
        if (is_small) sizes.layers = 2;
        bench::trained_decoder const net(sizes);
        all.push_back({"a decoder of " + std::to_string(sizes.layers) + " layers of " +
                           std::to_string(sizes.width) + " in training",
                       net.program(), net.options(), net.flops()});
    }
    return all;
}

/// The time of advice within 60 % for chains of more and more steps, by the default effort and without search.
void print_growth(step_id most_layers)
{
    std::printf("%8s %7s %9s %9s %9s %9s\n", "steps", "arena", "runs", "ms", "runs fast", "ms");
    for (step_id layers = 250; layers <= most_layers; layers = 10 * layers) {
        subject const s = chain(layers);
        plan_options options = s.options;
        byte_count const whole = plan_memory(s.program, options).report().lower_bound_bytes;
        options.pools = {{whole / 100 * 60, 1}};
        memory_advice advice{{}, {}, {}, 0, {}, options}, fast = advice;
        double const ms =
            bench::milliseconds([&] { advice = advise_memory(s.program, options, {.copies = false}); });
        options.effort = effort::fast;
        double const fast_ms =
            bench::milliseconds([&] { fast = advise_memory(s.program, options, {.copies = false}); });
        std::printf("%8zu %5.1f %% %9zu %9.1f %9zu %9.1f\n", s.program.steps(),
                    percent(advice.bytes(), whole), advice.suggestions.size(), ms, fast.suggestions.size(),
                    fast_ms);
    }
}

constexpr char usage[] = "usage: bench_advise [--smoke] [--csv] [--growth] [FILE ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        step_id layers = 500;
        bool is_csv = false, grows = false;
        std::vector<std::string> files;
        for (int i = 1; i != count; ++i) {
            std::string const word = words[i];
            if (word == "--smoke") layers = 20;
            else if (word == "--csv") is_csv = true;
            else if (word == "--growth") grows = true;
            else if (word[0] != '-') files.push_back(word);
            else bench::refuse_option(word);
        }
        if (grows) print_growth(layers == 20 ? 250 : 25'000);
        if (grows) return 0;
        if (is_csv) std::puts("network,limit,by,arena,cost,runs,copied,flops_percent,bytes_percent,ms");
        for (std::string const& file : files) run(read_network(file), is_csv);
        if (!files.empty()) return 0;
        run(chain(layers), is_csv);
        for (subject const& s : decoders(layers == 20)) run(s, is_csv);
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "advise: %s\n", e.what());
        return 2;
    }
}
