// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_WORDS_HPP
#define SUBLET_IMPL_SRC_WORDS_HPP

/// The definitions of words that all stages share, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#endif

#include <sublet/impl/contract.ipp>
#include <sublet/impl/keyed.ipp>
#include <sublet/impl/symbolic_options.ipp>

#endif
