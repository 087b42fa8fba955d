// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/storage.hpp>

#include "dead_bytes.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

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
                bool const is_border = under_asan && i / 8 == end / 8;
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

} // namespace this_test
