// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ADVISE_MEMORY_HPP
#define SUBLET_ADVISE_MEMORY_HPP

/// The front door where a plan does not fit: what to copy out and back, what to make again, and the program
/// that does so, with its plan.
///
///     auto advice = sublet::advise_memory(program, {.bytes = sizes, .pools = {{.capacity = 64 << 20}}});
///     for (auto const& a : advice.suggestions) ...     value 7 leaves after step 3 and is back before step 9
///     run(advice.relieved.program, advice.planned.plan);
///
///     program ─► absences ─► advise ─► apply_absences ─► plan_memory ─► does it fit?
///                               ▲                                           │ no: ask for so many bytes less
///                               └───────────────────────────────────────────┘
///
/// What is said about bytes is exact: copies and steps that are run again have positions of their own, where
/// what is alive is counted as everywhere else. In place is what is in place without absences: where one
/// makes another pair possible, that pair is not taken.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/absences.hpp>
#include <sublet/detail/advise.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/placement/problem.hpp>
#include <sublet/plan.hpp>
#include <sublet/planned_memory.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

struct advice_options {
    bool copies = true;       ///< bytes may be copied out and back
    bool reruns = true;       ///< steps may be run again
    byte_count copy_cost = 2; ///< of each byte that is copied out and back
    /// Of making a value again. 0: not known, the bytes that its step reads and writes; `no_size`: never.
    per_value<byte_count> rerun_cost = byte_count{0};
    per_value<bool> movable = true; ///< false: its buffer is never away
};

/// A buffer should be away.
struct suggestion {
    value_id value = no_value; ///< with its views
    step_id after = no_step;   ///< the last step of the program to touch it before it leaves,
    step_id before = no_step;  ///< and the first that needs it back
    step_id rerun = no_step;   ///< the step that makes it again; none: its bytes are copied out and back
    byte_count bytes = 0;
    byte_count saved = 0; ///< bytes alive at the peak of its pool without this one, less those with all
    byte_count cost = 0;
    friend bool operator==(suggestion const&, suggestion const&) = default;
};

struct pool_advice {
    byte_count peak_before = 0; ///< most bytes alive at once in the program as it is
    byte_count peak_after = 0;
    byte_count least = 0; ///< no absences go below: so many bytes are needed by one step, or cannot leave
    step_id least_step = no_step; ///< that step
    friend bool operator==(pool_advice const&, pool_advice const&) = default;
};

struct memory_advice {
    std::vector<suggestion> suggestions; ///< by the step that needs it back; empty: the program fits as it is
    std::vector<pool_advice> pools;      ///< by pool id
    byte_count cost = 0;
    relieved_program relieved; ///< the program with the suggestions
    plan_options options;      ///< of its values
    planned_memory planned;    ///< its plan; sound if it fits, refuted where it does not

    [[nodiscard]] bool is_enough() const { return planned.is_sound(); }
};

namespace detail {

/// Positions of steps, with room between them for what comes back.
///
///     step 0 | copies back | step 0 again | step 1 | copies back | step 2 ...
struct spaced_positions {
    std::vector<step_id> of_step;   ///< by position
    std::vector<step_id> return_at; ///< by absence: from where on it is back

    spaced_positions(std::size_t positions, std::vector<absence> const& absences);

    /// The life of a buffer: over gaps too, and over the one before an early use with which it ends.
    [[nodiscard]] live_range life(buffer const& b, step_id last_touch) const;
    /// The position that is, or follows.
    [[nodiscard]] step_id position(step_id spaced) const;
};

/// What a program, as it is planned, can do without for a while.
struct advice_question {
    std::vector<step_id> steps;
    std::vector<in_place_pair> in_place;
    std::vector<absence> absences;
    spaced_positions spaced{0, {}};
    placement_problem problem;
    idle_times times;

    advice_question(snapshot const& p, plan_options const& options, advice_options const& how);

private:
    /// What is read early and then not copied is gone before the step that reads it has written.
    bool leaves_early(snapshot const& p, buffer_table const& joined, std::vector<keyed> const& leaving,
                      absence const& a) const;

    /// What a step that is run again asks for, and the bytes that it touches.
    byte_count list_rerun(snapshot const& p, buffer_table const& alone, buffer_table const& joined,
                          csr_rows const& of_buffer, std::uint32_t i);
};

} // namespace detail

/// Plan a program under the capacities of `options.pools`; where it does not fit, say what should be away for
/// a while, and plan the program that does so.
///
/// Requires:   what possible_absences() says of a step that is run again also holds of what the library does
///             not see: it makes the same once more (where not, `how.rerun_cost` is `no_size`).
/// Ensures:    `planned` is the plan of `relieved.program`. If it is refuted for its size, `pools` says
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
