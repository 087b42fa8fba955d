// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_CORE_HPP
#define SUBLET_IMPL_SRC_CORE_HPP

/// The definitions that all stages share, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/core/impl/carried.ipp>
#include <sublet/core/impl/counterexample.ipp>
#include <sublet/core/impl/errors.ipp>
#include <sublet/core/impl/facts.ipp>
#include <sublet/core/impl/formula.ipp>
#include <sublet/core/impl/formula_bounds.ipp>
#include <sublet/core/impl/formula_grid.ipp>
#include <sublet/core/impl/formula_terms.ipp>
#include <sublet/core/impl/formula_text.ipp>
#include <sublet/core/impl/ids.ipp>
#include <sublet/core/impl/placement_outcome.ipp>
#include <sublet/core/impl/range_lists.ipp>
#include <sublet/core/impl/sorting.ipp>
#include <sublet/core/impl/stacking.ipp>
#include <sublet/core/impl/symbolic_plan.ipp>
#include <sublet/core/impl/units.ipp>

namespace sublet::detail {
char const link_libsublet_or_include_sublet_src_hpp_in_one_file = 0;
}

#endif
#endif
