// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_OPERAND_TABLE_HPP
#define SUBLET_EXECUTION_DETAIL_OPERAND_TABLE_HPP

/// Where the operands of each step lie in one flat list, as the call of its kernel expects them.
///
///     position   0        1           2
///     list       x | a    a | b, w    b | y        uses, then defs, then scratch
///     first      0        2           5

#include <sublet/core/units.hpp>
#include <sublet/execution/internal/lowered_program.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace sublet::detail {

/// The index of the first operand of each step in one flat list.
class operand_table {
public:
    explicit operand_table(lowered_program const& lowered);
    [[nodiscard]] std::size_t count() const { return first_.back(); }
    [[nodiscard]] std::size_t operator[](position_id at) const { return first_[at]; }

    /// Calls `bytes_of(value)` for each operand of the step.
    template <class BytesOf>
    void write(std::vector<std::span<std::byte>>& operands, lowered_program const& lowered, position_id at,
               BytesOf bytes_of) const
    {
        std::size_t next = first_[at];
        for (auto const* rows : {&lowered.uses, &lowered.defs, &lowered.scratch})
            for (value_id v : (*rows)[at]) operands[next++] = bytes_of(v);
    }

private:
    std::vector<std::size_t> first_; // by position, and one more
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/operand_table.ipp>
#endif

#endif
