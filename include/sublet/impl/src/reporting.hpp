// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_SRC_REPORTING_HPP
#define SUBLET_IMPL_SRC_REPORTING_HPP

/// The definitions of reporting/, for one source file of a program that defines
/// SUBLET_SEPARATE_COMPILATION in all of them.

#if !defined(SUBLET_SEPARATE_COMPILATION)
#error "sublet: without SUBLET_SEPARATE_COMPILATION in every file each header includes its definitions"
#else

#include <sublet/reporting/impl/html.ipp>
#include <sublet/reporting/impl/printable_text.ipp>
#include <sublet/reporting/impl/svg_map.ipp>
#include <sublet/reporting/impl/table_cell.ipp>
#include <sublet/reporting/impl/trace_rows.ipp>
#include <sublet/reporting/impl/why_peak.ipp>

#endif
#endif
