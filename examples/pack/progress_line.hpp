// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP
#define SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP

#include <sublet/units.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace pack {

/// Set by Ctrl-C.
inline std::sig_atomic_t volatile is_interrupted = 0;

/// The first Ctrl-C ends the search and not the program: the best placement is still written. The second one
/// ends the program.
inline void stop_at_interrupt()
{
    std::signal(SIGINT, [](int) {
        is_interrupted = 1;
        std::signal(SIGINT, SIG_DFL);
    });
}

/// One line about a long search: rewritten in place on a terminal, else printed line by line.
class progress_line {
public:
    progress_line(std::ostream& to, bool quiet) : err(to), is_quiet(quiet) {}
    ~progress_line()
    {
        if (is_begun && is_terminal) err << clear_line << std::flush;
    }
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;

    void show(sublet::byte_count best, sublet::byte_count bound)
    {
        auto const now = std::chrono::steady_clock::now();
        if (is_quiet || now < next) return;
        next = now + (is_terminal ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000));
        auto const seconds = std::chrono::duration<double>(now - start).count();
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", seconds);
        if (is_terminal) err << clear_line;
        err << "pack: " << text << " s, ";
        if (best == sublet::no_limit) err << "nothing";
        else err << best;
        err << " found, lower bound " << bound << (is_terminal ? "" : "\n") << std::flush;
        is_begun = true;
    }

private:
    static constexpr char clear_line[] = "\r\x1b[K";

    std::ostream& err;
#if __has_include(<unistd.h>)
    bool const is_terminal = &err == &std::cerr && isatty(2) != 0;
#else
    bool const is_terminal = false;
#endif
    bool const is_quiet;
    bool is_begun = false;
    std::chrono::steady_clock::time_point const start = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point next = start + std::chrono::milliseconds(500);
};

} // namespace pack

#endif
