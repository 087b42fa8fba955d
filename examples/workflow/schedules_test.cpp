// SPDX-License-Identifier: BSL-1.0
#include "amounts.hpp"
#include "called_workflow.hpp"

#include "random_source.hpp"
#include "reporting/svg_reading.hpp"

#include <sublet/listing.hpp>
#include <sublet/schedules.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

// --- workflows, as a text and as a listing -----------------------------------------------------------------

struct drawn_workflow {
    std::string text;
    sublet::listing<std::string> list;
    std::vector<std::uint64_t> duration;
};

drawn_workflow draw_workflow(random_source& d)
{
    drawn_workflow w;
    std::vector<std::pair<std::string, std::uint64_t>> files;
    std::vector<std::set<std::string>> reads(2 + d.below(9));
    std::vector<std::size_t> made;
    for (auto& read : reads) {
        for (std::size_t k = d.below(3); k != 0 && !files.empty(); --k) read.insert(d.one_of(files).first);
        made.push_back(1 + d.below(2));
        for (std::size_t k = made.back(); k != 0; --k) {
            std::string name = "f" + std::to_string(files.size());
            files.emplace_back(std::move(name), 1 + d.below(9));
        }
    }
    std::set<std::string> is_read;
    for (auto const& read : reads) is_read.insert(read.begin(), read.end());
    std::size_t next = 0;
    for (std::size_t t = 0; t != reads.size(); ++t) {
        std::string const name = "t" + std::to_string(t);
        std::uint64_t const duration = d.below(5);
        w.text += name + (duration == 0 ? "" : " @" + std::to_string(duration)) + '\t';
        w.duration.push_back(std::max<std::uint64_t>(duration, 1));
        auto step = w.list.step(name);
        for (std::string const& file : reads[t]) step.read(file);
        for (std::size_t k = made[t]; k != 0; --k) {
            auto const& [file, bytes] = files[next++];
            w.text += file + ':' + std::to_string(bytes) + ' ';
            step.make(file, {.bytes = bytes,
                             .role = is_read.contains(file) ? sublet::value_role::intermediate
                                                            : sublet::value_role::output});
        }
        w.text += '\t';
        for (std::string const& file : reads[t]) w.text += file + ' ';
        w.text += '\n';
    }
    return w;
}

// --- what is printed of schedules --------------------------------------------------------------------------

/// A row of the second table, of an output with `--unit units`.
struct schedule_row {
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> makespan;
    std::string remark;
};

schedule_row row_of(std::string const& text, std::string const& name)
{
    std::string const part = text.substr(text.find("\n\n") + 2);
    for (std::string const& line : lines_of(part)) {
        if (!line.starts_with(name + ' ')) continue;
        std::size_t const unit = line.find(" units");
        REQUIRE(unit != std::string::npos);
        std::size_t const number = line.find_last_of(' ', unit - 1) + 1;
        schedule_row row{std::stoull(line.substr(number, unit - number)), {}, line.substr(unit + 8)};
        if (row.remark.starts_with("in ")) row.makespan = std::stoull(row.remark.substr(3));
        return row;
    }
    FAIL("no row " << name << " in " << text);
    return {};
}

std::uint64_t number_after(std::string const& text, std::string const& words)
{
    std::size_t const at = text.find(words);
    REQUIRE(at != std::string::npos);
    return std::stoull(text.substr(at + words.size()));
}

std::string table_of(sublet::schedule_curve const& curve)
{
    std::string text = "makespan,live_bytes\n";
    for (auto const& point : curve.points)
        text += std::to_string(point.makespan) + ',' + std::to_string(point.live_bytes) + '\n';
    return text;
}

} // namespace

