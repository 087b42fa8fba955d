// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_RUNTIME_HPP
#define SUBLET_EXECUTION_CUDA_RUNTIME_HPP

/// CUDA's functions: on the right device, with every result looked at; handles with one owner, memory in the
/// order of streams, captured graphs.

#include <sublet/execution/run_options.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <exception>
#include <utility>
#include <vector>

// --- errors ----------------------------------------------------------------------------------------------

/// What a call of CUDA refused, and whether there is still a device after it.
///
///     code                        the call                the device
///     cudaErrorMemoryAllocation   has had no effect       as before: run something smaller
///     cudaErrorIllegalAddress     found it out, or one    lost: every call of this process gives the same
///                                 before it did           code, and what is in memory is not to be trusted
///
/// The runtime also keeps the last code for whoever asks later. It is cleared here, because it has been said.

#if CUDART_VERSION < 11040
#error "sublet: captured graphs that hold memory came with CUDA 11.4; use that toolkit or a newer one"
#endif

namespace sublet {

namespace detail {

/// After this code no call succeeds until the process has ended. By number where a code is younger than the
/// oldest toolkit that will do.
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

/// A call of CUDA failed.
class cuda_error : public std::exception {
public:
    /// Requires: `call` is a literal.
    cuda_error(cudaError_t code, char const* call, step_id at = no_step) noexcept
        : code_(code), call_(call), step_(at)
    {
        text_ << "sublet: " << call << ": " << cudaGetErrorName(code) << " (" << cudaGetErrorString(code)
              << ')';
        if (at != no_step) text_ << ", at step " << at;
    }
    char const* what() const noexcept override { return text_.text(); }
    [[nodiscard]] cudaError_t code() const noexcept { return code_; }
    /// The function of the runtime, by name.
    [[nodiscard]] char const* call() const noexcept { return call_; }
    /// Whose kernel was refused; `no_step`: no step's.
    [[nodiscard]] step_id step() const noexcept { return step_; }

private:
    cudaError_t code_;
    char const* call_;
    step_id step_;
    detail::bounded_text text_;
};

// --- calls -----------------------------------------------------------------------------------------------

/// How all calls of CUDA are made here: on the right device, and none without a look at what it says.
///
///     the caller's current device   2 ─────────────────────────── 2
///     calls("cudaMemPoolCreate",          0: pool of device 0
///           [&] { return ...; });         throws cuda_error, and knows from now on if the device is lost
///
/// A process may use several devices, and each thread of it has one current: it finds it as it left it.

namespace detail {

/// Makes a device the current one of this thread, for as long as this lives. Where it is already, nothing is
/// set; where it is not, going back brings up the device that was current, if nothing has used it yet.
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

/// Calls CUDA on one device, and remembers when that is lost.
class cuda_calls {
public:
    explicit cuda_calls(int device) : device_(device)
    {
        SUBLET_EXPECTS(device >= 0, "sublet: devices are counted from 0");
    }
    cuda_calls(cuda_calls const&) = delete; // what was made on a device refers to it
    cuda_calls& operator=(cuda_calls const&) = delete;

    [[nodiscard]] int device() const noexcept { return device_; }
    [[nodiscard]] bool is_lost() const noexcept { return lost_by_ != cudaSuccess; }

    /// Requires: `name` is a literal.
    /// Throws:   cuda_error if the call fails; if the device is lost, without calling.
    template <std::invocable Call>
    void operator()(char const* name, Call call, step_id at = no_step)
    {
        if (is_lost()) throw cuda_error(lost_by_, name, at);
        detail::device_guard const guard(device_);
        if (guard.code() != cudaSuccess) fail(guard.code(), "cudaSetDevice", at);
        if (cudaError_t const code = call()) fail(code, name, at);
    }

    /// For what is given back, which knows by itself where it belongs: it goes even if its device cannot be
    /// made current.
    template <std::invocable Call>
    void give_back(char const* name, Call call)
    {
        if (is_lost()) throw cuda_error(lost_by_, name);
        if (cudaError_t const code = return_of(call)) fail(code, name, no_step);
    }
    /// For destructors: what fails is of no use to anybody any more. On a lost device nothing is called.
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
        detail::device_guard const guard(device_);
        cudaError_t const code = call();
        return code != cudaSuccess ? code : guard.code();
    }

    /// A code that stays although it has been cleared is sticky as well, whatever its number.
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
};

// --- handles ---------------------------------------------------------------------------------------------

/// What CUDA gives out and wants back, each with one owner.
///
///     auto side = sublet::cuda_stream::made(calls, "cudaStreamCreateWithFlags", [](cudaStream_t* out) {
///         return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
///     });
///     launch(side.handle());          // gone at the end of the scope, unless the device is lost
///
/// Giving back never throws, and never resets the device, which belongs to the whole process.

/// Requires: the calls that it was made by outlive it.
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

