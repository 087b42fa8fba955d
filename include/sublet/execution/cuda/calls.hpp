// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_CALLS_HPP
#define SUBLET_EXECUTION_CUDA_CALLS_HPP

/// How all calls of CUDA are made here: on the right device, and none without a look at what it says.
///
///     the caller's current device   2 ─────────────────────────── 2
///     calls("cudaMemPoolCreate",          0: pool of device 0
///           [&] { return ...; });         throws cuda_error, and knows from now on if the device is lost
///
/// A process may use several devices, and each thread of it has one current: it finds it as it left it.

#include <sublet/contract.hpp>
#include <sublet/execution/cuda/errors.hpp>
#include <sublet/units.hpp>

#include <cuda_runtime_api.h>

#include <concepts>

namespace sublet {

namespace detail {

/// Makes a device the current one of this thread, for as long as this lives. Where it is already, nothing is
/// set; where it is not, going back brings up the device that was current, if nothing has used it yet.
class current_device {
public:
    explicit current_device(int wanted) noexcept : code_(cudaGetDevice(&before_))
    {
        if (code_ != cudaSuccess || before_ == wanted) return;
        code_ = cudaSetDevice(wanted);
        is_changed_ = code_ == cudaSuccess;
    }
    current_device(current_device const&) = delete;
    current_device& operator=(current_device const&) = delete;
    ~current_device()
    {
        if (is_changed_ && cudaSetDevice(before_) != cudaSuccess) (void)cudaGetLastError();
    }
    [[nodiscard]] cudaError_t code() const noexcept { return code_; }

private:
    int before_ = 0;
    cudaError_t code_;
    bool is_changed_ = false;
};

} // namespace detail

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
        detail::current_device const here(device_);
        if (here.code() != cudaSuccess) refuse(here.code(), "cudaSetDevice", at);
        if (cudaError_t const code = call()) refuse(code, name, at);
    }

    /// For what is given back, which knows by itself where it belongs: it goes even if its device cannot be
    /// made current.
    template <std::invocable Call>
    void give_back(char const* name, Call call)
    {
        if (is_lost()) throw cuda_error(lost_by_, name);
        if (cudaError_t const code = return_of(call)) refuse(code, name, no_step);
    }
    /// For destructors: what fails is of no use to anybody any more. On a lost device nothing is called.
    template <std::invocable Call>
    void quietly(Call call) noexcept
    {
        if (is_lost()) return;
        if (cudaError_t const code = return_of(call)) note(code);
    }

private:
    template <class Call>
    cudaError_t return_of(Call& call)
    {
        detail::current_device const here(device_);
        cudaError_t const code = call();
        return code != cudaSuccess ? code : here.code();
    }

    /// A code that stays although it has been cleared is sticky as well, whatever its number.
    void note(cudaError_t code) noexcept
    {
        (void)cudaGetLastError();
        cudaError_t const still = cudaGetLastError();
        if (detail::is_sticky(code)) lost_by_ = code;
        else if (still != cudaSuccess) lost_by_ = still;
    }

    [[noreturn]] void refuse(cudaError_t code, char const* name, step_id at)
    {
        note(code);
        throw cuda_error(code, name, at);
    }

    int device_;
    cudaError_t lost_by_ = cudaSuccess;
};

} // namespace sublet

#endif
