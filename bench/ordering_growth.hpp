// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_ORDERING_GROWTH_HPP
#define SUBLET_BENCH_ORDERING_GROWTH_HPP

/// Time and memory of order() as task graphs grow. Sizes of files come from a fixed generator.
///
///     chain      each task reads the file of the one before
///     comb       a spine of tasks, each with a tooth, a chain of three that it reads; all teeth are listed
///                first
///     grid       a square; each task reads the files of its left and its upper neighbour, all of one size
///     mosaic     copies of a workflow of 64 images, as Montage has it: each is projected, fitted to its
///                neighbours, and corrected by one fit of all; then they are added up and shrunk
///     wide       a thousand parallel branches, each grows and shrinks, all join at the end
///     deep       one chain; each task also reads one of the last ten files
///     layered    sixty-four tasks per layer, each reads up to three of the previous layer
///     attention  blocks of eight heads, then backward with kept values, updates last

#include "measure.hpp"
#include "ordering_table.hpp"
#include "ordering_tasks.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/order.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace bench {

using files = std::vector<std::uint32_t>;
using generator = std::mt19937;

inline std::uint64_t random_size(generator& pick)
{
    std::uint64_t const units = 1 + pick() % 64;
    return units << (10 + pick() % 6);
}

inline task_graph chain_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    for (std::uint32_t last = g.add({random_size(pick)}, {}); g.tasks() < n;)
        last = g.add({random_size(pick)}, {last});
    return g;
}

inline task_graph comb_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    files ends;
    while (4 * ends.size() < n) {
        std::uint32_t tooth = g.add({random_size(pick)}, {});
        for (int i = 0; i != 2; ++i) tooth = g.add({random_size(pick)}, {tooth});
        ends.push_back(tooth);
    }
    std::uint32_t spine = g.add({random_size(pick)}, {ends[0]});
    for (std::size_t i = 1; i != ends.size(); ++i) spine = g.add({random_size(pick)}, {spine, ends[i]});
    return g;
}

inline task_graph grid_tasks(std::size_t n, generator&)
{
    task_graph g;
    auto const side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(n)));
    for (std::uint32_t row = 0; row != side; ++row)
        for (std::uint32_t column = 0; column != side; ++column) {
            files read;
            if (column != 0) read.push_back(row * side + column - 1);
            if (row != 0) read.push_back((row - 1) * side + column);
            g.add({1}, read);
        }
    return g;
}

