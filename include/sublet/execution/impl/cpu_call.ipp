// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_IMPL_CPU_CALL_IPP
#define SUBLET_EXECUTION_IMPL_CPU_CALL_IPP

#include <sublet/execution/cpu_call.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL bool cpu_call::stop_requested() const noexcept
{
    return is_stopping_ != nullptr && is_stopping_->load(std::memory_order_relaxed);
}

} // namespace sublet

#endif
