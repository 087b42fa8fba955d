// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_NESTED_PROGRAM_HPP
#define SUBLET_EXECUTION_DETAIL_NESTED_PROGRAM_HPP

/// A tree of programs prepared for a run: the flat program, lowered step by step, and what is asked where a
/// flat node ends.
///
///     flat node     0             1        2       3          successors   asked where it ends
///     last step     beginning     move     move    end        0: 1, 2      which of two branches
///                                                             1, 2: 3      nothing
///
/// What a flat node with several successors stands for follows from its last step: behind a step of a program
/// with control flow it is a node of that program; the header of a loop is a join with a predecessor behind
/// it; any other is where the branches of a choice begin.

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/internal/flat_options.hpp>
#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>
#include <sublet/execution/run_options.hpp>

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace sublet::detail {

/// What decides which successor of a flat node is next.
enum class asked_of : std::uint8_t { nothing, branch, loop, successor };

struct nested_program {
    using values_at = csr_rows<step_id, value_id>;
    /// Where a flat node ends.
    struct node_end {
        asked_of what = asked_of::nothing;
        step_id step = 0;       ///< flat: the beginning of the step with bodies, or the last of the node
        program_id body = 0;    ///< the first branch, or the body of the loop
        bool is_behind = false; ///< `step` is the last of the node: its early operands can be read
    };

    flat_tree flat;
    lowered_program lowered;              ///< position i is flat step i
    values_at uses, defs;                 ///< flat, by flat step: what a kernel sees
    values_at own_uses, own_defs;         ///< the same by the names of the step's program
    csr_rows<step_id, program_id> bodies; ///< of a beginning
    table<node_id, node_end> end_of;
    table<program_id, program_id> loop_of; ///< the innermost loop that it runs in, or 0
};

/// Prepares a flattened tree. A beginning gets a kernel's view only of what it makes.
///
/// Requires:   `flattened` is that of the tree.
/// Complexity: that of lower_program(), and O(b log b) for b bodies.
/// Throws:     as lower_program(). `plan` may be null.
[[nodiscard]] nested_program lower_nested(program_tree const& tree, flat_tree_with_options const& flattened,
                                          memory_plan const* plan);
/// The same after check_flow_plan() of the plan, unless `settings` turn the proof off.
/// Throws: also unsound_plan.
[[nodiscard]] nested_program proved_nested(program_tree const& tree, flat_tree_with_options const& flattened,
                                           memory_plan const* plan, executor_options const& settings);

/// The options of a tree, program by program.
inline table<program_id, plan_options> options_of_tree(program_tree const&,
                                                       table<program_id, plan_options> const& all)
{
    return all;
}
template <class OptionsOf>
    requires std::invocable<OptionsOf const&, program_id> &&
             std::convertible_to<std::invoke_result_t<OptionsOf const&, program_id>, plan_options>
table<program_id, plan_options> options_of_tree(program_tree const& tree, OptionsOf const& options_of)
{
    table<program_id, plan_options> options;
    for (program_id i = 0; i != tree.size(); ++i) options.push_back(options_of(i));
    return options;
}
/// Throws: precondition_error if a listing is not that of its program.
template <listed L>
table<program_id, plan_options> options_of_tree(program_tree const& tree, std::vector<L> const& lists)
{
    table<program_id, plan_options> options;
    for (L const& list : lists) {
        auto const i = program_id::of(options.size());
        if (i < tree.size()) expect_program_of(tree, i, list.program());
        options.push_back(list.options());
    }
    return options;
}

template <class O>
concept tree_options =
    requires(program_tree const& tree, O const& options) { detail::options_of_tree(tree, options); };

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/nested_program.ipp>
#endif

#endif
