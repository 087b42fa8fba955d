// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_RUNTIME_HPP
#define SUBLET_EXECUTION_CUDA_RUNTIME_HPP

/// Calls of the CUDA runtime on a given device, with checked results; for those of cuda_device and for your
/// own. Each adds a few host instructions to a call.
/// A failed call throws cuda_error, and cuda_calls keeps whether the device can still be used.
///
///     code                        the call                the device
///     cudaErrorMemoryAllocation   had no effect           as before: run something smaller
///     cudaErrorIllegalAddress     it or an earlier call   lost: every later call of this process returns the
///                                 made the access         same code, and memory contents are undefined
///
/// The runtime keeps the last error code for a later query. It is cleared here: the exception has it.

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/bounded_text.hpp>
#include <sublet/execution/detail/cuda_device_guard.hpp>

#include <concepts>
#include <cuda_runtime_api.h>
#include <exception>
#include <utility>

#if CUDART_VERSION < 11040
#error "sublet: captured graphs that hold memory came with CUDA 11.4; use that toolkit or a newer one"
#endif

namespace sublet {

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

/// Calls on a given device, with checked results.
///
///     current device of the caller   2 ──────────────────────────── 2
///     calls("cudaMemPoolCreate",           0: pool of device 0
///           [&] { return create(); })      throws cuda_error, and records whether the device is lost
///
/// Each thread of a process has a current device, which is restored after each call.
///
/// While a batch exists, its device is current in this thread, and calls need not make it so.
class cuda_calls {
public:
    class batch;

    /// Of the device that CUDA gives this number.
    explicit cuda_calls(int device) : device_(device)
    {
        SUBLET_EXPECTS(device >= 0, "sublet: devices are counted from 0");
    }
    cuda_calls(cuda_calls const&) = delete; // handles refer to it
    cuda_calls& operator=(cuda_calls const&) = delete;

    /// The number of the device.
    [[nodiscard]] int device() const noexcept { return device_; }
    /// A call returned a code after which none succeeds.
    [[nodiscard]] bool is_lost() const noexcept { return lost_by_ != cudaSuccess; }

    /// Makes a call of that name.
    ///
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

/// Makes the device current in this thread while it exists.
///
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

} // namespace sublet

#endif
