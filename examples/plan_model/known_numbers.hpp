// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_NUMBERS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_KNOWN_NUMBERS_HPP

/// Elements of tensors as numbers: the width and the rounding of each type, and what rules do with two
/// numbers.
///
/// Integers of all types are kept as int64 and reals as double. What is computed is brought back to the type
/// at once, as a kernel stores it.

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace plan_model::known_rules {

using tensor = onnx::TensorProto;

// --- element types -----------------------------------------------------------------------------------------

/// Bytes of an element; 0: not a type that is followed.
inline std::size_t width_of(int element)
{
    switch (element) {
    case tensor::INT8:
    case tensor::UINT8:
    case tensor::BOOL: return 1;
    case tensor::INT16:
    case tensor::UINT16:
    case tensor::FLOAT16:
    case tensor::BFLOAT16: return 2;
    case tensor::INT32:
    case tensor::UINT32:
    case tensor::FLOAT: return 4;
    case tensor::INT64:
    case tensor::UINT64:
    case tensor::DOUBLE: return 8;
    default: return 0;
    }
}

inline bool is_real(int element)
{
    return element == tensor::FLOAT || element == tensor::DOUBLE || element == tensor::FLOAT16 ||
           element == tensor::BFLOAT16;
}

inline bool is_signed(int element)
{
    return element == tensor::INT8 || element == tensor::INT16 || element == tensor::INT32 ||
           element == tensor::INT64;
}

inline bool is_number(int element) { return width_of(element) != 0 && element != tensor::BOOL; }

// --- integers ----------------------------------------------------------------------------------------------

/// The integer that a kernel stores in the width of its type.
inline std::int64_t wrapped(int element, std::uint64_t bits)
{
    switch (element) {
    case tensor::BOOL: return bits != 0;
    case tensor::INT8: return static_cast<std::int8_t>(bits);
    case tensor::UINT8: return static_cast<std::uint8_t>(bits);
    case tensor::INT16: return static_cast<std::int16_t>(bits);
    case tensor::UINT16: return static_cast<std::uint16_t>(bits);
    case tensor::INT32: return static_cast<std::int32_t>(bits);
    case tensor::UINT32: return static_cast<std::uint32_t>(bits);
    default: return static_cast<std::int64_t>(bits);
    }
}

inline std::uint64_t bits_of(std::int64_t x) { return static_cast<std::uint64_t>(x); }

inline std::optional<std::int64_t> quotient(int element, std::int64_t a, std::int64_t b)
{
    if (b == 0) return {};
    if (element == tensor::UINT64) return static_cast<std::int64_t>(bits_of(a) / bits_of(b));
    if (b == -1) {
        std::int64_t const negative = wrapped(element, 0 - bits_of(a));
        if (negative == a && a != 0) return {}; // the least one has no opposite
        return negative;
    }
    return a / b;
}

inline bool is_less(int element, std::int64_t a, std::int64_t b)
{
    return element == tensor::UINT64 ? bits_of(a) < bits_of(b) : a < b;
}

inline std::optional<std::int64_t> least(int element, std::int64_t a, std::int64_t b)
{
    return is_less(element, b, a) ? b : a;
}

inline std::optional<std::int64_t> most(int element, std::int64_t a, std::int64_t b)
{
    return is_less(element, a, b) ? b : a;
}

// --- reals -------------------------------------------------------------------------------------------------

/// The nearest float, by ties to even; the conversion of what is larger than any float is undefined.
inline float to_float(double x)
{
    constexpr double overflows = 0x1.ffffffp127;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (x > FLT_MAX) return x < overflows ? FLT_MAX : infinity;
    if (x < -FLT_MAX) return x > -overflows ? -FLT_MAX : -infinity;
    return static_cast<float>(x);
}

/// The nearest number with so many binary digits after the first one.
inline double narrowed(double x, int digits, int least_exponent, double greatest)
{
    if (x == 0 || !std::isfinite(x)) return x;
    int const unit = std::max(std::ilogb(x), least_exponent) - digits;
    double const nearest = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
    return std::fabs(nearest) > greatest ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                         : nearest;
}

inline double rounded(int element, double x)
{
    switch (element) {
    case tensor::FLOAT: return double{to_float(x)};
    case tensor::FLOAT16: return narrowed(x, 10, -14, 65504);
    case tensor::BFLOAT16: return narrowed(x, 7, -126, 0x1.fep127);
    default: return x;
    }
}

inline double from_half(std::uint16_t bits)
{
    int const exponent = bits >> 10 & 31;
    int const digits = bits & 1023;
    double x;
    if (exponent == 31) x = digits == 0 ? HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0) x = std::ldexp(digits, -24);
    else x = std::ldexp(1024 + digits, exponent - 25);
    return (bits & 0x8000) != 0 ? -x : x;
}

inline std::uint16_t to_half(double x)
{
    double const value = std::fabs(rounded(tensor::FLOAT16, x));
    unsigned bits = 0;
    if (std::isnan(x)) bits = 0x7e00;
    else if (std::isinf(value)) bits = 0x7c00;
    else if (value < 0x1p-14) bits = static_cast<unsigned>(std::ldexp(value, 24));
    else {
        int const exponent = std::ilogb(value);
        bits = static_cast<unsigned>(std::ldexp(value, 10 - exponent)) - 1024;
        bits += static_cast<unsigned>(exponent + 15) << 10;
    }
    return static_cast<std::uint16_t>(bits | (std::signbit(x) ? 0x8000u : 0u));
}

inline double from_bfloat(std::uint16_t bits)
{
    return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16)};
}

inline std::uint16_t to_bfloat(double x)
{
    if (std::isnan(x)) return 0x7fc0;
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(to_float(rounded(tensor::BFLOAT16, x))) >>
                                      16);
}

/// Calls `op` in the precision that kernels use for this type.
template <class Op, class... Real>
double in_precision(int element, Op op, Real... x)
{
    if (element == tensor::DOUBLE) return op(x...);
    return rounded(element, double{op(to_float(x)...)});
}

inline constexpr auto real_sum = [](auto a, auto b) { return a + b; };

/// Not a number if one of them is none.
inline constexpr auto real_least = [](auto a, auto b) { return a != a || a < b ? a : b; };
inline constexpr auto real_most = [](auto a, auto b) { return a != a || a > b ? a : b; };

} // namespace plan_model::known_rules

#endif
