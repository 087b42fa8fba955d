// SPDX-License-Identifier: BSL-1.0

// planning [--smoke] [--csv] [--most N]: how time and memory of planning grow with the program, stage by
// stage, on random programs of five kinds:
//
//     short      live ranges of 20 positions on average, as many positions as values
//     mixed      95 % of those, 5 % of up to a hundred times the length
//     dense      live ranges of up to half the program: each overlaps a large part of all others
//     training   values of the first half are used again in the second half, in reverse order
//     chain      operations that read the last result and up to two of the last twenty
//
// A placement examines overlapping pairs, so kinds in which n values overlap in n * n pairs end at fewer
// values. Every plan is checked; milliseconds are medians, bytes are those of the process beyond the program.
// `concurrent` is one call of plan_concurrent().
//
// planning --frames [--smoke] [--csv] [--most N]: random frame graphs (frame_graphs.hpp), N of them, each
// with a hundred random changes: how many textures of the frame before lie elsewhere, and the bytes, without
// the plan before, with it, and with a growth of 1 %. Every plan is proved. Then the middle and the worst time
// of 60 frames of each size, with the list that is made of them.
//
// planning --queues [--smoke] [--csv] [--most N]: random frames of two queues (queue_frames.hpp), N of them,
// and two fifths as many of three: how often plan_concurrent() takes more bytes than place() with a clock for
// each queue, which sees the same conflicts, by how much at most, how often each meets the bound, and mean
// milliseconds. Every plan is proved; place() proves nothing, and finds no conflicts in a program.
//
// planning --decoders [--smoke] [--csv] [--most N] [--nodes N] [--model NAME] [--parts A,B]:
// nanoseconds per node for every part, on the graphs of decoder_graphs.hpp:
//
//     ids, listing              the program and its options, from ids and by handles
//     fast, balanced, thorough  plan_memory() at each effort, checked; and by how much it exceeds the bound
//     check                     check_plan()
//     concurrent, handoffs      plan_concurrent(), plan_with_handoffs()
//     order                     order()
//
// After the sizes of a model a row `ratio`: by part, the largest ratio of two neighbouring sizes' times per
// node, whichever is larger. 1 is a flat curve; a step in the curve shows here.
//
// Only the graphs of `--nodes` nodes, of one model, or some parts: `--parts fast,check`. With --smoke each
// part runs once, so instructions can be counted:
//
//     valgrind --tool=callgrind --toggle-collect='sublet::plan_memory*'
//         bench_planning --decoders --smoke --model experts --nodes 3000 --parts balanced

#include "decoder_graphs.hpp"
#include "frame_graphs.hpp"
#include "measure.hpp"
#include "queue_frames.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_concurrent.hpp>
#include <sublet/plan_handoffs.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;

/// The values that each step touches, in two flat tables: a million steps need no million vectors.
class step_lists {
public:
    struct entry {
        step_id step;
        value_id value;
    };
    step_lists(std::size_t steps, std::vector<entry> const& entries)
        : begin_(steps + 1), values_(entries.size())
    {
        for (entry const& e : entries) ++begin_[e.step + 1];
        for (std::size_t s = 0; s != steps; ++s) begin_[s + 1] += begin_[s];
        std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
        for (entry const& e : entries) values_[next[e.step]++] = e.value;
    }
    std::span<value_id const> operator[](step_id s) const
    {
        return {values_.data() + begin_[s], values_.data() + begin_[s + 1]};
    }

private:
    std::vector<std::size_t> begin_;
    std::vector<value_id> values_;
};

struct sized_program {
    snapshot program;
    std::vector<byte_count> bytes;
};

using generator = std::mt19937;

/// Sizes of 4 KiB to 16 MiB, uniform on a logarithmic scale.
byte_count random_size(generator& pick)
{
    byte_count const mantissa = 64 + pick() % 64;
    return mantissa << (6 + pick() % 12);
}

