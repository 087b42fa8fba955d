// SPDX-License-Identifier: BSL-1.0

// html_pages FOLDER: writes the pages that html_browser.js tests, of random programs: plans of 100, 2000 and
// 20000 buffers in several pools, two plans with in-place results, and one with names and sizes that are hard
// to hold.

#include "../random_source.hpp"

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/reporting/html.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
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
                read.push_back(static_cast<sublet::value_id>(v - std::min<std::size_t>(v, back)));
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
            step.def(s);
            for (auto v : reads[s])
                if (pools[v] == pools[s] && bytes[v] >= bytes[s]) step.may_overwrite(v, s);
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
    sublet::html_options const page{.title = title, .program = &program, .options = &options};
    options.in_place = false;
    sublet::planned_memory const apart = sublet::plan_memory(program, options);
    std::ofstream out(file, std::ios::binary);
    if (!with_before) {
        sublet::write_html(out, apart, name_of, kind_of, step_name, page);
        return;
    }
    options.in_place = true;
    sublet::planned_memory const in_place = sublet::plan_memory(program, options);
    sublet::write_html(out, apart, in_place, name_of, kind_of, step_name, page);
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
        plan.buffers.push_back({.root = v, .life = {v, v + 3}, .size = size, .offset = v * size});
    plan.arena_bytes = {6 * size};
    std::ofstream out(file, std::ios::binary);
    auto name_of = [&](auto v) -> auto& { return names[v]; };
    sublet::write_html(out, plan, name_of, name_of,
                       {.title = "</title><script>document.title = 'broken'</script>"});
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
    write_hostile_page(folder + "/hostile.html");
    std::ofstream empty(folder + "/empty.html", std::ios::binary);
    sublet::write_html(empty, sublet::memory_plan{});
    return 0;
}
