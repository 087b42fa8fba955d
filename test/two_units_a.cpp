// SPDX-License-Identifier: BSL-1.0

// Both umbrellas in two translation units of one program: duplicate definitions would not link, inline
// objects are one object, and both plan alike.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

sublet::snapshot other_program();
sublet::value_id const* other_no_value();
sublet::planned_memory other_plan(sublet::snapshot const&);

int main()
{
    auto touched = [](auto step, auto& sink) { sink.def(+step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    bool const is_one = program == other_program() && &sublet::no_value == other_no_value();
    auto const planned = sublet::plan_memory(program, {.bytes = 8});
    return is_one && planned && planned.plan == other_plan(program).plan ? 0 : 1;
}
