// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_SNAPSHOT_IPP
#define SUBLET_GRAPH_IMPL_SNAPSHOT_IPP

#include <sublet/detail/sorting.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

// --- snapshot --------------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL void snapshot::effects(node_id n, effect_sink& sink) const
{
    step_range const mine = steps_of(n);
    for (step_id s = mine.first; s != mine.last; ++s) {
        if (s != mine.first) sink.next_step();
        for (touch t : touches(s)) sink.touch_value(t.value, t.kind);
        for (overwrite o : overwrites(s)) sink.may_overwrite(o.in, o.out);
    }
    for (edge_use u : edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
}

// --- program tree ----------------------------------------------------------------------------------------

SUBLET_DECL program_id program_tree::add_body(program_id parent, step_id step, body_kind kind,
                                              snapshot const& body, std::vector<body_capture> captures,
                                              std::vector<body_binding> bindings)
{
    SUBLET_EXPECTS(parent < size(), "sublet: a body has a parent that is not in the tree");
    SUBLET_EXPECTS(step < program_of(parent).steps(), "sublet: a body is nested in a step that is not there");
    SUBLET_EXPECTS(size() < no_node, "sublet: more programs than 32-bit ids");
    expect_joints(program_of(parent).values(), body.values(), kind, captures, bindings);
    nested_.push_back({body, {parent, step, kind, std::move(captures), std::move(bindings)}});
    return static_cast<program_id>(size() - 1);
}

SUBLET_DECL bool program_tree::are_distinct(std::vector<value_id>& values)
{
    std::sort(values.begin(), values.end());
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i] == values[i - 1]) return false;
    return true;
}

SUBLET_DECL void program_tree::expect_joints(std::size_t outer, std::size_t inner, body_kind kind,
                                             std::vector<body_capture> const& captures,
                                             std::vector<body_binding> const& bindings)
{
    std::vector<value_id> joined, given;
    auto join = [&](value_id v) {
        SUBLET_EXPECTS(v < inner, "sublet: a body captures or binds a value that it does not have");
        joined.push_back(v);
    };
    for (body_capture c : captures) {
        join(c.inner);
        SUBLET_EXPECTS(c.outer < outer, "sublet: a body captures a value that its parent does not have");
    }
    for (body_binding b : bindings) {
        join(b.inner);
        SUBLET_EXPECTS((b.initial == no_value || b.initial < outer) &&
                           (b.result == no_value || b.result < outer),
                       "sublet: a body is bound to a value that its parent does not have");
        SUBLET_EXPECTS(b.next == no_value || b.next < inner,
                       "sublet: a loop goes on with a value that it does not have");
        SUBLET_EXPECTS(b.next == no_value || kind == body_kind::loop,
                       "sublet: what is no loop does not begin again");
        if (b.result != no_value) given.push_back(b.result);
    }
    SUBLET_EXPECTS(are_distinct(joined), "sublet: a value of a body is captured or bound twice");
    SUBLET_EXPECTS(are_distinct(given), "sublet: two bindings of a body give the same result");
}

namespace detail {

SUBLET_DECL bodies_by_step::bodies_by_step(program_tree const& tree)
{
    std::vector<detail::keyed> sorted;
    for (std::size_t i = 1; i != tree.size(); ++i) {
        program_body const& b = tree.body(static_cast<program_id>(i));
        sorted.push_back({b.parent, b.step, static_cast<program_id>(i)});
    }
    sort_keyed(sorted);
    for (detail::keyed const& k : sorted) {
        place_.push_back(k.key << 32 | k.tie);
        body_.push_back(k.who);
    }
}

SUBLET_DECL std::span<program_id const> bodies_by_step::of(program_id parent, step_id step) const
{
    std::uint64_t const place = std::uint64_t{parent} << 32 | step;
    std::size_t const first = detail::first_that(place_.size(), [&](std::size_t i) { return place_[i] >= place; });
    std::size_t const last = detail::first_that(place_.size(), [&](std::size_t i) { return place_[i] > place; });
    return {body_.data() + first, body_.data() + last};
}

} // namespace detail

} // namespace sublet

#endif
