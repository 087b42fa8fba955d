// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_MEASURE_HPP
#define SUBLET_BENCH_MEASURE_HPP

/// Time and memory of a piece of work, for text columns. Nothing is asserted here.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bench {

/// The number that a command-line word denotes.
///
/// Throws: std::runtime_error with a sentence for any other word, for less than `least`, and for more than
///         nine digits.
inline unsigned number_in(std::string const& word, unsigned least = 0)
{
    bool const is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || word.size() > 9 || std::stoul(word) < least)
        throw std::runtime_error("'" + word + "' is not a valid number");
    return static_cast<unsigned>(std::stoul(word));
}

/// The same for bytes, up to the maximum of 64 bits.
inline std::uint64_t bytes_in(std::string const& word)
{
    std::uint64_t bytes = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
    if (error != std::errc() || end != word.data() + word.size())
        throw std::runtime_error("'" + word + "' is not a number of bytes");
    return bytes;
}

/// Prints `usage` and returns true if the command line asks for help.
inline bool gives_help(int count, char const* const* words, char const* usage)
{
    for (int i = 1; i < count; ++i)
        if (std::string const word = words[i]; word == "--help" || word == "-h")
            return std::fputs(usage, stdout), true;
    return false;
}

/// Throws: std::runtime_error that names the unknown option.
[[noreturn]] inline void refuse_option(std::string const& word)
{
    throw std::runtime_error("unknown option '" + word + "' (see --help)");
}

struct timing {
    double median = 0; ///< milliseconds
    double low = 0;
    double high = 0;

    /// By how much the slowest run exceeds the fastest: 0.1 is ten percent.
    double spread() const { return low > 0 ? high / low - 1 : 0; }
};

/// Statistics of repeated runs. Takes a copy, because it sorts.
inline timing timing_of(std::vector<double> runs)
{
    std::sort(runs.begin(), runs.end());
    return {runs[runs.size() / 2], runs.front(), runs.back()};
}

template <class Work>
double milliseconds(Work&& work)
{
    auto const start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Processor time of the whole process, which does not count that of other programs.
template <class Work>
double processor_seconds(Work&& work)
{
    std::clock_t const start = std::clock();
    work();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// An entry of /proc/self/status (VmHWM: peak memory; VmRSS: current memory), in MiB; 0 on other systems.
inline double process_mebibytes(std::string const& key)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind(key + ':', 0) == 0) return std::stod(line.substr(key.size() + 1)) / 1024;
    return 0;
}

/// Restarts the count of peak memory, without memory that was freed before; if the system does not allow
/// that, the peak is that of the whole run.
inline void reset_peak_rss()
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    std::ofstream("/proc/self/clear_refs") << "5\n";
}

} // namespace bench

#endif
