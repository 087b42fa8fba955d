// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_IMPL_CONCEPTS_IPP
#define SUBLET_GRAPH_IMPL_CONCEPTS_IPP

#include <sublet/graph/concepts.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL csr_rows::csr_rows(std::vector<std::uint32_t> first, std::vector<std::uint32_t> item)
    : first_(std::move(first)), item_(std::move(item))
{
    if (first_.size() == 1) first_.clear();
}

SUBLET_DECL void csr_rows::close_row()
{
    SUBLET_EXPECTS(item_.size() <= no_node, "sublet: more edges, or items of other lists, than 32-bit ids");
    if (first_.empty()) first_.push_back(0);
    first_.push_back(static_cast<std::uint32_t>(item_.size()));
}

SUBLET_DECL csr_graph::csr_graph(csr_rows successors) : csr_rows(std::move(successors)) {}

} // namespace sublet

#endif
