// SPDX-License-Identifier: BSL-1.0

/// A body is checked before it is added: ids against both programs, and values that may be named once by
/// sorting them. What phis read at the ends of nodes is read by steps, unless nodes are control flow.

#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>
#include <vector>

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
    detail::sort_ascending(values);
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

} // namespace sublet
