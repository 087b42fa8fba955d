// SPDX-License-Identifier: BSL-1.0

// symbolic [--smoke] [--concurrent] [--shapes N] [--within PERCENT] [--csv FILE] [NETWORK ...]: one plan for
// every shape of networks made in code (shaped_networks.hpp), against plans for single shapes. With
// --concurrent it is for every schedule, and plan_concurrent stands in place of plan_memory below.
//
// Each network is planned once, and then asked for N shapes (200) that are drawn from its ranges, half of
// them evenly, half of them by their logarithms, so that small ones come, too. For each of these shapes:
//
//     bound      what no plan for this shape goes below: plan_memory's own bound, with its own in-place pairs
//     one        the plan for every shape
//     own        plan_memory for this shape, at the default effort
//     largest    plan_memory for the largest shape, which is used for all
//
// Printed are the percent by which the plan for every shape exceeds the bound, in the median and at worst;
// the mean bytes of all shapes, as multiples of those of the bound; and times, the best of several, of one
// buffer: `place` gives all offsets for a shape, `at` the plan for it, `set` is an executor that takes the
// shape, `own` is plan_memory without its check. Every tenth plan is checked by the ordinary checker. The
// status is 1 after a fault, or if a gap exceeds --within.

#include "measure.hpp"
#include "shaped_networks.hpp"

#include <sublet/checking/check_concurrent_plan.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/checking/check_symbolic_plan.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/growing_arena.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;

struct arguments {
    unsigned shapes = 200, repetitions = 20;
    double within = -1;
    std::string csv;
    std::vector<std::string> names;
    bool is_smoke = false, is_concurrent = false;
};

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const takes_word = word == "--shapes" || word == "--within" || word == "--csv";
        if (takes_word && i + 1 == count) throw std::runtime_error(word + " needs an argument");
        if (word == "--smoke") args.is_smoke = true, args.shapes = 10, args.repetitions = 1;
        else if (word == "--concurrent") args.is_concurrent = true;
        else if (word == "--shapes") args.shapes = bench::number_in(words[++i], 1);
        else if (word == "--within") args.within = bench::number_in(words[++i]);
        else if (word == "--csv") args.csv = words[++i];
        else if (word[0] == '-') bench::refuse_option(word);
        else args.names.push_back(word);
    }
    if (args.is_smoke && args.names.empty()) args.names = {"bert", "detector", "resnet50"};
    return args;
}

/// A size from the range, evenly or by its logarithm.
byte_count drawn_size(dimension const& its, bool by_logarithm, std::mt19937& random)
{
    double const part = static_cast<double>(random()) / 4294967296.0; // in [0, 1)
    byte_count const steps = (its.most - its.least) / its.stride;
    double const ratio = static_cast<double>(its.most + 1) / static_cast<double>(its.least);
    double const size = static_cast<double>(its.least) * std::pow(ratio, part);
    double const step = by_logarithm
                            ? (size - static_cast<double>(its.least)) / static_cast<double>(its.stride)
                            : part * static_cast<double>(steps + 1);
    return its.least + std::min(static_cast<byte_count>(step), steps) * its.stride;
}

std::vector<shape> drawn_shapes(std::vector<dimension> const& dims, std::size_t count)
{
    std::mt19937 random(1);
    std::vector<shape> all;
    for (std::size_t i = 0; i != count; ++i) {
        shape one;
        for (dimension const& its : dims) one.push_back(drawn_size(its, i % 2 != 0, random));
        all.push_back(std::move(one));
    }
    return all;
}

std::string text_of(shape const& s)
{
    std::string text;
    for (byte_count size : s) {
        if (!text.empty()) text += 'x';
        text += std::to_string(size);
    }
    return text;
}

/// Of one shape, in bytes.
struct outcome {
    byte_count bound = 0, one = 0, own = 0;

    double gap() const { return percent_above(one); }
    double percent_above(byte_count bytes) const
    {
        return bound == 0 ? 0 : 100 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1);
    }
};

byte_count arena_of(memory_plan const& plan)
{
    byte_count sum = 0;
    for (byte_count bytes : plan.arena_bytes) sum += bytes;
    return sum;
}

