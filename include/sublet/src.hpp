// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SRC_HPP
#define SUBLET_SRC_HPP

/// Definitions of all stages, for separate compilation.
///
///     every file of the program     -DSUBLET_SEPARATE_COMPILATION, and any of the library's headers
///     one of them                   #include <sublet/src.hpp>
///
/// CMake's target sublet::compiled does both. To compile in parallel, include the files of impl/src/, one per
/// stage, in several files instead. execution/ needs exceptions; the Boost and CUDA headers are header-only.

#include <sublet/impl/src/analysis.hpp>
#include <sublet/impl/src/checking.hpp>
#include <sublet/impl/src/core.hpp>
#include <sublet/impl/src/execution.hpp>
#include <sublet/impl/src/graph.hpp>
#include <sublet/impl/src/ordering.hpp>
#include <sublet/impl/src/placement.hpp>
#include <sublet/impl/src/planning.hpp>
#include <sublet/impl/src/reporting.hpp>
#include <sublet/impl/src/rewriting.hpp>
#include <sublet/impl/src/sharing.hpp>
#include <sublet/impl/src/structures.hpp>

#endif
