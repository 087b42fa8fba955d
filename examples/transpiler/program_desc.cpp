// SPDX-License-Identifier: BSL-1.0
#include "program_desc.hpp"

#include "../statements.hpp"

#include <cstddef>
#include <istream>
#include <limits>
#include <ostream>

namespace transpiler {
namespace {

using statements::in_quotes;
using words = std::vector<std::string>;

void expect(bool holds, std::string const& what)
{
    if (!holds) throw program_error(what);
}

/// Checks that a word can name a variable in an operator's line.
std::string name_in(std::string const& word)
{
    bool is_name = word != "->" && word != "host" && word != "optimizer" && word.rfind("block=", 0) != 0;
    for (char c : word) is_name = is_name && !statements::is_control(c) && c != ' ' && c != '#';
    expect(is_name && !word.empty(), in_quotes(word) + " is no name");
    return word;
}

/// The number of a block.
int block_in(std::string const& word)
{
    auto const number = statements::number_in<int>(word);
    expect(number && *number >= -1, in_quotes(word) + " is no number of a block");
    return *number;
}

/// `block PARENT forward=BLOCK`
block_desc read_block(std::vector<block_desc> const& before, words const& line)
{
    expect(line.size() == 2 || line.size() == 3,
           "a block has a parent, and may have a forward block: forward=NUMBER");
    auto const count = static_cast<int>(before.size());
    block_desc block;
    block.parent = block_in(line[1]);
    expect(count == 0 ? block.parent == -1 : block.parent >= 0 && block.parent < count,
           count == 0 ? "the first block has the parent -1" : "a block has a parent before it");
    if (line.size() == 2) return block;
    expect(line[2].rfind("forward=", 0) == 0, in_quotes(line[2]) + " is not forward=NUMBER");
    block.forward = block_in(line[2].substr(8));
    expect(block.forward >= 0 && block.forward < count, "a forward block precedes its gradient block");
    int const forward_parent = before[static_cast<std::size_t>(block.forward)].parent;
    expect(count != 0 && (forward_parent == block.parent ||
                          (forward_parent >= 0 &&
                           forward_parent == before[static_cast<std::size_t>(block.parent)].forward)),
           "a forward block is a sibling, or lies in the forward block of the parent");
    return block;
}

/// `var NAME TYPE DIMENSION ... persistable`
void read_variable(block_desc& block, words const& line)
{
    expect(line.size() > 2, "a variable has a name and a type");
    std::string const& name = name_in(line[1]);
    var_desc var;
    var.type = line[2];
    for (std::size_t i = 3; i != line.size(); ++i) {
        if (line[i] == "persistable") {
            var.is_persistable = true;
            continue;
        }
        auto const extent = statements::number_in<std::int64_t>(line[i]);
        expect(extent.has_value(), in_quotes(line[i]) + " is no dimension");
        var.shape.push_back(*extent);
    }
    try {
        (void)bytes_of(var);
    } catch (program_error const& e) {
        throw program_error("variable " + in_quotes(name) + " " + e.what());
    }
    bool const is_new = block.vars.emplace(name, var).second;
    expect(is_new || block.vars[name] == var, "variable " + in_quotes(name) + " is declared in two ways");
}

/// `op TYPE INPUT ... -> OUTPUT ... block=NUMBER host optimizer`
op_desc read_operator(words const& line)
{
    expect(line.size() > 1, "an operator has a type");
    op_desc op;
    op.type = name_in(line[1]);
    bool reads = true;
    for (std::size_t i = 2; i != line.size(); ++i) {
        std::string const& word = line[i];
        if (word == "->") {
            expect(reads, "an operator has one '->'");
            reads = false;
        } else if (word == "host") {
            op.is_on_host = true;
        } else if (word == "optimizer") {
            op.is_optimizer = true;
        } else if (word.rfind("block=", 0) == 0) {
            expect(op.sub_block == -1, "an operator holds one block");
            op.sub_block = block_in(word.substr(6));
            expect(op.sub_block > 0, "no operator holds block " + std::to_string(op.sub_block));
        } else {
            (reads ? op.inputs : op.outputs).push_back(name_in(word));
        }
    }
    return op;
}

/// The position of an operator that holds a block.
struct block_owner {
    std::size_t line, block, op;
};

/// Checks that every block but the first is held once, by an operator of its parent. `line_of`: by block.
void expect_tree(program_desc const& program, std::vector<block_owner> const& block_owners,
                 std::vector<std::size_t> const& line_of)
{
    std::vector<bool> is_held(program.blocks.size());
    auto refuse = [](std::size_t line, std::string const& what) {
        throw program_error("line " + std::to_string(line) + ": " + what);
    };
    for (block_owner const& h : block_owners) {
        op_desc const& op = program.blocks[h.block].ops[h.op];
        auto const held = static_cast<std::size_t>(op.sub_block);
        if (held >= is_held.size() || program.blocks[held].parent != static_cast<int>(h.block))
            refuse(h.line, "operator " + op.type + " holds a block with another parent");
        if (is_held[held])
            refuse(h.line, "operator " + op.type + " holds a block that another operator holds");
        is_held[held] = true;
    }
    for (std::size_t b = 1; b < is_held.size(); ++b)
        if (!is_held[b]) refuse(line_of[b], "no operator holds this block, " + std::to_string(b));
}

} // namespace

std::uint64_t bytes_of(var_desc const& var)
{
    static constexpr struct {
        char const* name;
        std::uint64_t bytes;
    } types[] = {{"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2},  {"int64", 8},
                 {"int32", 4},   {"int16", 2},   {"int8", 1},    {"uint64", 8},    {"uint32", 4},
                 {"uint16", 2},  {"uint8", 1},   {"bool", 1},    {"complex64", 8}, {"complex128", 16}};
    if (var.shape.empty()) return 0;
    std::uint64_t bytes = 0;
    for (auto const& type : types)
        if (var.type == type.name) bytes = type.bytes;
    expect(bytes != 0, "has a shape, and a type of no known size: " + in_quotes(var.type));
    bool is_zero = false;
    for (std::size_t d = 0; d != var.shape.size(); ++d) {
        expect(var.shape[d] >= (d == 0 ? -1 : 0),
               "has the dimension " + std::to_string(var.shape[d]) + ": only the first may be unknown, -1");
        is_zero = is_zero || var.shape[d] == 0;
    }
    for (std::int64_t extent : var.shape) {
        if (is_zero) return 0;
        if (extent == -1) continue;
        // the largest number stands for an unknown size
        expect(bytes <= (std::numeric_limits<std::uint64_t>::max() - 1) / static_cast<std::uint64_t>(extent),
               "takes more bytes than 64 bits can count");
        bytes *= static_cast<std::uint64_t>(extent);
    }
    return bytes;
}

program_desc read_program(std::istream& in)
{
    program_desc program;
    std::vector<block_owner> block_owners;
    std::vector<std::size_t> line_of; // by block
    statements::read_each<program_error>(in, [&](words const& line, std::size_t number) {
        std::string const& what = line[0];
        if (what == "block") {
            program.blocks.push_back(read_block(program.blocks, line));
            line_of.push_back(number);
        } else if (what == "optimized") {
            expect(line.size() == 1, "nothing follows 'optimized'");
            program.is_optimized = true;
        } else if (what == "var" || what == "op") {
            expect(!program.blocks.empty(), "a block comes first");
            block_desc& block = program.blocks.back();
            if (what == "var") return read_variable(block, line);
            block.ops.push_back(read_operator(line));
            if (block.ops.back().sub_block != -1)
                block_owners.push_back({number, program.blocks.size() - 1, block.ops.size() - 1});
        } else {
            throw program_error(in_quotes(what) + " is no statement");
        }
    });
    expect(!program.blocks.empty(), "has no block");
    expect_tree(program, block_owners, line_of);
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
            out << "var " << name_in(name) << ' ' << var.type;
            for (auto extent : var.shape) out << ' ' << extent;
            out << (var.is_persistable ? " persistable\n" : "\n");
        }
        for (op_desc const& op : block.ops) {
            out << "op " << name_in(op.type);
            for (auto const& name : op.inputs) out << ' ' << name_in(name);
            out << " ->";
            for (auto const& name : op.outputs) out << ' ' << name_in(name);
            if (op.sub_block >= 0) out << " block=" << op.sub_block;
            out << (op.is_on_host ? " host" : "") << (op.is_optimizer ? " optimizer\n" : "\n");
        }
    }
}

} // namespace transpiler
