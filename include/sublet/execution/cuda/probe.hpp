// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CUDA_PROBE_HPP
#define SUBLET_EXECUTION_CUDA_PROBE_HPP

/// Is there a device that can be used, and if not, why not?
///
///     auto const found = sublet::cuda::probe();
///     if (!found.is_usable()) std::cout << found.why() << '\n';
///
///     no CUDA driver is installed: libcuda.so.1 is not found [runtime 13.0]
///
/// A program that is linked with CUDA starts on every machine, with a driver or without; this is the question
/// to ask before anything else. Every answer but "yes" is a sentence: nothing is thrown for want of a device.

#include <sublet/execution/cuda/errors.hpp>
#include <sublet/execution/sentence.hpp>
#include <sublet/units.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <vector>

namespace sublet::cuda {

struct device_facts {
    int id = 0;
    int major = 0, minor = 0; ///< compute capability
    byte_count bytes = 0;     ///< of memory, whoever uses them
    bool is_usable = false;   ///< it can keep a pool of its own, and this process may use it
    char name[256] = {};
};

struct probe_result {
    int runtime = 0; ///< version: 1000 * major + 10 * minor
    int driver = 0;  ///< the newest runtime that the driver can serve; 0: there is none
    std::vector<device_facts> devices;
    device_facts const* first() const noexcept ///< that is usable
    {
        for (device_facts const& each : devices)
            if (each.is_usable) return &each;
        return nullptr;
    }
    [[nodiscard]] bool is_usable() const noexcept { return first() != nullptr; }
    /// Why no device is usable; otherwise which one is the first.
    [[nodiscard]] char const* why() const noexcept { return text.text(); }

    detail::sentence text;
};

namespace detail {

inline void write_version(sublet::detail::sentence& out, int version) noexcept
{
    out << static_cast<unsigned>(version / 1000) << '.' << static_cast<unsigned>(version % 1000 / 10);
}

/// Throws nothing but std::bad_alloc: what cannot be asked is not usable.
inline cudaError_t list_devices(probe_result& found)
{
    int count = 0; // where there is none, the runtime leaves it as it is
    if (cudaError_t const code = cudaGetDeviceCount(&count)) return code;
    for (int id = 0; id < count; ++id) {
        device_facts& its = found.devices.emplace_back();
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

/// Complexity: loads the driver, and makes no device busy.
/// Throws:     std::bad_alloc.
[[nodiscard]] inline probe_result probe()
{
    probe_result found;
    if (cudaRuntimeGetVersion(&found.runtime) != cudaSuccess) found.runtime = CUDART_VERSION;
    if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
    cudaError_t const code = detail::list_devices(found);
    (void)cudaGetLastError(); // nobody is to find it later and take it for theirs

    auto& out = found.text;
    if (device_facts const* const one = found.first()) {
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
        out << "no CUDA device can keep a pool of memory, or this process may use none that can";
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
