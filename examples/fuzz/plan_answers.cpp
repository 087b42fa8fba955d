// SPDX-License-Identifier: BSL-1.0
#include "plan_answers.hpp"

#include "../pack/foreign_tables.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace fuzz {
namespace {

using figures = std::map<std::string, std::string>;

/// key: text
figures read_lines(std::string const& text)
{
    figures all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        if (auto const cut = line.find(": "); cut != line.npos)
            all.emplace(line.substr(0, cut), line.substr(cut + 2));
    return all;
}

/// One flat object: {"key": text, ...}. Empty if it is none.
std::optional<figures> read_json(std::string const& text)
{
    figures all;
    std::size_t at = 0;
    auto take = [&](char c) {
        while (at != text.size() && text[at] == ' ') ++at;
        return at != text.size() && text[at] == c && ++at != 0;
    };
    auto read_string = [&]() -> std::optional<std::string> {
        if (!take('"')) return std::nullopt;
        std::string read;
        for (; at != text.size() && text[at] != '"'; ++at) {
            if (static_cast<unsigned char>(text[at]) < 32) return std::nullopt;
            if (text[at] == '\\' && ++at == text.size()) return std::nullopt;
            read += text[at];
        }
        return take('"') ? std::optional(read) : std::nullopt;
    };
    if (!take('{')) return std::nullopt;
    do {
        auto const key = read_string();
        if (!key || !take(':')) return std::nullopt;
        take(' ');
        std::optional<std::string> value;
        if (at != text.size() && text[at] == '"') {
            value = read_string();
        } else {
            std::size_t const end = std::min(text.find_first_of(",}", at), text.size());
            value = text.substr(at, end - at);
            at = end;
        }
        if (!value || value->empty() || !all.emplace(*key, *value).second) return std::nullopt;
    } while (take(','));
    return take('}') && text.substr(at) == "\n" ? std::optional(all) : std::nullopt;
}

std::optional<std::uint64_t> number_in(std::string const& text)
{
    std::uint64_t read = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    bool const is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number ? std::optional(read) : std::nullopt;
}

std::string contents_of(std::string const& file)
{
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

/// The fields of a table, by RFC 4180.
std::vector<std::vector<std::string>> read_table(std::string const& text)
{
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> row{""};
    bool is_quoted = false;
    for (std::size_t i = 0; i != text.size(); ++i) {
        char const c = text[i];
        bool const doubled = c == '"' && is_quoted && text.substr(i, 2) == "\"\"";
        if (doubled) row.back() += text[++i];
        else if (c == '"') is_quoted = !is_quoted;
        else if (is_quoted) row.back() += c;
        else if (c == ',') row.emplace_back();
        else if (c == '\n') rows.push_back(std::exchange(row, {""}));
        else row.back() += c;
    }
    return rows;
}

struct row {
    std::uint64_t lower, upper, size, offset;
};

/// A plan of bodies also has copies of values, and the arenas of graphs that are planned by themselves.
bool is_known(std::string name, model_facts const& known)
{
    if (!known.is_of_bodies) return known.names.contains(name);
    if (known.names.empty() || name.starts_with("graphs inside ")) return true;
    if (name.ends_with(" (copy)")) name.resize(name.size() - 7);
    return known.names.contains(name);
}

/// Rows that are live together are disjoint, end where the arena ends, and have names of the model.
std::string mistake_in_csv(std::string const& text, figures const& reported, bool is_sequential,
                           std::optional<model_facts> const& known)
{
    auto const table = read_table(text);
    if (table.empty() || table[0] != std::vector<std::string>{"id", "lower", "upper", "size", "offset"})
        return "the table has another header";
    std::vector<row> rows;
    std::uint64_t top = 0, sum = 0;
    for (std::size_t r = 1; r != table.size(); ++r) {
        std::vector<std::optional<std::uint64_t>> numbers;
        if (table[r].size() != 5) return "a row of the table has not five fields";
        for (std::size_t f = 1; f != 5; ++f) numbers.push_back(number_in(table[r][f]));
        for (auto const& number : numbers)
            if (!number) return "a row of the table lacks a number";
        std::string const& name = table[r][0];
        if (known && !is_known(name, *known))
            return "a row of the table bears a name that is not in the model: " + name;
        rows.push_back({*numbers[0], *numbers[1], *numbers[2], *numbers[3]});
        top = std::max(top, rows.back().offset + rows.back().size);
        sum += rows.back().size;
    }
    auto is = [&](char const* key, std::uint64_t number) { return number_in(reported.at(key)) == number; };
    if (reported.contains("graphs_inside")) { // a row for each range of a buffer
        if (number_in(reported.at("buffers")) > rows.size()) return "the table has not a row for each buffer";
        if (number_in(reported.at("naive_bytes")) > sum) return "the table has not all naive bytes";
    } else {
        if (!is("buffers", rows.size())) return "the table has not one row for each buffer";
        if (!is("naive_bytes", sum)) return "the sizes in the table are not the naive bytes together";
    }
    if (!is("arena_bytes", top)) return "the table does not end where the arena does";
    if (is_sequential)
        for (row const& a : rows)
            for (row const& b : rows)
                if (&a < &b && a.lower < b.upper && b.lower < a.upper && a.offset < b.offset + b.size &&
                    b.offset < a.offset + a.size)
                    return "two rows of the table overlap";
    return {};
}

/// Each row of the table is a tensor with the same offset in the plan for TensorFlow Lite Micro.
std::string mistake_in_offsets(std::string const& bytes, std::string const& text)
{
    pack::offline_offsets const all = pack::read_offline_offsets(bytes);
    for (std::int32_t at : all.offset)
        if (at != -1 && at % 16 != 0) return "an offset of a tensor is no multiple of 16";
    auto const table = read_table(text);
    for (std::size_t r = 1; r != table.size(); ++r) {
        auto const tensor = number_in(table[r][0]), offset = number_in(table[r][4]);
        if (!tensor || *tensor >= all.offset.size()) return "a row of the table is no tensor";
        if (all.offset[*tensor] < 0 || static_cast<std::uint64_t>(all.offset[*tensor]) != offset)
            return "a tensor has another offset in the table";
    }
    return {};
}

/// Whether tags match, without stray `<` or `&`.
bool is_xml(std::string const& text)
{
    std::vector<std::string> open;
    for (std::size_t at = 0; at != text.size(); ++at) {
        if (text[at] == '&') {
            std::size_t const end = text.find(';', at);
            if (end == text.npos || end - at > 6 || end - at < 2) return false;
        }
        if (text[at] != '<') continue;
        std::size_t const end = text.find('>', at); // attributes contain none unescaped
        if (end == text.npos || text.find('<', at + 1) < end) return false;
        std::string const tag = text.substr(at + 1, end - at - 1);
        if (tag.empty()) return false;
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return false;
            open.pop_back();
        } else if (tag[0] != '?' && tag[0] != '!' && tag.back() != '/') {
            open.push_back(tag.substr(0, tag.find_first_of(" \n")));
        }
        at = end;
    }
    return open.empty() && text.find("<svg") != text.npos;
}

} // namespace

