// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SRC_HPP
#define SUBLET_SRC_HPP

/// The definitions of all stages, to be compiled once.
///
///     every file of the program     -DSUBLET_SEPARATE_COMPILATION, and any of the library's headers
///     one of them                   #include <sublet/src.hpp>
///
/// CMake's target sublet::compiled does both. Several files can share the work: each of impl/src/ holds one
/// stage. execution/ takes part where exceptions are on; what is for Boost and CUDA is header-only.

#include <sublet/impl/src/analysis.hpp>
#include <sublet/impl/src/checking.hpp>
#include <sublet/impl/src/core.hpp>
#include <sublet/impl/src/execution.hpp>
#include <sublet/impl/src/graph.hpp>
#include <sublet/impl/src/ordering.hpp>
#include <sublet/impl/src/placement.hpp>
#include <sublet/impl/src/planners.hpp>
#include <sublet/impl/src/reporting.hpp>
#include <sublet/impl/src/rewriting.hpp>
#include <sublet/impl/src/sharing.hpp>

#endif