TEST_CASE("the table of a curve is that of schedules(), and the plan of the point taken keeps the limits")
{
    std::size_t refused = 0, planned = 0;
    for (unsigned seed = first_seed(); seed != first_seed() + rounds(150); ++seed) {
        CAPTURE(seed);
        random_source d{std::mt19937(seed)};
        drawn_workflow const w = draw_workflow(d);
        CAPTURE(w.text);
        scratch_file const file(w.text), table("", ".csv"), picture("", ".svg");
        std::size_t const workers = 1 + d.below(4);
        auto const curve = sublet::schedules(w.list, {.duration = w.duration, .workers = workers});
        REQUIRE(curve);
        auto const& [shortest, lowest] = std::pair(curve.points.front(), curve.points.back());

        bool const has_cap = d.below(2) == 0, has_longest = d.below(2) == 0;
        std::uint64_t const cap =
            curve.least_bytes +
            d.below(static_cast<std::uint32_t>(shortest.live_bytes - curve.least_bytes + 3));
        std::uint64_t const longest =
            curve.least_makespan +
            d.below(static_cast<std::uint32_t>(lowest.makespan - curve.least_makespan + 3));
        std::string const texts[] = {std::to_string(workers), std::to_string(cap), std::to_string(longest)};
        std::vector<char const*> words = {file.name.c_str(),  "--unit",         "units",
                                          "--workers",        texts[0].c_str(), "--curve",
                                          table.name.c_str(), "--curve",        picture.name.c_str()};
        if (has_cap) words.insert(words.end(), {"--cap", texts[1].c_str()});
        if (has_longest) words.insert(words.end(), {"--longest", texts[2].c_str()});
        auto const done = workflow_program.call(words);
        if (done.status != 0) {
            ++refused;
            CHECK(done.out.empty());
            bool const is_over_time =
                done.err.find(", and at most " + texts[2] + " are accepted\n") != done.err.npos;
            bool const is_over =
                done.err.find(" units, and its budget is " + texts[1] + '\n') != done.err.npos;
            CHECK((is_over_time || is_over));
            if (is_over) CHECK(number_after(done.err, "the result takes ") > cap);
            if (is_over_time) CHECK(number_after(done.err, "the schedule takes ") > longest);
            // What a limit alone leaves out is not there.
            if (!has_cap) CHECK(curve.within_time(longest) == nullptr);
            continue;
        }
        ++planned;
        CHECK(text_in(table.name) == table_of(curve));
        reading::check_well_formed(text_in(picture.name));
        CHECK(number_after(done.out, "no schedule is shorter than ") == curve.least_makespan);
        CHECK(row_of(done.out, "bound").bytes == curve.least_bytes);
        CHECK(row_of(done.out, "shortest").bytes == shortest.live_bytes);
        CHECK(row_of(done.out, "shortest").makespan == shortest.makespan);
        CHECK(row_of(done.out, "fewest bytes").bytes == lowest.live_bytes);
        CHECK(row_of(done.out, "fewest bytes").makespan == lowest.makespan);
        schedule_row const taken = row_of(done.out, "taken"), plan = row_of(done.out, "plan");
        CHECK(plan.makespan == taken.makespan);
        auto const is_point = [&](sublet::step_schedule const& p) {
            return p.makespan == taken.makespan && p.live_bytes == taken.bytes;
        };
        CHECK(std::count_if(curve.points.begin(), curve.points.end(), is_point) == 1);
        if (has_longest) CHECK(*taken.makespan <= longest);
        if (has_cap) {
            CHECK(taken.bytes <= cap);
            CHECK(plan.bytes <= cap);
            bool const is_first = curve.within_bytes(cap)->makespan == taken.makespan;
            CHECK(is_first == (taken.remark.find("need more") == std::string::npos));
        } else if (has_longest) CHECK(curve.within_time(longest)->makespan == taken.makespan);
        else CHECK(taken.makespan == shortest.makespan);
    }
    CHECK(refused != 0);
    CHECK(planned > refused);
}

TEST_CASE("a cap has a decimal or a binary unit, or none")
{
    using workflow::bytes_in;
    CHECK(bytes_in("0") == 0);
    CHECK(bytes_in("6000000000") == 6000000000);
    CHECK(bytes_in("12B") == 12);
    CHECK(bytes_in("7kB") == 7000);
    CHECK(bytes_in("7KB") == 7000);
    CHECK(bytes_in("500MB") == 500000000);
    CHECK(bytes_in("6GB") == 6000000000);
    CHECK(bytes_in("6GiB") == std::uint64_t{6} << 30);
    CHECK(bytes_in("1KiB") == 1024);
    CHECK(bytes_in("2MiB") == 2 << 20);
    CHECK(bytes_in("3TB") == 3000000000000);
    CHECK(bytes_in("1.5KiB") == 1536);
    CHECK(bytes_in("0.1KiB") == 102);
    CHECK(bytes_in("0.1234567890123456789EB") == 123456789012345678);
    CHECK(bytes_in("1.999999999GB") == 1999999999);
    CHECK(bytes_in("15EiB") == std::uint64_t{15} << 60);
    CHECK(bytes_in("18446744073709551614") == ~std::uint64_t{0} - 1);
    for (char const* word : {"",       "B",
                             "GB",     ".",
                             "5.",     ".5GB",
                             "1.2.3",  "-1",
                             "+1",     "1e3",
                             "6 GB",   "6G",
                             "6gb",    "6iB",
                             "6GBB",   "6XB",
                             "6MIB",   "6Bi",
                             "16EiB",  "18446744073709551615",
                             "18.5EB", "15.99999999999999999999EiBx"})
        CHECK_MESSAGE(!bytes_in(word), word);
}

