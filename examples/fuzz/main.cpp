// SPDX-License-Identifier: BSL-1.0

// Checks that the example programs give a correct answer or a refusal of one true sentence for any file:
// files that once caused errors, models drawn at random, and files damaged at random.

#include "../command_line.hpp"
#include "draw_flat.hpp"
#include "drawn_models.hpp"
#include "grown_files.hpp"
#include "in_process.hpp"
#include "mutate.hpp"
#include "plan_answers.hpp"
#include "random_source.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace fuzz;

constexpr char usage[] =
    "usage: fuzz cases PROGRAM TABLE [--work FOLDER]\n"
    "       fuzz models plan_model|run_network [--seed S] [--cases N] [--work FOLDER]\n"
    "       fuzz mutants PROGRAM [--seed S] [--cases N] [--work FOLDER] [FILE ...]\n"
    "       fuzz sizes PROGRAM [--work FOLDER]\n"
    "\n"
    "  cases    run the program on the files of a table, and compare with the answers or refusals in it\n"
    "  models   draw valid models, and run the program on each in all its modes\n"
    "  mutants  damage given files and drawn models, and run the program on each\n"
    "  sizes    run the program on small files with the largest numbers, and on files from 1 KiB to 1 MiB\n"
    "\n"
    "Case i depends only on the seed S + i and the files: --seed S+i --cases 1 repeats it and prints the\n"
    "call. Exit status: 0 if the program passes; 1 if not; 2 for bad usage.\n";

struct arguments {
    std::string command, program;
    std::uint64_t seed = 1, cases = 100;
    std::filesystem::path work = ".";
    std::vector<std::string> files;
    bool help = false, version = false;
};

arguments read_arguments(int count, char** words)
{
    arguments args;
    std::vector<std::string> names;
    for (command_line::reader<std::invalid_argument> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        if (!reader.is_option()) {
            names.push_back(word);
            continue;
        }
        auto number = [&] {
            std::string const operand = reader.operand();
            std::uint64_t read = 0;
            char const* const end = operand.data() + operand.size();
            if (auto const [stop, error] = std::from_chars(operand.data(), end, read);
                stop != end || error != std::errc{})
                throw std::invalid_argument("option " + word + " is a number, not " + operand);
            return read;
        };
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--seed") args.seed = number();
        else if (word == "--cases") args.cases = number();
        else if (word == "--work") args.work = reader.operand();
        else throw std::invalid_argument("unknown option '" + word + "'" + reader.hint());
    }
    if (args.help || args.version) return args;
    if (names.size() < 2) throw std::invalid_argument("a command and a program are needed (see --help)");
    args.command = names[0], args.program = names[1];
    args.files.assign(names.begin() + 2, names.end());
    return args;
}

std::string contents_of(std::filesystem::path const& file)
{
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) throw std::runtime_error(file.string() + ": cannot be read");
    return std::move(text).str();
}

/// Runs one program repeatedly, and records its errors.
class session {
public:
    session(arguments const& args) : args_(args), program_(find_program(args.program))
    {
        if (program_ == nullptr) throw std::invalid_argument("no such program here: " + args.program);
    }

    /// Printed before the program runs: if the process is ended, its case is the last one named.
    void begin(std::string const& name) { std::cout << name << std::endl; }

    outcome run(std::vector<std::string> const& words)
    {
        if (args_.cases == 1) std::cout << program_->name << joined(words) << std::endl;
        ++runs_;
        words_ = words;
        outcome result = fuzz::run(*program_, words);
        if (result.status != 0) ++refusals_[message_template(result.err.empty() ? result.out : result.err)];
        return result;
    }

    /// `mistake`: empty, or an error beyond the rules for all programs.
    bool check_outcome(outcome const& result, std::string mistake)
    {
        if (std::string const worse = contract_violation(*program_, result); !worse.empty()) mistake = worse;
        if (mistake.empty()) return true;
        ++mistakes_;
        std::cout << "MISTAKE: " << mistake << "\n  " << program_->name << joined(words_)
                  << "\n  exit status " << result.status << "\n  stdout: " << result.out
                  << "\n  stderr: " << result.err << std::endl;
        return false;
    }

