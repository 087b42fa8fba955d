// expect: kinds
// SPDX-License-Identifier: BSL-1.0

// A table has no kinds: an option that a report would ignore is no member of its options.
#include <sublet/reporting/csv.hpp>

struct text {
    void operator<<(char const*) {}
    void operator<<(char) {}
};

int main()
{
    text out;
    sublet::csv_options const options{.kinds = [](auto v) { return v; }};
    sublet::write_csv(out, sublet::memory_plan(), options);
}
