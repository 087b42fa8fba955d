// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLACEMENT_IMPL_PLACED_BY_RANGE_IPP
#define SUBLET_PLACEMENT_IMPL_PLACED_BY_RANGE_IPP

#include <sublet/impl/config.hpp>
#include <sublet/placement/placed_by_range.hpp>

namespace sublet {

SUBLET_DECL placed_by_range::placed_by_range(placement_conflicts const& conflicts)
    : conflicts_(&conflicts), leaves_(conflicts.positions()), use_(2 * leaves_), stacks_(4 * leaves_)
{
    for (buffer_id b = 0; b != conflicts.buffers(); ++b)
        for_each_node_of_ranges(b, [this](std::size_t node) { use_[node] = is_asked; });
    for (std::size_t node = 2; node < use_.size(); ++node)
        if (use_[node / 2] != 0) use_[node] |= is_under_asked;
}

SUBLET_DECL void placed_by_range::clear()
{
    visits_ = 0;
    step_cost_ = 1;
    stacks_.assign(4 * leaves_, {});
    stretches_.clear();
}

SUBLET_DECL void placed_by_range::insert(buffer_id b, byte_count begin, byte_count end)
{
    std::uint64_t steps = 16; // what one costs whatever is found
    for_each_node_of_ranges(
        b, [&](std::size_t node) { steps += stretches_.unite(stacks_[2 * node], begin, end); });
    for_each_node_of_begins(
        b, [&](std::size_t node) { steps += stretches_.unite(stacks_[2 * node + 1], begin, end); });
    visits_ += step_cost_ * steps;
    step_cost_ = 1 + smaller<std::uint64_t>(stretches_.size() >> 16, 15);
}

SUBLET_DECL bool placed_by_range::is_free(buffer_id b, byte_count begin, byte_count end) const
{
    bool is_free = true;
    for_each_stack_in_the_way(b, [&](stack s) {
        std::uint32_t at = s.lowest;
        while (at != none && stretches_[at].end <= begin) at = stretches_[at].above;
        if (at != none && stretches_[at].begin < end) is_free = false;
    });
    return is_free;
}

SUBLET_DECL byte_count placed_by_range::lowest_gap(buffer_id b, byte_count size, byte_count alignment,
                                                   byte_count ceiling, bool in_haste)
{
    if (size > ceiling) return no_offset;
    byte_count const highest = ceiling - size;
    cursors_.clear();
    for_each_stack_in_the_way(b, [this](stack s) { cursors_.push_back(stretches_[s.lowest]); });
    visits_ += step_cost_ * cursors_.size();
    std::uint64_t const stop =
        in_haste ? visits_ + step_cost_ * (16 * cursors_.size() + 128) : ~std::uint64_t{0};

    // Each union in turn lifts the buffer above what it meets of it, until none of them does.
    byte_count at = 0;
    for (std::size_t i = 0, content = 0; content < cursors_.size(); i = i + 1 < cursors_.size() ? i + 1 : 0) {
        stretch& next = cursors_[i];
        ++content;
        while (next.begin < at + size) {
            if (next.end > at) {
                bool const gives_up = visits_ >= stop;
                at = align_up(gives_up ? top(b) : next.end, alignment);
                if (at > highest) return no_offset;
                if (gives_up) return at;
                content = 1;
            }
            visits_ += step_cost_;
            if (next.above == none) next.begin = no_offset;
            else next = stretches_[next.above];
        }
    }
    return at;
}

SUBLET_DECL byte_count placed_by_range::top(buffer_id b)
{
    byte_count end = 0;
    for_each_stack_in_the_way(b, [&](stack s) {
        for (; stretches_[s.recent].above != none; visits_ += step_cost_)
            s.recent = stretches_[s.recent].above;
        end = larger(end, stretches_[s.recent].end);
    });
    return end;
}

} // namespace sublet

#endif
