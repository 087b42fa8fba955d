// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_FUNCTION_OPERATORS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_FUNCTION_OPERATORS_HPP

/// Operators that are functions of their operands and attributes: run again with the same operands, they give
/// the same bytes, without other effects. An operator that is not listed is none. Missing on purpose:
///
///     ONNX    Bernoulli, Multinomial, RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike
///     aten    bernoulli, dropout, rand, rand_like ...; empty and empty_like, which may hold any bytes

#include <algorithm>
#include <iterator>
#include <string_view>

namespace plan_model {

// clang-format off
/// Of the standard domain, up to opset 26. Whether Dropout is one depends on its mode; If, Loop, Scan and
/// SequenceMap are if all nodes of their bodies are.
inline constexpr std::string_view standard_functions[] = {
    "Abs", "Acos", "Acosh", "Add", "AffineGrid", "And", "ArgMax", "ArgMin", "Asin", "Asinh", "Atan", "Atanh",
    "Attention", "AveragePool", "BatchNormalization", "BitCast", "BitShift", "BitwiseAnd", "BitwiseNot",
    "BitwiseOr", "BitwiseXor", "BlackmanWindow", "Cast", "CastLike", "CausalConvWithState", "Ceil", "Celu",
    "CenterCropPad", "Clip", "Col2Im", "Compress", "Concat", "ConcatFromSequence", "Constant",
    "ConstantOfShape", "Conv", "ConvInteger", "ConvTranspose", "Cos", "Cosh", "CumProd", "CumSum", "DFT",
    "DeformConv", "DepthToSpace", "DequantizeLinear", "Det", "Div", "Dropout", "DynamicQuantizeLinear",
    "Einsum", "Elu", "Equal", "Erf", "Exp", "Expand", "EyeLike", "Flatten", "Floor", "GRU", "Gather",
    "GatherElements", "GatherND", "Gelu", "Gemm", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool",
    "Greater", "GreaterOrEqual", "GridSample", "GroupNormalization", "HammingWindow", "HannWindow",
    "HardSigmoid", "HardSwish", "Hardmax", "Identity", "If", "ImageDecoder", "InstanceNormalization", "IsInf",
    "IsNaN", "LRN", "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "LinearAttention",
    "Log", "LogSoftmax", "Loop", "LpNormalization", "LpPool", "MatMul", "MatMulInteger", "Max", "MaxPool",
    "MaxRoiPool", "MaxUnpool", "Mean", "MeanVarianceNormalization", "MelWeightMatrix", "Min", "Mish", "Mod",
    "Mul", "Neg", "NegativeLogLikelihoodLoss", "NonMaxSuppression", "NonZero", "Not", "OneHot", "Optional",
    "OptionalGetElement", "OptionalHasElement", "Or", "PRelu", "Pad", "Pow", "QLinearConv", "QLinearMatMul",
    "QuantizeLinear", "RMSNormalization", "RNN", "Range", "Reciprocal", "ReduceL1", "ReduceL2",
    "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
    "ReduceSumSquare", "RegexFullMatch", "Relu", "Reshape", "Resize", "ReverseSequence", "RoiAlign",
    "RotaryEmbedding", "Round", "STFT", "Scan", "Scatter", "ScatterElements", "ScatterND", "Selu",
    "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
    "SequenceMap", "Shape", "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Slice", "Softmax",
    "SoftmaxCrossEntropyLoss", "Softplus", "Softsign", "SpaceToDepth", "Split", "SplitToSequence", "Sqrt",
    "Squeeze", "StringConcat", "StringNormalizer", "StringSplit", "Sub", "Sum", "SwiGLU", "Swish", "Tan",
    "Tanh", "TensorScatter", "TfIdfVectorizer", "ThresholdedRelu", "Tile", "TopK", "Transpose", "Trilu",
    "Unique", "Unsqueeze", "Upsample", "Where", "Xor"};

/// Of the domain ai.onnx.ml: all of its operators.
inline constexpr std::string_view learned_functions[] = {
    "ArrayFeatureExtractor", "Binarizer", "CastMap", "CategoryMapper", "DictVectorizer", "FeatureVectorizer",
    "Imputer", "LabelEncoder", "LinearClassifier", "LinearRegressor", "Normalizer", "OneHotEncoder",
    "SVMClassifier", "SVMRegressor", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier",
    "TreeEnsembleRegressor", "ZipMap"};

/// Of the domain aten: operators of PyTorch in traces of a training step.
inline constexpr std::string_view aten_functions[] = {
    "_adaptive_avg_pool2d", "_adaptive_avg_pool2d_backward", "_log_softmax", "_log_softmax_backward_data",
    "_reshape_alias", "_softmax", "_softmax_backward_data", "_to_copy", "_unsafe_view", "abs", "add",
    "addcdiv", "addcmul", "addmm", "alias", "amax", "amin", "arange", "argmax", "argmin", "avg_pool2d",
    "avg_pool2d_backward", "baddbmm", "bmm", "cat", "ceil", "clamp", "clone", "constant_pad_nd",
    "convolution", "convolution_backward", "cos", "cumsum", "detach", "div", "elu", "elu_backward",
    "embedding", "embedding_dense_backward", "eq", "erf", "exp", "expand", "flip", "floor", "full",
    "full_like", "gather", "ge", "gelu", "gelu_backward", "gt", "hardsigmoid", "hardsigmoid_backward",
    "hardswish", "hardswish_backward", "hardtanh", "hardtanh_backward", "index", "index_select", "le",
    "leaky_relu", "leaky_relu_backward", "log", "log1p", "logical_and", "logical_not", "logical_or", "lt",
    "masked_fill", "max", "max_pool2d_with_indices", "max_pool2d_with_indices_backward", "maximum", "mean",
    "min", "minimum", "mish", "mm", "mul", "native_batch_norm", "native_batch_norm_backward",
    "native_group_norm", "native_group_norm_backward", "native_layer_norm", "native_layer_norm_backward",
    "ne", "neg", "nll_loss2d_backward", "nll_loss2d_forward", "nll_loss_backward", "nll_loss_forward", "ones",
    "ones_like", "permute", "pow", "reciprocal", "relu", "repeat", "rsqrt", "rsub", "select",
    "select_backward", "sigmoid", "sigmoid_backward", "silu", "silu_backward", "sin", "slice",
    "slice_backward", "softplus", "split", "split_with_sizes", "sqrt", "squeeze", "stack", "sub", "sum", "t",
    "tanh", "tanh_backward", "threshold_backward", "topk", "transpose", "tril", "triu", "unbind",
    "unsafe_split", "unsqueeze", "upsample_bilinear2d", "upsample_nearest2d", "var_mean", "view", "where",
    "zeros", "zeros_like"};
// clang-format on

/// The operator of this domain is listed.
inline bool is_function(std::string_view domain, std::string_view type)
{
    auto is_in = [type](auto const& names) {
        return std::find(std::begin(names), std::end(names), type) != std::end(names);
    };
    if (domain.empty() || domain == "ai.onnx") return is_in(standard_functions);
    if (domain == "ai.onnx.ml") return is_in(learned_functions);
    return domain == "aten" && is_in(aten_functions);
}

} // namespace plan_model

#endif
