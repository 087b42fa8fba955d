// SPDX-License-Identifier: BSL-1.0
// What the systems before this one reached on a network that they all report: as good, or as good as can be.
#include <sublet/planner.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/linear.hpp>

#include "../network.hpp"

#include <doctest/doctest.h>

using namespace sublet;

namespace {

buffer_table buffers_of(network::op_list const& net)
{
    return gather_buffers(lifetimes(net.program()), net.options());
}

sized_slot_plan recycled(buffer_table const& table, slot_fit fit)
{
    return share_linearly(
        table.buffers.size(), [&](auto b) { return table.buffers[b].life; },
        [&](auto b) { return table.buffers[b].size; }, {.fit = fit});
}

} // namespace

TEST_CASE("ResNet-50 in code is the network of the files: 176 operations, 143 MiB")
{
    auto const net = network::resnet50();
    CHECK(net.uses.size() == 176);
    auto const planned = plan_memory(net.program(), net.options());
    CHECK(planned.is_sound());
    auto options = net.options();
    options.in_place = false;
    CHECK(plan_memory(net.program(), options).report.naive_bytes == 150243136);
}

TEST_CASE("recycling over the op list ends with 3 slots on ResNet-50, as Caffe2's linear planner does")
{
    auto const table = buffers_of(network::resnet50());
    CHECK(color_intervals(table.buffers.size(), [&](auto b) { return table.buffers[b].life; }).slots == 3);
    auto const grown = recycled(table, slot_fit::grow);
    CHECK(grown.slots == 3);
    CHECK(grown.total_bytes <= 9640000); // theirs: 9.64 MB
}

TEST_CASE(
    "a larger free slot serves a smaller need, which PaddlePaddle's level 0 forbids and its level 1 allows")
{
    auto const table = buffers_of(network::resnet50());
    auto const equal = recycled(table, slot_fit::equal), at_least = recycled(table, slot_fit::at_least);
    CHECK(at_least.total_bytes < equal.total_bytes);
    for (std::size_t b = 0; b != table.buffers.size(); ++b)
        CHECK(equal.slot_bytes[equal.slot_of[b]] == table.buffers[b].size);
}

TEST_CASE("offsets on ResNet-50 meet the bound, and relu in place saves buffers and not a byte of the peak")
{
    auto const net = network::resnet50();
    auto options = net.options();
    options.in_place = false;
    auto const apart = plan_memory(net.program(), options).report;
    CHECK(apart.buffers == 175);
    CHECK(apart.lower_bound_bytes == 9633792);
    CHECK(apart.arena_bytes == 9633792);
    auto const in_place = plan_memory(net.program(), net.options()).report;
    CHECK(in_place.buffers == 175 - 49);
    CHECK(in_place.arena_bytes == in_place.lower_bound_bytes);
    CHECK(in_place.lower_bound_bytes <= apart.lower_bound_bytes);
}
