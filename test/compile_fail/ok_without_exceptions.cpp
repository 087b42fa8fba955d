// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions

// A broken precondition prints its sentence and ends the program; nothing here needs exceptions to compile.
#include <sublet/graph/explain.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/traversal.hpp>
#include <sublet/plan_options.hpp>

int main()
{
    auto const p = sublet::sequence(1, 1, [](auto, auto& sink) { sink.def(0); });
    sublet::plan_options const o{.bytes = 64};
    auto const forest = sublet::depth_first(p.graph());
    return sublet::checked_add(o.bytes[0], forest.reachable) == 65 ? 0 : 1;
}
