// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_DETAIL_POSITION_SET_HPP
#define SUBLET_TESTING_DETAIL_POSITION_SET_HPP

/// A set of positions that is closed along the waits: with each position all that it waits for, or all that
/// waits for it.

#include <sublet/core/units.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/graph/concepts.hpp>

#include <vector>

namespace sublet::detail {

/// A set of positions that is closed along the waits.
class position_set {
public:
    explicit position_set(step_waits const& waits) : waits_(waits), is_marked_(waits.before.rows()) {}

    [[nodiscard]] bool has(position_id at) const { return is_marked_[at] != 0; }
    void add_with_ancestors(position_id at) { add(at, waits_.before); }
    void add_with_descendants(position_id at) { add(at, waits_.after); }

private:
    void add(position_id at, csr_rows<position_id, position_id> const& next);

    step_waits const& waits_;
    table<position_id, unsigned char> is_marked_;
    std::vector<position_id> worklist_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/testing/impl/position_set.ipp>
#endif

#endif
