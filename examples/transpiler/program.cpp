// SPDX-License-Identifier: BSL-1.0
// PaddlePaddle's memory transpiler on sublet: reads a program of blocks, a text or (where ONNX is found) a
// model, optimizes or releases its memory by the call that is asked for, and prints what that saves. What
// replaced what, and the program, are printed if asked.

#include "program.hpp"

#include "transpiler.hpp"

#ifdef TRANSPILER_READS_ONNX
#include "../plan_model/read_onnx.hpp"
#endif

#include <exception>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <string>

namespace transpiler {
namespace {

constexpr char const* usage =
    "usage: transpiler memory_optimize|release_memory FILE [--level 0|1] [--skip NAME] "
    "[--all-grads] [--log] [--print]\n";

#ifdef TRANSPILER_READS_ONNX
/// One block. A model tells bytes and not shapes: a variable is a row of them.
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
    for (auto const& value : model.values) // what others are views of has to stay as long as they do
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
    std::ifstream text(file);
    if (!text) throw program_error("cannot be read");
    return read_program(text);
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    std::string call, file;
    std::set<std::string> skip;
    int level = 0;
    bool log = false, print = false, skip_grads = true;
    for (int i = 1; i != count; ++i) {
        std::string const word = words[i];
        bool const has_next = i + 1 != count;
        if (word == "--log") log = true;
        else if (word == "--print") print = true;
        else if (word == "--all-grads") skip_grads = false;
        else if (word == "--level" && has_next) level = std::string(words[++i]) == "1";
        else if (word == "--skip" && has_next) skip.insert(words[++i]);
        else (call.empty() ? call : file) = word;
    }
    bool const optimizes = call == "memory_optimize";
    if (file.empty() || (!optimizes && call != "release_memory")) return err << usage, 2;
    try {
        program_desc program = read(file);
        if (optimizes) {
            optimized const all = memory_optimize(program, skip, log ? &out : nullptr, level, skip_grads);
            if (all.was_optimized) out << "# was optimized already\n";
            else
                out << "# " << all.reused << " variables reuse storage: " << all.after << " bytes instead of "
                    << all.before << '\n';
        } else {
            out << "# " << release_memory(program, skip) << " variables are deleted\n";
        }
        if (print) print_program(out, program);
        return 0;
    } catch (std::exception const& e) {
        err << "transpiler: " << file << ": " << e.what() << '\n';
        return 2;
    }
}

} // namespace transpiler
