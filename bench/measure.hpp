// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_MEASURE_HPP
#define SUBLET_BENCH_MEASURE_HPP

/// Time and memory of a piece of work, as text columns want them. Nothing here is asserted by anybody.

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace bench {

/// The number that a word of the command line is.
/// Throws: std::runtime_error with a sentence for any other word, and for less than `least` or more than nine
///         digits.
inline unsigned number_in(std::string const& word, unsigned least = 0)
{
    bool const is_number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || word.size() > 9 || std::stoul(word) < least)
        throw std::runtime_error("'" + word + "' is not a number to count with");
    return static_cast<unsigned>(std::stoul(word));
}

/// The same of bytes, up to all that 64 bits can count.
inline std::uint64_t bytes_in(std::string const& word)
{
    std::uint64_t bytes = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
    if (error != std::errc() || end != word.data() + word.size())
        throw std::runtime_error("'" + word + "' is not a number of bytes");
    return bytes;
}

/// Whether the words of a command line ask for help, which is then printed.
inline bool gives_help(int count, char const* const* words, char const* usage)
{
    for (int i = 1; i < count; ++i)
        if (std::string const word = words[i]; word == "--help" || word == "-h")
            return std::fputs(usage, stdout), true;
    return false;
}

/// Throws: std::runtime_error, which says that there is no such option.
[[noreturn]] inline void refuse_option(std::string const& word)
{
    throw std::runtime_error("unknown option '" + word + "' (see --help)");
}

struct timing {
    double median = 0; ///< milliseconds
    double low = 0;
    double high = 0;

    /// How far the slowest run lies above the fastest: 0.1 is ten percent.
    double spread() const { return low > 0 ? high / low - 1 : 0; }
};

/// Of the times of repeated runs; by value, for it sorts them.
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

/// What Linux says of this process under `key` (VmHWM: most memory so far; VmRSS: now), in MiB; 0 elsewhere.
inline double process_mebibytes(std::string const& key)
{
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind(key + ':', 0) == 0) return std::stod(line.substr(key.size() + 1)) / 1024;
    return 0;
}

/// From here on the most memory is counted anew, and without what was freed before; where the system does not
/// allow that, it is that of the whole run.
inline void reset_peak_rss()
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    std::ofstream("/proc/self/clear_refs") << "5\n";
}

} // namespace bench

#endif
