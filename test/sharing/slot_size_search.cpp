// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/slot_size_search.hpp>

#include "../interference_graphs.hpp"
#include "../random_source.hpp"
#include "../sized_interferences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

using bytes = std::vector<byte_count>;

namespace {

bit_rows rows_of(interferences const& all)
{
    bit_rows rows(all.size(), all.size());
    for (std::size_t v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v)) rows.set(v, w);
    return rows;
}

byte_count total(std::vector<slot_id> const& slot_of, bytes const& sizes)
{
    bytes largest(sizes.size(), 0);
    byte_count sum = 0;
    for (std::size_t v = 0; v != sizes.size(); ++v)
        largest[slot_of[v]] = std::max(largest[slot_of[v]], sizes[v]);
    for (byte_count slot : largest) sum += slot;
    return sum;
}

} // namespace

TEST_CASE("the example of the header needs 80 bytes")
{
    interferences all(5);
    for (std::size_t v = 0; v != 5; ++v)
        for (std::size_t w = 0; w != v; ++w)
            if (v != 3 || w != 1) all.add(v, w);
    auto const found = search_slot_sizes(rows_of(all), {40, 16, 16, 16, 8}, 100);
    CHECK(found.bytes == 80);
    CHECK(found.lower_bound == 80);
    CHECK(found.slot_of == std::vector<slot_id>{0, 1, 2, 1, 3});
    CHECK(search_slot_sizes(bit_rows(), {}, 100).bytes == 0);
}

TEST_CASE("any graph gets the fewest bytes, as by exhaustive search")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, 1 + pick.below(8), pick.below(101));
        bytes sizes;
        auto const kinds = 1 + pick.below(9);
        for (std::size_t v = 0; v != all.size(); ++v) sizes.push_back(1 + pick.below(kinds));
        std::sort(sizes.rbegin(), sizes.rend());
        auto const found = search_slot_sizes(rows_of(all), sizes, 1'000'000);
        CHECK(all.allows(found.slot_of));
        CHECK(found.bytes == total(found.slot_of, sizes));
        CHECK(found.bytes == optimal_slots(all, sizes).bytes);
        CHECK(found.lower_bound == found.bytes);
    }
}

// --- dominated vertices ------------------------------------------------------------------------------------

using ids = std::vector<value_id>;
using lists = std::vector<ids>;

namespace {

reduced_graph reduced(interferences const& all)
{
    reduced_graph result(all.size());
    for (value_id v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v))
            if (w < v) result.connect(v, w);
    return result;
}

lists parts_of(reduced_graph const& values)
{
    csr_rows const rows = values.co_components();
    lists result;
    for (std::uint32_t p = 0; p != rows.rows(); ++p) result.push_back({rows[p].begin(), rows[p].end()});
    return result;
}

} // namespace

TEST_CASE("the example of the header: b is merged into a, and c remains")
{
    interferences all(3, {{0, 1}, {1, 2}}); // a, c, b by falling size
    auto values = reduced(all);
    values.merge_dominated();
    CHECK(parts_of(values) == lists{{0}, {1}});
    table<value_id, slot_id> slot_of{0, 1, no_slot};
    values.assign_merged(slot_of);
    CHECK(slot_of == std::vector<slot_id>{0, 1, 0});
}

TEST_CASE("merging repeats: values without interference are all merged into the first")
{
    for (std::size_t n : {0u, 1u, 2u, 64u, 65u}) {
        reduced_graph values(n);
        values.merge_dominated();
        CHECK(parts_of(values) == (n == 0 ? lists{} : lists{{0}}));
        table<value_id, slot_id> slot_of(n, no_slot);
        if (n != 0) slot_of[0] = 7;
        values.assign_merged(slot_of);
        CHECK(slot_of == std::vector<slot_id>(n, 7));
    }
}

TEST_CASE("a merged value no longer prevents other merges, whatever its number")
{
    interferences all(
        4, {{0, 1}, {0, 2}, {2, 3}}); // 0 - 1, 0 - 2 - 3: after 3 is merged into 0, 2 is dominated by 1
    auto values = reduced(all);
    values.merge_dominated();
    CHECK(parts_of(values) == lists{{0}, {1}});
    interferences other(4, {{0, 1}, {0, 3}, {2, 3}}); // the same with 2 and 3 exchanged
    values = reduced(other);
    values.merge_dominated();
    CHECK(parts_of(values) == lists{{0}, {1}});
}

