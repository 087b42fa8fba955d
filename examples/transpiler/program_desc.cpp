// SPDX-License-Identifier: BSL-1.0
#include "program_desc.hpp"

#include <istream>
#include <ostream>
#include <sstream>

namespace transpiler {
namespace {

bool is_number(std::string const& word)
{
    std::size_t const digits = word.find_first_not_of("0123456789", word[0] == '-' ? 1 : 0);
    return digits == std::string::npos && word != "-";
}

int number_in(std::string const& word)
{
    std::string const number = word.substr(word.find('=') + 1);
    return number.empty() || !is_number(number) || number.size() > 6 ? -2 : std::stoi(number);
}

} // namespace

program_desc read_program(std::istream& in)
{
    program_desc program;
    int line_number = 0;
    auto expect = [&line_number](bool holds, std::string const& what) {
        if (!holds) throw program_error("line " + std::to_string(line_number) + ": " + what);
    };
    for (std::string line; std::getline(in, line);) {
        ++line_number;
        std::istringstream words(line.substr(0, line.find('#')));
        std::string what, word;
        if (!(words >> what)) continue;
        auto const blocks = static_cast<int>(program.blocks.size());
        if (what == "block") {
            block_desc block;
            words >> word;
            block.parent = number_in(word);
            expect(block.parent >= (blocks == 0 ? -1 : 0) && block.parent < blocks,
                   "a block has a parent before it");
            if (words >> word) block.forward = number_in(word);
            expect(block.forward >= -1 && block.forward < blocks, "a block has a forward twin before it");
            program.blocks.push_back(block);
        } else if (what == "optimized") {
            program.is_optimized = true;
        } else if (what == "var") {
            std::string name;
            var_desc var;
            expect(blocks != 0 && words >> name >> var.type, "a variable has a block, a name and a type");
            while (words >> word) {
                if (word == "persistable") var.is_persistable = true;
                else expect(is_number(word) && word.size() < 18, "'" + word + "' is no dimension");
                if (word != "persistable") var.shape.push_back(std::stoll(word));
            }
            program.blocks.back().vars[name] = var;
        } else if (what == "op") {
            op_desc op;
            expect(blocks != 0 && words >> op.type, "an operator has a block and a type");
            bool reads = true;
            while (words >> word) {
                if (word == "->") reads = false;
                else if (word == "host") op.is_on_host = true;
                else if (word == "optimizer") op.is_optimizer = true;
                else if (word.rfind("block=", 0) == 0) op.sub_block = number_in(word);
                else (reads ? op.inputs : op.outputs).push_back(word);
            }
            program.blocks.back().ops.push_back(op);
        } else {
            expect(false, "'" + what + "' is no statement");
        }
    }
    std::vector<bool> is_held(program.blocks.size());
    for (std::size_t b = 0; b != program.blocks.size(); ++b)
        for (op_desc const& op : program.blocks[b].ops) {
            bool const nests =
                op.sub_block > 0 && static_cast<std::size_t>(op.sub_block) < program.blocks.size();
            expect(op.sub_block == -1 ||
                       (nests &&
                        program.blocks[static_cast<std::size_t>(op.sub_block)].parent == static_cast<int>(b)),
                   "operator " + op.type + " holds a block that is not within its own");
            if (!nests) continue;
            auto const held = static_cast<std::size_t>(op.sub_block);
            expect(!is_held[held], "operator " + op.type + " holds a block that another one holds");
            is_held[held] = true;
        }
    return program;
}

void print_program(std::ostream& out, program_desc const& program)
{
    if (program.is_optimized) out << "optimized\n";
    for (block_desc const& block : program.blocks) {
        out << "block " << block.parent;
        if (block.forward >= 0) out << " forward=" << block.forward;
        out << '\n';
        for (auto const& [name, var] : block.vars) {
            out << "var " << name << ' ' << var.type;
            for (auto extent : var.shape) out << ' ' << extent;
            out << (var.is_persistable ? " persistable\n" : "\n");
        }
        for (op_desc const& op : block.ops) {
            out << "op " << op.type;
            for (auto const& name : op.inputs) out << ' ' << name;
            out << " ->";
            for (auto const& name : op.outputs) out << ' ' << name;
            if (op.sub_block >= 0) out << " block=" << op.sub_block;
            out << (op.is_on_host ? " host" : "") << (op.is_optimizer ? " optimizer\n" : "\n");
        }
    }
}

} // namespace transpiler
