// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/coloring.hpp>

#include "../interference_graphs.hpp"
#include "../random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using ids = std::vector<value_id>;
using bytes = std::vector<byte_count>;

namespace {

// By exhaustive search: the size of the largest clique, and the bound by all cliques, slot by slot.
struct all_cliques {
    std::size_t largest = 0;
    byte_count shown = 0;

    all_cliques(interferences const& all, bytes const& sizes)
    {
        bytes at_least(all.size(), 0);
        for (unsigned set = 1; set != 1u << all.size(); ++set) {
            ids members;
            bytes own;
            for (value_id v = 0; v != all.size(); ++v) {
                if ((set >> v & 1) == 0) continue;
                members.push_back(v);
                own.push_back(sizes[v]);
            }
            if (!all.is_clique(members)) continue;
            largest = std::max(largest, members.size());
            std::sort(own.rbegin(), own.rend());
            for (std::size_t i = 0; i != own.size(); ++i) at_least[i] = std::max(at_least[i], own[i]);
        }
        for (byte_count b : at_least) shown += b;
    }
};

} // namespace

TEST_CASE("several cliques together give a higher bound than each alone")
{
    interferences all(5, {{0, 1}, {1, 2}, {0, 2}, {3, 4}});
    auto const bound = find_cliques(all.graph(), {40, 8, 8, 16, 16});
    CHECK(bound.clique == ids{0, 1, 2});
    CHECK(bound.bytes == 40 + 16 + 8);
    CHECK(optimal_slots(all, {40, 8, 8, 16, 16}).bytes == 40 + 16 + 8);
}

TEST_CASE("the bound of an empty graph is 0, of one value its size, and 0 bytes need no slot")
{
    CHECK(find_cliques(csr_graph{}, {}).clique.empty());
    CHECK(find_cliques(interferences(2).graph(), {0, 0}).clique.empty());
    CHECK(find_cliques(interferences(2).graph(), {0, 0}).bytes == 0);
    CHECK(find_cliques(interferences(2).graph(), {0, 7}).clique == ids{1});
    CHECK(find_cliques(interferences(2).graph(), {9, 7}).bytes == 9);
}

TEST_CASE("a bound over 64 bits is rejected")
{
    interferences pair(2, {{0, 1}});
    CHECK_THROWS_WITH_AS((void)find_cliques(pair.graph(), {no_size - 1, 1}),
                         "sublet: the sum of the sizes 18446744073709551614 and 1 exceeds 64 bits",
                         precondition_error);
}

TEST_CASE("the result is a clique, and no plan has fewer slots or bytes than the bound")
{
    for (unsigned seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, 1 + pick.below(8), pick.below(101));
        bytes sizes(all.size());
        for (auto& s : sizes) s = 1 + pick.below(9);
        auto const bound = find_cliques(all.graph(), sizes);
        CHECK(std::is_sorted(bound.clique.begin(), bound.clique.end()));
        CHECK(all.is_clique(bound.clique));
        optimal_slots const best(all, sizes);
        CHECK(bound.clique.size() <= best.slots);
        CHECK(bound.bytes <= best.bytes);
        CHECK(bound.bytes <= all_cliques(all, sizes).shown);
        byte_count of_clique = 0;
        for (value_id v : bound.clique) of_clique += sizes[v];
        CHECK(bound.bytes >= of_clique);
    }
}

TEST_CASE("in a chordal graph the clique is maximum and the bound is that of all cliques")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = chordal_interferences(pick, 1 + pick.below(11));
        bytes sizes(all.size());
        for (auto& s : sizes) s = 1 + pick.below(9);
        auto const bound = find_cliques(all.graph(), sizes);
        all_cliques const truth(all, sizes);
        CHECK(bound.clique.size() == truth.largest);
        CHECK(bound.bytes == truth.shown);
    }
}

// --- coloring orders ---------------------------------------------------------------------------------------

namespace {

// Number of neighbours of v among the first `before` of the order.
std::size_t neighbors_among(interferences const& all, ids const& order, std::size_t before, value_id v)
{
    std::size_t count = 0;
    for (std::size_t i = 0; i != before; ++i) count += all(order[i], v);
    return count;
}

// The maximum over induced subgraphs of the minimum degree.
std::size_t degeneracy_by_parts(interferences const& all)
{
    std::size_t result = 0;
    for (unsigned part = 1; part != 1u << all.size(); ++part) {
        std::size_t smallest = all.size();
        for (std::size_t v = 0; v != all.size(); ++v) {
            if ((part >> v & 1) == 0) continue;
            std::size_t degree = 0;
            for (std::size_t w = 0; w != all.size(); ++w) degree += (part >> w & 1) != 0 && all(v, w);
            smallest = std::min(smallest, degree);
        }
        result = std::max(result, smallest);
    }
    return result;
}

} // namespace

