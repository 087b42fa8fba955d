// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_IMPL_WITH_CAPTURES_IPP
#define SUBLET_ANALYSIS_IMPL_WITH_CAPTURES_IPP

#include <sublet/analysis/with_captures.hpp>
#include <sublet/contract.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

#include <cstddef>

namespace sublet::detail {

SUBLET_DECL std::vector<std::vector<unsigned char>> written_in(program_tree const& tree)
{
    std::vector<std::vector<unsigned char>> written(tree.size());
    for (std::size_t i = 0; i != tree.size(); ++i)
        written[i].resize(tree.program_of(static_cast<program_id>(i)).values());
    for (std::size_t i = tree.size(); i-- != 0;) { // bodies before what they are nested in
        snapshot const& p = tree.program_of(static_cast<program_id>(i));
        for (touch t : p.touches({0, static_cast<step_id>(p.steps())}))
            if (t.kind == touch_kind::def) written[i][t.value] = 1;
        if (i == 0) break;
        program_body const& how = tree.body(static_cast<program_id>(i));
        for (body_binding b : how.bindings) {
            written[i][b.inner] = 1;
            if (b.result != no_value) written[how.parent][b.result] = 1;
        }
        for (body_capture c : how.captures) written[how.parent][c.outer] |= written[i][c.inner];
    }
    return written;
}

/// Makes one program of a tree after the other; what is asked of the whole tree is asked once.
class capture_joiner {
public:
    explicit capture_joiner(program_tree const& tree) : tree_(tree), written_(written_in(tree)), bodies_(tree)
    {
    }

    snapshot joined(program_id program) const
    {
        snapshot const& p = tree_.program_of(program);
        auto has_touch = [&p](step_id step, value_id v, touch_kind kind) {
            for (touch t : p.touches(step))
                if (t.value == v && t.kind == kind) return true;
            return false;
        };
        auto gives = [this](program_id body, value_id result) {
            for (body_binding b : tree_.body(body).bindings)
                if (b.result == result) return true;
            return false;
        };
        auto is_branch = [this](program_id body) { return tree_.body(body).kind == body_kind::branch; };
        auto effects = [&](node_id n, effect_sink& sink) {
            step_range const steps = p.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s) {
                if (s != steps.first) sink.next_step();
                for (touch t : p.touches(s)) {
                    if (t.kind == touch_kind::def) sink.def(t.value);
                    else if (t.kind == touch_kind::use) sink.use(t.value);
                    else sink.use_early(t.value);
                }
                auto use = [&](value_id v) {
                    if (!has_touch(s, v, touch_kind::use)) sink.use(v);
                };
                auto def = [&](value_id v) {
                    if (!has_touch(s, v, touch_kind::def)) sink.def(v);
                };
                auto const nested = bodies_.of(program, s);
                for (std::size_t b = 0; b != nested.size(); ++b) {
                    program_body const& body = tree_.body(nested[b]);
                    for (body_capture c : body.captures) {
                        if (!has_touch(s, c.outer, touch_kind::def)) use(c.outer);
                        if (written_[nested[b]][c.inner] != 0) def(c.outer);
                    }
                    std::size_t first = b, last = b + 1; // the bodies that are one choice
                    while (is_branch(nested[b]) && first != 0 && is_branch(nested[first - 1])) --first;
                    while (is_branch(nested[b]) && last != nested.size() && is_branch(nested[last])) ++last;
                    for (body_binding i : body.bindings) {
                        if (i.initial != no_value) use(i.initial);
                        if (i.result == no_value) continue;
                        def(i.result);
                        for (std::size_t other = first; other != last; ++other)
                            if (!gives(nested[other], i.result)) use(i.result); // not written on every path
                    }
                }
                for (overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            }
            for (edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
        };
        return flow(
            p.nodes(), p.values(), [&p](node_id n) { return p.successors(n); }, effects);
    }

private:
    program_tree const& tree_;
    std::vector<std::vector<unsigned char>> written_;
    bodies_by_step bodies_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL snapshot with_captures(program_tree const& tree, program_id program)
{
    SUBLET_EXPECTS(program < tree.size(), "sublet: a program is not in the tree");
    return detail::capture_joiner(tree).joined(program);
}

SUBLET_DECL std::vector<snapshot> each_with_captures(program_tree const& tree)
{
    detail::capture_joiner const of(tree);
    std::vector<snapshot> programs;
    for (std::size_t i = 0; i != tree.size(); ++i) programs.push_back(of.joined(static_cast<program_id>(i)));
    return programs;
}

} // namespace sublet

#endif
