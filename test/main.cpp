// SPDX-License-Identifier: BSL-1.0
// The tests; or one of them, run by a fuzzer on the bytes from which it draws: see fuzz/run.
#define DOCTEST_CONFIG_IMPLEMENT
#include "counted_heap.hpp"
#include "fuzzed_bytes.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <vector>

std::atomic<std::size_t> heap_allocations = 0;
std::atomic<std::size_t> heap_limit = ~std::size_t{0};
std::atomic<std::size_t> live_allocations = 0;
std::atomic<std::size_t> heap_bytes = 0;

#if defined(SUBLET_COUNTS_BLOCKS)
std::uint64_t executed_blocks = 0;
extern "C" void __sanitizer_cov_trace_pc() { ++executed_blocks; }
#endif

#if !defined(HEAP_IS_NOT_COUNTED)
[[gnu::noinline]] void* operator new(std::size_t bytes) // if inlined, GCC 12 warns of a mismatched pair
{
    if (heap_allocations >= heap_limit) throw std::bad_alloc();
    void* const block = std::malloc(bytes == 0 ? 1 : bytes);
    if (block == nullptr) throw std::bad_alloc();
    ++heap_allocations;
    ++live_allocations;
    heap_bytes += bytes;
    return block;
}
// Without it, blocks of the address sanitizer would reach the function below, which may not free them.
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept
{
    try {
        return operator new(bytes);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}
[[gnu::noinline]] void operator delete(void* block) noexcept
{
    if (block != nullptr) --live_allocations;
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
#endif

#if defined(SUBLET_FUZZER)

/// Runs the test case that SUBLET_TEST names; its random choices are these bytes.
extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    static char const* const name = std::getenv("SUBLET_TEST");
    if (name == nullptr) {
        std::cerr << "SUBLET_TEST is not set: it names the test case to run\n";
        std::exit(2);
    }
    fuzzed = {true, {data, size}};
    doctest::Context context;
    context.setOption("test-case", name);
    context.setOption("minimal", true);
    if (context.run() != 0) std::abort();
    return 0;
}

#else

int main(int count, char** words)
{
    std::vector<unsigned char> input;
    if (char const* const hex = std::getenv("SUBLET_BYTES")) { // to repeat what a fuzzer found
        std::string const digits = hex;
        if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != digits.npos)
            return std::cerr << "SUBLET_BYTES is not pairs of digits from 0 to f\n", 2;
        for (std::size_t i = 0; i != digits.size(); i += 2)
            input.push_back(static_cast<unsigned char>(std::stoul(digits.substr(i, 2), nullptr, 16)));
        fuzzed = {true, input};
    }
    return doctest::Context(count, words).run();
}

#endif
