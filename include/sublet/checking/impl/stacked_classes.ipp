// SPDX-License-Identifier: BSL-1.0

/// Buffers of a pool are sorted by their first defs: of two, only the earlier one can end before the other
/// begins. The begins of the later ones are columns of bits, 64 at once: united down the edges of the steps
/// they are what begins after a step, and along the stacking what lies above or below a buffer.

#include <sublet/checking/detail/stacked_classes.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet::detail {

SUBLET_DECL stacked_classes::stacked_classes(snapshot const& program, plan_requirements const& required,
                                             step_order const& order, memory_plan const& placed)
    : order_(order), placed_(placed), touches_(program, required, order),
      classes_(csr_rows<buffer_id, value_id>::gathered(placed.buffers.size(), [&](auto add) {
          for (value_id r = 0; r != placed.buffer_of.size(); ++r)
              if (required.root[r] == r && placed.buffer_of[r] != no_buffer) add(placed.buffer_of[r], r);
      }))
{
}

SUBLET_DECL std::uint64_t stacked_classes::rank_of(value_id root) const
{
    if (touches_.is_given(root)) return 0;
    std::uint64_t first = no_limit;
    for (step_id d : touches_.begins()[root]) first = smaller(first, std::uint64_t{+order_.position[d]} + 1);
    return first;
}

SUBLET_DECL void stacked_classes::follow_steps(std::span<column const> columns, std::vector<bits>& begins,
                                               std::vector<bits>& after) const
{
    begins.assign(order_.step_at.size(), 0);
    after.assign(order_.step_at.size(), 0);
    for (std::size_t c = 0; c != columns.size(); ++c)
        if (columns[c].step != no_step) begins[columns[c].step] |= bits{1} << c;
    for (position_id at = position_id::of(order_.step_at.size()); at-- != 0;) {
        step_order::point const from = order_.step_at[at];
        for (step_order::point to : order_.after[from]) after[from] |= after[to] | begins[to];
    }
}

SUBLET_DECL table<buffer_id, stacked_classes::bits>
stacked_classes::on_a_path(stacking const& stack, table<buffer_id, bits> const& own)
{
    table<buffer_id, bits> above = own, below = own; // the columns above and below each buffer
    for (std::size_t i = stack.order.size(); i-- != 0;)
        for (buffer_id under : stack.below_of(i)) above[under] |= above[stack.order[i].buffer];
    for (std::size_t i = 0; i != stack.order.size(); ++i)
        for (buffer_id under : stack.below_of(i)) below[stack.order[i].buffer] |= below[under];
    for (buffer_id b = 0; b != own.size(); ++b) above[b] |= below[b];
    return above;
}

SUBLET_DECL clashing_classes stacked_classes::apart(stacking const& stack) const
{
    std::vector<sort_key> ranked; // {pool, rank, buffer}
    for (buffer_id b = 0; b != classes_.rows(); ++b) {
        std::uint64_t first = no_limit;
        for (value_id r : classes_[b]) first = smaller(first, rank_of(r));
        if (first != no_limit) ranked.push_back({placed_.buffers[b].pool, first, b}); // else never touched
    }
    sort_by_key(ranked);
    std::vector<bits> begins, after; // by point
    std::vector<column> columns;
    std::size_t pool = 0; // where its buffers begin
    auto compare = [&]() -> clashing_classes {
        follow_steps(columns, begins, after);
        table<buffer_id, bits> own(classes_.rows(), 0);
        for (std::size_t c = 0; c != columns.size(); ++c) own[ranked[columns[c].member].id] |= bits{1} << c;
        table<buffer_id, bits> const stacked = on_a_path(stack, own);
        bits reusing = 0, later = 0; // what is not given; the columns of buffers after the current one
        for (std::size_t c = 0; c != columns.size(); ++c) {
            reusing |= columns[c].step != no_step ? bits{1} << c : 0;
            later |= bits{1} << c;
        }
        std::size_t next = 0; // the first of these
        for (std::size_t i = pool; i != columns.back().member; ++i) {
            buffer_id const b{ranked[i].id};
            for (; columns[next].member <= i; ++next) later &= ~(bits{1} << next);
            bits const unstacked = later & ~stacked[b];
            for (value_id u : classes_[b]) {
                if (unstacked == 0) break;
                bits ends_before = touches_.is_kept(u) ? 0 : reusing;
                for (step_id t : touches_.ends()[u])
                    ends_before &= after[t] | (is_early(t, u, u) ? begins[t] : 0);
                bits const clashing = unstacked & ~ends_before;
                if (clashing == 0) continue;
                std::size_t c = 0;
                while ((clashing >> c & 1) == 0) ++c;
                return std::pair{u, classes_[buffer_id{ranked[columns[c].member].id}].front()};
            }
        }
        return std::nullopt;
    };
    for (std::size_t i = 0; i != ranked.size(); ++i) {
        if (i != 0 && ranked[i].key != ranked[i - 1].key) pool = i;
        std::vector<step_id> steps; // at which it begins
        for (value_id r : classes_[buffer_id{ranked[i].id}]) {
            if (touches_.is_given(r)) steps.push_back(no_step);
            else steps.insert(steps.end(), touches_.begins()[r].begin(), touches_.begins()[r].end());
        }
        for (std::size_t k = 0; k != steps.size(); ++k) {
            columns.push_back({static_cast<std::uint32_t>(i), steps[k]});
            bool const is_last_of_pool =
                k + 1 == steps.size() && (i + 1 == ranked.size() || ranked[i + 1].key != ranked[i].key);
            if (columns.size() != 64 && !is_last_of_pool) continue;
            if (auto found = compare()) return found;
            columns.clear();
        }
    }
    return std::nullopt;
}

} // namespace sublet::detail
