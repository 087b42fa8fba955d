// SPDX-License-Identifier: BSL-1.0

/// Bodies come after their parents, so one pass from the last program to the first tells what each writes,
/// and whether it may run again, with all that is nested in it.

#include <sublet/analysis/detail/captures.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// By program and value: whether a step of the program or of a nested body writes it.
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

SUBLET_DECL capture_propagator::capture_propagator(program_tree const& tree)
    : tree_(tree), written_(written_in(tree)), recomputable_(recomputable_programs(tree)), bodies_(tree)
{
}

SUBLET_DECL snapshot capture_propagator::program_with_captures(program_id program) const
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
                copy_step_facts(p, s, sink);
            } else {
                each_step_fact([&](step_fact const& fact) { (sink.*fact.say)(fact.of_border); });
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
                        if (!has_result(nested[other], i.result)) use(i.result); // not written on every path
                }
            }
            for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
        }
        for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    };
    return with_effects(p, p.values(), effects);
}

SUBLET_DECL snapshot with_captures(program_tree const& tree, program_id program)
{
    SUBLET_EXPECTS(program < tree.size(), "sublet: program % is asked for in a tree of %", program,
                   tree.size());
    return capture_propagator(tree).program_with_captures(program);
}

} // namespace sublet::detail
