// SPDX-License-Identifier: BSL-1.0

/// A graph from a matrix: degrees are counted first, and each row is listed by its set bits, ascending.

#include <sublet/analysis/detail/conflicts.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <utility>

namespace sublet::detail {

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

} // namespace sublet::detail
