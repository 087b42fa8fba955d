// SPDX-License-Identifier: BSL-1.0
// What each call executes and allocates grows with its input, and not with the square of it. The compiler
// puts a call at the head of each basic block of this file, which contains the whole library, so blocks are
// counted instead of seconds: the same number on every run. What std::memset and its like do shows in bytes
// allocated.
#include "../bench/growth_cases.hpp"
#include "counted_heap.hpp"

#include <sublet/structures/internal/bit_rows.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace this_test {

using namespace bench;

namespace {

struct counts {
    std::uint64_t blocks = 0;
    std::size_t bytes = 0;
};

counts counted(growth_call const& call, growth_shape const& shape, std::size_t n)
{
    growth_input in = shape.made(n);
    in.options.effort = effort::fast;
    growth_work const work = call.prepared(in);
    std::uint64_t const blocks = executed_blocks;
    std::size_t const bytes = heap_bytes;
    work();
    return {executed_blocks - blocks, heap_bytes - bytes};
}

} // namespace

TEST_CASE("four times the steps take at most six times the work and the memory, unless there is a reason")
{
    for (growth_call const& call : growth_calls())
        for (growth_shape const& shape : growth_shapes()) {
            if (shape.is_flow && !call.reads_flow) continue;
            CAPTURE(std::string(call.name));
            CAPTURE(std::string(shape.name));
            counts const few = counted(call, shape, 512), many = counted(call, shape, 2048);
            growth_reason const* const reason = reason_of(call, shape);
            std::size_t const most = reason == nullptr ? 6 : reason->most;
            CHECK(few.blocks > 0);
            CHECK(many.blocks <= most * few.blocks);
            CHECK(many.bytes <= most * few.bytes + 4096);
        }
}

TEST_CASE("each reason is one of a call and a shape")
{
    for (growth_reason const& r : growth_reasons) {
        CAPTURE(std::string(r.call));
        CAPTURE(std::string(r.shape));
        std::size_t calls = 0, shapes = 0;
        for (growth_call const& call : growth_calls()) calls += std::string(r.call) == call.name;
        for (growth_shape const& shape : growth_shapes()) shapes += std::string(r.shape) == shape.name;
        CHECK(calls == 1);
        CHECK(shapes == (*r.shape != 0));
    }
}

TEST_CASE("a plan for every schedule of a chain of steps that may be left out grows with it")
{
    growth_shape const& shape = growth_shapes().front();
    REQUIRE(std::string(shape.name) == "chain");
    growth_call const plan{"optional", false, [](growth_input const& in) -> growth_work {
                               plan_options options = in.options;
                               for (step_id s = 0; s != in.program.steps(); ++s)
                                   options.optional.push_back(s);
                               return [&in, options] {
                                   static_cast<void>(plan_concurrent(in.program, options)); // checks it, too
                               };
                           }};
    counts const few = counted(plan, shape, 512), many = counted(plan, shape, 2048);
    CHECK(many.blocks <= 6 * few.blocks);
    CHECK(many.bytes <= 6 * few.bytes + 4096);
}

TEST_CASE("work and memory in the square of the steps are noticed")
{
    growth_shape const shape = growth_shapes().front();
    growth_call const pairs{"pairs", false, [](growth_input const& in) -> growth_work {
                                return [&in] {
                                    std::size_t volatile sum = 0;
                                    for (std::size_t i = 0; i != in.program.steps(); ++i)
                                        for (std::size_t j = 0; j != i; ++j) sum = sum + j;
                                };
                            }};
    CHECK(counted(pairs, shape, 2048).blocks > 10 * counted(pairs, shape, 512).blocks);
    growth_call const bits{"bits", false, [](growth_input const& in) -> growth_work {
                               return [&in] { detail::bit_rows(in.program.steps(), in.program.values()); };
                           }};
    CHECK(counted(bits, shape, 2048).bytes > 10 * counted(bits, shape, 512).bytes);
}

} // namespace this_test
