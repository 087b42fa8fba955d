// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP
#define SUBLET_EXAMPLES_PACK_PROGRESS_LINE_HPP

#include <sublet/core/units.hpp>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif
#if __has_include(<sys/ioctl.h>)
#include <sys/ioctl.h>
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

/// How many columns the terminal has: as it says, or else as COLUMNS says, or else 80.
inline std::size_t terminal_columns()
{
#if __has_include(<sys/ioctl.h>) && defined(TIOCGWINSZ)
    winsize size{};
    if (ioctl(2, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) return size.ws_col;
#endif
    std::size_t columns = 0;
    if (char const* const text = std::getenv("COLUMNS"))
        std::from_chars(text, text + std::string_view(text).size(), columns);
    return columns == 0 ? 80 : columns;
}

/// The begin of a line of ASCII that does not fill the last column, where some terminals begin the next line.
inline std::string cut_to(std::size_t columns, std::string line)
{
    if (line.size() >= columns) line.resize(columns == 0 ? 0 : columns - 1);
    return line;
}

/// One line about a search of more than a second, rewritten in place: it is cut to the terminal's width,
/// because a line that wraps would be left behind. Nothing if stderr is no terminal.
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
        std::string line = "pack: " + with_tenths(seconds) + " s, ";
        line += best == sublet::no_limit ? "nothing" : std::to_string(best);
        line += " found, lower bound " + std::to_string(bound);
        if (limit_ > seconds) line += ", " + with_tenths(limit_ - seconds) + " s left";
        err << clear_line << cut_to(terminal_columns(), std::move(line)) << std::flush;
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