    int finish() const
    {
        if (args_.command == "models")
            for (auto const& [sentence, count] : refusals_)
                std::cout << count << " times: " << sentence << '\n';
        std::cout << runs_ << " runs, " << mistakes_ << " mistakes\n";
        return mistakes_ == 0 ? 0 : 1;
    }

private:
    /// The last line, without names, types and numbers.
    static std::string message_template(std::string text)
    {
        while (text.ends_with('\n')) text.pop_back();
        text.erase(0, text.rfind('\n') + 1);
        std::string general;
        bool is_name = false;
        for (char c : text) {
            if (c == '\'') is_name = !is_name;
            if (c == '(' || c == ')') is_name = c == '(';
            char const shown = c >= '0' && c <= '9' ? '0' : c;
            if (!is_name && !(shown == '0' && general.ends_with('0'))) general += shown;
        }
        return general;
    }

    arguments const& args_;
    program const* program_;
    std::vector<std::string> words_;
    std::uint64_t runs_ = 0, mistakes_ = 0;
    std::map<std::string, std::uint64_t> refusals_;
};

// --- files that caused errors ---------------------------------------------------------------------------

/// A row of a table: file | program and words | exit statuses | output, on stdout if the status is 0 and on
/// stderr otherwise.
struct listed_case {
    std::string file, program, words, statuses, printed;
};

std::vector<listed_case> read_cases(std::filesystem::path const& table)
{
    std::vector<listed_case> cases;
    std::istringstream in(contents_of(table));
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        std::vector<std::string> fields(1);
        for (char c : line)
            if (c == '|') fields.emplace_back();
            else fields.back() += c;
        for (std::string& field : fields) {
            field.erase(0, field.find_first_not_of(' '));
            field.erase(field.find_last_not_of(' ') + 1);
        }
        if (fields.size() != 4)
            throw std::runtime_error(table.string() + ": a row has not four fields: " + line);
        std::size_t const cut = std::min(fields[1].find(' '), fields[1].size() - 1);
        cases.push_back(
            {fields[0], fields[1].substr(0, cut), fields[1].substr(cut + 1), fields[2], fields[3]});
    }
    return cases;
}

/// The mode of a row, or those that it stands for: "in all modes", "without --run", "with --run".
std::vector<std::string> listed_modes(listed_case const& c)
{
    bool const with = c.words == "with --run", without = c.words == "without --run";
    if (!with && !without && c.words != "in all modes") return {c.words};
    std::vector<std::string> modes;
    for (std::string const& mode : plan_modes()) {
        bool const runs = mode.find("--run") != mode.npos, is_ordered = mode.find("ORDER") != mode.npos;
        bool const is_of_range = mode.find("--dim") != mode.npos; // which is refused before a damage is found
        if ((runs ? !without : !with) && !is_ordered && !is_of_range) modes.push_back("FILE " + mode);
    }
    return modes;
}

int run_cases(arguments const& args)
{
    session all(args);
    std::filesystem::path const table = args.files.at(0);
    write_file(args.work / "table.csv", pinned_table);
    for (listed_case const& c : read_cases(table)) {
        if (c.program != args.program) continue;
        for (std::string const& mode : listed_modes(c)) {
            auto const words = words_of_mode(mode, (table.parent_path() / c.file).string(), args.work);
            all.begin(args.program + joined(words));
            outcome const result = all.run(words);
            std::string mistake;
            auto is_right = [&](int status) {
                return c.statuses.find(std::to_string(status)) != c.statuses.npos;
            };
            bool const is_advice = mode.find("--capacity") != mode.npos; // fits, or does not fit
            if (!is_right(result.status) && !(is_advice && result.status == 1 && is_right(0)) &&
                !(is_unsized(words, result) && is_right(0)))
                mistake = "the exit status is not " + c.statuses;
            else if (args.program == "plan_model" && result.status < 2)
                mistake = mistake_in_plan(words, result, std::nullopt);
            if (mistake.empty() && !matches(result.status < 2 ? result.out : result.err, c.printed + '\n'))
                mistake = "expected: " + c.printed;
            all.check_outcome(result, mistake);
        }
    }
    return all.finish();
}

// --- drawn models ---------------------------------------------------------------------------------------

std::string order_text(std::vector<std::size_t> const& order)
{
    std::string text;
    for (std::size_t n : order) text += std::to_string(n) + '\n';
    return text;
}

