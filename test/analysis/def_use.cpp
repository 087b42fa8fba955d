// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/live_query.hpp>

#include "../dice.hpp"
#include "archetype.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using ids = std::vector<std::uint32_t>;

ids listed(std::span<std::uint32_t const> row) { return ids(row.begin(), row.end()); }

} // namespace

TEST_CASE("a value knows the steps that write it and those that read it, a step twice that reads it twice")
{
    std::vector<ids> const uses = {{}, {0}, {1, 1}, {0}}, defs = {{0}, {1}, {}, {}};
    def_use_chains const chains = def_use(sequence(
        4, 3, [&](auto s) { return uses[s]; }, [&](auto s) { return defs[s]; }));
    CHECK(listed(chains.defs[0]) == ids{0});
    CHECK(listed(chains.uses[0]) == ids{1, 3});
    CHECK(listed(chains.uses[1]) == ids{2, 2});
    CHECK(chains.defs[2].empty());
    CHECK(chains.uses[2].empty());
    CHECK(chains.node_of == ids{0, 1, 2, 3});
}

TEST_CASE("what a phi takes from a predecessor is used at the end of that, by no step")
{
    auto next = [](node_id n) { return n == 0 ? ids{1} : ids{}; };
    auto effects = [](node_id n, effect_sink& s) {
        s.def(n);
        if (n == 0) {
            s.next_step();
            s.use_early(0);
        } else {
            s.use_at_end_of(0, 0);
        }
    };
    def_use_chains const chains = def_use(flow(2, 2, next, effects));
    CHECK(listed(chains.uses[0]) == ids{1});
    CHECK(listed(chains.uses_at_end[0]) == ids{0});
    CHECK(chains.uses_at_end[1].empty());
    CHECK(chains.node_of == ids{0, 0, 1});
}

TEST_CASE("nothing has no chains, and the poorest program has some")
{
    CHECK(def_use(snapshot()).node_of.empty());
    CHECK(listed(def_use(archetype::program(3)).uses[1]) == ids{2});
}

TEST_CASE("random programs: each touch is listed once under its value, in the order of the steps")
{
    for (unsigned seed = 0; seed != rounds(300); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        def_use_chains const chains = def_use(p);
        for (value_id v = 0; v != p.values(); ++v) {
            ids uses, defs, nodes;
            for (node_id n = 0; n != p.nodes(); ++n)
                for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
                    CHECK(chains.node_of[s] == n);
                    for (touch t : p.touches(s))
                        if (t.value == v) (t.kind == touch::access::def ? defs : uses).push_back(s);
                }
            for (edge_use u : p.edge_uses())
                if (u.value == v) nodes.push_back(u.pred);
            CHECK(listed(chains.uses[v]) == uses);
            CHECK(listed(chains.defs[v]) == defs);
            CHECK(listed(chains.uses_at_end[v]) == nodes);
        }
    }
}

} // namespace this_test
