// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_GROWING_BATCHES_HPP
#define SUBLET_TEST_CUDA_GROWING_BATCHES_HPP

/// A program with one input and one output and with sizes that grow with a batch, planned for every batch,
/// and its results at each.

#include "../random_program.hpp"
#include "affine_bytes.hpp"
#include "cuda/device_run.hpp"
#include "cuda/synthetic.hpp"

#include <sublet/execution/cpu.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/plan_symbolic.hpp>
#include <sublet/testing/synthetic.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

struct growing_batches {
    growing_batches(random_program drawn, sublet::byte_count most)
        : p(std::move(drawn)), program(p.program()), options{.bytes = sizes(p),
                                                             .dims = batches(most),
                                                             .alignment = p.alignment,
                                                             .role = p.role,
                                                             .alias_of = p.alias_of},
          planned(sublet::plan_symbolic(program, options))
    {
        for (sublet::value_id v = 0; v != p.values(); ++v)
            if (has_role(p.role[v], sublet::value_role::output)) output = v;
    }
    /// Half fixed, half for each of the batch; every seventh value is fixed.
    static std::vector<affine_bytes> sizes(random_program const& p)
    {
        std::vector<affine_bytes> bytes;
        for (sublet::byte_count each : p.bytes) bytes.push_back({each, bytes.size() % 7 == 3 ? 0 : each});
        return bytes;
    }

    std::unique_ptr<device_executor>
    executor(digesting_device& device, sublet::arena const& mode, sublet::byte_count n,
             synthetic_words const& words, sublet::stream_options const& streams = {},
             sublet::executor_options::checks check = sublet::executor_options::checks::plan) const
    {
        return std::make_unique<device_executor>(device, program, options.at(n), mode,
                                                 device_synthetic_kernel{.words = &words}, streams,
                                                 sublet::executor_options{.check = check});
    }

    /// For every batch.
    std::unique_ptr<device_executor>
    executor(digesting_device& device, sublet::arena const& mode, synthetic_words const& words,
             sublet::executor_options::checks check = sublet::executor_options::checks::plan) const
    {
        return std::make_unique<device_executor>(
            device, program, options, mode, device_synthetic_kernel{.words = &words},
            sublet::stream_options{}, sublet::executor_options{.check = check});
    }

    std::size_t bytes_of(sublet::value_id v, sublet::byte_count n) const
    {
        return sublet::detail::to_size(options.bytes[v].at({n}));
    }
    std::vector<std::byte> image(sublet::byte_count n, unsigned number) const
    {
        std::vector<std::byte> bytes(bytes_of(0, n));
        sublet::fill_noise(bytes, number);
        return bytes;
    }
    void give(device_executor& run, sublet::byte_count n, unsigned number) const
    {
        run.give(0u, image(n, number));
    }
    std::uint64_t take(device_executor& run, sublet::byte_count n) const
    {
        std::vector<std::byte> bytes(bytes_of(output, n));
        run.take(output, bytes);
        return sublet::digest(bytes);
    }
    /// On the host, without a plan.
    std::uint64_t expected(sublet::byte_count n, unsigned number) const
    {
        sublet::cpu_executor run(program, options.at(n), sublet::no_plan{}, sublet::synthetic_kernel{});
        sublet::fill_noise(run.input(0u), number);
        run.run();
        return sublet::digest(run.output(output));
    }

    random_program p;
    sublet::snapshot program;
    sublet::symbolic_options options;
    sublet::planned_symbolic planned;
    sublet::value_id output = 0; ///< the input is value 0
};

#endif
