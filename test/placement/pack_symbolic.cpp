// SPDX-License-Identifier: BSL-1.0
#include <sublet/placement/internal/pack_symbolic.hpp>

#include "../random_batches.hpp"
#include "../random_source.hpp"

#include <sublet/placement/detail/affine_placement.hpp>
#include <sublet/placement/internal/pack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

std::vector<symbolic_plan::buffer> placed(std::vector<symbolic_plan::buffer> sized,
                                          symbolic_packing const& packed)
{
    for (std::size_t b = 0; b != sized.size(); ++b) sized[b].start = packed.start[b];
    return sized;
}

byte_count height_of(std::vector<symbolic_plan::buffer> const& sized, byte_count batch)
{
    byte_count height = 0;
    for (auto const& b : sized) height = std::max(height, b.offset_at(batch) + b.size.at(batch));
    return height;
}

} // namespace

TEST_CASE("if all sizes are proportional to the batch, every batch needs what it needs alone")
{
    std::vector<symbolic_plan::buffer> const sized{
        {0, {0, 2}, {0, 64}}, {1, {1, 3}, {0, 96}}, {2, {2, 4}, {0, 32}}, {3, {3, 5}, {0, 96}}};
    auto const packed = pack_symbolic(sized, 1000);
    CHECK(packed.arena == std::vector<affine_bytes>{{0, 160}});
    CHECK(packed.samples.size() == 3);
    CHECK(packed.samples[1].batch == 32);
    CHECK(packed.samples[2].own.pools[0].height == 160'000);
}

TEST_CASE("symbolic packing of no buffers, of one batch, and of pools without buffers")
{
    CHECK(pack_symbolic(std::vector<symbolic_plan::buffer>{}, 8).arena.empty());
    std::vector<symbolic_plan::buffer> const one{{0, {0, 1}, {8, 8}, 1, 2}};
    auto const packed = pack_symbolic(one, 1);
    CHECK(packed.samples.size() == 1);
    CHECK(packed.arena.size() == 3);
    CHECK(packed.arena[0] == affine_bytes{});
    CHECK(packed.arena[2] == affine_bytes{8, 8});
}

TEST_CASE("the middle sampled batch is near the geometric mean of the others")
{
    CHECK(detail::sampled_batches(1) == std::vector<byte_count>{1});
    CHECK(detail::sampled_batches(2) == std::vector<byte_count>{1, 2});
    CHECK(detail::sampled_batches(32) == std::vector<byte_count>{1, 8, 32});
    CHECK(detail::sampled_batches(1'000'000) == std::vector<byte_count>{1, 1024, 1'000'000});
    CHECK(detail::sampled_batches(no_size).size() == 3);
}

TEST_CASE("with mixing_rule::apart fixed and growing buffers share no byte, live together or not")
{
    std::vector<symbolic_plan::buffer> const sized{
        {0, {0, 1}, {64, 0}}, {1, {1, 2}, {0, 64}}, {2, {2, 3}, {32, 0}}};
    CHECK(pack_symbolic(sized, 9).arena[0] == affine_bytes{0, 64}); // one after the other
    auto const packed = pack_symbolic(sized, 9, symbolic_options::mixing_rule::apart);
    CHECK(packed.arena[0] == affine_bytes{64, 64});
    CHECK(packed.start[1] == affine_bytes{64, 0});
    CHECK(packed.start[2] == affine_bytes{});
}

TEST_CASE("packed buffers overlap for no batch, lie below the arena, and no order is much better")
{
    double excess = 0, best_excess = 0;
    unsigned compared = 0;
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        auto const drawn = draw_growing_buffers(pick, 6, 6);
        byte_count const most = 1 + pick.below(12);
        auto const mixing =
            pick.below(3) == 0 ? symbolic_options::mixing_rule::apart : symbolic_options::mixing_rule::proved;
        auto const packed = pack_symbolic(drawn, most, mixing);
        auto const sized = placed(drawn, packed);
        for (byte_count n = 1; n <= most; ++n) {
            REQUIRE(lie_apart(sized, n));
            REQUIRE(height_of(sized, n) <= packed.arena[0].at(n));
            if (mixing == symbolic_options::mixing_rule::proved) continue;
            for (auto const& a : sized)
                for (auto const& b : sized)
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
        double best = worst(sized);
        excess += best;
        do best = std::min(best, worst(placed(drawn, {stack_affine(drawn, order, most), {}, {}})));
        while (std::next_permutation(order.begin(), order.end()));
        best_excess += best;
        ++compared;
    }
    MESSAGE(compared << " problems: " << 100 * excess / compared << " % above what a batch needs alone, "
                     << 100 * best_excess / compared << " % with the best order");
    CHECK(excess <= 2 * best_excess + 0.02 * compared);
}

} // namespace this_test
