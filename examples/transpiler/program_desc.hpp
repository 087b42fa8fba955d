// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TRANSPILER_PROGRAM_DESC_HPP
#define SUBLET_EXAMPLES_TRANSPILER_PROGRAM_DESC_HPP

/// A program as PaddlePaddle had it: blocks of operators over variables that are declared in a block and seen
/// in all that are within it. Nothing here knows of sublet.

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
    std::vector<std::int64_t> shape; ///< -1 first: the batch, which is not known; empty: no tensor of a size
    std::string type = "float32";
    bool is_persistable = false;
    friend bool operator==(var_desc const&, var_desc const&) = default;
};

/// Of a batch of 1 where that is not known; 0 for no tensor.
/// Throws: program_error for an element type that is not known, a dimension that is negative and no batch,
/// and
///         for more bytes than 64 bits can count.
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
    int forward = -1; ///< of a block of gradients: whose values it reads, time step by time step
    std::map<std::string, var_desc> vars;
    std::vector<op_desc> ops;
};

struct program_desc {
    std::vector<block_desc> blocks; ///< parents first
    bool is_optimized = false;
};

/// A text, a statement a line; what follows `#` is a remark.
///
///     block -1                          parent of block 0
///     var x float32 -1 784
///     var w float32 784 10 persistable
///     op mul x w -> h
///     op while h -> y block=1           also: host, optimizer
///     block 0 forward=1                 parent of block 1; a block of gradients names its twin
///
/// Every block but the first is held by one operator, of its parent. A twin stands beside its block of
/// gradients, or within the twin of the block around that.
///
/// Throws: program_error with the line.
program_desc read_program(std::istream& in);

/// The same text.
void print_program(std::ostream& out, program_desc const& program);

} // namespace transpiler

#endif
