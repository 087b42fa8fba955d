// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TFLM_PLAN_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TFLM_PLAN_HPP

/// A plan as TensorFlow Lite Micro reads it from a model's metadata: an offset for each tensor.
///
/// Its allocator takes an offset as it is, from the begin of the arena, which is a multiple of 16 bytes. It
/// counts a graph input from the begin of a run, a graph output to its end, and rounds sizes up to 16 bytes.
/// It allocates by itself what has no offset: variables for good, and scratch memory of kernels in the gaps
/// of this plan. So a plan for it has inputs and outputs in the arena, and every offset is a multiple of 16.

#include "../pack/foreign_tables.hpp"
#include "network.hpp"

#include <sublet/core/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace plan_model {

inline constexpr sublet::byte_count tflm_alignment = 16;

/// The offsets of tensors; -1 for constants, variables, tensors that no operator uses, and those of 0 bytes.
///
/// Throws: input_error, naming the output file, for an offset of more than 31 bits.
inline pack::offline_offsets tflm_offsets(std::string const& file, network const& net,
                                          sublet::memory_plan const& plan)
{
    pack::offline_offsets all{1, {}}; // the number of subgraphs; earlier schemas said the index here, as 0
    for (std::size_t t = 0; t != net.tensors.size(); ++t) {
        sublet::value_id const v = net.tensors[t];
        bool const is_planned = v != sublet::no_value && plan.buffer_of[v] != sublet::no_buffer;
        sublet::byte_count const at = is_planned ? plan.offset_of(v) : 0;
        if (at > static_cast<sublet::byte_count>(std::numeric_limits<std::int32_t>::max()))
            throw input_error(file + ": the offset of tensor " + std::to_string(t) + ", " +
                              std::to_string(at) + ", does not fit the 32 bits of TensorFlow Lite Micro");
        all.offset.push_back(is_planned ? static_cast<std::int32_t>(at) : -1);
    }
    return all;
}

/// The number of the tensor that each value is; 0 for none.
inline std::vector<std::size_t> tensors_by_value(network const& net)
{
    std::vector<std::size_t> tensor(net.values.size());
    for (std::size_t t = 0; t != net.tensors.size(); ++t)
        if (net.tensors[t] != sublet::no_value) tensor[net.tensors[t]] = t;
    return tensor;
}

} // namespace plan_model

#endif
