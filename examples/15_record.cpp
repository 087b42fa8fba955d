// SPDX-License-Identifier: BSL-1.0
// Records one training step of a small network: forward, backward, update. It is planned once and run two
// hundred times; weights are state, so each run continues from the last one. Prints the memory that this
// takes and how the loss falls. Then a recorded call reads a value that it has not declared, and is stopped.

#include <sublet/execution.hpp>
#include <sublet/sublet.hpp>

#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

/// Matrix product of operands given by row and column; calls `then(index, number)` for each element.
void multiply(std::size_t rows, std::size_t inner, std::size_t columns, auto a, auto b, auto then)
{
    for (std::size_t i = 0; i != rows; ++i)
        for (std::size_t j = 0; j != columns; ++j) {
            float sum = 0;
            for (std::size_t k = 0; k != inner; ++k) sum += a(i, k) * b(k, j);
            then(i * columns + j, sum);
        }
}
auto matrix(std::span<float const> of, std::size_t columns)
{
    return [=](std::size_t row, std::size_t column) { return of[row * columns + column]; };
}
auto transposed(std::span<float const> of, std::size_t columns)
{
    return [=](std::size_t row, std::size_t column) { return of[column * columns + row]; };
}
auto random_from(std::uint32_t seed) // -1 to 1
{
    return [seed]() mutable {
        seed = seed * 1664525 + 1013904223;
        return static_cast<float>(seed >> 8) / 8388608 - 1;
    };
}

int main()
{
    constexpr std::size_t batch = 64, wide[] = {2, 32, 32, 32, 1}, layers = 4;
    sublet::recorder net;
    sublet::recorded_value<float> x[layers + 1], error[layers + 1], weights[layers];
    x[0] = net.input<float>(batch * wide[0]);
    auto const wanted = net.input<float>(batch);
    auto const loss = net.output<float>(1);

    // Each layer multiplies; all but the last clamp at 0.
    for (std::size_t l = 0; l != layers; ++l) {
        auto const from = x[l], to = x[l + 1] = net.intermediate<float>(batch * wide[l + 1]);
        auto const w = weights[l] = net.state<float>(wide[l] * wide[l + 1]);
        net.record({from, w}, {to}, [=](auto& call) {
            multiply(batch, wide[l], wide[l + 1], matrix(call.read(from), wide[l]),
                     matrix(call.read(w), wide[l + 1]), [&, y = call.write(to)](auto i, float sum) {
                         y[i] = sum > 0 || l + 1 == layers ? sum : 0;
                     });
        });
    }
    auto const y = x[layers], difference = error[layers] = net.intermediate<float>(batch);
    auto const compare = net.record({y, wanted}, {difference, loss}, [=](auto& call) {
        float squares = 0;
        for (std::size_t i = 0; i != batch; ++i) {
            float const d = call.read(y)[i] - call.read(wanted)[i];
            call.write(difference)[i] = d;
            squares += d * d;
        }
        call.write(loss)[0] = squares / batch;
    });
    net.may_overwrite(compare, y, difference);
    for (std::size_t l = layers; l-- != 0;) {
        auto const from = x[l], e = error[l + 1], w = weights[l];
        auto const gradient = net.intermediate<float>(wide[l] * wide[l + 1]);
        net.record({from, e}, {gradient}, [=](auto& call) {
            multiply(wide[l], batch, wide[l + 1], transposed(call.read(from), wide[l]),
                     matrix(call.read(e), wide[l + 1]),
                     [g = call.write(gradient)](auto i, float sum) { g[i] = sum; });
        });
        if (l != 0) {
            auto const back = error[l] = net.intermediate<float>(batch * wide[l]);
            auto const step = net.record({e, w, from}, {back}, [=](auto& call) {
                multiply(batch, wide[l + 1], wide[l], matrix(call.read(e), wide[l + 1]),
                         transposed(call.read(w), wide[l + 1]),
                         [was = call.read(from), b = call.write(back)](auto i, float sum) {
                             b[i] = was[i] > 0 ? sum : 0;
                         });
            });
            net.may_overwrite(step, from, back);
        }
        net.record({w, gradient}, {w}, [=](auto& call) {
            for (std::size_t i = 0; i != call.write(w).size(); ++i)
                call.write(w)[i] -= 0.002f * call.read(gradient)[i];
        });
    }

    auto const planned = sublet::plan_memory(net, net.options());
    std::cout << planned.report() << '\n';
    sublet::cpu_executor training{net, net.options(), sublet::arena{planned}, net.kernel()};

    auto random = random_from(1);
    std::vector<float> trained[layers];
    for (std::size_t l = 0; l != layers; ++l) {
        for (std::size_t i = 0; i != wide[l] * wide[l + 1]; ++i)
            trained[l].push_back(random() / (l == 0 ? 1.f : 3.f));
        training.bind(weights[l], std::as_writable_bytes(std::span(trained[l])));
    }
    for (int run = 1; run <= 200; ++run) {
        auto const points = sublet::as<float>(training.input(x[0]));
        auto const products = sublet::as<float>(training.input(wanted));
        for (std::size_t i = 0; i != batch; ++i) {
            points[2 * i] = random(), points[2 * i + 1] = random();
            products[i] = points[2 * i] * points[2 * i + 1];
        }
        auto const report = training.run();
        if (run == 1 || run == 20 || run == 200)
            std::cout << "run " << run << ": a loss of "
                      << static_cast<int>(1000 * sublet::as<float>(training.output(loss))[0])
                      << " thousandths, in " << report.run.bytes.peak << " bytes, with "
                      << report.run.allocations.total << " allocations\n";
    }

    auto const second = net.output<float>(1);
    net.record({y}, {second}, [=](auto& call) { call.write(second)[0] = call.read(wanted)[0]; });
    sublet::cpu_executor incomplete{net, net.options(), sublet::recycle{}, net.kernel()};
    (void)incomplete.input(x[0]), (void)incomplete.input(wanted);
    for (std::size_t l = 0; l != layers; ++l)
        incomplete.bind(weights[l], std::as_writable_bytes(std::span(trained[l])));
    try {
        incomplete.run();
    } catch (sublet::run_error const& stopped) {
        std::cout << stopped.what() << '\n';
    }
}
