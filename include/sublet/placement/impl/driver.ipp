// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_DRIVER_IPP
#define SUBLET_PLACEMENT_IMPL_DRIVER_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/detail/driver.hpp>

namespace sublet {

SUBLET_DECL void lowest_number::offer(std::uint32_t other)
{
    std::uint32_t now = number_.load();
    while (other < now && !number_.compare_exchange_weak(now, other)) {}
}

SUBLET_DECL std::uint32_t lowest_number::get() const { return number_.load(std::memory_order_relaxed); }

SUBLET_DECL void steady::run(std::size_t tasks, numbered_task task)
{
    for (std::size_t i = 0; i != tasks; ++i) task(i);
}

} // namespace sublet

#endif
