// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ORDERING_ORDER_GRAPH_HPP
#define SUBLET_ORDERING_ORDER_GRAPH_HPP

/// An order problem as a graph of nodes with bytes, the peak of an order, what no order goes below, and when
/// steps run on so many workers.

#include <sublet/analysis/dependences.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

// --- node order ------------------------------------------------------------------------------------------

/// An order for the nodes of a program, what it needs, and how far that is from what any order needs.
///
///     lower_bound <= peak <= given_peak         optimal, and proved to be, where the first two are equal

namespace sublet {

/// How an order was found.
enum class order_method : std::uint8_t {
    listed,        ///< as the program lists its nodes, wherever that is possible
    longest_path,  ///< whoever has the longest path to an end first
    breadth_first, ///< what has been ready longest
    depth_first,   ///< what has become ready last
    on_demand,     ///< backwards from the ends: what a node needs right before it
    least_peak,    ///< of what is ready that which needs least
    reversed,      ///< likewise, from the ends to the beginning
    exact,         ///< by search among all orders
    improved       ///< from one of these, stretch by stretch
};

struct node_order {
    std::vector<node_id> order;                         ///< every node once, each behind those it waits for
    byte_count peak = 0;                                ///< of `order`: most bytes alive at any time
    byte_count given_peak = 0;                          ///< of the order that the program is listed in
    byte_count lower_bound = 0;                         ///< what no order goes below
    order_method found_by = order_method::listed;       ///< `order`
    std::optional<dependence_violation> violation = {}; ///< there is no order; then all else is of no use

    [[nodiscard]] bool is_optimal() const { return !violation && peak == lower_bound; }
};

/// When a search gives up, in what it has done and not in seconds.
struct order_search_limits {
    static constexpr std::uint64_t work_of_state = 4096; ///< touches and edges of the nodes that it tries

    /// Sets of nodes, at most. As soon as they are more work than sets of a network are, that counts.
    std::uint64_t states = 1'000'000;
    std::size_t bytes = std::size_t{256} << 20; ///< for these sets, about
    byte_count floor = 0;                       ///< a peak as low as this is as good as any
};

// --- order graph -----------------------------------------------------------------------------------------

/// What every search for a good order looks at: which nodes wait for which, and what each of them does to
/// memory.
///
///     program                           order_graph
///     0: def a          64 bytes        after   0 ──► 1 ──► 3       held   0: a     1: a b
///     1: use a, def b   32                      └───► 2 ──► ┘              2: a c   3: b c
///     2: use a, def c   32
///     3: use b, use c                   buffer  a: 64, touched by 3 steps, ...
///
/// An order may be any that respects data, edges, and the storage of what is written more than once: a name
/// that the program writes again is touched on the same sides of its writes as the program lists them. So
/// plan_memory accepts each of these orders as `.order`. What is alive is a matter of buffers: values with
/// their views. A buffer takes its bytes when the first step of an order touches it and gives them back after
/// the last that does; which step that is, only the order says.

struct order_graph {
    csr_rows after;                ///< by node: those that wait for it directly, ascending, each once
    csr_rows before;               ///< by node: those that it waits for directly, ascending, each once
    std::vector<step_range> steps; ///< by node
    std::vector<node_id> listed;   ///< the order that the program is listed in; it may not be able to run so

    csr_rows held;  ///< by step: the buffers that it touches and holds to its end, ascending, each once
    csr_rows early; ///< by step: those that it reads early and touches in no other way
    /// By step: which results may be written over which operands, if no other step touches the operand later,
    /// or the result earlier. Only pairs that could ever be taken.
    std::vector<detail::overwrite_pair> pairs;
    std::vector<std::uint32_t> first_pair; ///< by step, and one more

    std::vector<byte_count> size;        ///< by buffer: of those that are planned
    std::vector<std::uint32_t> touching; ///< by buffer: how many steps touch it
    std::vector<unsigned char> is_given; ///< by buffer: it is there from the beginning
    std::vector<unsigned char> is_kept;  ///< by buffer: it stays to the end

    std::optional<dependence_violation> violation; ///< there is no order; then all else is of no use

