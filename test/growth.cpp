// SPDX-License-Identifier: BSL-1.0
// What each call executes and allocates grows with its input, and not with the square of it. The compiler
// puts a call at the head of each basic block of this file, which contains the whole library, so blocks are
// counted instead of seconds: the same number on every run. What std::memset and its like do shows in bytes
// allocated.
#include "../bench/growth_cases.hpp"
#include "counted_heap.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

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

TEST_CASE("four times the steps take at most six times the work and the memory")
{
    char const* const prints = std::getenv("SUBLET_PRINT");
    for (growth_call const& call : growth_calls())
        for (growth_shape const& shape : growth_shapes()) {
            if (shape.is_flow && !call.reads_flow) continue;
            CAPTURE(std::string(call.name));
            CAPTURE(std::string(shape.name));
            counts const few = counted(call, shape, 512), many = counted(call, shape, 2048);
            if (prints != nullptr)
                std::printf("%-26s %-20s %12llu %12llu %6.2f %12zu %6.2f%s\n", call.name, shape.name,
                            static_cast<unsigned long long>(few.blocks),
                            static_cast<unsigned long long>(many.blocks),
                            double(many.blocks) / double(few.blocks), many.bytes,
                            double(many.bytes) / double(few.bytes + 1),
                            many.blocks > 6 * few.blocks || many.bytes > 6 * few.bytes ? " !" : "");
            CHECK(many.blocks <= 6 * few.blocks);
            CHECK(many.bytes <= 6 * few.bytes + 4096);
        }
}

} // namespace this_test
