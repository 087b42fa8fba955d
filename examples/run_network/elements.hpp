// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_RUN_NETWORK_ELEMENTS_HPP
#define SUBLET_EXAMPLES_RUN_NETWORK_ELEMENTS_HPP

/// Each layer as a formula for one element of its result.
///
///     each(count, formula)     on a CUDA device   one thread per i: formula(i)
///                              on the host        for (i = 0; i != count; ++i) formula(i)
///
/// So the code of a device thread is also compiled and tested on the host. These kernels are simple, not
/// fast: on the host they are the reference for the primitives of oneDNN, and run what those lack.
///
/// The formulas of `elementwise`, `broadcast_arithmetic` (with two operands) and `normalization` read element
/// i and write element i: only these may overwrite an operand.

#include "layer.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <variant>
#include <vector>

#ifdef __CUDACC__
#define RUN_NETWORK_FORMULA __host__ __device__ inline
#else
#define RUN_NETWORK_FORMULA inline
#endif

namespace run_network {

/// The index in an operand from which element i of the result is computed.
RUN_NETWORK_FORMULA int operand_index(strided const& s, int i)
{
    int at = s.first;
    for (int axis = s.rank - 1; axis >= 0; --axis) {
        at += i % s.size[axis] * s.stride[axis];
        i /= s.size[axis];
    }
    return at;
}

/// An element of a batch of images: channel plane, row and column.
struct pixel {
    int plane, row, column;
};
RUN_NETWORK_FORMULA pixel pixel_of(int i, int rows, int columns)
{
    return {i / columns / rows, i / columns % rows, i % columns};
}

RUN_NETWORK_FORMULA int window_position(sliding const& w, int out, int tap)
{
    return out * w.stride + tap * w.dilation - w.before;
}

struct convolution_element {
    convolution s;
    float const *x, *weights, *bias;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        pixel const at = pixel_of(i, s.rows.out, s.columns.out);
        int const all = s.groups * s.filters, filter = at.plane % all, image = at.plane / all;
        int const first = (image * s.groups + filter / s.filters) * s.channels;
        float sum = s.has_bias ? bias[filter] : 0.0f;
        for (int c = 0; c != s.channels; ++c)
            for (int k = 0; k != s.rows.taps; ++k) {
                int const row = window_position(s.rows, at.row, k);
                if (row < 0 || row >= s.rows.in) continue;
                for (int l = 0; l != s.columns.taps; ++l) {
                    int const column = window_position(s.columns, at.column, l);
                    if (column < 0 || column >= s.columns.in) continue;
                    sum += weights[((filter * s.channels + c) * s.rows.taps + k) * s.columns.taps + l] *
                           x[((first + c) * s.rows.in + row) * s.columns.in + column];
                }
            }
        y[i] = sum;
    }
};

struct pooling_element {
    pooling s;
    float const* x;
    float* y;

    /// Declared padding counts; positions that the last window has beyond it do not.
    RUN_NETWORK_FORMULA static bool is_counted(sliding const& w, int at, bool with_padding)
    {
        return with_padding ? at < w.in + w.after : at >= 0 && at < w.in;
    }
    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        pixel const at = pixel_of(i, s.rows.out, s.columns.out);
        float largest = -FLT_MAX, sum = 0;
        int counted = 0;
        for (int k = 0; k != s.rows.taps; ++k)
            for (int l = 0; l != s.columns.taps; ++l) {
                int const row = window_position(s.rows, at.row, k);
                int const column = window_position(s.columns, at.column, l);
                counted += is_counted(s.rows, row, s.counts_padding) &&
                           is_counted(s.columns, column, s.counts_padding);
                if (row < 0 || row >= s.rows.in || column < 0 || column >= s.columns.in) continue;
                float const value = x[(at.plane * s.rows.in + row) * s.columns.in + column];
                largest = value > largest ? value : largest;
                sum += value;
            }
        y[i] = s.is_max ? largest : sum / static_cast<float>(counted);
    }
};

struct normalization_element {
    normalization s;
    float const *x, *scale, *bias, *mean, *variance;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        int const c = i / s.plane % s.channels;
        float const factor = scale[c] / std::sqrt(variance[c] + s.epsilon);
        y[i] = (x[i] - mean[c]) * factor + bias[c];
    }
};

struct local_response_element {
    local_response s;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        int const c = i / s.plane % s.channels, last = s.channels - 1 - c;
        int const before = (s.size - 1) / 2, after = s.size / 2;
        float squares = 0;
        for (int k = -(before < c ? before : c); k <= (after < last ? after : last); ++k) {
            float const value = x[i + k * s.plane];
            squares += value * value;
        }
        y[i] = x[i] / std::pow(s.bias + s.alpha / static_cast<float>(s.size) * squares, s.beta);
    }
};

