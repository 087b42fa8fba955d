// SPDX-License-Identifier: BSL-1.0
// The checker derives from the program alone what a plan must satisfy, and searches for a counterexample.
// Here it gets a correct plan, damaged copies of it, and the same plan with options that it was not made for.
// Prints the counterexample of each.

#include <sublet/sublet.hpp>

#include <iostream>
#include <vector>

int main()
{
    enum { a, b, c, view, last }; // values 0 to 4
    std::vector<std::vector<int>> const uses = {{}, {a}, {b}, {c}, {view}};
    auto const program = sublet::sequence(5, 5, [&](int step, sublet::effect_sink& sink) {
        for (int v : uses[static_cast<std::size_t>(step)]) sink.use(v);
        if (step == view) sink.view(step);
        else sink.def(step);
    });
    sublet::plan_options const options{.bytes = {64, 48, 64, 64, 32}, .alias_of = {-1, -1, -1, int{c}, -1}};
    auto const plan = sublet::plan_memory(program, options).plan;

    using sublet::memory_plan;
    auto check = [&](char const* what, memory_plan const& suspect, sublet::plan_options const& required) {
        auto const valid = sublet::check_plan(program, suspect, required);
        std::cout << what << ":\n    ";
        if (valid) std::cout << "no counterexample\n";
        else std::cout << valid.error() << '\n';
    };
    auto damaged = [&](auto damage) {
        memory_plan copy = plan;
        damage(copy);
        return copy;
    };

    check("the plan as it was made", plan, options);
    check("b one byte lower", damaged([](auto& p) { p.buffers[p.buffer_of[b]].offset -= 1; }), options);
    check("the arena one byte smaller", damaged([](auto& p) { p.arena_bytes[0] -= 1; }), options);
    check("the view detached from c", damaged([](auto& p) { p.buffer_of[view] = p.buffer_of[b]; }), options);
    check("a without storage", damaged([](auto& p) { p.buffer_of[a] = sublet::no_buffer; }), options);

    using enum sublet::value_role;
    auto changed = options;
    changed.role = {output, intermediate, intermediate, intermediate, output};
    check("the same plan, if a were an output", plan, changed);
    changed = options;
    changed.alignment = 128;
    check("the same plan, if every value needed an alignment of 128", plan, changed);
    changed = options;
    changed.pools = {{.capacity = 100}};
    check("the same plan, if the capacity were 100 bytes", plan, changed);
    changed = options;
    changed.order = {0, 1, 2, 4, 3};
    check("the same plan, if steps 3 and 4 ran the other way round", plan, changed);
}
