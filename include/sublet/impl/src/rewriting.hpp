// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_REWRITING_HPP
#define SUBLET_IMPL_SRC_REWRITING_HPP

/// The definitions of rewriting/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/rewriting/impl/happens_before.ipp>
#include <sublet/rewriting/impl/release.ipp>
#include <sublet/rewriting/impl/rename.ipp>

#endif
#endif
