// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_OP_LIST_HPP
#define SUBLET_TEST_OP_LIST_HPP

#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <vector>

using lists = std::vector<std::vector<int>>;

/// A list of operations, by what each uses and defines.
inline sublet::snapshot op_list(std::size_t values, lists const& uses, lists const& defs)
{
    return sublet::sequence(
        uses.size(),
        values, [&](auto s) -> auto& { return uses[s]; }, [&](auto s) -> auto& { return defs[s]; });
}

#endif
