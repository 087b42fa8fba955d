// SPDX-License-Identifier: BSL-1.0

// Compares the formulas of every layer, which a CUDA device runs, with its definition: plain loops in double,
// over random shapes.

#include "../../test/rounds.hpp"
#include "elements.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace run_network;
using floats = std::vector<float>;

struct random_source {
    std::mt19937 engine;
    explicit random_source(unsigned seed) : engine(seed) {}

    int operator()(int low, int high) { return low + static_cast<int>(engine() % unsigned(high - low + 1)); }
    float noise() { return float(engine() % 20001) / 10000.0f - 1.0f; }
    floats tensor(int count)
    {
        floats all(std::size_t(count), 0.0f);
        for (float& f : all) f = noise();
        return all;
    }
};

/// An exact sum and the sum of its terms' magnitudes, which bounds the rounding error.
struct exact {
    double sum = 0, size = 1;
    void add(double term)
    {
        sum += term;
        size += std::abs(term);
    }
};

void check_equal(floats const& is, std::vector<exact> const& should)
{
    REQUIRE(is.size() == should.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i != is.size(); ++i)
        wrong += !(std::abs(double(is[i]) - should[i].sum) <= 3e-6 * should[i].size);
    CHECK(wrong == 0);
}

operands over(std::vector<floats> const& in, floats& out)
{
    operands io;
    for (floats const& f : in) io.in.push_back(f.data());
    io.out = out.data();
    io.out_bytes = out.size() * sizeof(float);
    return io;
}

floats in_elements(layer const& what, std::vector<floats> const& in, std::size_t count)
{
    floats out(count, NAN);
    run_in_elements(what, over(in, out), [](int elements, auto const& formula) {
        for (int i = elements; i-- != 0;) formula(i); // in any order
    });
    return out;
}

void check(layer const& what, std::vector<floats> const& in, std::vector<exact> const& should)
{
    check_equal(in_elements(what, in, should.size()), should);
}

/// A window that slides over at least its own width.
sliding random_window(random_source& roll, int most)
{
    sliding w;
    do {
        w = {.in = roll(1, most),
             .out = 0,
             .taps = roll(1, 4),
             .stride = roll(1, 3),
             .dilation = roll(1, 2),
             .before = roll(0, 2),
             .after = roll(0, 2)};
        if (roll(0, 2) == 0) w.stride = 1, w.before = w.after = 0;
        w.out = w.in + w.before + w.after - (w.taps - 1) * w.dilation - 1;
        if (w.out >= 0) w.out = w.out / w.stride + 1;
    } while (w.out <= 0);
    return w;
}

/// x[plane][row][column], 0 outside.
double at(floats const& x, sliding const& rows, sliding const& columns, int plane, int row, int column)
{
    if (row < 0 || row >= rows.in || column < 0 || column >= columns.in) return 0;
    return x[std::size_t((plane * rows.in + row) * columns.in + column)];
}

strided contiguous(std::vector<int> const& size)
{
    strided s;
    s.rank = int(size.size());
    for (int axis = s.rank - 1, stride = 1; axis >= 0; stride *= s.size[axis--]) {
        s.size[axis] = size[std::size_t(axis)];
        s.stride[axis] = stride;
    }
    return s;
}
strided constant_index()
{
    strided s;
    s.rank = 1;
    s.size[0] = 1;
    return s;
}

/// The indices of a tensor's elements, in order.
std::vector<std::vector<int>> indices_of(std::vector<int> const& size)
{
    std::vector<std::vector<int>> all{{}};
    for (int n : size) {
        std::vector<std::vector<int>> longer;
        for (auto const& head : all)
            for (int i = 0; i != n; ++i) {
                longer.push_back(head);
                longer.back().push_back(i);
            }
        all = longer;
    }
    return all;
}

int product_of(std::vector<int> const& size)
{
    int all = 1;
    for (int n : size) all *= n;
    return all;
}

} // namespace