TEST_CASE("in a path of four no vertex is dominated by a larger one")
{
    interferences path(4, {{0, 2}, {2, 3}, {3, 1}}); // 0 - 2 - 3 - 1
    auto values = reduced(path);
    values.merge_dominated();
    CHECK(parts_of(values) == lists{{0, 1, 2, 3}});
}

TEST_CASE("a merge gives the target the union of the neighbours")
{
    interferences all(4, {{1, 2}});
    auto values = reduced(all);
    values.merge(2, 0);
    CHECK(values.interferes().test(0, 1));
    CHECK(values.interferes().test(1, 0));
    values.merge_dominated();
    CHECK(parts_of(values) == lists{{0}, {1}}); // 3 is merged into 0 or 1
}

TEST_CASE("co-components interfere completely with each other and cannot be split")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(80), 60 + pick.below(41));
        lists const co_components = parts_of(reduced(all));
        std::vector<std::size_t> part_of(all.size(), ~std::size_t{0});
        for (std::size_t p = 0; p != co_components.size(); ++p) {
            CHECK(std::is_sorted(co_components[p].begin(), co_components[p].end()));
            for (value_id v : co_components[p]) {
                CHECK(part_of[v] == ~std::size_t{0});
                part_of[v] = p;
            }
        }
        for (value_id v = 0; v != all.size(); ++v) {
            REQUIRE(part_of[v] < co_components.size());
            for (value_id w = 0; w != v; ++w)
                if (part_of[v] != part_of[w]) CHECK(all(v, w));
        }
        for (ids const& part : co_components) { // reach all members from the first, in the complement
            ids reached{part[0]};
            for (std::size_t i = 0; i != reached.size(); ++i)
                for (value_id w : part)
                    if (w != reached[i] && !all(reached[i], w) &&
                        std::find(reached.begin(), reached.end(), w) == reached.end())
                        reached.push_back(w);
            CHECK(reached.size() == part.size());
        }
    }
}

TEST_CASE("merging dominated values costs nothing: the optimum of the rest is the optimum")
{
    std::size_t merged_count = 0;
    for (unsigned seed = 0; seed != rounds(400); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const all = any_interferences(pick, pick.below(9), pick.below(101));
        std::vector<byte_count> sizes;
        for (std::size_t v = 0; v != all.size(); ++v) sizes.push_back(1 + pick.below(5));
        std::sort(sizes.rbegin(), sizes.rend());
        auto values = reduced(all);
        values.merge_dominated();
        std::vector<byte_count> left(all.size(), 0);
        for (ids const& part : parts_of(values))
            for (value_id v : part) left[v] = sizes[v];
        merged_count += static_cast<std::size_t>(std::count(left.begin(), left.end(), 0));
        CHECK(optimal_slots(all, left).bytes == optimal_slots(all, sizes).bytes);

        table<value_id, slot_id> slot_of(all.size(), no_slot);
        slot_id next = 0;
        for (value_id v = 0; v != all.size(); ++v)
            if (left[v] != 0) slot_of[v] = next++; // a slot for each remaining value
        values.assign_merged(slot_of);
        CHECK(all.allows(slot_of));
        for (value_id v = 0; v != all.size(); ++v) CHECK(slot_of[v] < next);
    }
    CHECK(merged_count > rounds(400));
}

// --- prefix cliques ----------------------------------------------------------------------------------------

namespace {

/// The largest clique among the first `count`, with `chosen` in it, of those from `next` on.
std::size_t largest(interferences const& all, std::size_t count, ids& chosen, value_id next)
{
    std::size_t best = chosen.size();
    for (; next < count; ++next) {
        chosen.push_back(next);
        if (all.is_clique(chosen)) best = std::max(best, largest(all, count, chosen, next + 1));
        chosen.pop_back();
    }
    return best;
}

} // namespace

TEST_CASE("the example of the header: cliques of one, two and three vertices")
{
    interferences all(5, {{1, 2}, {1, 4}, {2, 4}});
    auto const found = find_prefix_cliques(rows_of(all), 5, 100);
    CHECK(found.size == std::vector<std::uint32_t>{1, 1, 2, 2, 3});
    REQUIRE(found.cliques.rows() == 3);
    CHECK(ids(found.cliques[2].begin(), found.cliques[2].end()) == ids{2, 1, 4});
    CHECK(found.is_exact);
    CHECK(find_prefix_cliques(bit_rows(), 0, 1).cliques.rows() == 0);
}

