// SPDX-License-Identifier: BSL-1.0

// concurrent_sweep DATA: plans every network of a folder for every order of its nodes. Prints one line per
// file: the lower bound; how far offsets lie above it, by greedy orders and by search; slots, and what the
// two slot choices of Caffe2's memonger give; and what hand-offs save. Exit status: 0 if every plan is
// proved, every bound is exact, and the plans meet the limits below.

#include "read_onnx.hpp"
#include "summary.hpp"
#include "timed_plan.hpp"

#include <sublet/sharing/share_slots.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace plan_model;

/// How far a figure lies above its bound, over all networks.
struct distance {
    double log_sum = 0, worst = 0;
    int files = 0, at_the_bound = 0;

    double add(sublet::byte_count bytes, sublet::byte_count bound)
    {
        double const percent =
            bound == 0 ? 0 : 100 * (static_cast<double>(bytes) / static_cast<double>(bound) - 1);
        log_sum += std::log1p(percent / 100);
        worst = std::max(worst, percent);
        ++files;
        at_the_bound += bytes == bound;
        return percent;
    }
    double mean() const { return files == 0 ? 0 : 100 * std::expm1(log_sum / files); }
    void print(char const* what) const
    {
        std::printf("%s: %d of %d at the bound, %.3f %% above it in geometric mean, %.3f %% at worst\n", what,
                    at_the_bound, files, mean(), worst);
    }
};

struct sweep {
    distance budgeted, search, slots, caffe2;
    int failures = 0, without_handoffs = 0;

    void expect(bool is_so, std::string const& file, char const* what)
    {
        if (is_so) return;
        std::printf("FAILED %s: %s\n", file.c_str(), what);
        ++failures;
    }

    void run(std::string const& file, network const& net)
    {
        sublet::plan_options const options = as_options(net, {.in_place = false});
        sublet::snapshot const program = as_program(net);
        auto const planned = sublet::plan_concurrent(program, options);
        sublet::plan_options small = options;
        small.effort = 1'000'000;
        auto const small_budget = sublet::plan_concurrent(program, small);
        auto const with_handoffs = sublet::plan_with_handoffs(program, options);
        auto const in_order = sublet::plan_memory(program, options);
        sublet::byte_count const bound = planned.report().lower_bound_bytes;
        sublet::byte_count const bytes = planned.report().arena_bytes;

        // Caffe2's choice of slots on the same program, without and with sizes.
        auto by_tokens = [&](sublet::slot_choice choice) {
            return sublet::share_slots(program, options, {.choice = choice});
        };
        auto const most_shared = by_tokens(sublet::slot_choice::most_shared);
        auto const sized = by_tokens(sublet::slot_choice::caffe2_sized);
        sublet::byte_count const caffe2_bytes = std::min(most_shared.total_bytes, sized.total_bytes);
        auto const fewest =
            sublet::share_slots(program, options, {.strategy = sublet::slot_options::strategy_kind::fewest});

        std::printf("%-32s %5zu %12llu %7.3f %7.3f %5u %7.2f %5u %7.2f %5u %12llu %12llu %5zu %9.1f\n",
                    file.c_str(), planned.plan.buffers.size(), static_cast<unsigned long long>(bound),
                    budgeted.add(small_budget.report().arena_bytes, bound), search.add(bytes, bound),
                    planned.slots.slots, slots.add(planned.slots.total_bytes, bound), most_shared.slots,
                    caffe2.add(caffe2_bytes, bound), fewest.slots,
                    static_cast<unsigned long long>(in_order.report().arena_bytes),
                    static_cast<unsigned long long>(with_handoffs.report().arena_bytes),
                    with_handoffs.plan.handoffs.size(), 1000 * planned.report().seconds);
        without_handoffs += with_handoffs.plan.handoffs.empty();

        expect(bool(planned) && bool(small_budget) && bool(with_handoffs), file, "a plan is refuted");
        expect(planned.is_bound_exact, file, "the bound is not exact");
        expect(fewest.is_optimal(), file, "the number of slots is not proved");
        expect(bytes <= caffe2_bytes, file, "Caffe2's choice needs fewer bytes");
        expect(fewest.slots <= most_shared.slots, file, "Caffe2's choice needs fewer slots");
        expect(planned.slots.total_bytes <= planned.report().naive_bytes, file,
               "slots need more than no sharing");
        expect(with_handoffs.critical_path_with <= with_handoffs.makespan, file,
               "hand-offs exceed the makespan");
        sublet::byte_count const in_one_order = in_order.report().arena_bytes / 100 * 101 + 100;
        expect(with_handoffs.report().arena_bytes <= std::min(bytes, in_one_order), file,
               "hand-offs need more than the better of the other two plans");
    }

    bool conclude()
    {
        budgeted.print("with 1 % of the search budget");
        search.print("with search");
        slots.print("slots");
        caffe2.print("slots chosen as in Caffe2");
        std::printf("no hand-offs needed: %d; failures: %d\n", without_handoffs, failures);
        auto is_most = [&](int of) { return of * 37 >= search.files * 30; };
        expect(is_most(search.at_the_bound), "all", "fewer than 30 of 37 at the bound");
        expect(search.mean() <= 0.1 && search.worst <= 1.5, "all", "offsets lie too far above the bound");
        expect(budgeted.mean() <= 0.3 && budgeted.worst <= 8, "all",
               "greedy offsets lie too far above the bound");
        expect(slots.mean() <= 20, "all", "slots lie too far above the bound");
        expect(without_handoffs * 37 >= search.files * 20, "all", "too many need hand-offs");
        return search.files != 0 && failures == 0;
    }
};

} // namespace

int main(int count, char** words)
{
    bool const asks_for_help = count == 2 && std::string(words[1]) == "--help";
    if (count != 2 || asks_for_help)
        return std::fputs("usage: plan_model_concurrent_sweep DATA\n", asks_for_help ? stdout : stderr),
               asks_for_help ? 0 : 2;
    try {
        std::vector<std::filesystem::path> files;
        for (auto const& entry :
             std::filesystem::recursive_directory_iterator(std::string(words[1]) + "/models"))
            if (entry.path().extension() == ".onnx") files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        std::printf("%-32s %5s %12s %7s %7s %5s %7s %5s %7s %5s %12s %12s %5s %9s\n", "file", "bufs", "bound",
                    "quick%", "search%", "slots", "over %", "most", "over %", "least", "one order", "waiting",
                    "waits", "ms");
        sweep all;
        for (auto const& file : files) all.run(file.filename().string(), read_onnx(file.string()));
        return all.conclude() ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "concurrent_sweep: %s\n", e.what());
        return 2;
    }
}
