// SPDX-License-Identifier: BSL-1.0
// Plans a Boost graph of jobs with bundled properties: each job writes one file, and the targets of its
// out-edges read it. Prints how much disk space the files need and the offset of each; then the same for a
// filtered_graph without two small reports, which prevented the reuse of a large file's space.

#include <sublet/sublet.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/filtered_graph.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

struct job {
    std::string name;
    std::uint64_t bytes; // of the file that it writes
    bool is_report = false;
};
using jobs = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, job>;

struct is_needed {
    jobs const* all = nullptr;
    bool operator()(jobs::vertex_descriptor v) const { return !(*all)[v].is_report; }
};

// One value per vertex, named by its descriptor: v defines it, the targets of v's out-edges use it.
template <class Graph>
sublet::planned_memory plan_files(Graph const& g, jobs const& all)
{
    auto const files_read = [&](auto v) {
        std::vector<jobs::vertex_descriptor> sources;
        for (auto [e, end] = in_edges(v, g); e != end; ++e) sources.push_back(source(*e, g));
        return sources;
    };
    auto const file_written = [](auto v) { return std::vector{v}; };
    auto const program = sublet::tasks(g, num_vertices(all), files_read, file_written);
    return sublet::plan_memory(program, {.bytes = [&](auto v) { return all[v].bytes; }});
}

int main()
{
    std::uint64_t const MiB = 1 << 20;
    jobs all;
    auto const fetch = add_vertex({"fetch", 40 * MiB}, all);
    auto const clean = add_vertex({"clean", 30 * MiB}, all);
    auto const survey = add_vertex({"survey", 1 * MiB, true}, all);
    auto const index = add_vertex({"index", 24 * MiB}, all);
    auto const merge = add_vertex({"merge", 36 * MiB}, all);
    auto const digest = add_vertex({"digest", 2 * MiB, true}, all);
    auto const pack = add_vertex({"pack", 12 * MiB}, all);
    for (auto [from, to] : {std::pair(fetch, clean),
                            {fetch, digest},
                            {clean, survey},
                            {clean, index},
                            {clean, merge},
                            {survey, digest},
                            {index, merge},
                            {merge, pack}})
        add_edge(from, to, all);

    auto print = [&](char const* title, sublet::planned_memory const& planned) {
        std::cout << title << planned.report() << '\n';
        for (auto const& file : planned.plan.buffers)
            std::cout << "  " << all[file.root].name << ": MiB [" << file.offset / MiB << ", "
                      << (file.offset + file.size) / MiB << ")\n";
    };
    print("with reports: ", plan_files(all, all));
    boost::filtered_graph const needed(all, boost::keep_all{}, is_needed{&all});
    print("without reports: ", plan_files(needed, all));
}
