// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TFLITE_OPERATORS_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TFLITE_OPERATORS_HPP

/// What is known of the operators of TensorFlow Lite: their names by code, and which results can lie where an
/// operand lies.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace plan_model::tflite {

// clang-format off
inline constexpr std::string_view operator_names[] = {
    "ADD", "AVERAGE_POOL_2D", "CONCATENATION", "CONV_2D", "DEPTHWISE_CONV_2D", "DEPTH_TO_SPACE",
    "DEQUANTIZE", "EMBEDDING_LOOKUP", "FLOOR", "FULLY_CONNECTED", "HASHTABLE_LOOKUP",
    "L2_NORMALIZATION", "L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "LOGISTIC", "LSH_PROJECTION",
    "LSTM", "MAX_POOL_2D", "MUL", "RELU", "RELU_N1_TO_1", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RNN",
    "SOFTMAX", "SPACE_TO_DEPTH", "SVDF", "TANH", "CONCAT_EMBEDDINGS", "SKIP_GRAM", "CALL", "CUSTOM",
    "EMBEDDING_LOOKUP_SPARSE", "PAD", "UNIDIRECTIONAL_SEQUENCE_RNN", "GATHER", "BATCH_TO_SPACE_ND",
    "SPACE_TO_BATCH_ND", "TRANSPOSE", "MEAN", "SUB", "DIV", "SQUEEZE", "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "STRIDED_SLICE", "BIDIRECTIONAL_SEQUENCE_RNN", "EXP", "TOPK_V2", "SPLIT", "LOG_SOFTMAX", "DELEGATE",
    "BIDIRECTIONAL_SEQUENCE_LSTM", "CAST", "PRELU", "MAXIMUM", "ARG_MAX", "MINIMUM", "LESS", "NEG",
    "PADV2", "GREATER", "GREATER_EQUAL", "LESS_EQUAL", "SELECT", "SLICE", "SIN", "TRANSPOSE_CONV",
    "SPARSE_TO_DENSE", "TILE", "EXPAND_DIMS", "EQUAL", "NOT_EQUAL", "LOG", "SUM", "SQRT", "RSQRT",
    "SHAPE", "POW", "ARG_MIN", "FAKE_QUANT", "REDUCE_PROD", "REDUCE_MAX", "PACK", "LOGICAL_OR",
    "ONE_HOT", "LOGICAL_AND", "LOGICAL_NOT", "UNPACK", "REDUCE_MIN", "FLOOR_DIV", "REDUCE_ANY",
    "SQUARE", "ZEROS_LIKE", "FILL", "FLOOR_MOD", "RANGE", "RESIZE_NEAREST_NEIGHBOR", "LEAKY_RELU",
    "SQUARED_DIFFERENCE", "MIRROR_PAD", "ABS", "SPLIT_V", "UNIQUE", "CEIL", "REVERSE_V2", "ADD_N",
    "GATHER_ND", "COS", "WHERE", "RANK", "ELU", "REVERSE_SEQUENCE", "MATRIX_DIAG", "QUANTIZE",
    "MATRIX_SET_DIAG", "ROUND", "HARD_SWISH", "IF", "WHILE", "NON_MAX_SUPPRESSION_V4",
    "NON_MAX_SUPPRESSION_V5", "SCATTER_ND", "SELECT_V2", "DENSIFY", "SEGMENT_SUM", "BATCH_MATMUL",
    "PLACEHOLDER_FOR_GREATER_OP_CODES", "CUMSUM", "CALL_ONCE", "BROADCAST_TO", "RFFT2D", "CONV_3D",
    "IMAG", "REAL", "COMPLEX_ABS", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE",
    "REDUCE_ALL", "CONV_3D_TRANSPOSE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE",
    "BROADCAST_ARGS", "RANDOM_STANDARD_NORMAL", "BUCKETIZE", "RANDOM_UNIFORM", "MULTINOMIAL", "GELU",
    "DYNAMIC_UPDATE_SLICE", "RELU_0_TO_1", "UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MAX",
    "UNSORTED_SEGMENT_SUM", "ATAN2", "UNSORTED_SEGMENT_MIN", "SIGN", "BITCAST", "BITWISE_XOR",
    "RIGHT_SHIFT", "STABLEHLO_LOGISTIC", "STABLEHLO_ADD", "STABLEHLO_DIVIDE", "STABLEHLO_MULTIPLY",
    "STABLEHLO_MAXIMUM", "STABLEHLO_RESHAPE", "STABLEHLO_CLAMP", "STABLEHLO_CONCATENATE",
    "STABLEHLO_BROADCAST_IN_DIM", "STABLEHLO_CONVOLUTION", "STABLEHLO_SLICE", "STABLEHLO_CUSTOM_CALL",
    "STABLEHLO_REDUCE", "STABLEHLO_ABS", "STABLEHLO_AND", "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL",
    "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_MINIMUM", "STABLEHLO_NEGATE", "STABLEHLO_OR",
    "STABLEHLO_POWER", "STABLEHLO_REMAINDER", "STABLEHLO_RSQRT", "STABLEHLO_SELECT",
    "STABLEHLO_SUBTRACT", "STABLEHLO_TANH", "STABLEHLO_SCATTER", "STABLEHLO_COMPARE",
    "STABLEHLO_CONVERT", "STABLEHLO_DYNAMIC_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE", "STABLEHLO_PAD",
    "STABLEHLO_IOTA", "STABLEHLO_DOT_GENERAL", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_SORT",
    "STABLEHLO_WHILE", "STABLEHLO_GATHER", "STABLEHLO_TRANSPOSE", "DILATE",
    "STABLEHLO_RNG_BIT_GENERATOR", "REDUCE_WINDOW", "STABLEHLO_COMPOSITE", "STABLEHLO_SHIFT_LEFT",
    "STABLEHLO_CBRT", "STABLEHLO_CASE"};

