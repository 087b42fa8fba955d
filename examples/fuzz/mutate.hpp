// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_MUTATE_HPP
#define SUBLET_EXAMPLES_FUZZ_MUTATE_HPP

/// Damages files at random.

#include "random_source.hpp"

#include <onnx/onnx_pb.h>

#include <string>

namespace fuzz {

/// Flips, deletes, repeats or moves a few bytes, or truncates the text.
void mutate_bytes(std::string& text, random_source& d);

/// Replaces a few little-endian numbers of 1, 2, 4 or 8 bytes, each at a multiple of its size: by unusual
/// ones, by small ones, by those of another place, or by themselves and a little more or less.
void mutate_numbers(std::string& bytes, random_source& d);

/// Deletes, repeats or exchanges words and lines; makes numbers very large, very small or unusual.
void mutate_words(std::string& text, random_source& d);

/// Changes a field of the model or of a nested message: extreme numbers; exchanged names; deleted, repeated
/// or exchanged elements; or deeply nested graphs.
void mutate_model(onnx::ModelProto& model, random_source& d);

} // namespace fuzz

#endif
