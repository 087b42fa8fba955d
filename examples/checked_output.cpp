// SPDX-License-Identifier: BSL-1.0

// Linked into every example and bench: what a program prints arrives, or the program fails with a sentence.
//
// That a disk is full, or a pipe closed, may show only when standard output is flushed for the last time,
// after main() has returned a status. This object is destroyed after that, also where a program ends by
// exit(). It flushes, and ends the program with status 2 if anything is lost.

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
        std::signal(SIGPIPE, SIG_IGN); // a write into a closed pipe fails, and is reported as any other
#endif
#if __has_include(<unistd.h>)
        // A standard stream that is closed would be the next file that is opened, and what is printed would
        // go there. With this in its place, to print fails.
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
