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

#include <cstddef>
#include <vector>

namespace sublet::detail {

struct dense_sets {
    bit_rows in;
    bit_rows out;
};

/// What nodes read themselves: where every solver begins.
dense_sets own_reads(crossing_values const& cross, std::size_t nodes);

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

/// Complexity: O((V + E) (1 + d) words) time, d = edges on a path that lead against the order, at most;
///             O(V words) memory, words = columns / 64.
dense_sets live_by_worklist(snapshot const& p, crossing_values const& cross);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness_worklist.ipp>
#endif

#endif
