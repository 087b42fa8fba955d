// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_FOLLOW_BATCH_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_FOLLOW_BATCH_HPP

#include "network.hpp"

#include <string>

namespace onnx {
class ModelProto;
}

namespace plan_model {

/// Finds the size of each value of the network for every batch size N.
///
/// The batch size of the file is the one that its metadata state, or the first dimension of its inputs that
/// are no weights. From the inputs the batch is followed through the standard operators: in a value it is the
/// factor of one dimension, or the value has the same shape for every N. Where neither is certain, no size
/// is guessed.
///
/// Requires: the network is that of the model, with operations, values and types.
/// Ensures:  either `of_any_batch` is known for every value of known size, and exact wherever the model is
///           valid for N; or `not_for_any_batch` is a sentence that names the first value of which it is not.
/// Complexity: O(nodes + operands + dimensions), without the sentence.
void follow_batch(std::string const& file, onnx::ModelProto const& model, network& net);

} // namespace plan_model

#endif
