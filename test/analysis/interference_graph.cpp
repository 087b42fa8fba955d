// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/interference.hpp>

#include "dice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

using ids = std::vector<value_id>;
using pairs = std::set<std::pair<value_id, value_id>>;

namespace {

struct meeting {
    ids arriving, present;
};

struct meetings {
    std::vector<meeting> all;
    template <class Meet>
    void operator()(Meet meet) const
    {
        for (meeting const& m : all)
            meet({m.arriving.data(), m.arriving.size()}, {m.present.data(), m.present.size()});
    }
    pairs met() const
    {
        pairs result;
        for (meeting const& m : all)
            for (value_id u : m.arriving)
                for (ids const* others : {&m.arriving, &m.present})
                    for (value_id v : *others)
                        if (u != v) result.insert(std::minmax(u, v));
        return result;
    }
};

/// Values that come and go; one in `again` comes back, none if that is 0.
meetings draw_meetings(dice& pick, std::uint32_t values, std::uint32_t crowd, std::uint32_t again)
{
    meetings result;
    ids present, gone;
    for (value_id next = 0; next < values;) {
        meeting m;
        for (std::uint32_t k = 1 + pick.below(2); k != 0 && next < values; --k) m.arriving.push_back(next++);
        if (again != 0 && !gone.empty() && pick.below(again) == 0) {
            std::swap(gone[pick.below(static_cast<std::uint32_t>(gone.size()))], gone.back());
            m.arriving.push_back(gone.back());
            gone.pop_back();
        }
        m.present = present;
        present.insert(present.end(), m.arriving.begin(), m.arriving.end());
        while (present.size() > crowd) {
            std::swap(present[pick.below(static_cast<std::uint32_t>(present.size()))], present.back());
            gone.push_back(present.back());
            present.pop_back();
        }
        result.all.push_back(m);
    }
    return result;
}

template <class Result>
pairs listed(Result const& result)
{
    pairs all;
    bool is_ascending = true, is_asked_alike = true;
    for (value_id u = 0; u != result.values(); ++u) {
        value_id least = 0;
        for (value_id v : result.neighbors(u)) {
            is_ascending = is_ascending && v >= least;
            least = v + 1;
            is_asked_alike = is_asked_alike && result.are_adjacent(u, v) && result.are_adjacent(v, u);
            all.insert(std::minmax(u, v));
        }
    }
    CHECK(is_ascending);
    CHECK(is_asked_alike);
    return all;
}

} // namespace

TEST_CASE("a graph answers for neighbours, degrees and pairs")
{
    interference_graph const g(as_graph(3, [](auto v) { return v == 1 ? ids{0, 2} : ids{1}; }));
    CHECK(g.fits());
    CHECK(g.values() == 3);
    CHECK(g.edges() == 2);
    CHECK(g.bytes() == 32);
    CHECK(g.degree(1) == 2);
    CHECK(g.are_adjacent(0, 1));
    CHECK_FALSE(g.are_adjacent(0, 2));
    CHECK_FALSE(g.are_adjacent(1, 1));
    CHECK(listed(g) == pairs{{0, 1}, {1, 2}});
}

TEST_CASE("a matrix answers for neighbours, degrees and pairs, in the first word of a row and the last")
{
    interference_matrix m(130, 1 << 20);
    CHECK(m.bytes() == 130 * 3 * 8);
    pairs const expected{{0, 63}, {0, 64}, {5, 129}, {127, 128}, {64, 129}};
    for (auto [u, v] : expected) m.connect(u, v);
    CHECK(listed(m) == expected);
    CHECK(m.degree(0) == 2);
    CHECK(m.degree(129) == 2);
    CHECK(m.degree(1) == 0);
    CHECK_FALSE(m.are_adjacent(0, 129));
}

TEST_CASE("bytes are counted up to 64 bits, and no graph has more edges than its rows can count")
{
    CHECK(interference_graph::bytes_of(0, 0) == 4);
    CHECK(interference_graph::bytes_of(9, 5) == 80);
    CHECK(interference_graph::bytes_of(no_value, std::uint64_t{1} << 62) == no_size);
    CHECK(interference_graph::would_fit(9, 5, 80));
    CHECK_FALSE(interference_graph::would_fit(9, 5, 79));
    std::uint64_t const most = (std::uint64_t{1} << 31) - 1; // twice that is 2^32 - 2
    CHECK(interference_graph::would_fit(9, most, no_size));
    CHECK_FALSE(interference_graph::would_fit(9, most + 1, no_size));
}

TEST_CASE("a matrix of more values than there are ids is refused, whatever its bytes would wrap round to")
{
    std::size_t const values = std::size_t{1} << 40;
    CHECK_THROWS_AS(interference_matrix(values, no_limit), precondition_error);
    CHECK_FALSE(interference_matrix(no_value - 1, 1 << 20).fits());
}

TEST_CASE("random meetings: each pair is found once, however often it meets, and counted if there is no room")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        std::uint32_t const crowd = 1 + pick.below(seed % 2 == 0 ? 4 : 40); // sparse, or dense
        meetings const walk = draw_meetings(pick, pick.below(seed % 4 == 0 ? 900 : 90), crowd, seed % 3);
        std::size_t values = 0;
        for (meeting const& m : walk.all)
            for (value_id v : m.arriving) values = std::max<std::size_t>(values, v + 1);
        pairs const expected = walk.met();
        byte_count const bytes = interference_graph::bytes_of(values, expected.size());

        CHECK(listed(detail::matrix_of_meetings(values, 1 << 20, walk)) == expected);
        interference_graph const graph = detail::graph_of_meetings(values, 1 << 20, walk);
        CHECK(graph.edges() == expected.size());
        CHECK(graph.bytes() == bytes);
        CHECK(listed(graph) == expected);
        CHECK(detail::graph_of_meetings(values, bytes, walk) == graph);
        for (byte_count budget : {byte_count{0}, bytes / 2, bytes - 1}) {
            interference_graph const refused = detail::graph_of_meetings(values, budget, walk);
            CHECK_FALSE(refused.fits());
            CHECK(refused.edges() == expected.size());
        }
    }
}

} // namespace this_test
