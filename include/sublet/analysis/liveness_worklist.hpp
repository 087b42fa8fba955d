// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_WORKLIST_HPP
#define SUBLET_ANALYSIS_LIVENESS_WORKLIST_HPP

/// Liveness of any program, by iteration: what successors need, a node needs too, unless it writes it.
///
///     live out = read at the end, or live in of a successor
///     live in  = read first, or live out and not written
///
/// Sets only grow. In postorder a node comes after its successors, so that one visit to each is enough unless
/// the graph has cycles; then those wait on a stack whose successors have grown since.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973; the order and the stack
/// after Cooper, Harvey and Kennedy, "Iterative data-flow analysis, revisited", Rice University TR04-432,
/// 2004.

#include <sublet/analysis/bit_rows.hpp>
#include <sublet/analysis/crossing.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

struct dense_sets {
    bit_rows in;
    bit_rows out;
};

/// What nodes read themselves: where every solver begins.
inline dense_sets own_reads(crossing_values const& cross, std::size_t nodes)
{
    dense_sets sets{bit_rows(nodes, cross.value.size()), bit_rows(nodes, cross.value.size())};
    for (std::size_t n = 0; n != nodes; ++n) {
        for (std::uint32_t c : cross.reads[n]) sets.in.set(n, c);
        for (std::uint32_t c : cross.reads_at_end[n]) sets.out.set(n, c);
    }
    return sets;
}

/// Lets what is live where a node ends through to where it begins, unless the node writes it.
class pass_through {
public:
    explicit pass_through(std::size_t words) : written_(words) {}

    /// Whether `in` has grown.
    template <class Columns>
    bool operator()(bit_rows::word const* out, Columns const& writes, bit_rows::word* in)
    {
        constexpr std::size_t bits = bit_rows::word_bits;
        for (auto c : writes) written_[c / bits] |= bit_rows::word{1} << c % bits;
        bit_rows::word grown = 0;
        for (std::size_t w = 0; w != written_.size(); ++w) {
            bit_rows::word const passed = out[w] & ~written_[w];
            grown |= passed & ~in[w];
            in[w] |= passed;
        }
        for (auto c : writes) written_[c / bits] = 0;
        return grown != 0;
    }

private:
    std::vector<bit_rows::word> written_; // no bit is set between calls
};

/// Few edges lead to a lower number: those of loops, if nodes are numbered as compilers lay them out.  O(E)
inline bool is_nearly_forward(csr_graph const& g)
{
    std::size_t backward = 0;
    for (std::size_t n = 0; n != g.rows(); ++n)
        for (node_id s : g[n]) backward += s <= n;
    return backward <= g.rows() / 8;
}

/// Complexity: O((V + E) (1 + d) words) time, d = edges on a path that lead against the order, at most;
///             O(V words) memory, words = columns / 64.
inline dense_sets live_by_worklist(snapshot const& p, crossing_values const& cross)
{
    dense_sets sets = own_reads(cross, p.nodes());
    std::size_t const words = sets.in.words();
    if (words == 0) return sets;
    pass_through pass(words);
    auto visit = [&](node_id n) {
        bit_rows::word* const out = sets.out[n];
        for (node_id s : p.successors(n)) {
            bit_rows::word const* const needed = sets.in[s];
            for (std::size_t w = 0; w != words; ++w) out[w] |= needed[w];
        }
        return pass(out, cross.writes[n], sets.in[n]);
    };

    // Seen in this order, few nodes come before a successor.
    std::vector<node_id> const order =
        is_nearly_forward(p.graph()) ? std::vector<node_id>{} : depth_first(p.graph()).postorder;
    enum : unsigned char { not_seen, settled, waits };
    std::vector<unsigned char> state(p.nodes(), not_seen);
    std::vector<node_id> stack;
    auto settle = [&](node_id n) {
        state[n] = settled;
        if (!visit(n)) return;
        for (node_id pred : p.predecessors(n))
            if (state[pred] == settled) {
                state[pred] = waits;
                stack.push_back(pred);
            }
    };
    for (std::size_t i = 0; i != p.nodes(); ++i)
        settle(order.empty() ? static_cast<node_id>(p.nodes() - 1 - i) : order[i]);
    while (!stack.empty()) {
        node_id const n = stack.back();
        stack.pop_back();
        settle(n);
    }
    return sets;
}

} // namespace sublet::detail

#endif
