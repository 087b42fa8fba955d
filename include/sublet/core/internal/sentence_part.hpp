// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_SENTENCE_PART_HPP
#define SUBLET_CORE_INTERNAL_SENTENCE_PART_HPP

/// What replaces a % in the sentence of a violated precondition: a number or a name. It is made implicitly
/// from either, and allocates nothing.

#include <sublet/impl/config.hpp>

#include <concepts>
#include <cstdint>

namespace sublet::detail {

/// A number, or a name, in a sentence about a violated precondition.
struct sentence_part {
    /// Of an integer, or of a class that converts to one, as ids do.
    template <class N>
        requires requires(N const& n) { requires std::integral<decltype(+n)>; }
    constexpr sentence_part(N const& n)
        : text(+n < 0 ? "-" : nullptr),
          number(+n < 0 ? 0 - static_cast<std::uint64_t>(+n) : static_cast<std::uint64_t>(+n))
    {
    }
    constexpr sentence_part(char const* name) : text(name) {}

    char const* text; // nullptr: a number; "-": a negative one
    std::uint64_t number = 0;
};

} // namespace sublet::detail

#endif
