// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

sublet::snapshot other_program();
sublet::value_id const* other_no_value();
sublet::planned_memory other_plan(sublet::snapshot const&);

sublet::snapshot other_program()
{
    auto touched = [](auto step, auto& sink) { sink.def(+step); };
    return sublet::sequence(3, 3, touched);
}

sublet::value_id const* other_no_value() { return &sublet::no_value; }

sublet::planned_memory other_plan(sublet::snapshot const& program)
{
    return sublet::plan_memory(program, {.bytes = 8});
}