/// The most bytes of the common buffers that are live at once.
byte_count live_bytes(symbolic_plan const& plan, symbolic_plan::places const& now)
{
    std::vector<byte_count> change; // by position; sums wrap around
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        live_range const life = plan.buffers[b].life;
        if (change.size() <= life.last) change.resize(std::size_t{life.last} + 1, 0);
        change[life.first] += now.size[+b];
        change[life.last] -= now.size[+b];
    }
    byte_count most = 0, live = 0;
    for (byte_count more : change) most = std::max(most, live += more);
    return most;
}

class comparison {
public:
    explicit comparison(arguments const& args) : args_(args)
    {
        if (args.csv.empty()) return;
        csv_.open(args.csv);
        csv_ << "network,shape,bound,one,own,largest\n";
        if (!csv_) throw std::runtime_error(args.csv + " cannot be written");
    }

    unsigned faults() const { return faults_; }

    static void print_head()
    {
        std::printf("%-14s %7s %8s %8s  %-14s %8s %6s %8s %9s %8s %7s %7s %7s\n", "", "", "gap to", "bound",
                    "", "mean", "/", "bound", "ms", "ns per", "buffer", "", "");
        std::printf("%-14s %7s %8s %8s  %-14s %8s %6s %8s %9s %8s %7s %7s %7s\n", "network", "buffers",
                    "median %", "worst %", "worst at", "one", "own", "largest", "one plan", "place", "at",
                    "set", "own");
    }

    void run(bench::shaped_network const& net)
    {
        snapshot const program = net.program();
        symbolic_options options = net.options();
        if (args_.is_concurrent) options.valid_for = program_reading::concurrent;
        auto plan_one = [&](plan_options const& asked) -> planned_memory {
            if (!args_.is_concurrent) return plan_memory(program, asked);
            return plan_concurrent(program, asked);
        };
        planned_symbolic planned;
        double const planning =
            best_of(args_.is_smoke ? 1 : 3, [&] { planned = plan_symbolic(program, options); });
        if (!planned) return fail(net.name, planned.error());
        symbolic_plan const& plan = planned.plan;
        std::vector<shape> const shapes = drawn_shapes(net.dims, args_.shapes);
        std::vector<outcome> found;
        symbolic_plan::places now;
        double own_planning = 0;
        std::size_t own_buffers = 0, higher = 0;
        for (std::size_t i = 0; i != shapes.size(); ++i) {
            plan_options const asked = tabulated(net, options, shapes[i]);
            planned_memory own = plan_one(asked);
            if (!own) return fail(net.name, own.error());
            plan_options unchecked = asked;
            unchecked.check = false;
            own_planning += best_of(args_.is_smoke ? 1 : 3, [&] { own = plan_one(unchecked); });
            own_buffers += own.plan.buffers.size();
            plan.place(shapes[i], now);
            byte_count one = 0;
            for (byte_count bytes : now.at.bytes) one += bytes;
            found.push_back({own.report().lower_bound_bytes, one, own.report().arena_bytes});
            higher += !args_.is_concurrent && live_bytes(plan, now) > found.back().bound;
            if (i % 10 == 0) check(net.name, program, plan.at(shapes[i]), asked);
            if (args_.within >= 0 && found.back().gap() > args_.within) {
                std::printf("FAR %s: %.3f %% for %s\n", net.name, found.back().gap(),
                            text_of(shapes[i]).c_str());
                ++faults_;
            }
        }
        shape most;
        for (dimension const& its : net.dims) most.push_back(its.most);
        byte_count const largest = arena_of(plan_one(tabulated(net, options, most)).plan);
        double const each =
            static_cast<double>(plan.buffers.size()) * static_cast<double>(shapes.size()) / 1e6;
        double const placing = best_of(args_.repetitions, [&] {
            for (shape const& s : shapes) plan.place(s, now);
        });
        double const copying = best_of(args_.repetitions, [&] {
            for (shape const& s : shapes) static_cast<void>(plan.at(s));
        });
        growing_arena memory(plan);
        auto touches_nothing = [](cpu_call const&) {};
        cpu_executor taker(program, options, memory.at(shapes.front()), touches_nothing, {.prove = false});
        double const setting = best_of(args_.repetitions, [&] {
            for (shape const& s : shapes) taker.set_shape(s);
        });
        print(net.name, plan.buffers.size(), shapes, found, largest);
        std::printf(" %9.1f %8.1f %7.1f %7.1f %7.0f\n", planning, placing / each, copying / each,
                    setting / each, 1e6 * own_planning / static_cast<double>(own_buffers));
        if (higher != 0)
            std::printf("  the bound of the common buffers is higher for %zu of %zu shapes\n", higher,
                        shapes.size());
        std::ostringstream report;
        report << planned.report();
        std::printf("  %s\n", report.str().c_str());
        for (std::size_t i = 0; i != found.size() && csv_.is_open(); ++i)
            csv_ << net.name << ',' << text_of(shapes[i]) << ',' << found[i].bound << ',' << found[i].one
                 << ',' << found[i].own << ',' << largest << '\n';
    }

private:
    template <class Work>
    static double best_of(unsigned times, Work const& work)
    {
        double best = bench::milliseconds(work);
        for (unsigned i = 1; i < times; ++i) best = std::min(best, bench::milliseconds(work));
        return best;
    }

