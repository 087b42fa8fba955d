// SPDX-License-Identifier: BSL-1.0

// What layers_test.cpp does not see, which compares formulas with primitives and rules: pools at the border,
// and operands that are overwritten.

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
} // namespace

TEST_CASE("the smallest convolution is a product, and padding is zero")
{
    convolution s;
    CHECK(in_elements(s, {{3}, {2}}, 1) == floats{6});
    s.rows = s.columns = {.in = 1, .out = 1, .taps = 3, .before = 1, .after = 1};
    CHECK(in_elements(s, {{3}, {9, 9, 9, 9, 2, 9, 9, 9, 9}}, 1) == floats{6});
    s.has_bias = true;
    CHECK(in_elements(s, {{3}, {9, 9, 9, 9, 2, 9, 9, 9, 9}, {1}}, 1) == floats{7});
    CHECK(in_elements(softmax{1, 3, 1}, {{1000, 1000, -1000}}, 3) == floats{0.5f, 0.5f, 0}); // no overflow
    floats words(5, NAN);
    run_as_formulas(constant{{0, 0, 128, 63, 0, 0, 0, 64}}, over({}, words)); // 1 and 2, little endian
    CHECK(words == floats{1, 2, 1, 2, 1});
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
                              layer(strided_copy{}), layer(reduction{}), layer(view{})})
        CHECK(overwritable_operands(what).empty());
}
