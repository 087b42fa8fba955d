// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_OPEN_DIMENSIONS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_OPEN_DIMENSIONS_HPP

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace plan_model {

/// A size for a dimension that a file leaves open.
struct given_dimension {
    std::string where; ///< the name of a dimension, or an input and an axis, as "image:2"
    std::int64_t size = 0;
    bool is_of_range = false; ///< one of many sizes: the file may declare another one
};

/// The sizes of a dimension that stays open until the model runs: `least`, `least + stride` ... `most`.
struct dimension_range {
    std::string where; ///< as of given_dimension
    std::int64_t least = 1, most = 1, stride = 1;
    std::vector<std::string> also = {}; ///< other dimensions that have its size

    /// The number of its sizes is one more.
    std::int64_t steps() const { return (most - least) / stride; }
};

/// What was done with the open dimensions of a file.
struct set_dimensions {
    bool is_any_set = false;
    std::vector<std::string> loosened; ///< sentences about what the file declares, and is not taken as it is
    std::unordered_set<std::string> opened; ///< results of the main graph that were declared in full
    std::string assumed;           ///< a sentence about the size of a batch; empty: none was assumed
    std::vector<std::string> open; ///< that still are: "'height' (axis 2 of input 'image')"
};

/// Sets the open dimensions of a model's inputs. A name stands for one size wherever the main graph uses it.
/// If afterwards one dimension is open, and it is the first one of each input that has it, it is a batch,
/// of 1.
///
/// A size of a range may be that of a dimension that the file declares with a number. That dimension is open
/// then, and so are all dimensions of results, which the file declares for this number alone. A Reshape to a
/// constant target, without -1, that begins with this number is one to what the others leave, where the
/// dimension is the first one of its input.
///
/// Ensures: a dimension below 0 and one named '?' are open and have no name.
/// Throws:  input_error, naming the file, if no dimension is as given, or one has two sizes: it is given
///          twice, or has another one in the file.
set_dimensions set_open_dimensions(std::string const& file, onnx::ModelProto& model,
                                   std::vector<given_dimension> const& given);

} // namespace plan_model

#endif
