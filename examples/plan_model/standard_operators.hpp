// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_STANDARD_OPERATORS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_STANDARD_OPERATORS_HPP

/// Which nodes of a model are standard operators of ONNX, and what they state.

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_set>

namespace plan_model {

template <std::size_t Count>
bool is_one_of(std::string_view const (&names)[Count], std::string_view name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Standard operators with one result, of which element i depends on element i of the first operand and on
/// operands that are broadcast.
inline constexpr std::string_view of_first_operand[] = {"Abs",
                                                        "Acos",
                                                        "Acosh",
                                                        "Asin",
                                                        "Asinh",
                                                        "Atan",
                                                        "Atanh",
                                                        "BitwiseNot",
                                                        "Cast",
                                                        "CastLike",
                                                        "Ceil",
                                                        "Celu",
                                                        "Clip",
                                                        "Cos",
                                                        "Cosh",
                                                        "Elu",
                                                        "Erf",
                                                        "Exp",
                                                        "Floor",
                                                        "Gelu",
                                                        "HardSigmoid",
                                                        "HardSwish",
                                                        "LeakyRelu",
                                                        "Log",
                                                        "Mish",
                                                        "Neg",
                                                        "Not",
                                                        "Reciprocal",
                                                        "Relu",
                                                        "Round",
                                                        "Selu",
                                                        "Shrink",
                                                        "Sigmoid",
                                                        "Sign",
                                                        "Sin",
                                                        "Sinh",
                                                        "Softplus",
                                                        "Softsign",
                                                        "Sqrt",
                                                        "Swish",
                                                        "Tan",
                                                        "Tanh",
                                                        "ThresholdedRelu"};

/// ... of which element i depends on element i of two operands or, for Where, of three.
inline constexpr std::string_view of_any_operand[] = {
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Mod",
    "Mul", "Or",  "PRelu",    "Pow",        "Sub",       "Where",      "Xor"};

/// ... of any number of operands.
inline constexpr std::string_view of_all_operands[] = {"Max", "Mean", "Min", "Sum"};

inline onnx::AttributeProto const* attribute(onnx::NodeProto const& node, std::string_view name)
{
    for (auto const& a : node.attribute())
        if (a.name() == name) return &a;
    return nullptr;
}

/// The branches of If, the body of Loop.
inline bool holds_graphs(onnx::NodeProto const& node)
{
    return std::any_of(node.attribute().begin(), node.attribute().end(),
                       [](auto const& a) { return a.has_g() || a.graphs_size() != 0; });
}

/// The standard operators as a model uses them. Refers to the model.
class standard_operators {
public:
    explicit standard_operators(onnx::ModelProto const& model)
    {
        for (auto const& set : model.opset_import())
            if (is_standard_domain(set.domain())) {
                opset_ = set.version();
                break;
            }
        for (auto const& f : model.functions())
            if (is_standard_domain(f.domain())) functions_.insert(f.name());
    }

    /// The version; without one, the latest.
    std::int64_t opset() const { return opset_; }

    /// The node is a standard operator. It is not if the model defines a function of that name: the function
    /// takes the place of the operator. What a function computes is not looked at.
    bool contains(onnx::NodeProto const& node) const
    {
        return is_standard_domain(node.domain()) && functions_.count(node.op_type()) == 0;
    }

    /// The tensor that a Constant node yields.
    onnx::TensorProto const* constant_of(onnx::NodeProto const& node) const
    {
        if (!contains(node) || node.op_type() != "Constant" || node.output_size() == 0) return nullptr;
        auto const* const value = attribute(node, "value");
        return value != nullptr && value->has_t() ? &value->t() : nullptr;
    }

private:
    static bool is_standard_domain(std::string const& domain)
    {
        return domain.empty() || domain == "ai.onnx";
    }

    std::int64_t opset_ = std::numeric_limits<std::int64_t>::max();
    std::unordered_set<std::string_view> functions_;
};

} // namespace plan_model

#endif
