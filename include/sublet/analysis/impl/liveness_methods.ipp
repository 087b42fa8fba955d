// SPDX-License-Identifier: BSL-1.0

/// Cross-block values are found without branches, for most touches are of none. Rows of bits are united a
/// word at a time; the explored sets are transposed from lists by value; trees are changed by copying the
/// path to a leaf, and united many at a time, equal subtrees once. Unions are iterated in sweeps along the
/// order and against it.

#include <sublet/analysis/control_flow.hpp>
#include <sublet/analysis/detail/liveness_methods.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <queue>
#include <span>
#include <utility>

// --- cross-block values ----------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL cross_block_values find_cross_block_values(snapshot const& p)
{
    cross_block_values cross_block;
    // Whether a touch reads, or its value is already written, is unpredictable, so there is no branch: each
    // touch is stored, and the list grows only if it is a read of a value not yet written in the node.
    std::span<touch const> const all = p.touches({0, step_id::of(p.steps())});
    std::vector<std::uint32_t> reads(all.size() + 1), reads_begin; // reads: values at first, finally columns
    reads_begin.reserve(p.nodes() + 1);
    std::size_t read = 0, defs = 0;                           // counts
    table<value_id, node_id> written_in(p.values(), no_node); // the last node so far that writes the value
    for (node_id n = 0; n != p.nodes(); ++n) {
        reads_begin.push_back(static_cast<std::uint32_t>(read));
        for (touch t : p.touches(p.steps_of(n))) {
            node_id& last = written_in[t.value];
            bool const is_def = t.defines();
            reads[read] = t.value;
            read += static_cast<std::size_t>(!is_def & (last != n));
            defs += is_def;
            last = is_def ? n : last;
        }
    }
    reads_begin.push_back(static_cast<std::uint32_t>(read));
    reads.resize(read);

    table<value_id, std::uint32_t>& column = cross_block.column;
    column.assign(p.values(), 0); // 1: cross-block
    for (value_id v : reads) column[v] = 1;
    for (edge_use u : p.edge_uses()) column[u.value] = 1;
    std::size_t cross_block_count = 0, defined = 0; // values
    for (value_id v = 0; v != p.values(); ++v) {
        cross_block_count += column[v];
        defined += written_in[v] != no_node;
    }
    cross_block.single_def = defs == defined;
    cross_block.value.resize(cross_block_count + 1);
    std::uint32_t columns = 0;
    for (value_id v = 0; v != p.values(); ++v) {
        std::uint32_t const is_cross_block = column[v];
        cross_block.value[columns] = v;
        column[v] = columns | (is_cross_block - 1); // or no_column, which is all ones
        columns += is_cross_block;
    }
    cross_block.value.pop_back();

    for (std::uint32_t& r : reads) r = column[r];
    cross_block.reads = cross_block_values::columns(std::move(reads_begin), std::move(reads));
    cross_block.writes = cross_block_values::columns::gathered(p.nodes(), [&](auto add) {
        if (cross_block.single_def) {
            for (std::uint32_t c = 0; c != columns; ++c)
                if (node_id const n = written_in[cross_block.value[c]]; n != no_node) add(n, c);
            return;
        }
        for (node_id n = 0; n != p.nodes(); ++n)
            for (touch t : p.touches(p.steps_of(n)))
                if (t.defines() && column[t.value] != no_column) add(n, column[t.value]);
    });
    cross_block.reads_at_end = cross_block_values::columns::gathered(p.nodes(), [&](auto add) {
        for (edge_use u : p.edge_uses()) add(u.pred, column[u.value]);
    });
    return cross_block;
}

// --- liveness worklist -----------------------------------------------------------------------------------

SUBLET_DECL dense_sets upward_exposed_uses(cross_block_values const& cross_block, std::size_t nodes)
{
    dense_sets sets{bit_rows(nodes, cross_block.value.size()), bit_rows(nodes, cross_block.value.size())};
    for (node_id n = 0; n != nodes; ++n) {
        for (std::uint32_t c : cross_block.reads[n]) sets.in.set(n, c);
        for (std::uint32_t c : cross_block.reads_at_end[n]) sets.out.set(n, c);
    }
    return sets;
}

