// SPDX-License-Identifier: BSL-1.0

/// Sizes are computed before anything is stored: what exceeds the budget keeps its counts and an error only.

#include <sublet/analysis/interference_graph.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet {

SUBLET_DECL counterexample detail::over_budget(byte_count needed, byte_count budget)
{
    return {fault::over_budget, counterexample::place{.end = needed, .needed = budget}};
}

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
