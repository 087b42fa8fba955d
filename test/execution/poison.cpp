// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/poison.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

// An ordinary program can look at dead bytes and must find them painted; under the address sanitizer it must
// not look, and asks.
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#if defined(UNDER_ASAN)
extern "C" int __asan_address_is_poisoned(void const volatile*);
static bool is_dead(std::byte const* at) { return __asan_address_is_poisoned(at) != 0; }
static bool const is_rounded = true;
#else
static bool is_dead(std::byte const* at) { return *at == std::byte{0xFF}; }
static bool const is_rounded = false;
#endif

using namespace sublet;

TEST_CASE("paint covers the bytes it is given and no others")
{
    for (std::size_t begin = 0; begin != 20; ++begin)
        for (std::size_t end = begin; end != 20; ++end) {
            std::vector<std::byte> bytes(20, std::byte{1});
            detail::paint(std::span(bytes).subspan(begin, end - begin));
            for (std::size_t i = 0; i != 20; ++i)
                CHECK((bytes[i] == std::byte{0xFF}) == (begin <= i && i < end));
        }
    detail::paint(std::span<std::byte>());
    float number = 0;
    detail::paint(std::span(reinterpret_cast<std::byte*>(&number), sizeof number));
    CHECK(number != number);
}

TEST_CASE("what is dead is dead but for a border of less than 8 bytes, and no neighbour is")
{
    for (std::size_t begin = 0; begin != 33; ++begin)
        for (std::size_t end = begin; end != 33; ++end) {
            CAPTURE(begin);
            CAPTURE(end);
            std::vector<std::byte> bytes(40, std::byte{1});
            auto const region = std::span(bytes).subspan(begin, end - begin);
            detail::make_dead(region);
            for (std::size_t i = 0; i != 40; ++i) {
                bool const is_inside = begin <= i && i < end;
                bool const is_border = is_rounded && i / 8 == end / 8;
                if (!is_inside) CHECK(!is_dead(&bytes[i]));
                else if (!is_border) CHECK(is_dead(&bytes[i]));
            }
            detail::make_usable(region);
            for (std::byte& b : region) b = std::byte{2};
            CHECK(std::count(bytes.begin(), bytes.end(), std::byte{2}) == static_cast<long>(end - begin));
        }
}

TEST_CASE("a value that lives beside a dead one can be used whole, whichever moved in first")
{
    std::vector<std::byte> bytes(64);
    for (std::size_t border = 0; border != 33; ++border) {
        CAPTURE(border);
        detail::make_dead(std::span(bytes));
        auto const low = std::span(bytes).first(border), high = std::span(bytes).subspan(border);
        for (auto const& [living, dead] : {std::pair(low, high), std::pair(high, low)}) {
            detail::make_usable(living);
            for (std::byte& b : living) b = std::byte{3};
            detail::make_dead(dead);
            CHECK(std::none_of(living.begin(), living.end(), [](std::byte& b) { return is_dead(&b); }));
            detail::make_usable(dead);
        }
    }
    detail::make_usable(std::span(bytes));
}
