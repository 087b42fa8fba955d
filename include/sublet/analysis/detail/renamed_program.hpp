// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_RENAMED_PROGRAM_HPP
#define SUBLET_ANALYSIS_DETAIL_RENAMED_PROGRAM_HPP

/// A program with its touches renamed, one name for each touch.

#include <sublet/analysis/internal/storage_order.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The program with its touches renamed to `name`, by index of the touch. A step that reads and makes one
/// value may do so in place; a def of a version that `is_kept` makes a view and writes through it.
snapshot renamed(snapshot const& p, listed_touches const& listed, std::size_t versions,
                 std::vector<value_id> const& name, table<value_id, unsigned char> const& is_kept = {});

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/renamed_program.ipp>
#endif

#endif
