// SPDX-License-Identifier: BSL-1.0

// placement [SECTION ...] [--seeds N] [--limit SECONDS] [--rounded] [--smoke] [FILE.csv ...]: the height of
// placements, and the time to find them. With --rounded sizes are rounded up to alignments, which become 1.
// Without files: all of $SUBLET_DATA/lifetimes. Sections; --files if none is given:
//
//     --files            each file by each method: single orders, the first plan, the best of all orders,
//                        repair and search of the first, and place(), which combines them
//     --capacity N       whether a file fits into N bytes. Of a folder: files named x.N.csv
//     --variants N       the same, for 1048576 bytes unless --capacity is given, for each file and N
//                        renumbered copies, every other one with time reversed, and for --seeds of search
//     --minimize         the lowest placement, with default settings
//     --dissections      buffers that fill a rectangle without a gap: 100, 200 and 400 of them
//     --tilings          2000, 2500, 3162 and 5000 buffers that cuts made of a rectangle, in three manners
//     --few-sizes        300 buffers of two to six sizes, live wherever a gap had room: as --anytime
//     --micro-batches    18,000 buffers of a network that is trained by micro-batches: as --anytime
//     --windows          whether a search over several positions would raise the bound: the buffers of each
//                        window of 2 to 160 positions that contains a peak, alone in the bytes of the peak
//     --copies N         N copies of each file with 5 % of the buffers dropped and all sizes changed
//     --anytime F.csv    the gap of the best placement to the bound over time: a table, and in F.csv each
//                        improvement
//     --overrun N        problems of 1000, 10000, ... N buffers, limits of 0, 10 ms, 100 ms and 1 s: how many
//                        milliseconds of wall time place() returns late, and the most between two questions
//                        whether to stop: so late a stop request is obeyed
//     --scaling N        random and repeated problems of 100, 1000, ... N buffers: time and memory
//     --few N            place() of 10, 20, 50 and 100 random buffers at `fast`, and plan_memory() of as many
//                        steps, N times each: nanoseconds and allocations of a call. With --limit K only of K
//                        buffers, to count instructions: the difference of two N. Also place() of each pool
//                        of $SUBLET_DATA/penalties/kernels.txt by itself, without penalties
//
// One line per measurement, key=value; `file=all` summarizes a section: ms_mean and nodes_mean are geometric
// means. Every placement and every lower-bound proof is checked by code that is independent of the placer; if
// one is refuted, the run fails. Milliseconds are processor time, because the machine is shared; limits are
// seconds of wall time. To count the instructions of a process that decides one file only:
//
//     valgrind --tool=callgrind build/bench/bench_placement --capacity 1048576 FILE.csv
//
// What an alignment costs, that of aligned/ against sizes rounded up:
//
//     for f in $SUBLET_DATA/aligned/*.csv; do for rounded in "" --rounded; do
//         valgrind --tool=callgrind build/bench/bench_placement --minimize $rounded $f; done; done

#include "../examples/pack/penalty_sets.hpp"
#include "../examples/pack/read_lifetimes.hpp"
#include "measure.hpp"
#include "placement_inputs.hpp"

#include <sublet/checking/check_placement.hpp>
#include <sublet/checking/check_proof.hpp>
#include <sublet/placement/detail/best_packing.hpp>
#include <sublet/placement/detail/fit.hpp>
#include <sublet/placement/detail/improve.hpp>
#include <sublet/placement/detail/portfolio.hpp>
#include <sublet/placement/detail/search_control.hpp>
#include <sublet/placement/detail/shapes.hpp>
#include <sublet/placement/internal/pack.hpp>
#include <sublet/placement/place.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

static std::size_t allocations = 0;

