// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_RUNTIME_HPP
#define SUBLET_EXECUTION_CUDA_RUNTIME_HPP

/// Wrappers of the CUDA runtime: calls on a given device with checked results, owning handles, a private
/// stream-ordered memory pool, and captured graphs. Each adds a few host instructions to a call.

#include <sublet/core/units.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/structures/internal/transitive_reduction.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <exception>
#include <utility>
#include <vector>

// --- errors ----------------------------------------------------------------------------------------------

/// A failed call of CUDA, and whether the device can still be used.
///
///     code                        the call                the device
///     cudaErrorMemoryAllocation   had no effect           as before: run something smaller
///     cudaErrorIllegalAddress     it or an earlier call   lost: every later call of this process returns the
///                                 made the access         same code, and memory contents are undefined
///
/// The runtime keeps the last error code for a later query. It is cleared here: the exception has it.

#if CUDART_VERSION < 11040
#error "sublet: captured graphs that hold memory came with CUDA 11.4; use that toolkit or a newer one"
#endif

namespace sublet {

namespace detail {

/// After this code no call succeeds until the process ends. Codes that the oldest supported toolkit does not
/// define are given by number.
[[nodiscard]] constexpr bool is_sticky(cudaError_t code) noexcept
{
    switch (static_cast<int>(code)) {
    case cudaErrorCudartUnloading:
    case cudaErrorDeviceUninitialized:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case 226: // cudaErrorContained
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case 721: // cudaErrorTensorMemoryLeak
    case 810: // cudaErrorMpsClientTerminated
    case 911: // cudaErrorExternalDevice
    case cudaErrorUnknown: return true;
    default: return false;
    }
}

} // namespace detail

/// A call of the CUDA runtime failed.
class cuda_error : public std::exception {
public:
    /// For the result of a call.
    ///
    /// Requires: `call` is a literal.
    cuda_error(cudaError_t code, char const* call, step_id at = no_step) noexcept
        : code_(code), call_(call), step_(at)
    {
        text_ << "sublet: " << call << ": " << cudaGetErrorName(code) << " (" << cudaGetErrorString(code)
              << ')';
        if (at != no_step) text_ << ", at step " << at;
    }
    char const* what() const noexcept override { return text_.text(); }
    /// What the call returned.
    [[nodiscard]] cudaError_t code() const noexcept { return code_; }
    /// The name of the function that was called.
    [[nodiscard]] char const* call() const noexcept { return call_; }
    /// The step of the kernel that failed, or `no_step`.
    [[nodiscard]] step_id step() const noexcept { return step_; }

private:
    cudaError_t code_;
    char const* call_;
    step_id step_;
    detail::bounded_text text_;
};

// --- calls -----------------------------------------------------------------------------------------------

/// Calls on a given device, with checked results.
///
///     current device of the caller   2 ──────────────────────────── 2
///     calls("cudaMemPoolCreate",           0: pool of device 0
///           [&] { return create(); })      throws cuda_error, and records whether the device is lost
///
/// Each thread of a process has a current device, which is restored after each call.

namespace detail {

/// Makes a device current in this thread while it lives. Sets nothing if it is current already; otherwise
/// restoring initialises the previous device if nothing has used it yet.
class device_guard {
public:
    explicit device_guard(int wanted) noexcept : code_(cudaGetDevice(&before_))
    {
        if (code_ != cudaSuccess || before_ == wanted) return;
        code_ = cudaSetDevice(wanted);
        is_changed_ = code_ == cudaSuccess;
    }
    device_guard(device_guard const&) = delete;
    device_guard& operator=(device_guard const&) = delete;
    ~device_guard()
    {
        if (is_changed_ && cudaSetDevice(before_) != cudaSuccess) (void)cudaGetLastError();
    }
    [[nodiscard]] cudaError_t code() const noexcept { return code_; }

private:
    int before_ = 0;
    cudaError_t code_;
    bool is_changed_ = false;
};

/// While a batch exists, its device is current in this thread, and calls need not make it so.
class cuda_calls {
public:
    class batch;

