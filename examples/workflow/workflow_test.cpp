// SPDX-License-Identifier: BSL-1.0
#include "amounts.hpp"
#include "called_workflow.hpp"

#include "random_source.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

// --- what a text says, read and counted again --------------------------------------------------------------

struct said_task {
    std::map<std::string, std::uint64_t> makes;
    std::set<std::string> reads;
};

struct said_workflow {
    std::map<std::string, said_task> tasks;
    std::map<std::string, std::uint64_t> inputs;
    std::set<std::string> read;

    explicit said_workflow(std::string const& text)
    {
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            std::istringstream fields(line);
            std::string name, makes, reads, word;
            std::getline(std::getline(std::getline(fields, name, '\t'), makes, '\t'), reads, '\t');
            said_task& t = tasks[name];
            for (std::istringstream words(makes); words >> word;)
                t.makes[word.substr(0, word.find(':'))] = std::stoull(word.substr(word.find(':') + 1));
            for (std::istringstream words(reads); words >> word;) {
                std::string const file = word.substr(0, word.find(':'));
                t.reads.insert(file);
                read.insert(file);
                if (file != word) inputs[file] = std::stoull(word.substr(file.size() + 1));
            }
        }
    }
    void ignore_inputs()
    {
        for (auto& [name, t] : tasks)
            for (auto const& [file, bytes] : inputs) t.reads.erase(file);
        inputs.clear();
    }
    void stage_inputs()
    {
        for (auto const& [file, bytes] : inputs) tasks["stage " + file].makes = {{file, bytes}};
        inputs.clear();
    }

    /// Runs the tasks and keeps the files that are there; no_peak if a task cannot run.
    static constexpr std::uint64_t no_peak = ~std::uint64_t{0};
    std::uint64_t peak_of(std::vector<std::string> const& order, bool keeps_outputs) const
    {
        std::map<std::string, std::size_t> last;
        for (std::size_t at = 0; at != order.size(); ++at)
            for (std::string const& file : tasks.at(order[at]).reads) last[file] = at;
        std::map<std::string, std::uint64_t> there = inputs;
        std::uint64_t live = 0, peak = 0;
        for (auto const& [file, bytes] : inputs) live += bytes;
        for (std::size_t at = 0; at != order.size(); ++at) {
            said_task const& t = tasks.at(order[at]);
            for (std::string const& file : t.reads)
                if (!there.contains(file)) return no_peak;
            for (auto const& [file, bytes] : t.makes) there[file] = bytes, live += bytes;
            peak = std::max(peak, live);
            auto remove = [&](std::string const& file) { live -= there[file], there.erase(file); };
            for (std::string const& file : t.reads)
                if (last[file] == at) remove(file);
            for (auto const& [file, bytes] : t.makes)
                if (!keeps_outputs && !read.contains(file)) remove(file);
        }
        return peak;
    }
};

// --- what the program prints -------------------------------------------------------------------------------

struct row {
    std::uint64_t count;
    std::string remark;
};

/// By name, of an output with `--unit units`.
std::map<std::string, row> rows_of(std::string const& text)
{
    std::map<std::string, row> rows;
    std::vector<std::string> const lines = lines_of(text);
    for (std::size_t i = 1; i != lines.size(); ++i) {
        std::size_t const unit = lines[i].find(" units");
        REQUIRE(unit != std::string::npos);
        std::string const name = lines[i].substr(0, lines[i].find("  "));
        std::size_t const number = lines[i].find_last_of(' ', unit - 1) + 1;
        rows[name] = {std::stoull(lines[i].substr(number, unit - number)), lines[i].substr(unit + 6)};
    }
    return rows;
}

/// The peak of the order that is printed is the one that is printed, and the arena is not smaller.
void check_peak(said_workflow const& said, std::vector<char const*> words, bool keeps_outputs)
{
    auto const listed = workflow_program.call(words);
    words.push_back("--order");
    auto const order = workflow_program.call(words);
    REQUIRE_MESSAGE(listed.status == 0, listed.err);
    REQUIRE(order.status == 0);
    auto rows = rows_of(listed.out);
    CHECK(said.peak_of(lines_of(order.out), keeps_outputs) == rows["search"].count);
    CHECK(lines_of(order.out).size() == said.tasks.size());
    CHECK(rows["search"].count <= rows["listed"].count);
    CHECK(rows["bound"].count <= rows["search"].count);
    CHECK(rows["arena"].count >= rows["search"].count);
    CHECK(rows["search"].remark.starts_with("  proved") == (rows["search"].count == rows["bound"].count));
    for (auto const& [name, one] : rows) CHECK(one.count >= rows["bound"].count);
}

