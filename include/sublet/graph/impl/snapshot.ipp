// SPDX-License-Identifier: BSL-1.0

/// Copies: each new program is recorded step by step, from the touches of the one before. As control flow, a
/// list gets an edge from each node to the next, and what phis read at the end of a node is read by its last
/// step.

#include <sublet/graph/snapshot.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace sublet {

SUBLET_DECL void snapshot::record(bool has_edge_meaning, void const* told,
                                  void (*tell)(void const*, node_id, effect_sink&))
{
    bool const has_edges = successors_.items() != 0;
    SUBLET_EXPECTS(
        has_edge_meaning || !has_edges,
        "sublet: a program with edges has to say what they mean: give it the member edges(), which "
        "returns edge_meaning::order or edge_meaning::control_flow");
    auto first_with_edge = [this] {
        node_id n = 0;
        while (successors_[n].empty()) ++n;
        return n;
    };
    SUBLET_EXPECTS(edges_ != edge_meaning::none || !has_edges,
                   "sublet: edges() says that a program has no edges, but node % has one", first_with_edge());
    bool const is_list = edges_ == edge_meaning::order ? !has_edges : nodes() == 0;
    if (is_list) edges_ = edge_meaning::none;
    predecessors_ = has_edges ? successors_.transposed(nodes()) : successors_;
    SUBLET_EXPECTS(values_ < no_value, "sublet: more values than 32-bit ids");
    std::size_t const guess = detail::smaller(values_, std::size_t{1} << 16); // steps, of three touches
    record_.step_begin.reserve(nodes() + guess + 1);
    record_.touches.reserve(3 * guess);
    node_end_.reserve(nodes());
    for (std::size_t n = 0; n != nodes(); ++n) {
        effect_sink sink(record_, values_, predecessors_[n], node_id::of(n));
        record_.next_step();
        tell(told, node_id::of(n), sink);
        record_.close_step();
        SUBLET_EXPECTS(record_.touches.size() < no_node, "sublet: more touches than 32-bit ids");
        SUBLET_EXPECTS(record_.step_begin.size() < no_node, "sublet: more steps than 32-bit ids");
        node_end_.push_back(step_id::of(record_.step_begin.size()));
    }
    if (nodes() != 0) record_.step_begin.push_back(static_cast<std::uint32_t>(record_.touches.size()));
}

SUBLET_DECL csr_graph detail::without_edges(std::size_t nodes)
{
    SUBLET_EXPECTS(nodes < no_node, "sublet: more nodes than 32-bit ids");
    return csr_graph(csr_rows<node_id, node_id>(std::vector<std::uint32_t>(nodes + 1, 0), {}));
}

SUBLET_DECL void detail::expect_forward_edges(snapshot const& p)
{
    if (p.edges() != edge_meaning::order) return;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id s : p.successors(n))
            SUBLET_EXPECTS(
                n < s, "sublet: nodes run as they are listed here, but node % has to run after node %", s, n);
}

SUBLET_DECL snapshot detail::with_reads_in_steps(snapshot const& p)
{
    auto const uses = p.edge_uses();
    auto const ends = csr_rows<node_id, value_id>::gathered(p.nodes(), [uses](auto add) {
        for (edge_use u : uses) add(u.pred, u.value);
    });
    return with_effects(p, p.values(), [&](node_id n, effect_sink& sink) {
        step_range const steps = p.steps_of(n);
        std::vector<value_id> made; // by the last step
        for (step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            for (touch t : p.touches(s)) {
                sink.add(t.kind, t.value);
                if (t.defines() && s + 1 == steps.last) made.push_back(t.value);
            }
            for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            detail::copy_step_facts(p, s, sink);
        }
        sort_ascending(made);
        for (value_id v : ends[n])
            if (!std::binary_search(made.begin(), made.end(), v)) sink.use(v);
    });
}

SUBLET_DECL snapshot snapshot::as_control_flow() const
{
    if (edges_ == edge_meaning::control_flow) return *this;
    detail::expect_forward_edges(*this);
    snapshot flow = edge_uses().empty() ? *this : detail::with_reads_in_steps(*this);
    auto next = csr_rows<node_id, node_id>::gathered(nodes(), [this](auto add) {
        for (node_id n = 1; n < nodes(); ++n) add(n - 1, n);
    });
    flow.edges_ = edge_meaning::control_flow;
    flow.successors_ = csr_graph(std::move(next));
    flow.predecessors_ = flow.successors_.transposed(nodes());
    return flow;
}

SUBLET_DECL snapshot::snapshot(std::size_t values, edge_meaning edges, csr_graph successors,
                               table<node_id, step_id> node_end, detail::effect_record record)
    : values_(values), edges_(edges), is_listed_(edges == edge_meaning::order),
      successors_(std::move(successors)),
      predecessors_(successors_.items() == 0 ? successors_ : successors_.transposed(successors_.rows())),
      node_end_(std::move(node_end)), record_(std::move(record))
{
    record_.close_step();
    SUBLET_EXPECTS(record_.touches.size() < no_node, "sublet: more touches than 32-bit ids");
    if (nodes() != 0) record_.step_begin.push_back(static_cast<std::uint32_t>(record_.touches.size()));
    for (edge_use u : record_.edge_uses)
        SUBLET_EXPECTS(detail::is_listed(predecessors_[u.node], u.pred),
                       "sublet: node % uses a value at the end of node %, which is not a predecessor", u.node,
                       u.pred);
}

SUBLET_DECL snapshot snapshot::with_views(std::vector<value_id> const& alias_of,
                                          std::vector<byte_count> const& view_offset) const
{
    snapshot made = *this;
    made.record_.said_views.clear();
    for (step_id s = 0; s != steps(); ++s)
        for (touch t : touches(s))
            if (t.makes_view() && alias_of[t.value] != no_value)
                made.record_.said_views.push_back({s, t.value, alias_of[t.value], view_offset[t.value]});
    return made;
}

SUBLET_DECL void snapshot::effects(node_id n, effect_sink& sink) const
{
    step_range const range = steps_of(n);
    for (step_id s = range.first; s != range.last; ++s) {
        if (s != range.first) sink.next_step();
        for (touch t : touches(s)) sink.add(t.kind, t.value);
        for (overwrite o : overwrites(s)) sink.may_overwrite(o.in, o.out);
        for (said_view const& say : equal_keys<&said_view::step>(record_.said_views, s))
            sink.record_->said_views.push_back(
                {step_id::of(sink.record_->step_begin.size() - 1), say.value, say.of, say.offset});
        detail::copy_step_facts(*this, s, sink);
    }
    for (edge_use u : edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
}

} // namespace sublet
