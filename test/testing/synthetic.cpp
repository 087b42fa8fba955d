// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/synthetic.hpp>

#include <sublet/execution/cpu.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <set>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The parts of a call that the kernel uses.
struct plain_call {
    step_id step = 0;
    std::vector<std::vector<std::byte>> operands;
    std::vector<std::span<std::byte>> results, rooms;
    std::set<std::size_t> views;

    std::vector<std::vector<std::byte>> const& uses() const { return operands; }
    std::vector<std::span<std::byte>> const& defs() const { return results; }
    std::span<std::byte const> in(std::size_t i) const { return operands[i]; }
    std::span<std::byte> out(std::size_t j) const { return results[j]; }
    bool is_view(std::size_t j) const { return views.count(j) != 0; }
    bool is_update(std::size_t) const { return false; }
    std::size_t scratch_count() const { return rooms.size(); }
    std::span<std::byte> scratch(std::size_t k) const { return rooms[k]; }
};

using bytes = std::vector<std::byte>;
using words = std::vector<std::uint64_t>;

/// Two results of three words each.
words results(plain_call call, std::uint64_t seed = 0)
{
    bytes first(24), second(24);
    call.results = {first, second};
    synthetic_kernel{seed}(call);
    words all(6);
    std::memcpy(all.data(), first.data(), 24);
    std::memcpy(all.data() + 3, second.data(), 24);
    return all;
}

plain_call two_operands()
{
    plain_call call{.step = 3, .operands = {bytes(13), bytes(8)}, .results = {}, .rooms = {}, .views = {}};
    for (std::size_t i = 0; i != 13; ++i) call.operands[0][i] = static_cast<std::byte>(i);
    return call;
}

static_assert(cpu_kernel<synthetic_kernel>);

} // namespace

TEST_CASE("each bit of an operand changes each word of each result, in about half of its bits")
{
    words const before = results(two_operands());
    int turned = 0, bits = 0;
    for (std::size_t operand : {0u, 1u})
        for (std::size_t bit = 0; bit != 8 * two_operands().operands[operand].size(); ++bit) {
            plain_call call = two_operands();
            call.operands[operand][bit / 8] ^= std::byte{1} << bit % 8;
            words const after = results(call);
            for (std::size_t w = 0; w != 6; ++w) {
                CHECK(after[w] != before[w]);
                turned += std::popcount(after[w] ^ before[w]);
                bits += 64;
            }
        }
    CHECK(turned > bits * 45 / 100);
    CHECK(turned < bits * 55 / 100);
}

TEST_CASE("results depend on the step, the seed, the order, number and length of operands, and the index of "
          "the result")
{
    plain_call const call = two_operands();
    plain_call step = call, swapped = call, longer = call, more = call;
    step.step = 4;
    std::swap(swapped.operands[0], swapped.operands[1]);
    longer.operands[1].resize(9);
    more.operands.push_back({});
    std::set<std::uint64_t> seen;
    for (words const& r :
         {results(call), results(call, 1), results(step), results(swapped), results(longer), results(more)})
        seen.insert(r.begin(), r.end());
    CHECK(seen.size() == 36);
    CHECK(results(call) == results(call));
}

TEST_CASE("a view of existing bytes is not written")
{
    plain_call call = two_operands();
    bytes kept(8, std::byte{7}), made(8);
    call.results = {kept, made};
    call.views = {0};
    synthetic_kernel{}(call);
    CHECK(kept == bytes(8, std::byte{7}));
    CHECK(made != bytes(8));
}

TEST_CASE("a result has the same contents in place as beside its operand")
{
    plain_call apart = two_operands(), within = two_operands();
    bytes result(13);
    apart.results = {result};
    within.results = {within.operands[0]};
    synthetic_kernel{}(apart);
    synthetic_kernel{}(within);
    CHECK(within.operands[0] == result);
}

TEST_CASE("scratch is filled, and a result that overlaps it is found, down to the last byte")
{
    for (std::size_t begin = 0; begin != 40; ++begin) {
        CAPTURE(begin);
        bytes arena(60);
        plain_call call = two_operands();
        call.rooms = {std::span(arena).subspan(20, 9)};
        call.results = {std::span(arena).subspan(begin, 10)};
        if (begin + 10 <= 20 || begin >= 29) {
            synthetic_kernel{}(call);
            CHECK(bytes(arena.begin() + 20, arena.begin() + 29) != bytes(9));
        } else {
            CHECK_THROWS_WITH_AS(synthetic_kernel{}(call),
                                 "sublet: results overlap the scratch of their own step",
                                 synthetic_kernel::scratch_overwritten);
        }
    }
}

TEST_CASE("without operands, results or bytes nothing happens")
{
    plain_call call{.step = 0, .operands = {bytes()}, .results = {{}}, .rooms = {{}}, .views = {}};
    CHECK_NOTHROW(synthetic_kernel{}(call));
    CHECK_NOTHROW(synthetic_kernel{}(plain_call{}));
}

} // namespace this_test
