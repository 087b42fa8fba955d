// SPDX-License-Identifier: BSL-1.0

// Convolutions and matrix products take nearly all the time of a network. Both are written as sums of rows
// with factors: loops over adjacent floats.

#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstring>

namespace run_network {
namespace {

constexpr int block_length = 1024; // elements of a sum that are computed at a time: they stay in the L1 cache

/// sum[i] += f[0] * row[i] + f[1] * next[i] + ..., where each row begins `step` after the previous one.
void add_rows(float* sum, int count, float const* row, int step, float const* factor, int factor_step,
              int rows)
{
    int k = 0;
    for (; k + 4 <= rows; k += 4) {
        float const *const a = row + k * step, *const b = a + step, *const c = b + step, *const d = c + step;
        float const* const f = factor + k * factor_step;
        float const f0 = f[0], f1 = f[factor_step], f2 = f[2 * factor_step], f3 = f[3 * factor_step];
        for (int i = 0; i < count; ++i) sum[i] += (f0 * a[i] + f1 * b[i]) + (f2 * c[i] + f3 * d[i]);
    }
    for (; k < rows; ++k) {
        float const* const a = row + k * step;
        float const f = factor[k * factor_step];
        for (int i = 0; i < count; ++i) sum[i] += f * a[i];
    }
}

// --- convolution ----------------------------------------------------------------------------------------

/// A convolution is a sum of shifted planes, each times a weight. The input is packed so that a shift is an
/// offset: with its padding, and for stride s as s * s phases, each of every s-th pixel.
///
///     x     0 1 2 3 4 5 6        stride 2, 1 before        phase 0   - 1 3 5
///                                                          phase 1   0 2 4 6
///
/// Rows are as wide as the last window needs. So a whole plane of the result is one long row of a sum, with a
/// few unused elements at the end of each row.
struct phases {
    int rows, columns;               ///< of each phase
    int row_strides, column_strides; ///< number of phases
    int plane() const { return rows * columns; }
    int channel() const { return row_strides * column_strides * plane(); }
};

phases phases_of(convolution const& s)
{
    auto extent = [](sliding const& w) { return w.out + (w.taps - 1) * w.dilation / w.stride; };
    return {extent(s.rows), extent(s.columns), s.rows.stride, s.columns.stride};
}

/// Whether the input already has that layout.
bool is_packed(convolution const& s)
{
    auto plain = [](sliding const& w) { return w.stride == 1 && w.before == 0 && w.after == 0; };
    return plain(s.rows) && plain(s.columns);
}

void pack_phases(sliding const& rows, sliding const& columns, phases const& in, float const* x, float* packed)
{
    for (int r = 0; r != in.row_strides; ++r)
        for (int c = 0; c != in.column_strides; ++c)
            for (int i = 0; i != in.rows; ++i) {
                int const row = i * in.row_strides + r - rows.before;
                for (int j = 0; j != in.columns; ++j) {
                    int const column = j * in.column_strides + c - columns.before;
                    bool const is_inside = row >= 0 && row < rows.in && column >= 0 && column < columns.in;
                    *packed++ = is_inside ? x[row * columns.in + column] : 0.0f;
                }
            }
}

/// Copies a sum over rows of width `wide`, from its element `first` on, to a plane without the unused
/// elements.
void copy_rows(float const* sum, int first, int count, int wide, float* y, int columns)
{
    for (int at = first; at < first + count;) {
        int const row = at / wide, column = at % wide, next = std::min((row + 1) * wide, first + count);
        if (column < columns)
            std::copy_n(sum + (at - first), std::min(columns - column, next - at),
                        y + row * columns + column);
        at = next;
    }
}

void convolve(convolution const& s, float const* x, float const* weights, float const* bias, float* y,
              float* packed)
{
    phases const in = phases_of(s);
    int const x_plane = s.rows.in * s.columns.in, y_plane = s.rows.out * s.columns.out;
    int const taps = s.rows.taps * s.columns.taps;
    int const length = (s.rows.out - 1) * in.columns + s.columns.out;
    std::array<float, block_length> sum;
    for (int group = 0; group != s.images * s.groups; ++group) {
        float const* planes = x + group * s.channels * x_plane;
        if (!is_packed(s)) {
            for (int c = 0; c != s.channels; ++c)
                pack_phases(s.rows, s.columns, in, planes + c * x_plane, packed + c * in.channel());
            planes = packed;
        }
        for (int first = 0; first < length; first += block_length) {
            int const count = std::min(block_length, length - first);
            for (int f = 0; f != s.filters; ++f) {
                int const filter = group % s.groups * s.filters + f;
                std::fill_n(sum.begin(), count, s.has_bias ? bias[filter] : 0.0f);
                for (int k = 0; k != taps; ++k) {
                    int const row = k / s.columns.taps * s.rows.dilation;
                    int const column = k % s.columns.taps * s.columns.dilation;
                    int const phase = row % s.rows.stride * s.columns.stride + column % s.columns.stride;
                    int const shift =
                        phase * in.plane() + row / s.rows.stride * in.columns + column / s.columns.stride;
                    add_rows(sum.data(), count, planes + shift + first, in.channel(),
                             weights + filter * s.channels * taps + k, taps, s.channels);
                }
                copy_rows(sum.data(), first, count, in.columns, y + (group * s.filters + f) * y_plane,
                          s.columns.out);
            }
        }
    }
}

// --- matrix products ------------------------------------------------------------------------------------

float inner_product(float const* a, float const* b, int count)
{
    std::array<float, 16> sums{}; // independent sums, so that additions do not wait for each other
    int i = 0;
    for (; i + 16 <= count; i += 16)
        for (int k = 0; k != 16; ++k) sums[static_cast<std::size_t>(k)] += a[i + k] * b[i + k];
    float sum = 0;
    for (; i < count; ++i) sum += a[i] * b[i];
    for (float s : sums) sum += s;
    return sum;
}

void multiply(product const& s, float const* a, float const* b, float const* c, float* y)
{
    std::array<float, block_length> sum;
    for (int i = 0; i != s.batch * s.rows; ++i, y += s.columns) {
        int const row = i % s.rows;
        float const* const left = a + operand_index(s.a, i / s.rows) + row * s.a_row;
        float const* const right = b + operand_index(s.b, i / s.rows);
        for (int first = 0; first < s.columns; first += block_length) {
            int const count = std::min(block_length, s.columns - first);
            if (s.b_column == 1) {
                std::fill_n(sum.begin(), count, 0.0f);
                add_rows(sum.data(), count, right + first, s.b_depth, left, s.a_depth, s.depth);
            } else { // b_depth == 1 and a_depth == 1
                for (int j = 0; j != count; ++j)
                    sum[static_cast<std::size_t>(j)] =
                        inner_product(left, right + (first + j) * s.b_column, s.depth);
            }
            for (int j = 0; j != count; ++j) {
                float const value = s.alpha * sum[static_cast<std::size_t>(j)];
                y[first + j] = s.has_c ? value + s.beta * c[row * s.c_row + (first + j) * s.c_column] : value;
            }
        }
    }
}

bool has_rows(product const& s)
{
    return s.depth != 0 && (s.b_column == 1 || (s.b_depth == 1 && s.a_depth == 1));
}

// --- other layers ---------------------------------------------------------------------------------------

void normalize(normalization const& s, operands const& io)
{
    for (int plane = 0; plane != s.images * s.channels; ++plane) {
        int const c = plane % s.channels, first = plane * s.plane;
        float const factor = io.x(1)[c] / std::sqrt(io.x(4)[c] + s.epsilon);
        float const bias = io.x(2)[c], mean = io.x(3)[c];
        for (int i = first; i != first + s.plane; ++i) io.y()[i] = (io.x(0)[i] - mean) * factor + bias;
    }
}

void compute_softmax(softmax const& s, float const* x, float* y)
{
    for (int r = 0; r != s.rows; ++r) {
        int const first = r / s.stride * s.length * s.stride + r % s.stride;
        float largest = -FLT_MAX, sum = 0;
        for (int k = 0; k != s.length; ++k) largest = std::max(largest, x[first + k * s.stride]);
        for (int k = 0; k != s.length; ++k)
            sum += y[first + k * s.stride] = std::exp(x[first + k * s.stride] - largest);
        for (int k = 0; k != s.length; ++k) y[first + k * s.stride] /= sum;
    }
}

/// Most sums and products of tensors have two operands of the size of the result.
bool is_contiguous(strided const& s, int count)
{
    int expected = 1;
    for (int axis = s.rank - 1; axis >= 0; --axis) {
        if (s.size[axis] != 1 && s.stride[axis] != expected) return false;
        expected *= s.size[axis];
    }
    return s.first == 0 && expected == count;
}

void add(int count, float const* a, float const* b, float* y)
{
    for (int i = 0; i < count; ++i) y[i] = a[i] + b[i];
}

void write(constant const& s, operands const& io)
{
    auto* const to = static_cast<unsigned char*>(io.out);
    for (std::size_t at = 0; at < io.out_bytes; at += s.bytes.size())
        std::memcpy(to + at, s.bytes.data(), std::min(s.bytes.size(), io.out_bytes - at));
}

} // namespace

std::size_t scratch_bytes(layer const& what)
{
    auto const* const s = std::get_if<convolution>(&what);
    if (s == nullptr || is_packed(*s)) return 0;
    phases const in = phases_of(*s);
    double elements = s->channels;
    for (int factor : {in.rows, in.columns, in.row_strides, in.column_strides}) elements *= factor;
    if (elements > INT_MAX) return too_many_bytes;
    return static_cast<std::size_t>(s->channels) * static_cast<std::size_t>(in.channel()) * sizeof(float);
}

std::vector<std::size_t> overwritable_operands(layer const& what)
{
    std::vector<std::size_t> found;
    if (std::holds_alternative<elementwise>(what) || std::holds_alternative<normalization>(what)) found = {0};
    if (auto const* const s = std::get_if<broadcast_arithmetic>(&what);
        s != nullptr && s->operands.size() <= 2)
        for (std::size_t i = 0; i != s->operands.size(); ++i)
            if (is_contiguous(s->operands[i], s->count)) found.push_back(i);
    return found;
}

void run_on_host(layer const& what, operands const& io, void* scratch)
{
    if (auto const* const s = std::get_if<convolution>(&what))
        return convolve(*s, io.x(0), io.x(1), io.x(2), io.y(), static_cast<float*>(scratch));
    if (auto const* const s = std::get_if<product>(&what); s != nullptr && has_rows(*s))
        return multiply(*s, io.x(0), io.x(1), io.x(2), io.y());
    if (auto const* const s = std::get_if<normalization>(&what)) return normalize(*s, io);
    if (auto const* const s = std::get_if<softmax>(&what)) return compute_softmax(*s, io.x(0), io.y());
    if (auto const* const s = std::get_if<broadcast_arithmetic>(&what);
        s != nullptr && s->operands.size() == 2 && s->what == arithmetic::add &&
        is_contiguous(s->operands[0], s->count) && is_contiguous(s->operands[1], s->count))
        return add(s->count, io.x(0), io.x(1), io.y());
    run_as_formulas(what, io);
}

void run_as_formulas(layer const& what, operands const& io)
{
    if (std::holds_alternative<view>(what) && io.out_bytes != 0) std::memcpy(io.out, io.in[0], io.out_bytes);
    if (auto const* const s = std::get_if<constant>(&what)) return write(*s, io);
    run_in_elements(what, io, [](int count, auto const& formula) {
        for (int i = 0; i != count; ++i) formula(i);
    });
}

} // namespace run_network
