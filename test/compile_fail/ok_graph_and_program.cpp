// SPDX-License-Identifier: BSL-1.0

// The correct form of the programs beside it that must not compile.
#include <sublet/core/plan.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <vector>

static_assert(sublet::explain_graph<sublet::csr_graph>());
static_assert(sublet::explain_program<sublet::snapshot>());

int main()
{
    std::vector<std::vector<int>> const nested{{1}, {}};
    auto const g = sublet::as_graph(
        nested.size(), [&](auto v) -> auto& { return nested[v]; });
    auto const p = sublet::tasks(g, 1, [](auto, auto& sink) { sink.def(0); });
    auto const q = sublet::sequence(
        2, 2, [](auto) { return std::vector{-1}; }, [](unsigned v) { return std::vector{v}; });
    sublet::plan_options const o{.bytes = 64, .alignment = 64};
    return p.nodes() == q.nodes() && sublet::snapshot(p) == p && o.check ? 0 : 1;
}