TEST_CASE("the smallest convolution is a product, and padding is zero")
{
    convolution s;
    CHECK(in_elements(s, {{3}, {2}}, 1) == floats{6});
    s.rows = s.columns = {.in = 1, .out = 1, .taps = 3, .before = 1, .after = 1};
    CHECK(in_elements(s, {{3}, {9, 9, 9, 9, 2, 9, 9, 9, 9}}, 1) == floats{6});
    s.has_bias = true;
    CHECK(in_elements(s, {{3}, {9, 9, 9, 9, 2, 9, 9, 9, 9}, {1}}, 1) == floats{7});
}

TEST_CASE("a convolution matches its definition for any strides, pads, dilations and groups")
{
    for (unsigned seed = 0; seed != rounds(150); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        int const most = seed % 30 == 29 ? 60 : 9; // a few are longer than a block of a sum
        convolution s{.images = roll(1, 2),
                      .groups = roll(1, 3),
                      .channels = roll(1, 6),
                      .filters = roll(1, 3),
                      .rows = random_window(roll, most),
                      .columns = random_window(roll, most),
                      .has_bias = roll(0, 1) == 1};
        int const all = s.groups * s.filters;
        floats const x = roll.tensor(s.images * s.groups * s.channels * s.rows.in * s.columns.in);
        floats const w = roll.tensor(all * s.channels * s.rows.taps * s.columns.taps), b = roll.tensor(all);
        std::vector<exact> should;
        for (int n = 0; n != s.images; ++n)
            for (int m = 0; m != all; ++m)
                for (int i = 0; i != s.rows.out; ++i)
                    for (int j = 0; j != s.columns.out; ++j) {
                        exact y;
                        if (s.has_bias) y.add(b[std::size_t(m)]);
                        for (int c = 0; c != s.channels; ++c)
                            for (int k = 0; k != s.rows.taps; ++k)
                                for (int l = 0; l != s.columns.taps; ++l) {
                                    int const plane = (n * s.groups + m / s.filters) * s.channels + c;
                                    int const tap =
                                        ((m * s.channels + c) * s.rows.taps + k) * s.columns.taps + l;
                                    y.add(
                                        w[std::size_t(tap)] *
                                        at(x, s.rows, s.columns, plane,
                                           i * s.rows.stride + k * s.rows.dilation - s.rows.before,
                                           j * s.columns.stride + l * s.columns.dilation - s.columns.before));
                                }
                        should.push_back(y);
                    }
        check(s, {x, w, b}, should);
    }
}

TEST_CASE("a transposed convolution adds the weights times each element")
{
    for (unsigned seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        conv_transpose s{.images = roll(1, 2),
                         .groups = roll(1, 2),
                         .channels = roll(1, 3),
                         .filters = roll(1, 3),
                         .rows = random_window(roll, 8),
                         .columns = random_window(roll, 8),
                         .has_bias = roll(0, 1) == 1};
        int const all = s.groups * s.filters, planes = s.images * s.groups * s.channels;
        floats const x = roll.tensor(planes * s.rows.out * s.columns.out), b = roll.tensor(all);
        floats const w = roll.tensor(s.groups * s.channels * s.filters * s.rows.taps * s.columns.taps);
        std::vector<exact> should(std::size_t(s.images * all * s.rows.in * s.columns.in));
        for (std::size_t i = 0; s.has_bias && i != should.size(); ++i)
            should[i].add(b[i / std::size_t(s.rows.in * s.columns.in) % std::size_t(all)]);
        for (int p = 0; p != planes; ++p)
            for (int i = 0; i != s.rows.out; ++i)
                for (int j = 0; j != s.columns.out; ++j)
                    for (int f = 0; f != s.filters; ++f)
                        for (int k = 0; k != s.rows.taps; ++k)
                            for (int l = 0; l != s.columns.taps; ++l) {
                                int const row = i * s.rows.stride + k * s.rows.dilation - s.rows.before;
                                int const column =
                                    j * s.columns.stride + l * s.columns.dilation - s.columns.before;
                                if (row < 0 || row >= s.rows.in || column < 0 || column >= s.columns.in)
                                    continue;
                                int const c = p % (s.groups * s.channels), y = p / s.channels * s.filters + f;
                                int const tap = ((c * s.filters + f) * s.rows.taps + k) * s.columns.taps + l;
                                should[std::size_t((y * s.rows.in + row) * s.columns.in + column)].add(
                                    double(w[std::size_t(tap)]) *
                                    x[std::size_t((p * s.rows.out + i) * s.columns.out + j)]);
                            }
        check(s, {x, w, b}, should);
    }
}

