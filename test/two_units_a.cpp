// SPDX-License-Identifier: BSL-1.0

// Both umbrellas in two translation units of one program: whatever is defined twice does not link, and what
// both define inline is one object.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

sublet::snapshot other_program();
sublet::value_id const* other_no_value();

int main()
{
    auto touched = [](auto step, auto& sink) { sink.def(step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    return program == other_program() && &sublet::no_value == other_no_value() ? 0 : 1;
}
