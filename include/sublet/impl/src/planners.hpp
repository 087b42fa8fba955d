// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_PLANNERS_HPP
#define SUBLET_IMPL_SRC_PLANNERS_HPP

/// The definitions of planners, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/impl/advise.ipp>
#include <sublet/impl/advise_memory.ipp>
#include <sublet/impl/plan_concurrent.ipp>
#include <sublet/impl/plan_flow.ipp>
#include <sublet/impl/plan_handoffs.ipp>
#include <sublet/impl/plan_memory.ipp>
#include <sublet/impl/plan_nested.ipp>
#include <sublet/impl/plan_symbolic.ipp>
#include <sublet/impl/planned_buffers.ipp>
#include <sublet/impl/schedule.ipp>

#endif
#endif
