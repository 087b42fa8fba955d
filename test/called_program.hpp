// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CALLED_PROGRAM_HPP
#define SUBLET_TEST_CALLED_PROGRAM_HPP

/// Calls the whole program of an example in a test, and checks what it says of mistaken arguments.

#include <doctest/doctest.h>

#include <ostream>
#include <sstream>
#include <string>
#include <vector>

struct called_program {
    std::string name;
    int (*run)(int count, char const* const* words, std::ostream& out, std::ostream& err);

    struct outcome {
        int status;
        std::string out, err;
    };
    outcome call(std::vector<char const*> words) const
    {
        words.insert(words.begin(), name.c_str());
        std::ostringstream out, err;
        int const status = run(static_cast<int>(words.size()), words.data(), out, err);
        return {status, out.str(), err.str()};
    }

    void check_help() const
    {
        outcome const help = call({"--help"});
        CHECK(help.status == 0);
        CHECK(help.out.starts_with("usage: " + name + " CALL FILE"));
        CHECK(help.err.empty());
    }

    /// Arguments that are refused in one sentence.
    struct mistake {
        std::vector<char const*> words;
        std::string sentence;
    };
    void check(std::vector<mistake> const& mistakes) const
    {
        for (mistake const& m : mistakes) {
            outcome const done = call(m.words);
            CHECK(done.status == 2);
            CHECK(done.out.empty());
            CHECK(done.err == name + ": " + m.sentence + "\n");
        }
    }
};

#endif
