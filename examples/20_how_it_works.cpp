// SPDX-License-Identifier: BSL-1.0
// Four programs of few values, one for each idea that makes sharing memory easy: intervals, chordal graphs,
// comparability graphs, order ideals. Prints what each needs, and draws the plans that how_it_works.md
// explains into a folder, if one is named.

#include <sublet/sublet.hpp>

#include <fstream>
#include <iostream>
#include <string>

using listing = sublet::listing<std::string>;

std::string folder; // of the pictures

void draw(std::string const& file, listing const& list, sublet::memory_plan const& plan,
          std::string const& title)
{
    if (folder.empty()) return;
    std::ofstream out(folder + '/' + file);
    sublet::write_svg(
        out, plan,
        {.names = list.names(), .title = title, .width = 480, .height = 240, .profile_height = 60});
}

int main(int count, char** words)
{
    if (count > 1) folder = words[1];
    listing line; // steps in a line: each value is live in one interval
    line.step("load").make("a", {.bytes = 64});
    line.step("blur").read("a").make("b", {.bytes = 96});
    line.step("edges").read("b").make("c", {.bytes = 32});
    line.step("sharpen").read("a").read("c").make("d", {.bytes = 96});
    line.step("shrink").read("d").make("e", {.bytes = 64});
    auto const intervals = sublet::plan_memory(line);
    std::cout << "a line: " << intervals << '\n';
    draw("intervals.svg", line, intervals.plan, "Intervals");

    listing branch; // one of two ways: the values of one are dead in the other
    auto const entry = branch.block();
    branch.step("load").make("image", {.bytes = 32}).make("tone", {.bytes = 64});
    auto const left = branch.block();
    branch.step("wide").read("image").read("tone").make("left 1", {.bytes = 64});
    branch.step("narrow").read("left 1").make("left 2", {.bytes = 32});
    auto const right = branch.block();
    branch.step("deep").read("image").make("right 1", {.bytes = 64});
    branch.step("flat").read("right 1").make("right 2", {.bytes = 32});
    auto const join = branch.block();
    branch.step("either")
        .read("image")
        .make("out", {.bytes = 32})
        .read_at_end_of(left, "left 2")
        .read_at_end_of(right, "right 2");
    branch.edge(entry, left), branch.edge(entry, right), branch.edge(left, join), branch.edge(right, join);
    auto const chordal = sublet::plan_flow(branch);
    std::cout << "two ways: " << chordal << '\n';
    draw("chordal.svg", branch, chordal.by_range(), "Chordal");

    listing tasks; // two chains at once: only values that are ordered may share
    for (std::string const x : {"x", "y"}) tasks.step().make(x + "1", {.bytes = 96});
    for (std::string const x : {"x", "y"}) tasks.step().read(x + "1").make(x + "2", {.bytes = 64});
    for (std::string const x : {"x", "y"}) tasks.step().read(x + "2").make(x + "3", {.bytes = 16});
    tasks.step().read("x3").read("y3").make("sum", {.bytes = 16});
    auto const one_order = sublet::plan_memory(tasks);
    auto const any_order = sublet::plan_concurrent(tasks);
    std::cout << "two chains, in this order: " << one_order << '\n';
    std::cout << "two chains, in any order: " << any_order << "\n ";
    for (auto v : any_order.antichain) std::cout << ' ' << tasks.handle(v);
    std::cout << " may all be alive at once\n";
    draw("comparability.svg", tasks, any_order.plan, "Comparability");

    listing sorted = tasks; // the same steps in the order that needs least
    auto const best = sublet::order(sorted);
    sorted.order = best.order;
    auto const ordered = sublet::plan_memory(sorted);
    std::cout << "two chains, in the best order: " << ordered << "\n ";
    for (auto s : best.order) std::cout << ' ' << sorted.handle(+s); // step s makes value s
    std::cout << '\n';
    draw("listed.svg", tasks, one_order.plan, "In the order of the list");
    draw("ideals.svg", sorted, ordered.plan, "In the best order");

    listing open; // sizes that are known when it runs: which buffer lies below which is planned
    open.step("embed").make("tokens");
    open.step("score").read("tokens").make("scores");
    open.step("soft").read("scores").make("weights");
    open.step("mix").read("weights").read("tokens").make("mixed");
    open.step("table").make("labels");
    open.step("classify").read("mixed").read("labels").make("classes");
    sublet::formula const length = sublet::symbol(0);
    auto const bytes = open.by_handle([&](std::string const& name) -> sublet::formula {
        if (name == "scores" || name == "weights") return length * length;
        return name == "labels" ? 600 : name == "classes" ? 40 : 24 * length;
    });
    auto const stacked = sublet::plan_symbolic(open, {.bytes = bytes, .dims = {{"length", 4, 64}}});
    std::cout << "any length: " << stacked << '\n';
    for (sublet::byte_count const one : {8UL, 24UL, 48UL})
        draw("length_" + std::to_string(one) + ".svg", open, stacked.plan.at(one),
             "length " + std::to_string(one));
}
