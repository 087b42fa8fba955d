// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP
#define SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP

#include <sublet/units.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
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

/// One line about a search of more than a second, rewritten in place. Nothing if stderr is no terminal.
class progress_line {
public:
    /// `limit`: seconds until the search ends; 0: none.
    progress_line(std::ostream& to, bool quiet, double limit)
        : err(to), is_shown(!quiet && is_terminal(to)), limit_(limit)
    {
    }
    ~progress_line()
    {
        if (is_begun) err << clear_line << std::flush;
    }
    progress_line(progress_line const&) = delete;
    progress_line& operator=(progress_line const&) = delete;

    void show(sublet::byte_count best, sublet::byte_count bound)
    {
        auto const now = std::chrono::steady_clock::now();
        if (!is_shown || now < next) return;
        next = now + std::chrono::milliseconds(100);
        double const seconds = std::chrono::duration<double>(now - start).count();
        err << clear_line << "pack: " << with_tenths(seconds) << " s, ";
        if (best == sublet::no_limit) err << "nothing";
        else err << best;
        err << " found, lower bound " << bound;
        if (limit_ > seconds) err << ", " << with_tenths(limit_ - seconds) << " s left";
        err << std::flush;
        is_begun = true;
    }

private:
    static constexpr char clear_line[] = "\r\x1b[K";

    static bool is_terminal([[maybe_unused]] std::ostream const& to)
    {
#if __has_include(<unistd.h>)
        return &to == &std::cerr && isatty(2) != 0;
#else
        return false;
#endif
    }
    static std::string with_tenths(double seconds)
    {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", seconds);
        return text;
    }

    std::ostream& err;
    bool const is_shown;
    double const limit_;
    bool is_begun = false;
    std::chrono::steady_clock::time_point const start = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point next = start + std::chrono::seconds(1);
};

} // namespace pack

#endif
