// SPDX-License-Identifier: BSL-1.0

/// Chooses among the methods: values are explored one by one up to a number of sets, and those that are live
/// in more nodes are solved together as rows of bits. Live intervals walk the order backwards, in one pass
/// where that is possible, and else from live sets, or from trees where these are large.

#include <sublet/analysis/detail/interval_walk.hpp>
#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

/// The same lists for some of the values only (ascending), renumbered.
SUBLET_DECL cross_block_values restricted(cross_block_values const& all, std::vector<value_id> values)
{
    cross_block_values some;
    some.value = std::move(values);
    some.column.assign(all.column.size(), no_column);
    for (std::size_t c = 0; c != some.value.size(); ++c)
        some.column[some.value[c]] = static_cast<std::uint32_t>(c);
    for (auto list :
         {&cross_block_values::reads, &cross_block_values::writes, &cross_block_values::reads_at_end})
        for (node_id n = 0; n != (all.*list).rows(); ++n) {
            for (std::uint32_t c : (all.*list)[n])
                if (std::uint32_t const new_column = some.column[all.value[c]]; new_column != no_column)
                    (some.*list).append(new_column);
            (some.*list).close_row();
        }
    return some;
}

/// By any policy but loop_forest.
SUBLET_DECL live_sets live_by_policy(snapshot const& p, liveness_options const& options)
{
    std::size_t const nodes = p.nodes();
    cross_block_values cross_block = find_cross_block_values(p);
    liveness_options::method policy = options.policy;
    std::size_t max_sets = ~std::size_t{0};
    if (policy == liveness_options::method::automatic) {
        if (bit_rows::words_for(cross_block.value.size()) * nodes <= options.dense_words)
            policy = liveness_options::method::worklist;
        max_sets = nodes / bit_rows::word_bits;
    }
    sparse_sets lists;
    if (policy != liveness_options::method::worklist) {
        lists = live_by_exploration(p, cross_block, max_sets);
        if (lists.given_up.empty()) policy = liveness_options::method::per_value;
        else if (lists.given_up.size() == cross_block.value.size())
            policy = liveness_options::method::worklist;
        cross_block = restricted(cross_block, std::move(lists.given_up));
    }
    dense_sets bits;
    if (!cross_block.value.empty()) bits = live_by_worklist(p, cross_block);
    return solved_sets(policy, nodes, std::move(cross_block.column), std::move(cross_block.value),
                       {std::move(bits.in), std::move(lists.in)},
                       {std::move(bits.out), std::move(lists.out)});
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_sets liveness(snapshot const& given, liveness_options const& options)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    if (options.policy != liveness_options::method::loop_forest) return detail::live_by_policy(p, options);
    detail::cross_block_values cross_block = detail::find_cross_block_values(p);
    detail::dense_sets bits = detail::live_by_loop_forest(p, cross_block);
    return detail::solved_sets(options.policy, p.nodes(), std::move(cross_block.column),
                               std::move(cross_block.value), {std::move(bits.in), {}},
                               {std::move(bits.out), {}});
}

SUBLET_DECL live_sets liveness(snapshot const& p)
{
    snapshot listed;
    return detail::live_by_policy(detail::as_control_flow(p, listed), {});
}

SUBLET_DECL live_range_lists live_intervals(snapshot const& given, live_sets const& live,
                                            std::vector<node_id> order)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    detail::expect_sets_of(p, live);
    detail::node_layout const layout = detail::lay_out(p, std::move(order));
    detail::open_ranges ranges(p.values());
    for (std::size_t i = p.nodes(); i-- != 0;) {
        node_id const n = layout.order[i];
        detail::live_list::cursor opens = live.live_out(n).begin(), closes; // values in both stay open
        if (i + 1 != p.nodes()) closes = live.live_in(layout.order[i + 1]).begin();
        for (; *opens != *closes || *opens != no_value;) {
            value_id const opened = *opens, closed = *closes;
            if (opened < closed) ranges.open(opened, layout.end[n]);
            if (closed < opened) ranges.close(closed, layout.end[n]);
            if (opened <= closed) ++opens;
            if (closed <= opened) ++closes;
        }
        ranges.walk(p, n, layout.end[n]);
    }
    ranges.close_all(0);
    return ranges.closed().lists(live_range_lists::source::from_liveness,
                                 static_cast<std::uint32_t>(p.steps()));
}

SUBLET_DECL live_range_lists live_intervals(snapshot const& given, interval_options const& options)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    bool const is_automatic = options.method == live_range_lists::source::automatic;
    std::uint64_t const size =
        p.nodes() + p.values() + p.touches({0, step_id::of(p.steps())}).size();
    detail::node_layout const layout = detail::lay_out(p, options.order);
    if (options.method != live_range_lists::source::from_liveness) {
        detail::open_ranges ranges(p.values());
        if (detail::found_in_one_pass(p, layout, ranges, is_automatic ? 16 * size : no_limit))
            return ranges.closed().lists(live_range_lists::source::one_pass,
                                         static_cast<std::uint32_t>(p.steps()));
        SUBLET_EXPECTS(
            is_automatic,
            "sublet: live intervals in one pass need strict SSA form, loops with one entry, and an order "
            "that keeps loops together and follows the other edges");
    }
    // The walk lists all live sets: few of the live values change from node to node if the sets are large.
    if (is_automatic && detail::bit_rows::words_for(p.values()) * p.nodes() > 4 * size)
        return detail::intervals_by_trees(p, layout);
    return live_intervals(p, liveness(p), options.order);
}

} // namespace sublet
