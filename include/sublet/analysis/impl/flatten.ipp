// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/copy_order.hpp>
#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

// --- program tree ----------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL program_id program_tree::add_body(program_id parent, step_id step, program_body::run_kind kind,
                                              snapshot const& body,
                                              std::vector<program_body::capture> captures,
                                              std::vector<program_body::binding> bindings)
{
    SUBLET_EXPECTS(parent < size(), "sublet: a body has the parent %, but there are only % programs", parent,
                   size());
    SUBLET_EXPECTS(step < program_of(parent).steps(),
                   "sublet: a body is nested in step %, but there are only % steps", step,
                   program_of(parent).steps());
    SUBLET_EXPECTS(size() < no_node, "sublet: more programs than 32-bit ids");
    expect_valid_bindings(program_of(parent).values(), body.values(), kind, captures, bindings);
    nested_.push_back({as_listed(body), {parent, step, kind, std::move(captures), std::move(bindings)}});
    return program_id::of(size() - 1);
}

SUBLET_DECL snapshot program_tree::as_listed(snapshot const& p)
{
    detail::expect_forward_edges(p);
    bool const is_flow = p.edges() == edge_meaning::control_flow;
    return is_flow || p.edge_uses().empty() ? p : detail::with_reads_in_steps(p);
}

SUBLET_DECL bool program_tree::are_distinct(std::vector<value_id>& values)
{
    sort_ascending(values);
    for (std::size_t i = 1; i < values.size(); ++i)
        if (values[i] == values[i - 1]) return false;
    return true;
}

SUBLET_DECL void program_tree::expect_valid_bindings(std::size_t outer, std::size_t inner,
                                                     program_body::run_kind kind,
                                                     std::vector<program_body::capture> const& captures,
                                                     std::vector<program_body::binding> const& bindings)
{
    std::vector<value_id> inner_values, results;
    auto add_inner = [&](value_id v) {
        SUBLET_EXPECTS(v < inner, "sublet: a body captures or binds value %, but it has only % values", v,
                       inner);
        inner_values.push_back(v);
    };
    for (program_body::capture c : captures) {
        add_inner(c.inner);
        SUBLET_EXPECTS(c.outer < outer, "sublet: a body captures value %, but its parent has only % values",
                       c.outer, outer);
    }
    for (program_body::binding b : bindings) {
        add_inner(b.inner);
        SUBLET_EXPECTS((b.initial == no_value || b.initial < outer) &&
                           (b.result == no_value || b.result < outer),
                       "sublet: a body is bound to a value that its parent does not have");
        SUBLET_EXPECTS(b.next == no_value || b.next < inner,
                       "sublet: the next value of a loop is %, but its body has only % values", b.next,
                       inner);
        SUBLET_EXPECTS(b.next == no_value || kind == program_body::run_kind::loop,
                       "sublet: only a loop has a next value");
        if (b.result != no_value) results.push_back(b.result);
    }
    SUBLET_EXPECTS(are_distinct(inner_values), "sublet: a value of a body is captured or bound twice");
    SUBLET_EXPECTS(are_distinct(results), "sublet: two bindings of a body give the same result");
}

namespace detail {

SUBLET_DECL bodies_by_step::bodies_by_step(program_tree const& tree)
{
    std::vector<detail::sort_key> sorted;
    for (program_id i = 1; i != tree.size(); ++i) {
        program_body const& b = tree.body(i);
        sorted.push_back({b.parent, b.step, i});
    }
    sort_by_key(sorted);
    for (detail::sort_key const& k : sorted) {
        key_.push_back(k.key << 32 | k.tie);
        body_.push_back(k.id);
    }
}

SUBLET_DECL std::span<program_id const> bodies_by_step::of(program_id parent, step_id step) const
{
    std::uint64_t const key = std::uint64_t{parent} << 32 | step;
    std::size_t const first =
        detail::partition_point(key_.size(), [&](std::size_t i) { return key_[i] >= key; });
    std::size_t const last =
        detail::partition_point(key_.size(), [&](std::size_t i) { return key_[i] > key; });
    return {body_.data() + first, body_.data() + last};
}

// --- tree values -----------------------------------------------------------------------------------------

SUBLET_DECL tree_values number_values(program_tree const& tree)
{
    tree_values numbered;
    for (program_id i = 0; i != tree.size(); ++i) {
        table<value_id, value_id> of(tree.program_of(i).values(), no_value);
        if (i != 0) { // the parent has been numbered
            auto const& outer = numbered.flat_of[tree.body(i).parent];
            for (program_body::capture c : tree.body(i).captures) of[c.inner] = outer[c.outer];
        }
        for (value_id v = 0; v != of.size(); ++v) {
            if (of[v] != no_value) continue;
            of[v] = value_id::of(numbered.value_of.size());
            numbered.value_of.push_back({i, v});
            SUBLET_EXPECTS(numbered.value_of.size() < no_value, "sublet: more values than 32-bit ids");
        }
        numbered.flat_of.push_back(std::move(of));
    }
    return numbered;
}

SUBLET_DECL table<value_id, value_id> view_roots(tree_values const& values,
                                                 table<program_id, std::vector<value_id>> const& alias_of)
{
    SUBLET_EXPECTS(alias_of.empty() || alias_of.size() == values.flat_of.size(),
                   "sublet: alias_of has % entries for a tree of % programs", alias_of.size(),
                   values.flat_of.size());
    auto flat_alias = [&](value_id v) {
        auto const [program, value] = values.value_of[v];
        if (alias_of.empty()) return no_value;
        value_id const to = alias_of[program][value];
        SUBLET_EXPECTS(to == no_value || to < values.flat_of[program].size(),
                       "sublet: a view of program % names value %, but it has only % values", program, to,
                       values.flat_of[program].size());
        return to == no_value ? no_value : values.flat_of[program][to];
    };
    buffer_classes const classes = aliases(values.value_of.size(), flat_alias);
    table<value_id, value_id> root_of;
    for (buffer_id b : classes.buffer_of) root_of.push_back(classes.root[b]);
    return root_of;
}

} // namespace detail

} // namespace sublet