TEST_CASE("a pool takes the maximum or the average of its window, also at the border")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        auto window = [&] {
            sliding w = random_window(roll, 9);
            w.before = std::min(w.before, w.taps - 1); // or a window could lie in the padding only
            w.after = std::min(w.after, w.taps - 1);
            w.dilation = 1;
            int const room = w.in + w.before + w.after - w.taps;
            if (room < 0) return sliding{.in = 1, .out = 1};
            w.out = room / w.stride + 1;
            bool const begins_inside = w.out * w.stride < w.in + w.before;
            if (room % w.stride != 0 && begins_inside) w.out += roll(0, 1); // rounded up
            return w;
        };
        pooling s{.is_max = roll(0, 1) == 1,
                  .counts_padding = roll(0, 1) == 1,
                  .planes = roll(1, 4),
                  .rows = window(),
                  .columns = window()};
        floats const x = roll.tensor(s.planes * s.rows.in * s.columns.in);
        std::vector<exact> should;
        for (int p = 0; p != s.planes; ++p)
            for (int i = 0; i != s.rows.out; ++i)
                for (int j = 0; j != s.columns.out; ++j) {
                    int const top = i * s.rows.stride - s.rows.before,
                              left = j * s.columns.stride - s.columns.before;
                    double largest = -1e9, sum = 0;
                    int inside = 0, padded = 0;
                    for (int r = top; r != top + s.rows.taps; ++r)
                        for (int c = left; c != left + s.columns.taps; ++c) {
                            padded += r < s.rows.in + s.rows.after && c < s.columns.in + s.columns.after;
                            if (r < 0 || r >= s.rows.in || c < 0 || c >= s.columns.in) continue;
                            ++inside;
                            sum += at(x, s.rows, s.columns, p, r, c);
                            largest = std::max(largest, at(x, s.rows, s.columns, p, r, c));
                        }
                    REQUIRE(inside > 0);
                    should.push_back({s.is_max ? largest : sum / (s.counts_padding ? padded : inside), 1});
                }
        check(s, {x}, should);
    }
}

