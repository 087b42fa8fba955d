// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADVISE_MEMORY_HPP
#define SUBLET_ADVISE_MEMORY_HPP

/// What to move out of memory, or to make again later, so that a program runs under a limit; and the program
/// in which that is done.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/advise.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- absences --------------------------------------------------------------------------------------------

/// When a buffer could be away, and how it could come back: copied, or made again.
///
///     position      0        1        2        3        4
///                 def a    use a    def c    use a    use b
///                          def b             def d
///     a             [========)        .        [====)           away after 1, back before 3
///     b                      [====)     .        .    [====)    away after 1, back before 4; or not copied,
///                                                              but step 1 is run once more there: a is alive
///
/// A buffer leaves after a step that touches it and is back before the next one that does. Running its step
/// again makes the same bytes if the operands are alive there and still what they were, and it harms nobody
/// if all that the step writes is storage that is planned: nothing of the caller's, no state.

namespace sublet {
namespace detail {

/// Between two positions nobody touches a buffer. Both hold its storage, what is between need not.
struct spill_candidate {
    value_id root = no_value;     ///< the value that all are views of that live in the buffer then
    buffer_id buffer = no_buffer; ///< in the table with what is in place
    step_id after = 0;            ///< positions
    step_id before = 0;
    step_id remat_step = no_step; ///< the position whose step makes it again; none: its bytes are copied
    friend bool operator==(spill_candidate, spill_candidate) = default;
};

/// Touches where nodes end, by position.
std::vector<sort_key> node_end_touches(snapshot const& p, std::vector<step_id> const& steps);

/// All absences of planned buffers, those of a time together: first by copy, then by running a step again.
///
/// Requires:   `steps` are the program's by position, `unjoined` its buffers in that order, `joined` the same
///             with what is in place (or `unjoined` again), `role` one entry a value.
/// Ensures:    by ascending `before`. Who is given is touched as the run begins, an output as it ends. No
///             absence of a pinned buffer.
/// Complexity: O(values + touches), and O(touches of the step that would be run again) for each time.
[[nodiscard]] std::vector<spill_candidate>
find_spill_candidates(snapshot const& p, std::vector<step_id> const& steps, buffer_table const& unjoined,
                      buffer_table const& joined, std::span<value_role const> role);

} // namespace detail

// --- apply absences --------------------------------------------------------------------------------------

/// A program in which buffers leave and come back: what plans it, checks it or runs it need not know of that.
///
///     step  0   def a                        0   def a
///           1   use a   def b                1   use a   def b
///                                            2   use a   def home          a is copied out
///           2   use b   def c                3   use b   def c
///                                            4   use home   def a'         and back
///           3   use a, c                     5   use a', c
///
/// What comes back is another value, with another life and maybe another place: a', and so for the views of
/// a that anybody still needs. A home is storage of the caller's, outside of all pools. Each copy and each
/// step that is run again has a position of its own. Copies out come first after a step, copies back follow,
/// steps run again come last, in the order of the program: so where only copies are made no more is alive
/// than at the step before or at the step behind.

/// A list of steps, one a node, in the order in which they run.
struct spilled_program {
    enum class kind : std::uint8_t {
        original,     ///< a step of the program
        copied_out,   ///< its operand is to be copied to its result, which is the caller's
        copied_back,  ///< its operand, which is the caller's, is to be copied to its first result
        rematerialize ///< a step of the program, once more
    };

    struct step {
        spilled_program::kind kind = spilled_program::kind::original;
        step_id step = no_step; ///< of the program: what is run, or what the copy follows or precedes
        friend bool operator==(spilled_program::step, spilled_program::step) = default;
    };

    snapshot program;
    std::vector<spilled_program::step> steps; ///< by step
    std::vector<value_id> origin;             ///< by value: of the program; of a home the one that is there
    std::vector<value_id> final_version;      ///< by value of the program: which one it is when all has run
    std::vector<value_id> homes;              ///< ascending
    std::vector<value_id> alias_of;           ///< by value
    std::vector<value_role> role;             ///< by value

