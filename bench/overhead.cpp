// SPDX-License-Identifier: BSL-1.0

// overhead [--smoke] [--csv] [--most N]: the cost of the executor itself, per step and at construction. The
// kernel is minimal: it writes one more than the sum of the first bytes of its operands. For comparison the
// same by hand, over a table of raw pointers into one arena; both must compute the same byte.
//
//     chain       a step reads the result of the previous step
//     branching   and up to two more of the last twenty
//     braided     a step reads the result of the eighth step before it: eight independent chains
//     forked      every third step reads that of the third step before it, the two others that of the
//     previous
//
//     no_plan, recycle, arena    serially, on this thread
//     fifo 2 ...                 in the arena, steps in parallel: policy of the queue, number of threads
//     streams 4 ...              on so many streams of a device that only runs kernels, at once; planned for
//                                every schedule, for up to 10 000 steps
//
// A launch on that device takes about 2100 instructions, a record or a wait a quarter of them. There, the
// loop by hand has a launch for each step, too, but no events.
//
//     make ms     constructing the executor without a proof; "proved": with check_plan()
//     ns a step   by hand, and at each level of checks: medians; "spread" is that of the loop by hand
//
// overhead --count MODE LEVEL KIND N RUNS only does that many runs of one executor. Instruction counts are
// the same on a busy machine: count them for two numbers of runs; the difference is the cost of N steps.
//
//     count="valgrind --tool=callgrind --callgrind-out-file=/dev/null bench_overhead --count"
//     for runs in 10 20; do $count arena off chain 1000 $runs; done
//
// MODE may also be by_hand, 'fifo 2', 'streams 4', which prints its events and waits, or launches: the loop
// by hand with launches. The commands of 'bare streams 4' cost nothing: compare it with by_hand.

#include "measure.hpp"

#include <sublet/execution.hpp>
#include <sublet/execution/streams.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;

char const* const kinds[] = {"chain", "branching", "braided", "forked"};
char const* const modes[] = {"no_plan", "recycle",  "arena",        "plan_order 1", "plan_order 2", "fifo 2",
                             "lifo 2",  "random 2", "plan_order 4", "streams 1",    "streams 4"};
char const* const levels[] = {"off", "plan", "paint", "digest"};
std::size_t const sizes[] = {1000, 10'000, 100'000, 1'000'000};

std::size_t const most_on_streams = 10'000;

/// Step i computes value i from inputs[begin[i]] ... inputs[begin[i + 1] - 1].
struct workload {
    std::vector<std::uint32_t> begin{0}, inputs;
    snapshot program;
    plan_options options;
    memory_plan plan, plan_for_streams; // the latter for at most 10 000 steps

    workload(std::size_t n, std::size_t kind) : options{.bytes = 64, .alignment = 64}
    {
        std::mt19937 pick(7);
        for (std::size_t i = 0; i != n; ++i) {
            std::size_t const back = kind == 2 ? 8 : kind == 3 && i % 3 == 0 ? 3 : 1;
            if (i >= back) inputs.push_back(static_cast<std::uint32_t>(i - back));
            for (std::size_t more = kind == 1 && i != 0 ? pick() % 3 : 0; more != 0; --more)
                inputs.push_back(static_cast<std::uint32_t>(i - 1 - pick() % std::min<std::size_t>(i, 20)));
            begin.push_back(static_cast<std::uint32_t>(inputs.size()));
        }
        program = sequence(n, n, [&](std::uint32_t s, effect_sink& sink) {
            sink.def(s);
            for (std::uint32_t u = begin[s]; u != begin[s + 1]; ++u) sink.use(inputs[u]);
        });
        options.role = [n](auto v) { return v + 1 == n ? value_role::output : value_role::intermediate; };
        plan = plan_memory(program, options).plan;
        if (n <= most_on_streams) plan_for_streams = plan_concurrent(program, options).plan;
    }
    std::size_t steps() const { return begin.size() - 1; }
};

/// Takes about three instructions a turn, like a driver that writes a command to memory.
[[gnu::noinline]] void command(unsigned turns)
{
    static std::uint32_t queue[64];
    std::uint32_t volatile* const commands = queue;
    for (unsigned i = 0; i < turns; ++i) commands[i % 64] = i;
}
constexpr unsigned launch_turns = 300, event_turns = 75;

/// Runs kernels at once, in host memory; events have no effect.
class idle_device {
public:
    using stream_type = unsigned;
    using event_type = unsigned;
    explicit idle_device(bool is_bare)
        : launch_turns_(is_bare ? 0 : launch_turns), event_turns_(is_bare ? 0 : event_turns)
    {
    }

