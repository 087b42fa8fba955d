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

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// A precedence_oracle for questions about ascending b, or for few b: each other block costs a pass.
///
/// Memory: 64 bytes a position and its predecessors, four bytes each.
class column_closure {
public:
    static constexpr step_id width = 512;

    /// From the predecessors of each position, all of them lower.
    explicit column_closure(csr_rows before)
        : before_(std::move(before)), rows_(before_.rows()), has_row_(before_.rows() / 64 + 1)
    {
    }

    [[nodiscard]] std::size_t positions() const { return before_.rows(); }
    [[nodiscard]] std::size_t blocks() const { return (positions() + width - 1) / width; }

    /// Makes the columns [block * width, block * width + width) ready.
    ///
    /// Complexity: O(edges among those that come before a column of the block, 64 bytes each, + positions /
    /// 64).
    void load(std::size_t block)
    {
        auto const first = static_cast<step_id>(block * width);
        auto const last = static_cast<step_id>(smaller(positions(), (block + 1) * width));
        for (std::uint64_t& bits : has_row_) bits = 0;
        loaded_ = block;
        for (step_id t = last; t-- != first;) {
            row with_itself = has_row(t) ? rows_[t] : row{};
            with_itself.bits[(t - first) / 64] |= std::uint64_t{1} << t % 64;
            hand_down(t, with_itself);
        }
        for (std::size_t w = first / 64; w-- != 0;)
            for (std::uint64_t left = has_row_[w]; left != 0;) {
                auto const highest = static_cast<unsigned>(std::bit_width(left)) - 1;
                auto const t = static_cast<step_id>(64 * w + highest);
                hand_down(t, rows_[t]);
                left = has_row_[w] & ((std::uint64_t{1} << highest) - 1); // lower ones may have got a row
            }
    }

    /// Edges lead from a to b.
    [[nodiscard]] bool before(step_id a, step_id b)
    {
        if (b / width != loaded_) load(std::size_t{b / width});
        return has_row(a) && (rows_[a].bits[b % width / 64] >> b % 64 & 1) != 0;
    }

    /// Positions 64 * word and following, a bit each: who comes before somebody in the block that is ready.
    [[nodiscard]] std::uint64_t with_row(std::size_t word) const { return has_row_[word]; }

    /// The lowest position of the block that is ready, from `from` on, that all of `ends` come before; the
    /// position behind the block if there is none.
    ///
    /// Requires: `from` is in the block.
    [[nodiscard]] step_id next_after(std::span<step_id const> ends, step_id from) const
    {
        step_id const first = from / width * width;
        for (step_id end : ends)
            if (!has_row(end)) return first + width;
        std::uint64_t common = ~std::uint64_t{0} << from % 64;
        for (step_id w = (from - first) / 64; w != width / 64; ++w, common = ~std::uint64_t{0}) {
            for (step_id end : ends) common &= rows_[end].bits[w];
            if (common != 0) return first + 64 * w + static_cast<step_id>(std::countr_zero(common));
        }
        return first + width;
    }

    /// How many pairs of positions are ordered whose later one is in the block that is ready.
    [[nodiscard]] std::uint64_t loaded_pairs() const
    {
        std::uint64_t pairs = 0;
        for (std::size_t w = 0; w != has_row_.size(); ++w)
            for (std::uint64_t left = has_row_[w]; left != 0; left &= left - 1)
                pairs += count(rows_[64 * w + static_cast<unsigned>(std::countr_zero(left))]);
        return pairs;
    }

private:
    struct alignas(64) row {
        std::uint64_t bits[width / 64] = {};
    };
    /// Sums of two bits, of four, of eight: without the processor's own instruction, which is not everywhere,
    /// a call of std::popcount a word is most of the time that a block takes.
    [[nodiscard]] static std::uint64_t count(row const& of)
    {
        constexpr std::uint64_t ones = ~std::uint64_t{0};
        std::uint64_t sums = 0; // eight of them, of at most 64 each
        for (std::uint64_t x : of.bits) {
            x -= x >> 1 & ones / 3;
            x = (x & ones / 5) + (x >> 2 & ones / 5);
            sums += (x + (x >> 4)) & ones / 17;
        }
        return ((sums & ones / 257) + (sums >> 8 & ones / 257)) * (ones / 65535) >> 48;
    }
    [[nodiscard]] bool has_row(step_id t) const { return (has_row_[t / 64] >> t % 64 & 1) != 0; }

    void hand_down(step_id t, row const& from)
    {
        for (step_id p : before_[t]) {
            row& to = rows_[p];
            std::uint64_t const bit = std::uint64_t{1} << p % 64;
            if ((has_row_[p / 64] & bit) != 0) {
                for (std::size_t i = 0; i != width / 64; ++i) to.bits[i] |= from.bits[i];
            } else {
                to = from;
                has_row_[p / 64] |= bit;
            }
        }
    }

    csr_rows before_;
    std::vector<row> rows_;              // by position; of use where has_row
    std::vector<std::uint64_t> has_row_; // a bit a position
    std::size_t loaded_ = ~std::size_t{0};
};

} // namespace sublet

#endif
