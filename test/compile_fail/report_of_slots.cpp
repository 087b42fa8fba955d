// expect: planned_or_plan
// SPDX-License-Identifier: BSL-1.0

// Slots have no offsets: there is nothing to draw.
#include <sublet/reporting/csv.hpp>

struct text {
    void operator<<(char const*) {}
    void operator<<(char) {}
};

int main()
{
    text out;
    sublet::write_csv(out, sublet::slot_plan());
}