int run_models(arguments const& args)
{
    session all(args);
    bool const plans = args.program == "plan_model";
    std::vector<std::string> const modes =
        plans
            ? plan_modes()
            : std::vector<std::string>{"--threads 2 --streams 3 --formulas --check digest --limit 100000000"};
    for (std::uint64_t seed = args.seed; seed != args.seed + args.cases; ++seed) {
        random_source d(seed);
        std::optional<model_facts> known;
        onnx::ModelProto model;
        std::vector<std::string> options;
        if (plans && d.percent(85)) {
            drawn_model drawn = d.percent(50) ? draw_plan(d) : draw_bodies(d);
            known = std::move(drawn.facts);
            model = std::move(drawn.model);
            options = std::move(drawn.words);
            write_file(args.work / "order", order_text(known->order));
        } else {
            model = draw_layers(d);
        }
        std::string const file = (args.work / "model.onnx").string();
        write_file(file, model.SerializeAsString());
        all.begin("seed " + std::to_string(seed));
        for (std::string const& mode : modes) {
            auto words = words_of_mode(mode, file, args.work);
            if (!known && mode.find("ORDER") != mode.npos) continue;
            words.insert(words.begin(), file);
            words.insert(words.end(), options.begin(), options.end());
            outcome const result = all.run(words);
            std::string mistake;
            if (result.status > 1) mistake = is_unsized(words, result) ? "" : "a valid model is refused";
            else if (plans) mistake = mistake_in_plan(words, result, known);
            else if (!matches(result.out, "*\nresults: identical\n"))
                mistake = "the results are not identical";
            if (!all.check_outcome(result, mistake))
                std::filesystem::copy_file(file, args.work / ("mistake_" + std::to_string(seed) + ".onnx"),
                                           std::filesystem::copy_options::overwrite_existing);
        }
    }
    return all.finish();
}

// --- damaged files --------------------------------------------------------------------------------------

/// A damaged file, and the order of a model, which may be the damaged one.
struct mutant {
    std::string name, bytes, order;
    std::vector<std::string> options = {}; ///< that the model needed before it was damaged
};

mutant draw_mutant(arguments const& args, random_source& d)
{
    auto is_flat = [](std::filesystem::path const& file) { return file.extension() == ".tflite"; };
    bool const reads_models =
        args.program != "pack" && args.program != "workflow" &&
        !(!args.files.empty() && std::all_of(args.files.begin(), args.files.end(), is_flat));
    if (!args.files.empty() && (!reads_models || d.percent(50))) {
        std::filesystem::path const from = d.one_of(args.files);
        bool const is_drawn = is_flat(from) && d.percent(50);
        std::string bytes = is_drawn ? draw_flat(d) : contents_of(from);
        onnx::ModelProto model;
        if (is_drawn && d.percent(70)) return {"mutant.tflite", bytes, "0\n"};
        if (from.extension() == ".onnx" && d.percent(70) && model.ParseFromString(bytes)) {
            mutate_model(model, d);
            bytes = model.SerializeAsString();
        } else if (is_flat(from) && d.percent(85)) {
            mutate_numbers(bytes, d);
        } else if (d.percent(from.extension() == ".onnx" || is_flat(from) ? 100 : 30)) {
            mutate_bytes(bytes, d);
        } else {
            mutate_words(bytes, d);
        }
        return {"mutant" + from.extension().string(), bytes, "0\n"};
    }
    if (!reads_models) throw std::invalid_argument(args.program + " needs a file to begin with");
    bool const is_plan = args.program != "run_network" && d.percent(85);
    if (args.program == "plan_model" && d.percent(50))
        return {"mutant.onnx", draw_operators(d).SerializeAsString(), "0\n"};
    drawn_model drawn = !is_plan        ? drawn_model{draw_layers(d), {}}
                        : d.percent(50) ? draw_plan(d)
                                        : draw_bodies(d);
    mutant mutated{"mutant.onnx", {}, order_text(drawn.facts.order), drawn.words};
    bool const in_order = is_plan && d.percent(10);
    if (in_order) mutate_words(mutated.order, d);
    else if (d.percent(75)) mutate_model(drawn.model, d);
    mutated.bytes = drawn.model.SerializeAsString();
    if (!in_order && d.percent(25)) mutate_bytes(mutated.bytes, d);
    return mutated;
}

