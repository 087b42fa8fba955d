// expect: sublet: executors report errors of a run by exceptions
// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions -fno-rtti

// One error, not one for each throw.
#include <sublet/execution.hpp>

int main() {}
