// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/core/internal/range_lists.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

// --- live sets -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::span<value_id const> node_sets::list(node_id n) const
{
    return listed.rows() == 0 ? std::span<value_id const>{} : listed[n];
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL live_sets::live_sets(liveness_options::method policy, std::size_t nodes,
                                 table<value_id, std::uint32_t> column, std::vector<value_id> value,
                                 detail::node_sets in, detail::node_sets out)
    : policy_(policy), nodes_(nodes), column_(std::move(column)), value_(std::move(value)),
      in_(std::move(in)), out_(std::move(out))
{
}

SUBLET_DECL bool live_sets::is_listed(std::span<value_id const> ascending, value_id v)
{
    while (!ascending.empty()) {
        std::size_t const middle = ascending.size() / 2;
        if (ascending[middle] == v) return true;
        ascending = ascending[middle] < v ? ascending.subspan(middle + 1) : ascending.first(middle);
    }
    return false;
}

SUBLET_DECL bool live_sets::same(live_sets const& a, live_sets const& b)
{
    if (a.nodes() != b.nodes() || a.values() != b.values()) return false;
    auto equal = [](detail::live_list const& x, detail::live_list const& y) {
        auto i = x.begin(), j = y.begin();
        while (*i == *j && *i != no_value) ++i, ++j;
        return *i == *j;
    };
    for (node_id n = 0; n != a.nodes(); ++n)
        if (!equal(a.live_in(n), b.live_in(n)) || !equal(a.live_out(n), b.live_out(n))) return false;
    return true;
}

} // namespace sublet

// --- liveness --------------------------------------------------------------------------------------------

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
    return {policy,
            nodes,
            std::move(cross_block.column),
            std::move(cross_block.value),
            {std::move(bits.in), std::move(lists.in)},
            {std::move(bits.out), std::move(lists.out)}};
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
    return {options.policy,
            p.nodes(),
            std::move(cross_block.column),
            std::move(cross_block.value),
            {std::move(bits.in), {}},
            {std::move(bits.out), {}}};
}

SUBLET_DECL live_sets liveness(snapshot const& p)
{
    snapshot listed;
    return detail::live_by_policy(detail::as_control_flow(p, listed), {});
}

} // namespace sublet

// --- live intervals --------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL node_layout lay_out(snapshot const& p, std::vector<node_id> order)
{
    if (order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) order.push_back(n);
    if (order.size() != p.nodes()) broken_order(order, p.nodes());
    constexpr std::uint32_t none = ~std::uint32_t{0};
    table<node_id, std::uint32_t> index_of(p.nodes(), none);
    table<node_id, position_id> end(p.nodes());
    position_id position = 0;
    for (std::uint32_t i = 0; i != order.size(); ++i) {
        node_id const n = order[i];
        if (n >= p.nodes() || index_of[n] != none) broken_order(order, p.nodes());
        index_of[n] = i;
        end[n] = position += p.steps_of(n).last - p.steps_of(n).first;
    }
    return {std::move(order), std::move(index_of), std::move(end)};
}

/// The ranges that are live at the point of a backward walk: their ends are known, their begins not yet.
class open_ranges {
public:
    explicit open_ranges(std::size_t values) : open_(values), until_(values), closed_(values) {}

    [[nodiscard]] std::span<value_id const> values() const { return open_.list(); }
    /// v is live here, up to `until` at least.
    void open(value_id v, position_id until)
    {
        open_.insert(v);
        if (until_[v] < until) until_[v] = until;
    }
    /// v is not live before `first`.
    void close(value_id v, position_id first)
    {
        if (open_.erase(v)) closed_.add(v, {first, std::exchange(until_[v], 0)});
    }
    void close_all(position_id first)
    {
        while (!values().empty()) close(values().back(), first); // removes it from the list
    }
    /// Walks the steps of a node backwards; the last one is before `position`.
    void walk(snapshot const& p, node_id n, position_id position)
    {
        for (step_id s = p.steps_of(n).last; s-- != p.steps_of(n).first;) {
            --position;
            for (touch t : p.touches(s)) {
                if (!t.defines()) continue;
                open(t.value, position + 1);
                close(t.value, position);
            }
            for (touch t : p.touches(s))
                if (!t.defines()) open(t.value, t.kind == touch::access::use_early ? +position : position + 1);
        }
        if (n == 0) // values live where the program begins are in storage before
            for (value_id v : values()) open(v, position + 1);
    }
    [[nodiscard]] range_collector const& closed() const { return closed_; }

private:
    sparse_set open_;
    table<value_id, position_id> until_; // where the range of each value ends; 0 if it is not open
    range_collector closed_;
};

