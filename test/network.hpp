// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_NETWORK_HPP
#define SUBLET_TEST_NETWORK_HPP

/// Real networks built in code, so that tests need no files.

#include "operations.hpp"
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

namespace network {

/// An operator list; every operation defines one value, number i defines value i.
struct op_list {
    std::vector<std::vector<sublet::value_id>> uses;
    std::vector<sublet::byte_count> bytes;
    std::vector<sublet::value_id> alias_of;
    std::vector<bool> may_overwrite; ///< its first operand

    sublet::value_id add(std::vector<sublet::value_id> operands, sublet::byte_count size,
                         bool in_place = false)
    {
        uses.push_back(std::move(operands));
        bytes.push_back(size);
        alias_of.push_back(sublet::no_value);
        may_overwrite.push_back(in_place);
        return uses.size() - 1;
    }

    sublet::snapshot program() const
    {
        return sublet::sequence(uses.size(), uses.size(), [this](std::uint32_t op, sublet::effect_sink& s) {
            for (sublet::value_id v : uses[op]) s.use(v);
            add_results(s, std::vector<sublet::value_id>{op}, alias_of);
            if (may_overwrite[op]) s.may_overwrite(uses[op][0], op);
        });
    }
    sublet::plan_options options() const
    {
        std::vector<sublet::value_role> role(uses.size(), sublet::value_role::intermediate);
        role.back() = sublet::value_role::output;
        return {.bytes = bytes, .role = role, .alias_of = alias_of};
    }
};

/// ResNet-50, forward, batch 1, float: 53 convolutions, each with a batch norm, 49 relus, 16 sums ...
/// (He, Zhang, Ren, Sun, "Deep residual learning for image recognition", CVPR 2016). Relu may be in place.
inline op_list resnet50()
{
    op_list net;
    auto floats = [](unsigned channels, unsigned side) {
        return sublet::byte_count{4} * channels * side * side;
    };
    auto convolved = [&](std::vector<sublet::value_id> from, sublet::byte_count size) {
        sublet::value_id const c = net.add(std::move(from), size);
        return net.add({c}, size);
    };
    auto relu = [&](sublet::value_id v) { return net.add({v}, net.bytes[v], true); };

    sublet::value_id x = relu(convolved({}, floats(64, 112)));
    x = net.add({x}, floats(64, 56));
    unsigned const blocks[] = {3, 4, 6, 3};
    for (unsigned stage = 0; stage != 4; ++stage) {
        unsigned const width = 64u << stage, side = 56u >> stage;
        for (unsigned block = 0; block != blocks[stage]; ++block) {
            unsigned const before = block == 0 && stage != 0 ? 2 * side : side; // the second has the stride
            sublet::value_id y = relu(convolved({x}, floats(width, before)));
            y = relu(convolved({y}, floats(width, side)));
            y = convolved({y}, floats(4 * width, side));
            if (block == 0) x = convolved({x}, floats(4 * width, side));
            x = relu(net.add({y, x}, floats(4 * width, side)));
        }
    }
    x = net.add({x}, floats(2048, 1));
    net.alias_of[net.add({x}, floats(2048, 1))] = x; // a reshape
    x = net.add({x + 1}, floats(1000, 1));
    net.add({x}, floats(1000, 1));
    return net;
}

} // namespace network

#endif
