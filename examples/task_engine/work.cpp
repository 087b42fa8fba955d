// SPDX-License-Identifier: BSL-1.0
#include "work.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace task_engine {
namespace {

using operands = std::vector<double const*>;

std::string at(char const* what, std::size_t i, std::size_t j)
{
    return what + std::string(" ") + std::to_string(i) + ' ' + std::to_string(j);
}

/// Of the matrix to be factored: symmetric, and positive definite, because the diagonal outweighs its row.
double entry(std::size_t r, std::size_t c, std::size_t size)
{
    std::size_t const apart = r < c ? c - r : r - c;
    return apart == 0 ? static_cast<double>(size) : 1 / static_cast<double>(1 + apart);
}

/// In place, row by row; zeros above the diagonal.
void factor(double* a, std::size_t n)
{
    for (std::size_t r = 0; r != n; ++r)
        for (std::size_t c = 0; c != n; ++c) {
            double sum = a[r * n + c];
            for (std::size_t k = 0; k < std::min(r, c); ++k) sum -= a[r * n + k] * a[c * n + k];
            a[r * n + c] = c > r ? 0 : c == r ? std::sqrt(sum) : sum / a[c * n + c];
        }
}

double log_of_diagonal(double const* l, std::size_t n)
{
    double sum = 0;
    for (std::size_t r = 0; r != n; ++r) sum += 2 * std::log(l[r * n + r]);
    return sum;
}

double sum_of_squares(double const* l, std::size_t n)
{
    double sum = 0;
    for (std::size_t i = 0; i != n * n; ++i) sum += l[i] * l[i];
    return sum;
}

} // namespace

sublet::listing<block_number> work::listed() const
{
    sublet::listing<block_number> list;
    for (block_number b = 0; b != tasks.size(); ++b) {
        task const& its = tasks[b];
        auto step = list.step(its.name);
        for (block_number read : its.reads) step.read(read);
        step.make(b, {.bytes = sizes[b] * sizeof(double),
                      .alignment = 64,
                      .role = its.is_result ? sublet::value_role::output : sublet::value_role::intermediate});
        if (its.is_by_element) step.may_overwrite(its.reads.front(), b);
    }
    return list;
}

work cholesky(std::size_t blocks, std::size_t rows)
{
    work made;
    made.title = "Cholesky, " + std::to_string(blocks) + " x " + std::to_string(blocks) + " blocks of " +
                 std::to_string(rows) + " x " + std::to_string(rows);
    std::size_t const size = blocks * rows, area = rows * rows;
    std::vector<std::vector<block_number>> l(blocks, std::vector<block_number>(blocks));
    std::vector<block_number> sums;
    for (std::size_t j = 0; j != blocks; ++j)
        for (std::size_t i = j; i != blocks; ++i) {
            block_number a = made.add({at("load", i, j),
                                       {},
                                       [=](operands const&, double* out) {
                                           for (std::size_t k = 0; k != area; ++k)
                                               out[k] = entry(i * rows + k / rows, j * rows + k % rows, size);
                                       }},
                                      area);
            for (std::size_t k = 0; k != j; ++k) { // A[i][j] -= L[i][k] L[j][k]^T
                std::vector<block_number> reads{a, l[i][k]};
                if (i != j) reads.push_back(l[j][k]);
                auto const update = [=](operands const& in, double* out) {
                    double const *left = in[1], *right = in.back();
                    for (std::size_t r = 0; r != rows; ++r)
                        for (std::size_t c = 0; c != rows; ++c) {
                            double sum = in[0][r * rows + c];
                            for (std::size_t m = 0; m != rows; ++m)
                                sum -= left[r * rows + m] * right[c * rows + m];
                            out[r * rows + c] = sum;
                        }
                };
                a = made.add({at("update", i, j), std::move(reads), update, true}, area);
            }
            if (i == j) {
                auto const on_diagonal = [=](operands const& in, double* out) {
                    if (out != in[0]) std::copy_n(in[0], area, out);
                    factor(out, rows);
                };
                l[i][j] = made.add({at("factor", i, j), {a}, on_diagonal, true}, area);
            } else {
                auto const solve = [=](operands const& in, double* out) { // X L[j][j]^T = A[i][j]
                    double const* diagonal = in[1];
                    for (std::size_t r = 0; r != rows; ++r)
                        for (std::size_t c = 0; c != rows; ++c) {
                            double sum = in[0][r * rows + c];
                            for (std::size_t k = 0; k != c; ++k)
                                sum -= out[r * rows + k] * diagonal[c * rows + k];
                            out[r * rows + c] = sum / diagonal[c * rows + c];
                        }
                };
                l[i][j] = made.add({at("solve", i, j), {a, l[j][j]}, solve, true}, area);
            }
            sums.push_back(made.add({at("sum", i, j),
                                     {l[i][j]},
                                     [=](operands const& in, double* out) {
                                         out[0] = i == j ? log_of_diagonal(in[0], rows) : 0;
                                         out[1] = sum_of_squares(in[0], rows);
                                     }},
                                    2));
        }
    auto const add = [](operands const& in, double* out) {
        out[0] = out[1] = 0;
        for (double const* sum : in) {
            out[0] += sum[0];
            out[1] += sum[1];
        }
    };
    made.add({"all", sums, add, false, true}, 2);
    return made;
}

std::vector<double> cholesky_at_once(std::size_t size)
{
    std::vector<double> a(size * size);
    for (std::size_t k = 0; k != a.size(); ++k) a[k] = entry(k / size, k % size, size);
    factor(a.data(), size);
    return {log_of_diagonal(a.data(), size), sum_of_squares(a.data(), size)};
}

