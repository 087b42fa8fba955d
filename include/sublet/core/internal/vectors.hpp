// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_VECTORS_HPP
#define SUBLET_CORE_INTERNAL_VECTORS_HPP

/// Grows and shortens vectors: to reserve before several appends, so that none of them throws, and to keep
/// the first elements without a default constructor, which resize() asks for.

#include <sublet/core/internal/arithmetic.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The next `more` elements are appended without an allocation. Amortized O(1) for each, as push_back().
template <class T>
void reserve_more(std::vector<T>& list, std::size_t more = 1)
{
    if (list.capacity() - list.size() >= more) return;
    list.reserve(larger(2 * list.capacity(), list.size() + more));
}

/// Keeps the first `size` elements.
/// Requires: there are as many.
template <class T>
void shorten(std::vector<T>& list, std::size_t size) noexcept
{
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
}

} // namespace sublet::detail

#endif