/// Of each value, whether a step writes it; empty if a value is written twice.
SUBLET_DECL table<value_id, unsigned char> written_once(snapshot const& p)
{
    table<value_id, unsigned char> is_written(p.values());
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines() && std::exchange(is_written[t.value], 1) != 0) return {};
    return is_written;
}

/// Of each node, the index of the last node of its loop, the largest number if it is no header; empty if some
/// loop is irreducible or not contiguous, an edge other than a back edge leads backwards, or one leads into
/// an earlier search tree.
///
/// Complexity: O(V + E), as `loops`.
SUBLET_DECL table<node_id, std::uint32_t> loop_ends(snapshot const& p, node_layout const& layout,
                                                    depth_first_forest const& search)
{
    loop_forest const forest = loops(p.graph(), p.predecessors(), search);
    if (!forest.is_reducible()) return {};
    std::uint32_t tree_begin = 0; // in preorder of the search
    for (node_id n : search.preorder) {
        if (search.parent[n] == no_node) tree_begin = search.preorder_index[n];
        for (node_id s : p.successors(n)) {
            if (search.preorder_index[s] < tree_begin) return {}; // possibly into the middle of a loop
            if (layout.index_of[s] <= layout.index_of[n] && !search.is_back_edge(n, s)) return {};
        }
    }
    table<node_id, std::uint32_t> last = layout.index_of;
    for (std::size_t i = forest.preorder.size(); i-- != 0;) {
        node_id const n = forest.preorder[i], around = forest.parent[n];
        if (last[n] - layout.index_of[n] + 1 != forest.end[n] - forest.preorder_index[n]) return {};
        if (around != no_node && last[around] < last[n]) last[around] = last[n];
        if (!forest.is_header(n)) last[n] = ~std::uint32_t{0};
    }
    return last;
}

/// The walk without liveness. Returns whether its requirements hold, and it takes no more than `most` ranges
/// that are open at edges; otherwise `ranges` are meaningless.
///
/// Ranges open at the beginning of the next node in the order stay open if it is a successor; for other
/// successors the open ranges have been recorded.
///
/// Complexity: O(V + E + values + touches) and the number of values live at each edge that does not lead to
///             the next node, and at the end of each node that has no such edge.
SUBLET_DECL bool found_in_one_pass(snapshot const& p, node_layout const& layout, open_ranges& ranges,
                                   std::uint64_t most)
{
    table<value_id, unsigned char> const is_written = written_once(p);
    if (is_written.size() != p.values()) return false;
    depth_first_forest const search = depth_first(p.graph());
    table<node_id, std::uint32_t> const last = loop_ends(p, layout, search);
    if (last.size() != p.nodes()) return false;

    auto const end_reads = csr_rows<node_id, value_id>::gathered(p.nodes(), [&p](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, u.value);
    });
    // By index from the last: values live at the begin of nodes that others jump to.
    csr_rows<std::uint32_t, value_id> live_at_begin;
    auto const count = static_cast<std::uint32_t>(p.nodes());
    for (std::uint32_t i = count; i-- != 0;) {
        node_id const n = layout.order[i];
        bool is_before_next = false;
        for (node_id s : p.successors(n)) is_before_next = is_before_next || layout.index_of[s] == i + 1;
        std::uint64_t taken = 0;
        auto take = [&taken](std::span<value_id const> values) { return taken += values.size(), values; };
        if (!is_before_next) {
            take(ranges.values());
            ranges.close_all(layout.end[n]);
        }
        for (node_id s : p.successors(n))
            if (layout.index_of[s] > i + 1)
                for (value_id v : take(live_at_begin[count - 1 - layout.index_of[s]]))
                    ranges.open(v, layout.end[n]);
        for (value_id v : end_reads[n]) ranges.open(v, layout.end[n]);
        ranges.walk(p, n, layout.end[n]);

        if (last[n] != ~std::uint32_t{0}) // live at the header, so live throughout the loop
            for (value_id v : take(ranges.values())) ranges.open(v, layout.end[layout.order[last[n]]]);
        if (search.parent[n] == no_node) // a root: values needed here may be read unwritten
            for (value_id v : ranges.values())
                if (is_written[v]) return false;
        bool is_jumped_to = false;
        for (node_id pred : p.predecessors(n)) is_jumped_to = is_jumped_to || layout.index_of[pred] + 1 < i;
        if (is_jumped_to)
            for (value_id v : take(ranges.values())) live_at_begin.append(v);
        live_at_begin.close_row();
        if (taken > most) return false;
        most -= taken;
    }
    ranges.close_all(0);
    return true;
}