// --- random workflows --------------------------------------------------------------------------------------

/// Up to seven tasks, in any order of the lines.
std::string random_text(random_source& d)
{
    std::size_t const tasks = 1 + d.below(7), inputs = d.below(4);
    std::vector<std::string> files, lines;
    std::map<std::string, bool> has_size;
    for (std::size_t i = 0; i != inputs; ++i) files.push_back("in" + std::to_string(i));
    for (std::size_t t = 0; t != tasks; ++t) {
        std::string line = "t" + std::to_string(t) + '\t', reads;
        std::set<std::string> once;
        for (std::size_t k = d.below(4); k != 0 && !files.empty(); --k) once.insert(d.one_of(files));
        for (std::string const& file : once) {
            reads += (reads.empty() ? "" : " ") + file;
            if (file.starts_with("in") && !std::exchange(has_size[file], true))
                reads += ':' + std::to_string(d.below(9));
        }
        for (std::size_t k = d.below(3); k != 0; --k) {
            files.push_back("f" + std::to_string(files.size()));
            line += (line.ends_with('\t') ? "" : " ") + files.back() + ':' + std::to_string(d.below(9));
        }
        lines.push_back(line + '\t' + reads + '\n');
    }
    d.shuffle(lines);
    std::string text;
    for (std::string const& line : lines) text += line;
    return text;
}

} // namespace

TEST_CASE("the printed peaks are those of the printed orders, and no order of a small workflow is better "
          "than a proved one")
{
    static constexpr char const* inputs[] = {"given", "staged", "ignored"};
    static constexpr char const* outputs[] = {"kept", "dropped"};
    static constexpr char const* efforts[] = {"fast", "balanced", "thorough", "100"};
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(300); ++seed) {
        CAPTURE(seed);
        random_source d{std::mt19937(seed)};
        std::string const text = random_text(d);
        CAPTURE(text);
        scratch_file const file(text);
        said_workflow said(text);
        std::size_t const input = d.below(3), output = d.below(2);
        if (input == 1) said.stage_inputs();
        if (input == 2) said.ignore_inputs();
        std::vector<char const*> const words = {file.name.c_str(), "--unit",      "units",
                                                "--inputs",        inputs[input], "--outputs",
                                                outputs[output],   "--effort",    d.one_of(efforts)};
        check_peak(said, words, output == 0);
        if (said.tasks.size() > 7) continue;
        std::vector<std::string> order;
        for (auto const& [name, t] : said.tasks) order.push_back(name);
        std::uint64_t least = said_workflow::no_peak;
        do least = std::min(least, said.peak_of(order, output == 0));
        while (std::next_permutation(order.begin(), order.end()));
        auto rows = rows_of(workflow_program.call(words).out);
        CHECK(rows["bound"].count <= least);
        CHECK(rows["search"].count >= least);
        if (rows["search"].remark.starts_with("  proved")) CHECK(rows["search"].count == least);
    }
}

TEST_CASE("the peaks of real workflows are those of a second count")
{
    char const* const data = std::getenv("SUBLET_DATA");
    if (data == nullptr || *data == '\0') return;
    std::size_t files = 0;
    for (auto const& entry : std::filesystem::directory_iterator(std::filesystem::path(data) / "orders")) {
        std::string const file = entry.path().string();
        CAPTURE(file);
        check_peak(said_workflow(text_in(file)), {file.c_str(), "--unit", "units", "--effort", "1000"}, true);
        ++files;
    }
    CHECK(files >= 40);
}

TEST_CASE("bytes are written as the library's reports write them")
{
    CHECK(workflow::amount(0, "") == "0 B");
    CHECK(workflow::amount(1023, "") == "1023 B");
    CHECK(workflow::amount(1024, "") == "1 KiB");
    CHECK(workflow::amount(1536, "") == "1.5 KiB");
    CHECK(workflow::amount(9636608, "") == "9.19 MiB");
    CHECK(workflow::amount((1 << 20) - 1, "") == "1 MiB");
    CHECK(workflow::amount(~std::uint64_t{0} - 1, "") == "16 EiB");
    CHECK(workflow::amount(8, "qubits") == "8 qubits");
}

