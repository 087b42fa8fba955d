// SPDX-License-Identifier: BSL-1.0

// html_pages FOLDER: writes the pages that html_browser.js tests, of random programs: plans of 100, 2000 and
// 20000 buffers in several pools, two plans with in-place results, one with hand-offs, one with holes in live
// ranges, one with each reason of an offset, one with names and sizes that are hard to hold, one with
// long names, one of rounds, and one with the cost of less memory.

#include "../random_source.hpp"

#include <sublet/advise_memory.hpp>
#include <sublet/core/internal/placement_outcome.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/reporting/html.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

/// A step for each value, which reads some of the values before it.
struct random_steps {
    std::vector<std::vector<sublet::value_id>> reads;
    std::vector<sublet::byte_count> bytes;
    std::vector<sublet::pool_id> pools;

    random_steps(random_source& random_source, std::size_t values, unsigned pool_count)
    {
        for (std::size_t v = 0; v != values; ++v) {
            std::vector<sublet::value_id> read;
            for (std::uint32_t i = v == 0 ? 0 : 1 + random_source.below(3); i != 0; --i) {
                std::uint32_t const reach = random_source.below(20) == 0 ? 200 : 6;
                std::uint32_t const back = 1 + random_source.below(reach);
                read.push_back(sublet::value_id::of(v - std::min<std::size_t>(v, back)));
            }
            reads.push_back(read);
            std::uint32_t const size = 1 + random_source.below(64);
            std::uint32_t const unit = random_source.below(4);
            bytes.push_back(sublet::byte_count{size} << (4 * unit + 4));
            pools.push_back(random_source.below(pool_count));
        }
    }
    sublet::snapshot program() const
    {
        return sublet::sequence(reads.size(), reads.size(), [this](auto s, sublet::effect_sink& step) {
            for (auto v : reads[s]) step.use(v);
            step.def(+s);
            for (auto v : reads[s])
                if (pools[v] == pools[s] && bytes[v] >= bytes[s]) step.may_overwrite(v, +s);
        });
    }
};

void write_random_page(std::string const& file, std::size_t values, unsigned pools, bool with_before)
{
    random_source random_source{std::mt19937(static_cast<std::uint32_t>(values) + first_seed())};
    random_steps const steps(random_source, values, pools);
    sublet::snapshot const program = steps.program();
    sublet::plan_options options{.bytes = steps.bytes, .pool = steps.pools, .effort = sublet::effort::fast};
    auto name_of = [](auto v) { return "value " + std::to_string(v); };
    auto kind_of = [&](auto v) { return "kind " + std::to_string(steps.bytes[v] % 13); };
    auto step_name = [](auto s) { return "operation " + std::to_string(s); };
    std::string const title = std::to_string(values) + " buffers";
    sublet::html_options const page{.names = name_of,
                                    .kinds = kind_of,
                                    .steps = step_name,
                                    .title = title,
                                    .program = &program,
                                    .options = &options};
    options.in_place = false;
    sublet::planned_memory const apart = sublet::plan_memory(program, options);
    std::ofstream out(file, std::ios::binary);
    if (!with_before) {
        sublet::write_html(out, apart, page);
        return;
    }
    options.in_place = true;
    sublet::planned_memory const in_place = sublet::plan_memory(program, options);
    sublet::write_html(out, apart, in_place, page);
}

void write_page_with_handoffs(std::string const& file)
{
    random_source random_source{std::mt19937(17 + first_seed())};
    random_steps const steps(random_source, 120, 2);
    sublet::snapshot const program = steps.program();
    sublet::plan_options const options{.bytes = steps.bytes, .in_place = false};
    auto const planned = sublet::plan_with_handoffs(program, options, {.workers = 2, .minimum_gain = 0});
    auto name_of = [](auto v) { return "value " + std::to_string(v); };
    auto step_name = [](auto s) { return "operation " + std::to_string(s); };
    std::vector<std::pair<sublet::byte_count, std::size_t>> waits;
    for (sublet::byte_count percent : {150u, 125u, 110u, 100u}) {
        sublet::byte_count const most = planned.report().arena_bytes / 100 * percent + 99;
        auto const within = sublet::plan_with_handoffs(program, options, {.workers = 2, .most_bytes = most});
        waits.emplace_back(within.report().arena_bytes, within.plan.handoffs.size());
    }
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(out, planned,
                       {.names = name_of,
                        .kinds = name_of,
                        .steps = step_name,
                        .title = "Hand-offs",
                        .program = &program,
                        .options = &options,
                        .waits_within = waits});
}

