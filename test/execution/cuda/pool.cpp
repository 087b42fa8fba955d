// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/detail/cuda_pool.hpp>

#include "cuda/fake_runtime.hpp"
#include "random_source.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct pool_fixture { // on device 1 of 2, so that a call on the wrong one is found
    pool_fixture() : calls((fake_cuda::start({.devices = 2, .capacity = 1 << 20}), 1)), pool(calls)
    {
        stream = cuda_stream::made(calls, "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
            return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
        });
    }
    std::byte* take(byte_count bytes, byte_count alignment = 1)
    {
        return pool.allocate(bytes, alignment, stream.handle());
    }
    void free(std::byte* first, byte_count alignment = 1)
    {
        pool.deallocate(first, alignment, stream.handle());
    }

    cuda_calls calls;
    cuda_pool pool;
    cuda_stream stream;
};

} // namespace

TEST_CASE("a pool counts used bytes, and keeps them reserved for the next run")
{
    {
        pool_fixture its;
        CHECK(its.pool.use() == cuda_memory_use());
        auto* const a = its.take(1000);
        auto* const b = its.take(24);
        CHECK(its.pool.use() ==
              cuda_memory_use{.used = 1024, .used_high = 1024, .reserved = 1024, .reserved_high = 1024});
        its.free(a);
        CHECK(its.pool.use() ==
              cuda_memory_use{.used = 24, .used_high = 1024, .reserved = 1024, .reserved_high = 1024});
        its.pool.trim();
        its.pool.reset_high();
        CHECK(its.pool.use() ==
              cuda_memory_use{.used = 24, .used_high = 24, .reserved = 24, .reserved_high = 24});
        its.free(b);
        its.free(its.take(0)); // a byte, to have an address
        CHECK(fake_cuda::held() == fake_cuda::live_objects{.streams = 1, .pools = 1});
    }
    CHECK(fake_cuda::held() == fake_cuda::live_objects());
    CHECK(fake_cuda::misuses().empty());
}

TEST_CASE("storage is aligned to any power of two, and freed at the address that CUDA returned")
{
    pool_fixture its;
    random_source pick{std::mt19937(2020)};
    struct lease {
        std::byte* first;
        byte_count alignment;
    };
    std::vector<lease> leases;
    for (int round = 0; round != 200; ++round) {
        CAPTURE(round);
        if (leases.empty() || pick.below(2) == 0) {
            byte_count const alignment = byte_count{1} << pick.below(14);
            leases.push_back({its.take(1 + pick.below(300), alignment), alignment});
            CHECK(reinterpret_cast<std::uintptr_t>(leases.back().first) % alignment == 0);
        } else {
            auto const at = leases.begin() + static_cast<std::ptrdiff_t>(
                                                 pick.below(static_cast<std::uint32_t>(leases.size())));
            its.free(at->first, at->alignment);
            leases.erase(at);
        }
        CHECK(fake_cuda::held().blocks == leases.size());
    }
    for (lease const& each : leases) its.free(each.first, each.alignment);
    CHECK(its.pool.use().used == 0);
    CHECK(fake_cuda::misuses().empty());
    CHECK_THROWS_AS((void)its.take(8, 48), precondition_error);
    CHECK_THROWS_AS((void)its.take(8, 0), precondition_error);
}

TEST_CASE("an allocation that does not fit is an error, and nothing has changed")
{
    pool_fixture its;
    for (byte_count const alignment : {64u, 4096u}) {
        CHECK_THROWS_AS((void)its.take((1 << 20) + 1, alignment), cuda_error);
        CHECK(!its.calls.is_lost());
        CHECK(its.pool.use().used == 0);
    }
    CHECK_THROWS_AS((void)its.take(~byte_count{0}, 4096),
                    precondition_error); // with the gap: more than 64 bits
    its.free(its.take(1 << 20));
    CHECK(fake_cuda::held().blocks == 0);
}

TEST_CASE("memory of a lost device is not freed")
{
    pool_fixture its;
    auto *const a = its.take(8), *const b = its.take(8, 1024);
    fake_cuda::fail_call(3, cudaErrorIllegalAddress, true); // after getting and setting the current device
    CHECK_THROWS_AS(its.free(a), cuda_error);
    CHECK_NOTHROW(its.free(b, 1024));
    CHECK_THROWS_AS((void)its.take(8), cuda_error);
    CHECK(fake_cuda::held().blocks == 2);
    CHECK(fake_cuda::calls_when_lost() == 0);
}

} // namespace this_test
