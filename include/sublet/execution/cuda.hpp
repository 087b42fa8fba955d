// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_HPP
#define SUBLET_EXECUTION_CUDA_HPP

/// A CUDA device for stream_executor, and a probe for usable devices. Not in sublet/execution.hpp: it needs
/// the CUDA runtime, 11.4 or newer; with CMake, link the target sublet::cuda.
///
///     probe ──► cuda_device ──► stream_executor ──► run, or capture ──► cuda_graph

#include <sublet/core/units.hpp>
#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/execution/detail/bounded_text.hpp>
#include <sublet/execution/detail/cuda_graph.hpp>
#include <sublet/execution/detail/cuda_handle.hpp>
#include <sublet/execution/detail/cuda_pool.hpp>
#include <sublet/execution/device.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <span>
#include <vector>

// --- device ----------------------------------------------------------------------------------------------

/// A CUDA device as a stream_device.
///
///     sublet::cuda_device device(0);
///     sublet::stream_executor executor{device, program, options, sublet::arena{plan}, kernel};
///
/// A kernel here is host code that issues its work in `call.stream()` and returns before that is done: it may
/// launch kernels, call libraries, or copy. Its operands are device memory. Only your kernels need nvcc.

namespace sublet {

/// One thread at a time may use it; a process may have several, of one device or of many.
///
/// Every call that fails throws cuda_error. If the device is lost, CUDA is not called any more: allocations
/// are not freed, and every further use throws.
class cuda_device {
public:
    using stream_type = cudaStream_t;
    using event_type = cudaEvent_t;
    using graph_type = detail::cuda_graph;      ///< a captured run
    using memory_use = detail::cuda_memory_use; ///< bytes in use and reserved, and their peaks

    /// Uses the device that CUDA gives this number.
    ///
    /// Throws: cuda_error if the device does not exist or cannot be used: see cuda::probe().
    explicit cuda_device(int id = 0) : calls_(id), pool_(calls_) {}
    /// Waits for all work before it frees memory.
    ~cuda_device() { synchronize_noexcept(); }
    cuda_device(cuda_device const&) = delete; // graphs and executors refer to it
    cuda_device& operator=(cuda_device const&) = delete;

    /// A stream without implicit synchronisation with the default stream.
    [[nodiscard]] stream_type make_stream()
    {
        streams_.reserve(streams_.size() + 1);
        auto made = detail::cuda_stream::made(calls_, "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
            return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
        });
        streams_.push_back(made.handle());
        return made.release();
    }
    void destroy_stream(stream_type stream) noexcept
    {
        streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
        calls_.call_noexcept([&] { return cudaStreamDestroy(stream); });
    }
    [[nodiscard]] event_type make_event()
    {
        return detail::cuda_event::made(
                   calls_, "cudaEventCreateWithFlags",
                   [](cudaEvent_t* out) { return cudaEventCreateWithFlags(out, cudaEventDisableTiming); })
            .release();
    }
    void destroy_event(event_type event) noexcept
    {
        calls_.call_noexcept([&] { return cudaEventDestroy(event); });
    }

    void record(event_type event, stream_type stream)
    {
        calls_("cudaEventRecord", [&] { return cudaEventRecord(event, stream); });
    }
    void wait(stream_type stream, event_type event)
    {
        calls_("cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event, 0); });
    }

    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, stream_type stream)
    {
        return pool_.allocate(bytes, alignment, stream);
    }
    void deallocate(std::byte* first, byte_count, byte_count alignment, stream_type stream)
    {
        pool_.deallocate(first, alignment, stream);
    }

    void fill(std::byte* first, std::byte with, byte_count bytes, stream_type stream)
    {
        if (bytes == 0) return;
        calls_("cudaMemsetAsync",
               [&] { return cudaMemsetAsync(first, std::to_integer<int>(with), bytes, stream); });
    }
    /// Waits for the copy: CUDA may read page-locked memory of the caller much later.
    void copy_to_device(std::byte* to, std::span<std::byte const> from, stream_type stream)
    {
        if (from.empty()) return;
        copy(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream);
        synchronize(stream);
    }
    void copy_from_device(std::span<std::byte> to, std::byte const* from, stream_type stream)
    {
        if (!to.empty()) copy(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream);
    }