/// Branches that join again, one after the other: live ranges have holes.
void write_page_with_holes(std::string const& file)
{
    std::size_t const branches = 20, nodes = 3 * branches + 1;
    std::vector<std::vector<sublet::node_id>> next(nodes);
    for (sublet::node_id n = 0; n + 3 < nodes; n += 3) {
        next[n] = {n + 1, n + 2};
        next[n + 1] = next[n + 2] = {n + 3};
    }
    random_source random_source{std::mt19937(23 + first_seed())};
    std::vector<sublet::byte_count> bytes;
    for (std::size_t v = 0; v != 2 * nodes; ++v) bytes.push_back(16 * (1 + random_source.below(9)));
    auto const program = sublet::flow(
        nodes, bytes.size(), [&](auto n) -> auto& { return next[n]; },
        [&](auto n, sublet::effect_sink& step) {
            if (n % 3 == 1) step.use(2 * (n - 1)); // one branch reads the one value, the other the other
            if (n % 3 == 2) step.use(2 * (n - 2) + 1);
            step.def(2 * n);
            step.def(2 * n + 1);
        });
    sublet::plan_options const options{.bytes = bytes};
    auto const planned = sublet::plan_flow(program, options);
    auto name_of = [](auto v) { return "value " + std::to_string(v); };
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(out, planned,
                       {.names = name_of, .title = "Holes", .program = &program, .options = &options});
}

/// The name of each buffer is the begin of the reason for its offset.
void write_page_of_reasons(std::string const& file)
{
    std::string const names[] = {"at the bottom of the arena",
                                 "it rests on",
                                 "above a gap of 6 B: no buffer that is live",
                                 "at the first multiple of its alignment, 64",
                                 "it is pinned to this offset",
                                 "it is written in place over the larger",
                                 "at the bottom of block 1"};
    sublet::memory_plan plan;
    plan.buffers = {{.root = 0, .life = {0, 4}, .size = 50, .offset = 0},
                    {.root = 1, .life = {1, 3}, .size = 10, .offset = 50},
                    {.root = 2, .life = {1, 2}, .size = 4, .offset = 66},
                    {.root = 3, .life = {3, 9}, .size = 16, .alignment = 64, .offset = 64},
                    {.root = 4, .life = {0, 9}, .size = 20, .offset = 100},
                    {.root = 5, .life = {4, 7}, .size = 30, .offset = 0, .over = 0},
                    {.root = 6, .life = {0, 9}, .size = 20, .pool = 1, .offset = 32}};
    plan.arena_bytes = {120, 52};
    plan.blocks = {{1, 0, 32}, {1, 32, 20}};
    sublet::plan_options const options{
        .bytes = 0, .pinned = [](auto v) { return v == 4 ? sublet::byte_count{100} : sublet::no_offset; }};
    auto name_of = [&](auto v) -> auto& { return names[v]; };
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(out, plan, {.names = name_of, .title = "Reasons", .options = &options});
}

void write_hostile_page(std::string const& file)
{
    std::string const names[] = {"</script><script>document.title = 'broken'</script>",
                                 "<!--<script>",
                                 "<img src=x onerror=\"document.title = 'broken'\">",
                                 "\"quoted\\\" \\u003c",
                                 "constructor",
                                 ""};
    sublet::memory_plan plan;
    sublet::byte_count const size = (sublet::no_size - 2) / 6;
    for (sublet::value_id v = 0; v != 6; ++v)
        plan.buffers.push_back({.root = v, .life = {+v, v + 3}, .size = size, .offset = v * size});
    plan.arena_bytes = {6 * size};
    std::ofstream out(file, std::ios::binary);
    auto name_of = [&](auto v) -> auto& { return names[v]; };
    sublet::write_html(
        out, plan,
        {.names = name_of, .kinds = name_of, .title = "</title><script>document.title = 'broken'</script>"});
}