// --- flatten ---------------------------------------------------------------------------------------------

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

} // namespace sublet

// --- with captures ---------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL table<program_id, table<value_id, unsigned char>> written_in(program_tree const& tree)
{
    table<program_id, table<value_id, unsigned char>> written(tree.size());
    for (program_id i = 0; i != tree.size(); ++i) written[i].resize(tree.program_of(i).values());
    for (auto i = program_id::of(tree.size()); i-- != 0;) { // bodies before their parents
        snapshot const& p = tree.program_of(i);
        for (touch t : p.touches({0, step_id::of(p.steps())}))
            if (t.defines() || t.writes()) written[i][t.value] = 1;
        if (i == 0) break;
        program_body const& body = tree.body(i);
        for (program_body::binding b : body.bindings) {
            written[i][b.inner] = 1;
            if (b.result != no_value) written[body.parent][b.result] = 1;
        }
        for (program_body::capture c : body.captures) written[body.parent][c.outer] |= written[i][c.inner];
    }
    return written;
}

/// Of each program: each of its steps, and of those of its nested bodies, may run again.
SUBLET_DECL table<program_id, unsigned char> recomputable_programs(program_tree const& tree)
{
    table<program_id, unsigned char> recomputable(tree.size(), 1);
    for (auto i = program_id::of(tree.size()); i-- != 0;) { // bodies before their parents
        snapshot const& p = tree.program_of(i);
        for (step_id s = 0; s != p.steps(); ++s) recomputable[i] &= p.may_recompute(s);
        if (i != 0) recomputable[tree.body(i).parent] &= recomputable[i];
    }
    return recomputable;
}

/// Makes each program of a tree with captures; tables of the whole tree are computed once.
class capture_propagator {
public:
    explicit capture_propagator(program_tree const& tree)
        : tree_(tree), written_(written_in(tree)), recomputable_(recomputable_programs(tree)), bodies_(tree)
    {
    }

    snapshot program_with_captures(program_id program) const
    {
        snapshot const& p = tree_.program_of(program);
        auto has_touch = [&p](step_id step, value_id v, touch::access kind) {
            for (touch t : p.touches(step))
                if (t.value == v && t.kind == kind) return true;
            return false;
        };
        auto has_result = [this](program_id body, value_id result) {
            for (program_body::binding b : tree_.body(body).bindings)
                if (b.result == result) return true;
            return false;
        };
        auto is_branch = [this](program_id body) {
            return tree_.body(body).kind == program_body::run_kind::branch;
        };
        auto effects = [&](node_id n, effect_sink& sink) {
            step_range const steps = p.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s) {
                if (s != steps.first) sink.next_step();
                for (touch t : p.touches(s)) sink.add(t.kind, t.value);
                auto use = [&](value_id v) {
                    if (!has_touch(s, v, touch::access::use)) sink.use(v);
                };
                auto def = [&](value_id v) {
                    if (!has_touch(s, v, touch::access::def)) sink.def(v);
                };
                auto const nested = bodies_.of(program, s);
                if (nested.empty()) {
                    detail::copy_step_facts(p, s, sink);
                } else {
                    detail::each_step_fact(
                        [&](detail::step_fact const& fact) { (sink.*fact.say)(fact.of_border); });
                    bool is_recomputable = p.may_recompute(s); // with all of its bodies
                    for (program_id body : nested) is_recomputable = is_recomputable && recomputable_[body];
                    sink.may_recompute(is_recomputable);
                }
                for (std::size_t b = 0; b != nested.size(); ++b) {
                    program_body const& body = tree_.body(nested[b]);
                    for (program_body::capture c : body.captures) {
                        if (!has_touch(s, c.outer, touch::access::def)) use(c.outer);
                        if (written_[nested[b]][c.inner] != 0) def(c.outer);
                    }
                    std::size_t first = b, last = b + 1; // the branches of one choice
                    while (is_branch(nested[b]) && first != 0 && is_branch(nested[first - 1])) --first;
                    while (is_branch(nested[b]) && last != nested.size() && is_branch(nested[last])) ++last;
                    for (program_body::binding i : body.bindings) {
                        if (i.initial != no_value) use(i.initial);
                        if (i.result == no_value) continue;
                        def(i.result);
                        for (std::size_t other = first; other != last; ++other)
                            if (!has_result(nested[other], i.result))
                                use(i.result); // not written on every path
                    }
                }
                for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
        };
        return with_effects(p, p.values(), effects);
    }

private:
    program_tree const& tree_;
    table<program_id, table<value_id, unsigned char>> written_;
    table<program_id, unsigned char> recomputable_;
    bodies_by_step bodies_;
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL snapshot with_captures(program_tree const& tree, program_id program)
{
    SUBLET_EXPECTS(program < tree.size(), "sublet: program % is asked for in a tree of %", program,
                   tree.size());
    return detail::capture_propagator(tree).program_with_captures(program);
}

} // namespace detail

SUBLET_DECL table<program_id, snapshot> each_with_captures(program_tree const& tree)
{
    detail::capture_propagator const of(tree);
    table<program_id, snapshot> programs;
    for (program_id i = 0; i != tree.size(); ++i) programs.push_back(of.program_with_captures(i));
    return programs;
}

} // namespace sublet
