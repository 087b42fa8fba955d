// SPDX-License-Identifier: BSL-1.0

// task_engine: steps on the flow graph of oneTBB, all in one arena, at the offsets of a plan. The flow graph
// knows of the edges that edges() gives, and of nothing else; beside it the thread_executor of this project
// runs the same plan. Every run has other priorities and pauses, and has to leave equal results.

#include "../command_line.hpp"
#include "work.hpp"

#include <sublet/execution/edges.hpp>
#include <sublet/execution/threads.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace task_engine {
namespace {

namespace flow = oneapi::tbb::flow;

constexpr std::string_view usage =
    "usage: task_engine [--blocks N] [--rows N] [--runs N] [--workers N] [--time]\n"
    "\n"
    "Runs a blocked Cholesky factorization, a small network and a training step on the flow graph of "
    "oneTBB,\n"
    "each in one arena at planned offsets, and on the project's threads; every run has to leave equal\n"
    "results.\n"
    "\n"
    "  --blocks N    blocks in a row of the matrix (default: 5)\n"
    "  --rows N      rows of a block (default: 24)\n"
    "  --runs N      runs of each plan on each engine, each in another schedule (default: 20)\n"
    "  --workers N   threads of an engine (default: 4)\n"
    "  --time        prints the time of an empty step instead, for 10^3 and 10^5 steps\n"
    "  --version     prints the version\n"
    "  --help        prints this text\n"
    "\n"
    "Prints, for each program: the bytes without sharing; those of blocks that are allocated by each step "
    "and\n"
    "freed after their last use; and for each kind of plan the bytes of the arena, how many edges the "
    "engine\n"
    "keeps, by reason, and whether all results are equal. Exit status: 0; 1 if results differ; 2 if an "
    "option\n"
    "is wrong.\n";

struct arguments {
    bool help = false, version = false, time = false;
    std::size_t blocks = 5, rows = 24, runs = 20;
    int workers = 4;
};

arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    command_line::reader<std::invalid_argument> reader(count, words, usage);
    auto number = [&](std::size_t most) {
        std::string const text = reader.operand();
        std::size_t value = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || value == 0 || value > most)
            throw std::invalid_argument(reader.name() + " takes a number from 1 to " + std::to_string(most) +
                                        ", not '" + text + "'");
        return value;
    };
    while (reader.next()) {
        std::string const& name = reader.name();
        if (name == "--help") args.help = true;
        else if (name == "--version") args.version = true;
        else if (name == "--time") args.time = true;
        else if (name == "--blocks") args.blocks = number(64);
        else if (name == "--rows") args.rows = number(512);
        else if (name == "--runs") args.runs = number(100'000);
        else if (name == "--workers") args.workers = static_cast<int>(number(256));
        else if (reader.is_option())
            throw std::invalid_argument("unknown option '" + name + "'" + reader.hint());
        else throw std::invalid_argument("takes options only, not '" + name + "' (see --help)");
    }
    return args;
}

/// The steps as nodes of a flow graph, with an edge for each of edges(). May run any number of times.
class flow_engine {
public:
    using body = std::function<void(sublet::step_id)>;

    flow_engine(int workers, sublet::step_edges const& keep, body run, std::uint64_t seed)
        : arena_(workers), run_(std::move(run))
    {
        arena_.execute([&] { // the graph runs where it is made
            graph_ = std::make_unique<flow::graph>();
            std::mt19937_64 random{seed};
            for (sublet::step_id s = 0; s != keep.steps; ++s)
                nodes_.push_back(std::make_unique<node>(
                    *graph_, [this, s](flow::continue_msg) { run_(s); },
                    static_cast<flow::node_priority_t>(1 + random() % 1000)));
            std::vector<bool> waits(keep.steps);
            for (auto [from, to, why] : keep.list) {
                flow::make_edge(*nodes_[from], *nodes_[to]);
                waits[to] = true;
            }
            for (std::size_t s = 0; s != waits.size(); ++s)
                if (!waits[s]) first_.push_back(nodes_[s].get());
        });
    }
    void run()
    {
        arena_.execute([this] {
            for (node* one : first_) one->try_put(flow::continue_msg());
            graph_->wait_for_all();
        });
    }

private:
    using node = flow::continue_node<flow::continue_msg>;

    oneapi::tbb::task_arena arena_;
    body run_;
    std::unique_ptr<flow::graph> graph_;
    std::vector<std::unique_ptr<node>> nodes_;
    std::vector<node*> first_;
};

/// Some steps of a run begin late: another schedule for each run.
void pause_before(std::uint64_t run, sublet::step_id step)
{
    std::mt19937 random{static_cast<std::uint32_t>(run * 7919 + step)};
    std::atomic<unsigned> spent{0};
    for (auto left = random() % 4 == 0 ? random() % 20'000 : 0; left != 0; --left)
        spent.fetch_add(1, std::memory_order_relaxed);
}

using numbers = std::vector<double>;

/// Storage for numbers, aligned as the plans ask.
class aligned_bytes {
public:
    explicit aligned_bytes(std::size_t bytes)
        : data_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})))
    {
    }
    double* at(std::size_t offset) const { return reinterpret_cast<double*>(data_.get() + offset); }

