// SPDX-License-Identifier: BSL-1.0
// A task graph of two cameras with several sources and an edge that carries no data. One plan is valid for
// the order of the list, the other for every order. Both are run in a hundred random orders, and the checker
// shows an order in which the first plan fails.

#include <sublet/sublet.hpp>

#include <cstddef>
#include <iostream>
#include <random>
#include <string>
#include <vector>

struct task {
    std::string name;
    std::vector<unsigned> reads, writes; // pictures
    std::vector<unsigned> then;          // tasks that must wait for this one without reading its results
};

enum picture : unsigned { left, right, left_flat, right_flat, left_edges, right_edges, depth, mask, cleaned };
std::vector<std::string> const pictures = {"left",        "right", "left flat", "right flat", "left edges",
                                           "right edges", "depth", "mask",      "cleaned"};
std::vector<unsigned> const bytes = {64, 64, 48, 48, 16, 16, 48, 16, 48};
std::vector<task> const tasks = {
    {"read left", {}, {left}, {}},
    {"read right", {}, {right}, {}},
    {"flatten left", {left}, {left_flat}, {3}}, // both use one lens table: right has to wait
    {"flatten right", {right}, {right_flat}, {}},
    {"edges left", {left_flat}, {left_edges}, {}},
    {"edges right", {right_flat}, {right_edges}, {}},
    {"match", {left_flat, right_flat}, {depth}, {}},
    {"mask", {left_edges, right_edges}, {mask}, {}},
    {"clean", {depth, mask}, {cleaned}, {}}};

/// Runs the tasks in a random topological order. Returns whether each task reads its pictures as they were
/// written.
bool runs_correctly(sublet::memory_plan const& plan, std::mt19937& generator)
{
    std::vector<unsigned> arena(plan.arena_bytes[0]), painted(pictures.size()), done(tasks.size());
    auto is_ready = [&](std::size_t t) {
        for (auto p : tasks[t].reads)
            if (!painted[p]) return false;
        for (std::size_t before = 0; before != tasks.size(); ++before)
            for (auto next : tasks[before].then)
                if (next == t && !done[before]) return false;
        return !done[t];
    };
    for (std::size_t turn = 0; turn != tasks.size(); ++turn) {
        std::size_t t = generator() % tasks.size();
        while (!is_ready(t)) t = (t + 1) % tasks.size();
        for (auto p : tasks[t].reads)
            for (unsigned i = 0; i != bytes[p]; ++i)
                if (arena[plan.offset_of(p) + i] != p + 1) return false;
        for (auto p : tasks[t].writes) {
            for (unsigned i = 0; i != bytes[p]; ++i) arena[plan.offset_of(p) + i] = p + 1;
            painted[p] = 1;
        }
        done[t] = 1;
    }
    return true;
}

int main()
{
    auto const program = sublet::flow(
        tasks.size(), pictures.size(), [](auto t) -> auto& { return tasks[t].then; },
        [](auto t) -> auto& { return tasks[t].reads; }, [](auto t) -> auto& { return tasks[t].writes; });
    sublet::plan_options const options{.bytes = bytes};

    auto const listed = sublet::plan_memory(program, options);
    auto const any_order = sublet::plan_concurrent(program, options);
    auto show = [](char const* what, auto const& planned) {
        std::mt19937 generator;
        int good = 0;
        for (int run = 0; run != 100; ++run) good += runs_correctly(planned.plan, generator);
        std::cout << what << planned.report() << "\n    " << good << " of 100 random runs are correct\n";
    };
    show("as listed:     ", listed);
    show("in any order:  ", any_order);

    std::cout << "\nthese interfere pairwise, so their bytes are a lower bound:\n   ";
    for (auto p : any_order.antichain) std::cout << ' ' << pictures[p] << ';';

    auto claimed = listed.plan;
    claimed.valid_for = sublet::program_reading::concurrent;
    auto const refuted = sublet::check_concurrent_plan(program, claimed, options);
    std::cout << "\n\nthe checker on the first plan, for every order:\n    " << *refuted
              << "\n    for instance in this order:";
    for (auto t : refuted->schedule) std::cout << ' ' << tasks[t].name << ';';
    std::cout << '\n';
}