inline task_graph mosaic_tasks(std::size_t n, generator& pick)
{
    constexpr std::uint32_t side = 8;
    task_graph g;
    while (g.tasks() < n) {
        files image, fits, corrected;
        for (std::uint32_t i = 0; i != side * side; ++i) { // and its area, of the same size
            std::uint64_t const size = 4'100'000 + pick() % 16 * 4096;
            image.push_back(g.add({size, size}, {}));
        }
        for (std::uint32_t i = 0; i != side * side; ++i) {
            std::uint32_t const row = i / side, column = i % side;
            auto fit = [&](std::uint32_t other) {
                fits.push_back(
                    g.add({250 + pick() % 32}, {image[i], image[i] + 1, image[other], image[other] + 1}));
            };
            if (column + 1 != side) fit(i + 1);
            if (row + 1 != side) fit(i + side);
            if (column + 1 != side && row + 1 != side) fit(i + side + 1);
            if (column != 0 && row + 1 != side) fit(i + side - 1);
        }
        std::uint32_t const table = g.add({20'000 + pick() % 4096}, fits);
        for (std::uint32_t first : image) {
            std::uint64_t const size = g.bytes[first];
            corrected.push_back(g.add({size, size}, {first, first + 1, table}));
            corrected.push_back(corrected.back() + 1);
        }
        std::uint32_t const sum = g.add({160'000'000 + pick() % 4096, 160'000'000}, corrected);
        g.add({800'000 + pick() % 4096}, {sum, sum + 1});
    }
    return g;
}

/// A file that no task reads ends with its task.
inline task_graph keeping_none(task_graph g)
{
    std::fill(g.is_kept.begin(), g.is_kept.end(), static_cast<unsigned char>(0));
    return g;
}

inline task_graph wide_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    files ends(std::min<std::size_t>(1000, n / 10));
    for (std::uint32_t& end : ends) end = g.add({random_size(pick)}, {});
    while (g.tasks() + 1 < n) // listed in turn, so the branches alternate
        for (std::uint32_t& end : ends) end = g.add({random_size(pick)}, {end});
    g.add({1024}, ends);
    return keeping_none(std::move(g));
}

inline task_graph deep_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    std::uint32_t last = g.add({1024}, {});
    while (g.tasks() < n) {
        auto const back = static_cast<std::uint32_t>(pick() % std::min<std::size_t>(last + 1, 10));
        files read{last};
        if (back != 0) read.push_back(last - back);
        last = g.add({random_size(pick)}, read);
    }
    return keeping_none(std::move(g));
}

inline task_graph layered_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    std::uint32_t const width = 64;
    while (g.tasks() < n) {
        auto const layer = static_cast<std::uint32_t>(g.tasks() / width);
        files read;
        for (std::size_t i = layer == 0 ? 0 : 1 + pick() % 3; i != 0; --i) {
            auto const f = static_cast<std::uint32_t>((layer - 1) * width + pick() % width);
            if (std::find(read.begin(), read.end(), f) == read.end()) read.push_back(f);
        }
        g.add({random_size(pick)}, read);
    }
    return keeping_none(std::move(g));
}

inline task_graph attention_tasks(std::size_t n, generator& pick)
{
    task_graph g;
    std::size_t const heads = 8, blocks = std::max<std::size_t>(1, n / (12 * heads));
    std::vector<files> kept;
    files gradients;
    std::uint32_t x = g.add({1 << 20}, {});
    for (std::size_t b = 0; b != blocks; ++b) {
        files outs, keeps{x};
        for (std::size_t h = 0; h != heads; ++h) {
            std::uint32_t const query = g.add({1 << 17}, {x}), key = g.add({1 << 17}, {x}),
                                value = g.add({1 << 17}, {x});
            std::uint32_t const scores = g.add({std::uint64_t{1} << (18 + pick() % 3)}, {query, key});
            outs.push_back(g.add({1 << 17}, {scores, value}));
            keeps.insert(keeps.end(), {query, key, value, scores});
        }
        x = g.add({1 << 20}, outs);
        kept.push_back(keeps);
    }
    for (std::size_t b = blocks; b-- != 0;) {
        files back;
        for (std::size_t h = 0; h != heads; ++h) {
            std::uint32_t const* const keep = kept[b].data() + 1 + 4 * h;
            std::uint32_t const d = g.add({1 << 18}, {x, keep[3], keep[2]});
            back.push_back(g.add({1 << 17}, {d, keep[0], keep[1]}));
            gradients.push_back(g.add({1 << 19}, {d, kept[b][0]}));
        }
        x = g.add({1 << 20}, back);
    }
    for (std::uint32_t gradient : gradients) g.add({0}, {gradient}); // writes external weights
    return keeping_none(std::move(g));
}

struct task_family {
    char const* name;
    task_graph (*make)(std::size_t tasks, generator& pick);
    std::size_t most; ///< tasks
};

constexpr task_family task_families[] = {
    {"chain", chain_tasks, 1'000'000},   {"comb", comb_tasks, 1'000'000},
    {"grid", grid_tasks, 1'000'000},     {"mosaic", mosaic_tasks, 100'000},
    {"wide", wide_tasks, 100'000},       {"deep", deep_tasks, 100'000},
    {"layered", layered_tasks, 100'000}, {"attention", attention_tasks, 100'000}};

/// A line for each family and size from `least` to `most` tasks, times ten: seconds of processor time of
/// order(), and the MiB of memory that it needs at its peak above what was there before (0 where no system
/// says it). Returns whether each order has the peak that it says, not above that of the listed order.
inline bool measure_growth(std::size_t least, std::size_t most, sublet::effort effort)
{
    std::printf("%-10s %8s %14s %14s %14s %-6s %-13s %9s %9s %9s\n", "family", "steps", "listed", "order",
                "bound", "proved", "found by", "seconds", "ns/step", "MiB");
    bool is_good = true;
    for (task_family const& family : task_families)
        for (std::size_t n = least; n <= std::min(most, family.most); n *= 10) {
            generator pick(static_cast<std::uint32_t>(n));
            task_graph const g = family.make(n, pick);
            sublet::snapshot p;
            sublet::plan_options options{.bytes = 0};
            {
                auto list = as_listing(g);
                list.effort = effort;
                p = list.program();
                options = list.sized_options();
            }
            task_order listed(g.tasks());
            for (std::uint32_t t = 0; t != g.tasks(); ++t) listed[t] = t;
            std::uint64_t const listed_peak = painted_peak(g, listed);
            reset_peak_rss();
            double const before = process_mebibytes("VmRSS");
            node_order found;
            double const seconds = processor_seconds([&] { found = sublet::order(p, options); });
            double const grown = std::max(0.0, process_mebibytes("VmHWM") - before);
            std::uint64_t const peak = painted_peak(g, tasks_of(found));
            bool const is_right = peak == found.peak && listed_peak == found.given_peak &&
                                  peak <= listed_peak && found.lower_bound <= peak;
            std::printf(
                "%-10s %8zu %14llu %14llu %14llu %-6s %-13s %9.3f %9.0f %9.1f%s\n", family.name, g.tasks(),
                static_cast<unsigned long long>(listed_peak), static_cast<unsigned long long>(peak),
                static_cast<unsigned long long>(found.lower_bound), peak == found.lower_bound ? "yes" : "no",
                name_of(found.found_by), seconds, 1e9 * seconds / static_cast<double>(g.tasks()), grown,
                is_right ? "" : "  FAULT: a peak is not as said, above listed, or below the bound");
            std::fflush(stdout);
            is_good = is_good && is_right;
        }
    return is_good;
}

} // namespace bench

#endif
