// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_OPERATIONS_HPP
#define SUBLET_TEST_OPERATIONS_HPP

#include <sublet/graph/snapshot.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

using lists = std::vector<std::vector<int>>;

/// A list of operations, given by uses and defs.
inline sublet::snapshot op_list(std::size_t values, lists const& uses, lists const& defs)
{
    return sublet::sequence(
        uses.size(),
        values, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
}

struct operation {
    std::vector<sublet::value_id> uses, defs;
    std::vector<std::pair<sublet::value_id, sublet::value_id>> overwrites = {}; ///< operand, result
    std::vector<sublet::value_id> early = {}; ///< used before anything is written

    friend bool operator==(operation const&, operation const&) = default;
};

inline sublet::snapshot program_of(std::vector<operation> const& operations, std::size_t values)
{
    return sublet::sequence(operations.size(), values, [&](auto s, sublet::effect_sink& sink) {
        for (auto v : operations[s].uses) sink.use(v);
        for (auto v : operations[s].early) sink.use_early(v);
        for (auto v : operations[s].defs) sink.def(v);
        for (auto [operand, result] : operations[s].overwrites) sink.may_overwrite(operand, result);
    });
}

/// With the number of values that the operations name.
inline sublet::snapshot program_of(std::vector<operation> const& operations)
{
    std::size_t values = 0;
    for (operation const& o : operations)
        for (auto const* row : {&o.uses, &o.defs})
            for (auto v : *row) values = std::max<std::size_t>(values, v + 1);
    return program_of(operations, values);
}

#endif
