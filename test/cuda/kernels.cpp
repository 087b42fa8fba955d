// SPDX-License-Identifier: BSL-1.0
#include "cuda/kernels.hpp"

#include "cuda/device_fixture.hpp"

#include <sublet/execution/storage.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;

TEST_CASE("digests and noise of a device are those of the host, at every length and alignment")
{
    begin_test();
    {
        cuda_device device(first_device());
        auto const stream = device.make_stream();
        auto* const words = reinterpret_cast<kernels::word*>(device.allocate(32, 8, stream));
        auto* const room = device.allocate(100'016, 8, stream);
        for (std::size_t size : {0u, 1u, 7u, 8u, 9u, 63u, 64u, 65u, 4096u, 100'000u})
            for (std::size_t shift : {0u, 1u, 8u}) {
                CAPTURE(size);
                CAPTURE(shift);
                auto* const bytes = room + shift;
                device.calls()("kernels", [&] {
                    kernels::set(stream, words, 77);
                    kernels::fill_noise(stream, bytes, size, words, size, shift == 1);
                    kernels::take_digest(stream, bytes, size, words + 1);
                    kernels::fold_in(stream, words, words + 1);
                    kernels::set(stream, words + 2, 0);
                    kernels::compare(stream, words, words + 1, words + 2);
                    kernels::compare(stream, words, words, words + 2);
                    return cudaPeekAtLastError();
                });
                std::vector<std::byte> found(size), expected(size);
                std::uint64_t results[3] = {};
                device.copy_from_device(found, bytes, stream);
                device.copy_from_device(std::as_writable_bytes(std::span(results)),
                                        reinterpret_cast<std::byte const*>(words), stream);
                device.synchronize(stream);

                std::uint64_t const seed = fold_digest(77, size);
                fill_noise(expected, shift == 1 ? ~seed : seed);
                CHECK(found == expected);
                CHECK(results[1] == digest(expected));
                CHECK(results[0] == fold_digest(77, digest(expected)));
                CHECK(results[2] == 1);
            }
        device.deallocate(room, 100'016, 8, stream);
        device.deallocate(reinterpret_cast<std::byte*>(words), 32, 8, stream);
        device.destroy_stream(stream);
    }
    end_test();
}

} // namespace this_test