TEST_CASE("durations are those of the text, and 1 where it says none")
{
    auto const head = [](std::string const& text) {
        std::string const out = answer_to(text, {"--workers", "2"});
        std::size_t const at = out.find("2 workers: ");
        REQUIRE(at != std::string::npos);
        return out.substr(at, out.find('\n', at) - at);
    };
    CHECK(head("a\tf:1\t\nb\t\tf\n") == "2 workers: each task takes 1; no schedule is shorter than 2");
    CHECK(head("a @7\tf:1\t\nb @7\t\tf\n") == "2 workers: tasks take 7; no schedule is shorter than 14");
    CHECK(head("a @7\tf:1\t\nb @30\t\tf\nc\t\tf\n") ==
          "2 workers: tasks take 7 to 30, and 1 where none is said; no schedule is shorter than 37");
    CHECK(answer_to("a @7\tf:1\t\n", {"--order"}) == "a\n");
    CHECK(answer_to("a @0\tf:1\t\n") ==
          "line 1: the duration of task 'a' is no number from 1 to 2^64 - 1: '0'");
    CHECK(answer_to("a @\tf:1\t\n") ==
          "line 1: the duration of task 'a' is no number from 1 to 2^64 - 1: ''");
    CHECK(answer_to("a @7s\tf:1\t\n") ==
          "line 1: the duration of task 'a' is no number from 1 to 2^64 - 1: '7s'");
    CHECK(answer_to("a 7\tf:1\t\n") == "line 1: the name of task 'a 7' has a blank");
    CHECK(answer_to("a @18446744073709551615\tf:1\t\n") ==
          "the durations of all tasks together exceed 64 bits, with 18446744073709551615 of task 'a'");
    CHECK(answer_to("a @9223372036854775808\tf:1\t\nb @9223372036854775808\tg:1\t\n") ==
          "the durations of all tasks together exceed 64 bits, with 9223372036854775808 of task 'b'");
    CHECK(head("a @9223372036854775807\tf:1\t\nb @9223372036854775800\t\tf\n") ==
          "2 workers: tasks take 9223372036854775800 to 9223372036854775807; no schedule is shorter than "
          "18446744073709551607");
}

#ifdef WORKFLOW_READS_JSON

TEST_CASE("runtimes of WfFormat become whole milliseconds, and are skipped without schedules")
{
    auto const run = [](std::string const& text, bool with_workers = true) {
        std::vector<char const*> words = {"--unit", "units"};
        if (with_workers) words.insert(words.end(), {"--workers", "3"});
        std::string const out = answer_to(text, words);
        std::size_t const at = out.find("3 workers: ");
        return at == out.npos ? out : out.substr(at + 11, out.find('\n', at) - at - 11);
    };
    auto const listed = [](std::string const& execution) {
        return R"({"schemaVersion": "1.5", "workflow": {"specification": {"tasks": [{"id": "a"}, {"id": "b",
            "parents": ["a"]}]}, "execution": )" +
               execution + "}}";
    };
    auto const linked = [](std::string const& version, std::string const& of_b) {
        return R"({"schemaVersion": ")" + version + R"(", "workflow": {"tasks": [{"name": "a"}, {"name": "b",
            "parents": ["a"], )" +
               of_b + "}]}}";
    };
    CHECK(run(listed(R"({"tasks": [{"id": "b", "runtimeInSeconds": 1.2346},
        {"id": "a", "runtimeInSeconds": 0}]})")) ==
          "tasks take 1 to 1235 ms; no schedule is shorter than 1236 ms");
    CHECK(run(listed(R"({"tasks": [{"id": "b", "runtimeInSeconds": 2}, {"id": "a"}]})")) ==
          "tasks take 2000 ms, and 1 ms where none is said; no schedule is shorter than 2001 ms");
    CHECK(run(listed("{}")) == "each task takes 1; no schedule is shorter than 2");
    CHECK(run(linked("1.4", R"("runtimeInSeconds": 0.5)")) ==
          "tasks take 500 ms, and 1 ms where none is said; no schedule is shorter than 501 ms");
    CHECK(run(linked("1.3", R"("runtime": 3)")) ==
          "tasks take 3000 ms, and 1 ms where none is said; no schedule is shorter than 3001 ms");
    CHECK(run(linked("1.3", R"("runtime": null)")) == "each task takes 1; no schedule is shorter than 2");

    std::string const negative = linked("1.4", R"("runtimeInSeconds": -0.5)");
    CHECK(run(negative) == "the runtime of task 'b' is no number of seconds from 0 to 10^12");
    CHECK(run(negative, false).find("arena") != std::string::npos);
    CHECK(run(linked("1.4", R"("runtimeInSeconds": "3")")) ==
          "the runtime of task 'b' is no number of seconds from 0 to 10^12");
    CHECK(run(linked("1.4", R"("runtimeInSeconds": 1e13)")) ==
          "the runtime of task 'b' is no number of seconds from 0 to 10^12");
    CHECK(run(listed("[]")) == "workflow: execution is no object");
    CHECK(run(listed(R"({"tasks": {}})")) == "workflow.execution: tasks is no list");
    CHECK(run(listed(R"({"tasks": [3]})")) == "execution.tasks[0] is no object");
    CHECK(run(listed(R"({"tasks": [{"runtimeInSeconds": 3}]})")) == "execution.tasks[0] has no id");
    CHECK(run(listed(R"({"tasks": [{"id": "c", "runtimeInSeconds": 3}]})")) ==
          "execution.tasks[0] has the id of no task: 'c'");
    CHECK(run(listed(
              R"({"tasks": [{"id": "a", "runtimeInSeconds": 3}, {"id": "a", "runtimeInSeconds": 4}]})")) ==
          "task 'a' has two durations: 3000 and 4000");
}