// --- refusals ----------------------------------------------------------------------------------------------

TEST_CASE("a text that says too little, too much or nothing possible is refused by line, task and file")
{
    CHECK(answer_to("") == "has no task");
    CHECK(answer_to("# nothing\n\n") == "has no task");
    CHECK(answer_to("a f:1 g\n") ==
          "line 1: a task has a name, the files that it makes and those that it reads, "
          "separated by tabs, and this line has 1 field");
    CHECK(answer_to("a\tf:1\t\tx\n") ==
          "line 1: a task has a name, the files that it makes and those that it "
          "reads, separated by tabs, and this line has 4 fields");
    CHECK(answer_to("\tf:1\t\n") == "line 1: a task has no name");
    CHECK(answer_to("a b\tf:1\t\n") == "line 1: the name of task 'a b' has a blank");
    CHECK(answer_to("a\x01\tf:1\t\n") == "line 1: the name of task 'a?' has control characters");
    CHECK(answer_to("a\tf:1\t\nb\t\tf\na\tg:1\t\n") == "line 3: there are two tasks 'a'");
    CHECK(answer_to("a\t:1\t\n") == "line 1: a file has no name");
    CHECK(answer_to("a\tf\x7f:1\t\n") == "line 1: the name of file 'f?' has control characters");
    CHECK(answer_to("a\tf:-1\t\n") == "line 1: the size of file 'f' is no number of bytes below 2^64: '-1'");
    CHECK(answer_to("a\tf:\t\n") == "line 1: the size of file 'f' is no number of bytes below 2^64: ''");
    CHECK(answer_to("a\tf:1:2\t\n") ==
          "line 1: the size of file 'f' is no number of bytes below 2^64: '1:2'");
    CHECK(answer_to("a\tf:18446744073709551616\t\n") ==
          "line 1: the size of file 'f' is no number of bytes below 2^64: '18446744073709551616'");
    CHECK(answer_to("a\tf:18446744073709551615\t\n") == "line 1: the size of file 'f' is 2^64 - 1");
    CHECK(answer_to("a\tf:1\t\r\nb\tf:1\t\r\n") ==
          "line 2: file 'f' is made twice: by task 'a' and by task 'b'");
    CHECK(answer_to("a\tf:1\t\nb\t\tf:2\n") == "line 2: file 'f' has two sizes: 1 and 2");
    CHECK(answer_to("a\tf:1\tf\n") == "line 1: task 'a' reads and makes file 'f'");
    CHECK(answer_to("a\tf\tg:1\n") ==
          "file 'f', which task 'a' makes, has no size (--missing-size says one for all such files)");
    CHECK(answer_to("a\tf:1\tg\n") ==
          "file 'g', which task 'a' reads, has no size (--missing-size says one for all such files)");
    CHECK(answer_to("a\tf:4611686018427387904\t\n") ==
          "file 'f' has 4611686018427387904 bytes: storage for 2^62 or more is not planned");
    std::string const most = ":4611686018427387903";
    CHECK(answer_to("a\te" + most + " f" + most + " g" + most + " h" + most + " i:4\t\n") ==
          "the sizes of all files together exceed 64 bits, with 4 of file 'i'");
    CHECK(answer_to("d\tx:1\t\nb\tg:1\tf\nc\th:1\tg\na\tf:1\th\n") ==
          "these tasks wait for each other: 'b' for 'a', 'a' for 'c', 'c' for 'b'");
}

TEST_CASE("a size that is missing can be said, and ignored inputs need none")
{
    std::string const text = "a\tf:1\tg\n";
    CHECK(rows_of(answer_to(text, {"--missing-size", "5", "--unit", "units"}))["search"].count == 6);
    CHECK(rows_of(answer_to(text, {"--inputs", "ignored", "--unit", "units"}))["search"].count == 1);
    CHECK(rows_of(answer_to("a\tf\t\n", {"--missing-size=0", "--unit", "units"}))["search"].count == 0);
}

#ifdef WORKFLOW_READS_JSON

namespace {

/// A document of version 1.5 with these tasks and files.
std::string listed(std::string const& tasks, std::string const& files = "")
{
    return R"({"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [)" + tasks +
           R"(], "files": [)" + files + "]}}}";
}

/// A document of version 1.4 with these tasks.
std::string linked(std::string const& tasks)
{
    return R"({"schemaVersion": "1.4", "workflow": {"tasks": [)" + tasks + "]}}";
}

} // namespace

