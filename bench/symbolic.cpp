// SPDX-License-Identifier: BSL-1.0

// symbolic [--smoke] [--most N] [--align N] [--within PERCENT] [FILE.onnx ...]: one plan for every batch
// size, compared with plans for single batch sizes.
//
// Prints for each network a line with its arena as a formula and the number of its results that grow, and a
// line for each of the batch sizes 1, 3, 32 and the largest (--most, 32): the arena of the common plan, of a
// plan for that size, the lower bound, and by how many percent the first exceeds the second. Every plan is
// checked for each of these sizes by the ordinary checker. Without files: random lists of operations, where
// some values have a fixed size.

#include "../test/random_source.hpp"
#include "measure.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/network.hpp"
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <cstdio>
#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;

struct arguments {
    unsigned most = 32, alignment = 1, nets = 8, operations = 300;
    double within = -1;
    std::vector<std::string> files;
};

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const takes_number = word == "--most" || word == "--align" || word == "--within";
        if (takes_number && i + 1 == count) throw std::runtime_error(word + " needs a number");
        if (word == "--smoke") args.nets = 2, args.operations = 40;
        else if (word == "--most") args.most = bench::number_in(words[++i]);
        else if (word == "--align") args.alignment = bench::number_in(words[++i]);
        else if (word == "--within") args.within = bench::number_in(words[++i]);
        else if (word[0] == '-') bench::refuse_option(word);
        else args.files.push_back(word);
    }
    return args;
}

struct tally {
    double within;
    double worst = 0, sum = 0;
    unsigned lines = 0, faults = 0;

    void run(std::string const& name, snapshot const& program, symbolic_options const& options)
    {
        auto const planned = plan_symbolic(program, options);
        std::size_t growing = 0;
        for (symbolic_plan::buffer const& b : planned.plan.buffers) growing += b.size.is_scaled();
        std::ostringstream text;
        text << planned.report();
        std::printf("%s: %zu buffers, %zu of them grow; %s; %.1f ms\n", name.c_str(),
                    planned.report().buffers, growing, text.str().c_str(), 1000 * planned.report().seconds);
        if (!planned) {
            text.str("");
            text << planned.error();
            std::printf("FAILED %s: %s\n", name.c_str(), text.str().c_str());
            ++faults;
            return;
        }
        std::vector<byte_count> batches;
        for (byte_count batch : {byte_count{1}, byte_count{3}, byte_count{32}, options.max_batch})
            if (batch <= options.max_batch && (batches.empty() || batch > batches.back()))
                batches.push_back(batch);
        for (byte_count batch : batches) {
            plan_options const one = options.at(batch);
            memory_plan const plan = planned.plan.at(batch);
            auto const own = plan_memory(program, one);
            byte_count bytes = 0;
            for (byte_count arena : plan.arena_bytes) bytes += arena;
            double const own_bytes =
                static_cast<double>(detail::larger(own.report().arena_bytes, byte_count{1}));
            double const excess =
                own.report().arena_bytes == 0 ? 0 : 100 * (static_cast<double>(bytes) / own_bytes - 1);
            bool const is_right{check_plan(program, plan, one)};
            bool const is_near = within < 0 || excess <= within;
            std::printf("  N = %-8llu %16llu %16llu %16llu %8.3f %%%s\n",
                        static_cast<unsigned long long>(batch), static_cast<unsigned long long>(bytes),
                        static_cast<unsigned long long>(own.report().arena_bytes),
                        static_cast<unsigned long long>(own.report().lower_bound_bytes), excess,
                        !is_right ? " WRONG"
                        : is_near ? ""
                                  : " FAR");
            faults += !is_right || !is_near;
            worst = excess > worst ? excess : worst;
            sum += excess;
            ++lines;
        }
    }
};

/// Operations that read one of the last few values and an older one; some results have a fixed size.
void run_drawn(unsigned seed, arguments const& args, tally& all)
{
    random_source pick{std::mt19937(seed)};
    std::vector<std::vector<value_id>> uses(args.operations);
    std::vector<affine_bytes> bytes;
    for (value_id op = 0; op != args.operations; ++op) {
        if (op != 0) uses[op].push_back(op - 1 - pick.below(detail::smaller(op, value_id{3})));
        if (op > 8 && pick.below(2) == 0)
            uses[op].push_back(op - 1 - pick.below(detail::smaller(op, value_id{40})));
        byte_count const size = byte_count{1} << (6 + pick.below(10));
        bytes.push_back(pick.below(4) < seed % 3 ? affine_bytes{8 * size, 0} : affine_bytes{0, size});
    }
    auto const program = sequence(
        uses.size(), uses.size(), [&](auto op) -> auto& { return uses[op]; },
        [](auto op) { return std::vector{+op}; });
    all.run("drawn " + std::to_string(seed), program,
            {.bytes = bytes, .max_batch = args.most, .alignment = args.alignment});
}

constexpr char usage[] =
    "usage: bench_symbolic [--smoke] [--most N] [--align N] [--within N] [FILE.onnx ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        tally all{args.within};
        std::printf("%-14s %16s %16s %16s %10s\n", "", "one plan", "one of its own", "lower bound", "excess");
        for (std::string const& file : args.files) {
#ifdef SUBLET_BENCH_READS_ONNX
            plan_model::network const net = plan_model::read_onnx(file);
            symbolic_options options = plan_model::as_symbolic_options(net, args.most);
            options.alignment = args.alignment;
            all.run(file.substr(file.find_last_of('/') + 1), plan_model::as_program(net), options);
#else
            throw std::runtime_error(file + ": this program was built without a reader of networks");
#endif
        }
        for (unsigned seed = 0; args.files.empty() && seed != args.nets; ++seed) run_drawn(seed, args, all);
        double const lines = detail::larger(all.lines, 1u);
        std::printf("%u plans at one batch: excess %.3f %% in the mean, %.3f %% at worst; %u faults\n",
                    all.lines, all.sum / lines, all.worst, all.faults);
        return all.faults == 0 ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "symbolic: %s\n", e.what());
        return 2;
    }
}
