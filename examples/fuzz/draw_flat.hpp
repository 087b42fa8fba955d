// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_DRAW_FLAT_HPP
#define SUBLET_EXAMPLES_FUZZ_DRAW_FLAT_HPP

#include "random_source.hpp"

#include <string>

namespace fuzz {

/// A small TensorFlow Lite file of operators on random tensors: views, pairs in place, variables, handles,
/// calls of subgraphs; some have a wrong number. Empty if this program was built without FlatBuffers.
std::string draw_flat(random_source& d);

} // namespace fuzz

#endif
