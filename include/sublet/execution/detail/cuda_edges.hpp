// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_CUDA_EDGES_HPP
#define SUBLET_EXECUTION_DETAIL_CUDA_EDGES_HPP

/// Removes the edges of a captured graph that others imply: a transitive reduction of its nodes, numbered so
/// that edges lead upwards.

#include <sublet/core/units.hpp>
#include <sublet/execution/cuda_runtime.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/structures/internal/transitive_reduction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <vector>

namespace sublet::detail {

inline cudaError_t edges_of(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, std::size_t* count)
{
#if CUDART_VERSION >= 13000
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
#else
    return cudaGraphGetEdges(graph, from, to, count);
#endif
}
inline cudaError_t remove_edges(cudaGraph_t graph, std::vector<cudaGraphNode_t> const& from,
                                std::vector<cudaGraphNode_t> const& to)
{
#if CUDART_VERSION >= 13000
    return cudaGraphRemoveDependencies(graph, from.data(), to.data(), nullptr, from.size());
#else
    return cudaGraphRemoveDependencies(graph, from.data(), to.data(), from.size());
#endif
}

/// Removes all edges that others imply. A command depends on the one before it in its stream, which an event
/// that it waits for may imply.
/// Throws: cuda_error; nothing is removed then.
inline void remove_implied_edges(cuda_calls& calls, cudaGraph_t graph)
{
    std::size_t count = 0;
    calls("cudaGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nullptr, &count); });
    std::vector<cudaGraphNode_t> nodes(count);
    if (count != 0)
        calls("cudaGraphGetNodes", [&] { return cudaGraphGetNodes(graph, nodes.data(), &count); });
    calls("cudaGraphGetEdges", [&] { return edges_of(graph, nullptr, nullptr, &count); });
    if (count == 0) return;
    std::vector<cudaGraphNode_t> from(count), to(count);
    calls("cudaGraphGetEdges", [&] { return edges_of(graph, from.data(), to.data(), &count); });

    // Nodes are numbered by handle, then so that edges lead upwards.
    std::sort(nodes.begin(), nodes.end());
    auto index_of = [&](cudaGraphNode_t node) {
        return node_id::of(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    auto rows_by = [&](auto first, auto second) {
        return csr_rows<node_id, node_id>::gathered(nodes.size(), [&](auto add) {
            for (std::uint32_t i = 0; i != count; ++i) add(first(i), second(i));
        });
    };
    auto source = [&](std::uint32_t i) { return index_of(from[i]); };
    auto target = [&](std::uint32_t i) { return index_of(to[i]); };
    csr_rows<node_id, node_id> const after = rows_by(source, target);
    table<node_id, std::uint32_t> waits_for(nodes.size(), 0);
    table<node_id, node_id> number(nodes.size(), 0);
    std::vector<node_id> order;
    for (std::uint32_t i = 0; i != count; ++i) ++waits_for[target(i)];
    for (node_id node = 0; node != nodes.size(); ++node)
        if (waits_for[node] == 0) order.push_back(node);
    for (std::uint32_t next = 0; next != order.size(); ++next) {
        number[order[next]] = next;
        for (node_id node : after[order[next]])
            if (--waits_for[node] == 0) order.push_back(node);
    }
    auto lower = [&](std::uint32_t i) { return number[source(i)]; };
    auto higher = [&](std::uint32_t i) { return number[target(i)]; };
    auto const is_implied = has_indirect_path(
        rows_by(higher, lower), count, [&](std::uint32_t i) { return csr_graph::edge{lower(i), higher(i)}; });
    std::size_t removed = 0;
    for (std::size_t i = 0; i != is_implied.size(); ++i) {
        if (!is_implied[i]) continue;
        from[removed] = from[i];
        to[removed++] = to[i];
    }
    from.resize(removed);
    to.resize(removed);
    if (removed != 0) calls("cudaGraphRemoveDependencies", [&] { return remove_edges(graph, from, to); });
}

} // namespace sublet::detail

#endif