TEST_CASE("tasks of WfFormat wait for their parents and their parents' children, with and without files")
{
    std::vector<char const*> const words = {"--order"};
    CHECK(answer_to(listed(R"({"id": "a", "parents": ["b"]}, {"id": "b"})"), words) == "b\na\n");
    CHECK(answer_to(listed(R"({"id": "a"}, {"id": "b", "children": ["a"]})"), words) == "b\na\n");
    CHECK(answer_to(linked(R"({"name": "a", "parents": ["b"]}, {"name": "b"})"), words) == "b\na\n");
    CHECK(answer_to(linked(R"({"name": "a", "id": "1", "parents": ["2"]}, {"name": "b", "id": "2"})"),
                    words) == "b\na\n");
    // Names that repeat: tasks are called by their ids.
    CHECK(answer_to(linked(R"({"name": "a", "id": "1", "parents": ["2"]}, {"name": "a", "id": "2"})"),
                    words) == "2\n1\n");
}

TEST_CASE("a file of version 1.3 has its size in another member, and a path in front of its name")
{
    std::string const file = R"({"schemaVersion": "1.3", "workflow": {"tasks": [{"name": "a", "files": [
        {"link": "output", "name": "f", "path": "x/", "size": 7},
        {"link": "output", "name": "f", "path": "y/", "sizeInBytes": 4, "size": 5}]}]}})";
    CHECK(rows_of(answer_to(file, {"--unit", "units"}))["search"].count == 11);
}

