// expect: sublet: names are a callable that takes the number of a value, or of a step, and returns text
// SPDX-License-Identifier: BSL-1.0

// Names of steps are no names of values.
#include <sublet/reporting/names.hpp>

#include <string>

int main()
{
    sublet::table<sublet::step_id, std::string> const steps;
    sublet::name_options const options{.names = steps};
    return options.names.is_given() ? 0 : 1;
}
