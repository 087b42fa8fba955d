// SPDX-License-Identifier: BSL-1.0

// Mistakes that a sanitizer has to see inside of the library's own functions, not only in what calls them:
//     planted_faults overflow | race

#include <sublet/execution/stream_schedule.hpp>
#include <sublet/placement/detail/infeasible_core.hpp>

#include <string_view>
#include <thread>
#include <vector>

int main(int count, char** words)
{
    std::string_view const asked = count == 2 ? words[1] : "";
    if (asked == "overflow") { // a shape that is not there
        sublet::detail::placement_shapes one;
        one.shapes.resize(1);
        return static_cast<int>(sublet::detail::subset_of(one, {1}).shapes.size());
    }
    if (asked == "race") { // two threads tell one object
        sublet::detail::vector_clocks clocks(2);
        auto const mark = clocks.mark(1);
        auto learn = [&] {
            for (int i = 0; i != 1000; ++i) clocks.join_mark(0, mark);
        };
        std::jthread const other(learn);
        learn();
        return 0;
    }
    return 2;
}
