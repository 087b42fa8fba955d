// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_ERRORS_HPP
#define SUBLET_EXECUTION_CUDA_ERRORS_HPP

/// What a call of CUDA refused, and whether there is still a device after it.
///
///     code                        the call                the device
///     cudaErrorMemoryAllocation   has had no effect       as before: run something smaller
///     cudaErrorIllegalAddress     found it out, or one    lost: every call of this process gives the same
///                                 before it did           code, and what is in memory is not to be trusted
///
/// The runtime also keeps the last code for whoever asks later. It is cleared here, because it has been said.

#include <sublet/execution/sentence.hpp>
#include <sublet/units.hpp>

#include <cuda_runtime_api.h>

#include <exception>

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
    detail::sentence text_;
};

} // namespace sublet

#endif
