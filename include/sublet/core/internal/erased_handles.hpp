// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_ERASED_HANDLES_HPP
#define SUBLET_CORE_INTERNAL_ERASED_HANDLES_HPP

/// The handles of a listing behind one type, so that calls of executors, which are no templates, find values
/// by them. A key matches handles of its type; a text matches strings, an integer integers of another width,
/// a pointer to T the handles that point to T or to const T. A type is known by the address of a variable.
///
///     erased_handles all(numbers)     a copy, shared by copies of `all`
///     all.find("y")                   {4, true}         {no_value, true}: no such handle
///     all.find(7)                     {no_value, false}: the handles are no integers

#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet::detail {

template <class T>
struct type_mark {
    static inline char at = 0;
};

template <class H>
concept textual = std::convertible_to<H const&, std::string_view> && !std::is_pointer_v<H>;
template <class H>
concept integral_handle = std::is_integral_v<H>;

/// A pointer to T and one to const T have one mark.
template <class H>
[[nodiscard]] void const* mark_of()
{
    if constexpr (std::is_pointer_v<H>) return &type_mark<std::remove_pointer_t<H> const*>::at;
    else return &type_mark<H>::at;
}

/// An array, as a literal is, by a pointer.
template <class H>
using key_type = std::conditional_t<std::is_array_v<H>, std::decay_t<H const> const, H const&>;

/// A handle without its static type.
struct handle_key {
    void const* mark = nullptr; ///< of its type
    void const* data = nullptr; ///< where it lies
    std::string_view text = {};
    std::uint64_t bits = 0;
    bool is_text = false, is_integer = false, is_negative = false;
};

template <class H>
[[nodiscard]] handle_key key_of(H const& h)
{
    handle_key key{.mark = mark_of<H>(), .data = &h};
    if constexpr (std::convertible_to<H const&, std::string_view>) {
        if constexpr (std::is_pointer_v<H>) key.is_text = h != nullptr;
        else key.is_text = true;
        if (key.is_text) key.text = h;
    }
    if constexpr (integral_handle<H>) {
        key.is_integer = true;
        key.bits = static_cast<std::uint64_t>(h);
        key.is_negative = h < H{};
    }
    return key;
}

class erased_handles {
public:
    struct found {
        value_id value = no_value; ///< none: the listing does not have it
        bool is_of_type = false;   ///< it could be a handle of the listing
    };

    erased_handles() = default;
    /// Of handles numbered by a copy of `numbers`, which finds a handle, and a text where handles are
    /// strings. `texts(numbers, v)` is the name of value v, a range of char.
    template <class H, class Numbers, class Texts>
    erased_handles(std::type_identity<H>, Numbers numbers, Texts texts)
        : held_(new holder<H, Numbers, Texts>(std::move(numbers), std::move(texts)))
    {
    }
    erased_handles(erased_handles const& other) noexcept : held_(other.held_)
    {
        if (held_ != nullptr) held_->owners.fetch_add(1, std::memory_order_relaxed);
    }
    erased_handles(erased_handles&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    erased_handles& operator=(erased_handles other) noexcept
    {
        std::swap(held_, other.held_);
        return *this;
    }
    ~erased_handles()
    {
        if (held_ != nullptr && held_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
            held_->destroy(held_);
    }

    explicit operator bool() const { return held_ != nullptr; }
    /// Complexity: that of finding a handle: O(1) expected. No allocation.
    [[nodiscard]] found find(handle_key const& key) const
    {
        return held_ == nullptr ? found{} : held_->find(*held_, key);
    }
    /// For a sentence: its name in quotes, else its number; the last character is '\0'.
    [[nodiscard]] std::vector<char> quoted(value_id v) const
    {
        std::vector<char> text;
        if (held_ != nullptr) held_->append(*held_, v, text);
        appended_text out{text};
        plain_text<appended_text> all{out};
        if (text.empty()) {
            all << v << '\0';
        } else {
            text.insert(text.begin(), '\'');
            all << '\'' << '\0';
        }
        return text;
    }

private:
    struct shared {
        found (*find)(shared const&, handle_key const&);
        void (*append)(shared const&, value_id, std::vector<char>&);
        void (*destroy)(shared const*);
        mutable std::atomic<std::uint32_t> owners{1};
    };
    template <class H, class Numbers, class Texts>
    struct holder : shared {
        holder(Numbers all, Texts its_texts)
            : shared{[](shared const& s, handle_key const& key) {
                         return find_in(static_cast<holder const&>(s).numbers, key);
                     },
                     [](shared const& s, value_id v, std::vector<char>& text) {
                         auto const& its = static_cast<holder const&>(s);
                         for (char c : its.texts(its.numbers, v))
                             if (c != '\0') text.push_back(c);
                     },
                     [](shared const* s) { delete static_cast<holder const*>(s); }},
              numbers(std::move(all)), texts(std::move(its_texts))
        {
        }
        static found find_in(Numbers const& numbers, handle_key const& key)
        {
            if (key.mark == mark_of<H>()) {
                if constexpr (std::is_pointer_v<H>) {
                    using target = std::remove_pointer_t<H>;
                    target const* const to = *static_cast<target const* const*>(key.data);
                    return {numbers.find(const_cast<H>(to)), true};
                } else return {numbers.find(*static_cast<H const*>(key.data)), true};
            }
            if constexpr (textual<H>)
                if (key.is_text) {
                    if constexpr (requires { numbers.find_text(key.text); })
                        return {numbers.find_text(key.text), true};
                    else if constexpr (std::constructible_from<H, std::string_view>)
                        return {numbers.find(H(key.text)), true};
                }
            if constexpr (integral_handle<H>)
                if (key.is_integer) {
                    auto const h = static_cast<H>(key.bits);
                    bool const fits =
                        static_cast<std::uint64_t>(h) == key.bits && (h < H{}) == key.is_negative;
                    return {fits ? numbers.find(h) : no_value, true};
                }
            return {};
        }
        Numbers numbers;
        Texts texts;
    };

    shared const* held_ = nullptr;
};

} // namespace sublet::detail

#endif
