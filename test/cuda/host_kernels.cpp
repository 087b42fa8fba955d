// SPDX-License-Identifier: BSL-1.0
#include "fake_runtime.hpp"
#include "kernels.hpp"

namespace kernels {

namespace {

/// Enough threads to show a part that is counted twice or left out, the last one first.
template <class Part>
void each_thread(Part part)
{
    constexpr std::size_t threads = 5;
    for (std::size_t mine = threads; mine-- != 0;) part(mine, threads);
}

} // namespace

void set(cudaStream_t stream, word* out, word value)
{
    fake_cuda::launch(stream, [=] { *out = value; });
}

void take_digest(cudaStream_t stream, void const* bytes, std::size_t size, word* out)
{
    set(stream, out, size);
    fake_cuda::launch(stream, [=] {
        each_thread([=](std::size_t mine, std::size_t all) {
            *out += kernel_parts::digest_part(static_cast<unsigned char const*>(bytes), size, mine, all);
        });
    });
}

void fold_in(cudaStream_t stream, word* into, word const* from)
{
    fake_cuda::launch(stream, [=] { *into = kernel_parts::fold(*into, *from); });
}

void fill_noise(cudaStream_t stream, void* bytes, std::size_t size, word const* sum, word number,
                bool is_turned)
{
    fake_cuda::launch(stream, [=] {
        word const seed = kernel_parts::fold(*sum, number);
        each_thread([=](std::size_t mine, std::size_t all) {
            kernel_parts::noise_part(static_cast<unsigned char*>(bytes), size, is_turned ? ~seed : seed, mine,
                                     all);
        });
    });
}

void compare(cudaStream_t stream, word const* one, word const* other, word* count)
{
    fake_cuda::launch(stream, [=] { *count += *one != *other; });
}

void idle(cudaStream_t stream, word)
{
    fake_cuda::launch(stream, [] {});
}

} // namespace kernels