    [[nodiscard]] std::size_t nodes() const { return steps.size(); }
    [[nodiscard]] std::size_t buffers() const { return size.size(); }
    [[nodiscard]] std::span<detail::overwrite_pair const> pairs_of(step_id s) const
    {
        return {pairs.data() + first_pair[s], pairs.data() + first_pair[s + 1]};
    }
};

/// The orders that a program may run in, and what its nodes do to memory.
///
/// `options.order` is the order that the program is listed in. It matters where names are written more than
/// once, and there has to be one in which the program can run.
///
/// Ensures:    an order of the nodes respects `before` if and only if lifetimes() finds no violation in it
///             and no edge of the program leads against it, or against the order of what is the same storage:
///             a view of what is written again is touched on the right side of that write. If there is no
///             such order, `violation` says why.
/// Complexity: O(V + E + values + touches + pairs) time and memory.
/// Throws:     precondition_error where a property has not one entry a value, views run in a circle, or the
///             order does not name every node once.
[[nodiscard]] order_graph order_graph_of(snapshot const& p, plan_options const& options);

// --- topological -----------------------------------------------------------------------------------------

/// The listed order, or where a program cannot run so, the nearest to it that it can run in.
///
///     listed 3 0 1 2          0 ──► 1 ──► 3        runs 0 1 3 2: whoever is listed first of those
///                             └───► 2              that need not wait
///
/// Of all nodes that may run next always that with the lowest rank: every order that a program can run in
/// comes of some rank, the listed one of the place in the list.
///
/// Source: Kahn, "Topological sorting of large networks", Communications of the ACM 5, 1962.

namespace detail {

/// By node: its place in the listed order.
[[nodiscard]] std::vector<node_id> listed_places(order_graph const& g);

/// Of the nodes that wait for none the lowest rank runs first; of equal ranks, what is listed first.
///
/// Requires:   `rank` has an entry for each node; the graph has no violation.
/// Complexity: O(E + V log V).
[[nodiscard]] std::vector<node_id> order_by_rank(order_graph const& g,
                                                 std::vector<std::uint64_t> const& rank);

} // namespace detail

/// Ensures:    the listed order itself, if the program can run in it.
/// Complexity: O(V + E) then, else O(E + V log V).
[[nodiscard]] std::vector<node_id> topological(order_graph const& g);

// --- peak walk -------------------------------------------------------------------------------------------

/// Run the nodes of a program one after the other, and see how many bytes that needs.
///
///     run     live before   while it runs       live behind
///      0           0          64  a                 64
///      1          64          96  a b               96         b is 32 bytes, and a is needed once more
///      2          96         128  a b c             64         a dies
///      3          64          64  b c                0         peak 128
///
/// What is alive behind a set of nodes does not depend on the order in which they ran, so a step back is as
/// easy as a step forward, and a search may go both ways.

/// The live bytes are those of lifetimes(), gather_buffers() and take_in_place(), for the order in which the
/// nodes are run.
///
/// Requires:   nodes run once each, behind all those that they wait for; the graph has no violation and
///             outlives the walk.
/// Complexity: a run, and a step back, is linear in the node's touches, and match_overwrites() for each step
///             that has pairs. O(steps + buffers) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
class peak_walk {
public:
    explicit peak_walk(order_graph const& g);

    /// Bytes alive behind all nodes that have run.
    [[nodiscard]] byte_count live() const { return live_; }
    /// The most bytes alive at any time so far.
    [[nodiscard]] byte_count peak() const { return peak_; }
    [[nodiscard]] std::size_t ran() const { return log_.size(); }
    /// How many steps that touch a buffer have not run.
    [[nodiscard]] std::uint32_t remaining(buffer_id b) const { return remaining_[b]; }

    /// Run a node. Returns the most bytes alive while it runs.
    byte_count run(node_id n);

    /// As if the last node had not run.
    void step_back();

    /// What run(n) would return.
    [[nodiscard]] byte_count peak_of(node_id n)
    {
        byte_count const most = run(n);
        step_back();
        return most;
    }

private:
    struct record {
        node_id node;
        byte_count live, peak; // before
    };

    [[nodiscard]] bool dies(buffer_id b) const { return remaining_[b] == 1 && !g_.is_kept[b]; }

    byte_count run_step(step_id s);

    /// Bytes of results that are written over operands which die, and would else be there besides.
    byte_count saved(step_id s, bool is_first);

    order_graph const& g_;
    std::vector<std::uint32_t> remaining_; // by buffer: steps
    std::vector<record> log_;
    std::vector<detail::overwrite_pair> candidates_;
    byte_count live_ = 0, peak_ = 0, only_at_first_ = 0;
    std::size_t steps_ = 0;
};

/// The most bytes alive at any time if the nodes run in this order.
///
/// Requires:   `order` names every node once, each behind all those that it waits for.
/// Complexity: O(touches), and match_overwrites() for each step that has pairs.
[[nodiscard]] byte_count peak_of(order_graph const& g, std::vector<node_id> const& order);

// --- order contest ---------------------------------------------------------------------------------------

/// Several orders enter, the one with the least peak stays.
///
///     listed 128    depth first 112    longest path 144    reversed 96        reversed wins, listed was 128

class order_contest {
public:
    /// The listed order is in it from the beginning, or the nearest to it that can run; `floor`: no order has
    /// a lower peak. A graph without any order has the same violation in the result.
    ///
    /// Requires: the graph outlives the contest.
    explicit order_contest(order_graph const& g, byte_count floor = 0);