std::vector<std::string> plan_modes()
{
    std::vector<std::string> modes = {
        "--in-place off --csv OUT.csv --svg OUT.svg",
        "--in-place off --json",
        "--csv OUT.csv --svg OUT.svg --dot OUT.dot --why-peak OUT.txt --trace OUT.json --json",
        "--header OUT.hpp --c-header OUT.h",
        "--in-place off --align 64 --order best --header OUT.hpp --c-header OUT.h --json",
        "--align 64 --order best --csv OUT.csv",
        "--capacity 64",
        "--capacity 1000000",
        "--limits 90%,70%,50%",
        "--dim v0:0=1:8",
        "--dim v0:1=2:64:2 --in-place off --json",
        "--run --json --limit 1000000",
        "--run --json --in-place off --limit 1000000",
    };
    for (char const* in_place : {" --in-place on", " --in-place listed", " --in-place off"}) {
        for (char const* order : {"", " --order file", " --order longest-path", " --order least-peak",
                                  " --order exact", " --order best", " --order ORDER"})
            modes.push_back(std::string("--run --check digest --limit 1000000") + order + in_place);
        for (char const* strategy : {"", " --strategy slots", " --handoffs", " --handoffs --workers 2"})
            for (char const* more : {" --csv OUT.csv --svg OUT.svg --dot OUT.dot --json",
                                     " --run --check digest --limit 1000000"})
                modes.push_back(std::string("--semantics concurrent") + strategy + in_place + more);
    }
    for (char const* level : {"off", "plan", "paint"})
        modes.push_back(std::string("--run --align 16 --limit 1000000 --check ") + level);
    return modes;
}

