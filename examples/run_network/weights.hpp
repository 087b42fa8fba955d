// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_WEIGHTS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_WEIGHTS_HPP

/// The caller's side of a run: inputs and weights. What the file holds is taken as it is; the rest is made
/// up, so that numbers neither vanish nor grow out of bounds on their way through a deep network.
///
///     noise      weights that are multiplied and summed: noise of variance 1 / (how many are summed);
///                biases and means: a little noise; scales, variances and others: a little noise around 1
///     uniform    all filters of a layer are alike (an average), so that all classes come out alike
///
/// Inputs are noise in both. With twice that variance, as it is usual before a Relu, the sums of residual
/// networks double from block to block, and one class takes all.
///
/// Source of the variance: LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998.

#include "layer.hpp"
#include "read_layers.hpp"

#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace run_network {

/// What an operand of a layer is for.
struct operand_use {
    enum kind : std::uint8_t { input, summed, bias, scale, index } what = scale;
    int count = 1; ///< summed: how many make one element; index: below which it is
};

inline operand_use use_of(layer const& what, std::size_t operand)
{
    auto by_position = [&](int summed) {
        if (operand == 0) return operand_use{operand_use::input};
        return operand == 1 ? operand_use{operand_use::summed, summed} : operand_use{operand_use::bias};
    };
    if (auto const* const s = std::get_if<convolution>(&what))
        return by_position(s->channels * s->rows.taps * s->columns.taps);
    if (auto const* const s = std::get_if<spreading>(&what)) return by_position(s->channels);
    if (auto const* const s = std::get_if<product>(&what)) return by_position(s->depth);
    if (auto const* const s = std::get_if<selection>(&what))
        return operand == 0 ? operand_use{operand_use::input} : operand_use{operand_use::index, s->axis};
    if (std::holds_alternative<normalization>(what) && (operand == 2 || operand == 3))
        return {operand_use::bias};
    return {};
}

class weights {
public:
    weights(layered_network const& all, std::uint64_t seed, bool is_uniform)
    {
        std::size_t end = 0;
        for (sublet::value_id v = 0; v != all.net.values.size(); ++v) {
            if (!has_role(all.net.values[v].role, sublet::value_role::external)) continue;
            std::size_t const width = all.types[v].element == tensor_type::int_64 ? 8 : 4;
            parts_.push_back({v, end, all.types[v].count() * width});
            end += (parts_.back().size + alignment - 1) / alignment * alignment;
        }
        block_.resize(end + alignment);
        for (part const& p : parts_) fill(all, p, seed, is_uniform);
    }

    /// `bind(value, bytes)` for each.
    template <class Bind>
    void each(Bind bind)
    {
        for (part const& p : parts_) bind(p.value, bytes(p));
    }
    std::size_t total_bytes() const
    {
        std::size_t all = 0;
        for (part const& p : parts_) all += p.size;
        return all;
    }

private:
    static constexpr std::size_t alignment = 64;
    struct part {
        sublet::value_id value;
        std::size_t begin, size;
    };

    std::span<std::byte> bytes(part const& p)
    {
        void* first = block_.data();
        std::size_t room = block_.size();
        std::align(alignment, 1, first, room);
        return {static_cast<std::byte*>(first) + p.begin, p.size};
    }

    /// Of the first operation that uses it, under this or another shape; an index is good for all that do.
    static operand_use first_use(layered_network const& all, sublet::value_id value)
    {
        operand_use found;
        for (std::size_t i = 0; i != all.layers.size(); ++i) {
            auto const& operation = all.net.operations[i];
            for (std::size_t o = 0; o != operation.inputs.size(); ++o) {
                if (operation.inputs[o] != value) continue;
                if (std::holds_alternative<view>(all.layers[i])) {
                    if (o == 0) value = operation.outputs[0];
                    break;
                }
                operand_use const here = use_of(all.layers[i], o);
                if (here.what != operand_use::index) return here;
                bool const is_first = found.what != operand_use::index;
                found = {operand_use::index, is_first ? here.count : std::min(found.count, here.count)};
            }
        }
        return found;
    }

    void fill(layered_network const& all, part const& p, std::uint64_t seed, bool is_uniform)
    {
        std::span<std::byte> const to = bytes(p);
        auto const& known = all.data[p.value];
        if (known.size() == p.size) {
            if (p.size != 0) std::memcpy(to.data(), known.data(), p.size);
            return;
        }
        operand_use const use = first_use(all, p.value);
        auto const count = static_cast<float>(use.count);
        std::uint64_t state = mixed(seed + mixed(p.value));
        auto noise = [&] { // evenly between -1 and 1
            return static_cast<float>(mixed(state++) >> 40) / 8388608.0f - 1.0f;
        };
        auto number = [&]() -> float {
            switch (use.what) {
            case operand_use::input: return noise();
            case operand_use::summed: return is_uniform ? 1 / count : noise() * std::sqrt(3 / count);
            case operand_use::bias: return is_uniform ? 0 : noise() * 0.1f;
            default: return is_uniform ? 1 : 1 + noise() * 0.1f;
            }
        };
        auto index = [&] { return mixed(state++) % static_cast<std::uint64_t>(std::max(1, use.count)); };
        auto write = [&](auto element) {
            for (std::size_t at = 0; at != p.size; at += sizeof(element())) {
                auto const e = element();
                std::memcpy(to.data() + at, &e, sizeof(e));
            }
        };
        switch (all.types[p.value].element) {
        case tensor_type::float_32: write(number); break;
        case tensor_type::int_64: write([&] { return static_cast<std::int64_t>(index()); }); break;
        default: write([&] { return static_cast<std::int32_t>(index()); });
        }
    }

    /// A bijection of 64 bits in which each of the argument's bits counts for all (as in SplitMix64).
    static std::uint64_t mixed(std::uint64_t x)
    {
        x += 0x9e3779b97f4a7c15;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::vector<part> parts_;
    std::vector<std::byte> block_;
};

} // namespace run_network

#endif