    unsigned make_stream() { return made_++; }
    unsigned make_event() { return made_++; }
    void destroy_stream(unsigned) {}
    void destroy_event(unsigned) {}
    void record(unsigned, unsigned) { command(event_turns_); }
    void wait(unsigned, unsigned) { command(event_turns_); }
    std::byte* allocate(byte_count bytes, byte_count alignment, unsigned)
    {
        return static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment}));
    }
    void deallocate(std::byte* block, byte_count, byte_count alignment, unsigned)
    {
        ::operator delete(block, std::align_val_t{alignment});
    }
    void fill(std::byte* to, std::byte with, byte_count bytes, unsigned)
    {
        if (bytes != 0) std::memset(to, std::to_integer<int>(with), bytes);
    }
    void copy_to_device(std::byte* to, std::span<std::byte const> from, unsigned)
    {
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
    }
    void copy_from_device(std::span<std::byte> to, std::byte const* from, unsigned)
    {
        if (!to.empty()) std::memcpy(to.data(), from, to.size());
    }
    void digest(unsigned, std::span<std::byte const> bytes, std::uint64_t* out)
    {
        *out = sublet::digest(bytes);
    }
    template <class Kernel, class Call>
    void launch(unsigned, Kernel& kernel, Call const& call)
    {
        command(launch_turns_);
        kernel(call);
    }
    void synchronize(unsigned) {}
    void synchronize() {}
    bool is_lost() const { return false; }

private:
    unsigned made_ = 0, launch_turns_, event_turns_;
};

/// The same program without the library: a table of offsets, and a loop.
class by_hand {
public:
    explicit by_hand(workload const& w, bool is_on_streams = false) : w_(w)
    {
        memory_plan const& plan = is_on_streams ? w.plan_for_streams : w.plan;
        arena_.resize(plan.arena_bytes.at(0));
        for (value_id v = 0; v != w.steps(); ++v) where_.push_back(arena_.data() + plan.offset_of(v));
    }
    void run(bool has_launches = false)
    {
        for (std::size_t i = 0; i != where_.size(); ++i) {
            if (has_launches) command(launch_turns);
            unsigned sum = 1;
            for (std::uint32_t u = w_.begin[i]; u != w_.begin[i + 1]; ++u)
                sum += std::to_integer<unsigned>(*where_[w_.inputs[u]]);
            *where_[i] = static_cast<std::byte>(sum);
        }
    }
    std::byte result() const { return *where_.back(); }

private:
    workload const& w_;
    std::vector<std::byte> arena_;
    std::vector<std::byte*> where_;
};

struct sum_kernel {
    template <class Call>
    void operator()(Call const& call) const
    {
        unsigned sum = 1;
        for (std::size_t i = 0; i != call.uses().size(); ++i) sum += std::to_integer<unsigned>(call.in(i)[0]);
        call.out(0)[0] = static_cast<std::byte>(sum);
    }
};

bool runs_on_streams(std::string const& mode) { return mode.find("streams ") != std::string::npos; }

/// Calls `use_executor` with a function that makes an executor for a level.
template <class Callback>
void with_mode(std::string const& mode, workload const& w, Callback use_executor)
{
    auto with = [&](auto const& chosen) {
        use_executor([&](executor_options::checks level) {
            return cpu_executor(w.program, w.options, chosen, sum_kernel{}, {.check = level});
        });
    };
    if (mode == "no_plan") return with(no_plan{});
    if (mode == "recycle") return with(recycle{});
    if (mode == "arena") return with(arena{w.plan});
    if (runs_on_streams(mode)) {
        idle_device device(mode.starts_with("bare "));
        stream_options const how{.streams = bench::number_in(mode.substr(mode.rfind(' ') + 1))};
        return use_executor([&](executor_options::checks level) {
            return stream_executor(device, w.program, w.options, arena{w.plan_for_streams}, sum_kernel{}, how,
                                   {.check = level});
        });
    }
    std::size_t const space = mode.find(' ');
    std::string const policy = mode.substr(0, space);
    thread_options many{.workers = space == std::string::npos ? 2 : bench::number_in(mode.substr(space + 1))};
    if (policy == "plan_order") many.policy = queue_policy::plan_order;
    else if (policy == "fifo") many.policy = queue_policy::fifo;
    else if (policy == "lifo") many.policy = queue_policy::lifo;
    else if (policy == "random") many.policy = queue_policy::random;
    else throw std::runtime_error("no such mode: " + mode);
    use_executor([&](executor_options::checks level) {
        return thread_executor(w.program, w.options, arena{w.plan}, sum_kernel{}, many, {.check = level});
    });
}

void expect_same(std::byte a, std::byte b)
{
    if (a != b) throw std::runtime_error("the executor and the loop by hand differ");
}

