// SPDX-License-Identifier: BSL-1.0
// Five operations on an image, each making one value. Prints where the values lie: time runs to the right,
// addresses run upwards, a letter is 32 bytes of that value during one step.
// When b is no longer needed, d moves in where it was; when a is no longer needed, e does.

#include <sublet/sublet.hpp>

#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

int main()
{
    enum value { a, b, c, d, e };
    std::vector<std::vector<int>> const uses = {
        {},     // 0: a = load()
        {a},    // 1: b = blur(a)
        {b},    // 2: c = edges(b)
        {a, c}, // 3: d = sharpen(a, c)
        {d}};   // 4: e = shrink(d)
    std::vector<int> const bytes = {64, 96, 32, 96, 64};

    auto const program = sublet::sequence(
        5, 5, [&](auto step) -> auto& { return uses[step]; }, [](auto step) { return std::vector{step}; });
    auto const planned = sublet::plan_memory(program, {.bytes = bytes});

    std::vector<std::string> picture(planned.report.arena_bytes / 32, std::string(29, ' '));
    for (auto const& buffer : planned.plan.buffers)
        for (auto row = buffer.offset / 32; row != (buffer.offset + buffer.size) / 32; ++row)
            for (auto x = 6 * buffer.life.first; x != 6 * buffer.life.last - 1; ++x)
                picture[row][x] = "abcde"[buffer.root];
    for (auto row = picture.size(); row-- != 0;)
        std::cout << std::setw(6) << 32 * row << " | " << picture[row] << " |\n";
    std::cout << "offset +-0-----1-----2-----3-----4-----+ step\n\n" << planned.report << '\n';
}
