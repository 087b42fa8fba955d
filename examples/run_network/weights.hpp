// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_WEIGHTS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_WEIGHTS_HPP

/// Inputs and weights. Contents of the file are used; the rest is generated so that magnitudes neither vanish
/// nor overflow in a deep network.
///
///     noise      weights that are multiplied and summed: noise of variance 1 / (number of summands);
///                biases and means: a little noise; scales, variances and others: a little noise around 1
///     uniform    all filters of a layer are equal (an average), so all classes are equal
///
/// Inputs are noise in both. With twice that variance, which is usual before a Relu, the sums of residual
/// networks double from block to block, and one class dominates.
///
/// Source of the variance: LeCun, Bottou, Orr and Müller, "Efficient BackProp", 1998.

#include "host_steps.hpp"
#include "layer.hpp"
#include "read_layers.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace run_network {

/// How a layer uses an operand.
struct operand_use {
    enum kind : std::uint8_t { input, summed, bias, scale } what = scale;
    int count = 1; ///< summed: summands per element
};

inline operand_use use_of(layer const& what, std::size_t operand)
{
    auto by_position = [&](int summed) {
        if (operand == 0) return operand_use{operand_use::input};
        return operand == 1 ? operand_use{operand_use::summed, summed} : operand_use{operand_use::bias};
    };
    if (auto const* const s = std::get_if<convolution>(&what))
        return by_position(s->channels * s->rows.taps * s->columns.taps);
    if (auto const* const s = std::get_if<conv_transpose>(&what)) return by_position(s->channels);
    if (auto const* const s = std::get_if<product>(&what)) return by_position(s->depth);
    if (std::holds_alternative<normalization>(what) && (operand == 2 || operand == 3))
        return {operand_use::bias};
    return {};
}

/// The layout of inputs and weights in one block.
struct given_layout {
    struct part {
        sublet::value_id value;
        sublet::byte_count begin, size;
    };
    static constexpr sublet::byte_count alignment = 64;

    std::vector<part> parts;
    sublet::byte_count bytes = alignment; ///< of the block; `no_limit`: more than 64 bits can count
};

/// Requires: every external value has a size.
inline given_layout layout_of(host_steps const& steps)
{
    given_layout layout;
    sublet::byte_count end = 0;
    for (sublet::value_id v = 0; v != steps.bytes.size(); ++v) {
        if (!has_role(steps.roles[v], sublet::value_role::external)) continue;
        layout.parts.push_back({v, end, steps.bytes[v]});
        end = layout.parts.back().size < sublet::no_size - end
                  ? sublet::align_up(end + layout.parts.back().size, layout.alignment)
                  : sublet::no_limit;
        if (layout.alignment >= sublet::no_size - end) return layout.bytes = sublet::no_limit, layout;
    }
    layout.bytes += end;
    return layout;
}

class weights {
public:
    /// Requires: memory for layout_of(steps).
    weights(host_steps const& steps, std::uint64_t seed, bool is_uniform)
    {
        layered_network const& all = *steps.all;
        given_layout layout = layout_of(steps);
        parts_ = std::move(layout.parts);
        block_.resize(layout.bytes);
        std::vector<operand_use> const uses = uses_of(all);
        for (part const& p : parts_)
            if (p.value < all.net.values.size()) fill(all, p, uses[p.value], seed, is_uniform);
        for (packed_weight const& w : steps.packed)
            w.pack(address_of(all.elements_of[w.plain]), address_of(w.packed));
    }

    /// Calls `bind(value, bytes)` for each that these steps have.
    template <class Bind>
    void each(host_steps const& of, Bind bind)
    {
        for (part const& p : parts_)
            if (p.value < of.bytes.size()) bind(p.value, bytes(p));
    }
    sublet::byte_count total_bytes() const
    {
        sublet::byte_count all = 0;
        for (part const& p : parts_) all += p.size;
        return all;
    }

private:
    using part = given_layout::part;

    std::span<std::byte> bytes(part const& p)
    {
        void* first = block_.data();
        std::size_t room = block_.size();
        std::align(static_cast<std::size_t>(given_layout::alignment), 1, first, room);
        return {static_cast<std::byte*>(first) + p.begin, static_cast<std::size_t>(p.size)};
    }

    std::byte* address_of(sublet::value_id v)
    {
        auto const at =
            std::find_if(parts_.begin(), parts_.end(), [v](part const& p) { return p.value == v; });
        return bytes(*at).data();
    }
    /// By value: the use by the first operation that uses it, under any shape.
    static std::vector<operand_use> uses_of(layered_network const& all)
    {
        std::vector<operand_use> uses(all.types.size());
        std::vector<bool> is_used(uses.size());
        for (std::size_t i = 0; i != all.layers.size(); ++i) {
            if (std::holds_alternative<view>(all.layers[i])) continue;
            auto const& inputs = all.net.operations[i].inputs;
            for (std::size_t o = 0; o != inputs.size(); ++o) {
                if (inputs[o] == sublet::no_value) continue;
                sublet::value_id const value = all.elements_of[inputs[o]];
                operand_use const here = use_of(all.layers[i], o);
                operand_use& merged_use = uses[value];
                if (!is_used[value]) merged_use = here;
                is_used[value] = true;
            }
        }
        return uses;
    }

    void fill(layered_network const& all, part const& p, operand_use const& use, std::uint64_t seed,
              bool is_uniform)
    {
        std::span<std::byte> const to = bytes(p);
        auto const& known = all.data[p.value];
        if (known.size() == p.size) {
            if (p.size != 0) std::memcpy(to.data(), known.data(), known.size());
            return;
        }
        auto const count = static_cast<float>(use.count);
        std::uint64_t state = mixed(seed + mixed(p.value));
        auto noise = [&] { // uniform in [-1, 1]
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
        std::fill(to.begin(), to.end(), std::byte{}); // a number that is an index, too
        if (all.types[p.value].element != tensor_type::float_32) return;
        for (std::size_t at = 0; at != to.size(); at += sizeof(float)) {
            float const f = number();
            std::memcpy(to.data() + at, &f, sizeof f);
        }
    }

    /// A bijection of 64 bits in which each bit of the argument affects all bits (as in SplitMix64).
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