struct elementwise_element {
    elementwise s;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA static float hard(float alpha, float beta, float value)
    {
        float const at = alpha * value + beta;
        return at < 0 ? 0 : at > 1 ? 1 : at;
    }
    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        float const value = x[i];
        switch (s.what) {
        case function::clip: y[i] = value < s.low ? s.low : value > s.high ? s.high : value; break;
        case function::sigmoid: y[i] = 1 / (1 + std::exp(-value)); break;
        case function::tanh: y[i] = std::tanh(value); break;
        case function::erf: y[i] = std::erf(value); break;
        case function::sqrt: y[i] = std::sqrt(value); break;
        case function::exp: y[i] = std::exp(value); break;
        case function::log: y[i] = std::log(value); break;
        case function::abs: y[i] = std::fabs(value); break;
        case function::negative: y[i] = -value; break;
        case function::elu: y[i] = value < 0 ? s.low * std::expm1(value) : value; break;
        case function::leaky: y[i] = value < 0 ? s.low * value : value; break;
        case function::softplus: y[i] = value > 20 ? value : std::log1p(std::exp(value)); break;
        case function::hard_sigmoid: y[i] = hard(s.low, s.high, value); break;
        case function::hard_swish: y[i] = value * hard(1.0f / 6, 0.5f, value); break;
        }
    }
};

struct arithmetic_element {
    arithmetic what;
    strided at, at_other;
    float const *x, *other;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        float const a = x[operand_index(at, i)], b = other[operand_index(at_other, i)];
        switch (what) {
        case arithmetic::add: y[i] = a + b; break;
        case arithmetic::subtract: y[i] = a - b; break;
        case arithmetic::multiply: y[i] = a * b; break;
        case arithmetic::divide: y[i] = a / b; break;
        case arithmetic::power: y[i] = b == 2 ? a * a : std::pow(a, b); break;
        }
    }
};

struct softmax_element {
    softmax s;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        float const* const row = x + i / (s.length * s.stride) * (s.length * s.stride) + i % s.stride;
        float largest = -FLT_MAX, sum = 0;
        for (int k = 0; k != s.length; ++k)
            largest = row[k * s.stride] > largest ? row[k * s.stride] : largest;
        for (int k = 0; k != s.length; ++k) sum += std::exp(row[k * s.stride] - largest);
        y[i] = std::exp(x[i] - largest) / sum;
    }
};

struct reduction_element {
    reduction s;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        float const* const row = x + i * s.length;
        float sum = 0, largest = row[0], smallest = row[0];
        for (int k = 0; k != s.length; ++k) {
            sum += row[k];
            largest = row[k] > largest ? row[k] : largest;
            smallest = row[k] < smallest ? row[k] : smallest;
        }
        switch (s.what) {
        case combined::mean: y[i] = sum / static_cast<float>(s.length); break;
        case combined::sum: y[i] = sum; break;
        case combined::largest: y[i] = largest; break;
        case combined::smallest: y[i] = smallest; break;
        }
    }
};

struct product_element {
    product s;
    float const *a, *b, *c;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const
    {
        pixel const at = pixel_of(i, s.rows, s.columns);
        int const left = operand_index(s.a, at.plane) + at.row * s.a_row;
        int const right = operand_index(s.b, at.plane) + at.column * s.b_column;
        float sum = 0;
        for (int k = 0; k != s.depth; ++k) sum += a[left + k * s.a_depth] * b[right + k * s.b_depth];
        sum *= s.alpha;
        if (s.has_c) sum += s.beta * c[at.row * s.c_row + at.column * s.c_column];
        y[i] = sum;
    }
};

struct strided_copy_element {
    strided from;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const { y[i] = x[operand_index(from, i)]; }
};

/// One operand of a Concat: i counts its elements.
struct concatenation_element {
    int length, all, first;
    float const* x;
    float* y;

    RUN_NETWORK_FORMULA void operator()(int i) const { y[i / length * all + first + i % length] = x[i]; }
};

/// The addresses that a layer reads and writes.
struct operands {
    std::vector<void const*> in;
    void* out = nullptr;
    std::size_t out_bytes = 0;
    std::vector<void*> outs = {}; ///< all of them

    float const* x(std::size_t i) const { return i < in.size() ? static_cast<float const*>(in[i]) : nullptr; }
    float* y() const { return static_cast<float*>(out); }
};

/// Whether there is a formula. The others run on the host only.
inline bool has_formula(layer const& what)
{
    return !std::holds_alternative<unsupported>(what) && !std::holds_alternative<evaluated>(what) &&
           !std::holds_alternative<conv_transpose>(what) && !std::holds_alternative<recurrence>(what) &&
           !std::holds_alternative<layer_normalization>(what) && !std::holds_alternative<resize>(what);
}