TEST_CASE("WfFormat that says too little, too much or nothing possible is refused by task, file and member")
{
    CHECK(answer_to("{") == "line 1, column 2: this is no JSON");
    CHECK(answer_to("{\n \"a\": 1,\n ]") == "line 3, column 2: this is no JSON");
    CHECK(answer_to("{\"a\": \"\xff\"}") == "line 1, column 8: this is no JSON");
    CHECK(answer_to("{\"a\": 1e999}") == "line 1, column 11: this number exceeds a 64-bit floating point");
    CHECK(answer_to("[]") == "the JSON in it is no object");
    CHECK(answer_to("{\"a\": {\"b\": 1, \"b\": 2}}") == "an object has two members 'b'");
    CHECK(answer_to("{}") == "the JSON object has no schemaVersion");
    CHECK(answer_to(R"({"schemaVersion": 1.5})") == "the JSON object: schemaVersion is no text");
    CHECK(answer_to(R"({"schemaVersion": "1.2"})") == "the schemaVersion is '1.2': only 1.3 to 1.6 are read");
    CHECK(answer_to(R"({"schemaVersion": "1.5"})") ==
          "there is no workflow.specification, in which version 1.5 has its tasks");
    CHECK(answer_to(R"({"schemaVersion": "1.4", "workflow": {}})") ==
          "there is no workflow.tasks, in which version 1.4 has its tasks");
    CHECK(answer_to(R"({"schemaVersion": "1.6", "workflow": []})") ==
          "the JSON object: workflow is no object");
    CHECK(answer_to(R"({"schemaVersion": "1.4", "workflow": {"tasks": {}}})") ==
          "workflow: tasks is no list");
    CHECK(answer_to(listed("")) == "has no task");
    CHECK(answer_to(listed("5")) == "tasks[0] is no object");
    CHECK(answer_to(listed(R"({"name": "a"})")) == "tasks[0] has no id");
    CHECK(answer_to(listed(R"({"id": ["a"]})")) == "tasks[0]: id is no text");
    CHECK(answer_to(listed(R"({"id": ""})")) == "a task has no name");
    CHECK(answer_to(listed(R"({"id": "a\nb"})")) == "the name of task 'a?b' has control characters");
    CHECK(answer_to(listed(R"({"id": "a"}, {"id": "a"})")) == "there are two tasks 'a'");
    CHECK(answer_to(listed(R"({"id": "a", "parents": ["b"]})")) == "task 'a' has an unknown parent: 'b'");
    CHECK(answer_to(listed(R"({"id": "a", "children": ["b"]})")) == "task 'a' has an unknown child: 'b'");
    CHECK(answer_to(listed(R"({"id": "a", "parents": "b"})")) == "task 'a': parents is no list");
    CHECK(answer_to(listed(R"({"id": "a", "parents": [1]})")) == "task 'a': parents is no text");
    CHECK(answer_to(listed(R"({"id": "a", "parents": ["a"]})")) == "task 'a' waits for itself");
    CHECK(answer_to(listed(R"({"id": "a", "children": ["b"]}, {"id": "b", "children": ["a"]})")) ==
          "these tasks wait for each other: 'a' for 'b', 'b' for 'a'");
    CHECK(answer_to(listed(R"({"id": "a", "outputFiles": ["f"]}, {"id": "b", "outputFiles": ["f"]})")) ==
          "file 'f' is made twice: by task 'a' and by task 'b'");
    CHECK(answer_to(listed(R"({"id": "a", "inputFiles": ["f"], "outputFiles": ["f"]})")) ==
          "task 'a' reads and makes file 'f'");
    CHECK(answer_to(listed(R"({"id": "a", "outputFiles": ["f"]})")) ==
          "file 'f', which task 'a' makes, has no size (--missing-size says one for all such files)");
    std::string const makes = R"({"id": "a", "outputFiles": ["f"]})";
    CHECK(answer_to(listed(makes, R"({"id": "f", "sizeInBytes": -3})")) ==
          "file 'f' has a negative size: -3");
    CHECK(answer_to(listed(makes, R"({"id": "f", "sizeInBytes": 1.5})")) ==
          "the size of file 'f' is no number of bytes below 2^64");
    CHECK(answer_to(listed(makes, R"({"id": "f", "sizeInBytes": 18446744073709551616})")) ==
          "the size of file 'f' is no number of bytes below 2^64");
    CHECK(answer_to(listed(makes, R"({"id": "f", "sizeInBytes": null})")) ==
          "file 'f', which task 'a' makes, has no size (--missing-size says one for all such files)");
    CHECK(answer_to(listed(makes, R"({"id": "f", "sizeInBytes": 1}, {"id": "f", "sizeInBytes": 2})")) ==
          "file 'f' has two sizes: 1 and 2");
    CHECK(answer_to(listed(makes, R"({"sizeInBytes": 1})")) == "files[0] has no id");

    CHECK(answer_to(linked(R"({"id": "a"})")) == "tasks[0] has no name");
    CHECK(answer_to(linked(R"({"name": "a"}, {"name": "a"})")) == "there are two tasks 'a'");
    CHECK(answer_to(linked(
              R"({"name": "a", "id": "1"}, {"name": "a", "id": "2"}, {"name": "b", "parents": ["a"]})")) ==
          "task 'b' has as parent 'a', which several tasks are called");
    CHECK(answer_to(linked(R"({"name": "a", "files": [3]})")) == "files[0] is no object");
    CHECK(answer_to(linked(R"({"name": "a", "files": [{"link": "output"}]})")) ==
          "task 'a': files[0] has no name");
    CHECK(answer_to(linked(R"({"name": "a", "files": [{"name": "f"}]})")) ==
          "task 'a': file 'f' has no link");
    CHECK(answer_to(linked(R"({"name": "a", "files": [{"name": "f", "link": "both"}]})")) ==
          "task 'a': the link of file 'f' is neither input nor output: 'both'");
}

#endif

TEST_CASE("bad usage is refused in one sentence")
{
    workflow_program.check({
        {{}, "no file is given (see --help)"},
        {{"a", "b"}, "more than one file: 'a' and 'b'"},
        {{"a", "--inputs", "none"}, "option --inputs is given, staged or ignored, not 'none'"},
        {{"a", "--outputs=lost"}, "option --outputs is kept or dropped, not 'lost'"},
        {{"a", "--effort", "more"}, "option --effort is fast, balanced, thorough or a count, not 'more'"},
        {{"a", "--effort", "18446744073709551615"},
         "option --effort is a number below 2^64 - 1, not '18446744073709551615'"},
        {{"a", "--missing-size", "-1"}, "option --missing-size is a number below 2^64 - 1, not '-1'"},
        {{"a", "--svg", "a"}, "an output would overwrite 'a'"},
        {{"a", "--svg", "b", "--csv", "b"}, "an output would overwrite 'b'"},
        {{"a", "--sgv", "b"}, "unknown option '--sgv', did you mean '--svg'? (see --help)"},
        {{"/absent/file"}, "/absent/file: cannot be read"},
        {{"/"}, "/: is a directory"},
    });
}