/// Few edges lead to a lower number: only those of loops, if a compiler has numbered the nodes.  O(E)
SUBLET_DECL bool is_nearly_forward(csr_graph const& g)
{
    std::size_t backward = 0;
    for (node_id n = 0; n != g.rows(); ++n)
        for (node_id s : g[n]) backward += s <= n;
    return backward <= g.rows() / 8;
}

SUBLET_DECL dense_sets live_by_worklist(snapshot const& p, cross_block_values const& cross_block)
{
    dense_sets sets = upward_exposed_uses(cross_block, p.nodes());
    std::size_t const words = sets.in.words();
    if (words == 0) return sets;
    transfer_function transfer(words);
    auto visit = [&](node_id n) {
        bit_rows::word* const out = sets.out[n];
        for (node_id s : p.successors(n)) {
            bit_rows::word const* const needed = sets.in[s];
            for (std::size_t w = 0; w != words; ++w) out[w] |= needed[w];
        }
        return transfer(out, cross_block.writes[n], sets.in[n]);
    };

    // In this order few nodes come before a successor.
    std::vector<node_id> const order =
        is_nearly_forward(p.graph()) ? std::vector<node_id>{} : depth_first(p.graph()).postorder;
    enum : unsigned char { not_seen, settled, queued };
    table<node_id, unsigned char> state(p.nodes(), not_seen);
    std::vector<node_id> stack;
    auto settle = [&](node_id n) {
        state[n] = settled;
        if (!visit(n)) return;
        for (node_id pred : p.predecessors(n))
            if (state[pred] == settled) {
                state[pred] = queued;
                stack.push_back(pred);
            }
    };
    for (std::size_t i = 0; i != p.nodes(); ++i)
        settle(order.empty() ? node_id::of(p.nodes() - 1 - i) : order[i]);
    while (!stack.empty()) {
        node_id const n = stack.back();
        stack.pop_back();
        settle(n);
    }
    return sets;
}

// --- liveness loop forest --------------------------------------------------------------------------------

SUBLET_DECL dense_sets live_by_loop_forest(snapshot const& p, cross_block_values const& cross_block)
{
    SUBLET_EXPECTS(cross_block.single_def,
                   "sublet: liveness by loop forest needs SSA form: a value is written twice");
    dense_sets sets = upward_exposed_uses(cross_block, p.nodes());
    std::size_t const words = sets.in.words();
    if (words == 0) return sets;
    depth_first_forest const search = depth_first(p.graph());
    loop_forest const forest = loops(p.graph(), p.predecessors(), search);
    bool const reducible = forest.is_reducible();

    auto add = [words](bit_rows::word* to, bit_rows::word const* from) {
        for (std::size_t w = 0; w != words; ++w) to[w] |= from[w];
    };
    transfer_function transfer(words);
    // One search tree at a time: an edge into an earlier one, even into a loop, finds its sets complete.
    for (std::size_t begin = 0, end = 0; begin != p.nodes(); begin = end) {
        end = search.postorder_index[search.preorder[begin]] + std::size_t{1};
        for (std::size_t i = begin; i != end; ++i) {
            node_id const n = search.postorder[i];
            for (node_id s : p.successors(n)) {
                if (search.is_back_edge(n, s)) continue;
                bool const is_plain = reducible || search.preorder_index[s] < begin;
                add(sets.out[n], sets.in[is_plain ? s : forest.outermost_excluding(s, n)]);
            }
            transfer(sets.out[n], cross_block.writes[n], sets.in[n]);
        }
        for (std::size_t i = begin; i != end; ++i) {
            node_id const n = forest.preorder[i];
            if (node_id const header = forest.parent[n]; header != no_node) {
                add(sets.in[n], sets.in[header]);
                add(sets.out[n], sets.in[header]);
            }
            if (forest.is_header(n)) add(sets.out[n], sets.in[n]); // for the next iteration
        }
    }
    // If a def does not dominate a use, that shows at the def, because a value live throughout a loop must
    // not be defined in it, or at an edge into the middle of a loop that counted as one to its header.
    bool is_strict = true;
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (std::uint32_t c : cross_block.writes[n]) is_strict = is_strict && !sets.in.test(n, c);
        if (reducible) continue;
        for (node_id s : p.successors(n)) {
            bit_rows::word const* const needed = sets.in[s];
            for (std::size_t w = 0; w != words; ++w)
                is_strict = is_strict && (needed[w] & ~sets.out[n][w]) == 0;
        }
    }
    SUBLET_EXPECTS(is_strict,
                   "sublet: liveness by loop forest needs strict SSA form: a value is read where it "
                   "may not have been written");
    return sets;
}

