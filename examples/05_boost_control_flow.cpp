// SPDX-License-Identifier: BSL-1.0
// Liveness on a control-flow graph in Boost: a loop with a branch, blocks bundled with the names that they
// read and write, vertex descriptors that are not integers. Prints the values live before and after each
// block, and what a compiler would warn of: a variable that may be read before it is set, and a result that
// is never read.

#include <sublet/sublet.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

struct block {
    std::string text;
    std::vector<std::string> reads, writes; // names read before they are written; names written
};
using control_flow = boost::adjacency_list<boost::vecS, boost::listS, boost::directedS, block>;

int main()
{
    control_flow cfg;
    auto const start = add_vertex({"read n; steps = 0", {}, {"n", "steps"}}, cfg);
    auto const loop = add_vertex({"while n != 1", {"n"}, {}}, cfg);
    auto const test = add_vertex({"if n is odd", {"n"}, {}}, cfg);
    auto const odd = add_vertex({"n = 3 n + 1; high = n", {"n"}, {"n", "high"}}, cfg);
    auto const even = add_vertex({"last = n; n = n / 2", {"n"}, {"last", "n"}}, cfg);
    auto const count = add_vertex({"steps = steps + 1", {"steps"}, {"steps"}}, cfg);
    auto const done = add_vertex({"print steps, high", {"steps", "high"}, {}}, cfg);
    auto edges = [&](auto from, auto... to) { (add_edge(from, to, cfg), ...); };
    edges(start, loop);
    edges(loop, test, done);
    edges(test, odd, even);
    edges(odd, count);
    edges(even, count);
    edges(count, loop);

    std::vector<std::string> const variables = {"n", "steps", "high", "last"};
    auto ids = [&](std::vector<std::string> const& names) {
        std::vector<std::ptrdiff_t> found;
        for (auto const& name : names)
            found.push_back(std::find(variables.begin(), variables.end(), name) - variables.begin());
        return found;
    };
    auto const live = sublet::liveness(
        cfg, variables.size(), [&](auto v) { return ids(cfg[v].reads); },
        [&](auto v) { return ids(cfg[v].writes); });

    auto listed = [&](auto const& values) {
        std::string names;
        for (auto v : values) names += (names.empty() ? "" : " ") + variables[v];
        return names;
    };
    auto row = [](auto const& before, auto const& after, auto const& text) {
        std::cout << std::left << std::setw(15) << before << std::setw(15) << after << text << '\n';
    };
    row("alive before", "alive after", "block");
    for (auto [v, end] = vertices(cfg); v != end; ++v)
        row(listed(live.live_in(*v)), listed(live.live_out(*v)), cfg[*v].text);

    std::cout << "\nmay be read before it is set: " << listed(live.live_in(start)) << '\n';
    for (auto [v, end] = vertices(cfg); v != end; ++v)
        for (auto variable : ids(cfg[*v].writes)) {
            auto const written = static_cast<sublet::value_id>(variable);
            if (!live.is_live_out(written, *v))
                std::cout << "set, but never read: " << variables[written] << ", by \"" << cfg[*v].text
                          << "\"\n";
        }
}
