// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_STRUCTURES_HPP
#define SUBLET_IMPL_SRC_STRUCTURES_HPP

/// The definitions of structures/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/structures/impl/bit_rows.ipp>
#include <sublet/structures/impl/byte_owners.ipp>
#include <sublet/structures/impl/overwrite_matching.ipp>
#include <sublet/structures/impl/range_sets.ipp>
#include <sublet/structures/impl/segment_tree.ipp>

#endif
#endif
