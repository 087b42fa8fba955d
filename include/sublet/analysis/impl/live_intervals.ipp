// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_LIVE_INTERVALS_IPP
#define SUBLET_ANALYSIS_IMPL_LIVE_INTERVALS_IPP

#include <sublet/analysis/live_intervals.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/analysis/value_set.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <span>
#include <utility>

namespace sublet::detail {

SUBLET_DECL node_layout lay_out(snapshot const& p, std::vector<node_id> order)
{
    if (order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    SUBLET_EXPECTS(order.size() == p.nodes(), "sublet: an order has to name every node once");
    std::vector<node_id> place(p.nodes(), no_node);
    std::vector<step_id> end(p.nodes());
    step_id position = 0;
    for (node_id i = 0; i != order.size(); ++i) {
        node_id const n = order[i];
        SUBLET_EXPECTS(n < p.nodes() && place[n] == no_node, "sublet: an order has to name every node once");
        place[n] = i;
        end[n] = position += p.steps_of(n).last - p.steps_of(n).first;
    }
    return {std::move(order), std::move(place), std::move(end)};
}

/// The ranges of what is alive where the walk is: known up to where they end, and not yet where they begin.
class open_ranges {
public:
    explicit open_ranges(std::size_t values) : open_(values), until_(values), closed_(values) {}

    [[nodiscard]] std::span<value_id const> values() const { return open_.list(); }
    /// v is alive here, up to `until` at least.
    void open(value_id v, step_id until)
    {
        open_.insert(v);
        if (until_[v] < until) until_[v] = until;
    }
    /// v is not alive before `first`.
    void close(value_id v, step_id first)
    {
        if (open_.erase(v)) closed_.add(v, {first, std::exchange(until_[v], 0)});
    }
    void close_all(step_id first)
    {
        while (!values().empty()) close(values().back(), first); // which takes it from the list
    }
    /// Up the steps of a node, the last of which lies before `position`.
    void walk(snapshot const& p, node_id n, step_id position)
    {
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            --position;
            for (touch t : p.touches(s)) {
                if (t.kind != touch_kind::def) continue;
                open(t.value, position + 1);
                close(t.value, position);
            }
            for (touch t : p.touches(s))
                if (t.kind != touch_kind::def)
                    open(t.value, t.kind == touch_kind::use_early ? position : position + 1);
        }
        if (n == 0) // what is alive where the program begins has been put there
            for (value_id v : values()) open(v, position + 1);
    }
    [[nodiscard]] range_collector const& closed() const { return closed_; }

private:
    value_set open_;
    std::vector<step_id> until_; // by value: where its range ends; 0 if it is not open
    range_collector closed_;
};

/// By value, whether a step writes it; empty if two do.
SUBLET_DECL std::vector<unsigned char> written_once(snapshot const& p)
{
    std::vector<unsigned char> is_written(p.values());
    for (touch t : p.touches({0, static_cast<step_id>(p.steps())}))
        if (t.kind == touch_kind::def && std::exchange(is_written[t.value], 1) != 0) return {};
    return is_written;
}

/// By node, the place of the last node of its loop, `no_node` if it is no header; empty if some loop has
/// several entries or is torn apart, an edge leads backwards that does not go back to a header, or one leads
/// from what nothing reaches to what is reached.
///
/// Complexity: O(V + E), as `loops`.
SUBLET_DECL std::vector<node_id> loop_ends(snapshot const& p, node_layout const& at,
                                           depth_first_forest const& search)
{
    loop_forest const forest = loops(p.graph(), p.predecessors(), search);
    if (!forest.is_reducible()) return {};
    node_id tree_begin = 0; // in preorder of the search
    for (node_id n : search.preorder) {
        if (search.parent[n] == no_node) tree_begin = search.entered[n];
        for (node_id s : p.successors(n)) {
            if (search.entered[s] < tree_begin) return {}; // maybe into the middle of a loop
            if (at.place[s] <= at.place[n] && !search.is_back_edge(n, s)) return {};
        }
    }
    std::vector<node_id> last = at.place;
    for (std::size_t i = forest.preorder.size(); i-- != 0;) {
        node_id const n = forest.preorder[i], around = forest.parent[n];
        if (last[n] - at.place[n] + 1 != forest.end[n] - forest.entered[n]) return {};
        if (around != no_node && last[around] < last[n]) last[around] = last[n];
        if (!forest.is_header(n)) last[n] = no_node;
    }
    return last;
}

/// The walk without liveness. Whether it was allowed; otherwise `ranges` are of no use.
///
/// What is open where the next node of the order begins stays so if that is a successor; of other successors
/// it was noted down what was open.
///
/// Complexity: O(V + E + values + touches) and the number of values alive at each edge that does not lead to
///             the next node, and at the end of each node that has no such edge.
SUBLET_DECL bool found_in_one_pass(snapshot const& p, node_layout const& at, open_ranges& ranges)
{
    std::vector<unsigned char> const is_written = written_once(p);
    if (is_written.size() != p.values()) return false;
    depth_first_forest const search = depth_first(p.graph());
    std::vector<node_id> const last = loop_ends(p, at, search);
    if (last.size() != p.nodes()) return false;

    csr_rows const end_reads = csr_rows::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    csr_rows noted; // by place, from the last: what is alive where a node begins to which others jump
    for (std::size_t i = p.nodes(); i-- != 0;) {
        node_id const n = at.order[i];
        bool is_before_next = false;
        for (node_id s : p.successors(n)) is_before_next = is_before_next || at.place[s] == i + 1;
        if (!is_before_next) ranges.close_all(at.end[n]);
        for (node_id s : p.successors(n))
            if (at.place[s] > i + 1)
                for (value_id v : noted[p.nodes() - 1 - at.place[s]]) ranges.open(v, at.end[n]);
        for (value_id v : end_reads[n]) ranges.open(v, at.end[n]);
        ranges.walk(p, n, at.end[n]);

        if (last[n] != no_node) // needed where the loop begins, so it is alive throughout
            for (value_id v : ranges.values()) ranges.open(v, at.end[at.order[last[n]]]);
        if (search.parent[n] == no_node) // nothing is before n: what is needed may be read unwritten
            for (value_id v : ranges.values())
                if (is_written[v]) return false;
        bool is_jumped_to = false;
        for (node_id pred : p.predecessors(n)) is_jumped_to = is_jumped_to || at.place[pred] + 1 < i;
        if (is_jumped_to)
            for (value_id v : ranges.values()) noted.append(v);
        noted.close_row();
    }
    ranges.close_all(0);
    return true;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_range_lists live_intervals(snapshot const& p, live_sets const& live,
                                            std::vector<node_id> order)
{
    detail::expect_sets_of(p, live);
    detail::node_layout const at = detail::lay_out(p, std::move(order));
    detail::open_ranges ranges(p.values());
    for (std::size_t i = p.nodes(); i-- != 0;) {
        node_id const n = at.order[i];
        live_list::cursor opens = live.live_out(n).begin(), closes; // what is in both stays open
        if (i + 1 != p.nodes()) closes = live.live_in(at.order[i + 1]).begin();
        for (; *opens != *closes || *opens != no_value;) {
            value_id const opened = *opens, closed = *closes;
            if (opened < closed) ranges.open(opened, at.end[n]);
            if (closed < opened) ranges.close(closed, at.end[n]);
            if (opened <= closed) ++opens;
            if (closed <= opened) ++closes;
        }
        ranges.walk(p, n, at.end[n]);
    }
    ranges.close_all(0);
    return ranges.closed().lists(interval_method::from_liveness, static_cast<step_id>(p.steps()));
}

SUBLET_DECL live_range_lists live_intervals(snapshot const& p, interval_options const& options)
{
    if (options.method != interval_method::from_liveness) {
        detail::open_ranges ranges(p.values());
        if (detail::found_in_one_pass(p, detail::lay_out(p, options.order), ranges))
            return ranges.closed().lists(interval_method::one_pass, static_cast<step_id>(p.steps()));
        SUBLET_EXPECTS(
            options.method == interval_method::automatic,
            "sublet: live intervals in one pass need strict SSA form, loops with one entry, and an order "
            "that keeps loops together and follows the other edges");
    }
    return live_intervals(p, liveness(p), options.order);
}

} // namespace sublet

#endif
