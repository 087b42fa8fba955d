// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_DETAIL_LIVENESS_METHODS_HPP
#define SUBLET_ANALYSIS_DETAIL_LIVENESS_METHODS_HPP

/// Computes the live-in and live-out sets of every node of a program by three exact methods: a worklist over
/// rows of bits, two passes over the loop nesting forest (strict SSA form only), and path exploration value
/// by value, which costs O(size of the sets). A fourth keeps the sets as trees, of which neighbours share
/// what they have in common: it costs what changes from node to node. All number the few values that are live
/// across nodes densely, and work on these only. The sources stand at each method.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/structures/internal/bit_rows.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

// --- cross-block values ----------------------------------------------------------------------------------

/// Cross-block values: those live across nodes, and how each node accesses them.
///
///     node 0            node 1                       cross-block: a (column 0), c (column 1)
///       def a             use a, def b               node 0 writes a and c
///       def c             use b, use c, def c        node 1 reads a and c, and writes c
///
/// Source: Briggs, Cooper, Harvey and Simpson, "Practical improvements to the construction and destruction of
/// static single assignment form", Software: Practice and Experience 28(8), 1998 (the "semi-pruned" names).

namespace sublet::detail {

struct cross_block_values {
    using columns = csr_rows<node_id, std::uint32_t>; ///< of each node

    std::vector<value_id> value;           ///< by column, ascending
    table<value_id, std::uint32_t> column; ///< of each value; `no_column` if it is not cross-block
    columns reads;                         ///< that the node reads before it writes them, maybe twice
    columns writes;                        ///< that it writes, maybe twice
    columns reads_at_end;                  ///< that edge uses read where it ends, maybe twice
    bool single_def = true;                ///< no value of the program is written twice
};

/// Complexity: O(nodes + values + touches) time and memory.
[[nodiscard]] cross_block_values find_cross_block_values(snapshot const& p);

// --- liveness worklist -----------------------------------------------------------------------------------

/// Liveness of any program, by iteration to the fixed point.
///
///     live out = read at the end, or live in of a successor
///     live in  = read first, or live out and not written
///
/// In postorder a node comes after its successors, so one visit suffices unless the graph has cycles; then
/// the nodes with a successor that has grown since are put on a stack.
///
/// Source: Kildall, "A unified approach to global program optimization", POPL 1973; order and stack after
/// Cooper, Harvey and Kennedy, "Iterative data-flow analysis, revisited", Rice University TR04-432, 2004.

struct dense_sets {
    bit_rows in;
    bit_rows out;
};

/// The initial sets: what nodes read before they write it, and what is read at their ends.
dense_sets upward_exposed_uses(cross_block_values const& cross_block, std::size_t nodes);

/// Computes live-in from live-out of a node: values that the node does not write pass through.
class transfer_function {
public:
    explicit transfer_function(std::size_t words) : written_(words) {}

    /// Returns whether `in` has grown.
    template <class Columns>
    bool operator()(bit_rows::word const* out, Columns const& writes, bit_rows::word* in)
    {
        constexpr std::size_t bits = bit_rows::word_bits;
        for (auto c : writes) written_[c / bits] |= bit_rows::word{1} << c % bits;
        bit_rows::word grown = 0;
        for (std::size_t w = 0; w != written_.size(); ++w) {
            bit_rows::word const passed = out[w] & ~written_[w];
            grown |= passed & ~in[w];
            in[w] |= passed;
        }
        for (auto c : writes) written_[c / bits] = 0;
        return grown != 0;
    }

private:
    std::vector<bit_rows::word> written_; // all 0 between calls
};

/// Complexity: O((V + E) (1 + d) words) time, d = most edges against the order on an acyclic path;
///             O(V words) memory, words = columns / 64.
dense_sets live_by_worklist(snapshot const& p, cross_block_values const& cross_block);

// --- liveness loop forest --------------------------------------------------------------------------------

/// Liveness of a program in strict SSA form in two passes, without iteration.
///
///     pass 1, postorder: without back edges                    pass 2, outer loops first: values live at
///                                                              the header are live throughout the loop
///         1 <--.     a is used in 2 only:                          1 <--.     a: 1, 2, 3
///         2    |     a: 1, 2                                       2    |
///         3 ---'                                                   3 ---'
///
/// This suffices: a value that is live at the header of a loop, and has a def that dominates its uses, is
/// defined outside of the loop, so that every iteration needs it. In an irreducible loop an edge into the
/// middle counts as an edge to the header of the outermost loop that it enters.
///
/// Source: Boissinot, Brandner, Darte, Dupont de Dinechin and Rastello, "A Non-iterative Data-flow Algorithm
/// for Computing Liveness Sets in Strict SSA Programs", APLAS 2011.

/// Complexity: O((V + E) words + E nesting depth) time, O(V words) memory, words = columns / 64.
/// Throws:     precondition_error if a value is written twice, or if its def does not dominate its uses and
///             that would make a set wrong.
dense_sets live_by_loop_forest(snapshot const& p, cross_block_values const& cross_block);

// --- liveness per value ----------------------------------------------------------------------------------

/// Liveness of any program, value by value: path exploration from each node that reads it to its writers.
///
///     def a                        a is read in node 3: live in there, live out in 1 and 2, live in there,
///      /  \                        live out in 0, which writes it. No other node is visited.
///     1    2
///      \  /
///     use a
///
/// A set contains the current value if and only if it is the last entry. So sets are lists in ascending
/// order, and time and memory are proportional to the result.
///
/// Source: Brandner, Boissinot, Darte, Dupont de Dinechin and Rastello, "Computing liveness sets for SSA-form
/// programs", INRIA RR-7503, 2011 (path exploration by variables); here not recursive, and for several defs.

struct sparse_sets {
    csr_rows<node_id, value_id> in; // the values of each node, ascending
    csr_rows<node_id, value_id> out;
    std::vector<value_id> given_up; // ascending; in no list
};

/// Values in more than `max_sets` sets are given up.
///
/// Complexity: O(V + values + size of all sets with their edges) time and memory.
sparse_sets live_by_exploration(snapshot const& p, cross_block_values const& cross_block,
                                std::size_t max_sets);

// --- liveness by trees -----------------------------------------------------------------------------------

/// Sets of columns as binary trees with 64 columns in a leaf. A set made of another one shares the subtrees
/// in which they do not differ, and is compared with it in the size of the rest.
///
///       *              *      live in and live out of a node that reads column 5 only
///      ╱ ╲            ╱ ╲
///     5   ╲────*────╱    { }
///
/// Source: Driscoll, Sarnak, Sleator and Tarjan, "Making data structures persistent", JCSS 38, 1989: path
/// copying.
class set_trees {
public:
    using set = std::uint32_t; // 0: empty

