// SPDX-License-Identifier: BSL-1.0
#include "in_process.hpp"

#include "../memonger/program.hpp"
#include "../pack/program.hpp"
#include "../plan_model/program.hpp"
#include "../run_network/program.hpp"
#include "../transpiler/program.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace fuzz {
namespace {

constexpr program programs[] = {
    {"plan_model", plan_model::run_program, "012"},
    {"run_network", run_network::run_program, "0123"},
    {"pack", pack::run_program, "0123"},
    {"memonger", memonger::run_program, "02"},
    {"transpiler", transpiler::run_program, "02"},
};

/// Whether a line is one sentence of the program about the file.
bool is_sentence(program const& which, std::string_view line)
{
    std::string const begin = std::string(which.name) + ": ";
    return line.size() > begin.size() && line.starts_with(begin) &&
           std::none_of(line.begin(), line.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

std::vector<std::string> lines_of(std::string const& text)
{
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

} // namespace

program const* find_program(std::string_view name)
{
    for (program const& p : programs)
        if (p.name == name) return &p;
    return nullptr;
}

std::vector<std::string> words_of(std::string const& line)
{
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    return words;
}

outcome run(program const& which, std::vector<std::string> const& words)
{
    std::string const name(which.name);
    std::vector<char const*> all{name.c_str()};
    for (std::string const& word : words) all.push_back(word.c_str());
    std::ostringstream out, err;
    int const status = which.run(static_cast<int>(all.size()), all.data(), out, err);
    return {status, std::move(out).str(), std::move(err).str()};
}

std::string contract_violation(program const& which, outcome const& result)
{
    if (which.statuses.find(static_cast<char>('0' + result.status)) == std::string_view::npos)
        return "ends with a status that is not documented";
    if (!result.err.empty() && result.err.back() != '\n') return "ends without a line end";
    std::vector<std::string> const lines = lines_of(result.err);
    if (result.status == 2 && lines.size() != 1) return "does not refuse with one sentence";
    if (result.status == 2 && !result.out.empty()) return "refuses, and prints an answer too";
    // The rows of a list, such as unsupported operations of a network, are indented.
    for (std::string const& line : lines)
        if (!is_sentence(which, line) && !(&line != &lines.front() && line.starts_with("  ")))
            return "prints a line that is no sentence of its own";
    for (char const* inside : {"sublet: ", "std::", "vector::", "basic_string", "bad_alloc", "::at",
                               "length_error", "stoi", "stoll", "in-memory stream"})
        if (result.err.find(inside) != std::string::npos)
            return std::string("shows an internal word: ") + inside;
    return {};
}

bool matches(std::string_view text, std::string_view pattern)
{
    // If a part after a star does not match, it is tried one character later.
    std::size_t t = 0, p = 0, star = pattern.npos, retry = 0;
    while (t != text.size()) {
        if (p != pattern.size() && pattern[p] == '*') star = p++, retry = t;
        else if (p != pattern.size() && pattern[p] == text[t]) ++p, ++t;
        else if (star != pattern.npos) p = star + 1, t = ++retry;
        else return false;
    }
    return pattern.find_first_not_of('*', p) == pattern.npos;
}

std::string joined(std::vector<std::string> const& words)
{
    std::string all;
    for (std::string const& word : words) all += ' ' + word;
    return all;
}

void write_file(std::filesystem::path const& file, std::string const& bytes)
{
    std::ofstream out(file, std::ios::binary);
    out << bytes;
    out.close();
    if (!out) throw std::runtime_error(file.string() + ": cannot be written");
}

} // namespace fuzz
