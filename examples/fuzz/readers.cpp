// SPDX-License-Identifier: BSL-1.0

// The example programs on files that libFuzzer makes. SUBLET_PROGRAM names one of them; the first byte of an
// input chooses how it is called, and the others are the file.
#include "in_process.hpp"
#include "plan_answers.hpp"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(unsigned char const* data, std::size_t size)
{
    using namespace fuzz;
    static char const* const name = std::getenv("SUBLET_PROGRAM");
    static program const* const called = name == nullptr ? nullptr : find_program(name);
    if (called == nullptr) {
        std::cerr << "SUBLET_PROGRAM names no program here\n";
        std::exit(2);
    }
    static std::vector<std::string> const modes = modes_of(name);
    static std::filesystem::path const work = std::string("fuzz-work/") + name;
    std::filesystem::create_directories(work);
    if (size == 0) return 0;
    std::string const ending = called->name == "pack"         ? ".csv"
                               : called->name == "memonger"   ? ".net"
                               : called->name == "transpiler" ? ".prog"
                               : called->name == "workflow"   ? ".json"
                                                              : ".onnx";
    std::string const file = (work / "input").string() + ending;
    std::string const bytes(data + 1, data + size);
    write_file(file, bytes);
    write_file(work / "order", "0\n");
    write_file(work / "table.csv", pinned_table);
    auto const words = words_of_mode(modes[data[0] % modes.size()], file, work);
    outcome const result = run(*called, words);
    std::string mistake = contract_violation(*called, result);
    std::string const shown = "shows an internal word: "; // which may come from the file
    if (mistake.starts_with(shown) && bytes.find(mistake.substr(shown.size())) != bytes.npos) mistake.clear();
    if (mistake.empty()) mistake = mistake_about_damaged(name, words, result);
    if (mistake.empty()) return 0;
    std::cerr << "MISTAKE: " << mistake << "\n  " << name << joined(words) << "\n  exit status "
              << result.status << "\n  stdout: " << result.out << "\n  stderr: " << result.err << std::endl;
    std::abort();
}
