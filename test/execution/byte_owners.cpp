// SPDX-License-Identifier: BSL-1.0
#include <sublet/execution/step_waits.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using owners = detail::byte_owners;

namespace {

/// The owner of each byte.
std::vector<buffer_id> bytes_of(owners const& all, byte_count begin, byte_count end)
{
    std::vector<buffer_id> bytes;
    all.each(begin, end, [&](byte_count first, byte_count last, buffer_id who) {
        CHECK(first == begin + bytes.size()); // ascending, and nothing left out
        CHECK(first < last);
        bytes.insert(bytes.end(), last - first, who);
    });
    CHECK(bytes.size() == end - begin);
    return bytes;
}

} // namespace

TEST_CASE("who moves in last owns the bytes, and what it does not cover stays another's")
{
    owners all({{0, 0, 0}, {4, 0, 0}, {2, 0, 0}, {6, 0, 0}, {4, 0, 0}}, 8);
    CHECK(bytes_of(all, 0, 8) == std::vector<buffer_id>(8, no_buffer));
    all.claim(0, 4, 7);
    all.claim(2, 6, 9);
    CHECK(bytes_of(all, 0, 8) == std::vector<buffer_id>{7, 7, 9, 9, 9, 9, no_buffer, no_buffer});
    CHECK(bytes_of(all, 2, 6) == std::vector<buffer_id>{9, 9, 9, 9});
}

TEST_CASE("an arena of no bytes has no owners")
{
    owners all({}, 0);
    all.claim(0, 0, 1);
    CHECK(bytes_of(all, 0, 0).empty());
}

TEST_CASE("stretches say what an array of bytes says")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        std::uint32_t const end = 1 + pick.below(40);
        struct range {
            byte_count begin, end;
        };
        std::vector<range> buffers;
        std::vector<keyed> borders;
        for (unsigned i = 0; i != 12; ++i) {
            std::uint32_t const begin = pick.below(end);
            std::uint32_t const last = begin + pick.below(end - begin + 1);
            buffers.push_back({begin, last});
            borders.push_back({begin, 0, 0});
            borders.push_back({last, 0, 0});
        }
        owners all(borders, end);
        std::vector<buffer_id> bytes(end, no_buffer);
        for (unsigned turn = 0; turn != 30; ++turn) {
            buffer_id const b = pick.below(12);
            all.claim(buffers[b].begin, buffers[b].end, b);
            for (byte_count at = buffers[b].begin; at != buffers[b].end; ++at) bytes[at] = b;
            buffer_id const seen = pick.below(12);
            CHECK(bytes_of(all, 0, end) == bytes);
            CHECK(bytes_of(all, buffers[seen].begin, buffers[seen].end) ==
                  std::vector<buffer_id>(bytes.begin() + static_cast<long>(buffers[seen].begin),
                                         bytes.begin() + static_cast<long>(buffers[seen].end)));
        }
    }
}

} // namespace this_test
