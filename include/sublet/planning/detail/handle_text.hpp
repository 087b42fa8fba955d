// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_HANDLE_TEXT_HPP
#define SUBLET_PLANNING_DETAIL_HANDLE_TEXT_HPP

/// Handles and names as text, without an allocation: strings by reference, numbers and addresses as digits
/// in a buffer of the object; and sentences that name them, in a buffer of their own, for broken
/// preconditions.

#include <sublet/core/errors.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The name of a value or a step, what its handle is, or a number: a range of char. Refers to the text.
class id_text {
public:
    explicit id_text(std::string_view text) : text_(text) {}
    template <integer I>
    explicit id_text(I number)
    {
        auto rest = static_cast<std::uint64_t>(number);
        if (number < I{}) rest = 0 - rest;
        set_digits(rest, 10);
        if (number < I{}) digits_[--first_] = '-';
    }
    explicit id_text(char one)
    {
        if (one > ' ' && one <= '~') digits_[--first_] = one;
        else set_digits(static_cast<unsigned char>(one), 10);
    }
    explicit id_text(void const* address)
    {
        set_digits(reinterpret_cast<std::uintptr_t>(address), 16);
        digits_[--first_] = 'x';
        digits_[--first_] = '0';
    }
    [[nodiscard]] bool empty() const { return begin() == end(); }
    [[nodiscard]] char const* begin() const { return text_.empty() ? digits_ + first_ : text_.data(); }
    [[nodiscard]] char const* end() const
    {
        return text_.empty() ? digits_ + sizeof digits_ : text_.data() + text_.size();
    }
    template <class Stream>
        requires requires(Stream& out) { out << 'c'; }
    friend Stream& operator<<(Stream& out, id_text const& text)
    {
        for (char one : text) out << one;
        return out;
    }

private:
    void set_digits(std::uint64_t number, unsigned base)
    {
        do digits_[--first_] = "0123456789abcdef"[number % base];
        while ((number /= base) != 0);
    }

    std::string_view text_;
    char digits_[24] = {};
    std::size_t first_ = sizeof digits_;
};

/// Empty for a handle of another type than strings, characters, numbers and pointers.
template <class H>
[[nodiscard]] id_text text_of_handle(H const& h)
{
    if constexpr (std::is_pointer_v<H>)
        if (h == nullptr) return id_text(std::string_view("null"));
    if constexpr (std::convertible_to<H const&, std::string_view>) return id_text(std::string_view(h));
    else if constexpr (std::same_as<H, char>) return id_text(h);
    else if constexpr (integer_like<H>) return id_text(+h);
    else if constexpr (std::is_enum_v<H>) return id_text(+static_cast<std::underlying_type_t<H>>(h));
    else if constexpr (std::convertible_to<H const&, void const*>) {
        void const* const address = h;
        return id_text(address);
    } else return id_text(std::string_view());
}

/// Appends the names of 0, 1, 2 ..., each with '\0' at its end.
template <class Names>
void append_names(std::vector<char>& text, Names const& names, std::size_t count)
{
    for (std::size_t i = 0; i != count; ++i) {
        for (char c : names(i))
            if (c != '\0') text.push_back(c);
        text.push_back('\0');
    }
}

/// A sentence about a violated precondition, of texts and numbers; a value or a step is its text in quotes,
/// or its number.
class sentence {
public:
    sentence& operator<<(std::string_view text)
    {
        for (char c : text)
            if (c != '\0' && size_ + 1 != sizeof text_) text_[size_++] = c;
        return *this;
    }
    template <integer I>
    sentence& operator<<(I number)
    {
        for (char c : id_text(number)) *this << std::string_view(&c, 1);
        return *this;
    }
    template <kind K>
    sentence& operator<<(id<K> number)
    {
        return *this << +number;
    }
    sentence& operator<<(value_role role)
    {
        if (role == value_role::intermediate) return *this << "intermediate";
        std::string_view between = "";
        auto add = [&](value_role one, std::string_view name) {
            if (has_role(role, one)) *this << std::exchange(between, " | ") << name;
        };
        add(value_role::input, "input");
        add(value_role::output, "output");
        if (has_role(role, value_role::state)) add(value_role::state, "state");
        else add(value_role::external, "external");
        return *this;
    }
    sentence& quote(id_text const& text, std::uint32_t number)
    {
        if (text.empty()) return *this << number;
        *this << "'";
        for (char c : text) *this << std::string_view(&c, 1);
        return *this << "'";
    }
    [[noreturn]] void fail() const { broken_precondition(text_); }

private:
    char text_[1024] = {};
    std::size_t size_ = 0;
};

/// Throws: precondition_error for a value that has no offset; `no_value`: a handle that is not in the listing.
[[noreturn]] inline void fail_without_offset(id_text const& text, value_id v, bool has_plan)
{
    sentence why;
    why << "sublet: value ";
    if (v != no_value || !text.empty()) why.quote(text, v) << " ";
    why << "has no offset: ";
    if (!has_plan) why << "there is no plan";
    else if (v == no_value) why << "it is not in the listing";
    else why << "it is external, or its size is unknown";
    why.fail();
}

} // namespace sublet::detail

#endif
