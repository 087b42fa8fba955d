// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_CUDA_CASES_HPP
#define SUBLET_BENCH_CUDA_CASES_HPP

/// Runs the cases of device_cases.hpp on CUDA: first checked, then timed. A test runs the same on the fake of
/// the CUDA runtime.
///
///     check_case      synthetic kernels: every byte of a result depends on every byte of the operands
///     measure_case    one kernel a step, no digests; a pool of its own, all counters reset, memory trimmed

#include "../test/cuda/synthetic.hpp"
#include "device_cases.hpp"
#include "measure.hpp"
#include "step_kernel.hpp"

#include <sublet/execution/cuda.hpp>
#include <sublet/execution/streams.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace bench {

using sublet::cuda_device;

// --- memory ----------------------------------------------------------------------------------------------

[[nodiscard]] inline byte_count free_bytes(cuda_device& device)
{
    std::size_t free = 0, total = 0;
    device.calls()("cudaMemGetInfo", [&] { return cudaMemGetInfo(&free, &total); });
    return free;
}

/// Allocates like a program without a pool: CUDA synchronizes at each allocation and release.
class malloc_device : public cuda_device {
public:
    using cuda_device::cuda_device;

    std::byte* allocate(byte_count bytes, byte_count, stream_type)
    {
        void* block = nullptr;
        auto const room = static_cast<std::size_t>(std::max<byte_count>(bytes, 1));
        calls()("cudaMalloc", [&] { return cudaMalloc(&block, room); });
        used_ += bytes;
        used_high_ = std::max(used_high_, used_);
        return static_cast<std::byte*>(block);
    }
    void deallocate(std::byte* block, byte_count bytes, byte_count, stream_type)
    {
        used_ -= bytes;
        if (!is_lost()) calls().give_back("cudaFree", [&] { return cudaFree(block); });
    }
    [[nodiscard]] byte_count used_high() const { return used_high_; }

private:
    byte_count used_ = 0, used_high_ = 0;
};

/// Most bytes in use and most bytes taken from the device since the counters were reset.
struct device_use {
    byte_count used = 0, reserved = 0;
};
[[nodiscard]] inline device_use use_of(cuda_device& device)
{
    auto const pool = device.memory(), graphs = device.graph_memory();
    return {pool.used_high + graphs.used_high, pool.reserved_high + graphs.reserved_high};
}
[[nodiscard]] inline device_use use_of(malloc_device& device)
{
    return {device.used_high(), 0}; // CUDA does not count it
}

/// Whether memory is what a run lacked.
[[nodiscard]] inline bool is_out_of_memory(std::exception_ptr why)
{
    while (why) {
        std::exception_ptr cause;
        try {
            std::rethrow_exception(why);
        } catch (sublet::allocation_error const& failure) {
            cause = failure.cause();
            if (!cause) return true;
        } catch (sublet::run_error const& failure) {
            cause = failure.cause();
        } catch (sublet::cuda_error const& failure) {
            return failure.code() == cudaErrorMemoryAllocation;
        } catch (...) {
        }
        why = cause;
    }
    return false;
}

/// Page-locked memory of the host, which the device copies to and from by itself.
class host_block {
public:
    host_block(cuda_device& device, byte_count bytes) : device_(device)
    {
        auto const room = static_cast<std::size_t>(std::max<byte_count>(bytes, 1));
        device.calls()("cudaMallocHost", [&] { return cudaMallocHost(&block_, room); });
    }
    host_block(host_block const&) = delete;
    host_block& operator=(host_block const&) = delete;
    ~host_block()
    {
        device_.calls().call_noexcept([&] { return cudaFreeHost(block_); });
    }
    [[nodiscard]] std::byte* first() const { return static_cast<std::byte*>(block_); }

private:
    cuda_device& device_;
    void* block_ = nullptr;
};

/// External values, such as weights, on the device; and the digest of results, computed there.
class device_values {
public:
    /// Throws: cuda_error if there is no memory for them.
    device_values(cuda_device& device, device_subject const& of)
        : device_(device), of_(of), stream_(device.make_stream())
    {
        bytes_ = 256; // two words
        for (value_id v : of.externals) {
            begin_.push_back(bytes_);
            bytes_ = sublet::align_up(sublet::checked_add(bytes_, room(v)), device_alignment);
        }
        try {
            block_ = device.allocate(bytes_, device_alignment, stream_);
            device.synchronize(stream_);
        } catch (...) {
            device.destroy_stream(stream_);
            throw;
        }
    }
    device_values(device_values const&) = delete;
    device_values& operator=(device_values const&) = delete;
    ~device_values()
    {
        try {
            device_.deallocate(block_, bytes_, device_alignment, stream_);
        } catch (sublet::cuda_error const&) { // ignored in a destructor
        }
        device_.destroy_stream(stream_);
    }

