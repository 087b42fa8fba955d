// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/run_options.hpp>

#include "dice.hpp"
#include "lender.hpp"

#include <doctest/doctest.h>

#include <memory_resource>
#include <new>
#include <string>
#include <type_traits>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct half_a_resource {
    void* allocate(std::size_t, std::size_t) { return nullptr; }
};
static_assert(memory_resource_like<lender>);
static_assert(memory_resource_like<std::pmr::memory_resource>);
static_assert(!memory_resource_like<half_a_resource>);

/// Gives addresses that nobody may touch: how large a block is does not matter to it.
struct paper {
    std::size_t asked = 0;
    void* allocate(std::size_t, std::size_t) { return ++asked, this; }
    void deallocate(void*, std::size_t, std::size_t) {}
};

} // namespace

TEST_CASE(
    "memory comes from the free store, from any resource of the standard, or from a type with two members")
{
    std::pmr::monotonic_buffer_resource monotonic;
    std::pmr::synchronized_pool_resource pool;
    lender own;
    memory_source const sources[] = {{}, &monotonic, &pool, std::pmr::new_delete_resource(), &own};
    for (memory_source const& source : sources)
        for (std::size_t const alignment : {1u, 8u, 64u, 4096u}) {
            CAPTURE(alignment);
            void* const block = source.allocate(100, alignment);
            CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
            static_cast<char*>(block)[99] = 'x';
            source.deallocate(block, 100, alignment);
        }
    CHECK(own.asked.size() == 4);
    CHECK(own.lent.empty());
    CHECK_THROWS_AS((void)memory_source(std::pmr::null_memory_resource()).allocate(1, 1), std::bad_alloc);
}

TEST_CASE("a null pointer is no resource")
{
    CHECK_THROWS_WITH_AS((memory_source{static_cast<lender*>(nullptr)}),
                         "sublet: a memory resource is a null pointer", precondition_error);
}

TEST_CASE("the limit is exact, and what exceeds it is not asked for")
{
    lender own;
    counted_memory memory(&own, 100);
    void* const first = memory.allocate(byte_count{60}, byte_count{1});
    memory_use const before = memory.use();
    CHECK_THROWS_WITH_AS((void)memory.allocate(byte_count{41}, byte_count{1}),
                         "sublet: 41 bytes more than the 60 that are allocated would exceed the limit of 100",
                         out_of_budget);
    try {
        (void)memory.allocate(byte_count{41}, byte_count{1});
    } catch (out_of_budget const& e) {
        CHECK(e.asked() == 41);
        CHECK(e.live() == 60);
        CHECK(e.limit() == 100);
    }
    CHECK(own.asked.size() == 1);
    CHECK(memory.use() == before);
    void* const second = memory.allocate(byte_count{40}, byte_count{1});
    CHECK(memory.use().bytes == counter{100, 100, 100});
    memory.deallocate(first, 60, 1);
    memory.deallocate(second, 40, 1);
    CHECK(memory.use().bytes == counter{0, 100, 100});
    CHECK(own.lent.empty());
    CHECK_THROWS_AS((void)memory.allocate(byte_count{101}, byte_count{1}), out_of_budget);
}

TEST_CASE("a limit near 2^64 does not wrap round")
{
    paper all_of_it;
    byte_count const most = no_limit;
    counted_memory memory(&all_of_it, most - 1);
    CHECK_THROWS_AS((void)memory.allocate(most, byte_count{1}), out_of_budget);
    void* const block = memory.allocate(most - 8, byte_count{1});
    CHECK_THROWS_AS((void)memory.allocate(byte_count{8}, byte_count{1}), out_of_budget);
    CHECK_THROWS_AS((void)memory.allocate(most - 8, byte_count{1}), out_of_budget);
    CHECK(all_of_it.asked == 1);
    (void)memory.allocate(byte_count{7}, byte_count{1});
    CHECK(memory.use().bytes.live == most - 1);
    memory.deallocate(block, most - 8, 1);
    CHECK(memory.use().bytes.live == 7);

    counted_memory nothing(&all_of_it, 0);
    CHECK_THROWS_AS((void)nothing.allocate(byte_count{1}, byte_count{1}), out_of_budget);
}

TEST_CASE("what the source refuses is not counted")
{
    counted_memory memory(std::pmr::null_memory_resource());
    CHECK_THROWS_AS((void)memory.allocate(byte_count{8}, byte_count{8}), std::bad_alloc);
    CHECK(memory.use() == memory_use{});
    CHECK(memory.use_since_mark() == memory_use{});

    struct : std::pmr::memory_resource {
        void* do_allocate(std::size_t, std::size_t) override { return nullptr; }
        void do_deallocate(void*, std::size_t, std::size_t) override {}
        bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
    } broken;
    counted_memory from_broken(&broken);
    CHECK_THROWS_AS((void)from_broken.allocate(byte_count{8}, byte_count{8}), std::bad_alloc);
    CHECK(from_broken.use() == memory_use{});
}

TEST_CASE("live, peak and total are what a list of the blocks says, in all and since the last mark")
{
    for (unsigned seed = 0; seed != 50; ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        paper source;
        counted_memory memory(&source);
        std::vector<byte_count> blocks;
        struct tally {
            counter bytes, allocations;
            void see(std::vector<byte_count> const& now, bool has_come)
            {
                bytes.live = 0;
                for (byte_count b : now) bytes.live += b;
                allocations.live = now.size();
                if (has_come) bytes.total += now.back(), ++allocations.total;
                bytes.peak = std::max(bytes.peak, bytes.live);
                allocations.peak = std::max(allocations.peak, allocations.live);
            }
        } all, since;
        for (int action = 0; action != 60; ++action) {
            bool const comes = blocks.empty() || pick.below(3) != 0;
            if (pick.below(10) == 0) {
                memory.mark();
                since = {};
                since.see(blocks, false);
                continue;
            }
            if (comes) {
                blocks.push_back(pick.below(100));
                (void)memory.allocate(blocks.back(), byte_count{1});
            } else {
                std::swap(blocks[pick.below(static_cast<std::uint32_t>(blocks.size()))], blocks.back());
                memory.deallocate(&source, blocks.back(), 1);
                blocks.pop_back();
            }
            all.see(blocks, comes);
            since.see(blocks, comes);
            CHECK(memory.use() == memory_use{all.bytes, all.allocations});
            CHECK(memory.use_since_mark() == memory_use{since.bytes, since.allocations});
        }
    }
}

} // namespace this_test