#endif

TEST_CASE("a step that stages an input takes 1, and is part of the schedules")
{
    std::string const text = "a @5\tf:1\tg:2\nb @5\th:1\tf\n";
    std::string const out = answer_to(text, {"--workers", "2", "--inputs", "staged", "--unit", "units"});
    CHECK(number_after(out, "no schedule is shorter than ") == 11);
    CHECK(out.find("tasks take 5, and 1 where none is said") != out.npos);
}

TEST_CASE("a picture of one schedule, of sizes of zero, and of far times is well formed")
{
    for (char const* text : {"a\tf:1\t\n", "a\tf:0\t\n", "a\tf:4611686018427387903\t\n",
                             "a @9223372036854775807\tf:1\t\nb @9223372036854775800\t\tf\nc\tg:3\t\n"}) {
        CAPTURE(text);
        scratch_file const picture("", ".svg");
        answer_to(text, {"--workers", "2", "--curve", picture.name.c_str()});
        std::string const svg = text_in(picture.name);
        reading::check_well_formed(svg);
        CHECK(reading::count(svg, "<circle class=\"taken\"") == 1);
        CHECK(reading::count(svg, "class=\"bound\"") == 3);
    }
}

TEST_CASE("bad usage of schedules is refused in one sentence")
{
    workflow_program.check({
        {{"a", "--workers", "0"}, "option --workers is a number from 1 and below 2^64 - 1, not '0'"},
        {{"a", "--workers", "two"}, "option --workers is a number from 1 and below 2^64 - 1, not 'two'"},
        {{"a", "--workers", "2", "--longest", "0"},
         "option --longest is a number from 1 and below 2^64 - 1, not '0'"},
        {{"a", "--cap", "6GB"}, "option --cap is about schedules, which --workers asks for"},
        {{"a", "--longest", "6"}, "option --longest is about schedules, which --workers asks for"},
        {{"a", "--curve", "b.svg"}, "option --curve is about schedules, which --workers asks for"},
        {{"a", "--workers", "2", "--order"},
         "option --order prints an order for one worker, and --workers asks for schedules"},
        {{"a", "--workers", "2", "--cap", "6 bytes"},
         "option --cap is a number of bytes below 2^64 - 1, such as 500MB or 6GiB, not '6 bytes'"},
        {{"a", "--workers", "2", "--cap", "6GB", "--unit", "qubits"},
         "option --cap is a number below 2^64 - 1, not '6GB'"},
        {{"a", "--workers", "2", "--curve", "b"},
         "option --curve is a file that ends with .csv or .svg, not 'b'"},
        {{"a", "--workers", "2", "--curve", "b.svg", "--curve", "c.svg"},
         "more than one table or picture of the curve: 'b.svg' and 'c.svg'"},
        {{"a", "--workers", "2", "--svg", "b.svg", "--curve", "b.svg"}, "an output would overwrite 'b.svg'"},
        {{"a.csv", "--workers", "2", "--curve", "a.csv"}, "an output would overwrite 'a.csv'"},
    });
}
