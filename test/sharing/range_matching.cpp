// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/concurrent_lifetimes.hpp>
#include <sublet/sharing/detail/range_matching.hpp>

#include "../random_sharing.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/max_cardinality_matching.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<std::uint32_t>;

static constexpr std::uint32_t none = range_matching::none;

static live_range_lists table(std::vector<std::vector<live_range>> const& rows, std::size_t columns)
{
    ids first{0};
    std::vector<live_range> ranges;
    for (auto const& row : rows) {
        ranges.insert(ranges.end(), row.begin(), row.end());
        first.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {live_range_lists::source::automatic, static_cast<std::uint32_t>(columns), first, ranges};
}

TEST_CASE("a row moves to another column for a row without alternative")
{
    auto const found = match_ranges(table({{{0, 2}}, {{0, 1}}}, 2), 2);
    CHECK(found.pairs == 2);
    CHECK(found.column_of == ids{1, 0});
    CHECK(found.row_of == ids{1, 0});
}

TEST_CASE("three rows for two columns: the columns reached by the last search are the proof")
{
    auto const found = match_ranges(table({{{0, 2}}, {{0, 1}}, {{0, 1}}}, 4), 4);
    CHECK(found.pairs == 2);
    CHECK(found.column_of == ids{1, 0, none});
    CHECK(found.column_reached == std::vector<unsigned char>{1, 0, 0, 0});
    CHECK(!found.is_row_reached(0));
    CHECK(found.is_row_reached(1));
    CHECK(found.is_row_reached(2));
}

TEST_CASE("without rows, columns or ranges there are no pairs")
{
    CHECK(match_ranges(table({}, 0), 0).pairs == 0);
    CHECK(match_ranges(table({}, 3), 3).row_of == ids{none, none, none});
    CHECK(match_ranges(table({{}, {}}, 0), 0).column_of == ids{none, none});
}

TEST_CASE("a hundred thousand rows that all move for the last one")
{
    // Row i may take i or i + 1 and takes i; the last may take 0 only.
    std::uint32_t const n = 100'000;
    std::vector<std::vector<live_range>> rows;
    for (std::uint32_t i = 0; i != n; ++i) rows.push_back({{i, i + 2}});
    rows.push_back({{0, 1}});
    auto const found = match_ranges(table(rows, n + 1), n + 1);
    CHECK(found.pairs == n + 1);
    CHECK(found.column_of.front() == 1);
    CHECK(found.column_of.back() == 0);
}

TEST_CASE("random ranges: as many pairs as by Edmonds' matching, and a vertex cover of the same size")
{
    using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
    using index = boost::property_map<graph, boost::vertex_index_t>::const_type;
    for (std::uint32_t seed = 0; seed != rounds(3000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::uint32_t const columns = pick.below(40);
        std::vector<std::vector<live_range>> rows(pick.below(40));
        for (auto& row : rows)
            for (std::uint32_t at = pick.below(columns + 1); at < columns; at += 1 + pick.below(12)) {
                row.push_back({at, at + 1 + pick.below(smaller(columns - at, 5u))});
                at = row.back().last;
                if (pick.below(3) == 0) break;
            }
        auto const found = match_ranges(table(rows, columns), columns);
        graph g(rows.size() + columns);
        std::size_t pairs = 0, proof = 0;
        for (std::size_t r = 0; r != rows.size(); ++r) {
            bool is_allowed = found.column_of[r] == none;
            for (live_range range : rows[r])
                for (std::uint32_t c = range.first; c != range.last; ++c) {
                    add_edge(r, rows.size() + c, g);
                    if (c == found.column_of[r]) is_allowed = true;
                    REQUIRE((found.column_reached[c] || !found.is_row_reached(r)));
                }
            REQUIRE(is_allowed);
            if (found.column_of[r] != none) {
                REQUIRE(found.row_of[found.column_of[r]] == r);
                ++pairs;
            }
            if (!found.is_row_reached(r)) ++proof;
        }
        for (std::size_t c = 0; c != columns; ++c) {
            if (found.row_of[c] != none) REQUIRE(found.column_of[found.row_of[c]] == c);
            if (found.column_reached[c]) ++proof;
        }
        std::vector<graph::vertex_descriptor> mate(rows.size() + columns);
        boost::matching<graph, graph::vertex_descriptor*, index, boost::edmonds_augmenting_path_finder,
                        boost::greedy_matching, boost::no_matching_verifier>(g, mate.data(),
                                                                             get(boost::vertex_index, g));
        CHECK(pairs == boost::matching_size(g, mate.data()));
        CHECK(found.pairs == pairs);
        CHECK(proof == pairs);
    }
}

// --- reuse ranges ------------------------------------------------------------------------------------------

TEST_CASE("the reuse ranges hold exactly the buffers that may reuse, and ascend")
{
    std::size_t several = 0, taken = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        drawn_sharing const d = draw_sharing(seed, 14);
        auto members = d.wanted;
        sort_by(members, [&](buffer_id a, buffer_id b) {
            return reuse_ranges::begin_key(d.lives, a) < reuse_ranges::begin_key(d.lives, b);
        });
        reuse_ranges const reuse(d.lives, d.conflicts, members);
        REQUIRE(reuse.size() == members.size());
        for (std::size_t i = 0; i != reuse.size(); ++i) {
            REQUIRE(reuse[i] == members[i]);
            if (d.lives.begins[reuse[i]].size() > 1) ++several;
            std::vector<bool> takes(reuse.size());
            std::uint32_t last = 0;
            bool is_first = true;
            reuse.for_each_range(i, [&](live_range r) {
                REQUIRE(!is_empty(r));
                REQUIRE((is_first || last <= r.first));
                is_first = false;
                last = r.last;
                REQUIRE(last <= reuse.size());
                for (std::uint32_t k = r.first; k != r.last; ++k) takes[k] = true;
            });
            for (std::size_t k = 0; k != reuse.size(); ++k) {
                REQUIRE(takes[k] == d.reusable_by(reuse[i], reuse[k]));
                taken += takes[k];
            }
        }
    }
    CHECK(several > rounds(100));
    CHECK(taken > rounds(1000));
}

} // namespace this_test
