// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_STREAM_DIAMOND_HPP
#define SUBLET_TEST_STREAM_DIAMOND_HPP

/// A program with work for two streams, and its results if its steps run in sequence.

#include <sublet/execution/cpu.hpp>
#include <sublet/plan_memory.hpp>
#include <sublet/testing/synthetic.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stream_diamond {

using namespace sublet;

inline value_role const none = value_role::intermediate, input = value_role::input,
                        output = value_role::output;

//     0 ─► 1 ─► 3     x -> a, a -> b, a -> c, (b, c) -> d; b may be written over a
//     └──► 2 ───┘
inline sublet::snapshot const diamond = sequence(4, 5, [](auto step, effect_sink& s) {
    if (step == 3) return s.use(2), s.use(3), s.def(4);
    s.use(step == 0 ? 0 : 1), s.def(step + 1);
    if (step == 2) s.may_overwrite(1, 3);
});
inline plan_options const diamond_options{.bytes = 64,
                                          .role = std::vector<value_role>{input, none, none, none, output}};
inline memory_plan const diamond_plan = plan_memory(diamond, diamond_options).plan;

inline std::uint64_t expected(std::uint64_t seed)
{
    cpu_executor serial(diamond, diamond_options, no_plan{}, synthetic_kernel{});
    fill_noise(serial.input(0), seed);
    serial.run();
    return digest(serial.output(4));
}
template <class Run>
void give(Run& run, std::uint64_t seed)
{
    std::array<std::byte, 64> noise;
    fill_noise(std::span(noise), seed);
    run.give(0, noise);
}

} // namespace stream_diamond

#endif
