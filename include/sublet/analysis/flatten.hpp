// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

/// A tree of programs as one program with control flow: what the bodies of a step do stands between the
/// beginning of the step and its end.
///
///     once        branch                     loop
///     begin       begin ──┬──────┐           begin
///     moves in         moves   moves         moves in
///     body             body    body          again? ◄──────┐      moves in:   inner   = initial
///     moves out        moves   moves         │  └► body    │      once more:  inner   = next
///     end         end ◄───┴──────┘           │     moves ──┘      moves out:  result  = inner
///                                            moves out, end
///
/// A captured value is the outer value itself, however deep the capture; a bound one is a value of its own,
/// and the copies that bind it are steps with an in-place pair: where nothing stands against it a plan lets
/// both be the same bytes, and no copy is left. Everything else follows from liveness: what a loop reads is
/// alive throughout it, what only one branch needs is not alive in the other, what a body leaves is dead.
///
/// The copies of one place happen at once as far as the tree is concerned, here one after the other: none
/// writes what another still has to read. Where they run in a circle (x and y change places) a spare value
/// breaks it. So whoever runs the copies in the order of `moves` needs no thought of his own.
///
/// Touches of a step beside its bodies: a use holds its storage from the beginning to the end of the step, an
/// early use at the beginning only (say so of what is just handed to the bodies); a def is at the end, but
/// what a body gives as a result is defined by the body, and what a body captures (a buffer that a loop fills
/// piece by piece) is defined at the beginning.
///
/// What a backward twin reads of a forward step net's values is kept a time step at a time by the caller: in
/// the body such a value is external, or ineligible, for one storage cannot hold those of all the steps.
///
#include <sublet/analysis/aliases.hpp>
#include <sublet/analysis/copy_order.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/program_tree.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

struct tree_value {
    program_id program = 0;
    value_id value = no_value;
    friend bool operator==(tree_value, tree_value) = default;
};

enum class flat_part : std::uint8_t {
    whole,     ///< a step without bodies
    beginning, ///< of a step with bodies
    end,       ///< of a step with bodies
    move,      ///< a copy that a binding asks for
    nothing    ///< a place where paths meet
};

struct flat_step {
    flat_part part = flat_part::nothing;
    program_id program = 0; ///< of a move: the body
    step_id step = no_step; ///< of the program; of a move: its number in `moves`
    friend bool operator==(flat_step, flat_step) = default;
};

enum class move_time : std::uint8_t { enter, again, leave };

struct flat_move {
    program_id body = 0;
    move_time when = move_time::enter;
    value_id from = no_value; ///< flat
    value_id to = no_value;   ///< flat
    step_id step = no_step;   ///< flat
    friend bool operator==(flat_move, flat_move) = default;
};

struct flat_tree {
    snapshot program;
    std::vector<std::vector<value_id>> flat_of; ///< by program, by value
    /// By flat value: the outermost of its names. From `first_spare` on: the value that a copy is kept of.
    std::vector<tree_value> value_of;
    value_id first_spare = 0;
    std::vector<flat_step> step_of; ///< by flat step
    std::vector<flat_move> moves;   ///< those of one place stand together, in the order in which to do them
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

namespace detail {

/// Writes the flat program down in the order in which its text would stand on paper.
template <std::same_as<program_tree> Tree>
class tree_flattener {
public:
    tree_flattener(Tree const& tree, std::vector<std::vector<value_id>> const& alias_of)
        : tree_(tree), bodies_(tree), flat_(named(tree)), copies_(roots(alias_of)),
          mark_(flat_.value_of.size())
    {
        flat_.first_spare = static_cast<value_id>(flat_.value_of.size());
        std::size_t nodes = 0;
        for (std::size_t i = 0; i != tree.size(); ++i) {
            first_node_.push_back(nodes);
            nodes += tree.program_of(static_cast<program_id>(i)).nodes();
        }
        head_.assign(nodes, no_node);
        tail_.assign(nodes, no_node);
        header_.assign(tree.size(), no_node);
        entry_.assign(tree.size(), no_node);
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
                tail_[first_node_[at.program] + at.node] = current();
                if (++at.node != p.nodes()) begin_node(at.program, at.node);
                continue;
            }
            auto const bodies = bodies_.of(at.program, at.step);
            if (at.bodies_done == 0) say(at.program, at.step, bodies, true);
            if (at.bodies_done == bodies.size()) {
                if (!bodies.empty()) say(at.program, at.step, bodies, false);
                at.bodies_done = 0;
                ++at.step;
                continue;
            }
            enter_body(bodies[at.bodies_done], at, open);
        }
        close_node();
        return finished();
    }

private:
    struct frame {
        program_id program;
        node_id node = 0;
        step_id step = 0;
        std::size_t bodies_done = 0; // of the step
        node_id fork = no_node;      // where the paths of a choice part
        std::size_t first_arm = 0;   // of the choice, in arms_
    };
    struct edge {
        node_id from, to;
    };