TEST_CASE("in any graph, every prefix has its largest clique, completed by its last member")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        auto const values = pick.below(14);
        auto const all = any_interferences(pick, values, pick.below(101));
        auto const found = find_prefix_cliques(rows_of(all), values, 1000);
        CHECK(found.is_exact);
        REQUIRE(found.size.size() == values);
        for (std::size_t v = 0; v != values; ++v) {
            ids chosen;
            CHECK(found.size[v] == largest(all, v + 1, chosen, 0));
        }
        for (std::uint32_t i = 0; i != found.cliques.rows(); ++i) {
            auto const row = found.cliques[i];
            CHECK(row.size() == i + 1);
            CHECK(all.is_clique(ids(row.begin(), row.end())));
            CHECK(std::max_element(row.begin(), row.end()) == row.end() - 1);
            CHECK(found.size[row.back()] == i + 1);
            if (row.back() != 0) CHECK(found.size[row.back() - 1] == i);
        }
    }
}

TEST_CASE("rows of several words and a clique as large as the graph")
{
    for (std::size_t values : {63u, 64u, 65u, 130u}) {
        interferences all(values);
        for (std::size_t v = 0; v != values; ++v)
            for (std::size_t w = 0; w != v; ++w)
                if (v != w + 1 || w % 2 == 1) all.add(v, w); // all but {0, 1}, {2, 3} ...
        auto const found = find_prefix_cliques(rows_of(all), values, 1000);
        CHECK(found.cliques.rows() == (values + 1) / 2);
        CHECK(found.is_exact);
        CHECK(found.nodes < 10 * values * values);
    }
}

TEST_CASE("with a low node limit the results are smaller cliques, marked as inexact")
{
    random_source pick{std::mt19937{1}};
    auto const all = any_interferences(pick, 100, 70);
    auto const in_full = find_prefix_cliques(rows_of(all), 100, 1'000'000);
    auto const budgeted = find_prefix_cliques(rows_of(all), 100, 8);
    CHECK(in_full.is_exact);
    CHECK_FALSE(budgeted.is_exact);
    CHECK(budgeted.nodes <= 800);
    CHECK(budgeted.cliques.rows() <= in_full.cliques.rows());
    CHECK(budgeted.cliques.rows() >= 5);
    for (std::uint32_t i = 0; i != budgeted.cliques.rows(); ++i)
        CHECK(all.is_clique(ids(budgeted.cliques[i].begin(), budgeted.cliques[i].end())));
}

// --- bounded list coloring ---------------------------------------------------------------------------------

using numbers = std::vector<std::uint32_t>;

namespace {

/// Whether v and the values after it, of the first `count`, can be coloured.
bool is_possible(interferences const& all, numbers const& allowed, std::size_t count, numbers& slot_of)
{
    std::size_t const v = slot_of.size();
    if (v == count) return true;
    for (std::uint32_t s = 0; s != allowed[v]; ++s) {
        bool is_free = true;
        for (std::size_t u = 0; u != v; ++u) is_free = is_free && !(all(u, v) && slot_of[u] == s);
        if (!is_free) continue;
        slot_of.push_back(s);
        if (is_possible(all, allowed, count, slot_of)) return true;
        slot_of.pop_back();
    }
    return false;
}

} // namespace

TEST_CASE("a small value needs a slot beside those of the large values")
{
    interferences path(4, {{0, 2}, {2, 3}, {3, 1}}); // 40 - 8 - 8 - 40, numbered by falling size
    bit_rows const rows = rows_of(path);
    bounded_list_coloring coloring(rows, {2, 4});
    CHECK(coloring.color(1, {1, 2}, 100) == coloring_answer::impossible);
    CHECK(coloring.color(1, {1, 3}, 100) == coloring_answer::colored);
    CHECK(path.allows(coloring.slot_of));
    CHECK(coloring.color(1, {2, 2}, 100) == coloring_answer::colored);
    CHECK(path.allows(coloring.slot_of));
    CHECK(coloring.color(0, {1, 1}, 100) == coloring_answer::colored); // the largest alone
    CHECK(coloring.slot_of == std::vector<slot_id>{0, 0, no_slot, no_slot});
}