    /// The kernel issues its work in the stream, and leaves the current device as it finds it.
    /// Throws: what the kernel throws; cuda_error with the step if one of its launches failed.
    template <class Kernel, class Call>
    void launch(stream_type, Kernel& kernel, Call const& call)
    {
        calls_.launch("a kernel's launch", [&] { kernel(call); }, call.step);
    }
    /// While the result exists, the device is the current one of this thread: no command makes it so again.
    ///
    /// Throws: cuda_error.
    [[nodiscard]] cuda_calls::batch batch() { return cuda_calls::batch(calls_); }

    void synchronize(stream_type stream)
    {
        calls_("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream); });
    }
    void synchronize()
    {
        for (stream_type stream : streams_) synchronize(stream);
    }
    /// Waits for all work; errors are dropped.
    void synchronize_noexcept() noexcept
    {
        for (stream_type stream : streams_)
            calls_.call_noexcept([&] { return cudaStreamSynchronize(stream); });
    }
    [[nodiscard]] bool is_lost() const noexcept { return calls_.is_lost(); }
    /// The number that CUDA gives the device.
    [[nodiscard]] int id() const noexcept { return calls_.device(); }

    /// From now on, work issued in the stream is recorded instead of run; so is work in other streams after
    /// they wait for it. Until the end, do not synchronize, copy from or to the host, or destroy anything.
    void begin_capture(stream_type stream) { detail::begin_capture(calls_, stream); }
    /// Ends the capture, and returns the graph of what was recorded.
    ///
    /// Throws: cuda_error if a command could not be captured, or a stream was not joined; it is over then.
    [[nodiscard]] graph_type end_capture(stream_type stream) { return detail::end_capture(calls_, stream); }
    /// Ends the capture, and lets the graph of an earlier one launch what was recorded: updates it if CUDA
    /// accepts that, as it does if only operands and parameters differ; otherwise makes it anew.
    ///
    /// Throws: as above; the graph is as before then.
    void end_capture(stream_type stream, graph_type& graph)
    {
        graph.replace(detail::captured_work(calls_, stream));
    }
    void abandon_capture(stream_type stream) noexcept { detail::abandon_capture(calls_, stream); }

    /// Memory allocated here outside of captures.
    [[nodiscard]] memory_use memory() { return pool_.use(); }
    /// Memory of all graphs of this device in this process.
    [[nodiscard]] memory_use graph_memory()
    {
        return {.used = attribute(cudaGraphMemAttrUsedMemCurrent),
                .used_high = attribute(cudaGraphMemAttrUsedMemHigh),
                .reserved = attribute(cudaGraphMemAttrReservedMemCurrent),
                .reserved_high = attribute(cudaGraphMemAttrReservedMemHigh)};
    }
    /// Restarts the peaks of both.
    void reset_high()
    {
        pool_.reset_high();
        for (auto const what : {cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemHigh})
            calls_("cudaDeviceSetGraphMemAttribute", [&] {
                std::uint64_t none = 0;
                return cudaDeviceSetGraphMemAttribute(id(), what, &none);
            });
    }
    /// Returns unused memory of the pool and of graphs to the device.
    void trim()
    {
        synchronize();
        pool_.trim();
        calls_("cudaDeviceGraphMemTrim", [&] { return cudaDeviceGraphMemTrim(id()); });
    }

    /// For your own calls of CUDA, checked in the same way.
    [[nodiscard]] cuda_calls& calls() noexcept { return calls_; }

private:
    void copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, stream_type stream)
    {
        calls_("cudaMemcpyAsync", [&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
    }
    byte_count attribute(cudaGraphMemAttributeType what)
    {
        std::uint64_t bytes = 0;
        calls_("cudaDeviceGetGraphMemAttribute",
               [&] { return cudaDeviceGetGraphMemAttribute(id(), what, &bytes); });
        return bytes;
    }

    cuda_calls calls_;
    detail::cuda_pool pool_;
    std::vector<stream_type> streams_;
};
static_assert(stream_device<cuda_device>);

} // namespace sublet

// --- probe -----------------------------------------------------------------------------------------------

/// Finds a usable device, or says why there is none; a missing device is no exception.
///
///     auto const found = sublet::cuda::probe();
///     if (!found.is_usable()) std::cout << found.why() << '\n';
///
/// It prints, for instance: "no CUDA driver is installed: libcuda.so.1 is not found [runtime 13.0]". A
/// program linked with CUDA starts on every machine, with a driver or without; call this before all else.

namespace sublet::cuda {

/// Which devices CUDA finds here.
struct probe_result {
    /// One device.
    struct device {
        int id = 0;               ///< the number that CUDA gives it
        int major = 0, minor = 0; ///< compute capability
        byte_count bytes = 0;     ///< of memory in total
        bool is_usable = false;   ///< it supports memory pools, and this process may use it
        char name[256] = {};      ///< as CUDA reports it
    };

