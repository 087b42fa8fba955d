// SPDX-License-Identifier: BSL-1.0
#include <sublet/units.hpp>

#include "archetype.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

static_assert(integer<int> && integer<unsigned char> && integer<signed char> && integer<std::uint64_t>);
static_assert(!integer<bool> && !integer<char> && !integer<char16_t> && !integer<wchar_t> &&
              !integer<double>);

namespace {

enum plain_enum { nothing = -1, third = 2 };
enum class closed_enum { third = 2 };

} // namespace

static_assert(integer_like<long> && integer_like<plain_enum> && integer_like<archetype::id>);
static_assert(!integer_like<closed_enum> && !integer_like<bool> && !integer_like<char> &&
              !integer_like<double>);
static_assert(!integer_like<int*> && !integer_like<char const*>);

static_assert(size_function<archetype::sizes> && size_function<int (*)(int)>);
static_assert(!size_function<double (*)(int)> && !size_function<bool (*)(int)> && !size_function<int>);

TEST_CASE("a size is any integer but a negative one")
{
    static_assert(to_byte_count(7) == 7 && to_byte_count(third) == 2);
    CHECK(to_byte_count(~std::uint64_t{0}) == no_size);
    CHECK(to_byte_count(static_cast<signed char>(100)) == 100);
    CHECK(to_byte_count(archetype::sizes{}(3)) == 8);
    CHECK_THROWS_WITH_AS((void)to_byte_count(-1), "sublet: a size is negative", precondition_error);
    CHECK_THROWS_AS((void)to_byte_count(nothing), precondition_error);
}

TEST_CASE("minus one of any signed type is no value")
{
    CHECK(to_id(-1) == no_value);
    CHECK(to_id(static_cast<signed char>(-1)) == no_value);
    CHECK(to_id(short{-1}) == no_value);
    CHECK(to_id(std::int64_t{-1}) == no_value);
    CHECK(to_id(std::uint64_t(-1)) == no_value);
    static_assert(to_id(-1) == no_value && to_id(7) == 7);
}

TEST_CASE("narrow unsigned numbers are ids up to their last")
{
    CHECK(to_id(std::uint8_t{255}) == 255);
    CHECK(to_id(std::uint16_t{65535}) == 65535);
}

TEST_CASE("an id of ours comes back from any wider type as it was")
{
    for (std::uint32_t id : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffeu, no_value}) {
        CHECK(to_id(id) == id);
        CHECK(to_id(std::int64_t{id}) == id);
        CHECK(to_id(std::uint64_t{id}) == id);
    }
}

TEST_CASE("other negative numbers are refused")
{
    char const* const sentence = "sublet: an id is negative (only -1 has a meaning: none)";
    CHECK_THROWS_WITH_AS((void)to_id(-2), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(static_cast<signed char>(-128)), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(std::numeric_limits<int>::min()), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(std::numeric_limits<std::int64_t>::min()), sentence, precondition_error);
}

TEST_CASE("numbers beyond 32 bits are refused")
{
    char const* const sentence = "sublet: an id does not fit 32 bits";
    CHECK_THROWS_WITH_AS((void)to_id(std::int64_t{1} << 32), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(std::uint64_t{1} << 32), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(std::numeric_limits<std::int64_t>::max()), sentence, precondition_error);
    CHECK_THROWS_WITH_AS((void)to_id(std::uint64_t(-2)), sentence, precondition_error);
}

TEST_CASE("alignments combine to the least common multiple")
{
    CHECK(combine_alignment(1, 1) == 1);
    CHECK(combine_alignment(64, 16) == 64);
    CHECK(combine_alignment(6, 4) == 12);
    CHECK(combine_alignment(7, 9) == 63);
    for (byte_count a = 1; a != 40; ++a)
        for (byte_count b = 1; b != 40; ++b) {
            byte_count both = a;
            while (both % b != 0) both += a;
            CHECK(combine_alignment(a, b) == both);
        }
    byte_count const half = byte_count{1} << 63;
    CHECK(combine_alignment(half, 2) == half);
    CHECK_THROWS_AS((void)combine_alignment(half, 3), precondition_error);
}

TEST_CASE("sums and products end below 2^64 - 1, which says unknown")
{
    CHECK(checked_add(no_size - 2, 1) == no_size - 1);
    CHECK(checked_multiply(no_size - 1, 1) == no_size - 1);
    CHECK(checked_multiply(0, 5) == 0);
    CHECK(checked_multiply(5, 0) == 0);
    char const* const sum = "sublet: a sum of sizes exceeds 64 bits";
    CHECK_THROWS_WITH_AS((void)checked_add(no_size - 1, 1), sum, precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_add(no_size, 0), sum, precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_add(0, no_size), sum, precondition_error);
    char const* const product = "sublet: a product of sizes exceeds 64 bits";
    CHECK_THROWS_WITH_AS((void)checked_multiply(byte_count{1} << 32, byte_count{1} << 32), product,
                         precondition_error);
    CHECK_THROWS_WITH_AS((void)checked_multiply(no_size / 3, 3), product, precondition_error);
}

TEST_CASE("aligning up goes to the next multiple, or nowhere")
{
    CHECK(align_up(0, 64) == 0);
    CHECK(align_up(1, 64) == 64);
    CHECK(align_up(64, 64) == 64);
    CHECK(align_up(65, 48) == 96);
    CHECK(align_up(no_offset - 1, 1) == no_offset - 1);
    CHECK(align_up(no_offset - 1, 64) == no_offset);
    CHECK(align_up(no_offset, 64) == no_offset);
}

#if defined(__SIZEOF_INT128__)

TEST_CASE("at the edges, arithmetic agrees with 128 bits")
{
    __extension__ using wide = unsigned __int128;
    std::vector<byte_count> numbers;
    for (unsigned shift : {0u, 1u, 6u, 31u, 32u, 33u, 62u, 63u})
        for (byte_count d : {0u, 1u, 2u, 3u}) {
            numbers.push_back((byte_count{1} << shift) + d);
            numbers.push_back((byte_count{1} << shift) - d);
            numbers.push_back(no_size - (byte_count{1} << shift) + 1 - d);
            numbers.push_back(no_size / 3 + d);
        }
    std::mt19937_64 random(1);
    for (int i = 0; i != 100; ++i) numbers.push_back(random() >> (random() % 64));

    auto quantity = [](wide exact) { return exact < no_size; };
    int wrong = 0; // one check for all pairs: they are many
    for (byte_count a : numbers)
        for (byte_count b : numbers) {
            auto holds = [&](wide exact, byte_count (*f)(byte_count, byte_count)) {
                try {
                    return f(a, b) == exact && quantity(exact);
                } catch (precondition_error const&) {
                    return !quantity(exact);
                }
            };
            wrong += !holds(wide{a} + b, checked_add);
            wrong += !holds(wide{a} * b, checked_multiply);
            wrong += sum_fits(a, b) != quantity(wide{a} + b);
            if (b == 0) continue;
            wide const up = (wide{a} + b - 1) / b * b;
            wrong += align_up(a, b) != (quantity(up) ? static_cast<byte_count>(up) : no_offset);
            if (a == 0) continue;
            wrong += !holds(wide{a} / std::gcd(a, b) * b, combine_alignment);
        }
    CHECK(wrong == 0);
}

#endif

} // namespace this_test
