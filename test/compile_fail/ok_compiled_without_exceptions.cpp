// SPDX-License-Identifier: BSL-1.0
// flags: -DSUBLET_SEPARATE_COMPILATION -fno-exceptions -fno-rtti

// All definitions at once, without execution/.
#include <sublet/src.hpp>

int main() {}