private:
    struct free_aligned {
        void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t{64}); }
    };
    std::unique_ptr<std::byte, free_aligned> data_;
};

void run_task(task const& its, std::vector<double*> const& place, block_number made)
{
    std::vector<double const*> in;
    for (block_number b : its.reads) in.push_back(place[b]);
    its.run(in, place[made]);
}

/// The results, read from where the blocks are.
numbers results_of(work const& of, std::vector<double*> const& place)
{
    numbers all;
    for (block_number b = 0; b != of.tasks.size(); ++b)
        if (of.tasks[b].is_result) all.insert(all.end(), place[b], place[b] + of.sizes[b]);
    return all;
}

/// One task after another, each block in storage of its own.
numbers expected_of(work const& of)
{
    std::vector<numbers> own;
    std::vector<double*> place;
    for (std::size_t size : of.sizes) place.push_back(own.emplace_back(size).data());
    for (block_number b = 0; b != of.tasks.size(); ++b) run_task(of.tasks[b], place, b);
    return results_of(of, place);
}

/// A run in which each step allocates its result, and frees what it reads for the last time.
class counted_blocks {
public:
    explicit counted_blocks(work const& of) : of_(of), users_(of.tasks.size()), place_(of.tasks.size())
    {
        for (task const& its : of.tasks)
            for (block_number b : its.reads) ++users_[b];
    }
    counted_blocks(counted_blocks const&) = delete;
    counted_blocks& operator=(counted_blocks const&) = delete;
    ~counted_blocks()
    {
        for (double* block : place_) delete[] block;
    }

    void run(block_number made)
    {
        std::size_t const live = live_ += bytes_of(made);
        for (std::size_t peak = peak_; peak < live && !peak_.compare_exchange_weak(peak, live);) {}
        place_[made] = new double[of_.sizes[made]];
        run_task(of_.tasks[made], place_, made);
        for (block_number b : of_.tasks[made].reads) {
            if (--users_[b] != 0 || of_.tasks[b].is_result) continue;
            delete[] std::exchange(place_[b], nullptr);
            live_ -= bytes_of(b);
        }
    }
    [[nodiscard]] std::size_t peak() const { return peak_; }
    [[nodiscard]] numbers results() const { return results_of(of_, place_); }

private:
    std::size_t bytes_of(block_number b) const { return of_.sizes[b] * sizeof(double); }

    work const& of_;
    std::vector<std::atomic<std::size_t>> users_; // steps that have still to read it
    std::vector<double*> place_;
    std::atomic<std::size_t> live_{0}, peak_{0};
};

/// The edges by reason, without the list of them.
std::string summary_of(sublet::step_edges const& keep)
{
    std::ostringstream text;
    text << keep;
    return text.str().substr(0, text.str().find(';'));
}

/// Runs a program without a plan and with each kind of plan. Returns whether all results are equal.
bool compare(work const& of, arguments const& args, std::ostream& out)
{
    sublet::listing<block_number> const list = of.listed();
    numbers const expected = expected_of(of);
    auto const listed = sublet::plan_memory(list);
    auto const any = sublet::plan_concurrent(list);
    auto const waiting =
        sublet::plan_with_handoffs(list, {.workers = static_cast<std::size_t>(args.workers)});

    std::size_t all = 0, differ = 0, most = 0;
    for (std::size_t size : of.sizes) all += size * sizeof(double);
    counted_blocks in_order(of);
    for (block_number b = 0; b != of.tasks.size(); ++b) in_order.run(b);
    auto const by_data = edges(list, any);
    for (std::size_t run = 0; run != args.runs; ++run) {
        counted_blocks blocks(of);
        auto const body = [&](sublet::step_id s) {
            pause_before(run, s);
            blocks.run(s);
        };
        flow_engine(args.workers, by_data, body, run).run();
        differ += blocks.results() != expected;
        most = std::max(most, blocks.peak());
    }
    out << of.title << ": " << of.tasks.size() << " steps\n    no sharing         " << all
        << " B\n    malloc, counted    " << in_order.peak() << " B in the listed order; at most " << most
        << " B in " << args.runs << " runs\n";

    auto show = [&](char const* kind, sublet::memory_plan const& plan) {
        auto const keep = edges(list, plan);
        aligned_bytes const arena(plan.arena_bytes.empty() ? 0 : plan.arena_bytes[0]);
        std::vector<double*> place;
        for (block_number b = 0; b != of.tasks.size(); ++b)
            place.push_back(arena.at(plan.offset_of(list.id(b))));
        std::size_t wrong = 0;
        for (std::size_t run = 0; run != args.runs; ++run) {
            auto const body = [&](sublet::step_id s) {
                pause_before(run, s);
                run_task(of.tasks[s], place, s);
            };
            flow_engine(args.workers, keep, body, run).run();
            wrong += results_of(of, place) != expected;

            auto const kernel = [&](sublet::cpu_call const& call) {
                pause_before(run, call.step);
                std::vector<double const*> in;
                for (std::size_t i = 0; i != call.uses().size(); ++i)
                    in.push_back(sublet::as<double>(call.in(i)).data());
                of.tasks[call.step].run(in, sublet::as<double>(call.out(0)).data());
            };
            sublet::thread_executor threads{list,
                                            sublet::arena{plan},
                                            kernel,
                                            {.workers = static_cast<std::size_t>(args.workers),
                                             .policy = sublet::queue_policy::random,
                                             .seed = run}};
            threads.run();
            numbers found;
            for (block_number b = 0; b != of.tasks.size(); ++b)
                if (of.tasks[b].is_result)
                    for (double x : sublet::as<double>(threads.output(list.id(b)))) found.push_back(x);
            wrong += found != expected;
        }
        out << "    plan, " << kind << plan.arena_bytes[0] << " B; " << summary_of(keep) << "; ";
        if (wrong == 0) out << args.runs << " runs on each engine leave equal results\n";
        else out << wrong << " of " << 2 * args.runs << " runs leave other results\n";
        differ += wrong;
    };
    show("one order    ", listed.plan);
    show("every order  ", any.plan);
    show("with waits   ", waiting.plan);
    return differ == 0;
}