/// The program that defines value i at the first position of ranges[i] and uses it at the last one.
sized_program program_of(std::vector<live_range> const& ranges, generator& pick)
{
    position_id steps = 0; // after the last one
    std::vector<step_lists::entry> defs, uses;
    for (std::size_t i = 0; i != ranges.size(); ++i) {
        auto const v = static_cast<value_id>(i);
        steps = std::max(steps, ranges[i].last);
        defs.push_back({+ranges[i].first, v});
        if (length(ranges[i]) > 1) uses.push_back({ranges[i].last - 1, v});
    }
    step_lists const used(steps, uses), defined(steps, defs);
    sized_program result{
        sequence(
            steps, ranges.size(), [&](step_id s) { return used[s]; }, [&](step_id s) { return defined[s]; }),
        {}};
    for (std::size_t i = 0; i != ranges.size(); ++i) result.bytes.push_back(random_size(pick));
    return result;
}

std::uint32_t below(std::size_t limit, generator& pick) { return static_cast<std::uint32_t>(pick() % limit); }

live_range live_range_from(position_id first, std::size_t positions, std::size_t steps)
{
    return {first, position_id(std::min(steps, first + positions))};
}

sized_program short_ranges(std::size_t n, generator& pick)
{
    std::vector<live_range> ranges(n);
    for (live_range& life : ranges) life = live_range_from(below(n, pick), 1 + pick() % 39, n);
    return program_of(ranges, pick);
}

sized_program mixed_ranges(std::size_t n, generator& pick)
{
    std::vector<live_range> ranges(n);
    for (live_range& life : ranges)
        life = live_range_from(below(n, pick), 1 + pick() % (pick() % 20 == 0 ? 3900 : 39), n);
    return program_of(ranges, pick);
}

sized_program dense_ranges(std::size_t n, generator& pick)
{
    std::vector<live_range> ranges(n);
    for (live_range& life : ranges) life = live_range_from(below(n, pick), 1 + pick() % (n / 2), n);
    return program_of(ranges, pick);
}

sized_program training_ranges(std::size_t n, generator& pick)
{
    std::vector<live_range> ranges(n);
    for (std::size_t i = 0; i != n; ++i) {
        auto const position = position_id(i);
        bool const is_kept = i < n / 2 && pick() % 2 == 0;
        ranges[i] =
            is_kept ? live_range_from(position, n - 2 * i, n) : live_range_from(position, 2 + pick() % 4, n);
    }
    return program_of(ranges, pick);
}

sized_program chain(std::size_t n, generator& pick)
{
    std::vector<step_lists::entry> uses;
    for (step_id s = 1; s < n; ++s) {
        uses.push_back({s, s - 1});
        for (std::uint32_t more = below(3, pick); more != 0; --more)
            uses.push_back({s, s - 1 - below(std::min<std::size_t>(s, 20), pick)});
    }
    step_lists const used(n, uses);
    sized_program result{
        sequence(
            n, n, [&](step_id s) { return used[s]; }, [](step_id s) { return std::vector<value_id>{+s}; }),
        {}};
    for (std::size_t i = 0; i != n; ++i) result.bytes.push_back(random_size(pick));
    return result;
}

struct kind {
    char const* name;
    sized_program (*make)(std::size_t n, generator& pick);
    std::size_t most;
};