namespace {

/// As "--dim v0:0=1:8".
bool has_range(std::vector<std::string> const& words)
{
    return std::any_of(words.begin(), words.end(), [](std::string const& word) {
        auto const equal = word.rfind('=');
        return equal != word.npos && word.find(':', equal) != word.npos;
    });
}

/// Of limits in descending order.
std::string mistake_in_limits(std::string const& printed)
{
    std::istringstream lines(printed);
    std::string line;
    std::getline(lines, line);
    std::uint64_t cost_before = 0;
    int rows = 0;
    for (; std::getline(lines, line); ++rows) {
        std::istringstream row(line);
        std::uint64_t limit = 0, arena = 0, cost = 0;
        if (!(row >> limit)) return "prints a row without a limit";
        if (line.find("none, ") != line.npos) continue;
        if (!(row >> arena >> cost) || arena > limit) return "prints a plan above its limit";
        if (cost < cost_before) return "asks less for less memory";
        cost_before = cost;
    }
    return rows == 3 ? "" : "prints another number of limits than asked for";
}

} // namespace

std::string mistake_in_plan(std::vector<std::string> const& words, outcome const& result,
                            std::optional<model_facts> const& known)
{
    auto has_option = [&](char const* word) {
        return std::find(words.begin(), words.end(), word) != words.end();
    };
    auto operand_of = [&](char const* option) {
        auto const at = std::find(words.begin(), words.end(), option);
        return at == words.end() ? std::string() : *(at + 1);
    };
    if (auto const capacity = operand_of("--capacity"); !capacity.empty()) {
        bool const is_denied = result.out.find("\nno spills help: ") != result.out.npos;
        std::size_t const needs = result.out.rfind(" needs ");
        bool const is_more =
            is_denied &&
            number_in(result.out.substr(needs + 7, result.out.find(' ', needs + 7) - needs - 7)) >
                number_in(capacity);
        // Without a suggestion that fits although each step would: none was found in the arena's gaps.
        bool const has_no_plan = result.out.find(": no plan: ") != result.out.npos;
        return is_more == is_denied && (is_denied || has_no_plan) == (result.status == 1)
                   ? ""
                   : "gives no clear advice";
    }
    if (result.status != 0) return "is neither correct nor refused";
    if (has_option("--limits")) return mistake_in_limits(result.out);
    auto const read = has_option("--json") ? read_json(result.out) : std::optional(read_lines(result.out));
    if (!read) return "prints no JSON object";
    figures reported = *read;
    for (char const* key :
         {"model", "operations", "values", "buffers", "naive_bytes", "arena_bytes", "verified"})
        if (reported[key].empty()) return std::string("does not say ") + key;
    if (reported["verified"] != "yes") return "the plan is not verified";
    if (has_range(words)) return {};
    if (has_option("--run") && reported["run"] != "identical") return "the runs are not identical";

    auto figure = [&](char const* key) { return number_in(reported[key]).value_or(0); };
    bool const is_sequential = !has_option("concurrent");
    if (figure("arena_bytes") < figure("lower_bound_bytes")) return "an arena below the lower bound";
    if (operand_of("--align").empty() && !has_option("--tflm") &&
        figure("arena_bytes") > figure("naive_bytes"))
        return "an arena larger than all buffers together";
    auto const order = operand_of("--order");
    if ((order == "exact" || order == "best") && figure("peak_bytes") > figure("given_peak_bytes"))
        return "an order that needs more than the given one";
    bool const is_apart = is_sequential && operand_of("--in-place") == "off";
    if (known && known->is_of_bodies) {
        bool const is_of_all = reported.contains("graphs_inside"); // of one plan
        if (is_of_all && figure("values") != known->results)
            return "another number of values than the model has, " + std::to_string(known->results);
        std::uint64_t const more = figure("per_value_bytes") - known->naive_bytes;
        if (is_of_all && has_option("--json") && more > known->unread_bytes)
            return "other bytes of one allocation a value than the model has, " +
                   std::to_string(known->naive_bytes);
        if (is_apart && order.empty() && figure("arena_bytes") < known->peak_bytes)
            return "an arena smaller than what the model has to hold at once, " +
                   std::to_string(known->peak_bytes);
    } else if (known && is_apart) {
        if (figure("buffers") != known->buffers) return "another number of buffers than the model has";
        if (figure("naive_bytes") != known->naive_bytes) return "other naive bytes than the model has";
        if (has_option("--json") && figure("per_value_bytes") != known->naive_bytes)
            return "other bytes of one allocation a value than the model has";
        if (operand_of("--order").empty() && figure("lower_bound_bytes") != known->peak_bytes)
            return "another lower bound than the peak of the model, " + std::to_string(known->peak_bytes);
    }
    if (auto const file = operand_of("--csv"); !file.empty())
        if (auto const wrong = mistake_in_csv(contents_of(file), reported, is_sequential, known);
            !wrong.empty())
            return wrong;
    if (auto const file = operand_of("--tflm"); !file.empty())
        if (auto const wrong = mistake_in_offsets(contents_of(file), contents_of(operand_of("--csv")));
            !wrong.empty())
            return wrong;
    if (auto const file = operand_of("--svg"); !file.empty() && !is_xml(contents_of(file)))
        return "the picture is not well-formed";
    if (auto const file = operand_of("--dot"); !file.empty() && !contents_of(file).ends_with("}\n"))
        return "the graph for Graphviz has no end";
    return {};
}