TEST_CASE("layers over channels, rows and single elements match their definitions")
{
    for (unsigned seed = 0; seed != rounds(60); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        int const images = roll(1, 2), channels = roll(1, 8), plane = roll(1, 30),
                  all = images * channels * plane;
        floats const x = roll.tensor(all);
        auto X = [&](int n, int c, int i) { return double(x[std::size_t((n * channels + c) * plane + i)]); };
        std::vector<exact> normal, response, soft, average;

        floats scale = roll.tensor(channels), bias = roll.tensor(channels), mean_of = roll.tensor(channels);
        floats variance = roll.tensor(channels);
        for (float& v : variance) v = v * v + 0.1f;
        local_response const lrn{images, channels, plane, roll(1, 6), 0.5f, 0.75f, 2};
        for (int n = 0; n != images; ++n)
            for (int c = 0; c != channels; ++c)
                for (int i = 0; i != plane; ++i) {
                    auto const k = std::size_t(c);
                    double const factor = scale[k] / std::sqrt(double(variance[k]) + 0.01f);
                    normal.push_back(
                        {(X(n, c, i) - mean_of[k]) * factor + bias[k], 1 + std::abs(2 * factor)});
                    double squares = 0, top = 0;
                    int const low = (lrn.size - 1) / 2, high = lrn.size - 1 - low; // as ONNX rounds them
                    for (int d = std::max(0, c - low); d <= std::min(channels - 1, c + high); ++d)
                        squares += X(n, d, i) * X(n, d, i);
                    response.push_back({X(n, c, i) / std::pow(2 + 0.5 / lrn.size * squares, 0.75), 1});
                    for (int d = 0; d != channels; ++d) top += std::exp(X(n, d, i));
                    soft.push_back({std::exp(X(n, c, i)) / top, 1});
                }
        for (int r = 0; r != images * channels; ++r) {
            exact sum;
            for (int i = 0; i != plane; ++i) sum.add(X(0, r, i));
            average.push_back({sum.sum / plane, sum.size});
        }
        check(normalization{images, channels, plane, 0.01f}, {x, scale, bias, mean_of, variance}, normal);
        check(lrn, {x}, response);
        check(softmax{images * plane, channels, plane}, {x}, soft);
        check(reduction{images * channels, plane}, {x}, average);
        std::vector<exact> sum = average, largest = average, smallest = average;
        for (int r = 0; r != images * channels; ++r) {
            auto const row = x.begin() + r * plane;
            auto const at = std::size_t(r);
            sum[at].sum *= plane, sum[at].size *= plane;
            largest[at].sum = double(*std::max_element(row, row + plane));
            smallest[at].sum = double(*std::min_element(row, row + plane));
        }
        check(reduction{images * channels, plane, combined::sum}, {x}, sum);
        check(reduction{images * channels, plane, combined::largest}, {x}, largest);
        check(reduction{images * channels, plane, combined::smallest}, {x}, smallest);

        auto check_function = [&](function what, floats const& of, auto definition) {
            std::vector<exact> should;
            for (float f : of) should.push_back({definition(double(f)), 1});
            check(elementwise{what, all, -0.5f, 0.25f}, {of}, should);
        };
        check_function(function::clip, x, [](double v) { return std::clamp(v, -0.5, 0.25); });
        check_function(function::sigmoid, x, [](double v) { return 1 / (1 + std::exp(-v)); });
        check_function(function::tanh, x, [](double v) { return std::sinh(v) / std::cosh(v); });
        check_function(function::erf, x, [](double v) { return 1 - std::erfc(v); });
        check_function(function::exp, x, [](double v) { return std::pow(std::exp(1.0), v); });
        check_function(function::abs, x, [](double v) { return v < 0 ? -v : v; });
        check_function(function::negative, x, [](double v) { return 0 - v; });
        check_function(function::elu, x, [](double v) { return v < 0 ? -0.5 * (std::exp(v) - 1) : v; });
        check_function(function::leaky, x, [](double v) { return v < 0 ? -0.5 * v : v; });
        check_function(function::softplus, x, [](double v) { return std::log(1 + std::exp(v)); });
        check_function(function::hard_sigmoid, x,
                       [](double v) { return std::clamp(-0.5 * v + 0.25, 0.0, 1.0); });
        check_function(function::hard_swish, x,
                       [](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); });
        floats squares = x;
        for (float& f : squares) f *= f;
        floats positive = squares;
        for (float& f : positive) f += 0.125f;
        check_function(function::log, positive, [](double v) { return -std::log(1 / v); });
        check_function(function::sqrt, squares, [](double v) { return std::pow(v, 0.5); });
    }
    CHECK(in_elements(softmax{1, 3, 1}, {{1000, 1000, -1000}}, 3) ==
          floats{0.5f, 0.5f, 0}); // nothing overflows
}