SUBLET_DECL live_range_lists intervals_by_trees(snapshot const& p, node_layout const& layout)
{
    cross_block_values const cross_block = find_cross_block_values(p);
    set_trees trees(cross_block.value.size());
    tree_sets const live = live_by_trees(p, cross_block, trees);
    open_ranges ranges(p.values());
    for (std::size_t i = p.nodes(); i-- != 0;) {
        node_id const n = layout.order[i];
        set_trees::set const after = i + 1 != p.nodes() ? live.leaving[layout.order[i + 1]] : 0;
        trees.each_difference(live.arriving[n], after, [&](std::uint32_t column, bool opens) {
            if (opens) ranges.open(cross_block.value[column], layout.end[n]);
            else ranges.close(cross_block.value[column], layout.end[n]);
        });
        ranges.walk(p, n, layout.end[n]);
    }
    ranges.close_all(0);
    return ranges.closed().lists(live_range_lists::source::from_liveness,
                                 static_cast<std::uint32_t>(p.steps()));
}

} // namespace sublet::detail

namespace sublet {

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

// --- live ranges of a control-flow graph -----------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL live_range_lists unsorted_ranges::lists(std::size_t count, live_range_lists::source method,
                                                    std::uint32_t positions)
{
    sort_by_key(ranges_);
    range_collector found(count);
    for (sort_key const& r : ranges_)
        found.add(value_id::of(r.key), {position_id::of(descending(r.tie)), r.id});
    return found.lists(method, positions);
}

SUBLET_DECL std::vector<value_id> overwritable_operands(snapshot const& p, step_id s)
{
    std::vector<value_id> made, operands;
    auto const pairs = p.overwrites(s);
    if (pairs.empty()) return operands;
    for (touch t : p.touches(s))
        if (t.defines()) made.push_back(t.value);
    sort_ascending(made);
    for (overwrite o : pairs)
        if (is_listed(made, o.out)) operands.push_back(o.in);
    sort_ascending(operands);
    std::size_t kept = 0;
    for (value_id v : operands)
        if (kept == 0 || operands[kept - 1] != v) operands[kept++] = v;
    shorten(operands, kept);
    return operands;
}

/// Of each node, whether it reaches no node without successors.  O(V + E)
SUBLET_DECL table<node_id, unsigned char> non_exiting_nodes(snapshot const& p)
{
    table<node_id, unsigned char> never_exits(p.nodes(), 1);
    std::vector<node_id> open;
    auto leave = [&](node_id n) {
        if (never_exits[n]) open.push_back(n);
        never_exits[n] = 0;
    };
    for (node_id n = 0; n != p.nodes(); ++n)
        if (p.successors(n).empty()) leave(n);
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id before : p.predecessors(n)) leave(before);
    }
    return never_exits;
}

