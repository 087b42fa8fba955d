// SPDX-License-Identifier: BSL-1.0
// Five operations on an image; each makes one value. Prints a picture of the plan: steps run to the right,
// offsets grow upwards. d reuses bytes of b after the last use of b, and e reuses bytes of a.

#include <sublet/sublet.hpp>

#include <iostream>
#include <vector>

int main()
{
    enum value { a, b, c, d, e }; // a = load(), b = blur(a), c = edges(b), d = sharpen(a, c), e = shrink(d)
    std::vector<std::vector<int>> const uses = {{}, {a}, {b}, {a, c}, {d}};
    std::vector<int> const bytes = {64, 96, 32, 96, 64};

    auto const program = sublet::sequence(
        5, 5, [&](auto step) -> auto& { return uses[step]; }, [](auto step) { return std::vector{step}; });
    auto const planned = sublet::plan_memory(program, {.bytes = bytes});

    auto occupant = [&](auto address, auto step) {
        for (auto const& x : planned.plan.buffers)
            if (contains(x.life, step) && x.offset <= address && address < x.offset + x.size)
                return "abcde"[x.root];
        return '.';
    };
    for (unsigned address = 192; address != 0; std::cout << '\n') {
        address -= 32;
        for (unsigned step = 0; step != 5; ++step) std::cout << "  " << occupant(address, step);
    }
    std::cout << planned.report() << '\n';
}
