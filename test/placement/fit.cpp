// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/fit.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <numeric>
#include <random>
#include <vector>

using namespace sublet;
using buffers = std::vector<placement_buffer>;

namespace {

std::vector<std::uint32_t> as_they_come(buffers const& b)
{
    std::vector<std::uint32_t> order(b.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
}

/// The answer must not depend on how positions are cut into columns.
packing packed(buffers const& b, std::vector<std::uint32_t> const& order, gap_choice choice,
               byte_count ceiling = no_limit - 1)
{
    step_id positions = 1;
    for (auto const& x : b) positions = std::max(positions, x.life.last);
    packing one_column = fit(b, order, choice, placed_by_column(positions, 1024), ceiling);
    for (step_id width : {1u, 4u}) {
        packing columns = fit(b, order, choice, placed_by_column(positions, width), ceiling);
        CHECK(columns.height == one_column.height);
        CHECK(columns.offset == one_column.offset);
    }
    return one_column;
}

// At [0, 3) lie 12 bytes of gap, then one of 8, between three others.
buffers const two_gaps{{{0, 1}, 12}, {{0, 1}, 8}, {{0, 3}, 4, 1, 0, 12}, {{0, 3}, 4, 1, 0, 24}, {{1, 3}, 8}};

} // namespace

TEST_CASE("lowest takes the first gap that is large enough, tightest the smallest")
{
    std::vector<std::uint32_t> const last_only{2, 3, 4};
    CHECK(packed(two_gaps, last_only, gap_choice::lowest).offset[4] == 0);
    CHECK(packed(two_gaps, last_only, gap_choice::tightest).offset[4] == 16);
}

TEST_CASE("of two equally tight gaps the lower is taken")
{
    buffers const b{{{0, 2}, 4, 1, 0, 12}, {{0, 2}, 4, 1, 0, 28}, {{0, 2}, 8}};
    CHECK(packed(b, {0, 1, 2}, gap_choice::tightest).offset[2] == 0);
}

TEST_CASE("a gap that only alignment makes too small is passed over")
{
    buffers b{{{0, 2}, 3, 1, 0, 0}, {{0, 2}, 4, 1, 0, 10}, {{0, 2}, 6, 8}};
    CHECK(packed(b, {0, 1, 2}, gap_choice::lowest).offset[2] == 16);
    b[2].alignment = 3;
    CHECK(packed(b, {0, 1, 2}, gap_choice::tightest).offset[2] == 3);
}

TEST_CASE("who does not overlap in time may lie at the same place")
{
    buffers const b{{{0, 2}, 8}, {{2, 4}, 8}};
    auto p = packed(b, {0, 1}, gap_choice::lowest);
    CHECK(p.offset == std::vector<byte_count>{0, 0});
    CHECK(p.height == 8);
}

TEST_CASE("0 bytes and empty lives are placed nowhere")
{
    buffers const b{{{0, 2}, 0}, {{1, 1}, 8, 1, 0, 40}};
    auto p = packed(b, {0, 1}, gap_choice::lowest);
    CHECK(p.offset == std::vector<byte_count>{no_offset, no_offset});
    CHECK(p.height == 0);
}

TEST_CASE("a packing that cannot end below the ceiling is given up")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}};
    CHECK(packed(b, {0, 1}, gap_choice::lowest, 16).height == 16);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, 15).height == no_limit);
    CHECK(packed(b, {0, 1}, gap_choice::tightest, 15).height == no_limit);
    CHECK(packed(b, {0, 1}, gap_choice::lowest, 7).height == no_limit); // not even the first
}

TEST_CASE("a packing says how many it has looked at")
{
    buffers const b{{{0, 2}, 8}, {{0, 2}, 8}, {{0, 2}, 8}, {{2, 3}, 8}};
    CHECK(fit(b, {0, 1, 2, 3}, gap_choice::lowest, placed_by_column(3, 1)).visits == 3);
    CHECK(fit(b, {0, 1, 2, 3}, gap_choice::lowest, placed_by_column(3, 4)).visits == 2); // the third: at both
}

