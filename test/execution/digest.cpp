// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/storage.hpp>

#include "../dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace this_test {

using namespace sublet;
using detail::mix;

namespace {

std::vector<std::byte> counted_up(std::size_t n)
{
    std::vector<std::byte> bytes(n);
    for (std::size_t i = 0; i != n; ++i) bytes[i] = static_cast<std::byte>(i + 1);
    return bytes;
}

std::uint64_t digest_of(std::vector<std::byte> const& bytes) { return digest(std::span(bytes)); }

std::vector<std::byte> noise(std::size_t n, std::uint64_t seed)
{
    std::vector<std::byte> bytes(n + 1, std::byte{0x5A}); // and one that is not to be written
    fill_noise(std::span(bytes).first(n), seed);
    CHECK(bytes.back() == std::byte{0x5A});
    bytes.pop_back();
    return bytes;
}

/// The formula as it stands in the header, a byte at a time.
std::uint64_t slow_digest(std::vector<std::byte> const& bytes)
{
    std::uint64_t sum = bytes.size();
    for (std::size_t k = 0; 8 * k < bytes.size(); ++k) {
        std::uint64_t word = 0;
        for (std::size_t i = 8 * k; i != std::min(8 * k + 8, bytes.size()); ++i)
            word |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * (i % 8);
        sum += mix(word ^ mix(k + 1));
    }
    return sum;
}

} // namespace

TEST_CASE("digests, noise and the numbers behind them never change")
{
    static_assert(mix(0) == 0);
    static_assert(mix(1) == 0x5692161d100b05e5u);
    static_assert(mix(0x9e3779b97f4a7c15u) == 0xe220a8397b1dcdafu); // SplitMix64's first number for seed 0
    static_assert(fold_digest(1, 2) == mix(0x9e3779b97f4a7c17u));
    static_assert(fold_digest(1, 2) != fold_digest(2, 1));
    if constexpr (std::endian::native == std::endian::little) {
        CHECK(digest_of({}) == 0);
        CHECK(digest_of(counted_up(1)) == 0x83ec686c1600460bu);
        CHECK(digest_of(counted_up(8)) == 0x36dea34441edc953u);
        CHECK(digest_of(counted_up(21)) == 0x901efa85804b7074u);
        CHECK(digest_of(noise(21, 7)) == 0x2974d279688d252du);
    }
}

TEST_CASE("a digest is the sum in the header, whatever the length and wherever the bytes lie")
{
    if constexpr (std::endian::native != std::endian::little) return;
    for (std::size_t n = 0; n != 40; ++n) {
        CAPTURE(n);
        std::vector<std::byte> const bytes = counted_up(n);
        CHECK(digest_of(bytes) == slow_digest(bytes));
        for (std::size_t shift = 1; shift != 8; ++shift) {
            std::vector<std::byte> moved(shift + n);
            std::copy(bytes.begin(), bytes.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
            CHECK(digest(std::span<std::byte const>(moved).subspan(shift)) == digest_of(bytes));
        }
    }
}

TEST_CASE("zeros at the end count")
{
    std::vector<std::byte> bytes;
    std::vector<std::uint64_t> seen;
    for (int n = 0; n != 30; ++n, bytes.emplace_back()) seen.push_back(digest_of(bytes));
    std::sort(seen.begin(), seen.end());
    CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
}

TEST_CASE("a change of any one bit changes the digest")
{
    for (std::size_t n = 1; n != 30; ++n) {
        std::vector<std::byte> bytes = noise(n, n);
        std::uint64_t const before = digest_of(bytes);
        for (std::size_t bit = 0; bit != 8 * n; ++bit) {
            CAPTURE(n);
            CAPTURE(bit);
            bytes[bit / 8] ^= std::byte{1} << bit % 8;
            CHECK(digest_of(bytes) != before);
            bytes[bit / 8] ^= std::byte{1} << bit % 8;
        }
    }
}

TEST_CASE("words that change places change the digest, and so do changes in several words")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        std::vector<std::byte> const before = noise(16 + pick.below(60), pick.wide());
        std::vector<std::byte> after = before;
        std::rotate(after.begin(), after.begin() + 8, after.end());
        CHECK(digest_of(after) != digest_of(before));
        after = before;
        for (std::uint32_t i = 0, n = 1 + pick.below(9); i != n; ++i)
            after[pick.below(static_cast<std::uint32_t>(after.size()))] =
                static_cast<std::byte>(pick.below(256));
        CHECK((digest_of(after) == digest_of(before)) == (after == before));
    }
}

TEST_CASE("mix turns about half of the bits for each bit that is turned")
{
    for (unsigned bit = 0; bit != 64; ++bit) {
        CAPTURE(bit);
        dice pick{std::mt19937{bit}};
        int turned = 0;
        for (int i = 0; i != 200; ++i) {
            std::uint64_t const x = pick.wide();
            turned += std::popcount(mix(x) ^ mix(x ^ std::uint64_t{1} << bit));
        }
        CHECK(turned > 200 * 24);
        CHECK(turned < 200 * 40);
    }
}

TEST_CASE("noise is the same for the same seed, and another for another, down to a few bytes")
{
    for (std::size_t n = 4; n != 40; ++n) {
        CAPTURE(n);
        CHECK(noise(n, 3) == noise(n, 3));
        CHECK(noise(n, 3) != noise(n, 4));
        std::vector<std::byte> bytes = noise(n, 3);
        bytes.resize(4);
        CHECK(bytes != noise(4, 4));
        CHECK(std::count(bytes.begin(), bytes.end(), std::byte{0}) < 4);
    }
    CHECK(noise(0, 1).empty());
    CHECK(noise(1, 1).size() == 1);
}

} // namespace this_test