    explicit set_trees(std::size_t columns)
    {
        while (std::uint64_t{64} << top_ < columns) ++top_;
    }
    /// The set with the column, or without it.  O(log columns) time and memory
    [[nodiscard]] set changed(set s, std::uint32_t column, bool is_in);
    /// The union: the first set if that is equal.
    ///
    /// Requires:   there is one.
    /// Complexity: O(k log k) for each tree node at which they differ, in k ways.
    [[nodiscard]] set united(std::vector<set> const& sets)
    {
        stack_ = sets;
        return united(0, top_);
    }
    /// Calls `visit(column, is_in_a)` for each column in one of the sets only, ascending.
    ///
    /// Complexity: O(log columns) for each call.
    template <class Visit>
    void each_difference(set a, set b, Visit visit)
    {
        struct pair {
            set a, b;
            unsigned level;
            std::uint32_t base;
        };
        std::vector<pair> open{{a, b, top_, 0}};
        while (!open.empty()) {
            pair const at = open.back();
            open.pop_back();
            if (at.a == at.b) continue;
            if (at.level != 0) {
                unsigned const below = at.level - 1;
                open.push_back({child(at.a, true), child(at.b, true), below, at.base + (64u << below)});
                open.push_back({child(at.a, false), child(at.b, false), below, at.base});
                continue;
            }
            for (std::uint64_t rest = nodes_[at.a] ^ nodes_[at.b]; rest != 0; rest &= rest - 1) {
                auto const bit = static_cast<std::uint32_t>(std::countr_zero(rest));
                visit(at.base + bit, (nodes_[at.a] >> bit & 1) != 0);
            }
        }
    }
    /// Sets made after this call do not change older ones; those since then it may reuse.
    void keep() { kept_ = nodes_.size(); }

private:
    set united(std::size_t first, unsigned level);
    set made(std::uint64_t node);
    [[nodiscard]] set child(set s, bool is_right) const
    {
        return static_cast<set>(is_right ? nodes_[s] >> 32 : nodes_[s]);
    }

    std::vector<std::uint64_t> nodes_{0}; // a leaf: its columns; others: the children, the left one low
    std::size_t kept_ = 1;
    unsigned top_ = 0;       // the level of roots; that of leaves is 0
    std::vector<set> stack_; // of united(): a stack of lists
};

/// Of each node, what holds where it is entered along the edges, and where it is left.
struct tree_sets {
    table<node_id, set_trees::set> arriving, leaving;
};

/// The least sets with: what arrives is the union of what leaves the nodes that are before it, and what
/// leaves is that without `kills` and with `gens`. `before` and `after` are the edges and their
/// transposition; `order` names every node once, most after those that are before it.
///
/// Complexity: O((V + E + kills + gens) log columns) if each node is visited once, and O(log columns) for
///             each column in which sets that meet differ.
struct union_problem {
    csr_rows<node_id, node_id> const& before;
    csr_rows<node_id, node_id> const& after;
    std::vector<node_id> const& order;
    cross_block_values::columns const& gens;
    cross_block_values::columns const* kills = nullptr;  // none: nothing
    cross_block_values::columns const* arrive = nullptr; // what arrives in any case; none: nothing
};
tree_sets solve_unions(set_trees& trees, union_problem const& problem);

/// Live in: what leaves a node backwards; live out: what arrives.
tree_sets live_by_trees(snapshot const& p, cross_block_values const& cross_block, set_trees& trees);

/// By node, the columns of which a write reaches its entry, and its end.
tree_sets written_by_trees(snapshot const& p, cross_block_values::columns const& writes, set_trees& trees);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness_methods.ipp>
#endif

#endif
