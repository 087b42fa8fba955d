// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_APPLY_ABSENCES_HPP
#define SUBLET_REWRITING_APPLY_ABSENCES_HPP

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

#include <sublet/analysis/absences.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

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
#include <sublet/rewriting/impl/apply_absences.ipp>
#endif

#endif
