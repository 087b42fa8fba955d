// expect: sublet: names are a callable that takes the number of a value, or of a step, and returns text
// SPDX-License-Identifier: BSL-1.0

// One text is no name for each value.
#include <sublet/reporting/names.hpp>

#include <string>

int main()
{
    sublet::name_options const options{.names = std::string("conv1")};
    return options.names.is_given() ? 0 : 1;
}
