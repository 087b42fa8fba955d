// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_READ_MODEL_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_READ_MODEL_HPP

#include "infer_shapes.hpp"
#include "network.hpp"
#include "open_dimensions.hpp"
#include "read_onnx.hpp"

#include <memory>
#include <string>
#include <vector>

namespace plan_model {

/// How a published file is read.
struct model_options {
    in_place_pairs pairs = in_place_pairs::listed;
    std::vector<given_dimension> dimensions = {};
    std::vector<given_value> values = {}; ///< of inputs on which shapes or branches depend
    bool is_strict = false;               ///< a result without a size is an error
    bool inlines_functions = false;       ///< functions of the model are replaced by their nodes
    bool is_micro = false;  ///< TensorFlow Lite only: inputs are planned, too, as TensorFlow Lite Micro does
    bool has_views = true;  ///< TensorFlow Lite only: reshaped results are views
};

/// The network of a file as it is published, an ONNX or a TensorFlow Lite file by its contents: sizes that it
/// does not declare are inferred. Results of which the size stays unknown are left out, with remarks.
///
/// Throws: input_error, naming the file and, if there is one, the value; also if no result has a size.
network read_model(std::string const& file, model_options const& how);

/// An ONNX file that is parsed once and read for several sizes of its open dimensions.
class parsed_model {
public:
    /// Throws: input_error, naming the file; also if it is no ONNX file.
    parsed_model(std::string const& file, model_options const& how);
    parsed_model(parsed_model&&) noexcept;
    ~parsed_model();

    /// The network as read_model() returns it, with these dimensions besides those of the options.
    ///
    /// Complexity: that of set_open_dimensions(), infer_shapes() and read_onnx(); the second time on, weights
    ///             are not copied.
    /// Throws:     input_error as read_model().
    network read(std::vector<given_dimension> const& dimensions);

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace plan_model

#endif
