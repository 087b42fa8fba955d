// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_LABELLED_WAITS_HPP
#define SUBLET_PLANNING_DETAIL_LABELLED_WAITS_HPP

/// Waits of steps for steps that may be listed later, by their labels: kept as text until a program is made,
/// when every label is known.
///
///     step "draw"   waits for "upload"            edge  upload ──► draw
///     step "upload"

#include <sublet/core/units.hpp>
#include <sublet/planning/detail/said_values.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Waits by label, in the order in which they were said.
class labelled_waits {
public:
    /// `step` begins after the one with this label, which is copied. If it throws, nothing was added.
    void add(step_id step, std::string_view label);
    /// An edge for each, `labels` being those of the steps.
    ///
    /// Complexity: O(1) without waits, else expected O(steps + waits + characters).
    /// Throws:     precondition_error if no step has the label, several have it, or only the one that waits.
    [[nodiscard]] std::vector<std::pair<node_id, node_id>> edges(std::size_t steps,
                                                                 said_names<step_id> const& labels) const;

private:
    struct wait {
        step_id step = no_step;
        std::size_t first = 0, size = 0; ///< of its label in text_
    };
    std::vector<wait> waits_;
    std::vector<char> text_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/planning/impl/labelled_waits.ipp>
#endif

#endif
