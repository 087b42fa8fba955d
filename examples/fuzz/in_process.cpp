// SPDX-License-Identifier: BSL-1.0
#include "in_process.hpp"

#include "counted_bytes.hpp"

#include "../memonger/program.hpp"
#include "../pack/program.hpp"
#include "../plan_model/program.hpp"
#include "../run_network/program.hpp"
#include "../transpiler/program.hpp"
#include "../workflow/program.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace fuzz {
namespace {

constexpr program programs[] = {
    {"plan_model", plan_model::run_program, "012", 64 << 20},
    {"run_network", run_network::run_program, "0123", 64 << 20},
    {"pack", pack::run_program, "0123", 128 << 20},
    {"memonger", memonger::run_program, "02", 512 << 20}, // it colours up to 20 million edges
    {"transpiler", transpiler::run_program, "02", 64 << 20},
    {"workflow", workflow::run_program, "02", 128 << 20},
};

/// A program may allocate so many bytes for a byte of a file, and for a byte of the limit of a run.
constexpr std::size_t bytes_of_file = 256, bytes_of_run = 4;
/// A search for the best order may keep so many bytes of what it has tried.
constexpr std::size_t bytes_of_search = 128 << 20;

/// Whether a line is one sentence of the program about the file.
bool is_sentence(program const& which, std::string_view line)
{
    std::string const begin = std::string(which.name) + ": ";
    return line.size() > begin.size() && line.starts_with(begin) &&
           std::none_of(line.begin(), line.end(),
                        [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
}

/// Those of the files that are read, and those of a run.
std::size_t bytes_asked_for(std::vector<std::string> const& words)
{
    std::size_t bytes = 0;
    for (std::size_t i = 0; i != words.size(); ++i) {
        std::string const option = i == 0 ? "" : words[i - 1];
        std::error_code none;
        if (option == "--limit") bytes += bytes_of_run * std::stoul(words[i]);
        else if (option == "--order" && (words[i] == "exact" || words[i] == "best")) bytes += bytes_of_search;
        else if (option == "--csv" || option == "--svg" || option == "--dot" || option == "--why-peak" ||
                 option == "--output" || option == "--trace" || option == "--header" ||
                 option == "--c-header" || option == "--tflm")
            continue;
        else if (std::uintmax_t const size = std::filesystem::file_size(words[i], none); !none)
            bytes += bytes_of_file * static_cast<std::size_t>(size);
    }
    return bytes;
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
    std::size_t const before = allocated_bytes;
    most_allocated_bytes = before;
    int const status = which.run(static_cast<int>(all.size()), all.data(), out, err);
    std::size_t const most = most_allocated_bytes - before;
    return {status, std::move(out).str(), std::move(err).str(), bytes_asked_for(words), most};
}

std::string contract_violation(program const& which, outcome const& result)
{
    if (which.statuses.find(static_cast<char>('0' + result.status)) == std::string_view::npos)
        return "ends with a status that is not documented";
    if (result.most_bytes > which.memory + result.asked_bytes)
        return "allocates " + std::to_string(result.most_bytes) + " bytes at once, more than " +
               std::to_string(which.memory + result.asked_bytes) + " for files of this size";
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
