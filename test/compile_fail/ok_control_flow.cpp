// SPDX-License-Identifier: BSL-1.0

// The correct form of the programs beside it that must not compile.
#include <sublet/analysis/interference.hpp>
#include <sublet/analysis/live_query.hpp>
#include <sublet/analysis/liveness.hpp>
#include <sublet/sharing/color_graph.hpp>

#include <vector>

int main()
{
    std::vector<std::vector<int>> const nested{{1}, {}};
    auto const successors = [&](auto v) -> auto& { return nested[v]; };
    auto const ids = [](auto) { return std::vector{0}; };
    auto const g = sublet::as_graph(nested.size(), successors);
    auto const p = sublet::flow(nested.size(), 1, successors, ids, ids);
    bool const is_live = sublet::liveness(g, 1, ids, ids).is_live_in(0, 1);
    bool const asked = sublet::live_query(g).is_live_in(1, 0, std::vector{1});
    auto const relation = [](unsigned u, unsigned v) { return u != v; };
    auto const matrix = sublet::interference<sublet::interference_matrix>(2, relation);
    bool const is_colored = sublet::color(sublet::interference(p)).is_optimal();
    return is_live && asked && matrix && is_colored && sublet::color(p).is_optimal() ? 0 : 1;
}