TEST_CASE("operands of different shapes are broadcast along the axes that they lack")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        std::vector<int> size(std::size_t(roll(1, 4)));
        for (int& n : size) n = roll(1, 4);
        broadcast_arithmetic s;
        s.what = static_cast<arithmetic>(seed % 5);
        s.count = product_of(size);
        std::vector<floats> in;
        std::vector<std::vector<int>> sizes;
        int const operands = seed % 5 == 0 ? roll(1, 4) : 2; // a sum may have several
        for (int o = 0; o != operands; ++o) {
            auto& operand_size = sizes.emplace_back(size);
            for (int& n : operand_size)
                if (roll(0, 2) == 0) n = 1;
            in.push_back(roll.tensor(product_of(operand_size)));
            for (float& f : in.back()) f = s.what >= arithmetic::divide ? std::abs(f) + 0.5f : f;
            strided operand_layout = contiguous(operand_size);
            for (std::size_t axis = 0; axis != size.size(); ++axis) {
                operand_layout.size[axis] = size[axis];
                if (operand_size[axis] == 1) operand_layout.stride[axis] = 0;
            }
            s.operands.push_back(operand_layout);
        }
        std::vector<exact> should;
        for (auto const& index : indices_of(size)) {
            auto value = [&](std::size_t o) {
                std::size_t i = 0;
                for (std::size_t axis = 0; axis != size.size(); ++axis)
                    i = i * std::size_t(sizes[o][axis]) + std::size_t(sizes[o][axis] == 1 ? 0 : index[axis]);
                return double(in[o][i]);
            };
            double sum = value(0);
            for (std::size_t o = 1; o < in.size(); ++o) switch (s.what) {
                case arithmetic::add: sum += value(o); break;
                case arithmetic::subtract: sum -= value(o); break;
                case arithmetic::multiply: sum *= value(o); break;
                case arithmetic::divide: sum /= value(o); break;
                case arithmetic::power: sum = std::pow(sum, value(o)); break;
                }
            should.push_back({sum, 4});
        }
        check(s, in, should);
    }
    broadcast_arithmetic square;
    square.what = arithmetic::power;
    square.count = 2;
    square.operands = {contiguous({2}), constant_index()};
    square.operands[1].size[0] = 2;
    CHECK(in_elements(square, {{-3, 4}, {2}}, 2) == floats{9, 16});
}

TEST_CASE("a matrix product matches its definition, transposed or not, single or in a batch")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        product s;
        s.rows = roll(1, 7), s.depth = roll(1, 40), s.columns = seed % 25 == 24 ? 1500 : roll(1, 9);
        s.batch = roll(1, 3);
        bool const transposes_a = roll(0, 1) == 1, transposes_b = roll(0, 1) == 1,
                   is_shared = roll(0, 1) == 1;
        s.a_row = transposes_a ? 1 : s.depth, s.a_depth = transposes_a ? s.rows : 1;
        s.b_depth = transposes_b ? 1 : s.columns, s.b_column = transposes_b ? s.depth : 1;
        s.a = s.b = contiguous({s.batch});
        s.a.stride[0] = s.rows * s.depth;
        s.b.stride[0] = is_shared ? 0 : s.depth * s.columns;
        s.alpha = roll.noise(), s.beta = roll.noise(), s.has_c = roll(0, 1) == 1;
        s.c_row = roll(0, 1) * s.columns, s.c_column = roll(0, 1);
        floats const a = roll.tensor(s.batch * s.rows * s.depth),
                     b = roll.tensor(s.batch * s.depth * s.columns);
        floats const c = roll.tensor(s.rows * s.columns);
        std::vector<exact> should;
        for (int n = 0; n != s.batch; ++n)
            for (int i = 0; i != s.rows; ++i)
                for (int j = 0; j != s.columns; ++j) {
                    exact y;
                    for (int k = 0; k != s.depth; ++k) {
                        int const left =
                            n * s.rows * s.depth + (transposes_a ? k * s.rows + i : i * s.depth + k);
                        int const right = (is_shared ? 0 : n * s.depth * s.columns) +
                                          (transposes_b ? j * s.depth + k : k * s.columns + j);
                        y.add(double(s.alpha) * a[std::size_t(left)] * b[std::size_t(right)]);
                    }
                    if (s.has_c) y.add(double(s.beta) * c[std::size_t(i * s.c_row + j * s.c_column)]);
                    should.push_back(y);
                }
        check(s, {a, b, c}, should);
    }
}

