// SPDX-License-Identifier: BSL-1.0

#include "program.hpp"
#include "progress_line.hpp"

#include <iostream>

int main(int count, char** words)
{
    pack::stop_at_interrupt();
    return pack::run_program(count, words, std::cout, std::cerr);
}
