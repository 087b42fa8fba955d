// SPDX-License-Identifier: BSL-1.0

// genericity [--smoke]: the cost of describing a program by lambdas, a concept and a snapshot, compared with
// the same algorithms written by hand for given arrays. Both results must be equal.
//
//     border      lambdas -> snapshot: the copy that lets the algorithms be compiled once
//     lifetimes   the live range of each value
//     colors      a slot for each value, as few as possible
//     all         the total of these
//     listing     the program and its options by ids (the first column), and by a listing of pointers
//     sort        ends of live ranges by std::sort (the first column), and by detail::sort_by_key
//
// The version by hand needs no snapshot.

#include "measure.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/listing.hpp>
#include <sublet/sharing/color_intervals.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <queue>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace {

/// Operation i writes value i and reads inputs[begin[i]] ... inputs[begin[i + 1] - 1].
struct operations {
    std::vector<std::uint32_t> begin{0};
    std::vector<std::uint32_t> inputs;

    std::size_t count() const { return begin.size() - 1; }
};

operations random_operations(std::size_t n)
{
    std::mt19937 pick(7);
    operations ops;
    for (std::size_t i = 0; i != n; ++i) {
        if (i != 0) ops.inputs.push_back(static_cast<std::uint32_t>(i - 1));
        for (std::size_t more = i == 0 ? 0 : pick() % 3; more != 0; --more)
            ops.inputs.push_back(static_cast<std::uint32_t>(i - 1 - pick() % std::min<std::size_t>(i, 20)));
        ops.begin.push_back(static_cast<std::uint32_t>(ops.inputs.size()));
    }
    return ops;
}

struct interval {
    std::uint32_t first, last;
};

std::vector<interval> lifetimes_by_hand(operations const& ops)
{
    std::size_t const n = ops.count();
    std::vector<interval> intervals(n);
    for (std::uint32_t i = 0; i != n; ++i) {
        intervals[i] = {i, i + 1};
        for (std::uint32_t u = ops.begin[i]; u != ops.begin[i + 1]; ++u)
            intervals[ops.inputs[u]].last = i + 1;
    }
    return intervals;
}

std::vector<std::uint32_t> colors_by_hand(std::vector<interval> const& intervals)
{
    std::vector<std::uint32_t> by_start(intervals.size()), color(intervals.size());
    for (std::uint32_t i = 0; i != intervals.size(); ++i) by_start[i] = i;
    std::sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
        return intervals[a].first != intervals[b].first ? intervals[a].first < intervals[b].first : a < b;
    });
    using active_slot = std::pair<std::uint32_t, std::uint32_t>; // until, color
    std::priority_queue<active_slot, std::vector<active_slot>, std::greater<>> active_slots;
    std::uint32_t colors = 0;
    for (std::uint32_t i : by_start) {
        if (!active_slots.empty() && active_slots.top().first <= intervals[i].first) {
            color[i] = active_slots.top().second;
            active_slots.pop();
        } else {
            color[i] = colors++;
        }
        active_slots.emplace(intervals[i].last, color[i]);
    }
    return color;
}

struct both {
    bench::timing by_hand, generic;
};

void print(std::size_t n, char const* what, both const& b)
{
    std::printf("%9zu %-10s %12.3f %12.3f", n, what, b.by_hand.median, b.generic.median);
    if (b.by_hand.median > 0) std::printf(" %8.2f", b.generic.median / b.by_hand.median);
    else std::printf(" %8s", "-");
    std::printf(" %12.0f %12.0f\n", 100 * b.by_hand.spread(), 100 * b.generic.spread());
}

