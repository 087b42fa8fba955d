// expect: sublet: an executor says by exceptions what went wrong
// SPDX-License-Identifier: BSL-1.0
// flags: -fno-exceptions

// One sentence, and not an error for each throw.
#include <sublet/execution.hpp>

int main() {}
