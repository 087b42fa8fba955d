// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_PROGRAM_DRAFT_HPP
#define SUBLET_GRAPH_PROGRAM_DRAFT_HPP

/// A program as it is being written down: node by node, step by step; edges whenever they are known.
///
///     d.open_node();                          node 0
///     d.touch(a, touch_kind::def);
///     d.end_step();                             def a
///     d.open_node();                          node 1
///     d.add_edge(0, 1);
///     d.program(values)                       a snapshot, as any other
///
/// The factories of snapshot.hpp ask for a program that is there. This one is for whoever makes one out of
/// others, and learns only later where a node is to lead.

#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet {

class program_draft {
public:
    /// Steps from here on are the new node's. A node that is left without a step gets one that does nothing.
    node_id open_node();
    [[nodiscard]] std::size_t nodes() const { return node_begin_.size(); }
    /// Requires: there is one.
    [[nodiscard]] node_id last_node() const { return static_cast<node_id>(nodes() - 1); }
    [[nodiscard]] std::size_t steps() const { return touch_end_.size(); }

    /// Of the step that ends next.
    void touch(value_id v, touch_kind kind) { touches_.push_back({v, kind}); }
    void may_overwrite(value_id in, value_id out) { pairs_.push_back({0, in, out}); }
    /// Requires: a node is open.
    step_id end_step();

    /// Edges and operands of phis may name nodes that are not there yet.
    void add_edge(node_id from, node_id to) { edges_.push_back({from, to}); }
    void use_at_end_of(node_id node, node_id pred, value_id v) { operands_.push_back({node, pred, v}); }

    /// What has been written, over so many values.
    ///
    /// Ensures:    successors of a node, and operands, stand in the order in which they were given.
    /// Complexity: O(V + E + touches) time and memory.
    /// Throws:     precondition_error for an edge from or to a node that is not there, and as snapshot().
    template <std::integral Count>
    [[nodiscard]] snapshot program(Count values)
    {
        fill_node();
        std::size_t const count = nodes();
        for (edge e : edges_)
            SUBLET_EXPECTS(e.from < count, "sublet: an edge leads from a node that is not there");
        for (edge_use const& o : operands_)
            SUBLET_EXPECTS(o.node < count, "sublet: an operand is that of a node that is not there");
        csr_rows const successors = csr_rows::gathered(count, [this](auto add) {
            for (edge e : edges_) add(e.from, e.to);
        });
        csr_rows const operands = csr_rows::gathered(count, [this](auto add) {
            for (std::size_t o = 0; o != operands_.size(); ++o)
                add(operands_[o].node, static_cast<std::uint32_t>(o));
        });
        return flow(
            count, static_cast<std::size_t>(values), [&](node_id n) { return successors[n]; },
            [&](node_id n, effect_sink& sink) {
                std::size_t const end = n + 1u == count ? steps() : node_begin_[n + 1];
                for (std::size_t s = node_begin_[n]; s != end; ++s) {
                    if (s != node_begin_[n]) sink.next_step();
                    say(s, sink);
                }
                for (std::uint32_t o : operands[n]) sink.use_at_end_of(operands_[o].pred, operands_[o].value);
            });
    }

private:
    struct edge {
        node_id from, to;
    };

    void fill_node()
    {
        if (nodes() != 0 && node_begin_.back() == steps()) end_step();
    }
    void say(std::size_t s, effect_sink& sink) const;

    std::vector<std::size_t> node_begin_; // into steps
    std::vector<std::size_t> touch_end_;  // by step, into touches_
    std::vector<std::size_t> pair_end_;   // by step, into pairs_
    std::vector<sublet::touch> touches_;
    std::vector<overwrite> pairs_; // the number of their step stays 0
    std::vector<edge> edges_;
    std::vector<edge_use> operands_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/program_draft.ipp>
#endif

#endif
