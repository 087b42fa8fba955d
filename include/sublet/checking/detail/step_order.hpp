// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_DETAIL_STEP_ORDER_HPP
#define SUBLET_CHECKING_DETAIL_STEP_ORDER_HPP

/// Happens-before of steps that run concurrently: the order that every execution respects, derived apart
/// from the planners, and batched queries of reachability in it, answered exactly with bit sets.

#include <sublet/core/counterexample.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- step order ------------------------------------------------------------------------------------------

/// The order of the steps that every execution respects.
///
///     step 0: def a              0 ──► 1 ──► 3        data: a reader waits for the writer
///     step 1: use a, def b       └───► 2 ──► ┘        edges of the program, and the sequence of a node
///     step 2: use a, def c                            hand-offs of the plan
///     step 3: use b, use c                            1 and 2 run in any order, or at the same time
///                                                     bytes written again: accesses as listed
///
/// Derived apart from the planners' analysis/dependences.hpp, so that one mistake cannot pass both. Here a
/// step is one point; reads before writes within a step are considered where two touches are compared.

namespace sublet::detail {

/// Accesses of bytes that are written more than once, where given bytes count as written, in listed order.
///
///     root    [==========================]     segments, between the borders of the values: 0, 1, 2, 3
///     view    [=================]              blocks of 1, 2, 4 ... segments: 0-3, 0-1, 2-3, 0, 1, 2, 3
///
/// An access is listed at the largest blocks that it covers, here root at 0-3, view at 0-1 and 2, and as a
/// part at the blocks around those, here view at 0-3 and 2-3. Two accesses have a byte in common if and only
/// if some block lists both, one at least not as a part.
class byte_order {
public:
    struct access {
        step_id step;
        value_id value;
        bool writes;
        bool is_part; ///< it covers not the whole block
    };

    /// Complexity: O((values + accesses) log values + touches) time, O(touches + accesses log values) memory.
    /// `listed` are the steps as listed. Without `with_commuting` values with writes that commute have no
    /// order.
    byte_order(snapshot const& p, plan_requirements const& required,
               table<position_id, step_id> const& listed, bool with_commuting = true);

    /// Calls visit(accesses) for each block with some.
    template <class Visit>
    void each_block(Visit visit) const
    {
        std::vector<access> its;
        for (std::uint32_t i = 0; i != accesses_in_.rows(); ++i) {
            its.clear();
            for (std::uint32_t a : accesses_in_[i]) {
                its.push_back(accesses_[a / 2]);
                its.back().is_part = a % 2 != 0;
            }
            if (!its.empty()) visit(std::span<access const>(its.data(), its.size()));
        }
    }

private:
    std::vector<access> accesses_;                       // as listed
    csr_rows<std::uint32_t, std::uint32_t> accesses_in_; // by block: twice the index, and 1 for a part
};

/// Accesses of one byte, of which one writes, must keep their order in the program. Bytes that are written
/// once, and not given, have no such accesses: every read comes after that write. The first fault by
/// position, then by value.
std::optional<counterexample> first_moved_write(snapshot const& program, plan_requirements const& required);

/// A step that defines a view and does not say how, or makes a view of a value that is none; or one that
/// reads a value, changes nothing, and only makes views of other storage.
std::optional<counterexample> misnamed_view(snapshot const& p, plan_requirements const& required);

/// Where many steps wait for the same many, they wait for a join, which waits for these: a point that is
/// numbered after all steps and does nothing.
struct step_order {
    using point = std::uint32_t; ///< a step or a join

    std::size_t steps = 0;             ///< without joins
    csr_rows<point, point> after;      ///< those that wait for it directly; with duplicates
    table<position_id, point> step_at; ///< a topological order of all steps and joins
    std::vector<position_id> position; ///< by step and join: its index in step_at
    table<value_id, step_id> def_of;   ///< the one step that writes it; `no_step`: given, or untouched
    std::vector<step_id> cycle;   ///< if there is one: each waits for the one before, the first for the last
    std::optional<counterexample> fault; ///< why there is no order; then the other members are invalid
};

/// The order that every execution of `p` with the hand-offs respects; those that name no step are ignored.
///
/// Requires:   `required` are the requirements of the program.
/// Ensures:    `fault` is the first in this order: a second def of a value, by step; a use without an earlier
///             def, by step, then at ends of nodes, then of outputs; a cycle.
/// Complexity: O(V + E + steps + touches) time and memory; where steps write in place, that of byte_order,
/// with a
///             constant number of edges for each access that a block lists.
[[nodiscard]] step_order order_of_steps(snapshot const& p, plan_requirements const& required,
                                        std::vector<handoff> const& handoffs);

// --- reachability queries --------------------------------------------------------------------------------

/// Batched queries "do all steps of this row happen before that step?", answered exactly with bit sets.
///
///     position  40  41  42  43  44  45  46  47        a bit for each queried step, here 45 and 47; in
///       45       1   1   0   1   1   1   ·   ·        descending order, a step unites the bits of all steps
///       47       1   1   1   1   0   0   1   1        that wait for it. 42 precedes 47 and not 45.
///
/// Queries are sorted by the power of two of their distance in the topological order. One descending sweep
/// over a short range answers up to 512 queried steps; queries over longer distances are batched apart, so a
/// sweep is never much longer than the distances it covers.

class reachability_queries {
public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// For queries about the steps of a class: its root is the row.  Requires: both arguments outlive this.
    reachability_queries(step_order const& order, csr_rows<value_id, step_id> const& rows)
        : order_(order), rows_(&rows)
    {
    }
    /// For queries about single points: each is a row.
    explicit reachability_queries(step_order const& order) : order_(order) {}

    /// Adds the query `id`: do all steps of the row happen before `last`, or equal it?
    /// Requires: none of them follows `last` in the topological order.
    void add(std::uint32_t row, step_order::point last, std::uint64_t id);

    /// Answers and removes all queries. Returns the lowest id of a query with the answer no, or `none`.
    ///
    /// Complexity: for q queries about rows of e steps, each row counted once a query, O(q log q + e). For
    ///             each power of two of a distance, O(steps + edges) times 8 words, and as much again for
    ///             each 512 of the queries over all steps. Memory: 8 words a step of the longest distance.
    std::uint64_t first_failed();

private:
    static constexpr std::size_t words = 8; // of a row: 512 queried steps in one sweep

    static position_id position_of(sort_key const& question) { return position_id::of(question.key); }
    /// Calls visit(position) for each step of the row.
    template <class Visit>
    void each_in(std::uint32_t row, Visit visit) const
    {
        if (rows_ == nullptr) return visit(order_.position[row]);
        for (step_id s : (*rows_)[row]) visit(order_.position[s]);
    }

    /// Answers a batch of queries by a descending sweep.
    std::size_t answer_batch(std::size_t begin);

    /// For every position from `floor` on: the columns reachable from it, itself included.
    void fill_rows(position_id floor);

    step_order const& order_;
    csr_rows<value_id, step_id> const* rows_ = nullptr; // null: a row is a point
    std::vector<sort_key> queries_; // {distance class and position of the last step, id, row}
    std::vector<position_id> columns_;
    std::vector<std::uint64_t> bits_; // by position from the floor: `words` each
    std::uint64_t first_failed_ = none;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/checking/impl/step_order.ipp>
#endif

#endif
