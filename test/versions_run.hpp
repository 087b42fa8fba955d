// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_VERSIONS_RUN_HPP
#define SUBLET_TEST_VERSIONS_RUN_HPP

/// Runs the versions of a program with names, in a random order that its dependences allow.

#include "random_names.hpp"
#include "random_source.hpp"
#include "view_sizes.hpp"

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/versions.hpp>

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

inline sublet::detail::version_options version_options_of(random_names const& names)
{
    return {.role = names.role,
            .alias_of = names.alias_of,
            .same_storage = names.same_storage,
            .order = names.order};
}

/// The storage of versions if each has its own, and views have that of their root.
inline std::vector<sublet::value_id> roots_of(sublet::versioned_program const& made)
{
    std::vector<sublet::value_id> roots;
    for (sublet::value_id v = 0; v != made.value_of.size(); ++v) roots.push_back(root_of(made.alias_of, v));
    return roots;
}

/// Every read must equal that of the program with names, and so must the final contents; version v lies in
/// cell `cell_of[v]`.
template <class Cells, class RandomSource>
void run_in_any_order(random_names const& names, names_run const& expected,
                      sublet::versioned_program const& made, sublet::dependence_graph const& g,
                      Cells const& cell_of, RandomSource& pick)
{
    using namespace sublet;
    using namespace sublet::detail;
    using content = names_run::content;
    snapshot const& p = made.program;
    std::vector<content> cell(p.values());
    for (value_id v = names.values(); v-- != 0;) // views last
        if (is_given(names.role[v])) cell[cell_of[v]] = names_run::given(v);

    std::vector<std::vector<content>> reads(p.steps());
    for (step_id s = 0; s != p.steps(); ++s) reads[s].resize(expected.reads[s].size());
    std::vector<std::size_t> waits;
    std::vector<position_id> ready;
    for (position_id at = 0; at != g.positions(); ++at) {
        waits.push_back(g.before[at].size());
        if (waits[at] == 0) ready.push_back(at);
    }
    std::vector<bool> ends_node(p.steps());
    for (node_id n = 0; n != p.nodes(); ++n) ends_node[p.steps_of(n).last - 1] = true;
    while (!ready.empty()) {
        std::size_t const drawn = pick.below(static_cast<unsigned>(ready.size()));
        position_id const at = ready[drawn];
        step_id const s = g.step_at[at];
        ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(drawn));
        bool const is_late = g.position_of[s] == at;
        auto const touches = p.touches(s);
        for (std::size_t i = 0; i != reads[s].size(); ++i)
            if ((touches[i].kind == touch::access::use_early) != is_late)
                reads[s][i] = cell[cell_of[touches[i].value]];
        if (is_late) {
            REQUIRE(reads[s] == expected.reads[s]);
            for (std::size_t i = reads[s].size(); i != touches.size(); ++i) {
                std::size_t first = reads[s].size();
                while (touches[first].value != touches[i].value) ++first;
                if (!expected.makes_view[s][i])
                    cell[cell_of[touches[i].value]] = names_run::written(s, first, reads[s]);
            }
            if (ends_node[s])
                for (std::size_t i = 0; i != p.edge_uses().size(); ++i)
                    if (edge_use const u = p.edge_uses()[i]; p.steps_of(u.pred).last - 1 == s)
                        REQUIRE(cell[cell_of[u.value]] == expected.reads_at_end[i]);
        }
        for (position_id next : g.after[at])
            if (--waits[next] == 0) ready.push_back(next);
    }
    for (value_id v = 0; v != names.values(); ++v) {
        bool const lasts =
            has_role(names.role[v], value_role::output) || has_role(names.role[v], value_role::external);
        if (lasts) REQUIRE(cell[cell_of[made.last[v]]] == expected.left[v]);
    }
}

#endif
