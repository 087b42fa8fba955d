// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_DETAIL_LEAST_LIVE_HPP
#define SUBLET_ORDERING_DETAIL_LEAST_LIVE_HPP

/// Finds, between two sets of finished moves, the set with the fewest live bytes, by a minimum cut; and from
/// it a lower bound on the peak of every order.

#include <sublet/core/units.hpp>
#include <sublet/ordering/detail/order_moves.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- minimum cut -----------------------------------------------------------------------------------------

/// A network with capacities, and its minimum cut.
///
/// Source: Dinic, "Algorithm for solution of a problem of maximum flow in networks with power estimation",
/// Soviet Mathematics Doklady 11, 1970.

namespace sublet::detail {

class cut_network {
public:
    using vertex = std::uint32_t;
    static constexpr byte_count unlimited = ~byte_count{0};

    cut_network() { clear(); }
    /// Leaves the source and the sink.
    void clear();
    [[nodiscard]] static vertex source() { return 0; }
    [[nodiscard]] static vertex sink() { return 1; }
    vertex add_vertex();
    /// Cutting the edge, with `from` on the side of the source and `to` on that of the sink, costs
    /// `capacity`.
    void add_edge(vertex from, vertex to, byte_count capacity);

    /// The cost of a cheapest cut. Called once.
    ///
    /// Requires:   every path from source to sink has an edge with a limit; all limits together are below
    ///             2^64 - 1.
    /// Complexity: O(V^2 E) in the worst case; close to linear in small networks with few distinct paths.
    byte_count minimum_cut();
    /// Of each vertex: whether it is on the side of the sink in the cheapest cut with the fewest such.  O(E)
    [[nodiscard]] std::vector<unsigned char> sink_side();

    /// Edges that were looked at so far.
    [[nodiscard]] std::uint64_t work() const { return work_; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    bool find_levels();
    byte_count augment();

    std::vector<std::uint32_t> first_, to_, next_; // of each vertex; of each edge, its reverse next to it
    std::vector<byte_count> capacity_;             // what is left
    std::vector<std::uint32_t> level_, edge_, path_;
    std::uint64_t work_ = 0;
};

// --- least live set --------------------------------------------------------------------------------------

/// The sets between two others are those that contain all moves before a range and some within it.
///
///     {} ─ {0} ─ {0 1} ─ {0 1 2} ─ {0 1 2 3}      between {0} and {0 1 2 3}, with 64, 96, 32 and 64 bytes
///           64     96       32        64          live after each: {0 1 2} has the fewest
///
/// As a cut: a finished move is on the side of the source, with all that it waits for. A buffer is begun if
/// one of its beginners is, and ended if all of its enders are; it costs its size where it is begun and not
/// ended.
///
/// Source: choosing a closed set of least cost by a minimum cut is from Picard, "Maximal closure of a graph
/// and applications to combinatorial problems", Management Science 22, 1976.

class least_live_sets {
public:
    /// Requires: the moves outlive it.
    explicit least_live_sets(order_moves const& moves)
        : moves_(moves), vertex_(moves.size(), 0), place_(moves.size(), place::never),
          is_seen_(moves.window->graph.buffers(), 0)
    {
    }

    /// Where a move is.
    enum class place : unsigned char {
        ran,  ///< in every set
        free, ///< in some
        runs, ///< in none, but what it touches is live
        never ///< in none
    };
    /// Sets the place of a move; at first it is `never`.
    void put(move_id m, place where) { place_[m] = where; }
    /// Does not count a buffer in the next call of least().
    void ignore(buffer_id b);

    /// Of the free moves: those in the largest set with the fewest live bytes.
    ///
    /// Requires:   `free` are those with that place; the moves that ran are a set that contains what they
    ///             wait for, and so are both together.
    std::vector<unsigned char> const& least(std::span<move_id const> free);
    /// The same, with the live bytes of that set in bytes().  O(buffers) more.
    std::vector<unsigned char> const& least_bytes(std::span<move_id const> free);
    /// The live bytes of the set, without ignored buffers.
    [[nodiscard]] byte_count bytes() const { return bytes_; }

    /// Edges and touches that were looked at so far.
    [[nodiscard]] std::uint64_t work() const { return work_ + network_.work(); }

private:
    void begin(std::span<move_id const> free);
    void add_buffer(buffer_id b);
    void finish(std::span<move_id const> free);

    order_moves const& moves_;
    table<move_id, cut_network::vertex> vertex_;
    table<move_id, place> place_;
    table<buffer_id, unsigned char> is_seen_;
    std::vector<buffer_id> seen_;
    cut_network network_;
    std::vector<cut_network::vertex> begin_, end_;
    std::vector<unsigned char> is_in_;
    byte_count bytes_ = 0;
    std::uint64_t work_ = 0;
};

// --- cut bound -------------------------------------------------------------------------------------------

/// A lower bound on the peak of every order: while a move runs, the moves before it have run and those after
/// it have not; of all such sets, one has the fewest live bytes.
///
///     0 ──► 1 ──► 2 ──► 6        while 4 runs, the result of 1 or of 2 or none of
///     └───► 3 ──► 4 ──► ┘        the upper branch is live, whatever is least
///
/// `most_of` has for each move what was live while it ran in some orders, the least of them: no bound for the
/// move is higher. So moves with many go first, until no other can raise the bound.
///
/// Complexity: a minimum cut for each move that is looked at, within `most_work` edges and touches.
struct cut_bound {
    byte_count bytes = 0;
    std::uint64_t work = 0;
};
[[nodiscard]] cut_bound find_cut_bound(order_moves const& moves, table<move_id, byte_count> const& most_of,
                                       byte_count known, std::uint64_t most_work);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/least_live.ipp>
#endif

#endif
