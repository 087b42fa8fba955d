// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_COPY_ORDER_HPP
#define SUBLET_ANALYSIS_DETAIL_COPY_ORDER_HPP

/// Orders parallel copies such that no copy overwrites a value that another has yet to read, in O(copies),
/// with one spare value per cycle; and builds a program node by node. Source: Boissinot, Darte, Rastello,
/// Dupont de Dinechin and Guillon, "Revisiting out-of-SSA translation for correctness, code quality, and
/// efficiency", CGO 2009 (Algorithm 1); here some values may be views of others.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// --- copy order ------------------------------------------------------------------------------------------

///     parallel      b = a   c = b   x = y   y = x
///     sequential    c = b   b = a   spare = x   x = y   y = spare
///
/// Copies to values that no other copy reads go first; when none of those is left, the remaining copies form
/// cycles, and a spare value breaks one.

namespace sublet::detail {

struct value_copy {
    value_id from = no_value;
    value_id to = no_value;
    friend bool operator==(value_copy, value_copy) = default;
};

/// Its tables have one entry per value, so it is constructed once for all places.
class copy_order {
public:
    /// `root_of` each value: values with the same root are the same bytes.
    explicit copy_order(table<value_id, value_id> root_of);

    /// Calls `move(from, to)` for each copy, after the copies that read the bytes that it overwrites. If all
    /// remaining copies wait for each other, `spare_for(root)` returns a new value, and the value to be
    /// overwritten is moved there first.
    ///
    /// Complexity: O(copies), if no two write the same bytes.
    template <class Move, class SpareFor>
    void order(std::vector<value_copy> const& copies, Move move, SpareFor spare_for)
    {
        auto const count = static_cast<std::uint32_t>(copies.size());
        next_writer_.assign(count, none);
        is_listed_.assign(count, 0);
        ready_.clear();
        for (std::uint32_t i = count; i-- != 0;) { // reversed: lists ascend
            ++readers_[from(copies[i])];
            next_writer_[i] = std::exchange(first_writer_[to(copies[i])], i);
        }
        for (std::uint32_t i = 0; i != count; ++i) list_if_ready(copies, i);
        std::size_t done = 0;
        for (std::uint32_t i = 0;; ++i) {
            for (; done != ready_.size(); ++done) {
                value_copy const c = copies[ready_[done]];
                value_id const root = from(c), kept = kept_in_[root];
                move(kept == no_value ? c.from : kept, c.to);
                if (kept != no_value) continue;
                --readers_[root];
                for (std::uint32_t w = first_writer_[root]; w != none; w = next_writer_[w])
                    list_if_ready(copies, w);
            }
            while (i != count && is_listed_[i]) ++i;
            if (i == count) break;
            value_id const root = to(copies[i]), spare = spare_for(root); // all remaining copies wait
            move(copies[i].to, spare);
            kept_in_[root] = spare;
            readers_[root] = 0;
            list_if_ready(copies, i);
        }
        for (value_copy const& c : copies) {
            readers_[from(c)] = 0;
            first_writer_[to(c)] = none;
            kept_in_[to(c)] = no_value;
        }
    }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    value_id from(value_copy const& c) const { return root_of_[c.from]; }
    value_id to(value_copy const& c) const { return root_of_[c.to]; }
    void list_if_ready(std::vector<value_copy> const& copies, std::uint32_t i);

    table<value_id, value_id> root_of_;
    table<value_id, std::uint32_t> readers_;      // of each root: pending copies that read it
    table<value_id, std::uint32_t> first_writer_; // of each root
    table<value_id, value_id> kept_in_;           // of each root: the spare that holds its old bytes
    std::vector<std::uint32_t> next_writer_;      // by copy
    std::vector<unsigned char> is_listed_;        // by copy
    std::vector<std::uint32_t> ready_;
};

// --- program builder -------------------------------------------------------------------------------------

/// Builds a program node by node and step by step; edges may be added at any time.
///
///     builder.open_node();                     // node 0
///     builder.touch(a, touch::access::def);
///     builder.end_step();
///     builder.open_node();                     // node 1
///     builder.add_edge(0, 1);
///     snapshot p = builder.program(values);

class program_builder {
public:
    /// Further steps belong to the new node. A node without steps gets one that does nothing.
    node_id open_node();
    [[nodiscard]] std::size_t nodes() const { return node_begin_.size(); }
    /// Requires: there is a node.
    [[nodiscard]] node_id last_node() const { return node_id::of(nodes() - 1); }
    [[nodiscard]] std::size_t steps() const { return touch_end_.size(); }

    void touch(value_id v, touch::access kind) { touches_.push_back({v, kind}); }
    void may_overwrite(value_id in, value_id out) { pairs_.push_back({0, in, out}); }
    /// Of the step that ends next: what step s of p says of itself, or what the border of a body says.
    void copy_facts(snapshot const& p, step_id s, bool is_border)
    {
        each_step_fact([&](step_fact const& fact) {
            if (is_border ? fact.of_border : (p.*fact.read)(s)) says_ |= fact.bit;
        });
    }
    /// Requires: a node is open.
    step_id end_step();

    /// Edges and phi operands may name nodes that do not exist yet.
    void add_edge(node_id from, node_id to) { edges_.push_back({from, to}); }
    void use_at_end_of(node_id node, node_id pred, value_id v) { operands_.push_back({node, pred, v}); }

    /// Ensures:    successors of a node, and operands, are in the order in which they were added.
    /// Complexity: O(V + E + touches) time and memory.
    /// Throws:     precondition_error for edges or operands of a node that does not exist; as snapshot().
    template <std::integral Count>
    [[nodiscard]] snapshot program(Count values)
    {
        fill_node();
        std::size_t const count = nodes();
        for (edge e : edges_)
            SUBLET_EXPECTS(e.from < count, "sublet: an edge leads from node %, but there are only % nodes",
                           e.from, count);
        for (edge_use const& o : operands_)
            SUBLET_EXPECTS(o.node < count,
                           "sublet: a phi operand belongs to node %, but there are only % nodes", o.node,
                           count);
        auto const successors = csr_rows<node_id, node_id>::gathered(count, [this](auto add) {
            for (edge e : edges_) add(e.from, e.to);
        });
        auto const operands = csr_rows<node_id, std::uint32_t>::gathered(count, [this](auto add) {
            for (std::size_t o = 0; o != operands_.size(); ++o)
                add(operands_[o].node, static_cast<std::uint32_t>(o));
        });
        return flow(
            count, static_cast<std::size_t>(values), [&](node_id n) { return successors[n]; },
            [&](node_id n, effect_sink& sink) {
                auto const end = step_id::of(n + 1u == count ? steps() : node_begin_[n + 1]);
                for (auto s = step_id::of(node_begin_[n]); s != end; ++s) {
                    if (s != node_begin_[n]) sink.next_step();
                    emit_step(s, sink);
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
    void emit_step(step_id s, effect_sink& sink) const;

    table<node_id, std::size_t> node_begin_; // into steps
    table<step_id, std::size_t> touch_end_;  // into touches_
    table<step_id, std::size_t> pair_end_;   // into pairs_
    std::vector<sublet::touch> touches_;
    std::vector<overwrite> pairs_; // their step stays 0
    table<step_id, unsigned char> said_; // facts of steps, as bits
    unsigned char says_ = 0;             // of the step that ends next
    std::vector<edge> edges_;
    std::vector<edge_use> operands_;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/copy_order.ipp>
#endif

#endif