    /// The options for one shape, with tables in place of formulas.
    static plan_options tabulated(bench::shaped_network const& net, symbolic_options const& options,
                                  shape const& one)
    {
        plan_options made = options.at(one);
        std::vector<byte_count> bytes, offset;
        for (bench::shaped_network::tensor const& t : net.tensors) {
            bytes.push_back(t.bytes.at(one));
            offset.push_back(t.offset.at(one));
        }
        made.bytes = bytes;
        made.view_offset = offset;
        return made;
    }

    void print(char const* name, std::size_t buffers, std::vector<shape> const& shapes,
               std::vector<outcome> found, byte_count largest) const
    {
        std::size_t worst = 0;
        double bound = 0, one = 0, own = 0;
        for (std::size_t i = 0; i != found.size(); ++i) {
            if (found[i].gap() > found[worst].gap()) worst = i;
            bound += static_cast<double>(found[i].bound);
            one += static_cast<double>(found[i].one);
            own += static_cast<double>(found[i].own);
        }
        double const most = found[worst].gap(),
                     all = static_cast<double>(largest) * static_cast<double>(found.size());
        std::sort(found.begin(), found.end(),
                  [](outcome const& a, outcome const& b) { return a.gap() < b.gap(); });
        std::printf("%-14s %7zu %8.3f %8.3f  %-14s %8.4f %6.4f %8.2f", name, buffers,
                    found[found.size() / 2].gap(), most, most < 0.0005 ? "-" : text_of(shapes[worst]).c_str(),
                    one / bound, own / bound, all / bound);
    }

    void check(char const* name, snapshot const& program, memory_plan const& plan, plan_options const& asked)
    {
        verdict const valid = args_.is_concurrent ? check_concurrent_plan(program, plan, asked)
                                                  : check_plan(program, plan, asked);
        if (!valid) fail(name, valid.error());
    }
    void fail(char const* name, counterexample const& why)
    {
        std::ostringstream text;
        text << why;
        std::printf("FAILED %s: %s\n", name, text.str().c_str());
        ++faults_;
    }

    arguments const& args_;
    std::ofstream csv_;
    unsigned faults_ = 0;
};

constexpr char usage[] = "usage: bench_symbolic [--smoke] [--concurrent] [--shapes N] [--within PERCENT] "
                         "[--csv FILE] [NETWORK ...]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments const args = read_arguments(count, words);
        auto const networks = bench::shaped_networks();
        for (std::string const& name : args.names)
            if (std::none_of(networks.begin(), networks.end(),
                             [&](auto const& net) { return net.name == name; }))
                throw std::runtime_error("there is no network '" + name + "'");
        comparison all(args);
        comparison::print_head();
        for (bench::shaped_network const& net : networks)
            if (args.names.empty() ||
                std::find(args.names.begin(), args.names.end(), net.name) != args.names.end())
                all.run(net);
        return all.faults() == 0 ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "symbolic: %s\n", e.what());
        return 2;
    }
}
