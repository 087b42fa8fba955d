// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/detail/pieces.hpp>

#include "../random_source.hpp"
#include "../rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

struct plain_piece {
    position_id first, last;
    byte_count begin, end;
    friend bool operator==(plain_piece const&, plain_piece const&) = default;
};

std::vector<plain_piece> plain(std::vector<shape_piece> const& pieces)
{
    std::vector<plain_piece> result;
    for (shape_piece const& p : pieces) result.push_back({p.when.first, p.when.last, p.begin, p.end});
    return result;
}

/// The pieces of buffer 1, of 8 bytes from position 2 to 9, 100 above an origin.
std::vector<plain_piece> with_gaps(std::vector<placement_problem::gap> gaps)
{
    placement_problem const problem{{{{0, 20}, 64}, {{2, 9}, 8}, {{0, 20}, 64}}, {}, std::move(gaps)};
    std::vector<shape_piece> pieces;
    append_pieces(problem, gaps_in_order(problem, {0, 1}), 1, 100, pieces);
    return plain(pieces);
}

using expected = std::vector<plain_piece>;

} // namespace

TEST_CASE("a buffer is one piece without its gaps, plus their windows")
{
    CHECK(with_gaps({}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{0, {3, 4}}, {2, {3, 4}}}) == expected{{2, 9, 100, 108}}); // gaps of others
    CHECK(with_gaps({{1, {6, 7}, 1, 3}, {1, {4, 5}}}) ==
          expected{{2, 4, 100, 108}, {5, 6, 100, 108}, {6, 7, 101, 103}, {7, 9, 100, 108}});
    CHECK(with_gaps({{1, {4, 5}}, {1, {5, 6}, 4, 8}}) ==
          expected{{2, 4, 100, 108}, {5, 6, 104, 108}, {6, 9, 100, 108}});
}

TEST_CASE("gaps outside of the live range are ignored")
{
    CHECK(with_gaps({{1, {0, 3}}, {1, {8, 20}}}) == expected{{3, 8, 100, 108}});
    CHECK(with_gaps({{1, {0, 2}}, {1, {1, 2}}, {1, {9, 12}}, {1, {5, 5}}}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{1, {0, 20}}}).empty());
    CHECK(with_gaps({{1, {0, 20}, 3, 3}}).empty());
}

TEST_CASE("a window of all bytes is no gap")
{
    CHECK(with_gaps({{1, {4, 6}, 0, 8}}) == expected{{2, 9, 100, 108}});
    CHECK(with_gaps({{1, {4, 6}, 0, 7}, {1, {6, 7}, 0, 7}}) ==
          expected{{2, 4, 100, 108}, {4, 7, 100, 107}, {7, 9, 100, 108}});
}

TEST_CASE("windows outside of the buffer, overlapping gaps, and gaps of missing buffers are refused")
{
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}, 0, 9}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}, 3, 2}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{1, {4, 6}}, {1, {5, 7}}}), precondition_error);
    CHECK_THROWS_AS((void)with_gaps({{3, {4, 6}}}), precondition_error);
}

TEST_CASE("pieces that overlap in time are merged from the lowest byte to the highest")
{
    std::vector<shape_piece> pieces{{{2, 6}, 10, 20}, {{0, 4}, 30, 40}, {{8, 9}, 0, 5}};
    merge_pieces(pieces);
    CHECK(plain(pieces) == expected{{0, 2, 30, 40}, {2, 4, 10, 40}, {4, 6, 10, 20}, {8, 9, 0, 5}});
    pieces = {{{0, 4}, 0, 8}, {{4, 6}, 0, 8}, {{2, 5}, 3, 7}};
    merge_pieces(pieces);
    CHECK(plain(pieces) == expected{{0, 6, 0, 8}});
}

TEST_CASE("random pieces: merging agrees with each position, with the fewest pieces")
{
    random_source pick{std::mt19937{1}};
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        std::vector<shape_piece> pieces(1 + pick.below(8));
        std::vector<std::pair<byte_count, byte_count>> painted(16, {no_offset, 0});
        for (shape_piece& p : pieces) {
            p.when.first = pick.below(14);
            p.when.last = p.when.first + 1 + pick.below(15 - p.when.first);
            p.begin = pick.below(6);
            p.end = p.begin + 1 + pick.below(6);
            for (position_id at = p.when.first; at != p.when.last; ++at)
                painted[at] = {std::min(painted[at].first, p.begin), std::max(painted[at].second, p.end)};
        }
        merge_pieces(pieces);
        expected should;
        for (position_id at = 0; at != 15; ++at) {
            auto const [begin, end] = painted[at];
            if (end == 0) continue;
            bool const goes_on = !should.empty() && should.back().last == at &&
                                 should.back().begin == begin && should.back().end == end;
            if (goes_on) ++should.back().last;
            else should.push_back({at, at + 1, begin, end});
        }
        CHECK(plain(pieces) == should);
    }
}

TEST_CASE("positions become their ranks, whether dense or sparse")
{
    for (std::uint32_t scale : {1u, 3u, 1000u, 100'000'000u}) {
        std::vector<shape_piece> pieces{
            {{4 * scale, 9 * scale}, 0, 8}, {{0, 4 * scale}, 0, 8}, {{7 * scale, 40 * scale}, 0, 8}};
        CHECK(rank_positions(pieces) ==
              table<position_id, position_id>{0, 4 * scale, 7 * scale, 9 * scale, 40 * scale});
        CHECK(plain(pieces) == expected{{1, 3, 0, 8}, {0, 1, 0, 8}, {2, 4, 0, 8}});
    }
    std::vector<shape_piece> none;
    CHECK(rank_positions(none).empty());
}

} // namespace this_test
