// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_GRAPH_HPP
#define SUBLET_IMPL_SRC_GRAPH_HPP

/// The definitions of graph/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/graph/impl/edge_rules.ipp>
#include <sublet/graph/impl/effect_record.ipp>
#include <sublet/graph/impl/plan_requirements.ipp>
#include <sublet/graph/impl/program.ipp>
#include <sublet/graph/impl/said_views.ipp>
#include <sublet/graph/impl/snapshot.ipp>

#endif
#endif
