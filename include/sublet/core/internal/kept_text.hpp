// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_KEPT_TEXT_HPP
#define SUBLET_CORE_INTERNAL_KEPT_TEXT_HPP

/// A short text that options keep a copy of.

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet::detail {

/// A copy of a text, up to its first '\0'.
class kept_text {
public:
    /// An empty one.
    kept_text() = default;
    /// The same for a null pointer.
    kept_text(char const* text)
    {
        if (text == nullptr || *text == '\0') return;
        do characters_.push_back(*text);
        while (*text++ != '\0');
    }
    /// Of a string or a view of one.
    template <class T>
        requires requires(T const& text) {
            { text.size() } -> std::convertible_to<std::size_t>;
            { text.data() } -> std::convertible_to<char const*>;
        }
    kept_text(T const& text)
    {
        for (std::size_t i = 0; i != text.size() && text.data()[i] != '\0'; ++i)
            characters_.push_back(text.data()[i]);
        if (!characters_.empty()) characters_.push_back('\0');
    }

    [[nodiscard]] bool empty() const noexcept { return characters_.empty(); }
    /// It ends with '\0'.
    [[nodiscard]] char const* c_str() const noexcept { return empty() ? "" : characters_.data(); }
    friend bool operator==(kept_text const&, kept_text const&) = default;

private:
    std::vector<char> characters_; // with '\0' at the end, or none
};

} // namespace sublet::detail

#endif
