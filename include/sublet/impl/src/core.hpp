// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_CORE_HPP
#define SUBLET_IMPL_SRC_CORE_HPP

/// The definitions that all stages share, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/impl/antichain.ipp>
#include <sublet/impl/bit_rows.ipp>
#include <sublet/impl/contents.ipp>
#include <sublet/impl/counterexample.ipp>
#include <sublet/impl/errors.ipp>
#include <sublet/impl/facts.ipp>
#include <sublet/impl/ids.ipp>
#include <sublet/impl/overwrite_matching.ipp>
#include <sublet/impl/plan_requirements.ipp>
#include <sublet/impl/range_sets.ipp>
#include <sublet/impl/reuse_network.ipp>
#include <sublet/impl/segment_tree.ipp>
#include <sublet/impl/sorting.ipp>
#include <sublet/impl/symbolic_plan.ipp>
#include <sublet/impl/unclear.ipp>
#include <sublet/impl/units.ipp>

namespace sublet::detail {
char const link_libsublet_or_include_sublet_src_hpp_in_one_file = 0;
}

#endif
#endif
