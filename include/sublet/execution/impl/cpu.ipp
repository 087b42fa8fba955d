// SPDX-License-Identifier: BSL-1.0
/// cpu_call: whether another step has failed is one relaxed load; the executor sets it.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/execution/cpu.hpp>
#include <sublet/impl/config.hpp>

#include <atomic>

namespace sublet {

SUBLET_DECL bool cpu_call::stop_requested() const noexcept
{
    return is_stopping_ != nullptr && is_stopping_->load(std::memory_order_relaxed);
}

} // namespace sublet
