// SPDX-License-Identifier: BSL-1.0

/// Walks the tree with a stack of open programs, in the order of its text, and emits nodes, steps and moves
/// to a builder: each body between the beginning and the end of its step, with moves at its borders. Edges
/// inside programs are added at the end, when the first and the last flat node of each node are known.

#include <sublet/analysis/detail/bodies_by_step.hpp>
#include <sublet/analysis/detail/captures.hpp>
#include <sublet/analysis/detail/copy_order.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Emits the flat program in the order of its text.
class tree_flattener {
public:
    tree_flattener(program_tree const& tree, table<program_id, std::vector<value_id>> const& alias_of)
        : tree_(tree), bodies_(tree), flat_{number_values(tree), {}, 0, {}, {}},
          root_of_(detail::view_roots(flat_, alias_of)), copies_(root_of_), mark_(flat_.value_of.size()),
          header_(tree.size(), no_node), entry_(tree.size(), no_node)
    {
        flat_.first_spare = value_id::of(flat_.value_of.size());
        std::size_t nodes = 0;
        for (program_id i = 0; i != tree.size(); ++i) {
            first_node_.push_back(nodes);
            nodes += tree.program_of(i).nodes();
        }
        head_.assign(nodes, no_node);
        tail_.assign(nodes, no_node);
    }

    flat_tree flatten()
    {
        std::vector<frame> open;
        enter(0, open);
        while (!open.empty()) {
            frame& at = open.back();
            snapshot const& p = tree_.program_of(at.program);
            if (at.node == p.nodes()) {
                program_id const done = at.program;
                open.pop_back();
                if (!open.empty()) leave(done, open.back());
                continue;
            }
            if (at.step == p.steps_of(at.node).last) {
                tail_[first_node_[at.program] + at.node] = builder_.last_node();
                if (++at.node != p.nodes()) begin_node(at.program, at.node);
                continue;
            }
            auto const bodies = bodies_.of(at.program, at.step);
            if (at.bodies_done == 0) emit_step(at.program, at.step, bodies, true);
            if (at.bodies_done == bodies.size()) {
                if (!bodies.empty()) emit_step(at.program, at.step, bodies, false);
                at.bodies_done = 0;
                ++at.step;
                continue;
            }
            enter_body(bodies[at.bodies_done], at, open);
        }
        return finished();
    }

private:
    struct frame {
        program_id program;
        node_id node = 0;
        step_id step = 0;
        std::size_t bodies_done = 0; // of the step
        node_id fork = no_node;      // where the branches of a choice diverge
        std::size_t first_arm = 0;   // of the choice, in arms_
    };

    node_id open_node_behind(std::vector<node_id> const& before)
    {
        node_id const opened = builder_.open_node();
        for (node_id from : before) builder_.add_edge(from, opened);
        return opened;
    }
    void begin_node(program_id program, node_id node)
    {
        head_[first_node_[program] + node] = builder_.open_node();
    }

    bool is_list(program_id i) const { return tree_.program_of(i).edges() != edge_meaning::control_flow; }
    /// The exits of a program that has been emitted; `entry` if it is empty.
    std::vector<node_id> exits(program_id i, node_id entry) const
    {
        snapshot const& p = tree_.program_of(i);
        std::vector<node_id> found;
        if (p.nodes() == 0) found.push_back(entry);
        for (auto n = node_id::of(is_list(i) && p.nodes() != 0 ? p.nodes() - 1 : 0); n != p.nodes(); ++n)
            if (p.successors(n).empty()) found.push_back(tail_[first_node_[i] + n]);
        return found;
    }

    bool is_branch(program_id i) const { return tree_.body(i).kind == program_body::run_kind::branch; }

    void enter(program_id i, std::vector<frame>& open)
    {
        if (tree_.program_of(i).nodes() != 0) {
            if (i != 0) builder_.add_edge(builder_.last_node(), builder_.last_node() + 1);
            begin_node(i, 0);
        }
        open.push_back({i});
    }
    void enter_body(program_id i, frame& at, std::vector<frame>& open)
    {
        if (is_branch(i)) {
            if (at.fork == no_node) {
                at.fork = builder_.last_node();
                at.first_arm = arms_.size();
            }
            open_node_behind({at.fork});
        }
        move(i, flat_tree::move_time::enter);
        if (tree_.body(i).kind == program_body::run_kind::loop)
            header_[i] = open_node_behind({builder_.last_node()});
        entry_[i] = builder_.last_node();
        enter(i, open);
    }
    void leave(program_id i, frame& at)
    {
        std::vector<node_id> const exit_nodes = exits(i, entry_[i]);
        if (tree_.body(i).kind == program_body::run_kind::loop) {
            open_node_behind(exit_nodes);
            move(i, flat_tree::move_time::again);
            builder_.add_edge(builder_.last_node(), header_[i]);
            open_node_behind({header_[i]});
        } else {
            open_node_behind(exit_nodes);
        }
        move(i, flat_tree::move_time::leave);
        ++at.bodies_done;
        if (!is_branch(i)) return;
        arms_.push_back(builder_.last_node());
        auto const bodies = bodies_.of(at.program, at.step);
        if (at.bodies_done != bodies.size() && is_branch(bodies[at.bodies_done])) return;
        std::vector<node_id> arms;
        for (std::size_t a = at.first_arm; a != arms_.size(); ++a) arms.push_back(arms_[a]);
        arms_.resize(at.first_arm);
        at.fork = no_node;
        open_node_behind(arms);
    }

