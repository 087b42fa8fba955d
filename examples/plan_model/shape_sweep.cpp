// SPDX-License-Identifier: BSL-1.0

// Holds the size of each value, as formulas give it for every shape, against the file that is read anew at
// pseudo-random shapes in the ranges; and the plan for every shape against the checker with the sizes that
// were read, and against a plan for that shape alone. Prints one row; fails if a size differs, if more values
// than stated have no formula, or if a plan is refused or needs more percent than stated above the one for
// its shape.

#include "any_shape.hpp"
#include "arguments.hpp"
#include "plan_bodies.hpp"
#include "plan_shapes.hpp"

#include <sublet/checking/check_plan.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/plan_symbolic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace plan_model {
namespace {

struct sweep_arguments {
    arguments of_model;
    std::size_t most_by_shape = 0, shapes = 50;
    double within = 3; ///< percent above a plan for one shape
};

/// What is found at all shapes.
struct sweep_findings {
    std::size_t faults = 0;
    double worst = 0; ///< percent above a plan for one shape
};

void check_at(sweep_arguments const& args, shaped_network const& shaped, sublet::planned_symbolic const& planned,
              sublet::shape const& shape, sweep_findings& found_at)
{
    arguments const& of = args.of_model;
    model_options how = of.reading;
    for (given_dimension const& size : given_at(of.ranges, shape)) how.dimensions.push_back(size);
    network net = read_model(of.model, how);
    if (has_bodies(net)) add_scratch(of.model, net, {of.alignment, of.in_place});
    std::size_t& faults = found_at.faults;
    for (sublet::value_id v = 0; v != net.values.size(); ++v) {
        sublet::formula const& f = shaped.bytes[+v];
        sublet::byte_count const found = f.is_by_shape() ? shaped.bytes_at(v, shape) : f.at(shape);
        if (found == net.values[v].bytes) continue;
        if (faults++ < 5)
            std::printf("%s: %s has %llu bytes at %s, and not %llu\n", of.model.c_str(),
                        quoted(net.values[v].name).c_str(),
                        static_cast<unsigned long long>(net.values[v].bytes),
                        text_of_shape(of.ranges, shape).c_str(), static_cast<unsigned long long>(found));
    }
    sublet::snapshot const program = as_program(shaped.net);
    sublet::plan_options options = as_options(net, {of.alignment, of.in_place});
    if (auto const valid = sublet::check_plan(program, planned.plan.at(shape), options); !valid) {
        std::ostringstream why;
        why << valid.error();
        std::printf("%s: at %s %s\n", of.model.c_str(), text_of_shape(of.ranges, shape).c_str(), why.str().c_str());
        ++faults;
    }
    auto const own = static_cast<double>(sublet::plan_memory(program, options).report().arena_bytes);
    double all = 0;
    for (sublet::byte_count bytes : planned.plan.at(shape).arena_bytes) all += static_cast<double>(bytes);
    if (own > 0) found_at.worst = std::max(found_at.worst, 100 * (all / own - 1));
}

int run(sweep_arguments const& args)
{
    arguments const& of = args.of_model;
    shaped_network const shaped =
        read_for_shapes(of.model, of.reading, of.ranges, {of.alignment, of.in_place});
    auto const planned = sublet::plan_symbolic(as_program(shaped.net), as_symbolic_options(shaped, of, {}));
    if (!planned) {
        std::ostringstream why;
        why << planned.error();
        std::printf("%s: %s\n", of.model.c_str(), why.str().c_str());
        return 1;
    }
    std::mt19937_64 pick(7);
    sweep_findings found;
    for (std::size_t n = 0; n != args.shapes; ++n) {
        grid_point at;
        for (dimension_range const& r : of.ranges)
            at.push_back(static_cast<std::int64_t>(pick() % static_cast<std::uint64_t>(r.steps() + 1)));
        check_at(args, shaped, planned, shape_at(of.ranges, at), found);
    }
    std::printf("%s: %zu values, %zu by shape, %zu reads in %.0f ms, planned in %.1f ms, %zu faults at %zu "
                "shapes, at most %.2f %% above plans for one\n",
                of.model.c_str(), shaped.bytes.size(), shaped.by_shape, shaped.reads, shaped.milliseconds,
                1000 * planned.report().seconds, found.faults, args.shapes, found.worst);
    return found.faults == 0 && shaped.by_shape <= args.most_by_shape && found.worst <= args.within ? 0 : 1;
}

} // namespace
} // namespace plan_model

int main(int count, char** words)
{
    using namespace plan_model;
    constexpr char words_of_use[] = "usage: plan_model_shape_sweep MODEL.onnx --dim NAME=LEAST:MOST ...\n"
                                    "                              [--most-by-shape N] [--shapes N] [--within PERCENT]\n";
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count < 2 || asks_for_help)
        return std::fputs(words_of_use, asks_for_help ? stdout : stderr), asks_for_help ? 0 : 2;
    try {
        sweep_arguments args;
        std::vector<char const*> others{words[0]};
        for (int i = 1; i < count; ++i) {
            std::string const word = words[i];
            bool const is_most = word == "--most-by-shape";
            if (word == "--within" && i + 1 < count) {
                args.within = std::stod(words[++i]);
                continue;
            }
            if ((is_most || word == "--shapes") && i + 1 < count)
                (is_most ? args.most_by_shape : args.shapes) = std::stoul(words[++i]);
            else others.push_back(words[i]);
        }
        args.of_model = read_arguments(static_cast<int>(others.size()), others.data());
        return run(args);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "plan_model_shape_sweep: %s\n", e.what());
        return 2;
    }
}
