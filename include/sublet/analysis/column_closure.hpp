// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_COLUMN_CLOSURE_HPP
#define SUBLET_ANALYSIS_COLUMN_CLOSURE_HPP

/// Who comes before whom, exactly, for any graph and in little memory: 512 columns of the closure at a time.
///
///     columns   0 .. 511   512 .. 1023   ...        a row says which of the 512 a position comes before;
///     row 0     01101...                            rows go to the predecessors of their position,
///     row 1     00110...                            from the last column of the block downwards:
///     ...                                           row(p) gains row(t) and the bit of t itself
///
/// All columns at once are n^2 bits, which neither a cache nor a machine holds for a million positions. A
/// block of them is one cache line a position. And only who comes before somebody in the block has a row at
/// all: a walk over a bit a position finds them, and the rest costs nothing.
///
/// Source: Warshall, "A theorem on Boolean matrices", Journal of the ACM 1962, where the order of positions
/// makes one pass enough.

#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet {

/// A precedence_oracle for questions about ascending b, or for few b: each other block costs a pass.
///
/// Memory: 64 bytes a position and its predecessors, four bytes each.
class column_closure {
public:
    static constexpr step_id width = 512;

    /// From the predecessors of each position, all of them lower.
    explicit column_closure(csr_rows before);

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }
    [[nodiscard]] std::size_t blocks() const { return (positions() + width - 1) / width; }

    /// Makes the columns [block * width, block * width + width) ready.
    ///
    /// Complexity: O(edges among those that come before a column of the block, 64 bytes each, + positions /
    /// 64).
    void load(std::size_t block);

    /// Edges lead from a to b.
    [[nodiscard]] bool before(step_id a, step_id b);

    /// Positions 64 * word and following, a bit each: who comes before somebody in the block that is ready.
    [[nodiscard]] std::uint64_t with_row(std::size_t word) const { return has_row_[word]; }

    /// The lowest position of the block that is ready, from `from` on, that all of `ends` come before; the
    /// position behind the block if there is none.
    ///
    /// Requires: `from` is in the block.
    [[nodiscard]] step_id next_after(std::span<step_id const> ends, step_id from) const;

    /// How many pairs of positions are ordered whose later one is in the block that is ready.
    [[nodiscard]] std::uint64_t loaded_pairs() const;

private:
    struct alignas(64) row {
        std::uint64_t bits[width / 64] = {};
    };
    /// Sums of two bits, of four, of eight: without the processor's own instruction, which is not everywhere,
    /// a call of std::popcount a word is most of the time that a block takes.
    [[nodiscard]] static std::uint64_t count(row const& of);
    [[nodiscard]] bool has_row(step_id t) const { return (has_row_[t / 64] >> t % 64 & 1) != 0; }

    void hand_down(step_id t, row const& from);

    csr_rows before_;
    std::vector<row> rows_;              // by position; of use where has_row
    std::vector<std::uint64_t> has_row_; // a bit a position
    std::size_t loaded_ = ~std::size_t{0};
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/column_closure.ipp>
#endif

#endif