    explicit cuda_calls(int device) : device_(device)
    {
        SUBLET_EXPECTS(device >= 0, "sublet: devices are counted from 0");
    }
    cuda_calls(cuda_calls const&) = delete; // handles refer to it
    cuda_calls& operator=(cuda_calls const&) = delete;

    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] bool is_lost() const noexcept { return lost_by_ != cudaSuccess; }

    /// Requires: `name` is a literal.
    /// Throws:   cuda_error if the call fails; if the device is lost, without calling.
    template <std::invocable Call>
    void operator()(char const* name, Call call, step_id at = no_step)
    {
        if (is_lost()) throw cuda_error(lost_by_, name, at);
        if (is_in_batch_) {
            if (cudaError_t const code = call()) fail(code, name, at);
            return;
        }
        detail::device_guard const guard(device_);
        if (guard.code() != cudaSuccess) fail(guard.code(), "cudaSetDevice", at);
        if (cudaError_t const code = call()) fail(code, name, at);
    }
    /// A launch, which reports its failure as the last error only. In a batch no older error can be left.
    template <std::invocable Launch>
    void launch(char const* name, Launch launch, step_id at)
    {
        (*this)(
            name,
            [&] {
                if (!is_in_batch_) (void)cudaGetLastError(); // an older error is not the launch's
                launch();
                return cudaPeekAtLastError();
            },
            at);
    }

    /// For releases, which name their own device: makes the call even if the device cannot be made current.
    template <std::invocable Call>
    void give_back(char const* name, Call call)
    {
        if (is_lost()) throw cuda_error(lost_by_, name);
        if (cudaError_t const code = return_of(call)) fail(code, name, no_step);
    }
    /// For destructors: ignores errors. On a lost device nothing is called.
    template <std::invocable Call>
    void call_noexcept(Call call) noexcept
    {
        if (is_lost()) return;
        if (cudaError_t const code = return_of(call)) check_sticky(code);
    }

private:
    template <class Call>
    cudaError_t return_of(Call& call)
    {
        if (is_in_batch_) return call();
        detail::device_guard const guard(device_);
        cudaError_t const code = call();
        return code != cudaSuccess ? code : guard.code();
    }

    /// A code that remains after it has been cleared is sticky too, whatever its number.
    void check_sticky(cudaError_t code) noexcept
    {
        (void)cudaGetLastError();
        cudaError_t const later_code = cudaGetLastError();
        if (detail::is_sticky(code)) lost_by_ = code;
        else if (later_code != cudaSuccess) lost_by_ = later_code;
    }

    [[noreturn]] void fail(cudaError_t code, char const* name, step_id at)
    {
        check_sticky(code);
        throw cuda_error(code, name, at);
    }

