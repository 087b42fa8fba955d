// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_SUBLET_HPP
#define SUBLET_SUBLET_HPP

/// The table of contents, in reading order: everything but execution/ and adapt/, which have a price of
/// their own and are included by name.
///
///     your IR -> program -> analysis -> sharing / ordering / placement -> plan -> check

// clang-format off: in the order of reading, not of the alphabet

// The words.
#include <sublet/contract.hpp>
#include <sublet/units.hpp>
#include <sublet/live_range.hpp>
#include <sublet/value_role.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/plan.hpp>

// What we ask, and the walks everybody needs.
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/explain.hpp>
#include <sublet/graph/vertex_numbering.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>

// The opponent.
#include <sublet/checking/witness.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/check_plan.hpp>

// What people look at.
#include <sublet/reporting/text.hpp>
#include <sublet/reporting/csv.hpp>
#include <sublet/reporting/svg.hpp>

#endif
