// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_CALLED_WORKFLOW_HPP
#define SUBLET_EXAMPLES_WORKFLOW_CALLED_WORKFLOW_HPP

/// Calls the program in a test with texts that are written to files.

#include "program.hpp"

#include "called_program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

inline called_program const workflow_program{"workflow", workflow::run_program};

inline std::vector<std::string> lines_of(std::string const& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

inline std::string text_in(std::filesystem::path const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct scratch_file {
    std::string name;
    explicit scratch_file(std::string const& text, char const* ending = ".txt")
        : name((std::filesystem::temp_directory_path() /
                ("sublet_workflow_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ending))
                   .string())
    {
        std::ofstream(name, std::ios::binary) << text;
    }
    ~scratch_file() { std::filesystem::remove(name); }
    scratch_file(scratch_file const&) = delete;
    scratch_file& operator=(scratch_file const&) = delete;
};

/// The sentence about a text, without the program's and the file's name; or the output, if there is none.
inline std::string answer_to(std::string const& text, std::vector<char const*> words = {})
{
    scratch_file const file(text);
    words.insert(words.begin(), file.name.c_str());
    auto const done = workflow_program.call(words);
    if (done.status == 0) return done.out;
    CHECK(done.status == 2);
    CHECK(done.out.empty());
    std::string const begin = "workflow: " + file.name + ": ";
    REQUIRE(done.err.starts_with(begin));
    REQUIRE(done.err.ends_with('\n'));
    return done.err.substr(begin.size(), done.err.size() - begin.size() - 1);
}

#endif
