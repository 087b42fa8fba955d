// SPDX-License-Identifier: BSL-1.0

// lifetimes [--smoke] [--copies N] [FILE.csv ...]: places the lifetimes of files (columns
// id,lower,upper,size; half-open) and tells how far the arena is from the bound. Without files: all of
// $SUBLET_DATA/lifetimes.
//
// A placement that is good only on the very file is luck. --copies N adds N perturbed copies of each, with
// 5 % of the rows dropped and every distinct size multiplied by a number between 0.7 and 1.3.

#include "measure.hpp"

#include <sublet/placement/place.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sublet;

/// The rows of a file; an id may hold anything, so the numbers are the last three columns.
placement_problem read_lifetimes(std::string const& file)
{
    std::ifstream in(file);
    std::string line;
    if (!std::getline(in, line) || line.rfind("id,lower,upper,size", 0) != 0)
        throw std::runtime_error(file + ": is not a table of the columns id,lower,upper,size");
    placement_problem problem;
    while (std::getline(in, line)) {
        std::size_t cut[4] = {line.size()};
        for (int column : {1, 2, 3}) {
            cut[column] = cut[column - 1] == 0 ? std::string::npos : line.rfind(',', cut[column - 1] - 1);
            if (cut[column] == std::string::npos)
                throw std::runtime_error(file + ": cannot be read: " + line);
        }
        auto number = [&](int column) { return std::stoull(line.substr(cut[column] + 1)); };
        problem.buffers.push_back(
            {{static_cast<step_id>(number(3)), static_cast<step_id>(number(2))}, number(1)});
    }
    return problem;
}

placement_problem perturbed(placement_problem const& original, unsigned seed)
{
    std::mt19937 pick(seed);
    std::map<byte_count, byte_count> rescaled;
    for (placement_buffer const& b : original.buffers) rescaled[b.size] = 0;
    for (auto& [size, other] : rescaled) {
        double const factor = 0.7 + 0.6 * static_cast<double>(pick() % 10'001) / 10'000;
        other = std::max<byte_count>(1, static_cast<byte_count>(static_cast<double>(size) * factor));
    }
    placement_problem copy;
    for (placement_buffer b : original.buffers) {
        if (pick() % 20 == 0) continue;
        b.size = rescaled[b.size];
        copy.buffers.push_back(b);
    }
    return copy;
}

/// No two share a byte at a position: walk the births, and look at the neighbours by offset.
bool is_sound(placement_problem const& problem, placement const& placed)
{
    std::vector<std::size_t> births, deaths;
    for (std::size_t i = 0; i != problem.buffers.size(); ++i)
        if (placed.offset[i] != no_offset) births.push_back(i);
    deaths = births;
    auto const& all = problem.buffers;
    std::sort(births.begin(), births.end(), [&](std::size_t a, std::size_t b) {
        return all[a].life.first != all[b].life.first ? all[a].life.first < all[b].life.first : a < b;
    });
    std::sort(deaths.begin(), deaths.end(), [&](std::size_t a, std::size_t b) {
        return all[a].life.last != all[b].life.last ? all[a].life.last < all[b].life.last : a < b;
    });
    std::map<byte_count, byte_count> living; // from offset to end
    auto dead = deaths.begin();
    for (std::size_t born : births) {
        for (; all[*dead].life.last <= all[born].life.first; ++dead) living.erase(placed.offset[*dead]);
        byte_count const offset = placed.offset[born], end = offset + all[born].size;
        auto const above = living.lower_bound(offset);
        if (above != living.end() && above->first < end) return false;
        if (above != living.begin() && std::prev(above)->second > offset) return false;
        if (end > placed.pools[0].height) return false;
        living.emplace_hint(above, offset, end);
    }
    return true;
}

struct score {
    double log_sum = 0;
    int problems = 0;
    bool sound = true;
};

void run(std::string const& name, placement_problem const& problem, score& all)
{
    placement placed;
    std::vector<double> times;
    for (int i = 0; i != 5; ++i) times.push_back(bench::milliseconds([&] { placed = place(problem); }));
    bench::timing const ms = bench::timing_of(times);
    placed_pool const& pool = placed.pools.at(0);
    double const ratio = static_cast<double>(pool.height) / static_cast<double>(pool.lower_bound);
    bool const sound = is_sound(problem, placed);
    std::printf("%-32s %7zu %12llu %12llu %8.3f %9u %10.3f %9.0f%s\n", name.c_str(), problem.buffers.size(),
                static_cast<unsigned long long>(pool.lower_bound),
                static_cast<unsigned long long>(pool.height), 100 * (ratio - 1), pool.packings, ms.median,
                100 * ms.spread(), sound ? "" : "  UNSOUND");
    all.log_sum += std::log(ratio);
    ++all.problems;
    all.sound = all.sound && sound;
}

} // namespace

int main(int count, char** words)
{
    try {
        std::vector<std::string> files;
        unsigned copies = 0;
        bool smoke = false;
        for (int i = 1; i != count; ++i) {
            if (std::strcmp(words[i], "--smoke") == 0) {
                smoke = true;
            } else if (std::strcmp(words[i], "--copies") == 0 && i + 1 != count) {
                copies = bench::number_in(words[++i]);
            } else if (words[i][0] == '-') {
                std::fputs("usage: lifetimes [--smoke] [--copies N] [FILE.csv ...]\n", stderr);
                return 2;
            } else {
                files.emplace_back(words[i]);
            }
        }
        char const* const data = std::getenv("SUBLET_DATA");
        if (files.empty() && !smoke) {
            if (data == nullptr || *data == '\0') {
                std::puts("lifetimes: no files are given, and SUBLET_DATA is empty");
                return 0;
            }
            for (auto const& entry : std::filesystem::directory_iterator(std::string(data) + "/lifetimes"))
                if (entry.path().extension() == ".csv") files.push_back(entry.path().string());
            std::sort(files.begin(), files.end());
        }

        std::printf("%-32s %7s %12s %12s %8s %9s %10s %9s\n", "file", "rows", "lower bound", "height",
                    "gap %", "packings", "ms", "spread %");
        score all;
        auto run_with_copies = [&](std::string const& name, placement_problem const& problem) {
            run(name, problem, all);
            for (unsigned copy = 1; copy <= copies; ++copy)
                run(name + " copy " + std::to_string(copy), perturbed(problem, copy), all);
        };
        if (smoke) run_with_copies("built in", {{{{0, 2}, 64}, {{1, 3}, 32}, {{2, 4}, 64}, {{3, 9}, 40}}});
        for (std::string const& file : files)
            run_with_copies(std::filesystem::path(file).stem().string(), read_lifetimes(file));
        std::printf("%d placements, %.3f %% above the bound in geometric mean, %s\n", all.problems,
                    100 * std::expm1(all.log_sum / std::max(1, all.problems)),
                    all.sound ? "all sound" : "NOT all sound");
        return all.sound ? 0 : 1;
    } catch (std::exception const& e) {
        std::fprintf(stderr, "lifetimes: %s\n", e.what());
        return 2;
    }
}