    /// Names for all the values: those of a body that are not captured are new.
    static flat_tree named(Tree const& tree)
    {
        flat_tree flat;
        for (std::size_t i = 0; i != tree.size(); ++i) {
            auto const number = static_cast<program_id>(i);
            std::vector<value_id> of(tree.program_of(number).values(), no_value);
            if (i != 0) {
                auto const& outer = flat.flat_of[tree.body(number).parent];
                for (body_capture c : tree.body(number).captures) of[c.inner] = outer[c.outer];
            }
            for (std::size_t v = 0; v != of.size(); ++v) {
                if (of[v] != no_value) continue;
                of[v] = static_cast<value_id>(flat.value_of.size());
                flat.value_of.push_back({number, static_cast<value_id>(v)});
                SUBLET_EXPECTS(flat.value_of.size() < no_value, "sublet: more values than 32-bit ids");
            }
            flat.flat_of.push_back(std::move(of));
        }
        return flat;
    }

    std::vector<value_id> roots(std::vector<std::vector<value_id>> const& alias_of) const
    {
        SUBLET_EXPECTS(alias_of.empty() || alias_of.size() == tree_.size(),
                       "sublet: views are not given for each program of a tree");
        auto flat_alias = [&](value_id v) {
            auto const [program, value] = flat_.value_of[v];
            if (alias_of.empty()) return no_value;
            value_id const to = alias_of[program][value];
            SUBLET_EXPECTS(to == no_value || to < flat_.flat_of[program].size(),
                           "sublet: alias_of names a value that does not exist");
            return to == no_value ? no_value : flat_.flat_of[program][to];
        };
        buffer_classes const classes = aliases(flat_.value_of.size(), flat_alias);
        std::vector<value_id> root_of;
        for (buffer_id b : classes.buffer_of) root_of.push_back(classes.root[b]);
        return root_of;
    }

    // --- nodes and edges ---

    node_id current() const { return static_cast<node_id>(node_end_.size()); }
    void close_node()
    {
        std::size_t const first = node_end_.empty() ? 0 : node_end_.back();
        if (flat_.step_of.size() == first && !is_before_first_) add_step({});
        if (!is_before_first_) node_end_.push_back(flat_.step_of.size());
    }
    node_id open_node()
    {
        close_node();
        is_before_first_ = false;
        return current();
    }
    /// A new node to which the paths from all these lead.
    node_id open_node_behind(std::vector<node_id> const& before)
    {
        node_id const opened = open_node();
        for (node_id from : before) edges_.push_back({from, opened});
        return opened;
    }
    void begin_node(program_id program, node_id node) { head_[first_node_[program] + node] = open_node(); }

    bool is_list(program_id i) const { return tree_.program_of(i).graph().items() == 0; }
    /// Where a program, all of which is written down, is left; `entry` if it is empty.
    std::vector<node_id> exits(program_id i, node_id entry) const
    {
        snapshot const& p = tree_.program_of(i);
        std::vector<node_id> found;
        if (p.nodes() == 0) found.push_back(entry);
        for (std::size_t n = is_list(i) && p.nodes() != 0 ? p.nodes() - 1 : 0; n != p.nodes(); ++n)
            if (p.successors(static_cast<node_id>(n)).empty()) found.push_back(tail_[first_node_[i] + n]);
        return found;
    }

    // --- bodies ---

    bool is_branch(program_id i) const { return tree_.body(i).kind == body_kind::branch; }

