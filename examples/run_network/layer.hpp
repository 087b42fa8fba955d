// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_LAYER_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_LAYER_HPP

/// What each operation of a network computes, as plain numbers: attributes, shapes and small constants of the
/// file, resolved once. Only the bytes remain for run time.
///
///     Conv  strides=[2, 2], pads=[3, 3, 3, 3]          convolution{1 image, 1 group, 3 channels, 64 filters,
///           x: 1x3x224x224   w: 64x3x7x7      ──►      rows    {224 -> 112, 7 wide, stride 2, 3 before},
///           y: 1x64x112x112                                columns {the same}}
///
/// These structures are copied to a CUDA device: C++17, independent of the library.

#include <string>
#include <variant>
#include <vector>

namespace run_network {

/// A window that slides along one axis: output o, under tap k, reads padding or, if 0 <= p < in, position
/// p = `o * stride + k * dilation - before`.
struct sliding {
    int in = 1, out = 1, taps = 1;
    int stride = 1, dilation = 1;
    int before = 0, after = 0; ///< padding
};

/// The position in the operand of each element of a result, in order: transposed, sliced, broadcast.
struct strided {
    static constexpr int max_rank = 6;
    int rank = 0;
    int size[max_rank] = {};
    int stride[max_rank] = {}; ///< of the operand, in elements; 0: broadcast
    int first = 0;
};

struct convolution { ///< x, weights[, bias]
    int images = 1, groups = 1;
    int channels = 1, filters = 1; ///< per group
    sliding rows, columns;
    bool has_bias = false;
};

/// The gradient of a convolution: each element of x is multiplied by the weights and added to the result.
/// `rows` and `columns` slide over the result, so their `in` is its size, and `out` that of x.
struct conv_transpose { ///< x, weights[, bias]
    int images = 1, groups = 1;
    int channels = 1, filters = 1; ///< of x and of the result, per group
    sliding rows, columns;
    bool has_bias = false;
};

struct pooling { ///< x
    bool is_max = true, counts_padding = false;
    int planes = 1;
    sliding rows, columns;
};

struct normalization { ///< x, scale, bias, mean, variance
    int images = 1, channels = 1, plane = 1;
    float epsilon = 1e-5f;
};

struct layer_normalization { ///< x, scale, bias
    int rows = 1, length = 1;
    float epsilon = 1e-5f;
};

/// x, weights, recurrent weights[, bias][, lengths][, first h][, first c]; results: all h[, last h][, last
/// c]. `linear_reset`: the GRU that resets the product with the weights, not the state.
struct recurrence {
    enum kind { lstm, gru, linear_reset_gru } what = lstm;
    int steps = 1, images = 1, inputs = 1, states = 1;
    bool is_reverse = false, is_both_ways = false;

    int gates() const { return what == lstm ? 4 : 3; }
    int directions() const { return is_both_ways ? 2 : 1; }
};

struct local_response { ///< x
    int images = 1, channels = 1, plane = 1, size = 1;
    float alpha = 1e-4f, beta = 0.75f, bias = 1;
};

enum class function {
    clip,
    sigmoid,
    tanh,
    erf,
    sqrt,
    exp,
    log,
    abs,
    negative,
    elu,
    leaky,
    softplus,
    hard_sigmoid,
    hard_swish
};
struct elementwise { ///< x; Relu is a clip from 0 on
    function what = function::clip;
    int count = 0;
    float low = 0, high = 0; ///< of a clip; otherwise alpha and beta
};

enum class arithmetic { add, subtract, multiply, divide, power };
struct broadcast_arithmetic { ///< one or more operands, combined from left to right
    arithmetic what = arithmetic::add;
    int count = 0;
    std::vector<strided> operands;
};

struct softmax { ///< x
    int rows = 1, length = 1;
    int stride = 1; ///< distance of adjacent elements of a row
};

enum class combined { mean, sum, largest, smallest };
struct reduction { ///< x, over its last dimensions
    int rows = 1, length = 1;
    combined what = combined::mean;
};

/// y = alpha * a * b + beta * c, for a batch of matrices.
struct product {   ///< a, b[, c]
    int batch = 1; ///< number of results
    strided a, b;  ///< for each result, where its operands begin
    int rows = 1, depth = 1, columns = 1;
    int a_row = 1, a_depth = 1, b_depth = 1, b_column = 1, c_row = 0, c_column = 0; ///< strides
    float alpha = 1, beta = 1;
    bool has_c = false;
};

struct strided_copy { ///< x: Transpose
    int count = 0;
    strided from;
};

struct concatenation { ///< one or more operands
    int axis = 0;
    int rows = 1, length = 0;
    std::vector<int> lengths; ///< row length by operand; their sum is `length`
};

struct resize { ///< x, each axis by its ratio, between the centres of its elements
    int rows = 1, columns = 1;
    bool is_linear = true; ///< otherwise the nearest, and the ratios are integers
};

struct view {}; ///< x under another shape

struct constant {                     ///< no operands
    std::vector<unsigned char> bytes; ///< pattern, repeated until the result is full
};

struct evaluated {}; ///< by the rules of plan_model, on the host only

struct unsupported {
    std::string why; ///< "Conv over 3 dimensions"
};

using layer = std::variant<unsupported, view, constant, convolution, conv_transpose, pooling, normalization,
                           layer_normalization, local_response, elementwise, broadcast_arithmetic, softmax,
                           reduction, product, recurrence, strided_copy, concatenation, resize, evaluated>;

} // namespace run_network

#endif
