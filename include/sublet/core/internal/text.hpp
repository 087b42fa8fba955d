// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_INTERNAL_TEXT_HPP
#define SUBLET_CORE_INTERNAL_TEXT_HPP

/// Text and numbers to any stream, independent of its locale.
///
///     std::ostream, a wrapped FILE*, your logger     required: out << "text", out << 'c'
///     9636608                                        9636608, or 9.19 MiB
///
/// Digits are formatted here: a stream's locale may group them (1,234), and a report must be the same byte
/// for byte on every stream.

#include <sublet/core/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Semantics:     text is output in order.
/// Minimal model: those two operators, returning nothing.   Ordinary model: std::ostream.
template <class S>
concept text_stream = requires(S& out) {
                          out << "text";
                          out << 'c';
                      };

/// A text stream that appends.
struct appended_text {
    std::vector<char>& text;

    void operator<<(char const* ascii)
    {
        for (; *ascii != '\0'; ++ascii) text.push_back(*ascii);
    }
    void operator<<(char one) { text.push_back(one); }
};

/// A number of pixels or percents in steps of 1/100, written with at most two decimals: 12, 12.5, 12.05.
struct hundredths {
    std::uint64_t count;
};

template <text_stream Stream>
struct plain_text {
    Stream& out;
    char const* unit = nullptr; ///< of sizes, if they are counts of something else than bytes

    /// "bytes", or what is counted.
    [[nodiscard]] char const* units() const { return unit == nullptr ? "bytes" : unit; }
    plain_text& operator<<(char const* text) { return out << text, *this; }
    plain_text& operator<<(char one) { return out << one, *this; }
    template <integer I>
    plain_text& operator<<(I number)
    {
        char digits[24];
        char* first = digits + 23;
        *first = '\0';
        bool const negative = number < I{};
        auto rest = static_cast<std::uint64_t>(number);
        if (negative) rest = 0 - rest;
        do *--first = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        if (negative) *--first = '-';
        return *this << first;
    }
    template <kind K>
    plain_text& operator<<(id<K> number)
    {
        return *this << +number;
    }
    plain_text& operator<<(hundredths number)
    {
        *this << number.count / 100;
        std::uint64_t const rest = number.count % 100;
        if (rest == 0) return *this;
        *this << '.' << static_cast<char>('0' + rest / 10);
        if (rest % 10 != 0) *this << static_cast<char>('0' + rest % 10);
        return *this;
    }
};

/// 640 B, 9.19 MiB, 16 EiB; or 640 qubits.
template <text_stream Stream>
void write_bytes(plain_text<Stream>& out, byte_count bytes)
{
    if (out.unit != nullptr) return void(out << bytes << ' ' << out.unit);
    static constexpr char const* units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    unsigned unit = 0;
    while (unit != 6 && bytes >> (10 * unit) >= 1024) ++unit;
    if (unit == 0) return void(out << bytes << units[0]);
    unsigned const shift = 10 * unit;
    byte_count const rest = bytes & ((byte_count{1} << shift) - 1);
    byte_count const fraction = shift > 20 ? rest >> (shift - 20) : rest << (20 - shift);
    std::uint64_t const count = (bytes >> shift) * 100 + ((fraction * 100 + (1u << 19)) >> 20);
    if (count == 102400 && unit != 6) out << 1 << units[unit + 1];
    else out << hundredths{count} << units[unit];
}

} // namespace sublet::detail

#endif