TEST_CASE("layers that only move elements put each at its position")
{
    for (unsigned seed = 0; seed != rounds(100); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        std::vector<int> size(std::size_t(roll(1, 4)));
        for (int& n : size) n = roll(1, 4);
        floats const x = roll.tensor(product_of(size));
        auto X = [&](std::vector<int> const& index) {
            std::size_t i = 0;
            for (std::size_t axis = 0; axis != size.size(); ++axis)
                i = i * std::size_t(size[axis]) + std::size_t(index[axis]);
            return double(x[i]);
        };

        std::vector<std::size_t> order(size.size()); // a transposition
        for (std::size_t axis = 0; axis != order.size(); ++axis) order[axis] = axis;
        std::shuffle(order.begin(), order.end(), roll.engine);
        std::vector<int> transposed;
        strided from = contiguous(size), inside = from;
        for (std::size_t axis = 0; axis != order.size(); ++axis) {
            transposed.push_back(size[order[axis]]);
            inside.size[axis] = size[order[axis]];
            inside.stride[axis] = from.stride[order[axis]];
        }
        std::vector<exact> should;
        for (auto const& index : indices_of(transposed)) {
            std::vector<int> source(index.size());
            for (std::size_t axis = 0; axis != order.size(); ++axis) source[order[axis]] = index[axis];
            should.push_back({X(source), 0});
        }
        check(strided_copy{product_of(transposed), inside}, {x}, should);

        padding pad{.inside = from, .value = 7}; // some elements in a larger frame
        std::vector<int> framed;
        for (std::size_t axis = 0; axis != size.size(); ++axis) {
            pad.before[axis] = roll(0, 2);
            pad.in[axis] = size[axis];
            framed.push_back(pad.before[axis] + size[axis] + roll(0, 2));
            pad.inside.size[axis] = framed.back();
        }
        pad.count = product_of(framed);
        should.clear();
        for (auto const& index : indices_of(framed)) {
            bool is_inside = true;
            std::vector<int> source = index;
            for (std::size_t axis = 0; axis != size.size(); ++axis) {
                source[axis] -= pad.before[axis];
                is_inside = is_inside && source[axis] >= 0 && source[axis] < size[axis];
            }
            should.push_back({is_inside ? X(source) : 7, 0});
        }
        check(pad, {x}, should);

        concatenation join;
        join.rows = roll(1, 3); // concatenated operands
        std::vector<floats> parts;
        for (int o = roll(1, 4); o != 0; --o) {
            join.lengths.push_back(roll(0, 3));
            join.length += join.lengths.back();
            parts.push_back(roll.tensor(join.rows * join.lengths.back()));
        }
        should.clear();
        for (int r = 0; r != join.rows; ++r)
            for (std::size_t o = 0; o != parts.size(); ++o)
                for (int i = 0; i != join.lengths[o]; ++i)
                    should.push_back({parts[o][std::size_t(r * join.lengths[o] + i)], 0});
        check(join, parts, should);

        gather rows{.outer = roll(1, 3), .axis = roll(1, 5), .inner = roll(1, 3), .indices = roll(1, 4)};
        rows.is_wide = roll(0, 1) == 1;
        floats const data = roll.tensor(rows.outer * rows.axis * rows.inner);
        std::vector<std::int64_t> wide;
        for (int i = 0; i != rows.indices; ++i)
            wide.push_back(roll(-rows.axis, rows.axis - 1)); // from the end too
        std::vector<std::int32_t> const narrow(wide.begin(), wide.end());
        should.clear();
        for (int o = 0; o != rows.outer; ++o)
            for (std::int64_t k : wide)
                for (int i = 0; i != rows.inner; ++i) {
                    int const row = int(k < 0 ? k + rows.axis : k);
                    should.push_back({data[std::size_t((o * rows.axis + row) * rows.inner + i)], 0});
                }
        floats out(should.size(), NAN);
        operands io = over({data, {}}, out);
        io.in[0] = data.data();
        io.in[1] = rows.is_wide ? static_cast<void const*>(wide.data()) : narrow.data();
        run_as_formulas(rows, io);
        check_equal(out, should);
    }
    floats words(5, NAN);
    constant const pattern{{0, 0, 128, 63, 0, 0, 0, 64}}; // 1 and 2, little endian
    operands const io = over({}, words);
    run_as_formulas(pattern, io);
    CHECK(words == floats{1, 2, 1, 2, 1});
}

