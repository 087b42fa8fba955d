// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/detail/liveness_methods.hpp>

#include "../dice.hpp"
#include "flow_text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;
using ids = std::vector<std::uint32_t>;
using lists = std::vector<ids>;

namespace {

/// By node, sorted, each once: neither is promised of a row.
lists rows_of(csr_rows const& rows)
{
    lists all;
    for (std::size_t n = 0; n != rows.rows(); ++n) {
        all.emplace_back(rows[n].begin(), rows[n].end());
        std::sort(all.back().begin(), all.back().end());
        all.back().erase(std::unique(all.back().begin(), all.back().end()), all.back().end());
    }
    return all;
}

/// Whether node n reads v, and has not written it before.
bool reads_first(snapshot const& p, node_id n, value_id v)
{
    for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
        bool writes = false;
        for (touch t : p.touches(s)) {
            if (t.value == v && t.kind != touch::access::def) return true;
            writes = writes || t.value == v;
        }
        if (writes) return false;
    }
    return false;
}

bool defines(snapshot const& p, node_id n, value_id v)
{
    for (touch t : p.touches(p.steps_of(n)))
        if (t == touch{v, touch::access::def}) return true;
    return false;
}

} // namespace

TEST_CASE("what stays within its node does not cross, what another node reads does")
{
    crossing_values const cross = crossing(flow_text({"a= ; c= >1", "a b= ; b c c="}));
    CHECK(cross.value == ids{0, 2});
    CHECK(cross.column == ids{0, no_value, 1});
    CHECK(rows_of(cross.reads) == lists{{}, {0, 1}});
    CHECK(rows_of(cross.writes) == lists{{0, 1}, {1}});
    CHECK(rows_of(cross.reads_at_end) == lists{{}, {}});
    CHECK_FALSE(cross.single_def);
}

TEST_CASE("an early use is a use, and reads before the step writes")
{
    crossing_values const cross = crossing(flow_text({"a= a! b= ; b!"}));
    CHECK(cross.value == ids{0});
    CHECK(rows_of(cross.reads) == lists{{0}});
    CHECK(rows_of(cross.writes) == lists{{0}});
}

TEST_CASE("what is defined and never read does not cross, nor what nothing touches")
{
    CHECK(crossing(flow_text({"a= c= >1", "a= c="})).value.empty());
}

TEST_CASE("what is read where a node ends crosses, wherever it was defined")
{
    crossing_values const cross = crossing(flow_text({"a= >1 >2", "a@0 c@1 b= ; c= >1", "a@0"}));
    CHECK(cross.value == ids{0, 2});
    CHECK(rows_of(cross.reads) == lists{{}, {}, {}});
    CHECK(rows_of(cross.writes) == lists{{0}, {1}, {}});
    CHECK(rows_of(cross.reads_at_end) == lists{{0}, {1}, {}});
}

TEST_CASE("what a node reads after it has written it, it does not read first")
{
    crossing_values const cross = crossing(flow_text({"a= ; a= a ; a >1", "a a! ; a b="}));
    CHECK(rows_of(cross.reads) == lists{{}, {0}});
    CHECK(rows_of(cross.writes) == lists{{0}, {}});
}

TEST_CASE("single definitions are those in one step of one node, crossing or not")
{
    CHECK(crossing(flow_text({"a= b= >1", "a"})).single_def);
    CHECK_FALSE(crossing(flow_text({"a= ; a="})).single_def);
    CHECK_FALSE(crossing(flow_text({"a=", "a="})).single_def);
}

TEST_CASE("an empty program has empty lists, and nodes that do nothing empty rows")
{
    crossing_values const nothing = crossing(snapshot{});
    CHECK(nothing.value.empty());
    CHECK(nothing.column.empty());
    CHECK(nothing.reads.rows() == 0);
    crossing_values const idle = crossing(flow_text({">1", ""}));
    CHECK(idle.reads.rows() == 2);
    CHECK(idle.writes.rows() == 2);
    CHECK(idle.reads_at_end.rows() == 2);
    CHECK(idle.single_def);
}

TEST_CASE("of any program the lists are those of their definitions")
{
    for (unsigned seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        dice pick{std::mt19937{seed}};
        snapshot const p = draw_flow(pick).program();
        crossing_values const cross = crossing(p);

        ids crossing_ids;
        for (value_id v = 0; v != p.values(); ++v) {
            bool crosses = false;
            for (node_id n = 0; n != p.nodes(); ++n) crosses = crosses || reads_first(p, n, v);
            for (edge_use u : p.edge_uses()) crosses = crosses || u.value == v;
            REQUIRE(cross.column[v] ==
                    (crosses ? static_cast<std::uint32_t>(crossing_ids.size()) : no_value));
            if (crosses) crossing_ids.push_back(v);
        }
        REQUIRE(cross.value == crossing_ids);

        lists reads(p.nodes()), writes(p.nodes()), reads_at_end(p.nodes());
        for (node_id n = 0; n != p.nodes(); ++n)
            for (std::uint32_t c = 0; c != crossing_ids.size(); ++c) {
                if (reads_first(p, n, crossing_ids[c])) reads[n].push_back(c);
                if (defines(p, n, crossing_ids[c])) writes[n].push_back(c);
                bool is_read = false;
                for (edge_use u : p.edge_uses())
                    is_read = is_read || (u.pred == n && u.value == crossing_ids[c]);
                if (is_read) reads_at_end[n].push_back(c);
            }
        REQUIRE(rows_of(cross.reads) == reads);
        REQUIRE(rows_of(cross.writes) == writes);
        REQUIRE(rows_of(cross.reads_at_end) == reads_at_end);
    }
}

} // namespace this_test
