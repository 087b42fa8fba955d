// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/pack.hpp>

#include <sublet/placement/detail/two_ended.hpp>

#include "../dice.hpp"
#include "random_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<symbolic_plan::buffer> placed(std::vector<symbolic_plan::buffer> buffers,
                                          symbolic_packing const& packed)
{
    for (std::size_t b = 0; b != buffers.size(); ++b) buffers[b].start = packed.start[b];
    return buffers;
}

byte_count height_of(std::vector<symbolic_plan::buffer> const& buffers, byte_count batch)
{
    byte_count height = 0;
    for (auto const& b : buffers) height = std::max(height, b.offset_at(batch) + b.size.at(batch));
    return height;
}

} // namespace

TEST_CASE("where all sizes grow alike every batch has what it would have alone")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 2}, {0, 64}}, {1, {1, 3}, {0, 96}}, {2, {2, 4}, {0, 32}}, {3, {3, 5}, {0, 96}}};
    auto const packed = pack_symbolic(buffers, 1000);
    CHECK(packed.arena == std::vector<affine_bytes>{{0, 160}});
    CHECK(packed.samples.size() == 3);
    CHECK(packed.samples[1].batch == 32);
    CHECK(packed.samples[2].own.pools[0].height == 160'000);
}

TEST_CASE("no buffers, one batch, pools without buffers")
{
    CHECK(pack_symbolic(std::vector<symbolic_plan::buffer>{}, 8).arena.empty());
    std::vector<symbolic_plan::buffer> const one{{0, {0, 1}, {8, 8}, 1, 2}};
    auto const packed = pack_symbolic(one, 1);
    CHECK(packed.samples.size() == 1);
    CHECK(packed.arena.size() == 3);
    CHECK(packed.arena[0] == affine_bytes{});
    CHECK(packed.arena[2] == affine_bytes{8, 8});
}

TEST_CASE("batches in the middle are as many times the one as they are parts of the other")
{
    CHECK(detail::sampled_batches(1) == std::vector<byte_count>{1});
    CHECK(detail::sampled_batches(2) == std::vector<byte_count>{1, 2});
    CHECK(detail::sampled_batches(32) == std::vector<byte_count>{1, 8, 32});
    CHECK(detail::sampled_batches(1'000'000) == std::vector<byte_count>{1, 1024, 1'000'000});
    CHECK(detail::sampled_batches(no_size).size() == 3);
}

TEST_CASE("who is kept apart shares no byte with who grows otherwise, alive together or not")
{
    std::vector<symbolic_plan::buffer> const buffers{
        {0, {0, 1}, {64, 0}}, {1, {1, 2}, {0, 64}}, {2, {2, 3}, {32, 0}}};
    CHECK(pack_symbolic(buffers, 9).arena[0] == affine_bytes{0, 64}); // one after the other
    auto const packed = pack_symbolic(buffers, 9, symbolic_options::mixing_rule::apart);
    CHECK(packed.arena[0] == affine_bytes{64, 64});
    CHECK(packed.start[1] == affine_bytes{64, 0});
    CHECK(packed.start[2] == affine_bytes{});
}

TEST_CASE(
    "packed buffers lie apart for every batch, below the arena; and no order of stacking is much better")
{
    double excess = 0, best_excess = 0;
    unsigned compared = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937(seed)};
        auto const drawn = draw_growing_buffers(pick, 6, 6);
        byte_count const most = 1 + pick.below(12);
        auto const mixing =
            pick.below(3) == 0 ? symbolic_options::mixing_rule::apart : symbolic_options::mixing_rule::proved;
        auto const packed = pack_symbolic(drawn, most, mixing);
        auto const buffers = placed(drawn, packed);
        for (byte_count n = 1; n <= most; ++n) {
            REQUIRE(lie_apart(buffers, n));
            REQUIRE(height_of(buffers, n) <= packed.arena[0].at(n));
            if (mixing == symbolic_options::mixing_rule::proved) continue;
            for (auto const& a : buffers)
                for (auto const& b : buffers)
                    if (a.size.is_scaled() && !b.size.is_scaled())
                        REQUIRE(a.offset_at(n) >= b.offset_at(n) + b.size.at(n));
        }
        if (mixing == symbolic_options::mixing_rule::apart) continue;
        auto worst = [&](std::vector<symbolic_plan::buffer> const& all) {
            double most_times = 1;
            for (auto const& s : packed.samples)
                most_times = std::max(most_times, static_cast<double>(height_of(all, s.batch)) /
                                                      static_cast<double>(s.own.pools[0].height));
            return most_times - 1;
        };
        std::vector<buffer_id> order;
        for (buffer_id b = 0; b != drawn.size(); ++b) order.push_back(b);
        double best = worst(buffers);
        excess += best;
        do best = std::min(best, worst(placed(drawn, {stack_two_ended(drawn, order, most), {}, {}})));
        while (std::next_permutation(order.begin(), order.end()));
        best_excess += best;
        ++compared;
    }
    MESSAGE(compared << " problems: " << 100 * excess / compared << " % above what a batch needs alone, "
                     << 100 * best_excess / compared << " % with the best order");
    CHECK(excess <= 2 * best_excess + 0.02 * compared);
}

} // namespace this_test