TEST_CASE("a thousand that live together are placed as any columns show them, and looked at by the block")
{
    for (auto choice : {gap_choice::lowest, gap_choice::tightest}) {
        std::mt19937 pick{11};
        buffers b;
        for (step_id i = 0; i != 1000; ++i)
            b.push_back({{i / 4, 500 - i / 8}, 1 + pick() % 50, 1 + pick() % 8});
        std::vector<std::uint32_t> order = as_they_come(b);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[pick() % i]);
        auto const p = packed(b, order, choice);
        CHECK(p.height != no_limit);
        for (std::size_t i = 0; i != b.size(); ++i)
            for (std::size_t j = 0; j != i; ++j)
                if (p.offset[i] < p.offset[j] + b[j].size && p.offset[j] < p.offset[i] + b[i].size)
                    CHECK(!overlaps(b[i].life, b[j].life));
    }
    buffers const equal(3000, placement_buffer{{0, 2}, 8});
    auto const p = fit(equal, as_they_come(equal), gap_choice::lowest, placed_by_column(2, 2));
    CHECK(p.height == 8 * 3000);
    CHECK(p.visits < 3000 * 3000 / 2 / 50);
}

TEST_CASE("offsets go up to the last of 64 bits and never round it")
{
    byte_count const half = byte_count{1} << 63;
    buffers const fits{{{0, 2}, half}, {{0, 2}, half - 2}};
    CHECK(packed(fits, {0, 1}, gap_choice::lowest).height == no_limit - 1);
    buffers const wraps{{{0, 2}, half}, {{0, 2}, half}};
    CHECK(packed(wraps, {0, 1}, gap_choice::lowest).height == no_limit);
    buffers const align_wraps{{{0, 2}, no_limit - 2}, {{0, 2}, 1, 4096}};
    CHECK(packed(align_wraps, {0, 1}, gap_choice::lowest).height == no_limit);
}

TEST_CASE(
    "random buffers in random orders: the gap that is taken is the one that a scan over all offsets finds")
{
    for (unsigned seed = 0; seed != 2000; ++seed) {
        CAPTURE(seed);
        std::mt19937 pick{seed};
        buffers b(1 + pick() % 9);
        for (auto& x : b) {
            x.life.first = static_cast<step_id>(pick() % 6);
            x.life.last = static_cast<step_id>(x.life.first + 1 + pick() % 4);
            x.size = 1 + pick() % 6;
            x.alignment = pick() % 3 == 0 ? 1 + pick() % 5 : 1;
        }
        std::sort(b.begin(), b.end(),
                  [](auto const& x, auto const& y) { return x.life.first < y.life.first; });
        auto order = as_they_come(b);
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[pick() % i]);
        auto const choice = pick() % 2 == 0 ? gap_choice::lowest : gap_choice::tightest;
        auto p = packed(b, order, choice);

        std::vector<byte_count> offset(b.size(), no_offset);
        for (auto i : order) {
            // Which bytes are taken at some position of the life, by every byte; the gaps between them.
            std::vector<bool> taken(120);
            for (std::size_t j = 0; j != b.size(); ++j)
                if (offset[j] != no_offset && overlaps(b[i].life, b[j].life))
                    for (byte_count x = offset[j]; x != offset[j] + b[j].size; ++x) taken[x] = true;
            byte_count best = no_offset, best_room = no_size;
            for (byte_count at = 0; at != taken.size(); ++at) {
                if (taken[at] || at % b[i].alignment != 0) continue;
                bool const first_in_gap = at < b[i].alignment || [&] {
                    for (byte_count x = at - b[i].alignment; x != at; ++x)
                        if (taken[x]) return true;
                    return false;
                }();
                byte_count end = at;
                while (end != taken.size() && !taken[end]) ++end;
                byte_count const room = end == taken.size() ? no_size - 1 : end - at;
                if (!first_in_gap || room < b[i].size || room >= best_room) continue;
                best = at;
                best_room = room;
                if (choice == gap_choice::lowest) break;
            }
            offset[i] = best;
        }
        CHECK(p.offset == offset);
    }
}