kind const kinds[] = {{"short", short_ranges, 1'000'000},
                      {"mixed", mixed_ranges, 1'000'000},
                      {"dense", dense_ranges, 30'000},
                      {"training", training_ranges, 100'000},
                      {"chain", chain, 1'000'000}};

std::size_t const sizes[] = {100, 1000, 10'000, 30'000, 100'000, 1'000'000};

struct row {
    bench::timing lifetimes, buffers, place, check, all;
    double any_order = 0;
    std::uint32_t packings = 0;
    double gap_percent = 0, mebibytes = 0, bytes_per_buffer = 0;
};

row measure(sized_program const& p, int runs)
{
    row result;
    std::vector<double> ms_lifetimes, ms_buffers, ms_place, ms_check, ms_all;
    bench::reset_peak_rss();
    double const before = bench::process_mebibytes("VmRSS");
    for (int run = 0; run != runs; ++run) {
        plan_options const options{.bytes = std::span(p.bytes)};
        live_ranges ranges;
        buffer_table table;
        placement_problem problem;
        placement placed;
        memory_plan plan;
        ms_lifetimes.push_back(bench::milliseconds([&] { ranges = lifetimes(p.program); }));
        ms_buffers.push_back(bench::milliseconds([&] {
            table = gather_buffers(ranges, options);
            for (buffer const& b : table.buffers)
                problem.buffers.push_back({b.life, b.size, b.alignment, b.pool, b.pinned});
        }));
        ms_place.push_back(bench::milliseconds([&] { placed = place(problem); }));
        placement::pool_result const& pool = placed.pools.front();
        plan.buffer_of = table.buffer_of;
        plan.arena_bytes = {pool.height};
        for (std::size_t b = 0; b != table.buffers.size(); ++b)
            plan.buffers.push_back({table.buffers[b].root, table.buffers[b].life, table.buffers[b].size, 1, 0,
                                    placed.offset[b]});
        ms_check.push_back(bench::milliseconds([&] {
            if (!check_plan(p.program, plan, options)) {
                std::fputs("planning: a plan is refuted\n", stderr);
                std::exit(1);
            }
        }));
        ms_all.push_back(ms_lifetimes.back() + ms_buffers.back() + ms_place.back() + ms_check.back());
        result.packings = pool.packings;
        result.gap_percent =
            100 * (static_cast<double>(pool.height) / static_cast<double>(pool.lower_bound) - 1);
    }
    result.mebibytes = bench::process_mebibytes("VmHWM");
    result.bytes_per_buffer = (result.mebibytes - before) * (1 << 20) / static_cast<double>(p.bytes.size());
    result.lifetimes = bench::timing_of(ms_lifetimes);
    result.buffers = bench::timing_of(ms_buffers);
    result.place = bench::timing_of(ms_place);
    result.check = bench::timing_of(ms_check);
    result.all = bench::timing_of(ms_all);
    result.any_order = bench::milliseconds([&] {
        if (!plan_concurrent(p.program, {.bytes = std::span(p.bytes)}))
            throw std::runtime_error("there is no plan for steps in any order");
    });
    return result;
}

void print(kind const& k, std::size_t n, row const& r, bool as_csv)
{
    char const* const format =
        as_csv ? "%zu,%s,%.3f,%.3f,%.3f,%.3f,%.3f,%.0f,%u,%.2f,%.0f,%.0f,%.3f\n"
               : "%8zu %-9s %10.2f %10.2f %10.2f %10.2f %10.2f %8.0f %9u %7.2f %9.0f %13.0f %10.2f\n";
    std::printf(format, n, k.name, r.lifetimes.median, r.buffers.median, r.place.median, r.check.median,
                r.all.median, 100 * r.all.spread(), r.packings, r.gap_percent, r.mebibytes,
                r.bytes_per_buffer, r.any_order);
    std::fflush(stdout);
}

// --- decoders --------------------------------------------------------------------------------------------

struct decoder_options {
    bool is_smoke = false, as_csv = false;
    std::size_t most = 200'000;
    std::size_t nodes = 0; ///< 0: all sizes up to `most`
    std::string model, parts;
};

std::size_t const decoder_sizes[] = {100,    200,    500,     1000,    2000,    5000,     10'000,
                                     20'000, 50'000, 100'000, 200'000, 500'000, 1'000'000};

bool is_wanted(std::string const& parts, std::string const& name)
{
    return parts.empty() || (',' + parts + ',').find(',' + name + ',') != std::string::npos;
}

/// By part, the largest ratio of the rates of two neighbouring sizes of a model.
class neighbour_ratios {
public:
    void add(char const* part, double rate)
    {
        for (entry& e : entries_)
            if (e.part == part) {
                e.largest = std::max({e.largest, rate / e.last, e.last / rate});
                e.last = rate;
                return;
            }
        entries_.push_back({part, rate, 0});
    }
    void print(char const* model, bool as_csv) const
    {
        bool any = false;
        for (entry const& e : entries_) any = any || e.largest != 0;
        if (!any) return;
        std::printf(as_csv ? "%s,%s" : "%8s %-12s", "ratio", model);
        for (char const* part : {"ids", "listing", "fast", "", "balanced", "", "thorough", "", "check",
                                 "concurrent", "handoffs", "order"}) {
            std::string const name = part;
            auto const its = std::find_if(entries_.begin(), entries_.end(),
                                          [&](entry const& e) { return e.part == name; });
            bool const is_known = its != entries_.end() && its->largest != 0;
            if (is_known) std::printf(as_csv ? ",%.2f" : " %10.2f", its->largest);
            else if (as_csv) std::fputs(",", stdout);
            else std::fputs(name.empty() ? "      -" : "          -", stdout);
        }
        std::puts("");
    }

private:
    struct entry {
        std::string part;
        double last = 0, largest = 0;
    };
    std::vector<entry> entries_;
};

/// Prints one row, each cell as soon as it is known.
class decoder_row {
public:
    decoder_row(bench::named_model const& of, std::size_t nodes, decoder_options const& wanted,
                neighbour_ratios& ratios)
        : graph_(of.model, nodes), wanted_(wanted), ratios_(ratios), program_(graph_.program())
    {
        std::printf(wanted.as_csv ? "%zu,%s" : "%8zu %-12s", graph_.nodes(), of.name);
    }

    void print()
    {
        measure("ids", [&] { return graph_.program().steps() + graph_.options().bytes[0] != 0; });
        measure("listing", [&] {
            auto const list = graph_.list();
            return list.program().steps() + list.options().bytes[0] != 0;
        });
        memory_plan plan;
        effort const efforts[] = {effort::fast, effort::balanced, effort::thorough};
        char const* const names[] = {"fast", "balanced", "thorough"};
        for (std::size_t e = 0; e != 3; ++e) {
            planned_memory planned;
            bool const runs = measure(names[e], [&] {
                planned = plan_memory(program_, graph_.options(efforts[e]));
                return bool(planned);
            });
            if (runs) std::printf(wanted_.as_csv ? ",%.2f" : " %6.2f", 100 * planned.figures.gap());
            else std::fputs(wanted_.as_csv ? "," : "      -", stdout);
        }
        if (is_wanted(wanted_.parts, "check")) plan = plan_memory(program_, unchecked(effort::fast)).plan;
        plan_options const options = graph_.options();
        measure("check", [&] { return bool(check_plan(program_, plan, options)); });
        measure("concurrent", [&] { return bool(plan_concurrent(program_, options)); });
        measure("handoffs", [&] { return bool(plan_with_handoffs(program_, options)); });
        measure("order", [&] { return sublet::order(program_, options).order.size() == graph_.nodes(); });
        std::puts("");
    }

private:
    plan_options unchecked(effort work) const
    {
        plan_options options = graph_.options(work);
        options.check = false;
        return options;
    }

    /// The median of up to five runs, fewer if they take long. Returns whether the part was to run.
    template <class Work>
    bool measure(char const* name, Work work)
    {
        if (!is_wanted(wanted_.parts, name)) {
            std::fputs(wanted_.as_csv ? "," : "          -", stdout);
            return false;
        }
        std::vector<double> ms;
        double total = 0;
        for (std::size_t run = 0; run != (wanted_.is_smoke ? 1 : 5) && total < 1000; ++run) {
            bool is_valid = false;
            ms.push_back(bench::milliseconds([&] { is_valid = work(); }));
            total += ms.back();
            if (!is_valid) throw std::runtime_error(std::string("there is no valid result: ") + name);
        }
        double const of_node = 1e6 * bench::timing_of(ms).median / static_cast<double>(graph_.nodes());
        ratios_.add(name, of_node);
        std::printf(wanted_.as_csv ? ",%.0f" : " %10.0f", of_node);
        std::fflush(stdout);
        return true;
    }

    bench::decoder_graph graph_;
    decoder_options const& wanted_;
    neighbour_ratios& ratios_;
    snapshot program_;
};

void measure_decoders(decoder_options const& wanted)
{
    std::printf(wanted.as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                              : "%8s %-12s %10s %10s %10s %6s %10s %6s %10s %6s %10s %10s %10s %10s\n",
                "nodes", "model", "ids", "listing", "fast", "gap %", "balanced", "gap %", "thorough", "gap %",
                "check", "concurrent", "handoffs", "order");
    for (bench::named_model const& model : bench::graph_models) {
        if (!wanted.model.empty() && wanted.model != model.name) continue;
        neighbour_ratios ratios;
        for (std::size_t const n : decoder_sizes)
            if (wanted.nodes == 0 && n <= wanted.most) decoder_row(model, n, wanted, ratios).print();
        if (wanted.nodes != 0) decoder_row(model, wanted.nodes, wanted, ratios).print();
        ratios.print(model.name, wanted.as_csv);
    }
}

/// How planning a changed frame again goes, in one way.
struct replanned {
    char const* name;
    bool has_previous;
    double keep_within;
    std::size_t moved = 0;
    double bytes = 0, ms = 0; ///< multiples of those without the plan before, and milliseconds, added up
};

void measure_frames(std::size_t frames, std::size_t passes, int edits, bool as_csv)
{
    std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s\n" : "%-8s %-12s %8s %10s %8s %8s %8s\n", "change", "previous",
                "changes", "textures", "moved", "bytes", "ms");
    char const* const names[] = {"added", "removed", "resized", "pool", "all"};
    std::size_t changes[5] = {}, textures[5] = {};
    replanned const ways[] = {{"none", false, 0}, {"kept", true, 0}, {"kept, 1 %", true, 0.01}};
    std::vector<replanned> rows[5];
    for (std::vector<replanned>& row : rows) row.assign(ways, ways + 3);
    for (std::size_t f = 0; f != frames; ++f) {
        bench::frame_graph frame(passes, static_cast<std::uint32_t>(f));
        std::vector now(3, plan_memory(frame.list()));
        for (int change = 0; change != edits; ++change) {
            auto const kind = static_cast<std::size_t>(frame.edit());
            double least = 0; // bytes without the plan before
            for (std::size_t w = 0; w != 3; ++w) {
                auto list = frame.list();
                if (ways[w].has_previous) list.previous = now[w];
                list.keep_within = ways[w].keep_within;
                auto again = now[w];
                double const ms = bench::milliseconds([&] { again = plan_memory(list); });
                if (!again || !again.report().is_checked) throw std::runtime_error("a frame has no plan");
                auto const bytes = static_cast<double>(again.report().arena_bytes);
                if (w == 0) least = bytes;
                for (std::size_t of : {kind, std::size_t{4}}) {
                    rows[of][w].moved += bench::moved_textures(now[w], again);
                    rows[of][w].bytes += bytes / least;
                    rows[of][w].ms += ms;
                    if (w == 0) ++changes[of], textures[of] += frame.textures();
                }
                now[w] = std::move(again);
            }
        }
    }
    for (std::size_t of = 0; of != 5; ++of)
        for (replanned const& r : rows[of]) {
            auto const n = static_cast<double>(changes[of]);
            std::printf(as_csv ? "%s,\"%s\",%zu,%zu,%zu,%.5f,%.3f\n"
                               : "%-8s %-12s %8zu %10zu %8zu %8.5f %8.3f\n",
                        names[of], r.name, changes[of], textures[of], r.moved, r.bytes / n, r.ms / n);
        }
}

/// The middle and the worst of some frames of equal size, each the fastest of three.
void measure_frame_times(std::size_t frames, bool is_smoke, bool as_csv)
{
    std::printf(as_csv ? "\n%s,%s,%s,%s,%s,%s\n" : "\n%8s %6s %-9s %10s %10s %8s\n", "passes", "heaps",
                "effort", "median us", "worst us", "ratio");
    for (std::size_t const passes : {std::size_t{30}, std::size_t{100}, std::size_t{300}, std::size_t{1000}})
        for (unsigned const heaps : {2u, 3u})
            for (bool const is_fast : {true, false}) {
                if (is_smoke && passes > 100) return;
                std::vector<double> times;
                for (std::size_t f = 0; f != frames; ++f) {
                    auto list = bench::frame_graph(passes, static_cast<std::uint32_t>(f), heaps).list();
                    if (is_fast) list.effort = sublet::effort::fast;
                    auto planned = plan_memory(list);
                    double least = std::numeric_limits<double>::infinity();
                    for (int run = 0; run != 3; ++run)
                        least = std::min(least, bench::milliseconds([&] { planned = plan_memory(list); }));
                    times.push_back(1000 * least);
                }
                std::sort(times.begin(), times.end());
                double const median = times[times.size() / 2], worst = times.back();
                std::printf(as_csv ? "%zu,%u,%s,%.1f,%.1f,%.2f\n" : "%8zu %6u %-9s %10.1f %10.1f %8.2f\n",
                            passes, heaps, is_fast ? "fast" : "balanced", median, worst, worst / median);
            }
}

void measure_queues(std::uint32_t queues, std::size_t frames, bool as_csv)
{
    std::size_t above = 0, at_bound = 0, placed_at_bound = 0;
    double most = 0, ms = 0, place_ms = 0;
    for (std::size_t f = 0; f != frames; ++f) {
        bench::queue_frame const frame = bench::draw_queue_frame(queues, static_cast<std::uint32_t>(f));
        auto planned = plan_concurrent(frame.list);
        ms += bench::milliseconds([&] { planned = plan_concurrent(frame.list); });
        if (!planned || !planned.report().is_checked) throw std::runtime_error("a frame has no plan");
        placement placed;
        place_ms += bench::milliseconds([&] { placed = place(frame.problem); });
        byte_count const bytes = planned.report().arena_bytes, other = placed.pools[0].height;
        above += bytes > other;
        most = std::max(most, 100 * (static_cast<double>(bytes) / static_cast<double>(other) - 1));
        at_bound += bytes == planned.report().lower_bound_bytes;
        placed_at_bound += other == placed.pools[0].lower_bound;
    }
    auto const n = static_cast<double>(frames);
    std::printf(as_csv ? "%u,%zu,%zu,%.2f,%zu,%zu,%.3f,%.3f\n"
                       : "%6u %8zu %8zu %8.2f %10zu %12zu %10.3f %10.3f\n",
                queues, frames, above, most, at_bound, placed_at_bound, ms / n, place_ms / n);
}

constexpr char usage[] = "usage: bench_planning [--smoke] [--csv] [--most N]\n"
                         "       bench_planning --frames [--smoke] [--csv] [--most N]\n"
                         "       bench_planning --queues [--smoke] [--csv] [--most N]\n"
                         "       bench_planning --decoders [--smoke] [--csv] [--most N] [--nodes N]\n"
                         "                      [--model NAME] [--parts A,B]\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        std::size_t most = 1'000'000;
        bool as_csv = false, of_decoders = false, of_frames = false, of_queues = false,
             has_decoder_option = false;
        decoder_options decoders;
        for (int i = 1; i != count; ++i) {
            std::string const word = words[i];
            bool const has_next = i + 1 != count;
            if (word == "--smoke") {
                most = 1000;
                decoders.most = 100;
                decoders.is_smoke = true;
            } else if (word == "--csv") as_csv = decoders.as_csv = true;
            else if (word == "--most" && has_next) most = decoders.most = bench::number_in(words[++i]);
            else if (word == "--decoders") of_decoders = true;
            else if (word == "--frames") of_frames = true;
            else if (word == "--queues") of_queues = true;
            else {
                has_decoder_option = true;
                if (word == "--nodes" && has_next) decoders.nodes = bench::number_in(words[++i], 1);
                else if (word == "--model" && has_next) decoders.model = words[++i];
                else if (word == "--parts" && has_next) decoders.parts = words[++i];
                else bench::refuse_option(word);
            }
        }
        if (has_decoder_option && !of_decoders) throw std::runtime_error("that option needs --decoders");
        if (of_frames) {
            bool const is_smoke = decoders.is_smoke;
            measure_frames(is_smoke ? 2 : std::min<std::size_t>(most, 50), 60, is_smoke ? 10 : 100, as_csv);
            measure_frame_times(is_smoke ? 3 : 60, is_smoke, as_csv);
            return 0;
        }
        if (of_queues) {
            std::size_t const frames = decoders.is_smoke ? 10 : std::min<std::size_t>(most, 500);
            std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s\n" : "%6s %8s %8s %8s %10s %12s %10s %10s\n",
                        "queues", "frames", "above", "most %", "at bound", "place there", "ms", "place ms");
            measure_queues(2, frames, as_csv);
            measure_queues(3, frames * 2 / 5, as_csv);
            return 0;
        }
        if (of_decoders) {
            measure_decoders(decoders);
            return 0;
        }
        std::printf(as_csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                           : "%8s %-9s %10s %10s %10s %10s %10s %8s %9s %7s %9s %13s %10s\n",
                    "n", "kind", "lifetimes", "buffers", "place", "check", "all ms", "spread %", "packings",
                    "gap %", "peak MiB", "bytes/buffer", "concurrent");
        for (kind const& k : kinds)
            for (std::size_t const n : sizes) {
                if (n > std::min(most, k.most)) continue;
                generator pick(static_cast<generator::result_type>(n));
                sized_program const p = k.make(n, pick);
                print(k, n, measure(p, n <= 30'000 ? 5 : n <= 100'000 ? 3 : 1), as_csv);
            }
        return 0;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "planning: %s\n", e.what());
        return 2;
    }
}
