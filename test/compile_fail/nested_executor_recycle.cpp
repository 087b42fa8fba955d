// expect: the_memory_mode_is_arena_or_no_plan|deleted constructor of .sublet::nested_executor<
// SPDX-License-Identifier: BSL-1.0

// Which touch is the last depends on the path: no block can be freed there.
#include <sublet/execution.hpp>

int main()
{
    sublet::program_tree const tree;
    auto kernel = [](sublet::nested_call const&) {};
    auto choose = [](sublet::nested_choice const&) { return 0; };
    auto options = [](sublet::program_id) { return sublet::plan_options{.bytes = 64}; };
    sublet::nested_executor execute{tree, options, sublet::recycle{}, kernel, choose};
    execute.run();
}
