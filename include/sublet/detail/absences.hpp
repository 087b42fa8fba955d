// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_DETAIL_ABSENCES_HPP
#define SUBLET_DETAIL_ABSENCES_HPP

/// When a buffer could leave memory, and the program in which it does. Included by the advisor.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

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

/// Between two positions nobody touches a buffer. Both hold its storage, what is between need not.
struct absence {
    value_id root = no_value;     ///< the value that all are views of that live in the buffer then
    buffer_id buffer = no_buffer; ///< in the table with what is in place
    step_id after = 0;            ///< positions
    step_id before = 0;
    step_id rerun = no_step; ///< the position whose step makes it again; none: its bytes are copied
    friend bool operator==(absence, absence) = default;
};

namespace detail {

/// Touches where nodes end, by position.
std::vector<keyed> leaving_touches(snapshot const& p, std::vector<step_id> const& steps);

} // namespace detail

/// All absences of planned buffers, those of a time together: first by copy, then by running a step again.
///
/// Requires:   `steps` are the program's by position, `alone` its buffers in that order, `joined` the same
///             with what is in place (or `alone` again), `role` one entry a value.
/// Ensures:    by ascending `before`. Who is given is touched as the run begins, an output as it ends. No
///             absence of a pinned buffer.
/// Complexity: O(values + touches), and O(touches of the step that would be run again) for each time.
[[nodiscard]] std::vector<absence> possible_absences(snapshot const& p, std::vector<step_id> const& steps,
                                                     buffer_table const& alone, buffer_table const& joined,
                                                     std::span<value_role const> role);

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


enum class relieved_kind : std::uint8_t {
    original,    ///< a step of the program
    copied_out,  ///< its operand is to be copied to its result, which is the caller's
    copied_back, ///< its operand, which is the caller's, is to be copied to its first result
    run_again    ///< a step of the program, once more
};

struct relieved_step {
    relieved_kind kind = relieved_kind::original;
    step_id step = no_step; ///< of the program: what is run, or what the copy follows or precedes
    friend bool operator==(relieved_step, relieved_step) = default;
};

/// A list of steps, one a node, in the order in which they run.
struct relieved_program {
    snapshot program;
    std::vector<relieved_step> steps; ///< by step
    std::vector<value_id> origin;     ///< by value: of the program; of a home the one that is there
    std::vector<value_id> at_the_end; ///< by value of the program: which one it is when all has run
    std::vector<value_id> homes;      ///< ascending
    std::vector<value_id> alias_of;   ///< by value
    std::vector<value_role> role;     ///< by value

    /// The options of the program, said of these values.
    [[nodiscard]] plan_options options(plan_options const& asked) const;
};

/// The program with some absences, as possible_absences() found them.
///
/// Requires:   `steps` are the program's by position in the order of `options`; of absences of one time at
///             most one is among them, and what a step that is run again reads is not away there (but may be
///             back just there).
/// Ensures:    values of the program keep their ids, further ones follow. A value that is replaced is no
///             output any more: `at_the_end` says which one is.
/// Complexity: O(values + touches + k log k), and for each absence its views and the touches of a step that
///             is run again; k absences and uses at the ends of nodes.
[[nodiscard]] relieved_program apply_absences(snapshot const& p, std::vector<step_id> const& steps,
                                              plan_options const& options,
                                              std::span<in_place_pair const> in_place,
                                              std::span<absence const> absences);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/impl/absences.ipp>
#endif

#endif