TEST_CASE("a resized plane is linear between the centres of its elements, and constant beyond them")
{
    for (unsigned seed = 0; seed != rounds(40); ++seed) {
        CAPTURE(seed);
        random_source roll(seed);
        linear_resize s{.planes = roll(1, 2),
                        .rows_in = roll(1, 5),
                        .columns_in = roll(1, 5),
                        .rows = roll(1, 9),
                        .columns = roll(1, 9)};
        s.row_step = float(s.rows_in) / float(s.rows);
        s.column_step = float(s.columns_in) / float(s.columns);
        floats const x = roll.tensor(s.planes * s.rows_in * s.columns_in);
        auto share = [](int in, double at, int i) { // a hat function around each centre
            return std::max(0.0, 1 - std::abs(std::clamp(at, 0.0, in - 1.0) - i));
        };
        std::vector<exact> should;
        for (int p = 0; p != s.planes; ++p)
            for (int r = 0; r != s.rows; ++r)
                for (int c = 0; c != s.columns; ++c) {
                    exact y;
                    for (int i = 0; i != s.rows_in; ++i)
                        for (int j = 0; j != s.columns_in; ++j)
                            y.add(share(s.rows_in, (r + 0.5) * s.rows_in / s.rows - 0.5, i) *
                                  share(s.columns_in, (c + 0.5) * s.columns_in / s.columns - 0.5, j) *
                                  x[std::size_t((p * s.rows_in + i) * s.columns_in + j)]);
                    should.push_back(y);
                }
        check(s, {x}, should);
    }
}

TEST_CASE("a layer that may overwrite an operand has the same result in place, bit by bit")
{
    random_source roll(1);
    int const all = 24;
    broadcast_arithmetic sum, scaled;
    sum.count = scaled.count = all;
    sum.operands = {contiguous({4, 6}), contiguous({2, 12})};
    scaled.what = arithmetic::multiply;
    scaled.operands = {contiguous({4, 6}), contiguous({4, 6})};
    scaled.operands[0].stride[1] = 0, scaled.operands[0].stride[0] = 1; // one for each row
    std::size_t pairs = 0;
    for (layer const& what :
         {layer(elementwise{function::clip, all, 0, 1}), layer(elementwise{function::erf, all}),
          layer(normalization{1, 4, 6}), layer(sum), layer(scaled)}) {
        std::vector<floats> in(5, roll.tensor(all));
        for (float& f : in[4]) f *= f; // a variance
        for (std::size_t operand : overwritable_operands(what)) {
            CAPTURE(operand);
            ++pairs;
            floats buffer = in[operand];
            operands io = over(in, buffer);
            io.in[operand] = buffer.data();
            run_as_formulas(what, io);
            CHECK(buffer == in_elements(what, in, std::size_t(all)));
        }
    }
    CHECK(pairs == 6);
    CHECK(overwritable_operands(scaled) == std::vector<std::size_t>{1});
    sum.operands.push_back(sum.operands[0]); // the first two are summed before the third is read
    for (layer const& what : {layer(sum), layer(convolution{}), layer(pooling{}), layer(softmax{}),
                              layer(product{}), layer(local_response{}), layer(concatenation{}),
                              layer(padding{}), layer(strided_copy{}), layer(reduction{}), layer(view{})})
        CHECK(overwritable_operands(what).empty());
}