    /// The options of the program, said of these values.
    [[nodiscard]] plan_options options(plan_options const& asked) const;
};

namespace detail {

/// The program with some absences, as find_spill_candidates() found them.
///
/// Requires:   `steps` are the program's by position in the order of `options`; of absences of one time at
///             most one is among them, and what a step that is run again reads is not away there (but may be
///             back just there).
/// Ensures:    values of the program keep their ids, further ones follow. A value that is replaced is no
///             output any more: `final_version` says which one is.
/// Complexity: O(values + touches + k log k), and for each absence its views and the touches of a step that
///             is run again; k absences and uses at the ends of nodes.
[[nodiscard]] spilled_program insert_spills(snapshot const& p, std::vector<step_id> const& steps,
                                            plan_options const& options,
                                            std::span<memory_plan::in_place_pair const> in_place,
                                            std::span<spill_candidate const> candidates);

} // namespace detail

// --- memory advisor --------------------------------------------------------------------------------------

/// The front door where a plan does not fit: what to copy out and back, what to make again, and the program
/// that does so, with its plan.
///
///     auto advice = sublet::advise_memory(program, {.bytes = sizes, .pools = {{.capacity = 64 << 20}}});
///     for (auto const& a : advice.suggestions) ...     value 7 leaves after step 3 and is back before step 9
///     run(advice.relieved.program, advice.planned.plan);
///
///     program ─► absences ─► advise ─► insert_spills ─► plan_memory ─► does it fit?
///                               ▲                                           │ no: ask for so many bytes less
///                               └───────────────────────────────────────────┘
///
/// What is said about bytes is exact: copies and steps that are run again have positions of their own, where
/// what is alive is counted as everywhere else. In place is what is in place without absences: where one
/// makes another pair possible, that pair is not taken.

struct advice_options {
    bool copies = true;       ///< bytes may be copied out and back
    bool remats = true;       ///< steps may be run again
    byte_count copy_cost = 2; ///< of each byte that is copied out and back
    /// Of making a value again. 0: not known, the bytes that its step reads and writes; `no_size`: never.
    per_value<byte_count> remat_cost = byte_count{0};
    per_value<bool> movable = true; ///< false: its buffer is never away
};

struct memory_advice {
    /// A buffer should be away.
    struct suggestion {
        value_id value = no_value; ///< with its views
        step_id after = no_step;   ///< the last step of the program to touch it before it leaves,
        step_id before = no_step;  ///< and the first that needs it back
        step_id remat_step =
            no_step; ///< the step that makes it again; none: its bytes are copied out and back
        byte_count bytes = 0;
        byte_count saved = 0; ///< bytes alive at the peak of its pool without this one, less those with all
        byte_count cost = 0;
        friend bool operator==(memory_advice::suggestion const&, memory_advice::suggestion const&) = default;
    };

    struct pool {
        byte_count peak_before = 0; ///< most bytes alive at once in the program as it is
        byte_count peak_after = 0;
        byte_count least = 0; ///< no absences go below: so many bytes are needed by one step, or cannot leave
        step_id least_step = no_step; ///< that step
        friend bool operator==(memory_advice::pool const&, memory_advice::pool const&) = default;
    };

    std::vector<memory_advice::suggestion>
        suggestions; ///< by the step that needs it back; empty: the program fits as it is
    std::vector<memory_advice::pool> pools; ///< by pool id
    byte_count cost = 0;
    spilled_program spilled; ///< the program with the suggestions
    plan_options options;    ///< of its values
    planned_memory planned;  ///< its plan; sound if it fits, refuted where it does not

    [[nodiscard]] bool is_enough() const { return planned.is_sound(); }
};

namespace detail {

/// Positions of steps, with room between them for what comes back.
///
///     step 0 | copies back | step 0 again | step 1 | copies back | step 2 ...
struct spaced_positions {
    std::vector<step_id> of_step;   ///< by position
    std::vector<step_id> reload_at; ///< by absence: from where on it is back

    spaced_positions(std::size_t positions, std::vector<spill_candidate> const& candidates);

    /// The life of a buffer: over gaps too, and over the one before an early use with which it ends.
    [[nodiscard]] live_range life(buffer const& b, step_id last_touch) const;
    /// The position that is, or follows.
    [[nodiscard]] step_id position(step_id spaced) const;
};

/// What a program, as it is planned, can do without for a while.
struct spill_problem {
    std::vector<step_id> steps;
    std::vector<memory_plan::in_place_pair> in_place;
    std::vector<spill_candidate> candidates;
    spaced_positions spaced{0, {}};
    placement_problem problem;
    idle_times times;

    spill_problem(snapshot const& p, plan_options const& options, advice_options const& how);

private:
    /// What is read early and then not copied is gone before the step that reads it has written.
    bool is_freed_early(snapshot const& p, buffer_table const& joined,
                        std::vector<sort_key> const& at_node_ends, spill_candidate const& a) const;

    /// What a step that is run again asks for, and the bytes that it touches.
    byte_count list_remat(snapshot const& p, buffer_table const& unjoined, buffer_table const& joined,
                          csr_rows const& of_buffer, std::uint32_t i);
};

} // namespace detail

/// Plan a program under the capacities of `options.pools`; where it does not fit, say what should be away for
/// a while, and plan the program that does so.
///
/// Requires:   what find_spill_candidates() says of a step that is run again also holds of what the library does
///             not see: it makes the same once more (where not, `how.remat_cost` is `no_size`).
/// Ensures:    `planned` is the plan of `spilled.program`. If it is refuted for its size, `pools` says
///             whether anything could help: what one step needs at once no absences lower. An order that is
///             refuted is refuted without advice.
/// Complexity: up to nine times that of plan_memory() and of advise(): once for the program, then until what
///             alignment and fragments cost has been left free, too.
/// Throws:     as plan_memory().
[[nodiscard]] memory_advice advise_memory(snapshot const& p, plan_options const& options,
                                          advice_options const& how = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/advise_memory.ipp>
#endif

#endif
