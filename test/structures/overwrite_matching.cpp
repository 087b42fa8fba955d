// SPDX-License-Identifier: BSL-1.0
#include <sublet/core/internal/overwrite_pair.hpp>
#include <sublet/structures/internal/overwrite_matching.hpp>

#include "../random_source.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using chosen = std::vector<std::uint32_t>;
using many = std::vector<overwrite_pair>;

/// The most bytes that any choice saves, by enumeration: each result over any free operand, or over none.
byte_count most_saved(many const& pairs, std::vector<buffer_id> const& results, std::size_t at,
                      std::set<buffer_id>& used)
{
    if (at == results.size()) return 0;
    byte_count best = most_saved(pairs, results, at + 1, used);
    for (overwrite_pair const& p : pairs)
        if (p.out == results[at] && used.insert(p.in).second) {
            best = std::max(best, p.saved + most_saved(pairs, results, at + 1, used));
            used.erase(p.in);
        }
    return best;
}

} // namespace

TEST_CASE("a small result leaves the only operand of a large one")
{
    CHECK(match_overwrites(many{{0, 10, 32}, {1, 10, 32}, {0, 11, 64}}) == chosen{1, 2});
}

TEST_CASE("augmenting paths move several results to other operands")
{
    many const chain{{0, 10, 30}, {1, 10, 30}, {1, 11, 20}, {2, 11, 20}, {0, 12, 10}};
    CHECK(match_overwrites(chain) == chosen{1, 3, 4});
}

TEST_CASE("of results of equal size the first named is matched, to the first operand")
{
    CHECK(match_overwrites(many{{0, 10, 8}, {0, 11, 8}}) == chosen{0});
    CHECK(match_overwrites(many{{4, 10, 8}, {3, 10, 8}}) == chosen{0});
    CHECK(match_overwrites(many{{0, 10, 8}, {0, 11, 9}}) == chosen{1});
}

TEST_CASE("no pair, one pair, and a pair listed twice")
{
    CHECK(match_overwrites(many{}).empty());
    CHECK(match_overwrites(many{{5, 6, 1}}) == chosen{0});
    CHECK(match_overwrites(many{{5, 6, 1}, {5, 6, 1}}) == chosen{0});
}

TEST_CASE("many results for the same few operands are handled in little time")
{
    many pairs;
    for (buffer_id out = 0; out != 40'000; ++out)
        for (buffer_id in = 0; in != 3; ++in) pairs.push_back({in, 10 + out, 8});
    CHECK(match_overwrites(pairs) == chosen{0, 4, 8});
}

TEST_CASE("results without an operand do not search the same operands again after another result found one")
{
    buffer_id const rings = 30'000; // each of the results 0, 1 ... may take its own operand or the next
    many pairs;
    chosen first;
    for (buffer_id out = 0; out != rings; ++out) {
        first.push_back(static_cast<std::uint32_t>(pairs.size()));
        pairs.push_back({out, out, 3 * rings});
        pairs.push_back({(out + 1) % rings, out, 3 * rings});
    }
    for (buffer_id i = 0; i != rings; ++i) { // by size in turn: one of those, and one of its own
        pairs.push_back({i, rings + 2 * i, 3 * rings - 2 * i - 1});
        first.push_back(static_cast<std::uint32_t>(pairs.size()));
        pairs.push_back({rings + i, rings + 2 * i + 1, 3 * rings - 2 * i - 2});
    }
    CHECK(match_overwrites(pairs) == first);
}

TEST_CASE("no choice of pairs saves more, and no result or operand is in two")
{
    std::size_t moved = 0;
    for (unsigned seed = 0; seed != rounds(5000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const ins = 1 + pick.below(6), outs = 1 + pick.below(6);
        many pairs;
        std::vector<byte_count> size(outs);
        for (byte_count& s : size) s = 1 + pick.below(pick.below(2) == 0 ? 3 : 100);
        for (std::uint32_t k = pick.below(14); k != 0; --k) {
            std::uint32_t const out = pick.below(outs);
            pairs.push_back({pick.below(ins), 20 - out, size[out]});
        }
        chosen const found = match_overwrites(pairs);
        REQUIRE(std::is_sorted(found.begin(), found.end()));
        std::set<buffer_id> used, served, wanted;
        byte_count saved = 0, greedy = 0;
        for (std::uint32_t i : found) {
            CHECK(used.insert(pairs[i].in).second);
            CHECK(served.insert(pairs[i].out).second);
            saved += pairs[i].saved;
        }
        for (overwrite_pair const& p : pairs) wanted.insert(p.out);
        std::vector<buffer_id> const results(wanted.begin(), wanted.end());
        used.clear();
        CHECK(saved == most_saved(pairs, results, 0, used));
        served.clear();
        for (overwrite_pair const& p : pairs) // first come, first served
            if (used.count(p.in) == 0 && served.count(p.out) == 0)
                used.insert(p.in), served.insert(p.out), greedy += p.saved;
        moved += greedy < saved;
    }
    CHECK(moved > rounds(5000) / 20);
}

} // namespace this_test
