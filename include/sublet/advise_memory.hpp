// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADVISE_MEMORY_HPP
#define SUBLET_ADVISE_MEMORY_HPP

/// The planner for a program that does not fit: suggests spills and recomputation, and plans the result.
///
///     auto advice = sublet::advise_memory(program, {.bytes = sizes, .pools = {{.capacity = 64 << 20}}});
///     for (auto const& s : advice.suggestions) std::cout << s.value << '\n'; // spilled after s.after
///     std::cout << advice << '\n';                                           // of advice.spilled.program
///
///     program ─► spill_model ─► find_spills ─► insert_spills ─► plan_memory ─► does it fit?
///                                   ▲                                              │ no: fewer bytes
///                                   └──────────────────────────────────────────────┘
///
/// A value is copied back, or made again by its step from operands that are there, or that are restored in
/// turn: a chain of steps runs again. Copies and steps that run again have positions of their own, so the
/// byte counts are exact. None go below `least`, with whatever copies and steps:
///
///     at a step       its operands and its results, less what results may take of operands in place
///     or before it    its operands                at the start     the inputs
///     at both         all that must stay there    at the end       the outputs

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/planned_memory.hpp>
#include <sublet/planning/spills.hpp>

#include <utility>
#include <vector>

namespace sublet {

/// The plan is that of `spilled.program`; the values are those of that program.
struct memory_advice : planned_memory {
    /// A value that leaves, and is copied back or made again: for a step of the program, or for a step that
    /// runs again before that step.
    struct suggestion {
        value_id value = no_value; ///< with its views
        step_id after = no_step;   ///< the last step of the program to run before it leaves,
        step_id before = no_step;  ///< and the first to run after it is restored; none: it is so at the end
        step_id remat_step = no_step; ///< the step that makes it again; none: its bytes are copied
        byte_count bytes = 0;         ///< of its storage
        byte_count cost = 0;          ///< of copying it, or of running the step again
        friend bool operator==(memory_advice::suggestion const&, memory_advice::suggestion const&) = default;
    };

    /// The peak of a pool, before and after.
    struct pool {
        byte_count peak_before = 0; ///< most bytes live at once in the original program
        byte_count peak_after = 0;  ///< most bytes live at once in `spilled.program`
        byte_count least = 0;       ///< lower bound for any copies of whole buffers and any steps run again
        step_id least_step = no_step; ///< where: its operands or its results, with all that stays
        friend bool operator==(memory_advice::pool const&, memory_advice::pool const&) = default;
    };

    /// In the order in which they are restored; empty: the program fits without spills.
    std::vector<memory_advice::suggestion> suggestions;
    table<pool_id, memory_advice::pool> pools; ///< of each pool
    byte_count cost = 0;                       ///< the sum over the suggestions
    spilled_program spilled; ///< the program with the suggestions
    plan_options options;    ///< of its values
};

/// Plans a program under the capacities of `options.pools`, with spills if it does not fit without.
///
/// Requires:   a step that says may_recompute() computes the same result again, without other effects; one that
///             says may_recompute_results() is then run without its updates of external values. A step that
///             says neither runs once: in a program from lists of uses and defs, each step.
/// Ensures:    the plan is that of `spilled.program`. If there is none because of its size, `pools` gives the
///             peak that was reached and `least`, below which no spills lead; if because of the order, there
///             are no suggestions. The cost is the least that a search finds: there is no bound on it.
/// Complexity: up to nine times that of plan_memory(), and up to eight times that of a search for runs within
///             the capacities (planning/detail/find_spills.hpp): once for the program, then with lower
///             capacities until alignment and fragmentation fit, too. `options.effort` bounds both.
/// Throws:     as plan_memory().
[[nodiscard]] memory_advice advise_memory(snapshot const& p, plan_options const& options,
                                          advice_options const& how = {});
/// The same within each of these limits of pool 0, in bytes: what memory costs. A lower limit never costs less
/// than a higher one. The program is read once.
[[nodiscard]] std::vector<memory_advice> advise_limits(snapshot const& p, plan_options const& options,
                                                       std::vector<byte_count> const& limits,
                                                       advice_options const& how = {});
/// The same for a listing: the result is asked with handles. Suggestions have its ids.
template <detail::listed L>
[[nodiscard]] auto advise_memory(L const& list, advice_options const& how = {})
{
    list.expect_no_carry("advise_memory");
    return list.named(advise_memory(list.program(), list.sized_options(), how));
}
/// The same within each of the limits.
template <detail::listed L>
[[nodiscard]] auto advise_limits(L const& list, std::vector<byte_count> const& limits,
                                 advice_options const& how = {})
{
    list.expect_no_carry("advise_limits");
    std::vector<decltype(advise_memory(list, how))> all;
    for (memory_advice& advice : advise_limits(list.program(), list.sized_options(), limits, how))
        all.push_back(list.named(std::move(advice)));
    return all;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/advise_memory.ipp>
#endif

#endif