/// Runs a layer as formulas, by one call of `each(count, formula)` each. Views and constants are left to the
/// caller.
template <class Each>
struct layer_in_elements {
    operands const& io;
    Each each;

    template <class Other>
    void operator()(Other const&) const
    {
    }
    void operator()(convolution const& s) const
    {
        each(s.images * s.groups * s.filters * s.rows.out * s.columns.out,
             convolution_element{s, io.x(0), io.x(1), io.x(2), io.y()});
    }
    void operator()(pooling const& s) const
    {
        each(s.planes * s.rows.out * s.columns.out, pooling_element{s, io.x(0), io.y()});
    }
    void operator()(normalization const& s) const
    {
        each(s.images * s.channels * s.plane,
             normalization_element{s, io.x(0), io.x(1), io.x(2), io.x(3), io.x(4), io.y()});
    }
    void operator()(local_response const& s) const
    {
        each(s.images * s.channels * s.plane, local_response_element{s, io.x(0), io.y()});
    }
    void operator()(elementwise const& s) const { each(s.count, elementwise_element{s, io.x(0), io.y()}); }
    void operator()(broadcast_arithmetic const& s) const
    {
        if (s.operands.size() == 1)
            return each(s.count, strided_copy_element{s.operands[0], io.x(0), io.y()});
        strided contiguous; // layout of the result so far
        contiguous.rank = 1;
        contiguous.size[0] = s.count;
        contiguous.stride[0] = 1;
        each(s.count, arithmetic_element{s.what, s.operands[0], s.operands[1], io.x(0), io.x(1), io.y()});
        for (std::size_t i = 2; i < s.operands.size(); ++i)
            each(s.count, arithmetic_element{s.what, contiguous, s.operands[i], io.y(), io.x(i), io.y()});
    }
    void operator()(softmax const& s) const { each(s.rows * s.length, softmax_element{s, io.x(0), io.y()}); }
    void operator()(reduction const& s) const { each(s.rows, reduction_element{s, io.x(0), io.y()}); }
    void operator()(product const& s) const
    {
        each(s.batch * s.rows * s.columns, product_element{s, io.x(0), io.x(1), io.x(2), io.y()});
    }
    void operator()(strided_copy const& s) const
    {
        each(s.count, strided_copy_element{s.from, io.x(0), io.y()});
    }
    void operator()(concatenation const& s) const
    {
        int first = 0;
        for (std::size_t i = 0; i != s.lengths.size(); ++i) {
            int const length = s.lengths[i];
            if (length != 0)
                each(s.rows * length, concatenation_element{length, s.length, first, io.x(i), io.y()});
            first += length;
        }
    }
};

template <class Each>
void run_in_elements(layer const& what, operands const& io, Each each)
{
    std::visit(layer_in_elements<Each>{io, each}, what);
}

// --- on the host -----------------------------------------------------------------------------------------

/// Elements in the order of the result, each once.
inline bool is_contiguous(strided const& s, int count)
{
    int expected = 1;
    for (int axis = s.rank - 1; axis >= 0; --axis) {
        if (s.size[axis] != 1 && s.stride[axis] != expected) return false;
        expected *= s.size[axis];
    }
    return s.first == 0 && expected == count;
}

/// The operands that a formula may overwrite: it reads an element of them before it writes that element, and
/// never again. They have the size of the result.
inline std::vector<std::size_t> overwritable_operands(layer const& what)
{
    if (std::holds_alternative<elementwise>(what) || std::holds_alternative<normalization>(what)) return {0};
    std::vector<std::size_t> found;
    if (auto const* const s = std::get_if<broadcast_arithmetic>(&what);
        s != nullptr && s->operands.size() <= 2)
        for (std::size_t i = 0; i != s->operands.size(); ++i)
            if (is_contiguous(s->operands[i], s->count)) found.push_back(i);
    return found;
}

/// One element after the other.
inline void run_as_formulas(layer const& what, operands const& io)
{
    auto* const to = static_cast<unsigned char*>(io.out);
    if (std::holds_alternative<view>(what) && io.out_bytes != 0) std::memcpy(to, io.in[0], io.out_bytes);
    if (auto const* const s = std::get_if<constant>(&what))
        for (std::size_t at = 0; at < io.out_bytes; at += s->bytes.size())
            std::memcpy(to + at, s->bytes.data(), std::min(s->bytes.size(), io.out_bytes - at));
    run_in_elements(what, io, [](int count, auto const& formula) {
        for (int i = 0; i != count; ++i) formula(i);
    });
}

} // namespace run_network

#endif
