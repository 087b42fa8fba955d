// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_BOUNDED_TEXT_HPP
#define SUBLET_EXECUTION_DETAIL_BOUNDED_TEXT_HPP

/// The message of an exception, without allocations, since exceptions report failed ones.
///
///     text_ << "value " << v << " is an input";        what() returns text_.text()

#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <exception>

namespace sublet::detail {

/// Characters that do not fit are dropped.
class bounded_text {
public:
    char const* text() const noexcept { return text_; }

    bounded_text& operator<<(int) = delete; // it would become a character
    bounded_text& operator<<(char one) noexcept
    {
        if (length_ + 1 < sizeof text_) text_[length_++] = one;
        return *this;
    }
    bounded_text& operator<<(char const* more) noexcept;
    template <integer N>
        requires std::unsigned_integral<N>
    bounded_text& operator<<(N number) noexcept
    {
        plain_text<bounded_text>{*this} << number;
        return *this;
    }
    template <kind K>
    bounded_text& operator<<(id<K> number) noexcept
    {
        return *this << +number;
    }

private:
    char text_[320] = {};
    std::size_t length_ = 0;
};

/// Appends ": " and the sentence of an exception; nothing for a null pointer.
void write_cause(bounded_text& out, std::exception_ptr const& cause);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/bounded_text.ipp>
#endif

#endif