    /// The same contents before every checked run.
    void fill()
    {
        for (std::size_t i = 0; i != begin_.size(); ++i)
            fill({block_ + begin_[i], room(of_.externals[i])}, of_.externals[i]);
        device_.synchronize(stream_);
    }
    template <class Executor>
    void bind(Executor& execute)
    {
        for (std::size_t i = 0; i != begin_.size(); ++i)
            execute.bind(of_.externals[i], {block_ + begin_[i], room(of_.externals[i])});
    }
    template <class Executor>
    void give_inputs(Executor& execute)
    {
        for (value_id v : of_.inputs) fill(execute.input(v), v);
        device_.synchronize(stream_);
    }
    /// Of external values and of these outputs.
    template <class Executor>
    std::uint64_t digest_of(Executor& execute, std::vector<value_id> const& outputs)
    {
        device_.calls()("set", [&] { return kernels::set(stream_, sum(), 0), cudaPeekAtLastError(); });
        for (std::size_t i = 0; i != begin_.size(); ++i)
            add_digest({block_ + begin_[i], room(of_.externals[i])});
        for (value_id v : outputs) add_digest(execute.output(v));
        std::uint64_t digest = 0;
        device_.copy_from_device(std::as_writable_bytes(std::span(&digest, 1)), block_, stream_);
        device_.synchronize(stream_);
        return digest;
    }

private:
    std::size_t room(value_id v) const
    {
        byte_count const bytes = of_.bytes[v];
        return sublet::detail::to_size(bytes == sublet::no_size ? unknown_room : bytes);
    }
    kernels::word* sum() const { return reinterpret_cast<kernels::word*>(block_); }
    void fill(std::span<std::byte> bytes, value_id v)
    {
        device_.calls()("fill_noise", [&] {
            kernels::set(stream_, sum(), 0);
            kernels::fill_noise(stream_, bytes.data(), bytes.size(), sum(), v, false);
            return cudaPeekAtLastError();
        });
    }
    void add_digest(std::span<std::byte const> bytes)
    {
        device_.calls()("take_digest", [&] {
            kernels::take_digest(stream_, bytes.data(), bytes.size(), sum() + 1);
            kernels::fold_in(stream_, sum(), sum() + 1);
            return cudaPeekAtLastError();
        });
    }

    cuda_device& device_;
    device_subject const& of_;
    cudaStream_t stream_;
    std::vector<byte_count> begin_{}; // by external value
    byte_count bytes_ = 0;
    std::byte* block_ = nullptr; // a sum, a digest, the values
};

// --- kernels ---------------------------------------------------------------------------------------------

/// Launches in the order of issue, with their arguments.
struct launch_list {
    struct kernel {
        std::size_t first; // of its operands
        unsigned reads, count;
    };
    std::vector<step_kernel::operand> operands;
    std::vector<launch_list::kernel> all;
    bool is_open = true;

    void add(step_kernel::operand const* of, unsigned reads, unsigned count)
    {
        if (!is_open) return;
        all.push_back({operands.size(), reads, count});
        operands.insert(operands.end(), of, of + count);
    }
    void issue(cudaStream_t stream, unsigned blocks) const
    {
        for (launch_list::kernel const& k : all)
            step_kernel::launch(stream, blocks, operands.data() + k.first, k.reads, k.count);
    }
};

struct case_kernel {
    unsigned blocks = 1;                    ///< of step_kernel::full_grid()
    synthetic_words const* words = nullptr; ///< not null: the results are to be checked
    launch_list* recorded = nullptr;
    operand_list operands = {};

    template <class Call>
    void operator()(Call const& call)
    {
        if (words != nullptr) return device_synthetic_kernel{words}(call);
        operands.list(call);
        operands.each_kernel([&](step_kernel::operand const* of, unsigned reads, unsigned count) {
            step_kernel::launch(call.stream(), blocks, of, reads, count);
            if (recorded != nullptr) recorded->add(of, reads, count);
        });
    }
};

struct copy_kernel {
    template <class Call>
    void operator()(Call const& call) const
    {
        (void)cudaMemcpyAsync(call.out(0).data(), call.in(0).data(), call.in(0).size(), cudaMemcpyDefault,
                              call.stream()); // the device reports a failure
    }
};

// --- one case --------------------------------------------------------------------------------------------

struct run_times {
    std::vector<double> issue, total; ///< milliseconds
};

struct case_row {
    bool is_too_large = false;
    std::uint64_t digest = 0;
    command_counts counts;
    byte_count counted = 0;
    device_use use;
    run_times its, raw;
};

/// `give()`, then `issue()` and `wait()` are timed; the first of `runs` + 1 runs is not counted.
template <class Give, class Issue, class Wait>
void measure_runs(int runs, run_times& into, Give give, Issue issue, Wait wait)
{
    for (int i = 0; i <= runs; ++i) {
        give();
        double issued = 0;
        double const ms = milliseconds([&] {
            issued = milliseconds(issue);
            wait();
        });
        if (i == 0) continue;
        into.issue.push_back(issued);
        into.total.push_back(ms);
    }
}

/// What all cases of a program share.
struct case_setting {
    int device = 0;
    device_subject const& of;
    device_values& values;
    synthetic_words const& words; ///< one place for each step
    unsigned blocks = 1;
    std::size_t streams = 4;
};