/// A megabyte in one word, in many words, and in characters of four bytes; each begins and ends with its
/// number.
void write_page_of_long_names(std::string const& file)
{
    std::size_t const length = 1'000'000;
    std::string names[3];
    char const* const pieces[] = {"x", "word ", "\xF0\x9D\x84\x9E"};
    for (std::size_t i = 0; i != 3; ++i) {
        std::string const number = std::to_string(i);
        names[i] = number;
        while (names[i].size() < length / 2) names[i] += pieces[i];
        names[i] += "middle " + number;
        while (names[i].size() < length) names[i] += pieces[i];
        names[i] += number;
    }
    auto const program = sublet::sequence(3, 3, [](auto s, sublet::effect_sink& step) {
        if (s != 0) step.use(s - 1);
        step.def(+s);
    });
    sublet::plan_options const options{.bytes = 64, .in_place = false};
    auto name_of = [&](auto v) -> auto& { return names[v]; };
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(out, sublet::plan_memory(program, options),
                       {.names = name_of,
                        .kinds = name_of,
                        .steps = name_of,
                        .title = "Long names",
                        .program = &program,
                        .options = &options});
}

/// "now" and "history" change places after every round.
void write_page_of_rounds(std::string const& file)
{
    std::string const names[] = {"lit", "history", "now"};
    auto const program = sublet::sequence(2, 3, [](auto s, sublet::effect_sink& step) {
        if (s == 1) step.use(0), step.use(1);
        step.def(2 * +s);
    });
    sublet::plan_options const options{.bytes = 64, .carried = {{2, 1}}};
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(out, sublet::plan_memory(program, options),
                       {.names = names, .title = "Rounds", .program = &program, .options = &options});
}

/// Layers forward and backward, within nine tenths of their bytes and less.
void write_page_with_costs(std::string const& file)
{
    std::size_t const layers = 12;
    auto const program = sublet::sequence(2 * layers, 2 * layers, [](auto s, sublet::effect_sink& step) {
        if (s != 0) step.use(s - 1);
        if (s >= layers) step.use(2 * layers - 1 - s);
        step.def(+s);
        step.may_recompute();
    });
    sublet::plan_options const options{.bytes = [](auto v) { return 64 + 16 * (v % 3); }};
    auto const planned = sublet::plan_memory(program, options);
    sublet::byte_count const whole = planned.bytes();
    std::vector<std::pair<sublet::byte_count, sublet::byte_count>> costs{{whole, 0}};
    std::vector<sublet::byte_count> const limits{whole / 2, whole / 10 * 9, whole / 10 * 7};
    for (sublet::memory_advice const& advice : sublet::advise_limits(program, options, limits))
        if (advice) costs.emplace_back(advice.bytes(), advice.cost);
    auto name_of = [](auto v) { return "value " + std::to_string(v); };
    std::ofstream out(file, std::ios::binary);
    sublet::write_html(
        out, planned,
        {.names = name_of, .title = "Costs", .program = &program, .options = &options, .cost_within = costs});
}

} // namespace

int main(int count, char** words)
{
    if (count != 2) {
        std::cerr << "usage: html_pages FOLDER\n";
        return 2;
    }
    std::string const folder = words[1];
    write_random_page(folder + "/two_plans.html", 300, 2, true);
    write_random_page(folder + "/100.html", 100, 2, false);
    write_random_page(folder + "/2000.html", 2000, 3, false);
    write_random_page(folder + "/20000.html", 20000, 4, false);
    write_page_with_handoffs(folder + "/handoffs.html");
    write_page_with_holes(folder + "/holes.html");
    write_page_of_reasons(folder + "/reasons.html");
    write_hostile_page(folder + "/hostile.html");
    write_page_of_long_names(folder + "/long_names.html");
    write_page_of_rounds(folder + "/rounds.html");
    write_page_with_costs(folder + "/costs.html");
    std::ofstream empty(folder + "/empty.html", std::ios::binary);
    sublet::write_html(empty, sublet::memory_plan{});
    return 0;
}
