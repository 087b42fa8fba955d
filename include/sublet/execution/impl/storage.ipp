// SPDX-License-Identifier: BSL-1.0
/// The memory modes are values; only arena, which holds a plan, has a definition.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/internal/unclear.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/sorting.hpp>

#include <sublet/execution/storage.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet {

SUBLET_DECL arena::arena(memory_plan p) : plan(std::move(p)) {}

} // namespace sublet
