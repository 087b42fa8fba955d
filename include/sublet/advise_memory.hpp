// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADVISE_MEMORY_HPP
#define SUBLET_ADVISE_MEMORY_HPP

/// Spilling and rematerialization for programs that exceed a memory limit: which buffers to copy out and
/// back, which to recompute, and the transformed program with its plan. Greedy.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/placement_problem.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/advise.hpp>
#include <sublet/planning/planned_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- spill candidates ------------------------------------------------------------------------------------

/// When a buffer can be spilled, and how it can be restored: by a copy, or by recomputation.
///
///     position      0        1        2        3        4
///                 def a    use a    def c    use a    use b
///                          def b             def d
///     a             [========)        .        [====)           spilled after 1, reloaded before 3
///     b                      [====)     .        .    [====)    spilled after 1, reloaded before 4; or
///                                                              step 1 runs again there: a is live
///
/// A buffer is spilled after a step that touches it and restored before the next one that does. Its step runs
/// again only if it says that it may (effect_sink::may_recompute()), its operands are live there and
/// unchanged, and it writes planned storage only: nothing external, no state.

namespace sublet {
namespace detail {

/// A buffer that no step touches between two positions. It needs its storage at both, and not in between.
struct spill_candidate {
    value_id root = no_value;     ///< the root of the values that are live in the buffer then
    buffer_id buffer = no_buffer; ///< in the table with in-place pairs joined
    position_id after = 0;        ///< the last that touches it before,
    position_id before = 0;       ///< and the first after
    position_id remat_at = no_position; ///< of the step that recomputes it; none: its bytes are copied
    friend bool operator==(spill_candidate, spill_candidate) = default;
};

/// Uses at the ends of nodes, by position.
std::vector<sort_key> node_end_touches(snapshot const& p, table<position_id, step_id> const& steps);

/// All spill candidates of planned buffers; for each interval first by copy, then by recomputation.
///
/// Requires:   `steps` are the program's by position, `unjoined` its buffers in that order, `joined` the same
///             with in-place pairs joined (or `unjoined` again), `role` has one entry per value.
/// Ensures:    ascending by `before`. Given values are touched at the start of a run, outputs at its end.
///             Pinned buffers are no candidates.
/// Complexity: O(values + touches), and O(touches of the step to run again) for each candidate.
[[nodiscard]] std::vector<spill_candidate> find_spill_candidates(snapshot const& p,
                                                                 table<position_id, step_id> const& steps,
                                                                 buffer_table const& unjoined,
                                                                 buffer_table const& joined,
                                                                 std::span<value_role const> role);

} // namespace detail

// --- spilled program -------------------------------------------------------------------------------------

/// A program with spills as ordinary steps, so that planners, checkers and executors need no special case.
///
///     step  0   def a                        0   def a
///           1   use a   def b                1   use a   def b
///                                            2   use a   def home          a is copied out
///           2   use b   def c                3   use b   def c
///                                            4   use home   def a'         and copied back
///           3   use a, c                     5   use a', c
///
/// A restored buffer is a new value a' with its own live range and offset; so are the views of a that are
/// used later. A home is external storage, outside all pools. Each copy and each recomputed step has a
/// position of its own: after a step its copies out, then copies back, then recomputed steps, in program
/// order. So if there are only copies, no more bytes are live at them than at an adjacent step.

/// A list of steps, one per node, in execution order.
struct spilled_program {
    /// Where a step comes from.
    enum class kind : std::uint8_t {
        original,     ///< a step of the program
        copied_out,   ///< copies its operand to its result, which is external
        copied_back,  ///< copies its operand, which is external, to its first result
        rematerialize ///< a step of the program, run again
    };

    /// The origin of a step.
    struct step {
        spilled_program::kind kind = spilled_program::kind::original; ///< where it comes from
        /// Of the program: the step to run, or the one that the copy follows or precedes.
        step_id step = no_step;
        friend bool operator==(spilled_program::step, spilled_program::step) = default;
    };

    snapshot program;                         ///< the steps, with the copies and the recomputed ones
    table<step_id, spilled_program::step> steps; ///< where each comes from
    table<value_id, value_id> origin;            ///< the value of the program; of a home the spilled value
    /// For each value of the program the version that holds it at the end.
    table<value_id, value_id> final_version;
    std::vector<value_id> homes;             ///< ascending
    table<value_id, value_id> alias_of;      ///< as in plan_options
    table<value_id, byte_count> view_offset; ///< likewise
    table<value_id, value_role> role;        ///< likewise

