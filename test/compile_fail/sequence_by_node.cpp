// expect: effects_take_this_and_a_sink<(detail::id<sublet::detail::kind::step>|step_id>)|effects_function<.*step_id>. evaluated to false
// SPDX-License-Identifier: BSL-1.0

// The effects of a list are those of its steps.
#include <sublet/graph/snapshot.hpp>

int main()
{
    auto effects = [](sublet::node_id, sublet::effect_sink& sink) { sink.def(0); };
    return sublet::sequence(1, 1, effects).nodes() != 1;
}