    void enter(program_id i, std::vector<frame>& open)
    {
        if (tree_.program_of(i).nodes() != 0) {
            if (!is_before_first_) edges_.push_back({current(), current() + 1});
            begin_node(i, 0);
        }
        open.push_back({i});
    }
    void enter_body(program_id i, frame& at, std::vector<frame>& open)
    {
        if (is_branch(i)) {
            if (at.fork == no_node) {
                at.fork = current();
                at.first_arm = arms_.size();
            }
            open_node_behind({at.fork});
        }
        move(i, move_time::enter);
        if (tree_.body(i).kind == body_kind::loop) header_[i] = open_node_behind({current()});
        entry_[i] = current();
        enter(i, open);
    }
    void leave(program_id i, frame& at)
    {
        std::vector<node_id> const left = exits(i, entry_[i]);
        if (tree_.body(i).kind == body_kind::loop) {
            open_node_behind(left);
            move(i, move_time::again);
            edges_.push_back({current(), header_[i]});
            open_node_behind({header_[i]});
        } else {
            open_node_behind(left);
        }
        move(i, move_time::leave);
        ++at.bodies_done;
        if (!is_branch(i)) return;
        arms_.push_back(current());
        auto const bodies = bodies_.of(at.program, at.step);
        if (at.bodies_done != bodies.size() && is_branch(bodies[at.bodies_done])) return;
        std::vector<node_id> arms;
        for (std::size_t a = at.first_arm; a != arms_.size(); ++a) arms.push_back(arms_[a]);
        arms_.resize(at.first_arm);
        at.fork = no_node;
        open_node_behind(arms);
    }

    // --- steps ---

    void add_step(flat_step step)
    {
        flat_.step_of.push_back(step);
        SUBLET_EXPECTS(flat_.step_of.size() < no_step, "sublet: more steps than 32-bit ids");
        touch_end_.push_back(touches_.size());
        pair_end_.push_back(pairs_.size());
    }

    void move(program_id i, move_time when)
    {
        auto const& inner = flat_.flat_of[i];
        auto const& outer = flat_.flat_of[tree_.body(i).parent];
        std::vector<value_copy> copies;
        for (body_binding const& b : tree_.body(i).bindings) {
            value_copy c{no_value, inner[b.inner]};
            if (when == move_time::enter && b.initial != no_value) c.from = outer[b.initial];
            if (when == move_time::again && b.next != no_value) c.from = inner[b.next];
            if (when == move_time::leave && b.result != no_value) c = {inner[b.inner], outer[b.result]};
            if (c.from != no_value && c.from != c.to) copies.push_back(c);
        }
        copies_.order(
            copies,
            [&](value_id from, value_id to) {
                touches_.push_back({from, touch_kind::use});
                touches_.push_back({to, touch_kind::def});
                pairs_.push_back({0, from, to});
                auto const number = static_cast<step_id>(flat_.moves.size());
                flat_.moves.push_back({i, when, from, to, static_cast<step_id>(flat_.step_of.size())});
                add_step({flat_part::move, i, number});
            },
            [&](value_id root) {
                flat_.value_of.push_back(flat_.value_of[root]);
                SUBLET_EXPECTS(flat_.value_of.size() < no_value, "sublet: more values than 32-bit ids");
                return static_cast<value_id>(flat_.value_of.size() - 1);
            });
    }

    /// A step, or one of its ends.
    template <class Bodies>
    void say(program_id program, step_id step, Bodies const& bodies, bool is_beginning)
    {
        snapshot const& p = tree_.program_of(program);
        auto const& flat_of = flat_.flat_of[program];
        enum : unsigned char { captured = 1, given = 2 };
        for (program_id b : bodies) {
            for (body_capture c : tree_.body(b).captures) mark_[flat_of[c.outer]] |= captured;
            for (body_binding c : tree_.body(b).bindings)
                if (c.result != no_value) mark_[flat_of[c.result]] |= given;
        }
        for (touch t : p.touches(step)) {
            value_id const v = flat_of[t.value];
            bool is_said = true;
            if (t.kind == touch_kind::def && !bodies.empty())
                is_said = mark_[v] == (is_beginning ? captured : 0);
            else if (t.kind == touch_kind::use_early) is_said = is_beginning;
            if (is_said) touches_.push_back({v, t.kind});
        }
        for (program_id b : bodies) {
            for (body_capture c : tree_.body(b).captures) mark_[flat_of[c.outer]] = 0;
            for (body_binding c : tree_.body(b).bindings)
                if (c.result != no_value) mark_[flat_of[c.result]] = 0;
        }
        if (bodies.empty() || !is_beginning)
            for (overwrite o : p.overwrites(step)) pairs_.push_back({0, flat_of[o.in], flat_of[o.out]});
        flat_part const part = bodies.empty() ? flat_part::whole
                               : is_beginning ? flat_part::beginning
                                              : flat_part::end;
        add_step({part, program, step});
    }

