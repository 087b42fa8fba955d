// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_COUNTED_BYTES_HPP
#define SUBLET_EXAMPLES_FUZZ_COUNTED_BYTES_HPP

/// The bytes that operator new has allocated: counted_bytes.cpp replaces it.

#include <atomic>
#include <cstddef>

namespace fuzz {

extern std::atomic<std::size_t> allocated_bytes, most_allocated_bytes;

} // namespace fuzz

#endif