    int device_;
    cudaError_t lost_by_ = cudaSuccess;
    bool is_in_batch_ = false;
};

/// Requires: until it is destroyed, every change of the current device is undone, and failed calls outside of
///           cuda_calls are cleared.
class cuda_calls::batch {
public:
    /// Throws: cuda_error if the device is lost or cannot be made current.
    explicit batch(cuda_calls& calls)
        : guard_(calls.device_), calls_(calls), was_in_batch_(std::exchange(calls.is_in_batch_, true))
    {
        if (calls.is_lost() || guard_.code() != cudaSuccess) {
            calls.is_in_batch_ = was_in_batch_;
            if (calls.is_lost()) throw cuda_error(calls.lost_by_, "cudaSetDevice");
            calls.fail(guard_.code(), "cudaSetDevice", no_step);
        }
        (void)cudaGetLastError(); // a launch reports only its own errors
    }
    batch(batch const&) = delete;
    batch& operator=(batch const&) = delete;
    ~batch() { calls_.is_in_batch_ = was_in_batch_; }

private:
    detail::device_guard guard_;
    cuda_calls& calls_;
    bool was_in_batch_;
};

// --- handles ---------------------------------------------------------------------------------------------

/// Owning handles of CUDA objects.
///
///     auto side = sublet::detail::cuda_stream::made(
///         calls, "cudaStreamCreateWithFlags",
///         [](cudaStream_t* out) { return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking); });
///     launch(side.handle()); // destroyed at the end of the scope, unless the device is lost
///
/// Destruction never throws, and never resets the device, which belongs to the whole process.
/// Requires: the cuda_calls that it was made with outlive it.
template <class Handle, cudaError_t (*destroy)(Handle)>
class cuda_handle {
public:
    cuda_handle() noexcept = default;
    cuda_handle(cuda_calls& calls, Handle handle) noexcept : calls_(&calls), handle_(handle) {}
    cuda_handle(cuda_handle&& other) noexcept
        : calls_(other.calls_), handle_(std::exchange(other.handle_, nullptr))
    {
    }
    cuda_handle& operator=(cuda_handle&& other) noexcept
    {
        std::swap(calls_, other.calls_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~cuda_handle()
    {
        if (handle_ != nullptr) calls_->call_noexcept([this] { return destroy(handle_); });
    }

    /// Throws: cuda_error if `create(&handle)` fails; then there is nothing to destroy.
    template <std::invocable<Handle*> Create>
    [[nodiscard]] static cuda_handle made(cuda_calls& calls, char const* name, Create create)
    {
        Handle handle = nullptr;
        calls(name, [&] { return create(&handle); });
        return {calls, handle};
    }

    [[nodiscard]] Handle handle() const noexcept { return handle_; }
    [[nodiscard]] Handle release() noexcept { return std::exchange(handle_, nullptr); }

private:
    cuda_calls* calls_ = nullptr;
    Handle handle_ = nullptr;
};

using cuda_stream = cuda_handle<cudaStream_t, cudaStreamDestroy>;
using cuda_event = cuda_handle<cudaEvent_t, cudaEventDestroy>;
using cuda_pool_handle = cuda_handle<cudaMemPool_t, cudaMemPoolDestroy>;
using cuda_graph_handle = cuda_handle<cudaGraph_t, cudaGraphDestroy>;
using cuda_executable_graph = cuda_handle<cudaGraphExec_t, cudaGraphExecDestroy>;

// --- graph -----------------------------------------------------------------------------------------------

inline cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count)
{
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
#else
    return cudaGraphGetEdges(graph, from, to, count);
#endif
}
inline cudaError_t remove_edges(cudaGraph_t graph, std::vector<cudaGraphNode_t> const& from,
                                std::vector<cudaGraphNode_t> const& to)
{
#if CUDART_VERSION >= 13000
    return cudaGraphRemoveDependencies(graph, from.data(), to.data(), nullptr, from.size());
#else
    return cudaGraphRemoveDependencies(graph, from.data(), to.data(), from.size());
#endif
}

/// Removes all edges that others imply. A command depends on the one before it in its stream, which an event
/// that it waits for may imply.
/// Throws: cuda_error; nothing is removed then.
inline void remove_implied_edges(cuda_calls& calls, cudaGraph_t graph)
{
    std::size_t count = 0;
    calls("cudaGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nullptr, &count); });
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0)
        calls("cudaGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nodes.data(), &count); });
    calls("cudaGraphGetEdges", [&] { return edges_of(graph, nullptr, nullptr, &count); });
    if (count == 0) return;
    std::vector<cudaGraphNode_t> from(count), to(count);
    calls("cudaGraphGetEdges", [&] { return edges_of(graph, from.data(), to.data(), &count); });

    // Nodes are numbered by handle, then so that edges lead upwards.
    std::sort(nodes.begin(), nodes.end());
    auto index_of = [&](cudaGraphNode_t node) {
        return node_id::of(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    auto rows_by = [&](auto first, auto second) {
        return csr_rows<node_id, node_id>::gathered(nodes.size(), [&](auto add) {
            for (std::uint32_t i = 0; i != count; ++i) add(first(i), second(i));
        });
    };
    auto source = [&](std::uint32_t i) { return index_of(from[i]); };
    auto target = [&](std::uint32_t i) { return index_of(to[i]); };
    csr_rows<node_id, node_id> const after = rows_by(source, target);
    table<node_id, std::uint32_t> waits_for(nodes.size(), 0);
    table<node_id, node_id> number(nodes.size(), 0);
    std::vector<node_id> order;
    for (std::uint32_t i = 0; i != count; ++i) ++waits_for[target(i)];
    for (node_id node = 0; node != nodes.size(); ++node)
        if (waits_for[node] == 0) order.push_back(node);
    for (std::uint32_t next = 0; next != order.size(); ++next) {
        number[order[next]] = next;
        for (node_id node : after[order[next]])
            if (--waits_for[node] == 0) order.push_back(node);
    }
    auto lower = [&](std::uint32_t i) { return number[source(i)]; };
    auto higher = [&](std::uint32_t i) { return number[target(i)]; };
    auto const is_implied = has_indirect_path(
        rows_by(higher, lower), count, [&](std::uint32_t i) { return csr_graph::edge{lower(i), higher(i)}; });
    std::size_t removed = 0;
    for (std::size_t i = 0; i != is_implied.size(); ++i) {
        if (!is_implied[i]) continue;
        from[removed] = from[i];
        to[removed++] = to[i];
    }
    from.resize(removed);
    to.resize(removed);
    if (removed != 0) calls("cudaGraphRemoveDependencies", [&] { return remove_edges(graph, from, to); });
}

/// A captured graph: issued once, launched any number of times by one call.
///
///     begin_capture(s)
///     s    ● ── kernel a ── record e ──────────── wait f ── kernel c ── ●        recorded, not run
///     t                      └─ wait e ─ kernel b ─ record f ─┘
///     end_capture(s) ──► cuda_graph ── launch(s) ── launch(s) ── ...             run, in that order
///
/// A stream takes part in a capture from its first wait for an event of a captured stream, and must be waited
/// for before the end. Addresses are those of the capture. Allocations in a capture belong to the graph: the
/// driver plans their memory. What a graph allocates and does not free is freed at its next launch.
class cuda_graph {
public:
    /// Makes a finished capture executable.
    /// Requires: the calls outlive the graph.
    /// Throws:   cuda_error if CUDA cannot make it executable; the capture is destroyed then.
    cuda_graph(cuda_calls& calls, cuda_graph_handle captured)
        : calls_(&calls), captured_(reduced(calls, std::move(captured))),
          executable_(made_executable(calls, captured_))
    {
    }

    /// Launches run another capture from now on. Updates the executable graph, which costs less than a new
    /// one, unless CUDA refuses that: the capture has other nodes or edges, or allocates memory.
    /// Throws: cuda_error if neither succeeds; then the graph is as before.
    void replace(cuda_graph_handle captured)
    {
        captured = reduced(*calls_, std::move(captured));
        bool is_updated = true;
        (*calls_)("cudaGraphExecUpdate", [&] {
#if CUDART_VERSION >= 12000
            cudaGraphExecUpdateResultInfo details{};
            cudaError_t const code = cudaGraphExecUpdate(executable_.handle(), captured.handle(), &details);
#else
            cudaGraphNode_t node = nullptr;
            cudaGraphExecUpdateResult details{};
            cudaError_t const code =
                cudaGraphExecUpdate(executable_.handle(), captured.handle(), &node, &details);
#endif
            if (code != cudaErrorGraphExecUpdateFailure && code != cudaErrorNotSupported) return code;
            (void)cudaGetLastError();
            is_updated = false;
            return cudaSuccess;
        });
        if (!is_updated) executable_ = made_executable(*calls_, captured);
        captured_ = std::move(captured);
    }

    /// Throws: cuda_error.
    void launch(cudaStream_t stream)
    {
        (*calls_)("cudaGraphLaunch", [&] { return cudaGraphLaunch(executable_.handle(), stream); });
    }

    /// Number of kernels, fills, copies, allocations and frees.
    [[nodiscard]] std::size_t nodes() const
    {
        std::size_t count = 0;
        (*calls_)("cudaGraphGetNodes",
                  [&] { return cudaGraphGetNodes(captured_.handle(), nullptr, &count); });
        return count;
    }

private:
    /// CUDA keeps all edges of a graph that allocates memory; implied ones do no harm.
    static cuda_graph_handle reduced(cuda_calls& calls, cuda_graph_handle captured)
    {
        try {
            remove_implied_edges(calls, captured.handle());
        } catch (cuda_error const&) {
            if (calls.is_lost()) throw;
        }
        return captured;
    }
    static cuda_executable_graph made_executable(cuda_calls& calls, cuda_graph_handle const& captured)
    {
        return cuda_executable_graph::made(calls, "cudaGraphInstantiateWithFlags", [&](cudaGraphExec_t* out) {
            return cudaGraphInstantiateWithFlags(out, captured.handle(),
                                                 cudaGraphInstantiateFlagAutoFreeOnLaunch);
        });
    }

    cuda_calls* calls_;
    cuda_graph_handle captured_;
    cuda_executable_graph executable_; // destroyed first
};

inline void begin_capture(cuda_calls& calls, cudaStream_t stream)
{
    // Only this thread: calls of other threads must not invalidate the capture.
    calls("cudaStreamBeginCapture",
          [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); });
}

/// Ends a capture; a failed one too.
inline cuda_graph_handle captured_work(cuda_calls& calls, cudaStream_t stream)
{
    cuda_graph_handle captured;
    calls.give_back("cudaStreamEndCapture", [&] {
        cudaGraph_t graph = nullptr;
        cudaError_t const code = cudaStreamEndCapture(stream, &graph);
        captured = cuda_graph_handle(calls, graph);
        return code;
    });
    if (captured.handle() == nullptr)
        throw cuda_error(cudaErrorStreamCaptureInvalidated, "cudaStreamEndCapture");
    return captured;
}
inline cuda_graph end_capture(cuda_calls& calls, cudaStream_t stream)
{
    return {calls, captured_work(calls, stream)};
}

inline void abandon_capture(cuda_calls& calls, cudaStream_t stream) noexcept
{
    calls.call_noexcept([&] {
        cudaGraph_t captured = nullptr;
        cudaError_t const code = cudaStreamEndCapture(stream, &captured);
        if (captured != nullptr) (void)cudaGraphDestroy(captured);
        return code;
    });
}

} // namespace detail
// --- pool ------------------------------------------------------------------------------------------------

/// Device memory allocated and freed in stream order, from a private pool.
///
///     stream 0    allocate a ── kernel(a) ── free a ── allocate b ── kernel(b)      one block, no wait
///     pool        [ used: a ]                          [ used: b ]
///                 [ reserved: the peak of use, kept for the next run .................................. ]
///
/// The default pool of a device belongs to the whole process: others would change its counters and
/// attributes. This pool is private, and keeps its memory until trim().

namespace detail {

/// Bytes of a pool, or the memory nodes of all captured graphs of a device.
struct cuda_memory_use {
    byte_count used = 0, used_high = 0;         ///< by allocations: current, and peak since reset_high()
    byte_count reserved = 0, reserved_high = 0; ///< taken from the device, with free parts of the pool
    friend bool operator==(cuda_memory_use const&, cuda_memory_use const&) = default;
};

/// Requires: the calls outlive the pool.
class cuda_pool {
public:
    /// Throws: cuda_error.
    explicit cuda_pool(cuda_calls& calls)
        : calls_(&calls), pool_(cuda_pool_handle::made(calls, "cudaMemPoolCreate", [&](cudaMemPool_t* out) {
              cudaMemPoolProps wanted{};
              wanted.allocType = cudaMemAllocationTypePinned;
              wanted.handleTypes = cudaMemHandleTypeNone;
              wanted.location.type = cudaMemLocationTypeDevice;
              wanted.location.id = calls.device();
              return cudaMemPoolCreate(out, &wanted);
          }))
    {
        set(cudaMemPoolAttrReleaseThreshold,
            ~std::uint64_t{0}); // else each synchronize() would return memory to the device
    }

    /// Bytes that may be used by work issued in `stream` from now on. During a capture they belong to the
    /// graph, not to this pool.
    /// Requires: the alignment is a power of two.
    /// Throws:   cuda_error (cudaErrorMemoryAllocation: out of memory), std::bad_alloc; nothing is allocated.
    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, cudaStream_t stream)
    {
        SUBLET_EXPECTS(alignment != 0 && (alignment & (alignment - 1)) == 0,
                       "sublet: a device aligns storage to powers of two");
        byte_count const excess = alignment <= own_alignment ? 0 : alignment - own_alignment;
        if (excess != 0) shifted_.reserve(shifted_.size() + 1);
        void* block = nullptr;
        byte_count const requested = checked_add(bytes == 0 ? 1 : bytes, excess);
        (*calls_)("cudaMallocFromPoolAsync", [&] {
            return cudaMallocFromPoolAsync(&block, static_cast<std::size_t>(requested), pool_.handle(),
                                           stream);
        });
        auto* first = static_cast<std::byte*>(block);
        if (excess == 0) return first;
        first += (alignment - reinterpret_cast<std::uintptr_t>(first) % alignment) % alignment;
        shifted_.push_back({first, block});
        return first;
    }

    /// Throws: cuda_error; on a lost device nothing is done.
    void deallocate(std::byte* first, byte_count alignment, cudaStream_t stream)
    {
        void* block = first;
        if (alignment > own_alignment)
            for (std::size_t i = shifted_.size(); i-- != 0;) {
                if (shifted_[i].first != first) continue;
                block = shifted_[i].block;
                shifted_[i] = shifted_.back();
                shifted_.pop_back();
                break;
            }
        if (calls_->is_lost()) return;
        calls_->give_back("cudaFreeAsync", [&] { return cudaFreeAsync(block, stream); });
    }

    /// Throws: cuda_error.
    [[nodiscard]] cuda_memory_use use()
    {
        return {.used = attribute(cudaMemPoolAttrUsedMemCurrent),
                .used_high = attribute(cudaMemPoolAttrUsedMemHigh),
                .reserved = attribute(cudaMemPoolAttrReservedMemCurrent),
                .reserved_high = attribute(cudaMemPoolAttrReservedMemHigh)};
    }
    /// Restarts the peaks.
    void reset_high()
    {
        set(cudaMemPoolAttrUsedMemHigh, 0);
        set(cudaMemPoolAttrReservedMemHigh, 0);
    }
    /// Returns unused memory to the device.
    void trim()
    {
        (*calls_)("cudaMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool_.handle(), 0); });
    }

private:
    static constexpr byte_count own_alignment = 256; // of every allocation of CUDA

    struct shifted {
        std::byte* first; // as returned to the caller
        void* block;      // as allocated by CUDA
    };

    byte_count attribute(cudaMemPoolAttr what)
    {
        std::uint64_t bytes = 0;
        (*calls_)("cudaMemPoolGetAttribute",
                  [&] { return cudaMemPoolGetAttribute(pool_.handle(), what, &bytes); });
        return bytes;
    }
    void set(cudaMemPoolAttr what, std::uint64_t bytes)
    {
        (*calls_)("cudaMemPoolSetAttribute",
                  [&] { return cudaMemPoolSetAttribute(pool_.handle(), what, &bytes); });
    }

    cuda_calls* calls_;
    cuda_pool_handle pool_;
    std::vector<shifted> shifted_; // blocks with a larger alignment than CUDA's own
};

} // namespace detail

} // namespace sublet

#endif