bool is_unsized(std::vector<std::string> const& words, outcome const& result)
{
    bool const has_header = std::find(words.begin(), words.end(), "--header") != words.end();
    return result.status == 2 &&
           (has_range(words) || (has_header && result.err.ends_with(": a header holds whole plans\n")));
}

namespace {

void substitute(std::string& in, std::string const& what, std::string const& by)
{
    for (std::size_t at = in.find(what); at != in.npos; at = in.find(what, at + by.size()))
        in.replace(at, what.size(), by);
}

} // namespace

std::vector<std::string> words_of_mode(std::string const& mode, std::string const& file,
                                       std::filesystem::path const& work)
{
    std::vector<std::string> words = words_of(mode);
    for (std::string& word : words) {
        substitute(word, "FILE", file);
        substitute(word, "ORDER", (work / "order").string());
        substitute(word, "TABLE", (work / "table.csv").string());
        substitute(word, "OUT", (work / "out").string());
    }
    return words;
}

namespace {

/// The count of a row that workflow prints with `--unit units`.
std::optional<std::uint64_t> count_of_row(std::string const& text, std::string const& name)
{
    std::size_t const row = text.find('\n' + name + ' '), unit = text.find(" units", row);
    if (row == text.npos || unit == text.npos) return std::nullopt;
    std::size_t const number = text.rfind(' ', unit - 1) + 1;
    return number_in(text.substr(number, unit - number));
}

/// What is wrong with an answer of workflow.
std::string mistake_in_workflow(std::vector<std::string> const& words, outcome const& result)
{
    if (std::find(words.begin(), words.end(), "--order") != words.end())
        return result.out.empty() ? "prints no task" : "";
    auto const count = [&](char const* name) { return count_of_row(result.out, name); };
    for (char const* name : {"listed", "search", "bound", "arena"})
        if (!count(name)) return std::string("prints no row of ") + name;
    if (count("search") > count("listed")) return "the search is worse than the listed order";
    if (count("bound") > count("search")) return "the search is below the bound";
    if (count("arena") < count("search")) return "the arena is smaller than the peak";
    for (std::size_t i = 1; i != words.size(); ++i) {
        bool const is_picture =
            words[i - 1] == "--svg" || (words[i - 1] == "--curve" && words[i].ends_with(".svg"));
        if (is_picture && !is_xml(contents_of(words[i]))) return "the picture is not well-formed";
        if (words[i - 1] != "--csv") continue;
        auto const table = read_table(contents_of(words[i]));
        std::uint64_t sum = 0;
        for (std::size_t r = 1; r != table.size(); ++r) sum += number_in(table[r].at(3)).value_or(0);
        figures const reported = {{"buffers", std::to_string(table.size() - 1)},
                                  {"naive_bytes", std::to_string(sum)},
                                  {"arena_bytes", std::to_string(*count("arena"))}};
        bool const is_small = table.size() < 5000; // pairs of rows are compared
        if (auto const wrong = mistake_in_csv(contents_of(words[i]), reported, is_small, std::nullopt);
            !wrong.empty())
            return wrong;
    }
    return {};
}

} // namespace

