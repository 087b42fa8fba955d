// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP

#include "../plan_model/network.hpp"
#include "layer.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace run_network {

struct tensor_type {
    enum kind : std::uint8_t { other, float_32, int_32, int_64 } element = other;
    std::vector<int> size;

    std::size_t count() const
    {
        std::size_t all = 1;
        for (int n : size) all *= static_cast<std::size_t>(n);
        return all;
    }
};

/// A network as plan_model reads it, and what its operations compute.
struct layered_network {
    plan_model::network net;
    std::vector<layer> layers;                ///< by operation
    std::vector<tensor_type> types;           ///< by value
    std::vector<std::vector<std::byte>> data; ///< by value: what the file holds of it; empty: nothing

    /// Why it cannot be run, each reason once, with how often; empty: it can.
    std::vector<std::string> missing() const;
};

/// Throws: plan_model::input_error, as read_onnx(). What cannot be computed is no error but `unsupported`.
layered_network read_layers(std::string const& file);

} // namespace run_network

#endif