TEST_CASE("the answer is that of exhaustive search, whatever problems came before")
{
    unsigned possible = 0, impossible = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const values = 1 + pick.below(11);
        auto const all = any_interferences(pick, values, pick.below(101));
        numbers ends;
        for (std::uint32_t end = 0; end != values;) {
            end = std::min(values, end + 2 + pick.below(3)); // no class of a single value: see below
            ends.push_back(end);
        }
        if (ends.back() - (ends.size() == 1 ? 0 : ends[ends.size() - 2]) == 1) continue;
        bit_rows const rows = rows_of(all);
        bounded_list_coloring coloring(rows, ends);
        for (int question = 0; question != 40; ++question) {
            numbers slots;
            for (std::size_t i = 0; i != ends.size(); ++i)
                slots.push_back((i == 0 ? 1 : slots.back()) + pick.below(2));
            std::size_t const last = pick.below(static_cast<std::uint32_t>(ends.size()));
            numbers allowed, slot_of;
            for (std::size_t i = 0; i <= last; ++i) allowed.resize(ends[i], slots[i]);
            bool const expected = is_possible(all, allowed, ends[last], slot_of);
            auto const answer = coloring.color(last, slots, 1'000'000);
            CHECK(answer == (expected ? coloring_answer::colored : coloring_answer::impossible));
            (expected ? possible : impossible) += 1;
            if (!expected) continue;
            CHECK(all.allows(coloring.slot_of));
            for (std::size_t v = 0; v != values; ++v)
                CHECK((v < ends[last] ? coloring.slot_of[v] < allowed[v] : coloring.slot_of[v] == no_slot));
        }
    }
    CHECK(possible > rounds(5500));
    CHECK(impossible > rounds(3000));
}

TEST_CASE("a solution that exists is found with enough nodes")
{
    unsigned found = 0;
    std::uint64_t nodes = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937{seed}};
        std::uint32_t const size_classes = 1 + pick.below(4), percent = 10 + pick.below(25);
        numbers ends, slots, planted;
        for (std::uint32_t i = 0; i != size_classes; ++i) {
            ends.push_back((i == 0 ? 0 : ends.back()) + 10 + pick.below(20));
            slots.push_back((i == 0 ? 2 : slots.back()) + pick.below(2));
            while (planted.size() != ends[i]) planted.push_back(pick.below(slots[i]));
        }
        interferences all(planted.size());
        for (std::size_t v = 0; v != planted.size(); ++v)
            for (std::size_t w = 0; w != v; ++w)
                if (planted[v] != planted[w] && pick.below(100) < percent) all.add(v, w);
        bit_rows const rows = rows_of(all);
        bounded_list_coloring coloring(rows, ends);
        auto const answer = coloring.color(size_classes - 1, slots, 20'000);
        nodes += coloring.nodes;
        CHECK(answer != coloring_answer::impossible);
        if (answer != coloring_answer::colored) continue;
        ++found;
        CHECK(all.allows(coloring.slot_of));
    }
    CHECK(found > rounds(290));
    CHECK(nodes < 30'000);
}

TEST_CASE("a slot that a class of one value adds belongs to that value")
{
    interferences const apart(3);
    bit_rows const rows = rows_of(apart);
    bounded_list_coloring coloring(rows, {1, 2, 3});
    CHECK(coloring.color(2, {1, 2, 2}, 100) == coloring_answer::colored);
    CHECK(coloring.slot_of[0] == 0);
    CHECK(coloring.slot_of[1] == 1); // although slot 0 is free
}

TEST_CASE("one slot too few for a clique is refuted without trying each order")
{
    std::size_t const values = 40;
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v)
        for (std::size_t w = 0; w != v; ++w) all.add(v, w);
    bit_rows const rows = rows_of(all);
    bounded_list_coloring coloring(rows, {values});
    CHECK(coloring.color(0, {values - 1}, 1000) == coloring_answer::impossible);
    CHECK(coloring.nodes <= values);
    CHECK(coloring.color(0, {values}, 1000) == coloring_answer::colored);
    CHECK(coloring.color(0, {values - 1}, 3) == coloring_answer::undecided);
}

} // namespace this_test
