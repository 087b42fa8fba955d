// SPDX-License-Identifier: BSL-1.0

/// The memory modes are values; only arena, which holds a plan, has a definition.

#include <sublet/execution/storage.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL arena::arena(memory_plan p) : plan(std::move(p)) {}

} // namespace sublet