// --- liveness per value ----------------------------------------------------------------------------------

SUBLET_DECL sparse_sets live_by_exploration(snapshot const& p, cross_block_values const& cross_block,
                                            std::size_t max_sets)
{
    using nodes_of = csr_rows<std::uint32_t, node_id>; // by column
    nodes_of const readers = cross_block.reads.transposed(cross_block.value.size());
    nodes_of const end_readers = cross_block.reads_at_end.transposed(cross_block.value.size());
    nodes_of const writers = cross_block.writes.transposed(cross_block.value.size());

    table<node_id, value_id> last_in(p.nodes(), no_value), last_out = last_in, last_written = last_in;
    std::vector<node_id> in, out; // of the value; the nodes from `processed` on are not expanded yet
    csr_rows<value_id, node_id> in_of, out_of;
    sparse_sets sets;
    for (value_id v = 0; v != p.values(); ++v) {
        if (std::uint32_t const c = cross_block.column[v]; c != no_column) {
            in.clear();
            out.clear();
            auto reach_begin = [&](node_id n) {
                if (last_in[n] == v) return;
                last_in[n] = v;
                in.push_back(n);
            };
            auto reach_end = [&](node_id n) {
                if (last_out[n] == v) return;
                last_out[n] = v;
                out.push_back(n);
                if (last_written[n] != v) reach_begin(n);
            };
            for (node_id n : writers[c]) last_written[n] = v;
            for (node_id n : end_readers[c]) reach_end(n);
            for (node_id n : readers[c]) reach_begin(n);
            for (std::size_t processed = 0; processed != in.size() && in.size() + out.size() <= max_sets;)
                for (node_id pred : p.predecessors(in[processed++])) reach_end(pred);
            if (in.size() + out.size() > max_sets) {
                sets.given_up.push_back(v);
            } else {
                for (node_id n : in) in_of.append(n);
                for (node_id n : out) out_of.append(n);
            }
        }
        in_of.close_row();
        out_of.close_row();
    }
    sets.in = in_of.transposed(p.nodes());
    sets.out = out_of.transposed(p.nodes());
    return sets;
}

// --- liveness by trees -----------------------------------------------------------------------------------

SUBLET_DECL set_trees::set set_trees::made(std::uint64_t node)
{
    if (node == 0) return 0;
    SUBLET_EXPECTS(nodes_.size() < no_column, "sublet: more subsets than 32-bit ids");
    nodes_.push_back(node);
    return static_cast<set>(nodes_.size() - 1);
}

