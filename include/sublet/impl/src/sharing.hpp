// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_SHARING_HPP
#define SUBLET_IMPL_SRC_SHARING_HPP

/// The definitions of sharing/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/sharing/impl/buffer_slots.ipp>
#include <sublet/sharing/impl/chains.ipp>
#include <sublet/sharing/impl/color_graph.ipp>
#include <sublet/sharing/impl/coloring.ipp>
#include <sublet/sharing/impl/in_place.ipp>
#include <sublet/sharing/impl/largest_first.ipp>
#include <sublet/sharing/impl/match_in_place.ipp>
#include <sublet/sharing/impl/range_matching.ipp>
#include <sublet/sharing/impl/share_slots.ipp>
#include <sublet/sharing/impl/slot_size_search.ipp>
#include <sublet/sharing/impl/token_sets.ipp>
#include <sublet/sharing/impl/tokens.ipp>

#endif
#endif
