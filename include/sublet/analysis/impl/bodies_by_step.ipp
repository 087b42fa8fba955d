// SPDX-License-Identifier: BSL-1.0

/// Bodies sorted by parent and step; those of a step are in the order in which they were added, since equal
/// keys are sorted by number.

#include <sublet/analysis/detail/bodies_by_step.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

SUBLET_DECL bodies_by_step::bodies_by_step(program_tree const& tree)
{
    std::vector<sort_key> sorted;
    for (program_id i = 1; i != tree.size(); ++i) {
        program_body const& b = tree.body(i);
        sorted.push_back({b.parent, b.step, i});
    }
    sort_by_key(sorted);
    for (sort_key const& k : sorted) {
        key_.push_back(k.key << 32 | k.tie);
        body_.push_back(k.id);
    }
}

SUBLET_DECL std::span<program_id const> bodies_by_step::of(program_id parent, step_id step) const
{
    std::uint64_t const key = std::uint64_t{parent} << 32 | step;
    std::size_t const first = partition_point(key_.size(), [&](std::size_t i) { return key_[i] >= key; });
    std::size_t const last = partition_point(key_.size(), [&](std::size_t i) { return key_[i] > key; });
    return {body_.data() + first, body_.data() + last};
}

} // namespace sublet::detail