    flat_tree finished()
    {
        for (std::size_t i = 0; i != tree_.size(); ++i) {
            snapshot const& p = tree_.program_of(static_cast<program_id>(i));
            for (std::size_t n = 0; n != p.nodes(); ++n) {
                node_id const tail = tail_[first_node_[i] + n];
                if (is_list(static_cast<program_id>(i)) && n + 1 != p.nodes())
                    edges_.push_back({tail, head_[first_node_[i] + n + 1]});
                for (node_id s : p.successors(static_cast<node_id>(n)))
                    edges_.push_back({tail, head_[first_node_[i] + s]});
            }
        }
        csr_rows const successors = csr_rows::gathered(node_end_.size(), [this](auto add) {
            for (edge e : edges_) add(e.from, e.to);
        });
        std::vector<node_id> program_of_head(node_end_.size(), no_node); // whose operands are used before it
        std::vector<node_id> node_of_head(node_end_.size(), no_node);
        for (std::size_t i = 0; i != tree_.size(); ++i)
            for (std::size_t n = 0; n != tree_.program_of(static_cast<program_id>(i)).nodes(); ++n) {
                program_of_head[head_[first_node_[i] + n]] = static_cast<program_id>(i);
                node_of_head[head_[first_node_[i] + n]] = static_cast<node_id>(n);
            }
        flat_.program = flow(
            node_end_.size(), flat_.value_of.size(), [&](node_id n) { return successors[n]; },
            [&](node_id n, effect_sink& sink) {
                std::size_t const first = n == 0 ? 0 : node_end_[n - 1];
                for (std::size_t s = first; s != node_end_[n]; ++s) {
                    if (s != first) sink.next_step();
                    say_step(s, sink);
                }
                program_id const i = program_of_head[n];
                if (i == no_node) return;
                for (edge_use u : tree_.program_of(i).edge_uses(node_of_head[n]))
                    sink.use_at_end_of(tail_[first_node_[i] + u.pred], flat_.flat_of[i][u.value]);
            });
        return std::move(flat_);
    }
    void say_step(std::size_t s, effect_sink& sink) const
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

    Tree const& tree_;
    bodies_by_step bodies_;
    flat_tree flat_;
    copy_order<value_copy> copies_;
    std::vector<unsigned char> mark_; // by flat value, all 0 between steps

    std::vector<std::size_t> first_node_; // by program, into head_ and tail_
    std::vector<node_id> head_, tail_;    // flat: where a node begins and where it ends
    std::vector<node_id> header_;         // flat, by program: where a loop begins again
    std::vector<node_id> entry_;          // flat, by program: from where it is entered
    std::vector<node_id> arms_;           // the ends of branches whose choice goes on

    bool is_before_first_ = true;
    std::vector<std::size_t> node_end_;             // into steps
    std::vector<std::size_t> touch_end_, pair_end_; // by step
    std::vector<touch> touches_;
    std::vector<overwrite> pairs_;
    std::vector<edge> edges_;
};

} // namespace detail

/// Requires:   `alias_of`, by program and value, says what is a view of what, as in plan_options; it may be
///             left out where there are no views. What it says of captured values is not asked.
/// Ensures:    the steps of the flat program stand in the order of the text: parents around their bodies,
/// each
///             body where its step is.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies. No recursion: nesting may be as
///             deep as memory.
/// Throws:     precondition_error where views are not as plan_options asks, or for more values or steps than
///             32-bit ids.
template <std::same_as<program_tree> Tree>
[[nodiscard]] flat_tree flatten(Tree const& tree, std::vector<std::vector<value_id>> const& alias_of = {})
{
    return detail::tree_flattener<Tree>(tree, alias_of).flatten();
}

} // namespace sublet

#endif
