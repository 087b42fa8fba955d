// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TRANSITIVE_HPP
#define SUBLET_TEST_TRANSITIVE_HPP

#include <cstddef>
#include <vector>

/// Makes a relation of numbers transitive. Complexity: O(n³).
inline void make_transitive(std::vector<std::vector<bool>>& before)
{
    for (std::size_t k = 0; k != before.size(); ++k)
        for (std::size_t a = 0; a != before.size(); ++a)
            if (before[a][k])
                for (std::size_t b = 0; b != before.size(); ++b)
                    if (before[k][b]) before[a][b] = true;
}

#endif
