// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_OPERATIONS_HPP
#define SUBLET_TEST_OPERATIONS_HPP

#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

using lists = std::vector<std::vector<int>>;

/// A list of operations, given by uses and defs.
inline sublet::snapshot op_list(std::size_t values, lists const& uses, lists const& defs)
{
    return sublet::sequence(
        uses.size(),
        values, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
}

/// Results of a step: each is made, or is a view of a value that is there. It may read others: no write is
/// forgotten.
template <class Results, class AliasOf>
void add_results(sublet::effect_sink& sink, Results const& results, AliasOf const& alias_of)
{
    for (auto v : results)
        if (alias_of[v] == sublet::no_value) sink.def(v);
        else sink.view(v);
    sink.only_views();
}

/// The steps of a node, from lists of what each touches.
template <class Steps, class AliasOf>
void list_steps(sublet::effect_sink& sink, Steps const& steps, AliasOf const& alias_of)
{
    for (std::size_t i = 0; i != steps.size(); ++i) {
        if (i != 0) sink.next_step();
        auto const& its = steps[i];
        for (auto v : its.uses) sink.use(v);
        for (auto v : its.early) sink.use_early(v);
        add_results(sink, its.defs, alias_of);
        if constexpr (requires { its.scratch; })
            for (auto v : its.scratch) sink.allocate(v);
        for (auto [in, out] : its.pairs) sink.may_overwrite(in, out);
        if constexpr (requires { its.may_recompute; }) sink.may_recompute(its.may_recompute);
    }
}

/// The program in which a step that defines a view makes it, and writes through it if `writes`; then it does
/// not read it.
inline sublet::snapshot with_views(sublet::snapshot const& p, std::vector<sublet::value_id> const& alias_of,
                                   bool writes = false)
{
    using sublet::touch;
    return sublet::detail::with_effects(p, p.values(), [&](sublet::node_id n, sublet::effect_sink& sink) {
        sublet::step_range const steps = p.steps_of(n);
        for (sublet::step_id s = steps.first; s != steps.last; ++s) {
            if (s != steps.first) sink.next_step();
            for (touch t : p.touches(s)) {
                bool is_made_here = false;
                for (touch u : p.touches(s))
                    is_made_here = is_made_here || (u.defines() && u.value == t.value);
                bool const is_own_view = is_made_here && alias_of[t.value] != sublet::no_value;
                if (writes && is_own_view && !t.defines()) continue;
                bool const is_view = t.kind == touch::access::def && alias_of[t.value] != sublet::no_value;
                if (!is_view) sink.add(t.kind, t.value);
                else sink.add(writes ? touch::access::write_view : touch::access::view, t.value);
            }
            for (sublet::overwrite o : p.overwrites(s)) sink.may_overwrite(o.in, o.out);
            sink.only_views();
        }
        for (sublet::edge_use u : p.edge_uses(n)) sink.use_at_end_of(u.pred, u.value);
    });
}

struct operation {
    std::vector<sublet::value_id> uses, defs;
    std::vector<std::pair<sublet::value_id, sublet::value_id>> overwrites = {}; ///< operand, result
    std::vector<sublet::value_id> early = {}; ///< used before anything is written

    friend bool operator==(operation const&, operation const&) = default;
};

inline sublet::snapshot program_of(std::vector<operation> const& operations, std::size_t values)
{
    return sublet::sequence(operations.size(), values, [&](auto s, sublet::effect_sink& sink) {
        for (auto v : operations[s].uses) sink.use(v);
        for (auto v : operations[s].early) sink.use_early(v);
        for (auto v : operations[s].defs) sink.def(v);
        for (auto [operand, result] : operations[s].overwrites) sink.may_overwrite(operand, result);
    });
}

/// With the number of values that the operations name.
inline sublet::snapshot program_of(std::vector<operation> const& operations)
{
    std::size_t values = 0;
    for (operation const& o : operations)
        for (auto const* row : {&o.uses, &o.defs})
            for (auto v : *row) values = std::max<std::size_t>(values, v + 1);
    return program_of(operations, values);
}

#endif
