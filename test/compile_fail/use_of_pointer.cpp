// expect: (cannot convert|no viable conversion from) .*tensor ?[*].* to .(sublet::)?value_id
// SPDX-License-Identifier: BSL-1.0

// Values have numbers, not addresses.
#include <sublet/graph/snapshot.hpp>

#include <vector>

struct tensor {};

int main()
{
    std::vector<tensor> tensors(1);
    auto const effects = [&](auto, auto& step) { step.use(&tensors[0]); };
    return sublet::sequence(1, 1, effects).nodes() != 1;
}
