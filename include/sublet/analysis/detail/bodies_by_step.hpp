// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_BODIES_BY_STEP_HPP
#define SUBLET_ANALYSIS_DETAIL_BODIES_BY_STEP_HPP

/// The bodies of a tree, found by the step that they are nested in: by binary search among sorted keys.

#include <sublet/analysis/program_tree.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

/// The bodies of each step, in the order in which they run.
class bodies_by_step {
public:
    /// Complexity: O(b log b), b = bodies.
    explicit bodies_by_step(program_tree const& tree);
    /// O(log bodies)
    [[nodiscard]] std::span<program_id const> of(program_id parent, step_id step) const;

private:
    std::vector<std::uint64_t> key_; // parent and step, ascending
    std::vector<program_id> body_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/bodies_by_step.ipp>
#endif

#endif