/// Runs it once, with the plan proved, and notes the digest of its results.
template <class Device>
void check_case(case_setting const& how, device_case const& c, case_row& row)
{
    how.values.fill();
    Device device(how.device);
    with_device_case(device, how.of, c, how.streams, case_kernel{how.blocks, &how.words}, true,
                     [&](auto& execute) {
                         how.values.bind(execute);
                         if (c.is_captured) {
                             auto graph = execute.capture();
                             how.values.give_inputs(execute);
                             graph.launch();
                             execute.synchronize();
                             row.digest = how.values.digest_of(execute, how.of.outputs);
                         } else {
                             how.values.give_inputs(execute);
                             execute.run();
                             row.digest = how.values.digest_of(execute, how.of.outputs);
                         }
                     });
}

/// Times so many runs, after one that is not timed.
template <class Device>
void measure_case(case_setting const& how, device_case const& c, int runs, case_row& row)
{
    Device device(how.device);
    device.trim();
    device.reset_high();
    launch_list recorded;
    case_kernel const kernel{how.blocks, nullptr, is_raw_reference(c) ? &recorded : nullptr};
    with_device_case(device, how.of, c, how.streams, kernel, false, [&](auto& execute) {
        how.values.bind(execute);
        auto give = [&] {
            recorded.is_open = recorded.all.empty();
            for (value_id v : how.of.inputs) (void)execute.input(v);
            execute.synchronize();
        };
        auto wait = [&] { execute.synchronize(); };
        if (c.is_captured) {
            auto graph = execute.capture();
            measure_runs(runs, row.its, give, [&] { graph.launch(); }, wait);
            row.use = use_of(device);
        } else {
            measure_runs(runs, row.its, give, [&] { (void)execute.run_async(); }, wait);
            row.use = use_of(device);
        }
        row.counted = execute.memory().bytes.peak;
        row.counts = counts_of(execute.schedule(), execute.order().lowered);
        if (!is_raw_reference(c)) return;
        auto const stream = execute.stream(0);
        measure_runs(
            runs, row.raw, [] {},
            [&] {
                device.calls()("the raw loop", [&] {
                    recorded.issue(stream, how.blocks);
                    return cudaPeekAtLastError();
                });
            },
            [&] { device.synchronize(stream); });
    });
    device.synchronize();
    device.trim();
}

/// Calls `run(type of device)` with the device of a case; out of memory: the case is too large.
template <class Run>
void within_memory(device_case const& c, case_row& row, Run run)
{
    if (row.is_too_large) return;
    try {
        if (c.memory == device_memory::separate_blocks) run(static_cast<malloc_device*>(nullptr));
        else run(static_cast<cuda_device*>(nullptr));
    } catch (...) {
        if (!is_out_of_memory(std::current_exception())) throw;
        row.is_too_large = true;
    }
}
inline void check_case(case_setting const& how, device_case const& c, case_row& row)
{
    within_memory(c, row, [&]<class Device>(Device*) { check_case<Device>(how, c, row); });
}
inline void measure_case(case_setting const& how, device_case const& c, int runs, case_row& row)
{
    within_memory(c, row, [&]<class Device>(Device*) { measure_case<Device>(how, c, runs, row); });
}

// --- the program with spills -----------------------------------------------------------------------------

/// Calls `use(device, executor)`, with `homes` bound: page-locked memory of the host, see host_block.
template <class Use>
void with_bound_spills(case_setting const& how, spilled_subject const& spills, std::byte* homes,
                       synthetic_words const* words, Use use)
{
    cuda_device device(how.device);
    device.trim();
    device.reset_high();
    spilled_kernel<case_kernel, copy_kernel> const kernel{
        {how.blocks, words}, {}, &spills.advice.spilled.steps};
    with_spills(device, spills, kernel, words != nullptr, [&](auto& execute) {
        how.values.bind(execute);
        bind_homes(execute, spills, homes);
        use(device, execute);
    });
}

inline void check_spills(case_setting const& how, spilled_subject const& spills, std::byte* homes,
                         case_row& row)
{
    how.values.fill();
    cuda_device device(how.device);
    synthetic_words const words(device, spills.advice.spilled.program.steps());
    with_bound_spills(how, spills, homes, &words, [&](cuda_device&, auto& execute) {
        std::vector<value_id> outputs;
        for (value_id v : how.of.outputs) outputs.push_back(spills.advice.spilled.final_version[v]);
        how.values.give_inputs(execute);
        execute.run();
        row.digest = how.values.digest_of(execute, outputs);
    });
}

inline void measure_spills(case_setting const& how, spilled_subject const& spills, std::byte* homes, int runs,
                           case_row& row)
{
    with_bound_spills(how, spills, homes, nullptr, [&](cuda_device& device, auto& execute) {
        auto give = [&] {
            for (value_id v : how.of.inputs) (void)execute.input(v);
            execute.synchronize();
        };
        measure_runs(runs, row.its, give, [&] { (void)execute.run_async(); }, [&] { execute.synchronize(); });
        row.counted = execute.memory().bytes.peak;
        row.counts = counts_of(execute.schedule(), execute.order().lowered);
        row.counts.kernels -= spills.copies;
        row.use = use_of(device);
    });
}

} // namespace bench

#endif