work network()
{
    constexpr std::size_t rows = 16, channels = 64, stages = 4, branches = 4;
    work made;
    made.title = "network, " + std::to_string(rows) + " rows";
    auto product = [&](std::string name, block_number from, std::size_t inner, std::size_t columns) {
        auto const seed = made.tasks.size();
        auto const multiply = [=](operands const& in, double* out) {
            auto weight = [=](std::size_t r, std::size_t c) { // any numbers
                return (static_cast<double>((r * 31 + c * 17 + seed * 7) % 23) - 11) / 64;
            };
            std::fill_n(out, rows * columns, 0.0);
            for (std::size_t r = 0; r != rows; ++r)
                for (std::size_t k = 0; k != inner; ++k)
                    for (std::size_t c = 0; c != columns; ++c)
                        out[r * columns + c] += in[0][r * inner + k] * weight(k, c);
        };
        return made.add({std::move(name), {from}, multiply}, rows * columns);
    };
    block_number x = made.add({"load",
                               {},
                               [](operands const&, double* out) {
                                   for (std::size_t k = 0; k != rows * channels; ++k)
                                       out[k] = static_cast<double>(k % 13) / 13;
                               }},
                              rows * channels);
    for (std::size_t s = 0; s != stages; ++s) {
        std::vector<block_number> joined{x};
        for (std::size_t b = 0; b != branches; ++b) {
            std::size_t const columns = std::size_t{32} << b;
            block_number const wide = product(at("widen", s, b), x, channels, columns);
            auto const above_zero = [=](operands const& in, double* out) {
                for (std::size_t k = 0; k != rows * columns; ++k) out[k] = std::max(in[0][k], 0.0);
            };
            block_number const cut = made.add({at("cut", s, b), {wide}, above_zero, true}, rows * columns);
            joined.push_back(product(at("narrow", s, b), cut, columns, channels));
        }
        auto const add = [](operands const& in, double* out) {
            for (std::size_t k = 0; k != rows * channels; ++k) {
                double sum = 0;
                for (double const* one : in) sum += one[k];
                out[k] = sum / static_cast<double>(in.size());
            }
        };
        x = made.add({"join " + std::to_string(s), joined, add, true, s + 1 == stages}, rows * channels);
    }
    return made;
}

work training()
{
    constexpr std::size_t layers = 6, rows = 24, width = 48, area = width * width;
    work made;
    made.title = "training step, " + std::to_string(layers) + " layers";
    auto number = [](std::size_t k, std::size_t seed) { // any numbers
        return (static_cast<double>((k * 37 + seed * 11) % 29) - 14) / 64;
    };
    auto load = [&](std::string name, std::size_t size, std::size_t seed) {
        auto const fill = [=](operands const&, double* out) {
            for (std::size_t k = 0; k != size; ++k) out[k] = number(k, seed);
        };
        return made.add({std::move(name), {}, fill}, size);
    };
    std::vector<block_number> weight, value{load("load", rows * width, 0)}; // value l: what layer l is given
    for (std::size_t l = 0; l != layers; ++l)
        weight.push_back(load("weights " + std::to_string(l), area, l + 1));
    for (std::size_t l = 0; l != layers; ++l) {
        auto const forward = [](operands const& in, double* out) {
            for (std::size_t r = 0; r != rows; ++r)
                for (std::size_t c = 0; c != width; ++c) {
                    double sum = 0;
                    for (std::size_t k = 0; k != width; ++k)
                        sum += in[0][r * width + k] * in[1][k * width + c];
                    out[r * width + c] = std::max(sum, 0.0);
                }
        };
        value.push_back(
            made.add({"layer " + std::to_string(l), {value[l], weight[l]}, forward}, rows * width));
    }
    auto const from_half = [](operands const& in, double* out) { // of half the sum of (value - 1/2)^2
        for (std::size_t k = 0; k != rows * width; ++k) out[k] = in[0][k] - 0.5;
    };
    block_number ahead = made.add({"loss", {value[layers]}, from_half}, rows * width); // gradient of a value
    for (std::size_t l = layers; l-- != 0;) {
        auto const where_above_zero = [](operands const& in, double* out) {
            for (std::size_t k = 0; k != rows * width; ++k) out[k] = in[1][k] > 0 ? in[0][k] : 0;
        };
        ahead = made.add({"cut " + std::to_string(l), {ahead, value[l + 1]}, where_above_zero, true},
                         rows * width);
        auto const of_weights = [](operands const& in, double* out) {
            std::fill_n(out, area, 0.0);
            for (std::size_t r = 0; r != rows; ++r)
                for (std::size_t i = 0; i != width; ++i)
                    for (std::size_t c = 0; c != width; ++c)
                        out[i * width + c] += in[0][r * width + i] * in[1][r * width + c];
        };
        block_number const slope =
            made.add({"slope " + std::to_string(l), {value[l], ahead}, of_weights}, area);
        if (l != 0) {
            auto const of_operand = [](operands const& in, double* out) {
                for (std::size_t r = 0; r != rows; ++r)
                    for (std::size_t i = 0; i != width; ++i) {
                        double sum = 0;
                        for (std::size_t c = 0; c != width; ++c)
                            sum += in[0][r * width + c] * in[1][i * width + c];
                        out[r * width + i] = sum;
                    }
            };
            ahead = made.add({"back " + std::to_string(l), {ahead, weight[l]}, of_operand}, rows * width);
        }
        auto const descend = [](operands const& in, double* out) {
            for (std::size_t k = 0; k != area; ++k) out[k] = in[0][k] - in[1][k] / 1024;
        };
        made.add({"update " + std::to_string(l), {weight[l], slope}, descend, true, true}, area);
    }
    return made;
}

} // namespace task_engine
