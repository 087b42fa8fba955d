// SPDX-License-Identifier: BSL-1.0
#include "read_text.hpp"

#include "../statements.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace workflow {
namespace {

using statements::in_quotes;

std::vector<std::string_view> split(std::string_view text, char at)
{
    std::vector<std::string_view> parts;
    for (;;) {
        std::size_t const end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == text.npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// `name`, or `name:bytes`.
std::size_t read_file(graph_builder& graph, std::string_view word)
{
    std::size_t const colon = word.find(':');
    std::size_t const f = graph.file_of(std::string(word.substr(0, colon)));
    if (colon == word.npos) return f;
    std::string_view const size = word.substr(colon + 1);
    auto const bytes = statements::number_in<byte_count>(size);
    if (!bytes)
        throw input_error("the size of file " + in_quotes(word.substr(0, colon)) +
                          " is no number of bytes below 2^64: " + in_quotes(size));
    graph.say_size(f, *bytes);
    return f;
}

/// `name`, or `name @duration`.
std::size_t read_task(graph_builder& graph, std::string_view field)
{
    std::size_t const blank = field.find(' ');
    std::string_view const name = field.substr(0, blank);
    if (blank != field.npos && !field.substr(blank + 1).starts_with('@'))
        throw input_error("the name of task " + in_quotes(field) + " has a blank");
    std::size_t const t = graph.add_task(std::string(name));
    if (blank == field.npos) return t;
    std::string_view const said = field.substr(blank + 2);
    auto const duration = statements::number_in<std::uint64_t>(said);
    if (!duration || *duration == 0)
        throw input_error("the duration of task " + in_quotes(name) +
                          " is no number from 1 to 2^64 - 1: " + in_quotes(said));
    graph.say_duration(t, *duration, "");
    return t;
}

void read_line(graph_builder& graph, std::string_view line)
{
    std::vector<std::string_view> const fields = split(line, '\t');
    if (fields.size() != 2 && fields.size() != 3)
        throw input_error("a task has a name, the files that it makes and those that it reads, separated by "
                          "tabs, and this line has " +
                          std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields"));
    std::size_t const t = read_task(graph, fields[0]);
    for (std::size_t i = 1; i != fields.size(); ++i)
        for (std::string_view word : split(fields[i], ' ')) {
            if (word.empty()) continue;
            std::size_t const f = read_file(graph, word);
            if (i == 1) graph.say_made(t, f);
            else graph.say_read(t, f);
        }
}

} // namespace

void read_text(graph_builder& graph, std::string_view text)
{
    std::size_t number = 0;
    for (std::string_view line : split(text, '\n')) {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line[0] == '#') continue;
        try {
            read_line(graph, line);
        } catch (input_error const& e) {
            throw input_error("line " + std::to_string(number) + ": " + e.what());
        }
    }
}

} // namespace workflow
