// SPDX-License-Identifier: BSL-1.0

#include "program.hpp"

#include <iostream>

int main(int count, char** words) { return workflow::run_program(count, words, std::cout, std::cerr); }