[[gnu::noinline]] void* operator new(std::size_t bytes)
{
    ++allocations;
    if (void* const block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

using namespace sublet;

struct subject {
    std::string name;
    placement_problem problem;
};

struct measurement {
    placement placed;
    double ms = 0;
    double mebibytes = 0; ///< peak of the whole process, if requested
    bool is_refuted = false;

    placement::pool_result const& pool() const { return placed.pools.at(0); }
    double gap() const // percent
    {
        if (pool().lower_bound == 0) return 0;
        return 100 * (static_cast<double>(pool().height) / static_cast<double>(pool().lower_bound) - 1);
    }
};

double cpu_milliseconds() { return 1000 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool is_all_sound = true;

/// Totals of a section.
struct tally {
    std::string_view section;
    std::vector<double> ms = {}, gaps = {}, nodes = {};
    std::size_t optimal = 0;

    void add(tally const& other)
    {
        ms.insert(ms.end(), other.ms.begin(), other.ms.end());
        gaps.insert(gaps.end(), other.gaps.begin(), other.gaps.end());
        nodes.insert(nodes.end(), other.nodes.begin(), other.nodes.end());
        optimal += other.optimal;
    }
    static double geometric_mean(std::vector<double> const& of, double least)
    {
        double logs = 0;
        for (double each : of) logs += std::log(std::max(each, least));
        return of.empty() ? 0 : std::exp(logs / static_cast<double>(of.size()));
    }
    void print(std::string_view what) const
    {
        if (ms.empty()) return;
        std::vector<double> sorted = gaps;
        std::sort(sorted.begin(), sorted.end());
        double const median = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
        double const sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
        std::printf("section=%-11.*s file=%-26.*s problems=%zu optimal=%zu ms_mean=%.3f ms_worst=%.3f "
                    "gap_mean=%.3f gap_median=%.3f gap_worst=%.3f nodes_mean=%.0f\n",
                    static_cast<int>(section.size()), section.data(), static_cast<int>(what.size()),
                    what.data(), ms.size(), optimal, geometric_mean(ms, 0.001),
                    *std::max_element(ms.begin(), ms.end()), sum / static_cast<double>(sorted.size()), median,
                    sorted.back(), geometric_mean(nodes, 1));
        std::fflush(stdout);
    }
};

char const* name_of(placement::outcome status)
{
    switch (status) {
    case placement::outcome::optimal: return "optimal";
    case placement::outcome::feasible: return "feasible";
    case placement::outcome::infeasible: return "infeasible";
    default: return "limit";
    }
}

/// Checks the placement, and the proof of its lower bound where possible, by code that is independent of the
/// placer.
bool is_refuted(placement_problem const& problem, placement const& placed, placement::objective args,
                std::span<byte_count const> previous = {})
{
    if (!check_placement(problem, placed, {.objective = args, .previous = previous})) return true;
    for (pool_id pool = 0; pool != placed.pools.size(); ++pool) {
        verdict const proof = check_proof(problem, placed, pool);
        if (proof || proof.error().what == fault::not_checkable) continue;
        // Stopped before the live ranges were read, it has no peak.
        bool const has_peak = !placed.is_timed_out || placed.pools[pool].peak_position != 0;
        if (proof.error().what != fault::wrong_peak || has_peak) return true;
    }
    return false;
}

measurement measure(placement_problem const& problem, place_options const& options)
{
    measurement m;
    double const start = cpu_milliseconds();
    m.placed = place(problem, options);
    m.ms = cpu_milliseconds() - start;
    m.is_refuted = is_refuted(problem, m.placed, options.objective);
    return m;
}

void print(tally& all, std::string const& name, std::string_view method, measurement const& m,
           bool is_counted = true)
{
    std::printf("section=%-11.*s file=%-26s method=%-11.*s buffers=%-7zu bound=%-11llu height=%-11llu "
                "gap=%-7.3f status=%-8s orders=%-3u nodes=%-8llu ms=%.3f",
                static_cast<int>(all.section.size()), all.section.data(), name.c_str(),
                static_cast<int>(method.size()), method.data(), m.placed.offset.size(),
                static_cast<unsigned long long>(m.pool().lower_bound),
                static_cast<unsigned long long>(m.pool().height), m.gap(), name_of(m.placed.status),
                m.pool().packings, static_cast<unsigned long long>(m.pool().nodes), m.ms);
    if (m.mebibytes > 0) std::printf(" mebibytes=%.0f", m.mebibytes);
    std::puts(m.is_refuted ? " REFUTED" : "");
    std::fflush(stdout);
    is_all_sound = is_all_sound && !m.is_refuted;
    if (!is_counted) return;
    all.ms.push_back(m.ms);
    all.gaps.push_back(m.gap());
    all.nodes.push_back(static_cast<double>(m.pool().nodes));
    all.optimal += m.placed.status == placement::outcome::optimal;
}

struct arguments {
    std::vector<std::string> sections;
    std::vector<std::string> files;
    byte_count capacity = 1'048'576;
    unsigned variants = 0, copies = 0, scaling = 0, overrun = 0, few = 0, seeds = 1, limit = 0;
    std::string improvements;
    bool rounded = false, smoke = false;

    double limit_or(double fallback) const { return limit == 0 ? fallback : limit; }
};

/// The stages of place(), one by one.
void run_methods(subject const& s, tally& all)
{
    placement_problem const& problem = s.problem;
    std::vector<buffer_id> all_buffers(problem.buffers.size());
    std::iota(all_buffers.begin(), all_buffers.end(), buffer_id{0});
    detail::placement_shapes const shapes = detail::shapes_of(problem, all_buffers);
    detail::placement_bound const bound = lower_bound(shapes);
    detail::packing best;
    auto run = [&](std::string_view method, auto pack) {
        measurement m;
        double const start = cpu_milliseconds();
        best = pack();
        m.ms = cpu_milliseconds() - start;
        m.placed.offset.assign(problem.buffers.size(), no_offset);
        for (detail::shape_part const& part : shapes.parts)
            m.placed.offset[part.buffer] = best.origin[part.shape] + part.distance;
        placement::pool_result& pool = m.placed.pools.emplace_back();
        pool.height = best.height;
        pool.lower_bound = bound.bytes;
        pool.peak_position =
            shapes.positions.empty() ? position_id{0} : shapes.positions[bound.peak_position];
        if (bound.bytes != 0)
            pool.proof = {placement::proof::reason::live_bytes, bound.bytes, pool.peak_position};
        pool.status = best.height == bound.bytes ? placement::outcome::optimal : placement::outcome::feasible;
        m.placed.status = pool.status;
        m.is_refuted = is_refuted(problem, m.placed, placement::objective::minimize);
        print(all, s.name, method, m, false);
    };
    static constexpr std::pair<std::string_view, detail::placement_order> orders[] = {
        {"size", detail::placement_order::size},
        {"size_class", detail::placement_order::size_class},
        {"area", detail::placement_order::area},
        {"load", detail::placement_order::load},
        {"breadth", detail::placement_order::breadth},
        {"lifetime", detail::placement_order::lifetime},
        {"birth", detail::placement_order::birth},
        {"peak_birth", detail::placement_order::peak_birth},
        {"peak_length", detail::placement_order::peak_length},
        {"peak_death", detail::placement_order::peak_death},
        {"rings", detail::placement_order::peak_distance},
        {"peak_distance_fine", detail::placement_order::peak_distance_fine},
        {"peak_distance_coarse", detail::placement_order::peak_distance_coarse}};
    for (auto const& each : orders)
        run(each.first,
            [&] { return fit(shapes, order_by(each.second, shapes, bound), detail::fit_rule::first_fit); });
    run("first", [&] { return first_packing(shapes, bound); });
    std::uint32_t tried = 0;
    run("best", [&] {
        return best_packing(shapes, bound, detail::pack_options{}.visits, first_packing(shapes, bound), tried);
    });
    detail::deterministic_control control;
    run("improve", [&] { return improve(shapes, bound, first_packing(shapes, bound), {}, control, tried); });
    if (shapes.size() <= detail::max_searched_shapes)
        run("search",
            [&] { return minimize(shapes, bound.bytes, first_packing(shapes, bound), {}, control).best; });
    print(all, s.name, "place", measure(problem, {}));
}

/// Searches for a placement within `capacity` only.
measurement decide(placement_problem problem, byte_count capacity, std::uint64_t seed, double limit)
{
    problem.pools = {{.capacity = capacity}};
    return measure(problem, {.time_limit = limit, .seed = seed, .objective = placement::objective::fit});
}

void run_capacity(std::vector<subject> const& subjects, arguments const& args)
{
    tally all{"capacity"};
    for (subject const& s : subjects)
        print(all, s.name, "fit", decide(s.problem, args.capacity, 0, args.limit));
    all.print("all");
}

void run_variants(std::vector<subject> const& subjects, arguments const& args)
{
    tally all{"variants"};
    for (subject const& s : subjects) {
        tally of_file{"variants"};
        for (unsigned v = 0; v <= args.variants; ++v)
            for (unsigned seed = 1; seed <= args.seeds; ++seed) {
                placement_problem const problem = v == 0 ? s.problem : bench::variant(s.problem, v);
                measurement const m = decide(problem, args.capacity, seed, args.limit_or(10));
                std::string const name = s.name + '/' + std::to_string(v) + '/' + std::to_string(seed);
                print(of_file, name, "fit", m);
            }
        of_file.print(s.name);
        all.add(of_file);
    }
    all.print("all");
}

void run_minimize(std::vector<subject> const& subjects, arguments const& args)
{
    tally all{"minimize"};
    for (subject const& s : subjects)
        print(all, s.name, "place", measure(s.problem, {.time_limit = double(args.limit)}));
    all.print("all");
}

void run_dissections(arguments const& args)
{
    for (std::size_t n : {100u, 200u, 400u}) {
        if (args.smoke && n > 100) break;
        tally all{"dissections"};
        for (unsigned seed = 1; seed <= (args.smoke ? 1 : 5); ++seed) {
            placement_problem const problem = bench::draw_dissection(n, seed);
            std::string const name = std::to_string(problem.buffers.size()) + '/' + std::to_string(seed);
            print(all, name, "fit", decide(problem, 1024, 0, args.limit_or(10)));
            if (n <= 200)
                print(all, name, "place", measure(problem, {.time_limit = args.limit_or(10)}), false);
        }
        all.print(std::to_string(n));
    }
}

void run_tilings(arguments const& args)
{
    tally all{"tilings"};
    for (bench::named_manner const& each : bench::cut_manners)
        for (std::size_t n : {2000u, 2500u, 3162u, 5000u}) {
            if (args.smoke && n > 2000) break;
            tally of_size{"tilings"};
            for (unsigned seed = 1; seed <= args.seeds; ++seed) {
                auto const drawn = bench::draw_cuts(each.manner, args.smoke ? 40 : n, seed);
                std::string const name =
                    std::string(each.name) + '/' + std::to_string(n) + '/' + std::to_string(seed);
                print(of_size, name, "place",
                      measure(drawn.problem, {.time_limit = double(args.limit), .seed = seed}));
            }
            of_size.print(std::string(each.name) + '/' + std::to_string(n));
            all.add(of_size);
        }
    all.print("all");
}

/// A window is `open` if neither a placement in the bytes of the peak is found nor that there is none.
void run_windows(std::vector<subject> subjects, arguments const& args)
{
    for (unsigned seed = 1; seed <= args.seeds; ++seed)
        subjects.push_back({"few_sizes/" + std::to_string(seed), bench::draw_few_sizes(300, seed)});
    std::size_t all = 0, all_fit = 0, all_raised = 0;
    for (subject const& s : subjects) {
        placement_problem problem = s.problem;
        for (placement_problem::buffer& b : problem.buffers) b.alignment = 1;
        std::vector<buffer_id> members(problem.buffers.size());
        std::iota(members.begin(), members.end(), buffer_id{0});
        detail::placement_shapes const shapes = detail::shapes_of(problem, members);
        detail::placement_bound const bound = detail::lower_bound(shapes);
        std::size_t const positions = shapes.positions.size();
        std::size_t windows = 0, fits = 0, raised = 0;
        for (std::size_t width = 2; width < std::min<std::size_t>(160, positions); width = width * 3 / 2 + 1)
            for (std::size_t at = 0; at + width < positions; at += std::max<std::size_t>(1, width / 4)) {
                auto const first = bound.live_bytes.begin() + static_cast<std::ptrdiff_t>(at);
                if (std::find(first, first + static_cast<std::ptrdiff_t>(width), bound.bytes) ==
                    first + static_cast<std::ptrdiff_t>(width))
                    continue;
                live_range const window{shapes.positions[at], shapes.positions[at + width]};
                placement_problem part;
                for (placement_problem::buffer const& b : problem.buffers) {
                    live_range const life{std::max(b.life.first, window.first),
                                          std::min(b.life.last, window.last)};
                    if (life.first < life.last) part.buffers.push_back({life, b.size});
                }
                measurement const m = decide(std::move(part), bound.bytes, 0, args.limit_or(1));
                ++windows;
                fits += m.placed.status == placement::outcome::optimal ||
                        m.placed.status == placement::outcome::feasible;
                raised += m.placed.status == placement::outcome::infeasible;
                is_all_sound = is_all_sound && !m.is_refuted;
            }
        std::printf("section=windows     file=%-26s positions=%zu windows=%zu fit=%zu raised=%zu open=%zu\n",
                    s.name.c_str(), positions, windows, fits, raised, windows - fits - raised);
        all += windows;
        all_fit += fits;
        all_raised += raised;
    }
    std::printf("section=windows     file=%-26s windows=%zu fit=%zu raised=%zu open=%zu\n", "all", all,
                all_fit, all_raised, all - all_fit - all_raised);
}

void run_copies(std::vector<subject> const& subjects, arguments const& args)
{
    tally all{"copies"};
    for (subject const& s : subjects) {
        tally of_file{"copies"};
        for (unsigned copy = 1; copy <= args.copies; ++copy) {
            placement_problem const problem = bench::perturbed(s.problem, copy);
            print(of_file, s.name + '/' + std::to_string(copy), "place",
                  measure(problem, {.time_limit = args.limit_or(2)}));
        }
        of_file.print(s.name);
        all.add(of_file);
    }
    all.print("all");
}

/// The gap of the best placement so far to its bound, as a step curve.
struct anytime_curve {
    struct incumbent {
        double ms, gap; ///< from `ms` on the best placement lies `gap` percent above the bound
    };
    std::string name;
    std::vector<incumbent> incumbents = {}; ///< ascending in time
    double end = 0;                         ///< ms, of the run

    /// In percent after so many milliseconds; below 0: no placement was found by then.
    double gap_after(double ms) const
    {
        double gap = -1;
        for (incumbent const& f : incumbents)
            if (f.ms <= ms) gap = f.gap;
        return gap;
    }
};

void run_anytime(std::vector<subject> const& subjects, arguments const& args)
{
    static constexpr double after[] = {1, 10, 100, 1000, 10'000};
    std::vector<anytime_curve> curves;
    std::vector<double> gaps[std::size(after)];
    for (subject const& s : subjects) {
        anytime_curve curve{s.name.substr(0, s.name.find('.'))};
        double const start = cpu_milliseconds();
        auto note = [&](byte_count best, byte_count bound, std::uint64_t) {
            if (best == no_limit || bound == 0) return;
            double const gap = 100 * (static_cast<double>(best) / static_cast<double>(bound) - 1);
            if (curve.incumbents.empty() || gap < curve.incumbents.back().gap)
                curve.incumbents.push_back({cpu_milliseconds() - start, gap});
        };
        placement const placed = place(s.problem, {.time_limit = args.limit_or(10), .progress = note});
        note(placed.pools[0].height, placed.pools[0].lower_bound, 0);
        curve.end = cpu_milliseconds() - start;
        is_all_sound = is_all_sound && !is_refuted(s.problem, placed, placement::objective::minimize);
        std::printf("section=anytime     file=%-26s first_ms=%-8.3f", s.name.c_str(),
                    curve.incumbents.front().ms);
        for (std::size_t i = 0; i != std::size(after); ++i) {
            double const gap = curve.gap_after(after[i]);
            if (gap < 0) {
                std::printf(" gap_%g=%-7s", after[i], "none");
                continue;
            }
            std::printf(" gap_%g=%-7.3f", after[i], gap);
            gaps[i].push_back(gap);
        }
        std::printf(" end_ms=%.3f\n", curve.end);
        curves.push_back(std::move(curve));
    }
    std::printf("section=anytime     file=%-26s problems=%zu    ", "all", curves.size());
    for (std::size_t i = 0; i != std::size(after); ++i) {
        std::sort(gaps[i].begin(), gaps[i].end());
        std::size_t const found = gaps[i].size();
        std::printf(" found_%g=%zu gap_%g=%.3f median_%g=%.3f", after[i], found, after[i],
                    std::accumulate(gaps[i].begin(), gaps[i].end(), 0.0) /
                        double(std::max<std::size_t>(1, found)),
                    after[i], found == 0 ? 0.0 : gaps[i][found / 2]);
    }
    std::puts("");
    if (args.improvements.empty()) return;
    std::ofstream out(args.improvements);
    out << "file,ms,gap_percent\n";
    for (anytime_curve const& curve : curves) {
        for (auto const& each : curve.incumbents)
            out << curve.name << ',' << each.ms << ',' << each.gap << '\n';
        out << curve.name << ',' << curve.end << ',' << curve.incumbents.back().gap << '\n';
    }
    if (!out.flush()) throw std::runtime_error(args.improvements + ": cannot be written");
}

/// `draw` by seeds.
template <class Draw>
void run_drawn(std::string const& family, arguments args, Draw draw)
{
    std::vector<subject> drawn;
    for (unsigned seed = 1; seed <= args.seeds; ++seed)
        drawn.push_back({family + '/' + std::to_string(seed), draw(seed)});
    args.improvements.clear();
    run_anytime(drawn, args);
}

/// Nanoseconds of processor time and allocations of a call, for small inputs.
/// Each pool of each kernel by itself, without its penalties.
std::vector<placement_problem> kernel_pools()
{
    std::vector<placement_problem> pools;
    char const* const data = std::getenv("SUBLET_DATA");
    if (data == nullptr) return pools;
    std::ifstream file(std::string(data) + "/penalties/kernels.txt");
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    for (pack::penalty_instance const& kernel : pack::read_penalties(text))
        for (pool_id pool = 0; pool != kernel.problem.pools.size(); ++pool) {
            placement_problem problem{{}, {kernel.problem.pools[pool]}};
            for (placement_problem::buffer b : kernel.problem.buffers)
                if (std::exchange(b.pool, pool_id{0}) == pool) problem.buffers.push_back(b);
            if (!problem.buffers.empty()) pools.push_back(std::move(problem));
        }
    return pools;
}

void run_few(arguments const& args)
{
    unsigned const runs = std::max(args.few, 1u);
    auto run = [runs](char const* call, unsigned n, auto work) {
        std::size_t const before = allocations;
        std::clock_t const begun = std::clock();
        for (unsigned i = 0; i != runs; ++i) work();
        double const seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        std::printf("few/%-4u %-12s ns=%.0f allocations=%zu\n", n, call, 1e9 * seconds / runs,
                    (allocations - before) / runs);
    };
    for (unsigned n : {10u, 20u, 50u, 100u}) {
        if (args.limit != 0 && args.limit != n && !args.smoke) continue;
        placement_problem const problem = bench::draw_placement("random", n);
        run("place", n, [&] { is_all_sound &= bool{place(problem, {.effort = effort::fast})}; });
        std::vector<byte_count> bytes;
        for (placement_problem::buffer const& b : problem.buffers) bytes.push_back(b.size);
        auto const chain = sequence(n, n, [](step_id s, effect_sink& sink) {
            if (s != 0) sink.use(value_id{+s - 1});
            if (s > 2 && s % 2 != 0) sink.use(value_id{+s - 3});
            sink.def(value_id{+s});
        });
        plan_options const options{.bytes = bytes, .effort = effort::fast};
        run("plan_memory", n, [&] { is_all_sound &= bool{plan_memory(chain, options)}; });
    }
    std::vector<placement_problem> const pools = kernel_pools();
    if (pools.empty() || args.limit != 0 || args.smoke) return;
    std::vector<std::uint64_t> nanoseconds;
    std::size_t at_bound = 0;
    for (placement_problem const& problem : pools) {
        std::clock_t const begun = std::clock();
        placement placed;
        for (unsigned i = 0; i != runs; ++i) placed = place(problem, {.effort = effort::fast});
        double const seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        nanoseconds.push_back(static_cast<std::uint64_t>(1e9 * seconds / runs));
        at_bound += placed.pools[0].height == placed.pools[0].lower_bound;
        is_all_sound &= !is_refuted(problem, placed, placement::objective::minimize);
    }
    std::sort(nanoseconds.begin(), nanoseconds.end());
    std::printf("few/pools place pools=%zu at_bound=%zu ns_median=%llu ns_worst=%llu\n", pools.size(),
                at_bound, static_cast<unsigned long long>(nanoseconds[nanoseconds.size() / 2]),
                static_cast<unsigned long long>(nanoseconds.back()));
}

void run_scaling(std::vector<subject> const& subjects, arguments const& args)
{
    tally all{"scaling"};
    auto run = [&](std::string const& family, auto draw) {
        for (std::size_t n = 100; n <= args.scaling; n *= 10) {
            placement_problem const problem = draw(n);
            std::string const name = family + '/' + std::to_string(n);
            for (bool is_first : {true, false}) {
                place_options options;
                if (is_first) options.effort = effort::fast;
                bench::reset_peak_rss();
                measurement m = measure(problem, options);
                m.mebibytes = bench::process_mebibytes("VmHWM");
                print(all, name, is_first ? "first" : "place", m, !is_first);
            }
        }
    };
    for (std::string_view family : bench::placement_families)
        run(std::string(family), [&](std::size_t n) { return bench::draw_placement(family, n); });
    for (subject const& s : subjects)
        run("repeated " + s.name, [&](std::size_t n) { return bench::repeated(s.problem, n); });
    all.print("all");
}

/// A drawn problem of which the buffers have more than lives and sizes. Pins are offsets of a fast placement.
placement_problem draw_kind(std::string_view family, std::string_view kind, std::size_t n)
{
    placement_problem problem = bench::draw_placement(family, n);
    std::vector<placement_problem::buffer>& buffers = problem.buffers;
    auto for_each = [&](auto change) {
        for (buffer_id b = 0; b != buffers.size(); ++b) change(b, buffers[b]);
    };
    if (kind == "aligned") for_each([](buffer_id, auto& b) { b.alignment = 4096 * 3; });
    if (kind == "mixed") for_each([](buffer_id i, auto& b) { b.alignment = byte_count{1} << i * 7 % 13; });
    if (kind == "gaps")
        for_each([&](buffer_id i, auto& b) {
            step_id const third = (b.life.last - b.life.first) / 3;
            if (third == 0) return;
            live_range const when{b.life.first + third, b.life.last - third};
            problem.gaps.push_back({i, when, b.size / 4, i % 2 == 0 ? b.size / 4 : b.size / 2});
        });
    if (kind == "pools") for_each([](buffer_id i, auto& b) { b.pool = i % 5; });
    if (kind == "choices")
        for_each([&](buffer_id i, auto&) {
            problem.choices.push_back({i, 0, 0});
            problem.choices.push_back({i, 1, 1 + i % 3});
        });
    if (kind == "pinned" || kind == "capacity" || kind == "blocks" || kind == "choices") {
        placement const placed = place(problem, {.effort = effort::fast});
        byte_count const height = placed.pools[0].height;
        if (kind == "pinned")
            for_each([&](buffer_id i, auto& b) { b.pinned = i % 16 == 0 ? placed.offset[i] : no_offset; });
        else if (kind == "capacity") problem.pools = {{.capacity = placed.pools[0].lower_bound}};
        else if (kind == "choices") problem.pools = {{.capacity = height / 2}, {}};
        else problem.pools = {{.largest_block = height / 2}};
    }
    return problem;
}

void run_overrun(arguments const& args)
{
    using clock = std::chrono::steady_clock;
    static constexpr std::pair<std::string_view, std::string_view> kinds[] = {
        {"random", "plain"},   {"nested", "plain"},  {"together", "plain"},  {"random", "aligned"},
        {"nested", "mixed"},   {"random", "gaps"},   {"together", "gaps"},   {"random", "pinned"},
        {"random", "pools"},   {"random", "blocks"}, {"random", "capacity"}, {"random", "choices"},
        {"random", "previous"}};
    for (auto const& [family, kind] : kinds)
        for (std::size_t n = args.smoke ? 100 : 1000; n <= args.overrun; n *= 10) {
            placement_problem const problem = draw_kind(family, kind, n);
            place_options options;
            std::vector<byte_count> previous;
            if (kind == "previous") {
                previous = place(problem, {.effort = effort::fast}).offset;
                for (buffer_id b = 0; b < n; b += 8) previous[b] = no_offset;
                options.previous = previous;
            }
            for (double limit : {1e-9, 0.01, 0.1, 1.0}) {
                clock::time_point const start = clock::now();
                clock::time_point last = start;
                clock::duration most{};
                auto note = [&] {
                    clock::time_point const now = clock::now();
                    most = std::max(most, now - std::exchange(last, now));
                    return false;
                };
                options.time_limit = limit;
                options.stop = note;
                placement const placed = place(problem, options);
                note();
                std::chrono::duration<double> const taken = last - start;
                bool const is_wrong = is_refuted(problem, placed, placement::objective::minimize, previous);
                is_all_sound = is_all_sound && !is_wrong;
                std::printf("section=overrun     file=%-26s kind=%-8s limit_ms=%-5.0f late_ms=%-7.1f "
                            "unasked_ms=%-7.1f timed_out=%d status=%s%s\n",
                            (std::string(family) + '/' + std::to_string(n)).c_str(), kind.data(),
                            1000 * limit, 1000 * (taken.count() - limit),
                            std::chrono::duration<double, std::milli>(most).count(), placed.is_timed_out,
                            name_of(placed.status), is_wrong ? " REFUTED" : "");
                std::fflush(stdout);
                if (args.smoke) break;
            }
        }
}

arguments read_arguments(int count, char** words)
{
    arguments args;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        auto operand = [&]() -> std::string {
            if (++i == count) throw std::runtime_error(word + " needs an operand");
            return words[i];
        };
        if (word[0] != '-') {
            args.files.push_back(word);
            continue;
        }
        if (word == "--smoke") args.smoke = true;
        else if (word == "--rounded") args.rounded = true;
        else if (word == "--seeds") args.seeds = bench::number_in(operand());
        else if (word == "--limit") args.limit = bench::number_in(operand());
        else {
            args.sections.push_back(word);
            if (word == "--capacity") args.capacity = bench::number_in(operand());
            else if (word == "--variants") args.variants = bench::number_in(operand());
            else if (word == "--copies") args.copies = bench::number_in(operand());
            else if (word == "--overrun") args.overrun = bench::number_in(operand());
            else if (word == "--scaling") args.scaling = bench::number_in(operand());
            else if (word == "--few") args.few = bench::number_in(operand(), 1);
            else if (word == "--anytime") args.improvements = operand();
            else if (word != "--files" && word != "--minimize" && word != "--dissections" &&
                     word != "--tilings" && word != "--few-sizes" && word != "--micro-batches" &&
                     word != "--windows")
                bench::refuse_option(word);
        }
    }
    if (args.sections.empty()) args.sections = {"--files"};
    return args;
}

std::vector<subject> read_subjects(arguments const& args)
{
    std::vector<std::string> files = args.files;
    char const* const data = std::getenv("SUBLET_DATA");
    if (files.empty() && data != nullptr && *data != '\0') {
        for (auto const& entry : std::filesystem::directory_iterator(std::string(data) + "/lifetimes"))
            if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
        std::sort(files.begin(), files.end());
    }
    std::vector<subject> subjects;
    if (args.smoke) return {{"drawn", bench::draw_dissection(20, 1)}};
    for (std::string const& file : files)
        subjects.push_back({std::filesystem::path(file).stem().string(), pack::read_lifetimes(file).problem});
    for (subject& s : subjects)
        for (placement_problem::buffer& b : s.problem.buffers) {
            if (!args.rounded) break;
            b.size = align_up(b.size, b.alignment);
            b.alignment = 1;
        }
    return subjects;
}

/// The files with their capacity in their names.
std::vector<subject> named_by_capacity(std::vector<subject> const& subjects, arguments const& args)
{
    if (!args.files.empty() || args.smoke) return subjects;
    std::vector<subject> named;
    for (subject const& s : subjects)
        if (s.name.ends_with('.' + std::to_string(args.capacity))) named.push_back(s);
    return named;
}

void run(arguments const& args)
{
    auto const subjects = read_subjects(args);
    auto const named = named_by_capacity(subjects, args);
    for (std::string const& section : args.sections) {
        tally all{"files"};
        if (section == "--files")
            for (subject const& s : subjects) run_methods(s, all);
        else if (section == "--capacity") run_capacity(named, args);
        else if (section == "--variants") run_variants(named, args);
        else if (section == "--minimize") run_minimize(subjects, args);
        else if (section == "--dissections") run_dissections(args);
        else if (section == "--tilings") run_tilings(args);
        else if (section == "--few-sizes")
            run_drawn("few_sizes", args, [](unsigned seed) { return bench::draw_few_sizes(300, seed); });
        else if (section == "--micro-batches")
            run_drawn("micro_batches", args, [&](unsigned seed) {
                return bench::draw_micro_batches(args.smoke ? 600 : 18'000, seed);
            });
        else if (section == "--windows") run_windows(named, args);
        else if (section == "--copies") run_copies(subjects, args);
        else if (section == "--anytime") run_anytime(subjects, args);
        else if (section == "--overrun") run_overrun(args);
        else if (section == "--scaling") run_scaling(subjects, args);
        else if (section == "--few") run_few(args);
        all.print("all");
    }
}

constexpr char usage[] =
    "usage: bench_placement [SECTION ...] [--seeds N] [--limit SECONDS] [--rounded] [--smoke]\n"
    "                       [FILE.csv ...]\n"
    "  SECTION  --files --capacity N --variants N --minimize --dissections --tilings --few-sizes\n"
    "           --micro-batches --windows --copies N --anytime F.csv --overrun N --scaling N\n"
    "           --few N\n";

} // namespace

int main(int count, char** words)
{
    try {
        if (bench::gives_help(count, words, usage)) return 0;
        arguments args = read_arguments(count, words);
        if (args.smoke) {
            args.sections = {"--files",       "--capacity", "--variants",  "--minimize",
                             "--dissections", "--tilings",  "--few-sizes", "--micro-batches",
                             "--windows",     "--copies",   "--anytime",   "--scaling",
                             "--few"};
            args.capacity = 1024;
            args.variants = args.copies = args.seeds = args.limit = 1;
            args.scaling = args.overrun = 100;
            args.few = 1;
        }
        run(args);
        if (!is_all_sound) std::puts("NOT all sound");
        return is_all_sound ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "placement: %s\n", e.what());
        return 2;
    }
}
