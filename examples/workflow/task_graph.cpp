// SPDX-License-Identifier: BSL-1.0
#include "task_graph.hpp"

#include "../statements.hpp"

#include <algorithm>
#include <queue>
#include <utility>

namespace workflow {
namespace {

using statements::in_quotes;

bool has_controls(std::string const& name)
{
    return std::any_of(name.begin(), name.end(), statements::is_control);
}

void remove_repeated(std::vector<std::size_t>& numbers)
{
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// The tasks that end before each: by files and by waits, each once.
std::vector<std::vector<std::size_t>> earlier_tasks(std::vector<task> const& tasks,
                                                    std::vector<file> const& files)
{
    std::vector<std::vector<std::size_t>> earlier;
    for (task const& t : tasks) {
        auto& before = earlier.emplace_back(t.after);
        for (std::size_t f : t.reads)
            if (files[f].maker != none) before.push_back(files[f].maker);
        remove_repeated(before);
    }
    return earlier;
}

/// Why no order exists: every task that is left waits for one that is left, so going back ends in a circle.
input_error circle(std::vector<task> const& tasks, std::vector<std::vector<std::size_t>> const& earlier,
                   std::vector<bool> const& has_run)
{
    std::vector<std::size_t> step_of(tasks.size(), none), path;
    std::size_t at = 0;
    while (has_run[at]) ++at;
    while (step_of[at] == none) {
        step_of[at] = path.size();
        path.push_back(at);
        for (std::size_t before : earlier[at])
            if (!has_run[before]) at = before;
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(step_of[at]));
    constexpr std::size_t most = 8;
    std::string text = path.size() == 1 ? "task " + in_quotes(tasks[at].name) + " waits for itself"
                                        : "these tasks wait for each other: ";
    for (std::size_t i = 0; path.size() > 1 && i != std::min(path.size(), most); ++i)
        text += (i == 0 ? "" : ", ") + in_quotes(tasks[path[i]].name) + " for " +
                in_quotes(tasks[path[(i + 1) % path.size()]].name);
    if (path.size() > most) text += ", and " + std::to_string(path.size() - most) + " more";
    return input_error(text);
}

/// Each task once, after those that it waits for; of those that can run, the first listed.
std::vector<std::size_t> possible_order(std::vector<task> const& tasks, std::vector<file> const& files)
{
    auto const earlier = earlier_tasks(tasks, files);
    std::vector<std::vector<std::size_t>> later(tasks.size());
    std::vector<std::size_t> waits(tasks.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t t = 0; t != tasks.size(); ++t) {
        for (std::size_t before : earlier[t]) later[before].push_back(t);
        waits[t] = earlier[t].size();
        if (waits[t] == 0) ready.push(t);
    }
    std::vector<std::size_t> order;
    std::vector<bool> has_run(tasks.size());
    while (!ready.empty()) {
        std::size_t const t = ready.top();
        ready.pop();
        order.push_back(t);
        has_run[t] = true;
        for (std::size_t next : later[t])
            if (--waits[next] == 0) ready.push(next);
    }
    if (order.size() != tasks.size()) throw circle(tasks, earlier, has_run);
    return order;
}

/// The tasks of `old` in that order, with what they refer to.
std::vector<task> reordered(std::vector<task>& old, std::vector<file>& files,
                            std::vector<std::size_t> const& order)
{
    std::vector<std::size_t> place(old.size());
    for (std::size_t at = 0; at != order.size(); ++at) place[order[at]] = at;
    std::vector<task> tasks;
    for (std::size_t t : order) {
        for (std::size_t& other : old[t].after) other = place[other];
        tasks.push_back(std::move(old[t]));
    }
    for (file& f : files)
        if (f.maker != none) f.maker = place[f.maker];
    return tasks;
}

/// Without the files that no task makes or reads, and without inputs if these are ignored.
void remove_unused(std::vector<task>& tasks, std::vector<file>& files, bool ignores_inputs)
{
    std::vector<std::size_t> number(files.size(), none);
    std::vector<file> used;
    for (std::size_t f = 0; f != files.size(); ++f) {
        if (files[f].maker == none && (ignores_inputs || !files[f].is_read)) continue;
        number[f] = used.size();
        used.push_back(std::move(files[f]));
    }
    files = std::move(used);
    for (task& t : tasks)
        for (auto* list : {&t.makes, &t.reads}) {
            for (std::size_t& f : *list) f = number[f];
            list->erase(std::remove(list->begin(), list->end(), none), list->end());
        }
}

/// A step that makes each input, right before the first task that reads it.
std::vector<task> with_staging(std::vector<task> const& tasks, std::vector<file>& files)
{
    std::vector<task> all;
    std::vector<std::size_t> place;
    for (task const& t : tasks) {
        for (std::size_t f : t.reads) {
            if (files[f].maker != none) continue;
            files[f].maker = all.size();
            all.push_back({.name = "stage " + files[f].name, .makes = {f}});
        }
        place.push_back(all.size());
        all.push_back(t);
        for (std::size_t f : t.makes) files[f].maker = place.back();
        for (std::size_t& other : all.back().after) other = place[other];
    }
    return all;
}

} // namespace

std::size_t graph_builder::add_task(std::string const& name)
{
    if (name.empty()) throw input_error("a task has no name");
    if (has_controls(name))
        throw input_error("the name of task " + in_quotes(name) + " has control characters");
    if (!task_numbers_.emplace(name, tasks_.size()).second)
        throw input_error("there are two tasks " + in_quotes(name));
    tasks_.push_back({.name = name});
    return tasks_.size() - 1;
}

std::size_t graph_builder::file_of(std::string const& name)
{
    if (name.empty()) throw input_error("a file has no name");
    auto const [at, is_new] = file_numbers_.emplace(name, files_.size());
    if (!is_new) return at->second;
    if (has_controls(name))
        throw input_error("the name of file " + in_quotes(name) + " has control characters");
    files_.push_back({.name = name});
    return at->second;
}

void graph_builder::say_size(std::size_t f, byte_count bytes)
{
    byte_count& known = files_[f].bytes;
    if (bytes == sublet::no_size)
        throw input_error("the size of file " + in_quotes(files_[f].name) + " is 2^64 - 1");
    if (known != sublet::no_size && known != bytes)
        throw input_error("file " + in_quotes(files_[f].name) + " has two sizes: " + std::to_string(known) +
                          " and " + std::to_string(bytes));
    known = bytes;
}

void graph_builder::say_duration(std::size_t t, std::uint64_t duration, char const* unit)
{
    task& one = tasks_[t];
    if (one.duration != 0 && one.duration != duration)
        throw input_error("task " + in_quotes(one.name) + " has two durations: " +
                          std::to_string(one.duration) + " and " + std::to_string(duration));
    one.duration = duration;
    time_unit_ = unit;
}

void graph_builder::say_made(std::size_t t, std::size_t f)
{
    file& made = files_[f];
    task& maker = tasks_[t];
    if (made.maker == t) return;
    if (made.maker != none)
        throw input_error("file " + in_quotes(made.name) + " is made twice: by task " +
                          in_quotes(tasks_[made.maker].name) + " and by task " + in_quotes(maker.name));
    made.maker = t;
    maker.makes.push_back(f);
}

void graph_builder::say_read(std::size_t t, std::size_t f)
{
    expect_not_made(t, f);
    files_[f].is_read = true;
    tasks_[t].reads.push_back(f);
}

void graph_builder::expect_not_made(std::size_t t, std::size_t f) const
{
    if (files_[f].maker == t)
        throw input_error("task " + in_quotes(tasks_[t].name) + " reads and makes file " +
                          in_quotes(files_[f].name));
}

void graph_builder::expect_sizes(completion const& how)
{
    std::vector<std::size_t> reader(files_.size(), none);
    for (std::size_t t = tasks_.size(); t-- != 0;)
        for (std::size_t f : tasks_[t].reads) reader[f] = t;
    byte_count sum = 0;
    for (std::size_t i = 0; i != files_.size(); ++i) {
        file& f = files_[i];
        if (f.bytes == sublet::no_size) {
            if (!how.missing_size)
                throw input_error("file " + in_quotes(f.name) + ", which task " +
                                  in_quotes(tasks_[f.maker != none ? f.maker : reader[i]].name) +
                                  (f.maker != none ? " makes" : " reads") +
                                  ", has no size (--missing-size says one for all such files)");
            f.bytes = *how.missing_size;
        }
        if (f.bytes >> 62 != 0)
            throw input_error("file " + in_quotes(f.name) + " has " + std::to_string(f.bytes) +
                              " bytes: storage for 2^62 or more is not planned");
        if (f.bytes >= sublet::no_size - sum)
            throw input_error("the sizes of all files together exceed 64 bits, with " +
                              std::to_string(f.bytes) + " of file " + in_quotes(f.name));
        sum += f.bytes;
    }
}

/// Files that are staged add a step of 1 each: these, too, fit in 64 bits.
void graph_builder::expect_durations() const
{
    std::uint64_t sum = files_.size();
    for (task const& t : tasks_) {
        std::uint64_t const duration = std::max<std::uint64_t>(t.duration, 1);
        if (duration > ~std::uint64_t{0} - 1 - sum)
            throw input_error("the durations of all tasks together exceed 64 bits, with " +
                              std::to_string(duration) + " of task " + in_quotes(t.name));
        sum += duration;
    }
}

task_graph graph_builder::finish(completion const& how)
{
    if (tasks_.empty()) throw input_error("has no task");
    for (std::size_t t = 0; t != tasks_.size(); ++t) {
        for (auto* list : {&tasks_[t].reads, &tasks_[t].after}) remove_repeated(*list);
        for (std::size_t f : tasks_[t].reads) expect_not_made(t, f);
    }
    remove_unused(tasks_, files_, how.inputs == input_rule::ignored);
    expect_sizes(how);
    expect_durations();
    task_graph g;
    g.time_unit = time_unit_;
    g.tasks = reordered(tasks_, files_, possible_order(tasks_, files_));
    g.files = std::move(files_);
    for (file const& f : g.files) {
        g.bytes += f.bytes;
        g.inputs += f.maker == none;
    }
    if (how.inputs == input_rule::staged) g.tasks = with_staging(g.tasks, g.files);
    return g;
}

std::vector<byte_count> live_bytes(task_graph const& g, std::vector<std::size_t> const& order,
                                   bool keeps_outputs)
{
    std::vector<std::size_t> first(g.files.size()), last(g.files.size());
    for (std::size_t at = 0; at != order.size(); ++at) {
        task const& t = g.tasks[order[at]];
        for (std::size_t f : t.makes) first[f] = last[f] = at;
        for (std::size_t f : t.reads) last[f] = at;
    }
    std::vector<byte_count> begins(order.size()), ends(order.size()), live;
    for (std::size_t f = 0; f != g.files.size(); ++f) {
        begins[first[f]] += g.files[f].bytes;
        ends[!g.files[f].is_read && keeps_outputs ? order.size() - 1 : last[f]] += g.files[f].bytes;
    }
    byte_count now = 0;
    for (std::size_t at = 0; at != order.size(); ++at) {
        now += begins[at];
        live.push_back(now);
        now -= ends[at];
    }
    return live;
}

} // namespace workflow
