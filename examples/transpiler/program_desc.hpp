// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TRANSPILER_PROGRAM_DESC_HPP
#define SUBLET_EXAMPLES_TRANSPILER_PROGRAM_DESC_HPP

/// A program as in PaddlePaddle: blocks of operators over variables that are declared in a block and visible
/// in all nested ones. Independent of sublet.

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace transpiler {

struct program_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct var_desc {
    std::vector<std::int64_t> shape; ///< first -1: the unknown batch size; empty: no tensor of a fixed size
    std::string type = "float32";
    bool is_persistable = false;
    friend bool operator==(var_desc const&, var_desc const&) = default;
};

/// Bytes for batch size 1 if that is unknown; 0 if it is no tensor.
///
/// Throws: program_error for an unknown element type, for a negative dimension other than the batch, and for
///         more bytes than 64 bits can count.
std::uint64_t bytes_of(var_desc const& var);

struct op_desc {
    std::string type;
    std::vector<std::string> inputs, outputs;
    int sub_block = -1;
    bool is_on_host = false;   ///< `force_cpu`
    bool is_optimizer = false; ///< its operands are parameters and their gradients
};

struct block_desc {
    int parent = -1;
    int forward = -1; ///< of a gradient block: the block that it reads values of, step by step
    std::map<std::string, var_desc> vars;
    std::vector<op_desc> ops;
};

struct program_desc {
    std::vector<block_desc> blocks; ///< parents first
    bool is_optimized = false;
};

/// Reads a text of one statement per line; the text behind `#` is a comment.
///
///     block -1                          parent of block 0
///     var x float32 -1 784
///     var w float32 784 10 persistable
///     op mul x w -> h
///     op while h -> y block=1           also: host, optimizer
///     block 0 forward=1                 parent of block 1; a gradient block names its forward block
///
/// Every block but the first is held by one operator of its parent. The forward block of a gradient block is
/// its sibling, or lies in the forward block of its parent.
///
/// Throws: program_error with the line.
program_desc read_program(std::istream& in);

/// Prints the same text format.
void print_program(std::ostream& out, program_desc const& program);

} // namespace transpiler

#endif