/// Returns whether both results are equal.
bool compare(std::size_t n, int runs)
{
    operations const ops = random_operations(n);
    std::vector<double> hand[6], generic[6]; // border, lifetimes, colors, all, listing, sort
    bool same = true;
    for (int run = 0; run != runs; ++run) {
        std::vector<interval> intervals;
        std::vector<std::uint32_t> colors;
        hand[0].push_back(0);
        hand[1].push_back(bench::milliseconds([&] { intervals = lifetimes_by_hand(ops); }));
        hand[2].push_back(bench::milliseconds([&] { colors = colors_by_hand(intervals); }));

        sublet::snapshot program;
        sublet::live_ranges ranges;
        sublet::slot_plan slots;
        generic[0].push_back(bench::milliseconds([&] {
            program = sublet::sequence(n, n, [&](std::uint32_t s, sublet::effect_sink& sink) {
                sink.def(s);
                for (std::uint32_t u = ops.begin[s]; u != ops.begin[s + 1]; ++u) sink.use(ops.inputs[u]);
            });
        }));
        generic[1].push_back(bench::milliseconds([&] { ranges = sublet::lifetimes(program); }));
        generic[2].push_back(bench::milliseconds(
            [&] { slots = sublet::color(n, [&](sublet::value_id v) { return ranges.of[v]; }); }));

        for (auto* times : {hand, generic})
            times[3].push_back(times[0].back() + times[1].back() + times[2].back());
        for (std::size_t v = 0; v != n; ++v)
            same = same && ranges.of[v] == sublet::live_range{intervals[v].first, intervals[v].last};
        same = same && std::equal(colors.begin(), colors.end(), slots.slot_of.begin(), slots.slot_of.end());
    }
    struct tensor {
        sublet::byte_count bytes = 64;
    };
    std::vector<tensor> const tensors(n);
    for (int run = 0; run != runs; ++run) {
        sublet::snapshot by_ids, by_handles;
        hand[4].push_back(bench::milliseconds([&] {
            by_ids = sublet::sequence(n, n, [&](std::uint32_t s, sublet::effect_sink& sink) {
                sink.def(s);
                for (std::uint32_t u = ops.begin[s]; u != ops.begin[s + 1]; ++u) sink.use(ops.inputs[u]);
            });
            sublet::plan_options const options{.bytes = [&](sublet::value_id v) { return tensors[v].bytes; }};
            same = same && options.bytes.tabulate(n, "bytes").size() == n;
        }));
        generic[4].push_back(bench::milliseconds([&] {
            sublet::listing<tensor const*> list;
            for (std::size_t s = 0; s != n; ++s) {
                auto step = list.step();
                step.make(&tensors[s], {.bytes = tensors[s].bytes});
                for (std::uint32_t u = ops.begin[s]; u != ops.begin[s + 1]; ++u)
                    step.read(&tensors[ops.inputs[u]]);
            }
            by_handles = list.program();
            same = same && list.options().bytes.tabulate(n, "bytes").size() == n;
        }));
        same = same && by_ids == by_handles;
    }
    std::vector<sublet::detail::sort_key> ends;
    for (interval const& one : lifetimes_by_hand(ops))
        ends.push_back({one.last, 0, static_cast<std::uint32_t>(ends.size())});
    for (int run = 0; run != runs; ++run) {
        auto by_std = ends, by_key = ends;
        hand[5].push_back(bench::milliseconds([&] { std::sort(by_std.begin(), by_std.end()); }));
        generic[5].push_back(bench::milliseconds([&] { sublet::detail::sort_by_key(by_key); }));
        for (std::size_t i = 0; i != n; ++i) same = same && by_std[i].id == by_key[i].id;
    }
    char const* const rows[] = {"border", "lifetimes", "colors", "all", "listing", "sort"};
    for (std::size_t row = 0; row != std::size(rows); ++row)
        print(n, rows[row], {bench::timing_of(hand[row]), bench::timing_of(generic[row])});
    return same;
}

constexpr char usage[] = "usage: bench_genericity [--smoke]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        bool const smoke = count > 1 && std::strcmp(words[1], "--smoke") == 0;
        if (count > (smoke ? 2 : 1)) bench::refuse_option(words[smoke ? 2 : 1]);
        std::printf("%9s %-10s %12s %12s %8s %12s %12s\n", "n", "work", "by hand ms", "generic ms", "ratio",
                    "spread %", "spread %");
        std::size_t const sizes[] = {1000, 100'000, 1'000'000};
        for (std::size_t const n : sizes) {
            if (smoke && n != 1000) continue;
            if (compare(n, smoke ? 1 : 11)) continue;
            std::fputs("genericity: the two answers differ\n", stderr);
            return 1;
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "genericity: %s\n", e.what());
        return 2;
    }
}
