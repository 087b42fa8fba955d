// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_READ_LAYERS_HPP

#include "../plan_model/network.hpp"
#include "layer.hpp"

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace run_network {

/// What kernels have to know of a value. `other`: they cannot compute with it.
///
/// Invariant: of what is not `other` the network's bytes are those of so many elements.
struct tensor_type {
    enum kind : std::uint8_t { other, float_32, int_32, int_64 } element = other;
    std::vector<int> size; ///< of `other` none

    std::size_t width() const { return element == int_64 ? 8 : 4; }
};

/// A network as plan_model reads it, and what its operations compute.
struct layered_network {
    plan_model::network net;
    std::vector<layer> layers;                 ///< by operation
    std::vector<tensor_type> types;            ///< by value
    std::vector<std::vector<std::byte>> data;  ///< by value: what the file holds of it; empty: nothing
    std::vector<sublet::value_id> elements_of; ///< by value: what it is, in the end, a view of; or itself

    struct unsupported_reason {
        std::string why;        ///< "Conv over 3 dimensions (2)": how often
        std::string where = {}; ///< the first of them: "node 7 (Conv)"
    };
    /// Why it cannot be run, each reason once; empty: it can.
    std::vector<unsupported_reason> missing() const;
};

/// The file is read once.
///
/// Ensures: a layer that is not `unsupported` stays within its operands, its result and its scratch, whatever
///          numbers they hold. Only what a Gather looks up with indices that the file lacks is the caller's.
/// Throws:  plan_model::input_error, as read_onnx(). What cannot be computed is no error but `unsupported`.
layered_network read_layers(std::string const& file);

} // namespace run_network

#endif
