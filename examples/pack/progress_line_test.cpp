// SPDX-License-Identifier: BSL-1.0

#include "progress_line.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("a line stays below the last column")
{
    std::string const line = "pack: 1.5 s, 1200 found";
    CHECK(pack::cut_to(80, line) == line);
    CHECK(pack::cut_to(24, line) == line);
    CHECK(pack::cut_to(23, line) == "pack: 1.5 s, 1200 foun");
    CHECK(pack::cut_to(6, line) == "pack:");
    CHECK(pack::cut_to(1, line) == "");
    CHECK(pack::cut_to(0, line) == "");
    CHECK(pack::cut_to(0, "") == "");
}
