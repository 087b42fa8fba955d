// expect: SUBLET_SEPARATE_COMPILATION
// SPDX-License-Identifier: BSL-1.0
// flags: -USUBLET_SEPARATE_COMPILATION

// In the header-only form there are no definitions to compile separately.
#include <sublet/impl/src/graph.hpp>

int main() {}