    /// Returns whether it is better than all before; of equal ones the first stays.
    bool enter(std::vector<node_id> order, order_method how);
    /// The same order backwards.
    bool enter_reversed(std::vector<node_id> const& mirrored, order_method how)
    {
        return enter({mirrored.rbegin(), mirrored.rend()}, how);
    }

    [[nodiscard]] node_order const& best() const { return best_; }
    /// Nobody can win any more.
    [[nodiscard]] bool is_over() const { return best_.violation || best_.peak <= best_.lower_bound; }

private:
    order_graph const& g_;
    node_order best_;
};

// --- order bound -----------------------------------------------------------------------------------------

/// What is alive while a node runs, in whatever order.
///
///     0: def a ──► 1: use a, def b ──► 3: use a, use b      a is alive while 1 runs: 0 is before it in every
///         └──────► 2: use a, def c                          order, and 3 behind. While 2 runs it is too.
///
/// A buffer that some node before n touches and some node behind n, before and behind in every order, is
/// alive while n runs; so are those that n touches. The node with most of that needs it in every order, and
/// nothing is searched to know so.

namespace detail {

/// Each node once, behind those that it waits for.  O(V + E)
std::vector<node_id> any_order(order_graph const& g);

/// The most that is alive while some node runs, whatever ran before, if something did.
byte_count least_while_any_runs(order_graph const& g);

} // namespace detail

/// Bytes that are alive at some time in every order of the nodes.
///
/// Requires:   the graph has no violation.
/// Ensures:    never more than the least peak of an order. For graphs with very many nodes and buffers only
///             what each node touches itself is counted.
/// Complexity: O((V + E) buffers / 64 + touches) time, and a sum of what is alive anyway at each node; O(V +
///             touches) memory.
/// Throws:     precondition_error if all buffers together have 2^64 - 1 bytes or more.
[[nodiscard]] byte_count order_lower_bound(order_graph const& g);

// --- parallel clock --------------------------------------------------------------------------------------

/// When each step begins and ends, if so many workers share the work.
///
///     0 ──► 1 ──► 3       one worker     0 1 2 3       two workers    0 1 3
///     └───► 2 ──► ┘                                                     2
///
/// A clock is a schedule as numbers, and a promise: what it puts one after the other may be made to wait for
/// one another, all of it at once, and no execution takes longer than the clock does. So storage may be
/// shared wherever one life ends before the other begins in the clock (detail/schedule.hpp has the waits).
///
/// That needs every step to take time. Of two steps of no length at one moment each ends before the other
/// begins: each could be made to wait for the other, and nothing would ever run.
///
/// With a worker for every step the clock is the longest path. With fewer, whoever is free takes the ready
/// step with the longest path ahead of it; that is never longer than twice the shortest schedule.
///
/// Source: Hu, "Parallel sequencing and assembly line problems", Operations Research 1961 (the rule);
/// Graham, "Bounds on multiprocessing timing anomalies", SIAM Journal on Applied Mathematics 1969 (the
/// factor: 2 - 1/workers).

/// When a step runs that may run sooner or later.
enum class clock_side : std::uint8_t {
    earliest, ///< as soon as what it waits for has ended and a worker is free
    latest    ///< the same schedule made backwards, from the end: as late as that allows
};

struct parallel_clock_options {
    std::size_t workers = 0; ///< 0: as many as there are steps
    clock_side side = clock_side::earliest;
};

/// By position of a dependence graph; the two positions of a step that reads early have the same times.
struct clock_times {
    std::vector<tick_count> start;
    std::vector<tick_count> end;  ///< greater than `start`
    tick_count makespan = 0;      ///< when the last step ends; the first begins at 0
    tick_count critical_path = 0; ///< the makespan if workers are no limit
};

namespace detail {

/// When each position ends, if `workers` share them. Positions of no length are no work, only something to
/// wait for; `after` leads from none of them to another.
std::vector<tick_count> list_schedule(csr_rows const& after, csr_rows const& before, std::size_t workers,
                                      std::vector<tick_count> const& length,
                                      std::vector<tick_count> const& path_ahead, bool upwards);

} // namespace detail

/// A schedule of the steps of `g`; `duration` is by step.
///
/// Ensures:    where edges lead from one step to another it ends before the other begins, or just then; of
///             no more steps than there are workers one runs at any moment; no worker rests while a step is
///             ready that could run. The makespan is the critical path where `workers` is 0. Of steps with
///             paths of equal length ahead the lowest position is first (made backwards, the highest).
/// Complexity: O(positions + edges) time and memory; with fewer workers than steps, and a logarithm.
/// Throws:     precondition_error where a duration is 0 or there is not one for each step, or if all
///             durations together exceed 64 bits.
[[nodiscard]] clock_times parallel_clock(dependence_graph const& g,
                                         per_value<tick_count> const& duration = tick_count{1},
                                         parallel_clock_options const& options = {});

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/ordering/impl/order_graph.ipp>
#endif

#endif