    /// Throws: cuda_error if `create(&handle)` fails; then there is nothing to give back.
    template <std::invocable<Handle*> Create>
    [[nodiscard]] static cuda_handle made(cuda_calls& calls, char const* name, Create create)
    {
        Handle handle = nullptr;
        calls(name, [&] { return create(&handle); });
        return {calls, handle};
    }

    [[nodiscard]] Handle handle() const noexcept { return handle_; }
    /// Gives it to the caller, who owes its end.
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

/// What was issued once, to be launched again and again in one call.
///
///     begin_capture(s)
///     s    ● ── kernel a ── record e ──────────── wait f ── kernel c ── ●        noted, not run
///     t                      └─ wait e ─ kernel b ─ record f ─┘
///     end_capture(s) ──► cuda_graph ── launch(s) ── launch(s) ── ...             run, in that order
///
/// Streams take part from the event of a captured stream on that they wait for, and have to be waited for
/// before the end. Addresses are those of the capture. What it allocates lives in the graph: the driver plans
/// that memory for itself.

/// Can be moved. What it allocated and did not free is freed at its next launch.
class cuda_graph {
public:
    /// Of a finished capture.
    /// Requires: the calls outlive the graph.
    /// Throws:   cuda_error if CUDA cannot make it executable; the capture is gone then.
    cuda_graph(cuda_calls& calls, cuda_graph_handle captured)
        : calls_(&calls), captured_(std::move(captured)),
          executable_(
              cuda_executable_graph::made(calls, "cudaGraphInstantiateWithFlags", [&](cudaGraphExec_t* out) {
                  return cudaGraphInstantiateWithFlags(out, captured_.handle(),
                                                       cudaGraphInstantiateFlagAutoFreeOnLaunch);
              }))
    {
    }

    /// All of it, after what is in the stream and before what comes later.
    /// Throws: cuda_error.
    void launch(cudaStream_t stream)
    {
        (*calls_)("cudaGraphLaunch", [&] { return cudaGraphLaunch(executable_.handle(), stream); });
    }

    /// Kernels, fills, copies, and what is allocated and freed.
    [[nodiscard]] std::size_t nodes() const
    {
        std::size_t count = 0;
        (*calls_)("cudaGraphGetNodes",
                  [&] { return cudaGraphGetNodes(captured_.handle(), nullptr, &count); });
        return count;
    }

private:
    cuda_calls* calls_;
    cuda_graph_handle captured_;
    cuda_executable_graph executable_; // goes first
};

inline void begin_capture(cuda_calls& calls, cudaStream_t stream)
{
    // Of this thread only: what other threads of the program do is none of our business.
    calls("cudaStreamBeginCapture",
          [&] { return cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal); });
}

/// A capture that has failed is over as well.
inline cuda_graph end_capture(cuda_calls& calls, cudaStream_t stream)
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
    return {calls, std::move(captured)};
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

/// Device memory that is taken and given back in the order of a stream, from a pool that nobody else uses.
///
///     stream 0    allocate a ── kernel(a) ── free a ── allocate b ── kernel(b)      one block, no waiting
///     pool        [ used: a ]                          [ used: b ]
///                 [ reserved: as much as was ever used at once, kept for the next run ................ ]
///
/// The pool that every device has by itself belongs to the whole process: what others do there would show in
/// our figures, and what we set there would change theirs. This one is private, and keeps what it has.

namespace detail {

/// Bytes of a pool, or of the memory nodes of all captured graphs of a device.
struct cuda_memory_use {
    byte_count used = 0, used_high = 0;         ///< by allocations: now, and most since reset_high()
    byte_count reserved = 0, reserved_high = 0; ///< of the device, free parts of the pool included
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
            ~std::uint64_t{0}); // else every synchronize() would give it back
    }

    /// Bytes that may be used by what is issued in `stream` from now on. While the stream is captured they
    /// are the graph's, and not taken from this pool.
    ///
    /// Requires: a power of two as alignment.
    /// Throws:   cuda_error (cudaErrorMemoryAllocation: it does not fit); std::bad_alloc. Then nothing is
    ///           allocated.
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
    /// From now on the highest are those since now.
    void reset_high()
    {
        set(cudaMemPoolAttrUsedMemHigh, 0);
        set(cudaMemPoolAttrReservedMemHigh, 0);
    }
    /// Gives what nobody uses back to the device.
    void trim()
    {
        (*calls_)("cudaMemPoolTrimTo", [&] { return cudaMemPoolTrimTo(pool_.handle(), 0); });
    }

private:
    static constexpr byte_count own_alignment = 256; // of everything that CUDA allocates

    struct shifted {
        std::byte* first; // as it was given out
        void* block;      // as CUDA knows it
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
    std::vector<shifted> shifted_; // what is aligned to more than CUDA does by itself
};

} // namespace detail

} // namespace sublet

#endif