SUBLET_DECL snapshot augmented(snapshot const& p, table<value_id, value_role> const& role,
                               operand_end operands)
{
    auto const exit_node = node_id::of(p.nodes() + 1);
    table<node_id, unsigned char> const never_exits = non_exiting_nodes(p);
    std::vector<node_id> next; // of the node queried last
    auto successors = [&](node_id n) -> std::vector<node_id> const& {
        next.clear();
        if (n == 0 && exit_node != 1) next.push_back(1);
        if (n == 0 || n == exit_node) return next;
        for (node_id s : p.successors(n - 1)) next.push_back(s + 1);
        if (next.empty() || never_exits[n - 1]) next.push_back(exit_node);
        return next;
    };
    std::vector<value_id> early; // read before the step writes
    auto effects = [&](node_id n, effect_sink& sink) {
        for (value_id v = 0; n == exit_node && v != p.values(); ++v)
            if (has_role(role[v], value_role::output)) sink.use(v);
        if (n == 0 || n == exit_node) return;
        step_range const range = p.steps_of(n - 1);
        for (step_id s = range.first; s != range.last; ++s) {
            if (s != range.first) sink.next_step();
            if (operands == operand_end::read_early) early = overwritable_operands(p, s);
            for (touch t : p.touches(s))
                if (t.defines() || t.writes()) sink.add(t.kind, t.value);
                else if (t.kind == touch::access::use_early || is_listed(early, t.value))
                    sink.use_early(t.value);
                else sink.use(t.value);
            copy_step_facts(p, s, sink);
        }
        for (edge_use u : p.edge_uses(n - 1)) sink.use_at_end_of(u.pred + 1, u.value);
    };
    return flow(p.nodes() + 2, p.values(), successors, effects);
}

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL live_range_lists cfg_live_ranges(snapshot const& p, table<value_id, value_role> const& role,
                                             std::vector<node_id> const& order, operand_end operands)
{
    interval_options options;
    options.order.push_back(0);
    for (node_id n : order) options.order.push_back(n + 1);
    options.order.push_back(node_id::of(p.nodes() + 1));
    live_range_lists const all = live_intervals(detail::augmented(p, role, operands), options);

    auto const end = position_id::of(p.steps() + 1);
    detail::unsorted_ranges found;
    for (value_id v = 0; v != p.values(); ++v) {
        for (live_range r : all[v]) found.add(v, {r.first, smaller(r.last, end)});
        if (has_role(role[v], value_role::input)) found.add(v, {0, 1});
    }
    return found.lists(p.values(), all.method(), end);
}

SUBLET_DECL live_range_lists to_program_positions(snapshot const& p, live_range_lists const& augmented,
                                                  std::vector<node_id> const& order)
{
    position_id first = 0; // of the entry
    for (std::size_t i = 0; i != order.size() && order[i] != 0; ++i)
        first += p.steps_of(order[i]).last - p.steps_of(order[i]).first;
    detail::unsorted_ranges found;
    for (value_id v = 0; v != p.values(); ++v)
        for (live_range r : augmented[v]) {
            if (r.first == 0) found.add(v, {first, first + 1});
            found.add(v, {r.first == 0 ? 0u : r.first - 1, r.last - 1});
        }
    return found.lists(p.values(), augmented.method(), larger(static_cast<std::uint32_t>(p.steps()), 1u));
}

SUBLET_DECL std::optional<counterexample> undefined_read(snapshot const& p, live_range_lists const& augmented,
                                                         table<value_id, value_role> const& role,
                                                         bool is_allowed)
{
    table<value_id, unsigned char> is_ever_written(p.values(), 0);
    table<node_id, unsigned char> is_seen;
    for (touch t : p.touches({0, step_id::of(p.steps())}))
        if (t.defines()) is_ever_written[t.value] = 1;
    std::vector<node_id> open;
    auto read_of = [&](value_id v) -> std::optional<counterexample> {
        is_seen.assign(p.nodes(), 0);
        open.clear();
        auto enter = [&](node_id n) {
            if (!is_seen[n]) open.push_back(n);
            is_seen[n] = 1;
        };
        auto found = [&](step_id s) {
            value_id const other = is_ever_written[v] ? v : no_value;
            return counterexample{fault::used_undefined,
                                  counterexample::access{.value = v, .other = other, .step = s}};
        };
        bool const is_output = has_role(role[v], value_role::output);
        if (p.nodes() != 0) enter(0);
        else if (is_output) return found(no_step);
        while (!open.empty()) {
            node_id const n = open.back();
            open.pop_back();
            bool is_written = false;
            for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last && !is_written; ++s)
                for (touch t : p.touches(s)) { // reads come first
                    if (t.value != v) continue;
                    if (!t.defines()) return found(s);
                    is_written = true;
                }
            if (is_written) continue;
            for (node_id next : p.successors(n)) {
                for (edge_use u : p.edge_uses(next))
                    if (u.pred == n && u.value == v) return found(p.steps_of(n).last - 1);
                enter(next);
            }
            if (p.successors(n).empty() && is_output) return found(no_step);
        }
        return std::nullopt;
    };
    for (value_id v = 0; v != p.values(); ++v) {
        if (is_given(role[v]) || (is_allowed && is_ever_written[v])) continue;
        bool const is_live_at_entry = !augmented[v].empty() && augmented[v].front().first == 0;
        bool const is_output_of_empty = p.nodes() == 0 && has_role(role[v], value_role::output);
        if (!is_live_at_entry && !is_output_of_empty) continue;
        if (auto read = read_of(v)) return read;
    }
    return std::nullopt;
}

