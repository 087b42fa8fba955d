// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_FITS_HPP
#define SUBLET_CHECKING_FITS_HPP

/// Does the plan of a larger program serve this one: of smaller shapes, or with fewer steps?
///
///     auto fitted = sublet::fits(plan, program, options);              // options of the smaller batch
///     if (!fitted) std::cout << fitted.error() << '\n';                // which value has no room, and why
///
///     planned for        offset                     this program         the same offset
///     a  64 bytes           0                       a  16 bytes             0
///     b  32 bytes          64                       b   8 bytes            64
///     c  64 bytes           0  (after a)            (no step makes c)

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/core/counterexample.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/graph/snapshot.hpp>

namespace sublet {

/// The plan of a larger program as one of this program. Converts to true if it serves it; otherwise it has an
/// error.
struct fitted_plan : verdict {
    memory_plan plan; ///< of this program, valid if the plan serves it: the same places and arenas
};

/// Whether `plan`, of a program with more bytes or more steps, also serves this program: for the reading of
/// the plan, each buffer at its planned offset, in arenas of the planned size. Values and nodes that both
/// programs have bear the same numbers. Shapes and lives are derived again, so what was planned for another
/// reason is not asked for: a value may even be larger than planned if nothing else needs the bytes behind
/// it.
///
/// A planned value of no bytes, or without a touch, in this program is left out. A view lies in its root
/// where this program says. Steps run in `options.order`; if that is empty, in the order of the plan without
/// the nodes that this program does not have. A plan with an order does not serve a program with more nodes
/// then. Of the hand-offs those stay of which this program has both steps. Without its last steps a program
/// is served; without its first ones it can be refused, as an input is live while the first step runs, and
/// for every schedule without others that ordered two of its steps. Without steps that were planned as
/// optional (plan_options::optional) it is served.
///
/// Requires:   as the checker of the reading; `flow` is for control flow only.
/// Ensures:    the result's plan is one of this program in that order, and executors take it, with `order` in
///             their options. If it is not valid the error is what the checker of the reading finds, such as
///             a value without a place in the plan, one that shares bytes with another (perhaps a result that
///             is larger now than the operand it was planned over) or ends behind the arena, a pool that is
///             not its own, an offset that is no multiple of a stricter alignment. A planned value that is
///             now external, not eligible or of unknown size has `needless` storage.
/// Complexity: that of the checker, and O(values + nodes + buffers).
/// Throws:     precondition_error where a requirement is broken.
[[nodiscard]] fitted_plan fits(memory_plan const& plan, snapshot const& p, plan_options const& options,
                               flow_options const& flow = {});

/// The same for two listings: a handle keeps its place, whatever its number, and a step its hand-offs: it is
/// the one that makes the same first value, or has the same label. The result is asked with handles. If the handles of the second are new, as pointers to a graph that is built anew are, it is
/// fits_by_position().
template <class Planned, detail::listed L>
    requires requires(Planned const& planned, L const& list) { planned.plan_for(list); }
[[nodiscard]] auto fits(Planned const& planned, L const& list, flow_options const& flow = {})
{
    return list.named(fits(planned.plan_for(list), list.program(), list.options(), flow));
}

/// The same for a listing with other handles, such as the pointers of a graph that is built anew: what was
/// named first lies where the first of the planned listing lies, and so on. The result is asked with the new
/// handles.
template <class Planned, detail::listed L>
    requires requires(Planned const& planned, L const& list) { planned.plan_for(list); }
[[nodiscard]] auto fits_by_position(Planned const& planned, L const& list, flow_options const& flow = {})
{
    memory_plan const plan = planned ? planned.plan : memory_plan{};
    return list.named(fits(plan, list.program(), list.options(), flow));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/fits.ipp>
#endif

#endif
