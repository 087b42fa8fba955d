// SPDX-License-Identifier: BSL-1.0

/// A copy is ready when no other reads what it writes; the builder keeps touches and pairs of all steps in
/// two lists, with their ends by step, and tells a sink from these.

#include <sublet/analysis/detail/copy_order.hpp>
#include <sublet/impl/config.hpp>

#include <utility>

namespace sublet::detail {

SUBLET_DECL copy_order::copy_order(table<value_id, value_id> root_of)
    : root_of_(std::move(root_of)), readers_(root_of_.size()), first_writer_(root_of_.size(), none),
      kept_in_(root_of_.size(), no_value)
{
}

SUBLET_DECL void copy_order::list_if_ready(std::vector<value_copy> const& copies, std::uint32_t i)
{
    bool const reads_it = from(copies[i]) == to(copies[i]) && kept_in_[to(copies[i])] == no_value;
    if (is_listed_[i] || readers_[to(copies[i])] > (reads_it ? 1u : 0u)) return;
    is_listed_[i] = 1;
    ready_.push_back(i);
}

SUBLET_DECL node_id program_builder::open_node()
{
    fill_node();
    node_begin_.push_back(steps());
    SUBLET_EXPECTS(node_begin_.size() < no_node, "sublet: more nodes than 32-bit ids");
    return last_node();
}

SUBLET_DECL step_id program_builder::end_step()
{
    SUBLET_EXPECTS(nodes() != 0, "sublet: a step ends before a node is open");
    touch_end_.push_back(touches_.size());
    pair_end_.push_back(pairs_.size());
    said_.push_back(std::exchange(says_, 0));
    SUBLET_EXPECTS(steps() < no_step, "sublet: more steps than 32-bit ids");
    return step_id::of(steps() - 1);
}

SUBLET_DECL void program_builder::emit_step(step_id s, effect_sink& sink) const
{
    for (std::size_t t = s == 0 ? 0 : touch_end_[s - 1]; t != touch_end_[s]; ++t) {
        auto const [value, kind] = touches_[t];
        sink.add(kind, value);
    }
    for (std::size_t o = s == 0 ? 0 : pair_end_[s - 1]; o != pair_end_[s]; ++o)
        sink.may_overwrite(pairs_[o].in, pairs_[o].out);
    each_step_fact([&](step_fact const& fact) { (sink.*fact.say)((said_[s] & fact.bit) != 0); });
}

} // namespace sublet::detail
