// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_FUZZ_MUTATE_HPP
#define SUBLET_EXAMPLES_FUZZ_MUTATE_HPP

/// Files that nobody wrote, from files that somebody did.

#include "random_source.hpp"

#include <onnx/onnx_pb.h>

#include <string>

namespace fuzz {

/// A few bytes flipped, left out, said twice, put elsewhere; or the end left out.
void mutate_bytes(std::string& text, random_source& d);

/// Words and lines left out, said twice, exchanged; numbers made as large, small or odd as can be.
void mutate_words(std::string& text, random_source& d);

/// A field of the model or of a message anywhere within it: numbers made extreme, names exchanged, what is
/// repeated left out, said twice, exchanged; or a graph put into an attribute, again and again.
void mutate_model(onnx::ModelProto& model, random_source& d);

} // namespace fuzz

#endif