std::vector<std::string> modes_of(std::string const& program, bool is_tflite)
{
    if (program == "plan_model") {
        std::vector<std::string> modes;
        for (std::string const& mode : plan_modes()) modes.push_back("FILE " + mode);
        if (is_tflite)
            for (char const* more :
                 {"", " --in-place on", " --in-place softmax --align 64 --run --limit 1000000"})
                modes.push_back(std::string("FILE --tflm OUT.tflm --csv OUT.csv") + more);
        else
            for (char const* more : {"", " --strict", " --run --limit 1000000"})
                modes.push_back(std::string("FILE --inline") + more);
        return modes;
    }
    if (program == "run_network")
        return {"FILE --limit 1000000", "FILE --threads 2 --streams 2 --check digest --limit 1000000",
                "FILE --mode arena --formulas --limit 1000000"};
    if (program == "pack")
        return {"--minimize --input FILE --time-limit 100ms --output OUT.csv --svg OUT.svg",
                "--capacity 64 --input FILE --time-limit 100ms --output OUT.csv",
                "--minimize --input FILE --time-limit 100ms --threads 2",
                "--minimize --input FILE --time-limit 100ms --output-format idealloc --output OUT.plc",
                "--minimize --input FILE --time-limit 100ms --format omnimalloc --output OUT.csv --quiet",
                "--minimize --input FILE --time-limit 100ms --format minimalloc --output OUT.csv",
                "--minimize --input FILE --time-limit 100ms --output OUT.tflm --trace OUT.json",
                "--minimize --input FILE --time-limit 100ms --format idealloc --output OUT.csv",
                "--minimize --input TABLE --time-limit 100ms --pins FILE --output OUT.tflm"};
    if (program == "workflow")
        return {"FILE --unit units --csv OUT.csv --svg OUT.svg",
                "FILE --unit units --csv OUT.csv --inputs staged --outputs dropped --effort fast",
                "FILE --inputs ignored --missing-size 7 --effort 1000 --order",
                "FILE --unit units --effort fast --workers 3 --curve OUT.csv --curve OUT.svg",
                "FILE --unit units --missing-size 4611686018427387903 --effort 0"};
    if (program == "transpiler")
        return {"memory_optimize FILE --print --log", "memory_optimize FILE --level 1 --all-grads --print",
                "release_memory FILE --print"};
    std::vector<std::string> modes;
    for (char const* call :
         {"optimize_inference_fast", "optimize_inference_for_dag", "compute_assignments", "share_grad_blobs",
          "share_grad_and_activation_blobs", "release_blobs_when_used"})
        modes.push_back(std::string(call) + " FILE --print --log");
    return modes;
}

std::string mistake_about_damaged(std::string const& program, std::vector<std::string> const& words,
                                  outcome const& result)
{
    bool const is_asked_to_fit = std::find(words.begin(), words.end(), "--capacity") != words.end();
    if (program == "plan_model" && result.status == 0) return mistake_in_plan(words, result, std::nullopt);
    if (program == "plan_model" && result.status == 1 && !is_asked_to_fit)
        return "is neither correct nor refused";
    if (program == "workflow" && result.status == 0) return mistake_in_workflow(words, result);
    if (program == "run_network" && result.out.find("DIFFERENT") != result.out.npos)
        return "the results are not identical";
    return {};
}

} // namespace fuzz