TEST_CASE("the vertex of lowest degree comes last, then the one of lowest degree without it")
{
    // A triangle 0, 1, 2, and 3 adjacent to 2. Without 3 all have degree 2, and 2 was decreased last.
    interferences all(4, {{0, 1}, {1, 2}, {2, 3}, {0, 2}});
    auto const last = smallest_last(all.graph());
    CHECK(last.order == ids{0, 1, 2, 3});
    CHECK(last.degeneracy == 2);
    CHECK(largest_cardinality_first(all.graph()) == ids{0, 2, 1, 3});
}

TEST_CASE("an empty graph has an empty order, and without edges the ids decide")
{
    CHECK(smallest_last(csr_graph{}).order.empty());
    CHECK(largest_cardinality_first(csr_graph{}).empty());
    csr_graph const apart = interferences(3).graph();
    CHECK(smallest_last(apart).order == ids{2, 1, 0});
    CHECK(smallest_last(apart).degeneracy == 0);
    CHECK(largest_cardinality_first(apart) == ids{0, 1, 2});
}

TEST_CASE("both orders are as defined, and no order has a lower degeneracy")
{
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const values = pick.below(10);
        auto const all = any_interferences(pick, values, pick.below(101));
        ids every;
        for (value_id v = 0; v != values; ++v) every.push_back(v);

        auto const last = smallest_last(all.graph());
        REQUIRE(std::is_permutation(last.order.begin(), last.order.end(), every.begin(), every.end()));
        std::size_t most = 0;
        for (std::size_t i = values; i-- != 0;) {
            std::size_t const own = neighbors_among(all, last.order, i, last.order[i]);
            for (std::size_t j = 0; j != i; ++j)
                CHECK(own <= neighbors_among(all, last.order, i + 1, last.order[j]));
            most = std::max(most, own);
        }
        CHECK(last.degeneracy == most);
        CHECK(last.degeneracy == degeneracy_by_parts(all));

        ids const first = largest_cardinality_first(all.graph());
        REQUIRE(std::is_permutation(first.begin(), first.end(), every.begin(), every.end()));
        for (std::size_t i = 0; i != values; ++i)
            for (std::size_t j = i + 1; j < values; ++j)
                CHECK(neighbors_among(all, first, i, first[i]) >= neighbors_among(all, first, i, first[j]));
    }
}

TEST_CASE("in a chordal graph the neighbours before a vertex form a clique")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = chordal_interferences(pick, pick.below(30));
        ids const order = largest_cardinality_first(all.graph());
        for (std::size_t i = 0; i != order.size(); ++i) {
            ids before;
            for (std::size_t j = 0; j != i; ++j)
                if (all(order[i], order[j])) before.push_back(order[j]);
            CHECK(all.is_clique(before));
        }
    }
}

TEST_CASE("a path of a million vertices needs no recursion")
{
    std::uint32_t const length = 1'000'000;
    auto const path = as_graph(length, [](auto v) {
        std::vector<node_id> next;
        if (v != 0) next.push_back(v - 1);
        if (v + 1 != length) next.push_back(v + 1);
        return next;
    });
    CHECK(smallest_last(path).degeneracy == 1);
    CHECK(largest_cardinality_first(path).back() == length - 1);
}

// --- dsatur ------------------------------------------------------------------------------------------------

using slots = std::vector<slot_id>;

namespace {

ids every(std::size_t values)
{
    ids all;
    for (value_id v = 0; v != values; ++v) all.push_back(v);
    return all;
}

slots colored(interferences const& all)
{
    return color_by_saturation(all.graph(), every(all.size()), slots(all.size(), no_slot));
}

// The same, by a scan of all vertices for each choice.
slots colored_slowly(interferences const& all, ids const& vertices, slots slot_of)
{
    for (std::size_t round = 0; round != vertices.size(); ++round) {
        std::tuple<std::size_t, std::size_t, value_id> best{0, 0, 0};
        std::set<slot_id> taken_of_best;
        for (value_id v : vertices) {
            if (slot_of[v] != no_slot) continue;
            std::set<slot_id> taken;
            std::size_t waiting = 0;
            for (value_id w : all.neighbors(v)) {
                if (slot_of[w] <= all.neighbors(v).size()) taken.insert(slot_of[w]);
                waiting +=
                    slot_of[w] == no_slot && std::find(vertices.begin(), vertices.end(), w) != vertices.end();
            }
            std::tuple const own{taken.size() + 1, waiting, ~v};
            if (own <= best) continue;
            best = own;
            taken_of_best = taken;
        }
        slot_id lowest = 0;
        while (taken_of_best.count(lowest) != 0) ++lowest;
        slot_of[~std::get<2>(best)] = lowest;
    }
    return slot_of;
}

} // namespace

TEST_CASE("the vertex with the fewest slots left is next, so a path gets two slots for any numbering")
{
    interferences path(
        4, {{0, 2},
            {2, 3},
            {3, 1}}); // 0 - 2 - 3 - 1: in the order of ids, 3 would be last and find two slots taken
    CHECK(colored(path) == slots{1, 0, 0, 1});
}

TEST_CASE("an empty graph has no slots, and isolated vertices have the first")
{
    CHECK(color_by_saturation(csr_graph{}, {}, {}).empty());
    CHECK(colored(interferences(3)) == slots{0, 0, 0});
}

