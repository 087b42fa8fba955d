// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_DRAWN_MODELS_HPP
#define SUBLET_EXAMPLES_FUZZ_DRAWN_MODELS_HPP

#include "plan_answers.hpp"
#include "random_source.hpp"

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <string>
#include <vector>

namespace fuzz {

inline std::string numbered(std::string stem, std::size_t number) { return stem += std::to_string(number); }

struct drawn_model {
    onnx::ModelProto model;
    model_facts facts;
    std::vector<std::string> words = {}; ///< options that the model needs
};

/// A valid model of unknown operators and of standard views: views of views, results that overwrite operands,
/// values that are written again before and after they are read through other views, absent results, nested
/// graphs, values of no bytes.
drawn_model draw_plan(random_source& d);

/// A valid model with graphs inside of graphs, and functions: values captured at any depth; carried values
/// that are exchanged, passed through, captured or given twice; views, initializers and graph inputs as
/// results of a branch; absent results; values of no bytes, of which only a run knows the size, and with the
/// name of one outside; conditions that are known; dimensions that an option gives.
drawn_model draw_bodies(random_source& d);

/// A node or a few, of any operator in any version that ONNX has a rule for, on operands and with attributes
/// that may be of the wrong kind.
onnx::ModelProto draw_operators(random_source& d);

/// A valid model of standard operators, with inferred shapes: run_network can run it.
onnx::ModelProto draw_layers(random_source& d);

} // namespace fuzz

#endif