/// Nanoseconds a step of a run: the best of several runs.
template <class Run>
double time_of(std::size_t steps, Run run)
{
    double best = 0;
    for (int turn = 0; turn != 5; ++turn) {
        auto const begin = std::chrono::steady_clock::now();
        run();
        std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
        double const each = took.count() / static_cast<double>(steps);
        best = turn == 0 ? each : std::min(best, each);
    }
    return best;
}

void time_engines(arguments const& args, std::ostream& out)
{
    for (std::size_t const steps : {std::size_t{1'000}, std::size_t{100'000}}) {
        std::mt19937 random{1};
        sublet::listing<block_number> list; // each step reads two of the 64 results before
        list.effort = sublet::effort::fast;
        for (block_number b = 0; b != steps; ++b) {
            auto step = list.step();
            std::size_t const near = std::min<std::size_t>(b, 64);
            std::size_t const first = near == 0 ? 0 : b - 1 - random() % near;
            std::size_t const second = near == 0 ? 0 : b - 1 - random() % near;
            if (near != 0) step.read(first);
            if (near != 0 && second != first) step.read(second);
            step.make(b, {.bytes = 8});
        }
        auto const planned = sublet::plan_memory(list);
        auto const keep = edges(list, planned);
        flow_engine engine(args.workers, keep, [](sublet::step_id) {}, 1);
        sublet::thread_executor threads{list,
                                        sublet::arena{planned},
                                        [](sublet::cpu_call const&) {},
                                        {.workers = static_cast<std::size_t>(args.workers)},
                                        {.check = sublet::executor_options::checks::off}};
        double const by_flow = time_of(steps, [&] { engine.run(); });
        double const by_threads = time_of(steps, [&] { threads.run(); });
        out << steps << " empty steps, " << keep.list.size() << " edges, " << args.workers
            << " workers: " << std::llround(by_flow) << " ns a step on oneTBB's flow graph, "
            << std::llround(by_threads) << " ns on thread_executor\n";
    }
}

int run_program(arguments const& args, std::ostream& out)
{
    // As many threads as asked for, also if there are fewer cores.
    oneapi::tbb::global_control const threads(oneapi::tbb::global_control::max_allowed_parallelism,
                                              static_cast<std::size_t>(args.workers));
    if (args.time) return time_engines(args, out), 0;
    work const factored = cholesky(args.blocks, args.rows);
    numbers const at_once = cholesky_at_once(args.blocks * args.rows), by_blocks = expected_of(factored);
    for (std::size_t i = 0; i != at_once.size(); ++i)
        if (std::abs(by_blocks[i] - at_once[i]) > 1e-9 * std::abs(at_once[i]))
            throw std::runtime_error("the blocks have another determinant or trace than the matrix");
    bool is_equal = true;
    for (work const& of : {factored, network(), training()}) is_equal = compare(of, args, out) && is_equal;
    return is_equal ? 0 : 1;
}

} // namespace
} // namespace task_engine

int main(int count, char** words)
{
    try {
        auto const args = task_engine::read_arguments(count, words);
        if (args.help) return std::cout << task_engine::usage, 0;
        if (args.version) return std::cout << command_line::version_of("task_engine"), 0;
        std::ostringstream out;
        int const status = task_engine::run_program(args, out);
        std::cout << out.str();
        return status;
    } catch (std::exception const& e) {
        std::cerr << "task_engine: " << e.what() << '\n';
        return 2;
    }
}
