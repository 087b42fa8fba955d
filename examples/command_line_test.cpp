// SPDX-License-Identifier: BSL-1.0

#include "command_line.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr char usage[] = "usage: p FILE [--svg FILE] [--time-limit T|--timeout T] [-- ...]\n"
                         "  --threads N\n"
                         "  --quiet";

/// Each option and word that is read, with the operand of --svg; a mistake ends it with its sentence.
std::vector<std::string> read(std::vector<char const*> words)
{
    words.insert(words.begin(), "p");
    std::vector<std::string> found;
    try {
        command_line::reader<std::runtime_error> reader(static_cast<int>(words.size()), words.data(), usage);
        while (reader.next()) {
            found.push_back(reader.name());
            if (reader.name() == "--svg") found.push_back(reader.operand());
            if (reader.name() == "--sgv") throw std::runtime_error(reader.hint());
        }
    } catch (std::runtime_error const& e) {
        found.push_back(e.what());
    }
    return found;
}

using words = std::vector<std::string>;

} // namespace

TEST_CASE("an operand is the next word or follows an equals sign")
{
    CHECK(read({}) == words{});
    CHECK(read({"--svg", "a", "b"}) == words{"--svg", "a", "b"});
    CHECK(read({"--svg=a", "b"}) == words{"--svg", "a", "b"});
    CHECK(read({"--svg=a=b", "--quiet"}) == words{"--svg", "a=b", "--quiet"});
    CHECK(read({"--svg", "--quiet"}) == words{"--svg", "--quiet"}); // a file may be called so
    CHECK(read({"a=b", "-", "="}) == words{"a=b", "-", "="});       // no options
}

TEST_CASE("an operand that is missing, empty, or too much")
{
    std::string const missing = "option --svg needs an operand (see --help)";
    CHECK(read({"--svg"}) == words{"--svg", missing});
    CHECK(read({"--svg="}) == words{"--svg", missing});
    CHECK(read({"--svg", ""}) == words{"--svg", missing});
    CHECK(read({"--quiet=yes"}) == words{"--quiet", "option --quiet takes no operand"});
    CHECK(read({"--quiet=", "a"}) == words{"--quiet", "option --quiet takes no operand"});
    CHECK(read({"--sgv=a"}) == words{"--sgv", ", did you mean '--svg'? (see --help)"});
}

TEST_CASE("the option that was meant")
{
    auto meant = [](char const* word) { return command_line::nearest_option(word, usage); };
    CHECK(meant("--sgv") == "--svg");
    CHECK(meant("--svgs") == "--svg");
    CHECK(meant("-svg") == "--svg");
    CHECK(meant("--svg-file") == "--svg");
    CHECK(meant("--thread") == "--threads");
    CHECK(meant("--treads") == "--threads");
    CHECK(meant("--Quiet") == "--quiet");
    CHECK(meant("--time") == "--timeout"); // the shorter one
    CHECK(meant("--time-lim") == "--time-limit");
    CHECK(meant("--order") == "");
    CHECK(meant("--") == "");
    CHECK(meant("-x") == "");
    CHECK(meant("--s") == "");
    CHECK(meant("") == "");
    CHECK(command_line::nearest_option("--svg", "no options") == "");
    CHECK(command_line::nearest_option("--svg", "") == "");
}

TEST_CASE("edits of a word")
{
    CHECK(command_line::edit_distance("", "") == 0);
    CHECK(command_line::edit_distance("", "abc") == 3);
    CHECK(command_line::edit_distance("abc", "") == 3);
    CHECK(command_line::edit_distance("abc", "abc") == 0);
    CHECK(command_line::edit_distance("abc", "acb") == 1);
    CHECK(command_line::edit_distance("abc", "bca") == 2);
    CHECK(command_line::edit_distance("kitten", "sitting") == 3);
}
