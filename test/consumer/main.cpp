// SPDX-License-Identifier: BSL-1.0
#include <sublet/sublet.hpp>

int main()
{
    auto touched = [](auto step, auto& sink) { sink.def(step); };
    sublet::snapshot const program = sublet::sequence(3, 3, touched);
    return program.steps() == 3 ? 0 : 1;
}
