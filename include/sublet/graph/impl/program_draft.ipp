// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_PROGRAM_DRAFT_IPP
#define SUBLET_GRAPH_IMPL_PROGRAM_DRAFT_IPP

#include <sublet/graph/program_draft.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL node_id program_draft::open_node()
{
    fill_node();
    node_begin_.push_back(steps());
    SUBLET_EXPECTS(node_begin_.size() < no_node, "sublet: more nodes than 32-bit ids");
    return last_node();
}

SUBLET_DECL step_id program_draft::end_step()
{
    SUBLET_EXPECTS(nodes() != 0, "sublet: a step is written down before there is a node");
    touch_end_.push_back(touches_.size());
    pair_end_.push_back(pairs_.size());
    SUBLET_EXPECTS(steps() < no_step, "sublet: more steps than 32-bit ids");
    return static_cast<step_id>(steps() - 1);
}

SUBLET_DECL void program_draft::say(std::size_t s, effect_sink& sink) const
{
    for (std::size_t t = s == 0 ? 0 : touch_end_[s - 1]; t != touch_end_[s]; ++t) {
        auto const [value, kind] = touches_[t];
        if (kind == touch_kind::def) sink.def(value);
        else if (kind == touch_kind::use) sink.use(value);
        else sink.use_early(value);
    }
    for (std::size_t o = s == 0 ? 0 : pair_end_[s - 1]; o != pair_end_[s]; ++o)
        sink.may_overwrite(pairs_[o].in, pairs_[o].out);
}

} // namespace sublet

#endif
