// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_TASK_GRAPH_HPP
#define SUBLET_EXAMPLES_WORKFLOW_TASK_GRAPH_HPP

/// Tasks that make and read files, as every reader leaves them.
///
///     fetch ──raw──► clean ──rows──► count ──table──►        table: no task reads it, it is kept
///     list  ──names────────────────────┘

#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace workflow {

using sublet::byte_count;

/// A sentence about bad input or usage.
struct input_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::size_t none = ~std::size_t{0};

/// A file that some task makes or reads.
struct file {
    std::string name;
    byte_count bytes = sublet::no_size;
    std::size_t maker = none; ///< the task; none: an input of the workflow
    bool is_read = false;
};

struct task {
    std::string name;
    std::vector<std::size_t> makes = {}, reads = {}; ///< files, each once
    std::vector<std::size_t> after = {};             ///< tasks that end before it, beside those of its files
    std::uint64_t duration = 0;                      ///< 0: none is said
};

/// Files that no task makes are inputs: there from the start, made by a step of their own when they are first
/// needed, or left out.
enum class input_rule { given, staged, ignored };

/// What a file does not say.
struct completion {
    input_rule inputs = input_rule::given;
    std::optional<byte_count> missing_size = {}; ///< of files without a size; none: they are refused
};

/// Tasks in an order in which they can run: the listed one, or the nearest possible.
struct task_graph {
    std::vector<task> tasks;
    std::vector<file> files;
    byte_count bytes = 0;   ///< of all files
    std::size_t inputs = 0; ///< files that no task of the workflow makes, also if a step stages them
    std::string time_unit;  ///< of durations; empty if none is said
};

/// Takes what a reader finds, in any order, and completes it.
class graph_builder {
public:
    /// Without durations, readers skip what a format says of them.
    explicit graph_builder(bool with_durations) : with_durations_(with_durations) {}
    bool with_durations() const { return with_durations_; }

    /// Throws: input_error if there is such a task, or the name is empty or has control characters.
    std::size_t add_task(std::string const& name);
    /// The file of a name, which is new or known.
    /// Throws: input_error if the name is empty or has control characters.
    std::size_t file_of(std::string const& name);
    /// Throws: input_error if it had another size before.
    void say_size(std::size_t f, byte_count bytes);
    /// Throws: input_error if another task makes it already.
    void say_made(std::size_t t, std::size_t f);
    /// Throws: input_error if t makes it. If it says so later, finish() throws.
    void say_read(std::size_t t, std::size_t f);
    /// In a unit, the same for all tasks; it may be empty. Requires: duration >= 1.
    /// Throws: input_error if it had another duration before.
    void say_duration(std::size_t t, std::uint64_t duration, char const* unit);
    /// `t` begins after `other` has ended.
    void say_after(std::size_t t, std::size_t other) { tasks_[t].after.push_back(other); }
    std::string const& name_of(std::size_t t) const { return tasks_[t].name; }

    /// Complexity: O(n log n) for n tasks, files, reads and waits.
    /// Throws: input_error if there is no task, a size is missing or is 2^62 bytes or more, all sizes or all
    ///         durations together exceed 64 bits, a task reads what it makes, or tasks wait for each other.
    task_graph finish(completion const& how);

private:
    void expect_not_made(std::size_t t, std::size_t f) const;
    void expect_sizes(completion const& how);
    void expect_durations() const;

    bool with_durations_;
    std::string time_unit_;
    std::vector<task> tasks_;
    std::vector<file> files_;
    std::map<std::string, std::size_t> task_numbers_, file_numbers_;
};

/// The bytes that are live while each step of an order of the tasks runs: a file from the task that makes it,
/// or from the start, to the last one that reads it; one that no task reads to the end, if it is kept.
/// Complexity: O(tasks + files + reads).
std::vector<byte_count> live_bytes(task_graph const& g, std::vector<std::size_t> const& order,
                                   bool keeps_outputs);

} // namespace workflow

#endif
