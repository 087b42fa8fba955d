// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>

#include "../dice.hpp"
#include "dense_lists.hpp"
#include "flow_oracle.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<value_id>;
using lists = std::vector<ids>;

namespace {

lists found(snapshot const& p)
{
    crossing_values const cross = crossing(p);
    return dense_lists(cross, detail::live_by_loop_forest(p, cross));
}

lists expected(snapshot const& p)
{
    liveness_tables const live = solved_liveness(p);
    lists all;
    for (truth_table const* half : {&live.in, &live.out})
        for (node_id n = 0; n != p.nodes(); ++n) {
            ids& set = all.emplace_back();
            for (value_id v = 0; v != p.values(); ++v)
                if ((*half)[n][v]) set.push_back(v);
        }
    return all;
}

} // namespace

TEST_CASE("what is alive where a loop begins is alive throughout it")
{
    CHECK(found(flow_text({"a= >1", ">2", "a >3", ">1"})) == lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}});
}

TEST_CASE("what the header of a loop reads for the last time in this turn, the next turn reads again")
{
    CHECK(found(flow_text({"a= >1", "a >2 >3", ">1", ""})) == lists{{}, {0}, {0}, {}, {0}, {0}, {0}, {}});
    CHECK(found(flow_text({"a= >1", "a >1"})) == lists{{}, {0}, {0}, {0}});
}

TEST_CASE("what is defined in a loop does not go round it, but where it is read in the next turn by a phi")
{
    CHECK(found(flow_text({">1", "a= >2", "a >1"})) == lists{{}, {}, {0}, {}, {0}, {}});
    CHECK(found(flow_text({"a= >1", "a@0 c@1 b= ; b c= >1 >2", "b"})) == lists{{}, {}, {1}, {0}, {1, 2}, {}});
}

TEST_CASE("an inner loop has what its outer loop needs, and the outer loop not what the inner one does")
{
    // b is of the outer loop and read in the inner one only; a is read behind both.
    snapshot const p = flow_text({"a= >1", "b= >2", "b >3", ">2 >4", ">1 >5", "a"});
    CHECK(found(p) == lists{{}, {0}, {0, 1}, {0, 1}, {0}, {0}, {0}, {0, 1}, {0, 1}, {0, 1}, {0}, {}});
}

TEST_CASE("an edge into the middle of a loop counts as one to its header")
{
    // 2 is entered from 0 as well as from 1; a is read in 1 only, so that over 2 it is alive.
    CHECK(found(flow_text({"a= >1 >2", "a >2", ">1"})) == lists{{}, {0}, {0}, {0}, {0}, {0}});
    // Into the middle of two loops at once, one in the other: the outermost counts.
    snapshot const deep = flow_text({"a= >1 >3", "a >2", ">3", ">2 >1"});
    CHECK(found(deep) == expected(deep));
}

TEST_CASE("no node has no sets, and no crossing value empty ones")
{
    CHECK(found(snapshot{}).empty());
    CHECK(found(flow_text({"a= ; a"})) == lists{{}, {}});
}

TEST_CASE("a value written twice is refused, also within one node or one step")
{
    CHECK_THROWS_AS(found(flow_text({"a= >1", "a= >2", "a"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({"a= ; a= >1", "a"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({"a= a="})), precondition_error);
}

TEST_CASE("a value that a path reads without its def is refused, if the sets could be wrong")
{
    CHECK_THROWS_AS(found(flow_text({"a a= >0"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1", ">2 >3", "a a= >1", ""})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1", "a >2", "a= >1"})), precondition_error);
    CHECK_THROWS_AS(found(flow_text({">1 >2", "a= >2", "a >1"})),
                    precondition_error); // entered in the middle
    for (auto const& harmless : {flow_text({">1 >2", "a= >2", "a"}), flow_text({">1 >3", ">2", "a= >3", "a"}),
                                 flow_text({"", "b= >2 >3", "a= >3", "a b"})})
        CHECK(found(harmless) == expected(harmless));
}

TEST_CASE("a value that nothing writes is alive wherever it is still needed")
{
    CHECK(found(flow_text({">1", ">2", ">1 >3", "a"})) == lists{{0}, {0}, {0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("an edge from where nothing leads into the middle of a loop brings what is alive there")
{
    // 3 is not reached. a is defined before the loop, then in its header: alive in 2 either way.
    CHECK(found(flow_text({"a= >1", "a >2", ">1", ">2"})) == lists{{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}});
    CHECK(found(flow_text({">1", "a= >2", "a >1", ">2"})) == lists{{}, {}, {0}, {0}, {}, {0}, {}, {0}});
    // And into the middle of an irreducible one; b belongs to the loop, a does not.
    snapshot const p = flow_text({"a= >1 >2", "a b= ; b >2", ">1", ">2 >4", ">3"});
    CHECK(found(p) == expected(p));
}

TEST_CASE("on random strict programs, unreached nodes with edges anywhere among them, sets are those of the "
          "equations")
{
    for (unsigned seed = 0; seed != rounds(1500); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        random_flow f = draw_ssa(pick, {.nodes = 9, .values = 9, .steps = 2});
        auto const reached = static_cast<std::uint32_t>(f.nodes.size());
        f.nodes.resize(reached + pick.below(5)); // nothing leads there but from each other
        for (std::size_t n = reached; n != f.nodes.size(); ++n)
            for (std::uint32_t k = pick.below(4); k != 0; --k)
                f.nodes[n].successors.push_back(pick.below(static_cast<std::uint32_t>(f.nodes.size())));
        snapshot const p = f.program();
        REQUIRE(found(p) == expected(p));
    }
}

} // namespace this_test