SUBLET_DECL set_trees::set set_trees::changed(set s, std::uint32_t column, bool is_in)
{
    set path[33]; // from the root: the node of each level
    path[top_] = s;
    for (unsigned level = top_; level != 0; --level)
        path[level - 1] = child(path[level], (column >> (level + 5) & 1) != 0);
    std::uint64_t const bit = std::uint64_t{1} << column % 64;
    if (((nodes_[path[0]] & bit) != 0) == is_in) return s;
    for (unsigned level = 0;; ++level) {
        std::uint64_t node = nodes_[path[level]];
        if (level == 0) node ^= bit;
        else if ((column >> (level + 5) & 1) != 0)
            node = (node & 0xffff'ffff) | std::uint64_t{path[level - 1]} << 32;
        else node = (node & ~std::uint64_t{0xffff'ffff}) | path[level - 1];
        if (node != 0 && path[level] >= kept_) nodes_[path[level]] = node;
        else path[level] = made(node);
        if (level == top_) return path[level];
    }
}

/// Of those on the stack from `first` on, which it removes.
// NOLINTNEXTLINE(misc-no-recursion): as deep as a balanced tree
SUBLET_DECL set_trees::set set_trees::united(std::size_t first, unsigned level)
{
    auto const others = stack_.begin() + static_cast<std::ptrdiff_t>(first) + 1; // the first one stays there
    std::sort(others, stack_.end());
    stack_.erase(std::unique(others, stack_.end()), stack_.end());
    if (others != stack_.end() && *others == 0) stack_.erase(others);
    std::size_t const end = stack_.size();
    bool const is_one = end - first == 2 && (stack_[first] == 0 || stack_[first] == stack_[first + 1]);
    set found = stack_[end - 1];
    if (end - first != 1 && !is_one) {
        std::uint64_t node = 0;
        if (level == 0) {
            for (std::size_t i = first; i != end; ++i) node |= nodes_[stack_[i]];
        } else {
            std::uint64_t children[2];
            for (bool is_right : {false, true}) {
                for (std::size_t i = first; i != end; ++i) stack_.push_back(child(stack_[i], is_right));
                children[is_right] = united(end, level - 1);
            }
            node = children[1] << 32 | children[0];
        }
        std::size_t like = first;
        while (like != end && nodes_[stack_[like]] != node) ++like;
        found = like != end ? stack_[like] : made(node);
    }
    stack_.resize(first);
    return found;
}

SUBLET_DECL tree_sets solve_unions(set_trees& trees, union_problem const& problem)
{
    std::size_t const nodes = problem.order.size();
    tree_sets sets{table<node_id, set_trees::set>(nodes, 0), table<node_id, set_trees::set>(nodes, 0)};
    table<node_id, std::uint32_t> index_of(nodes);
    // Nodes to visit again, in sweeps along the order and against it, so that what flows along a path in
    // either direction takes one sweep.
    table<node_id, unsigned char> is_open(nodes, 0);
    std::priority_queue<std::uint32_t> up, down; // `up`: index, complemented
    std::vector<set_trees::set> meeting;
    for (std::uint32_t i = 0; i != nodes; ++i) index_of[problem.order[i]] = i;
    auto visit = [&](node_id n, bool is_first) {
        meeting.assign(1, sets.arriving[n]);
        for (node_id from : problem.before[n]) meeting.push_back(sets.leaving[from]);
        set_trees::set arriving = trees.united(meeting);
        trees.keep();
        if (problem.arrive != nullptr)
            for (std::uint32_t c : (*problem.arrive)[n]) arriving = trees.changed(arriving, c, true);
        if (arriving == sets.arriving[n] && !is_first) return;
        sets.arriving[n] = arriving;
        trees.keep();
        set_trees::set leaving = arriving;
        if (problem.kills != nullptr)
            for (std::uint32_t c : (*problem.kills)[n]) leaving = trees.changed(leaving, c, false);
        for (std::uint32_t c : problem.gens[n]) leaving = trees.changed(leaving, c, true);
        trees.keep();
        leaving = trees.united({sets.leaving[n], leaving});
        if (std::exchange(sets.leaving[n], leaving) == leaving) return;
        std::uint32_t const here = index_of[n];
        for (node_id to : problem.after[n])
            if (std::uint32_t const i = index_of[to];
                (!is_first || i <= here) && !std::exchange(is_open[to], 1)) {
                if (i > here) up.push(~i);
                else down.push(i);
            }
    };
    for (node_id n : problem.order) visit(n, true);
    while (!up.empty() || !down.empty()) {
        while (!down.empty()) {
            node_id const n = problem.order[down.top()];
            down.pop();
            is_open[n] = 0;
            visit(n, false);
        }
        while (!up.empty()) {
            node_id const n = problem.order[~up.top()];
            up.pop();
            is_open[n] = 0;
            visit(n, false);
        }
    }
    return sets;
}

SUBLET_DECL tree_sets live_by_trees(snapshot const& p, cross_block_values const& cross_block,
                                    set_trees& trees)
{
    std::vector<node_id> const order = depth_first(p.graph()).postorder;
    return solve_unions(trees, {.before = p.graph(),
                                .after = p.predecessors(),
                                .order = order,
                                .gens = cross_block.reads,
                                .kills = &cross_block.writes,
                                .arrive = &cross_block.reads_at_end});
}

SUBLET_DECL tree_sets written_by_trees(snapshot const& p, cross_block_values::columns const& writes,
                                       set_trees& trees)
{
    std::vector<node_id> const order = reverse_postorder(depth_first(p.graph()));
    return solve_unions(trees,
                        {.before = p.predecessors(), .after = p.graph(), .order = order, .gens = writes});
}

} // namespace sublet::detail
