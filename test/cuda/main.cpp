// SPDX-License-Identifier: BSL-1.0
// The tests that need a device. Without one they are skipped with a message and exit code 77; with
// SUBLET_REQUIRE_CUDA=1 in the environment that is a failure.
#include <sublet/execution/cuda.hpp>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

int main(int count, char** arguments)
{
    auto const found = sublet::cuda::probe();
    std::cout << (found.is_usable() ? "on " : "skipped: ") << found.why() << std::endl;
    if (found.is_usable()) return doctest::Context(count, arguments).run();
    char const* const required = std::getenv("SUBLET_REQUIRE_CUDA");
    return required != nullptr && std::string_view(required) == "1" ? 1 : 77;
}
