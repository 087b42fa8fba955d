// SPDX-License-Identifier: BSL-1.0
// A task graph of two cameras with several sources and a wait that carries no data. One plan is valid for
// the order of the list, the other for every order. Both are run in a hundred random orders, and the checker
// shows an order in which the first plan fails. Then schedules of staged files on two workers: those between
// the shortest and the one of fewest bytes, and the plan of the shortest within a cap.

#include <sublet/sublet.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <vector>

struct task {
    std::string name;
    std::vector<std::string> reads, writes; // pictures
    int after = -1;                         // a task to wait for without reading its results
};

std::uint64_t bytes(std::string const& picture)
{
    if (picture == "mask" || picture.ends_with("edges")) return 16;
    return picture == "left" || picture == "right" ? 64 : 48;
}

/// Runs the tasks in a random topological order. Returns whether each task reads its pictures as they were
/// written.
template <class Planned>
bool runs_correctly(std::vector<task> const& tasks, Planned const& planned, std::mt19937& generator)
{
    std::vector<std::string> arena(planned.bytes()); // for each byte, the picture that was written there last
    std::set<std::string> painted;
    std::vector<bool> is_done(tasks.size());
    auto is_ready = [&](std::size_t t) {
        for (auto const& picture : tasks[t].reads)
            if (!painted.contains(picture)) return false;
        return !is_done[t] && (tasks[t].after < 0 || is_done[static_cast<std::size_t>(tasks[t].after)]);
    };
    for (std::size_t turn = 0; turn != tasks.size(); ++turn) {
        std::size_t t = generator() % tasks.size();
        while (!is_ready(t)) t = (t + 1) % tasks.size();
        for (auto const& picture : tasks[t].reads)
            for (std::uint64_t i = 0; i != bytes(picture); ++i)
                if (arena[planned.offset_of(picture) + i] != picture) return false;
        for (auto const& picture : tasks[t].writes) {
            for (std::uint64_t i = 0; i != bytes(picture); ++i)
                arena[planned.offset_of(picture) + i] = picture;
            painted.insert(picture);
        }
        is_done[t] = true;
    }
    return true;
}

int main()
{
    std::vector<task> const tasks = {
        {"read left", {}, {"left"}},
        {"read right", {}, {"right"}},
        {"flatten left", {"left"}, {"left flat"}},
        {"flatten right", {"right"}, {"right flat"}, 2}, // both use one lens table: right has to wait
        {"edges left", {"left flat"}, {"left edges"}},
        {"edges right", {"right flat"}, {"right edges"}},
        {"match", {"left flat", "right flat"}, {"depth"}},
        {"mask", {"left edges", "right edges"}, {"mask"}},
        {"clean", {"depth", "mask"}, {"cleaned"}}};

    sublet::listing<std::string> list;
    std::vector<decltype(list.step())> steps;
    for (task const& t : tasks) {
        auto step = list.step(t.name);
        for (auto const& picture : t.reads) step.read(picture);
        for (auto const& picture : t.writes) step.make(picture, {.bytes = bytes(picture)});
        if (t.after >= 0) step.wait_for(steps[static_cast<std::size_t>(t.after)]);
        steps.push_back(step);
    }

    auto const listed = sublet::plan_memory(list);
    auto const any_order = sublet::plan_concurrent(list);
    auto show = [&](char const* what, auto const& planned) {
        std::mt19937 generator;
        int good = 0;
        for (int run = 0; run != 100; ++run) good += runs_correctly(tasks, planned, generator);
        std::cout << what << planned << "\n    " << good << " of 100 random runs are correct\n";
    };
    show("as listed:     ", listed);
    show("in any order:  ", any_order);

    std::cout << "\nthese interfere pairwise, so their bytes are a lower bound:\n   ";
    for (auto v : any_order.antichain) std::cout << ' ' << list.handle(v) << ';';

    auto claimed = listed.plan;
    claimed.valid_for = sublet::program_reading::concurrent;
    auto const why = sublet::check_concurrent_plan(list.program(), claimed, list.options()).error();
    std::cout << "\n\nthe checker on the first plan, for every order:\n    " << why
              << "\n    for instance in this order:";
    for (auto t : why.schedule) std::cout << ' ' << tasks[t].name << ';';
    std::cout << '\n';

    sublet::listing<std::string> staged; // each file is fetched and made small, and all go on one sheet
    std::vector<std::string> names, small;
    for (unsigned size : {64u, 64u, 32u, 32u, 16u}) {
        std::string const file(1, static_cast<char>('A' + small.size()));
        names.insert(names.end(), {"fetch " + file, "shrink " + file});
        small.push_back("small " + file);
        staged.step(names[names.size() - 2]).make(file, {.bytes = size});
        staged.step(names.back()).read(file).make(small.back(), {.bytes = 4});
    }
    names.push_back("sheet");
    auto sheet = staged.step(names.back()).make("sheet", {.bytes = 16, .role = sublet::value_role::output});
    for (auto const& file : small) sheet.read(file);

    auto const curve = sublet::schedules(staged, {.workers = 2}); // each step takes 1
    std::cout << "\nstaged files on two workers:\n" << curve;
    auto const planned = sublet::plan_with_handoffs(
        staged, {.workers = 2, .most_bytes = 100, .schedule = curve.within_bytes(100)->steps});
    std::cout << "within 100 B, in " << planned.makespan << ": " << planned << '\n';
    for (auto h : planned.plan.handoffs)
        std::cout << "    " << names[h.to] << " waits for " << names[h.from] << '\n';
}
