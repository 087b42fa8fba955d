// SPDX-License-Identifier: BSL-1.0
// The kernel of bench_execution_cuda; its parts are tested in execution/step_kernel_parts.cpp.
#include "../../bench/step_kernel.hpp"

#include "cuda/device_fixture.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

/// A block on the device with 64 bytes before and after the range that a kernel writes.
class guarded_bytes {
public:
    static constexpr std::size_t guard = 64;

    guarded_bytes(cuda_device& device, std::size_t most)
        : device_(device), stream_(device.make_stream()), size_(most + 2 * guard + 16),
          block_(device.allocate(size_, 256, stream_))
    {
    }
    guarded_bytes(guarded_bytes const&) = delete;
    guarded_bytes& operator=(guarded_bytes const&) = delete;
    ~guarded_bytes()
    {
        device_.deallocate(block_, size_, 256, stream_);
        device_.synchronize(stream_);
        device_.destroy_stream(stream_);
    }

    void launch(std::vector<step_kernel::operand> const& operands, unsigned reads)
    {
        device_.calls()("a step", [&] {
            unsigned blocks = 0;
            if (cudaError_t const code = step_kernel::full_grid(&blocks)) return code;
            step_kernel::launch(stream_, blocks, operands.data(), reads,
                                static_cast<unsigned>(operands.size()));
            return cudaPeekAtLastError();
        });
    }
    step_kernel::operand at(std::size_t shift, std::size_t size)
    {
        return {reinterpret_cast<unsigned char*>(block_) + guard + shift, size};
    }
    void fill(unsigned char with) { device_.fill(block_, std::byte{with}, size_, stream_); }
    std::vector<std::byte> contents()
    {
        std::vector<std::byte> bytes(size_);
        device_.copy_from_device(bytes, block_, stream_);
        device_.synchronize(stream_);
        return bytes;
    }

private:
    cuda_device& device_;
    cudaStream_t stream_;
    std::size_t size_;
    std::byte* block_;
};

} // namespace

TEST_CASE("a kernel writes all bytes of its results and none outside, at every size and alignment")
{
    begin_test();
    {
        cuda_device device(first_device());
        constexpr std::size_t guard = guarded_bytes::guard;
        guarded_bytes few(device, 100), many(device, 1'000'003);
        auto check = [&](guarded_bytes& bytes, std::size_t shift, std::size_t size) {
            CAPTURE(shift);
            CAPTURE(size);
            bytes.fill(0xCC);
            bytes.launch({bytes.at(shift, size)}, 0); // without operands it writes their numbers, 1 and 0
            auto const found = bytes.contents();
            std::vector<std::byte> expected(found.size(), std::byte{0xCC});
            for (std::size_t i = guard + shift; i != guard + shift + size; ++i)
                expected[i] = std::byte{i % 16 == 0}; // the block is aligned to 256
            CHECK(found == expected);
        };
        for (std::size_t size = 0; size <= 100; ++size)
            for (std::size_t shift = 0; shift != 16; ++shift) check(few, shift, size);
        check(many, 7, 1'000'003);
        check(many, 0, 1'000'000);
    }
    end_test();
}

TEST_CASE("a kernel writes what it reads, with few operands and with the most")
{
    begin_test();
    {
        cuda_device device(first_device());
        guarded_bytes bytes(device, 4096);
        for (unsigned const reads : {1u, 7u, 8u, 47u, 48u, 239u}) {
            CAPTURE(reads);
            bytes.fill(0x5A);
            // Each line is the work of the first thread: the sum without carry of what it reads.
            std::vector<step_kernel::operand> operands;
            for (unsigned i = 0; i != reads; ++i) operands.push_back(bytes.at(16 * i, 16));
            operands.push_back(bytes.at(3840, 16));
            bytes.launch(operands, reads);
            auto const found = bytes.contents();
            std::uint64_t words[2] = {};
            std::memcpy(words, found.data() + guarded_bytes::guard + 3840, sizeof words);
            std::uint64_t const sum = reads % 2 == 1 ? 0x5A5A5A5A5A5A5A5A : 0;
            CHECK(words[0] == (sum ^ (reads + 1)));
            CHECK(words[1] == (sum ^ reads));
        }
    }
    end_test();
}

} // namespace this_test