    /// The options of the program, for these values.
    [[nodiscard]] plan_options options(plan_options const& asked) const;
};

namespace detail {

/// The program with some of the candidates from find_spill_candidates() spilled.
///
/// Requires:   `steps` are the program's by position in the order of `options`; at most one candidate per
///             interval is chosen; an operand of a recomputed step is not spilled there (but may be restored
///             just there).
/// Ensures:    values of the program keep their ids, new ones follow. A replaced value is no longer an
///             output: `final_version` names its replacement.
/// Complexity: O(values + touches + k log k) for k candidates and uses at node ends, and for each candidate
///             its views and the touches of its recomputed step.
[[nodiscard]] spilled_program insert_spills(snapshot const& p, table<position_id, step_id> const& steps,
                                            plan_options const& options,
                                            std::span<memory_plan::in_place_pair const> in_place,
                                            std::span<spill_candidate const> candidates);

} // namespace detail

// --- memory advisor --------------------------------------------------------------------------------------

/// The planner for a program that does not fit: suggests spills and recomputation, and plans the result.
///
///     auto advice = sublet::advise_memory(program, {.bytes = sizes, .pools = {{.capacity = 64 << 20}}});
///     for (auto const& s : advice.suggestions) std::cout << s.value << '\n'; // spilled after s.after
///     std::cout << advice << '\n';                                           // of advice.spilled.program
///
///     program ─► spill candidates ─► advise ─► insert_spills ─► plan_memory ─► does it fit?
///                                       ▲                                          │ no: fewer bytes
///                                       └──────────────────────────────────────────┘
///
/// The byte counts are exact: copies and recomputed steps have positions of their own. In-place pairs are
/// those of the program without spills; a pair that a spill makes possible is not used.
///
/// A value is recomputed by its step from operands that are live. A chain, in which operands are recomputed
/// first, is not tried; with chains there may be plans with fewer bytes, but none below `least`:
///
///     at a step       its operands and its results, less what results may take of operands in place
///     or before it    its operands                at the start     the inputs
///     at both         all that must stay there    at the end       the outputs

/// What may be spilled or recomputed, and what that costs.
struct advice_options {
    bool copies = true;       ///< bytes may be copied out and back
    bool remats = true;       ///< steps that say may_recompute() may be run again
    byte_count copy_cost = 2; ///< of each byte that is copied out and back
    /// Of recomputing a value. 0: the bytes that its step reads and writes; `no_size`: never recomputed.
    per_value<byte_count> remat_cost = byte_count{0};
    per_value<bool> movable = true; ///< false: its buffer is never spilled
};

/// The plan is that of `spilled.program`; the values are those of that program.
struct memory_advice : planned_memory {
    /// One value to copy out and back, or to recompute.
    struct suggestion {
        value_id value = no_value; ///< with its views
        step_id after = no_step;   ///< the last step of the program to touch it before the spill,
        step_id before = no_step;  ///< and the first that touches it after
        step_id remat_step =
            no_step; ///< the step that recomputes it; none: its bytes are copied out and back
        byte_count bytes = 0; ///< of its buffer
        byte_count saved = 0; ///< increase of its pool's peak without this suggestion
        byte_count cost = 0;  ///< of copying or recomputing it, as the options give it
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

    /// By `before`; empty: the program fits without spills.
    std::vector<memory_advice::suggestion> suggestions;
    table<pool_id, memory_advice::pool> pools; ///< of each pool
    byte_count cost = 0;                       ///< the sum over the suggestions
    spilled_program spilled; ///< the program with the suggestions
    plan_options options;    ///< of its values
};

namespace detail {

/// Positions of steps, spaced to leave positions for reloads.
///
///     step 0 | copies back | step 0 again | step 1 | copies back | step 2 ...
struct spaced_positions {
    table<position_id, position_id> of_step; ///< of the step at a position
    std::vector<position_id> reload_at;      ///< by candidate: the position at which it is restored

    spaced_positions(std::size_t positions, std::vector<spill_candidate> const& candidates);

    /// The live range of a buffer, without holes, and extended over the gap before a final early use.
    [[nodiscard]] live_range life(buffer const& b, position_id last_touch) const;
};

struct spill_problem {
    table<position_id, step_id> steps;
    std::vector<memory_plan::in_place_pair> in_place;
    std::vector<spill_candidate> candidates;
    table<pool_id, lowest_load> least;
    spaced_positions spaced{0, {}};
    placement_problem problem;
    idle_times times;

    spill_problem(snapshot const& p, plan_options const& options, advice_options const& how);

private:
    /// Whether storage is free before its last reader writes: after an early read, without a copy.
    bool is_freed_early(snapshot const& p, buffer_table const& joined,
                        std::vector<sort_key> const& at_node_ends, spill_candidate const& a) const;

    /// Adds the needs and loads of a recomputed step, and returns the bytes that it touches.
    byte_count list_remat(snapshot const& p, buffer_table const& unjoined, buffer_table const& joined,
                          csr_rows<buffer_id, std::uint32_t> const& of_buffer, std::uint32_t i);
};

} // namespace detail

/// Plans a program under the capacities of `options.pools`, with spills if it does not fit without.
///
/// Requires:   a step that says may_recompute() computes the same result again, without other effects. A step
///             that does not say so runs once: in a program from lists of uses and defs, each step.
/// Ensures:    the plan is that of `spilled.program`. If there is none because of its size, `pools` gives the
///             peak that was reached and `least`, below which no spills lead; if because of the order, there
///             are no suggestions.
/// Complexity: up to nine times that of plan_memory() and of advise(): once for the program, then with lower
///             capacities until alignment and fragmentation fit, too.
/// Throws:     as plan_memory().
[[nodiscard]] memory_advice advise_memory(snapshot const& p, plan_options const& options,
                                          advice_options const& how = {});
/// The same for a listing: the result is asked with handles. Suggestions have its ids.
template <detail::listed L>
[[nodiscard]] auto advise_memory(L const& list, advice_options const& how = {})
{
    return list.named(advise_memory(list.program(), list.sized_options(), how));
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/advise_memory.ipp>
#endif

#endif
