// SPDX-License-Identifier: BSL-1.0
#include <sublet/sharing/detail/staircases.hpp>

#include "dice.hpp"
#include "interference_graphs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using numbers = std::vector<std::uint32_t>;

namespace {

bit_rows rows_of(interferences const& all)
{
    bit_rows rows(all.size(), all.size());
    for (std::size_t v = 0; v != all.size(); ++v)
        for (value_id w : all.neighbors(v)) rows.set(v, w);
    return rows;
}

/// Whether v and those after it, of the first `count`, find slots.
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

TEST_CASE("a small value finds no room in the slots that are large enough for the larger ones only")
{
    interferences path(4); // 40 - 8 - 8 - 40, numbered the largest first
    path.add(0, 2);
    path.add(2, 3);
    path.add(3, 1);
    bit_rows const rows = rows_of(path);
    stair_coloring coloring(rows, {2, 4});
    CHECK(coloring.color(1, {1, 2}, 100) == stair_answer::impossible);
    CHECK(coloring.color(1, {1, 3}, 100) == stair_answer::colored);
    CHECK(path.allows(coloring.slot_of));
    CHECK(coloring.color(1, {2, 2}, 100) == stair_answer::colored);
    CHECK(path.allows(coloring.slot_of));
    CHECK(coloring.color(0, {1, 1}, 100) == stair_answer::colored); // the largest alone
    CHECK(coloring.slot_of == std::vector<slot_id>{0, 0, no_slot, no_slot});
}

TEST_CASE("the answer is that of trying everything, whatever was asked before")
{
    unsigned possible = 0, impossible = 0;
    for (unsigned seed = 0; seed != rounds(600); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        std::uint32_t const values = 1 + roll.below(11);
        auto const all = any_interferences(roll, values, roll.below(101));
        numbers ends;
        for (std::uint32_t end = 0; end != values;) {
            end = std::min(values, end + 2 + roll.below(3)); // no stair of a single value: see below
            ends.push_back(end);
        }
        if (ends.back() - (ends.size() == 1 ? 0 : ends[ends.size() - 2]) == 1) continue;
        bit_rows const rows = rows_of(all);
        stair_coloring coloring(rows, ends);
        for (int question = 0; question != 40; ++question) {
            numbers slots;
            for (std::size_t i = 0; i != ends.size(); ++i)
                slots.push_back((i == 0 ? 1 : slots.back()) + roll.below(2));
            std::size_t const last = roll.below(static_cast<std::uint32_t>(ends.size()));
            numbers allowed, slot_of;
            for (std::size_t i = 0; i <= last; ++i) allowed.resize(ends[i], slots[i]);
            bool const expected = is_possible(all, allowed, ends[last], slot_of);
            auto const answer = coloring.color(last, slots, 1'000'000);
            CHECK(answer == (expected ? stair_answer::colored : stair_answer::impossible));
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

TEST_CASE("an answer that is there is never denied, however long it takes to find")
{
    unsigned found = 0;
    std::uint64_t nodes = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice roll{std::mt19937{seed}};
        std::uint32_t const stairs = 1 + roll.below(4), percent = 10 + roll.below(25);
        numbers ends, slots, planted;
        for (std::uint32_t i = 0; i != stairs; ++i) {
            ends.push_back((i == 0 ? 0 : ends.back()) + 10 + roll.below(20));
            slots.push_back((i == 0 ? 2 : slots.back()) + roll.below(2));
            while (planted.size() != ends[i]) planted.push_back(roll.below(slots[i]));
        }
        interferences all(planted.size());
        for (std::size_t v = 0; v != planted.size(); ++v)
            for (std::size_t w = 0; w != v; ++w)
                if (planted[v] != planted[w] && roll.below(100) < percent) all.add(v, w);
        bit_rows const rows = rows_of(all);
        stair_coloring coloring(rows, ends);
        auto const answer = coloring.color(stairs - 1, slots, 20'000);
        nodes += coloring.nodes;
        CHECK(answer != stair_answer::impossible);
        if (answer != stair_answer::colored) continue;
        ++found;
        CHECK(all.allows(coloring.slot_of));
    }
    CHECK(found > rounds(290));
    CHECK(nodes < 30'000);
}

TEST_CASE("a stair of one value that adds a slot keeps it for that value")
{
    interferences const apart(3);
    bit_rows const rows = rows_of(apart);
    stair_coloring coloring(rows, {1, 2, 3});
    CHECK(coloring.color(2, {1, 2, 2}, 100) == stair_answer::colored);
    CHECK(coloring.slot_of[0] == 0);
    CHECK(coloring.slot_of[1] == 1); // though there is room in slot 0
}

TEST_CASE("one slot too few for those that all interfere is found out without trying each order")
{
    std::size_t const values = 40;
    interferences all(values);
    for (std::size_t v = 0; v != values; ++v)
        for (std::size_t w = 0; w != v; ++w) all.add(v, w);
    bit_rows const rows = rows_of(all);
    stair_coloring coloring(rows, {values});
    CHECK(coloring.color(0, {values - 1}, 1000) == stair_answer::impossible);
    CHECK(coloring.nodes <= values);
    CHECK(coloring.color(0, {values}, 1000) == stair_answer::colored);
    CHECK(coloring.color(0, {values - 1}, 3) == stair_answer::undecided);
}

} // namespace this_test