    int runtime = 0; ///< version: 1000 * major + 10 * minor
    int driver = 0;  ///< the newest runtime that the driver supports; 0: no driver
    std::vector<probe_result::device> devices;         ///< all, usable or not
    probe_result::device const* first() const noexcept ///< the first usable device, or null
    {
        for (probe_result::device const& each : devices)
            if (each.is_usable) return &each;
        return nullptr;
    }
    /// Some device is usable.
    [[nodiscard]] bool is_usable() const noexcept { return first() != nullptr; }
    /// Why no device is usable; otherwise the name of the first.
    [[nodiscard]] char const* why() const noexcept { return text.text(); }

    detail::bounded_text text; ///< what why() returns
};

namespace detail {

inline void write_version(sublet::detail::bounded_text& out, int version) noexcept
{
    out << static_cast<unsigned>(version / 1000) << '.' << static_cast<unsigned>(version % 1000 / 10);
}

/// A device that cannot be queried is not usable. Throws std::bad_alloc only.
inline cudaError_t list_devices(probe_result& found)
{
    int count = 0; // without a device, the runtime does not set it
    if (cudaError_t const code = cudaGetDeviceCount(&count)) return code;
    for (int id = 0; id < count; ++id) {
        probe_result::device& its = found.devices.emplace_back();
        its.id = id;
        cudaDeviceProp all{};
        int has_pools = 0, mode = 0;
        if (cudaGetDeviceProperties(&all, id) != cudaSuccess ||
            cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, id) != cudaSuccess ||
            cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, id) != cudaSuccess)
            continue;
        its.major = all.major;
        its.minor = all.minor;
        its.bytes = all.totalGlobalMem;
        for (std::size_t i = 0; i + 1 < sizeof its.name && i < sizeof all.name; ++i)
            its.name[i] = all.name[i];
        its.is_usable = has_pools != 0 && mode != cudaComputeModeProhibited;
    }
    return cudaSuccess;
}

} // namespace detail

/// Asks the driver which devices there are.
///
/// Complexity: loads the driver, initialises no device.
/// Throws:     std::bad_alloc.
[[nodiscard]] inline probe_result probe()
{
    probe_result found;
    if (cudaRuntimeGetVersion(&found.runtime) != cudaSuccess) found.runtime = CUDART_VERSION;
    if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
    cudaError_t const code = detail::list_devices(found);
    (void)cudaGetLastError(); // later calls must not see this error

    auto& out = found.text;
    if (probe_result::device const* const one = found.first()) {
        out << "CUDA device " << static_cast<unsigned>(one->id) << ": " << one->name
            << ", compute capability " << static_cast<unsigned>(one->major) << '.'
            << static_cast<unsigned>(one->minor);
    } else if (found.driver == 0) {
        out << "no CUDA driver is installed: libcuda.so.1 is not found";
    } else if (code == cudaErrorInsufficientDriver) {
        out << "the CUDA driver is too old for the runtime of this program";
    } else if (code != cudaSuccess && code != cudaErrorNoDevice) {
        out << "CUDA does not start: " << cudaGetErrorName(code) << " (" << cudaGetErrorString(code) << ')';
    } else if (found.devices.empty()) {
        out << "there is a CUDA driver, but no device";
    } else {
        out << "no CUDA device supports memory pools, or this process may not use one that does";
    }
    out << " [runtime ";
    detail::write_version(out, found.runtime);
    if (found.driver != 0) {
        out << ", driver ";
        detail::write_version(out, found.driver);
    }
    out << ']';
    return found;
}

} // namespace sublet::cuda

#endif
