// SPDX-License-Identifier: BSL-1.0

// Errors that a sanitizer must detect inside the library's own functions, not only in their callers:
//     planted_faults overflow | race

#include <sublet/execution/detail/vector_clocks.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>

#include <future>
#include <string_view>
#include <vector>

int main(int count, char** words)
{
    std::string_view const asked = count == 2 ? words[1] : "";
    if (asked == "overflow") { // a shape out of range
        sublet::detail::placement_shapes one;
        one.shapes.resize(1);
        return static_cast<int>(sublet::detail::subset_of(one, {1}).shapes.size());
    }
    if (asked == "race") { // two threads write to one object
        sublet::detail::vector_clocks clocks(2);
        auto const mark = clocks.mark(1);
        auto learn = [&] {
            for (int i = 0; i != 1000; ++i) clocks.join_mark(0, mark);
        };
        auto const other = std::async(std::launch::async, learn);
        learn();
        return 0;
    }
    return 2;
}
