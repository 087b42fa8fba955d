// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_ANALYSIS_HPP
#define SUBLET_IMPL_SRC_ANALYSIS_HPP

/// The definitions of analysis/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/analysis/impl/contents.ipp>
#include <sublet/analysis/impl/control_flow.ipp>
#include <sublet/analysis/impl/copy_order.ipp>
#include <sublet/analysis/impl/dependences.ipp>
#include <sublet/analysis/impl/flatten.ipp>
#include <sublet/analysis/impl/interference.ipp>
#include <sublet/analysis/impl/lifetimes.ipp>
#include <sublet/analysis/impl/live_query.ipp>
#include <sublet/analysis/impl/liveness.ipp>
#include <sublet/analysis/impl/liveness_methods.ipp>
#include <sublet/analysis/impl/unclear.ipp>
#include <sublet/analysis/impl/versions.ipp>

#endif
#endif
