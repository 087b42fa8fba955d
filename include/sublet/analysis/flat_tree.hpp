// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLAT_TREE_HPP
#define SUBLET_ANALYSIS_FLAT_TREE_HPP

/// What becomes of a tree of programs that is flattened, and how one finds back.
///
///     flat step      0       1           2       3         4
///     step_of        whole   beginning   move    whole     end          part
///                    0, 0    0, 1        1, 0    1, 0      0, 1         program and step, or body and move
///
/// Data, made by flatten(): one program with control flow, and for each of its values and steps the program
/// of the tree that it comes from.

#include <sublet/analysis/tree_values.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

namespace sublet {

enum class flat_part : std::uint8_t {
    whole,     ///< a step without bodies
    beginning, ///< of a step with bodies
    end,       ///< of a step with bodies
    move,      ///< a copy that a binding asks for
    nothing    ///< a place where paths meet
};

struct flat_step {
    flat_part part = flat_part::nothing;
    program_id program = 0; ///< of a move: the body
    step_id step = no_step; ///< of the program; of a move: its number in `moves`
    friend bool operator==(flat_step, flat_step) = default;
};

enum class move_time : std::uint8_t { enter, again, leave };

struct flat_move {
    program_id body = 0;
    move_time when = move_time::enter;
    value_id from = no_value; ///< flat
    value_id to = no_value;   ///< flat
    step_id step = no_step;   ///< flat
    friend bool operator==(flat_move, flat_move) = default;
};

/// Of spares, from `first_spare` on, `value_of` says which value they keep a copy of.
struct flat_tree : tree_values {
    snapshot program;
    value_id first_spare = 0;
    std::vector<flat_step> step_of; ///< by flat step
    std::vector<flat_move> moves;   ///< those of one place stand together, in the order in which to do them
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

} // namespace sublet

#endif
