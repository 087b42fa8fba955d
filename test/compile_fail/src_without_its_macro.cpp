// expect: SUBLET_SEPARATE_COMPILATION
// SPDX-License-Identifier: BSL-1.0
// flags: -USUBLET_SEPARATE_COMPILATION

// Where each header brings its definitions there is nothing to compile once.
#include <sublet/impl/src/graph.hpp>

int main() {}
