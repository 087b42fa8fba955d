// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_FIND_SPILLS_HPP
#define SUBLET_PLANNING_DETAIL_FIND_SPILLS_HPP

/// Runs the steps of a program in its order within so many bytes: what does not fit leaves, and is restored
/// before its next use by a copy or by running its maker again, after all that the maker needs.
///
///     limit: two storages      def a   use a   use b   use c   use a
///                                      def b   def c   def d   use d
///     there after the step     a       a b     b c     c d     a d      a leaves at the third step, since its
///                                                                       next use is the farthest, and its
///                                                                       maker runs again before the last
///
/// The storage that leaves has the lowest cost / (bytes^x * steps until its next use^y), times a weight of its
/// own. Its cost is that of all steps that would have to run again for it now, or of copying it. A few
/// exponents are tried, and restoring by the cheaper of both, by copies, or by steps. Then the weights of single
/// storages are changed at random, which of them are copied, and which stay when nothing needs them.
///
/// Source: the eviction of Kirisame et al., "Dynamic tensor rematerialization", ICLR 2021, which does not know
/// the next use; the farthest next use is from Belady, "A study of replacement algorithms for a
/// virtual-storage computer", IBM Systems Journal 1966.

#include <sublet/core/units.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>

#include <cstdint>

namespace sublet::detail {

/// Each step once, and nothing else.
[[nodiscard]] spill_run whole_run(spill_model const& m);

/// A cheap run within the limits. Where none is found, one that exceeds them by few bytes.
///
/// Requires:   `limits` has an entry for each pool of the model.
/// Ensures:    the events of kind `original` are the positions of the program, in order.
/// Complexity: with e events, and c steps that would run again for a storage: 9 or 27 runs of about
///             O((touches + e) (c + log touches)) each, cut short where steps run again too often; then as many
///             more as `work` allows: so many storages and touches are looked at.
[[nodiscard]] spill_run find_spills(spill_model const& m, table<pool_id, byte_count> const& limits,
                                    std::uint64_t work);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/find_spills.ipp>
#endif

#endif