/// Run again with the same operands, these may not give the same bytes: they draw at random, keep a state, run
/// other subgraphs, or what they compute is not known. All other operators with a name are functions.
inline constexpr std::string_view no_functions[] = {
    "ASSIGN_VARIABLE", "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "CALL", "CALL_ONCE",
    "CUSTOM", "DELEGATE", "HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "IF",
    "LSTM", "MULTINOMIAL", "PLACEHOLDER_FOR_GREATER_OP_CODES", "RANDOM_STANDARD_NORMAL",
    "RANDOM_UNIFORM", "READ_VARIABLE", "RNN", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE",
    "STABLEHLO_CUSTOM_CALL", "STABLEHLO_RNG_BIT_GENERATOR", "STABLEHLO_WHILE", "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "VAR_HANDLE", "WHILE"};

/// The values of the subgraphs that these run are not planned.
inline constexpr std::string_view callers[] = {
    "CALL", "CALL_ONCE", "IF", "STABLEHLO_CASE", "STABLEHLO_COMPOSITE", "STABLEHLO_WHILE", "WHILE"};

/// Variables and tables lie outside of the tensors, which are only handles of them: what reads them, and what
/// writes them, as an operator may that runs a subgraph.
inline constexpr std::string_view makers_of_handles[] = {"HASHTABLE", "VAR_HANDLE"};
inline constexpr std::string_view readers_of_state[] = {"HASHTABLE_FIND", "HASHTABLE_SIZE", "READ_VARIABLE"};
inline constexpr std::string_view writers_of_state[] = {"ASSIGN_VARIABLE", "HASHTABLE_IMPORT"};

/// The first result is the first operand under another shape.
inline constexpr std::string_view reshapes[] = {
    "EXPAND_DIMS", "RESHAPE", "SQUEEZE", "STABLEHLO_RESHAPE"};

/// Element i of the result depends on element i of the first operand, and on operands that are broadcast.
inline constexpr std::string_view of_first[] = {
    "ABS", "CAST", "CEIL", "COS", "DEQUANTIZE", "ELU", "EXP", "FAKE_QUANT", "FLOOR", "GELU",
    "HARD_SWISH", "LEAKY_RELU", "LOG", "LOGICAL_NOT", "LOGISTIC", "NEG", "QUANTIZE", "RELU", "RELU6",
    "RELU_0_TO_1", "RELU_N1_TO_1", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE", "STABLEHLO_ABS",
    "STABLEHLO_CBRT", "STABLEHLO_CONVERT", "STABLEHLO_COSINE", "STABLEHLO_EXPONENTIAL",
    "STABLEHLO_FLOOR", "STABLEHLO_LOG", "STABLEHLO_LOGISTIC", "STABLEHLO_NEGATE", "STABLEHLO_RSQRT",
    "STABLEHLO_TANH", "TANH"};

/// ... on element i of two operands or, to select, of three.
inline constexpr std::string_view of_any[] = {
    "ADD", "ATAN2", "BITWISE_XOR", "DIV", "FLOOR_DIV", "FLOOR_MOD", "LOGICAL_AND", "LOGICAL_OR",
    "MAXIMUM", "MINIMUM", "MUL", "POW", "PRELU", "RIGHT_SHIFT", "SELECT", "SELECT_V2",
    "SQUARED_DIFFERENCE", "STABLEHLO_ADD", "STABLEHLO_AND", "STABLEHLO_DIVIDE", "STABLEHLO_MAXIMUM",
    "STABLEHLO_MINIMUM", "STABLEHLO_MULTIPLY", "STABLEHLO_OR", "STABLEHLO_POWER", "STABLEHLO_REMAINDER",
    "STABLEHLO_SELECT", "STABLEHLO_SHIFT_LEFT", "STABLEHLO_SUBTRACT", "SUB"};
// clang-format on

/// An operator that is listed, or a code of a later schema: "operator code 300".
inline std::string operator_name(std::int64_t code)
{
    if (code >= 0 && code < static_cast<std::int64_t>(std::size(operator_names)))
        return std::string(operator_names[static_cast<std::size_t>(code)]);
    return "operator code " + std::to_string(code);
}

template <class Names>
bool is_in(Names const& names, std::string_view name)
{
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

inline bool is_function(std::string_view name)
{
    return is_in(operator_names, name) && !is_in(no_functions, name);
}

} // namespace plan_model::tflite

#endif
