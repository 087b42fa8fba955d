// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_MAPPING_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_MAPPING_HPP

/// The functions with which the driver reserves addresses and maps memory there, found through the runtime,
/// so that the driver is not linked; none where the driver or the device cannot.
///
/// Source: CUDA's virtual memory management, in the driver since CUDA 10.2.

#include <sublet/core/units.hpp>
#include <sublet/execution/cuda_runtime.hpp>

#include <cstddef>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <optional>

namespace sublet::detail {

/// The functions of the driver that map memory, and what they need to know of the device.
struct cuda_mapping {
    decltype(&cuMemAddressReserve) reserve = nullptr;
    decltype(&cuMemAddressFree) free = nullptr;
    decltype(&cuMemCreate) create = nullptr;
    decltype(&cuMemRelease) release = nullptr;
    decltype(&cuMemMap) map = nullptr;
    decltype(&cuMemUnmap) unmap = nullptr;
    decltype(&cuMemSetAccess) set_access = nullptr;
    CUmemAllocationProp memory{}; ///< of this device
    byte_count granularity = 1;   ///< of sizes

    /// Codes of the driver have the numbers of the runtime's.
    static cudaError_t as_runtime(CUresult code) noexcept { return static_cast<cudaError_t>(code); }
};

/// Returns false if the driver does not have it. Throws: cuda_error if the device is lost.
template <class Function>
bool find_in_driver(cuda_calls& calls, char const* name, Function*& function)
{
    void* found = nullptr;
    try {
        calls("cudaGetDriverEntryPoint", [&] {
#if CUDART_VERSION >= 12050
            cudaDriverEntryPointQueryResult how{};
            return cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &how);
#elif CUDART_VERSION >= 12000
            cudaDriverEntryPointQueryResult how{};
            return cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#else
            return cudaGetDriverEntryPoint(name, &found, cudaEnableDefault);
#endif
        });
    } catch (cuda_error const&) {
        if (calls.is_lost()) throw;
        return false;
    }
    function = reinterpret_cast<Function*>(found);
    return found != nullptr;
}

/// None if the driver or the device cannot map memory.
/// Throws: cuda_error.
inline std::optional<cuda_mapping> cuda_mapping_of(cuda_calls& calls)
{
    cuda_mapping its;
    decltype(&cuDeviceGet) device_of = nullptr;
    decltype(&cuDeviceGetAttribute) attribute_of = nullptr;
    decltype(&cuMemGetAllocationGranularity) granularity_of = nullptr;
    bool const has_all = find_in_driver(calls, "cuDeviceGet", device_of) &&
                         find_in_driver(calls, "cuDeviceGetAttribute", attribute_of) &&
                         find_in_driver(calls, "cuMemGetAllocationGranularity", granularity_of) &&
                         find_in_driver(calls, "cuMemAddressReserve", its.reserve) &&
                         find_in_driver(calls, "cuMemAddressFree", its.free) &&
                         find_in_driver(calls, "cuMemCreate", its.create) &&
                         find_in_driver(calls, "cuMemRelease", its.release) &&
                         find_in_driver(calls, "cuMemMap", its.map) &&
                         find_in_driver(calls, "cuMemUnmap", its.unmap) &&
                         find_in_driver(calls, "cuMemSetAccess", its.set_access);
    if (!has_all) return std::nullopt;
    CUdevice device = 0;
    calls("cuDeviceGet", [&] { return its.as_runtime(device_of(&device, calls.device())); });
    int is_supported = 0;
    calls("cuDeviceGetAttribute", [&] {
        return its.as_runtime(
            attribute_of(&is_supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
    });
    if (is_supported == 0) return std::nullopt;
    its.memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    its.memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    its.memory.location.id = calls.device();
    std::size_t granularity = 0;
    calls("cuMemGetAllocationGranularity", [&] {
        return its.as_runtime(granularity_of(&granularity, &its.memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    });
    its.granularity = granularity == 0 ? 1 : byte_count{granularity};
    return its;
}

} // namespace sublet::detail

#endif
