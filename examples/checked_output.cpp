// SPDX-License-Identifier: BSL-1.0

// Linked into every example and bench: a program fails with one sentence if its output is lost.
//
// A full disk or a closed pipe may show only at the last flush of standard output, after main() has returned
// a status. This object is destroyed after that, also if a program ends by exit(). It flushes, and ends the
// program with status 2 if output is lost.

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#if __has_include(<unistd.h>)
#include <fcntl.h>
#include <unistd.h>
#endif

namespace {

struct checked_output {
    checked_output()
    {
#ifdef SIGPIPE
        std::signal(SIGPIPE, SIG_IGN); // a write into a closed pipe then fails like any other
#endif
#if __has_include(<unistd.h>)
        // If a standard stream is closed, the next opened file would take its descriptor and receive the
        // output. With /dev/null open for reading in its place, output fails.
        int opened = 0;
        while (opened >= 0 && opened <= STDERR_FILENO) opened = open("/dev/null", O_RDONLY);
        if (opened >= 0) close(opened);
#endif
    }
    ~checked_output()
    {
        bool const is_flushed = static_cast<bool>(std::cout.flush());
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && is_flushed) return;
#ifdef __GLIBC__
        std::fprintf(stderr, "%s: ", program_invocation_short_name);
#endif
        std::fputs("standard output cannot be written\n", stderr);
        std::_Exit(2);
    }
} const checked;

} // namespace