TEST_CASE("vertices with a slot keep it, and vertices that are not listed stay without")
{
    interferences all(3, {{0, 1}, {1, 2}});
    csr_graph const g = all.graph();
    CHECK(color_by_saturation(g, {0, 1}, {no_slot, no_slot, 0}) == slots{0, 1, 0});
    CHECK(color_by_saturation(g, {0, 1}, {no_slot, no_slot, 70}) == slots{0, 1, 70});
    CHECK(color_by_saturation(g, {0, 2}, {no_slot, no_slot, no_slot}) == slots{0, no_slot, 0});
}

TEST_CASE("there can be more slots than a word has bits")
{
    slots each(150);
    std::iota(each.begin(), each.end(), slot_id{0});
    CHECK(colored(all_together(150)) == each);
}

TEST_CASE("a bipartite graph gets two slots")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::size_t const values = 2 + pick.below(40);
        interferences all(values);
        for (auto n = pick.below(120); n != 0; --n) {
            auto const v = pick.below(static_cast<std::uint32_t>(values));
            auto const w = pick.below(static_cast<std::uint32_t>(values));
            if (v % 3 == 0 && w % 3 != 0) all.add(v, w);
        }
        slots const slot_of = colored(all);
        CHECK(all.allows(slot_of));
        for (slot_id s : slot_of) CHECK(s < 2);
    }
}

TEST_CASE("the tournament tree finds the same vertices as a full scan")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(24), pick.below(101));
        ids vertices;
        slots slot_of(all.size(), no_slot);
        for (value_id v = 0; v != all.size(); ++v) {
            auto const fate = pick.below(8);
            if (fate == 0)
                slot_of[v] = pick.below(2) == 0 ? +v : 100 + v; // so that fixed slots never conflict
            else if (fate != 1) vertices.push_back(v);
        }
        slots const fast = color_by_saturation(all.graph(), vertices, slot_of);
        CHECK(fast == colored_slowly(all, vertices, slot_of));
        CHECK(all.allows(fast));
        for (value_id v : vertices) CHECK(fast[v] <= all.neighbors(v).size());
    }
}

// --- slot set ----------------------------------------------------------------------------------------------

using detail::slot_set;

namespace {

slot_set of(std::initializer_list<slot_id> slots)
{
    slot_set result;
    for (slot_id s : slots) result.insert(s);
    return result;
}

} // namespace

TEST_CASE("the lowest free slot is the first gap from the given slot on")
{
    slot_set const taken = of({0, 1, 3});
    CHECK(taken.lowest_free() == 2);
    CHECK(taken.lowest_free(2) == 2);
    CHECK(taken.lowest_free(3) == 4);
    CHECK(taken.lowest_free(1000) == 1000);
    CHECK(taken.contains(3));
    CHECK_FALSE(taken.contains(2));
    CHECK_FALSE(taken.contains(1000));
}

TEST_CASE("the set is empty at first and after clear()")
{
    slot_set taken;
    CHECK(taken.lowest_free() == 0);
    CHECK(taken.lowest_free(70) == 70);
    CHECK_FALSE(taken.contains(0));
    taken = of({0, 100});
    taken.clear();
    CHECK(taken.lowest_free() == 0);
    CHECK_FALSE(taken.contains(100));
}

TEST_CASE("an erased slot is free, and a slot inserted twice is erased once")
{
    slot_set taken = of({0, 1, 1, 2});
    taken.erase(1);
    CHECK(taken.lowest_free() == 1);
    taken.erase(2);
    CHECK(taken.contains(0));
    CHECK_FALSE(taken.contains(1));
}

TEST_CASE("full words are skipped, and the slot after the last word is free")
{
    slot_set taken;
    for (slot_id s = 0; s != 192; ++s) taken.insert(s);
    CHECK(taken.lowest_free() == 192);
    CHECK(taken.lowest_free(63) == 192);
    CHECK(taken.lowest_free(127) == 192);
    CHECK(taken.lowest_free(192) == 192);
    taken.erase(64);
    CHECK(taken.lowest_free() == 64);
    CHECK(taken.lowest_free(65) == 192);
    CHECK(of({1000}).lowest_free(1000) == 1001);
}

TEST_CASE("random insertions and erasures agree with std::set")
{
    random_source pick{std::mt19937{1}};
    slot_set taken;
    std::set<slot_id> expected;
    for (unsigned round = 0; round != rounds(5000); ++round) {
        CAPTURE(round);
        slot_id const s = pick.below(pick.below(3) == 0 ? 300 : 70), from = pick.below(320);
        if (expected.count(s) != 0 && pick.below(3) == 0) taken.erase(s), expected.erase(s);
        else taken.insert(s), expected.insert(s);
        slot_id lowest = from;
        while (expected.count(lowest) != 0) ++lowest;
        REQUIRE(taken.lowest_free(from) == lowest);
        REQUIRE(taken.contains(from) == (expected.count(from) != 0));
    }
}

} // namespace this_test