/// One row: all levels of checks, alternating with the loop by hand.
void measure(char const* kind, char const* mode, workload const& w, int samples, bool as_csv)
{
    std::size_t const steps_per_sample = std::strchr(mode, ' ') == nullptr ? 500'000 : 100'000;
    int const runs =
        samples == 1 ? 1 : static_cast<int>(std::max<std::size_t>(1, steps_per_sample / w.steps()));
    auto steps = static_cast<double>(w.steps());
    std::vector<double> make[2], hand, level_times[4];
    bool const has_launches = runs_on_streams(mode);
    by_hand other(w, has_launches);
    with_mode(mode, w, [&](auto make_executor) {
        for (std::size_t level = 0; level != 4; ++level) {
            auto const check = static_cast<executor_options::checks>(level);
            for (int sample = 0; level < 2 && sample != samples; ++sample)
                make[level].push_back(bench::milliseconds([&] { (void)make_executor(check); }));
            auto run = make_executor(check);
            run.run(); // the first run is not timed
            for (int sample = 0; sample != samples; ++sample) {
                auto nanoseconds = [&](auto work) {
                    auto all = [&] {
                        for (int i = 0; i != runs; ++i) work();
                    };
                    return 1e6 * bench::milliseconds(all) / (steps * runs);
                };
                hand.push_back(nanoseconds([&] { other.run(has_launches); }));
                level_times[level].push_back(nanoseconds([&] { run.run(); }));
            }
            expect_same(run.output(w.steps() - 1)[0], other.result());
        }
    });
    bench::timing const reference = bench::timing_of(hand);
    auto median = [](std::vector<double> const& times) { return bench::timing_of(times).median; };
    std::printf(as_csv ? "%zu,%s,%s,%.4f,%.4f,%.3f,%.0f,%.3f,%.3f,%.3f,%.3f\n"
                       : "%8zu %-10s %-12s %10.3f %10.3f %8.2f %8.0f %8.2f %8.2f %8.2f %8.2f\n",
                w.steps(), kind, mode, median(make[0]), median(make[1]), reference.median,
                100 * reference.spread(), median(level_times[0]), median(level_times[1]),
                median(level_times[2]), median(level_times[3]));
    std::fflush(stdout);
}

std::size_t index_of(std::string const& word, char const* const* names, std::size_t count)
{
    for (std::size_t i = 0; i != count; ++i)
        if (word == names[i]) return i;
    throw std::runtime_error("no such thing to count: " + word);
}

/// Only runs, for an instruction counter.
void only_run(char const* const* words)
{
    std::string const mode = words[0];
    auto const level = static_cast<executor_options::checks>(index_of(words[1], levels, 4));
    workload const w(bench::number_in(words[3], 1), index_of(words[2], kinds, 4));
    int const runs = static_cast<int>(bench::number_in(words[4]));
    by_hand other(w);
    if (mode == "by_hand" || mode == "launches") {
        for (int i = 0; i != runs; ++i) other.run(mode == "launches");
        std::printf("%u\n", std::to_integer<unsigned>(other.result()));
        return;
    }
    other.run();
    with_mode(mode, w, [&](auto make_executor) {
        auto run = make_executor(level);
        for (int i = 0; i != runs; ++i) run.run();
        expect_same(run.output(w.steps() - 1)[0], other.result());
        if constexpr (requires { run.schedule(); })
            std::printf("%zu events, %zu waits\n", run.schedule().events, run.schedule().waits);
    });
}

constexpr char usage[] = "usage: bench_overhead [--smoke] [--csv] [--most N]\n"
                         "       bench_overhead --count MODE LEVEL KIND N RUNS\n";

} // namespace

int main(int count, char** words)
{
    std::size_t most = 1'000'000;
    int samples = 7;
    bool as_csv = false;
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        if (count == 7 && std::strcmp(words[1], "--count") == 0) return only_run(words + 2), 0;
        for (int i = 1; i != count; ++i) {
            if (std::strcmp(words[i], "--smoke") == 0) {
                most = 1000;
                samples = 1;
            } else if (std::strcmp(words[i], "--csv") == 0) {
                as_csv = true;
            } else if (std::strcmp(words[i], "--most") == 0 && i + 1 != count) {
                most = bench::number_in(words[++i]);
            } else {
                bench::refuse_option(words[i]);
            }
        }
        std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                           : "%8s %-10s %-12s %10s %10s %8s %8s %8s %8s %8s %8s\n",
                    "steps", "kind", "mode", "make ms", "proved ms", "by hand", "spread %", "off", "plan",
                    "paint", "digest");
        for (std::size_t const n : sizes) {
            if (n > most) continue;
            for (std::size_t kind = 0; kind != 4; ++kind) {
                workload const w(n, kind);
                for (char const* mode : modes)
                    if (n <= most_on_streams || !runs_on_streams(mode))
                        measure(kinds[kind], mode, w, samples, as_csv);
            }
        }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "overhead: %s\n", e.what());
        return 2;
    }
}
