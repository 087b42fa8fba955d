// SPDX-License-Identifier: BSL-1.0
// PaddlePaddle's memory transpiler on sublet: reads a program of blocks, from a text or (if ONNX is found) a
// model, optimizes or releases its memory by the given call, and prints what that saves. Prints the
// replacements and the program on request.

#include "program.hpp"

#include "../command_line.hpp"
#include "../statements.hpp"
#include "transpiler.hpp"

#ifdef TRANSPILER_READS_ONNX
#include "../plan_model/read_onnx.hpp"
#endif

#include <fstream>
#include <iomanip>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

namespace transpiler {
namespace {

using statements::in_quotes;

constexpr char const* usage =
    "usage: transpiler CALL FILE [--level 0|1] [--skip NAME] [--all-grads] [--log] [--print]\n"
    "\n"
    "Lets the variables of a program of blocks share storage, or deletes them, and prints what that saves.\n"
    "\n"
    "  CALL         memory_optimize | release_memory\n"
    "  FILE         a program as text, or an ONNX model\n"
    "  --level N    0: share storage of equal shape (default), 1: also larger storage\n"
    "  --skip NAME  leave this variable unchanged; may be repeated\n"
    "  --all-grads  also let gradients share that optimizers read\n"
    "  --log        print which variable takes which storage\n"
    "  --print      print the resulting program\n"
    "  --version    print the name and the version\n"
    "\n"
    "Exit status: 0; 2 for bad input or usage.\n";

struct arguments {
    std::string call, file;
    std::set<std::string> skip;
    int level = 0;
    bool log = false, print = false, skip_grads = true, help = false, version = false;
    std::string only_optimizes; ///< an option that release_memory does not have
};

/// Throws: program_error.
arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    for (command_line::reader<program_error> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        if (word == "--level" || word == "--all-grads" || word == "--log") args.only_optimizes = word;
        if (word == "--help" || word == "-h") {
            args.help = true;
        } else if (word == "--version") {
            args.version = true;
        } else if (word == "--log") {
            args.log = true;
        } else if (word == "--print") {
            args.print = true;
        } else if (word == "--all-grads") {
            args.skip_grads = false;
        } else if (word == "--skip") {
            args.skip.insert(reader.operand());
        } else if (word == "--level") {
            std::string const level = reader.operand();
            if (level != "0" && level != "1")
                throw program_error("option --level is 0 or 1, not " + in_quotes(level));
            args.level = level == "1";
        } else if (reader.is_option()) {
            throw program_error("unknown option " + in_quotes(word) + reader.hint());
        } else if (args.call.empty()) {
            args.call = word;
        } else if (args.file.empty()) {
            args.file = word;
        } else {
            throw program_error("more than one file: " + in_quotes(args.file) + " and " + in_quotes(word));
        }
    }
    if (args.help || args.version) return args;
    if (args.call.empty()) throw program_error("no call is given (see --help)");
    if (args.call != "memory_optimize" && args.call != "release_memory")
        throw program_error("there is no call " + in_quotes(args.call) + " (see --help)");
    if (args.file.empty()) throw program_error("no file is given (see --help)");
    if (args.call == "release_memory" && !args.only_optimizes.empty())
        throw program_error("option " + args.only_optimizes + " is about memory_optimize (see --help)");
    return args;
}

#ifdef TRANSPILER_READS_ONNX
/// One block. A model has bytes instead of shapes: a variable becomes a row of bytes.
program_desc read_model(std::string const& file)
{
    plan_model::network const model = plan_model::read_onnx(file);
    program_desc program;
    block_desc& block = program.blocks.emplace_back();
    for (auto const& value : model.values) {
        bool const is_ours =
            value.role == sublet::value_role::intermediate && value.alias_of == sublet::no_value;
        var_desc var;
        var.type = "uint8";
        if (value.bytes != sublet::no_size) var.shape.push_back(static_cast<std::int64_t>(value.bytes));
        var.is_persistable = !is_ours;
        block.vars[value.name] = var;
    }
    for (auto const& value : model.values) // the base of a view must stay as long as the view
        if (value.alias_of != sublet::no_value)
            block.vars[model.values[value.alias_of].name].is_persistable = true;
    for (auto const& operation : model.operations) {
        op_desc op;
        op.type = operation.type;
        for (auto v : operation.inputs)
            if (v != sublet::no_value) op.inputs.push_back(model.values[v].name);
        for (auto const& row : {operation.outputs, operation.mutated})
            for (auto v : row)
                if (v != sublet::no_value) op.outputs.push_back(model.values[v].name);
        block.ops.push_back(op);
    }
    return program;
}
#endif

program_desc read(std::string const& file)
{
#ifdef TRANSPILER_READS_ONNX
    if (file.size() > 5 && file.substr(file.size() - 5) == ".onnx") return read_model(file);
#endif
    std::ifstream text = statements::open_text<program_error>(file);
    return read_program(text);
}

void run(arguments const& args, std::ostream& out)
{
    program_desc program = read(args.file);
    if (args.call == "release_memory") {
        std::size_t const deleted = release_memory(program, args.skip);
        out << "# " << deleted << " variables are deleted\n";
    } else {
        std::stringstream log;
        optimized const all =
            memory_optimize(program, args.skip, args.log ? &log : nullptr, args.level, args.skip_grads);
        for (std::string line; std::getline(log, line);) // a comment before a program
            out << (args.print ? "#   " : "") << line << '\n';
        if (all.was_optimized) out << "# was optimized already\n";
        else
            out << "# " << all.reused << " variables reuse storage: " << all.after << " bytes instead of "
                << all.before << '\n';
    }
    if (args.print) print_program(out, program);
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    return command_line::answer(
        "transpiler", usage, out, err, [&] { return read_arguments(count, words); }, run);
}

} // namespace transpiler
