// SPDX-License-Identifier: BSL-1.0

// Compiled without exceptions and type information: plans, checks, places and colours, and prints the README's
// plan. With an argument it breaks a precondition: the sentence is printed before the abort.

#include "affine_bytes.hpp"

#include <sublet/sublet.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "compile this with -fno-exceptions -fno-rtti"
#endif

namespace {

int failed(char const* what)
{
    std::cout << "failed: " << what << '\n';
    return 1;
}

} // namespace

int main(int count, char**)
{
    sublet::listing<char> list; // as in README.md
    list.step("load").make('a', {.bytes = 64});
    list.step("blur").read('a').make('b', {.bytes = 96});
    list.step("edges").read('b').make('c', {.bytes = 32});
    list.step("sharpen").read('a').read('c').make('d', {.bytes = 96});
    list.step("shrink").read('d').make('e', {.bytes = 64});
    sublet::snapshot const program = list.program();
    sublet::plan_options options = list.options();

    if (count > 1) {
        // The signal is caught, because CTest takes any other end by a signal for a failure.
        std::signal(SIGABRT, [](int) { std::_Exit(std::fputs("aborted\n", stderr) < 0 ? 2 : 1); });
        options.order = {0, 1, 1, 2, 3};
        return sublet::plan_memory(program, options) ? 0 : 3;
    }

    auto const planned = sublet::plan_memory(list);
    std::cout << planned << '\n';
    for (auto [value, pool, offset] : planned) std::cout << "  " << value << " at " << offset;
    std::cout << '\n';
    if (!planned || !sublet::check_plan(list, planned.plan)) return failed("plan_memory");
    auto wrong = planned.plan;
    wrong.buffers[wrong.buffer_of[list.id('b')]].offset = 0;
    auto const valid = sublet::check_plan(list, wrong);
    if (valid) return failed("check_plan");
    std::cout << valid.error() << '\n';

    if (!sublet::plan_concurrent(list)) return failed("plan_concurrent");
    if (!sublet::plan_with_handoffs(list, {.workers = 2})) return failed("plan_with_handoffs");
    if (!sublet::plan_flow(list)) return failed("plan_flow");
    if (!sublet::plan_symbolic(program, {.bytes = affine_bytes{8, 4}, .dims = batches(8)}))
        return failed("plan_symbolic");
    if (!sublet::advise_memory(program, options)) return failed("advise_memory");
    options.order = sublet::order(program, options).order;
    if (!sublet::plan_memory(program, options)) return failed("order");

    sublet::placement_problem const problem{.buffers = {{{0, 4}, 64}, {{2, 9}, 32}, {{4, 6}, 64}}};
    auto const placed = sublet::place(problem, {.threads = 2});
    if (!sublet::check_placement(problem, placed)) return failed("place");
    std::cout << "placed:";
    for (sublet::byte_count offset : placed.offset) std::cout << ' ' << offset;

    sublet::listing<char> block; // in one node, so that each definition dominates its uses
    block.block();
    block.step("x").make('x');
    block.step("y").read('x').make('y');
    block.step("z").read('y').make('z');
    auto const colored = sublet::color(block.program());
    if (!colored.is_optimal()) return failed("color");
    std::cout << "\nslots: " << colored.plan.slots << '\n';

    std::ostringstream text;
    sublet::write_csv(text, planned);
    sublet::write_svg(text, planned);
    sublet::write_html(text, planned);
    sublet::write_dot(text, block.program(), {.slots = colored.plan.slot_of});
    if (text.str().empty()) return failed("write");
    std::cout << "all is well\n"; // CTest looks at what is printed, not at the exit status
    return 0;
}