    void add_step(flat_tree::step step)
    {
        flat_.step_of.resize(builder_.end_step()); // entries in between: empty nodes
        flat_.step_of.push_back(step);
    }

    void move(program_id i, flat_tree::move_time when)
    {
        auto const& inner = flat_.flat_of[i];
        auto const& outer = flat_.flat_of[tree_.body(i).parent];
        std::vector<value_copy> copies;
        for (program_body::binding const& b : tree_.body(i).bindings) {
            value_copy c{no_value, inner[b.inner]};
            if (when == flat_tree::move_time::enter && b.initial != no_value) c.from = outer[b.initial];
            if (when == flat_tree::move_time::again && b.next != no_value) c.from = inner[b.next];
            if (when == flat_tree::move_time::leave && b.result != no_value)
                c = {inner[b.inner], outer[b.result]};
            if (c.from != no_value && c.from != c.to) copies.push_back(c);
        }
        copies_.order(
            copies,
            [&](value_id from, value_id to) {
                builder_.touch(from, touch::access::use);
                bool const is_view = to < root_of_.size() && root_of_[to] != to; // else a spare value
                builder_.touch(to, is_view ? touch::access::write_view : touch::access::def);
                builder_.may_overwrite(from, to);
                flat_.moves.push_back({i, when, from, to, step_id::of(builder_.steps())});
                add_step({flat_tree::part::move, i, step_id::of(flat_.moves.size() - 1)});
            },
            [&](value_id root) {
                flat_.value_of.push_back(flat_.value_of[root]);
                SUBLET_EXPECTS(flat_.value_of.size() < no_value, "sublet: more values than 32-bit ids");
                return value_id::of(flat_.value_of.size() - 1);
            });
    }

    template <class Bodies>
    void emit_step(program_id program, step_id step, Bodies const& bodies, bool is_beginning)
    {
        snapshot const& p = tree_.program_of(program);
        auto const& flat_of = flat_.flat_of[program];
        enum : unsigned char { captured = 1, results = 2 };
        for (program_id b : bodies) {
            for (program_body::capture c : tree_.body(b).captures) mark_[flat_of[c.outer]] |= captured;
            for (program_body::binding c : tree_.body(b).bindings)
                if (c.result != no_value) mark_[flat_of[c.result]] |= results;
        }
        for (touch t : p.touches(step)) {
            value_id const v = flat_of[t.value];
            bool is_emitted = true;
            if (t.defines() && !bodies.empty()) is_emitted = mark_[v] == (is_beginning ? captured : 0);
            else if (t.kind == touch::access::use_early) is_emitted = is_beginning;
            if (is_emitted) builder_.touch(v, t.kind);
        }
        for (program_id b : bodies) {
            for (program_body::capture c : tree_.body(b).captures) mark_[flat_of[c.outer]] = 0;
            for (program_body::binding c : tree_.body(b).bindings)
                if (c.result != no_value) mark_[flat_of[c.result]] = 0;
        }
        if (bodies.empty() || !is_beginning)
            for (overwrite o : p.overwrites(step)) builder_.may_overwrite(flat_of[o.in], flat_of[o.out]);
        builder_.copy_facts(p, step, !bodies.empty());
        flat_tree::part const part = bodies.empty() ? flat_tree::part::whole
                                     : is_beginning ? flat_tree::part::beginning
                                                    : flat_tree::part::end;
        add_step({part, program, step});
    }

    /// Adds the edges inside programs and the phi operands.
    flat_tree finished()
    {
        for (program_id i = 0; i != tree_.size(); ++i) {
            snapshot const& p = tree_.program_of(i);
            for (node_id n = 0; n != p.nodes(); ++n) {
                node_id const head = head_[first_node_[i] + n], tail = tail_[first_node_[i] + n];
                if (is_list(i) && n + 1u != p.nodes())
                    builder_.add_edge(tail, head_[first_node_[i] + n + 1]);
                if (is_list(i)) continue;
                for (node_id s : p.successors(n))
                    builder_.add_edge(tail, head_[first_node_[i] + s]);
                for (edge_use u : p.edge_uses(n))
                    builder_.use_at_end_of(head, tail_[first_node_[i] + u.pred], flat_.flat_of[i][u.value]);
            }
        }
        flat_.program = builder_.program(flat_.value_of.size());
        flat_.step_of.resize(flat_.program.steps());
        return std::move(flat_);
    }

    program_tree const& tree_;
    bodies_by_step bodies_;
    flat_tree flat_;
    table<value_id, value_id> root_of_; // of each flat value: the end of its views
    copy_order copies_;
    table<value_id, unsigned char> mark_; // of each flat value, all 0 between steps

    program_builder builder_;

    table<program_id, std::size_t> first_node_; // of each program, into head_ and tail_
    std::vector<node_id> head_, tail_;          // flat: the first and the last node of a node
    table<program_id, node_id> header_;         // flat, of each program: the header of a loop
    table<program_id, node_id> entry_;          // flat, of each program: the node from which it is entered
    std::vector<node_id> arms_;                 // the last nodes of the branches of open choices
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL flat_tree flatten(program_tree const& tree,
                              table<program_id, std::vector<value_id>> const& alias_of)
{
    return detail::tree_flattener(tree, alias_of).flatten();
}

SUBLET_DECL table<program_id, snapshot> each_with_captures(program_tree const& tree)
{
    detail::capture_propagator const of(tree);
    table<program_id, snapshot> programs;
    for (program_id i = 0; i != tree.size(); ++i) programs.push_back(of.program_with_captures(i));
    return programs;
}

} // namespace sublet
