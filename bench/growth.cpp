// SPDX-License-Identifier: BSL-1.0

// growth [--smoke] [--only CALL] [--shape SHAPE] [--to DIGITS] [--seconds S]: the time and the memory for
// each step as programs grow.
//
// Prints a line for each call and shape of growth_cases.hpp: nanoseconds a step for 10^3, 10^4, 10^5 and 10^6
// (--to) steps, the largest factor from one size to the next, and the same of the bytes a step that the call
// takes above its input at its peak. A factor of 1 is linear, of 10 quadratic. Factors above 2 are marked by
// a star, with the reason if one is known. Each cell is a process of its own; one that takes more than 20
// (--seconds) seconds or 8 GiB is shown as "-", and ends its line. A time is that of the processor, the
// mean of the runs that begin within a tenth of a second.
//
// --only and --shape select the names that contain the word.

#include "growth_cases.hpp"
#include "measure.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::growth_call;
using bench::growth_shape;

struct arguments {
    std::string call, shape;
    unsigned from = 3, to = 6, seconds = 20;
    double repeated = 0.1; ///< seconds for which a call is repeated
};

char const usage[] = "growth [--smoke] [--only CALL] [--shape SHAPE] [--to DIGITS] [--seconds S]\n";

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        if (word == "--smoke") {
            args.from = 1, args.to = 2, args.repeated = 0;
            continue;
        }
        if (word != "--only" && word != "--shape" && word != "--to" && word != "--seconds")
            bench::refuse_option(word);
        if (i + 1 == count) throw std::runtime_error(word + " needs a word behind it");
        std::string const value = words[++i];
        if (word == "--only") args.call = value;
        else if (word == "--shape") args.shape = value;
        else if (word == "--to") args.to = std::max(args.from, std::min(7U, bench::number_in(value, 1)));
        else args.seconds = bench::number_in(value, 1);
    }
    return args;
}

struct cell {
    double nanoseconds = 0, bytes = 0; ///< a step
};

cell measured(growth_call const& call, growth_shape const& shape, std::size_t n, double repeated)
{
    bench::growth_input const in = shape.made(n);
    bench::growth_work const work = call.prepared(in);
    bench::reset_peak_rss();
    double const before = bench::process_mebibytes("VmRSS");
    std::clock_t const start = std::clock();
    double runs = 1, seconds = 0, mebibytes = 0;
    for (;; ++runs) {
        work();
        if (runs == 1) mebibytes = bench::process_mebibytes("VmHWM") - before;
        seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        if (seconds >= repeated) break;
    }
    double const steps = static_cast<double>(n);
    return {seconds / runs * 1e9 / steps, std::max(0.0, mebibytes) * 1024 * 1024 / steps};
}

/// The same in a process of its own; false: it took too much.
bool measured_apart(growth_call const& call, growth_shape const& shape, std::size_t n, arguments const& args,
                    cell& result)
{
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("no pipe can be made");
    pid_t const child = fork();
    if (child < 0) throw std::runtime_error("no process can be made");
    if (child == 0) {
        close(ends[0]);
        rlimit const time = {args.seconds, args.seconds}, memory = {rlim_t{8} << 30, rlim_t{8} << 30};
        setrlimit(RLIMIT_CPU, &time);
        setrlimit(RLIMIT_AS, &memory);
        int status = 1;
        try {
            cell const mine = measured(call, shape, n, args.repeated);
            status = write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1;
        } catch (std::bad_alloc const&) {
        } catch (std::exception const& e) {
            std::fprintf(stderr, "growth: %s, %s: %s\n", call.name, shape.name, e.what());
            status = 2;
        }
        _exit(status);
    }
    close(ends[1]);
    bool const is_whole = read(ends[0], &result, sizeof result) == sizeof result;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) throw std::runtime_error("a call has failed");
    return is_whole;
}

void print_line(arguments const& args, growth_call const& call, growth_shape const& shape)
{
    std::vector<cell> cells;
    std::size_t n = 1;
    for (unsigned i = 0; i != args.from; ++i) n *= 10;
    for (unsigned digits = args.from; digits <= args.to; ++digits, n *= 10) {
        cell one;
        if (!measured_apart(call, shape, n, args, one)) break;
        cells.push_back(one);
    }
    bool is_marked = false;
    bench::growth_reason const* const reason = bench::reason_of(call, shape);
    std::printf("%-25s %-19s", call.name, shape.name);
    for (double cell::* what : {&cell::nanoseconds, &cell::bytes}) {
        double factor = 1;
        for (std::size_t i = 1; i < cells.size(); ++i)
            if (cells[i - 1].*what > 0) factor = std::max(factor, cells[i].*what / cells[i - 1].*what);
        for (unsigned i = args.from; i <= args.to; ++i)
            if (i - args.from < cells.size()) std::printf(" %7.0f", cells[i - args.from].*what);
            else std::printf(" %7s", "-");
        std::printf("  x %-4.1f", factor);
        is_marked |= what == &cell::nanoseconds && factor > 2;
    }
    is_marked |= cells.size() != args.to - args.from + 1;
    std::printf(" %s %s\n", is_marked ? "*" : " ", is_marked && reason != nullptr ? reason->why : "");
    std::fflush(stdout);
}

} // namespace

int main(int count, char** words)
try {
    if (bench::gives_help(count, words, usage)) return 0;
    arguments const args = read_arguments(count, words);
    int const width = static_cast<int>(8 * (args.to - args.from + 1) + 8);
    std::printf("%-45s%-*s%s\n%-45s", "", width, " ns a step", " bytes a step", "");
    for (int half = 0; half != 2; ++half) {
        for (unsigned i = args.from; i <= args.to; ++i) std::printf("    10^%u", i);
        std::printf("  %-6s", "factor");
    }
    std::printf("\n");
    for (growth_call const& call : bench::growth_calls())
        for (growth_shape const& shape : bench::growth_shapes())
            if ((!shape.is_flow || call.reads_flow) &&
                std::string(call.name).find(args.call) != std::string::npos &&
                std::string(shape.name).find(args.shape) != std::string::npos)
                print_line(args, call, shape);
    return 0;
} catch (std::exception const& e) {
    std::fprintf(stderr, "growth: %s\n", e.what());
    return 2;
}
