// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/copy_order.hpp>

#include "../dice.hpp"
#include "random_flow.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

TEST_CASE("what is written down node by node is the program that a factory makes of it")
{
    program_draft draft;
    CHECK(draft.open_node() == 0);
    draft.add_edge(0, 2); // which is not there yet
    draft.add_edge(0, 1);
    draft.touch(0, touch::access::def);
    CHECK(draft.end_step() == 0);
    CHECK(draft.open_node() == 1); // nothing is done there
    draft.add_edge(1, 2);
    CHECK(draft.open_node() == 2);
    draft.use_at_end_of(2, 1, 0);
    draft.touch(1, touch::access::def);
    draft.touch(0, touch::access::use);
    draft.may_overwrite(0, 1);
    CHECK(draft.end_step() == 2);
    CHECK(draft.last_node() == 2);
    auto const expected = flow(
        3, 2,
        [](node_id n) {
            return n == 0 ? std::vector<node_id>{2, 1} : std::vector<node_id>(n == 1 ? 1u : 0u, 2);
        },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0);
            if (n != 2) return;
            s.use(0);
            s.def(1);
            s.may_overwrite(0, 1);
            s.use_at_end_of(1, 0);
        });
    CHECK(draft.program(2) == expected);
    CHECK(draft.program(2) == expected); // it may be asked again
}

TEST_CASE("nothing written down is the empty program, and an open node one with a step that does nothing")
{
    CHECK(program_draft().program(0) == snapshot());
    program_draft draft;
    draft.open_node();
    CHECK(draft.program(1).steps() == 1);
}

TEST_CASE("what cannot be a program is refused")
{
    program_draft early;
    CHECK_THROWS_WITH_AS(early.end_step(), "sublet: a step is written down before there is a node",
                         precondition_error);
    program_draft from, to, operand;
    for (program_draft* d : {&from, &to, &operand}) d->open_node();
    from.add_edge(1, 0);
    CHECK_THROWS_WITH_AS((void)from.program(0), "sublet: an edge leads from a node that is not there",
                         precondition_error);
    to.add_edge(0, 1);
    CHECK_THROWS_WITH_AS((void)to.program(0), "sublet: a successor is not a node of the graph",
                         precondition_error);
    operand.use_at_end_of(1, 0, 0);
    CHECK_THROWS_WITH_AS((void)operand.program(1), "sublet: an operand is that of a node that is not there",
                         precondition_error);
}

TEST_CASE("random programs come back as they were, edges and operands given last")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_flow const f = draw_flow(pick);
        program_draft draft;
        for (auto const& node : f.nodes) {
            draft.open_node();
            for (auto const& step : node.steps) {
                for (auto v : step.defs) draft.touch(v, touch::access::def);
                for (auto v : step.uses) draft.touch(v, touch::access::use);
                for (auto v : step.early) draft.touch(v, touch::access::use_early);
                draft.end_step();
            }
        }
        for (node_id n = 0; n != f.nodes.size(); ++n) {
            for (auto s : f.nodes[n].successors) draft.add_edge(n, s);
            for (auto o : f.nodes[n].operands) draft.use_at_end_of(n, o.pred, o.value);
        }
        CHECK(draft.program(f.values) == f.program());
    }
}

} // namespace this_test
