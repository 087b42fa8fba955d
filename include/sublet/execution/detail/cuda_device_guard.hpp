// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_DEVICE_GUARD_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_DEVICE_GUARD_HPP

/// What the CUDA runtime keeps for each thread and process: the current device of a thread, which a guard
/// restores, and error codes after which no call of the process succeeds.

#include <sublet/impl/config.hpp>

#include <cuda_runtime_api.h>

namespace sublet::detail {

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

} // namespace sublet::detail

#endif
