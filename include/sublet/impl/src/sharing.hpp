// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_SHARING_HPP
#define SUBLET_IMPL_SRC_SHARING_HPP

/// The definitions of sharing/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/sharing/impl/assign_exact.ipp>
#include <sublet/sharing/impl/cliques.ipp>
#include <sublet/sharing/impl/color_chordal.ipp>
#include <sublet/sharing/impl/color_graph.ipp>
#include <sublet/sharing/impl/coloring_orders.ipp>
#include <sublet/sharing/impl/dsatur.ipp>
#include <sublet/sharing/impl/fewest_slots.ipp>
#include <sublet/sharing/impl/heir_forest.ipp>
#include <sublet/sharing/impl/hosts.ipp>
#include <sublet/sharing/impl/in_place.ipp>
#include <sublet/sharing/impl/in_place_concurrent.ipp>
#include <sublet/sharing/impl/in_place_flow.ipp>
#include <sublet/sharing/impl/in_place_gains.ipp>
#include <sublet/sharing/impl/in_place_pairs.ipp>
#include <sublet/sharing/impl/largest_first.ipp>
#include <sublet/sharing/impl/prefix_cliques.ipp>
#include <sublet/sharing/impl/program_tokens.ipp>
#include <sublet/sharing/impl/range_matching.ipp>
#include <sublet/sharing/impl/relink_chains.ipp>
#include <sublet/sharing/impl/sleepers.ipp>
#include <sublet/sharing/impl/slot_choice.ipp>
#include <sublet/sharing/impl/slot_room.ipp>
#include <sublet/sharing/impl/slot_set.ipp>
#include <sublet/sharing/impl/stair_coloring.ipp>
#include <sublet/sharing/impl/staircases.ipp>
#include <sublet/sharing/impl/symbolic_slots.ipp>
#include <sublet/sharing/impl/takers.ipp>
#include <sublet/sharing/impl/token_deposits.ipp>
#include <sublet/sharing/impl/token_sets.ipp>

#endif