/// Options of plan_model about what a file leaves open: those that the model needed, or others.
std::vector<std::string> draw_options(mutant const& mutated, random_source& d)
{
    std::vector<std::string> words;
    if (d.percent(70)) words = mutated.options;
    if (d.percent(20)) words.push_back("--strict");
    if (d.percent(25)) words.push_back("--inline");
    onnx::ModelProto model;
    if (!d.percent(40) || !model.ParseFromString(mutated.bytes) || model.graph().input_size() == 0)
        return words;
    for (int times = d.between(1, 3); times != 0; --times) {
        auto const& input = model.graph().input(d.between(0, model.graph().input_size() - 1));
        std::string const size = d.percent(80) ? std::to_string(d.between(0, 9)) : "1099511627776";
        auto const& dims = input.type().tensor_type().shape().dim();
        std::size_t const axis = d.below(static_cast<std::size_t>(dims.size()) + 1);
        bool const has_axis = axis != static_cast<std::size_t>(dims.size());
        std::string const& name = has_axis ? dims[static_cast<int>(axis)].dim_param() : input.name();
        if (d.percent(30)) words.insert(words.end(), {"--value", input.name() + '=' + size});
        else if (has_axis && !name.empty() && d.percent(70))
            words.insert(words.end(), {"--dim", name + '=' + size});
        else words.insert(words.end(), {"--dim", input.name() + ':' + std::to_string(axis) + '=' + size});
    }
    return words;
}

int run_mutants(arguments const& args)
{
    session all(args);
    auto const modes = modes_of(args.program), flat_modes = modes_of(args.program, true);
    for (std::uint64_t seed = args.seed; seed != args.seed + args.cases; ++seed) {
        random_source d(seed);
        mutant const mutated = draw_mutant(args, d);
        std::string const file = (args.work / mutated.name).string();
        write_file(file, mutated.bytes);
        write_file(args.work / "order", mutated.order);
        write_file(args.work / "table.csv", pinned_table);
        bool const is_tflite = mutated.name.ends_with(".tflite");
        auto words = words_of_mode(d.one_of(is_tflite ? flat_modes : modes), file, args.work);
        if (args.program == "plan_model" && !is_tflite) {
            auto const options = draw_options(mutated, d);
            words.insert(words.end(), options.begin(), options.end());
        }
        all.begin("seed " + std::to_string(seed));
        outcome const result = all.run(words);
        if (!all.check_outcome(result, mistake_about_damaged(args.program, words, result)))
            std::filesystem::copy_file(file,
                                       args.work / ("mistake_" + std::to_string(seed) + '_' + mutated.name),
                                       std::filesystem::copy_options::overwrite_existing);
    }
    return all.finish();
}

// --- files that grow ------------------------------------------------------------------------------------

/// The memory that each takes is checked with every outcome.
int run_sizes(arguments const& args)
{
    session all(args);
    auto run_file = [&](grown_file const& f, std::size_t first, std::size_t step) {
        std::string const file = (args.work / f.name).string();
        write_file(file, f.bytes);
        write_file(args.work / "order", "0\n");
        write_file(args.work / "table.csv", pinned_table);
        auto const modes = modes_of(args.program, f.name.ends_with(".tflite"));
        for (std::size_t m = first % step; m < modes.size(); m += step) {
            auto const words = words_of_mode(modes[m], file, args.work);
            all.begin(args.program + joined(words) + ", " + std::to_string(f.bytes.size()) + " bytes");
            outcome const result = all.run(words);
            all.check_outcome(result, mistake_about_damaged(args.program, words, result));
        }
    };
    for (grown_file const& f : boasting_files(args.program)) run_file(f, 0, 1);
    // Fewer modes for larger files, others for each.
    std::size_t const at_least = modes_of(args.program).size() > 12 ? 8 : 1;
    std::size_t next = 0;
    for (auto [bytes, step] :
         {std::pair<std::size_t, std::size_t>{1 << 10, 1}, {1 << 14, 1}, {1 << 17, 2}, {1 << 20, 4}})
        for (grown_file const& f : grown_files(args.program, bytes)) run_file(f, next++, step * at_least);
    if (args.program == "plan_model")
        for (std::size_t bytes : {std::size_t{1} << 14, std::size_t{1} << 17})
            for (grown_file const& f : grown_bodies(bytes)) run_file(f, next += 7, 50);
    return all.finish();
}

} // namespace

int main(int count, char** words)
{
    try {
        arguments const args = read_arguments(count, words);
        if (args.help) return std::cout << usage, 0;
        if (args.version) return std::cout << command_line::version_of("fuzz"), 0;
        std::filesystem::create_directories(args.work);
        if (args.command == "cases" && args.files.size() == 1) return run_cases(args);
        if (args.command == "models" && args.files.empty()) return run_models(args);
        if (args.command == "mutants") return run_mutants(args);
        if (args.command == "sizes" && args.files.empty()) return run_sizes(args);
        throw std::invalid_argument("no such command, or not with these files (see --help)");
    } catch (std::exception const& e) {
        std::cerr << "fuzz: " << e.what() << '\n';
    }
    return 2;
}