SUBLET_DECL table<node_id, unsigned char> reached_nodes(snapshot const& p)
{
    if (p.graph().items() == 0) return table<node_id, unsigned char>(p.nodes(), 1);
    table<node_id, unsigned char> is_reached(p.nodes(), 0);
    std::vector<node_id> open{0};
    is_reached[0] = 1;
    while (!open.empty()) {
        node_id const n = open.back();
        open.pop_back();
        for (node_id next : p.successors(n))
            if (!std::exchange(is_reached[next], 1)) open.push_back(next);
    }
    return is_reached;
}

SUBLET_DECL live_range_lists common_ranges(live_range_lists const& one, live_range_lists const& other)
{
    unsorted_ranges common;
    for (value_id v = 0; v != one.values(); ++v) {
        auto const a = one[v], b = other[v];
        for (std::size_t i = 0, j = 0; i != a.size() && j != b.size();) {
            common.add(v, {larger(a[i].first, b[j].first), smaller(a[i].last, b[j].last)});
            a[i].last < b[j].last ? ++i : ++j;
        }
    }
    return common.lists(one.values(), one.method(), one.positions());
}

SUBLET_DECL live_range_lists where_written(snapshot const& p, live_range_lists const& augmented,
                                           table<value_id, unsigned char> const& is_unwritten,
                                           std::vector<node_id> const& order,
                                           table<step_id, position_id> const& position, bool counts_held)
{
    table<node_id, unsigned char> const is_reached = reached_nodes(p);
    table<step_id, node_id> node_of(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) node_of[s] = n;
    unsorted_ranges kept;
    for (value_id v = 0; v != p.values(); ++v)
        if (!is_unwritten[v]) kept.add(v, {0, augmented.positions()});
    auto const writes = cross_block_values::columns::gathered(p.nodes(), [&](auto add) {
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch t : p.touches(s))
                if (is_unwritten[t.value] && t.defines() && is_reached[node_of[s]]) add(node_of[s], t.value);
    });
    set_trees trees(p.values());
    tree_sets const written = written_by_trees(p, writes, trees);
    table<value_id, position_id> since(p.values(), 0); // where the last range of each value begins
    set_trees::set before = 0;
    auto walk_to = [&](set_trees::set next, position_id at) {
        trees.each_difference(next, before, [&](value_id v, bool begins) {
            if (begins) since[v] = at;
            else kept.add(v, {since[v], at});
        });
        before = next;
    };
    for (node_id n : order) {
        walk_to(written.arriving[n], position[p.steps_of(n).first]);
        position_id const end = position[p.steps_of(n).last - 1] + 1;
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s)
            for (touch t : p.touches(s)) {
                if (!is_unwritten[t.value]) continue;
                if (t.defines() && is_reached[n]) kept.add(t.value, {position[s], end});
                else if (counts_held) kept.add(t.value, {position[s], position[s] + 1});
            }
    }
    walk_to(0, augmented.positions());
    return common_ranges(augmented, kept.lists(p.values(), augmented.method(), augmented.positions()));
}

} // namespace detail

} // namespace sublet
