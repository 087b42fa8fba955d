// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_SENTENCE_HPP
#define SUBLET_EXECUTION_SENTENCE_HPP

/// What an exception has to say, in a place of its own.
///
///     text_ << "value " << v << " is an input";        what() returns text_.text()
///
/// No allocation when it is written or copied: exceptions are thrown where memory has run out.

#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>

namespace sublet::detail {

/// Of bounded length: what does not fit is left out.
class sentence {
public:
    char const* text() const noexcept { return text_; }

    sentence& operator<<(int) = delete; // it would become a character
    sentence& operator<<(char one) noexcept
    {
        if (length_ + 1 < sizeof text_) text_[length_++] = one;
        return *this;
    }
    sentence& operator<<(char const* more) noexcept;
    template <integer N>
        requires std::unsigned_integral<N>
    sentence& operator<<(N number) noexcept
    {
        plain_text<sentence>{*this} << number;
        return *this;
    }

private:
    char text_[320] = {};
    std::size_t length_ = 0;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/sentence.ipp>
#endif

#endif
