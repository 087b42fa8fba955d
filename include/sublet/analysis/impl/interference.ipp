// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/interference.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL interference_graph::interference_graph(csr_graph graph)
    : graph_(std::move(graph)), values_(graph_.rows()), edges_(graph_.items() / 2)
{
}

SUBLET_DECL byte_count interference_graph::bytes_of(std::size_t values, std::uint64_t edges)
{
    return edges < no_size / 16 ? 4 * (byte_count{values} + 1) + 8 * edges : no_size;
}

SUBLET_DECL interference_matrix::interference_matrix(std::size_t values, byte_count budget) : values_(values)
{
    SUBLET_EXPECTS(values < no_value, "sublet: more values than 32-bit ids");
    if (bytes_of(values) > budget) {
        refute(detail::over_budget(bytes_of(values), budget));
        return;
    }
    bits_ = detail::bit_rows(values, values);
    for (value_id v = 0; v != values; ++v) column_.push_back(v);
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL counterexample over_budget(byte_count needed, byte_count budget)
{
    return {fault::over_budget, counterexample::place{.end = needed, .needed = budget}};
}

SUBLET_DECL interference_graph graph_of_matrix(interference_matrix const& matrix, byte_count budget)
{
    std::uint64_t degrees = 0;
    for (value_id v = 0; v != matrix.values(); ++v) degrees += matrix.degree(v);
    if (!interference_graph::would_fit(matrix.values(), degrees / 2, budget))
        return {matrix.values(), degrees / 2, budget};
    csr_rows<node_id, node_id> rows;
    rows.reserve(matrix.values(), to_size(degrees));
    for (value_id v = 0; v != matrix.values(); ++v) {
        for (value_id u : matrix.neighbors(v)) rows.append(node_id::of(+u));
        rows.close_row();
    }
    return interference_graph(csr_graph(std::move(rows)));
}

SUBLET_DECL void range_sweep::add(value_id v, live_range life)
{
    if (is_empty(life)) return;
    if (!range_begins.empty() && range_begins.back().id == v) {
        SUBLET_EXPECTS(range_begins.back().key <= life.first,
                       "sublet: the live ranges of a value do not ascend");
        if (life.first <= range_ends.back().key) {
            if (range_ends.back().key < life.last) range_ends.back().key = life.last;
            return;
        }
    }
    range_begins.push_back({life.first, 0, v});
    range_ends.push_back({life.last, 0, v});
}

} // namespace sublet::detail
