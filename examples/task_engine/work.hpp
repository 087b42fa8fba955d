// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_TASK_ENGINE_WORK_HPP
#define SUBLET_EXAMPLES_TASK_ENGINE_WORK_HPP

/// Programs for any engine: steps that read blocks of numbers and make one.
///
///     reads L[2][0], L[1][0], A[2][1] ──► update ──► makes A[2][1] less the product of the first two

#include <sublet/listing.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace task_engine {

using block_number = std::size_t; ///< of a block of numbers: the handle in the listing

/// A step: the numbers of the blocks that it reads, each different, and its result.
struct task {
    using kernel = std::function<void(std::vector<double const*> const& in, double* out)>;
    std::string name;
    std::vector<block_number> reads;
    kernel run;
    bool is_by_element = false; ///< its result may be written over the first operand
    bool is_result = false;     ///< of the program
};

/// Task i makes block i.
struct work {
    std::string title;
    std::vector<task> tasks;
    std::vector<std::size_t> sizes; ///< of each block, in numbers

    block_number add(task made, std::size_t size)
    {
        tasks.push_back(std::move(made));
        sizes.push_back(size);
        return sizes.size() - 1;
    }
    [[nodiscard]] sublet::listing<block_number> listed() const;
};

/// The factor L of a matrix A = L L^T of `blocks` x `blocks` blocks of `rows` rows each, from the left, by
/// columns; blocks are dropped after their last use. Results: the logarithm of the determinant of A, and the
/// sum of the squares of L, which is the trace of A.
work cholesky(std::size_t blocks, std::size_t rows);
/// The same two numbers, computed without blocks.
std::vector<double> cholesky_at_once(std::size_t size);

/// Four stages of four branches side by side, each with two products and what is above zero between them; a
/// stage adds its branches to what it was given.
work network();

/// One step of gradient descent for a chain of layers: each multiplies by its weights and keeps what is above
/// zero. Every layer computes the gradient of its weights beside that of its operand. Results: the new
/// weights.
work training();

} // namespace task_engine

#endif
