// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_SNAPSHOT_HPP
#define SUBLET_GRAPH_SNAPSHOT_HPP

/// A flat copy of a program, and the factories that make one from lambdas.
///
///     your IR --lambdas--> sequence | flow | tasks --> snapshot --> every analysis, planner, checker
///
/// The factories call the lambdas immediately and keep no reference to them, to the graph or to a temporary.
/// All code behind this interface is compiled once, for one concrete type. A snapshot is itself a program;
/// functions that take a snapshot copy any other program once, in O(V + E + touches). All of them throw
/// precondition_error for an id out of range, and any exception of the lambdas.

#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/program_of_callables.hpp>
#include <sublet/graph/program.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

template <class Handle>
class listing; // include <sublet/listing.hpp>

/// The steps of a node: [first, last).
struct step_range {
    step_id first = 0; ///< the first step
    step_id last = 0;  ///< the step after the last one
    friend bool operator==(step_range, step_range) = default;
};

class snapshot;

namespace detail {

/// The program with these edges; `effects(n, sink)` records those of a node.
template <class Effects>
[[nodiscard]] snapshot recorded(edge_meaning edges, csr_graph successors, std::size_t values,
                                Effects& effects);
/// So many nodes.
/// Throws: precondition_error if they are more than 2^32 - 2.
[[nodiscard]] csr_graph without_edges(std::size_t nodes);

} // namespace detail

/// A regular type; default-constructed it is the empty program.
class snapshot {
public:
    snapshot() = default;

    /// A copy of any program; implicit, so that a function that takes a snapshot takes any program.
    ///
    /// Complexity: O(V + E + touches) time and memory, 4 bytes per edge and direction, 8 per touch.
    /// Throws:     precondition_error for an id out of range, more than 2^32 - 2 nodes, values or steps, or
    ///             edges without a meaning.
    template <class P>
        requires(!std::same_as<P, snapshot>)
    snapshot(P const& p) // NOLINT: not explicit
    {
        if constexpr (program<P>) {
            values_ = static_cast<std::size_t>(p.values());
            successors_ = as_graph(static_cast<std::size_t>(p.nodes()),
                                   [&p](node_id n) -> decltype(auto) { return p.successors(n); });
            if constexpr (detail::has_edge_meaning<P>) edges_ = p.edges();
            record(detail::has_edge_meaning<P>, __builtin_addressof(p),
                   [](void const* of, node_id n, effect_sink& sink) {
                       static_cast<P const*>(of)->effects(n, sink);
                   });
        } else if constexpr (requires { p.step_names(); }) {
            static_assert(program<P>, "sublet: a listing is a program with options: pass list.program() and, "
                                      "where options are taken, list.options()");
        } else {
            static_assert(program<P>, "sublet: what is planned, analysed or checked has to be a program");
        }
    }

    /// How many nodes it has.
    [[nodiscard]] std::size_t nodes() const { return successors_.rows(); }
    /// How many values it has, touched or not.
    [[nodiscard]] std::size_t values() const { return values_; }
    /// How many steps all nodes have.
    [[nodiscard]] std::size_t steps() const { return node_end_.empty() ? 0u : +node_end_.back(); }

    /// What its edges mean.
    [[nodiscard]] edge_meaning edges() const { return edges_; }
    /// Its nodes are listed in the order in which they run: a sequence, a listing without blocks, a task
    /// graph without edges. The nodes of another graph are only numbered.
    [[nodiscard]] bool is_list() const { return edges_ == edge_meaning::none || is_listed_; }
    /// The same program with the edges of control flow: a program that runs its nodes as listed has one from
    /// each node to the next.
    ///
    /// Complexity: O(V + touches), also if it has them already.
    /// Throws:     precondition_error if an edge of an order leads back in the list.
    [[nodiscard]] snapshot as_control_flow() const;

    /// Its edges.
    [[nodiscard]] csr_graph const& graph() const { return successors_; }
    /// The successors of n, in the order of its edges.
    [[nodiscard]] std::span<node_id const> successors(node_id n) const { return successors_[n]; }
    /// The predecessors of n, ascending; one for each parallel edge.
    [[nodiscard]] std::span<node_id const> predecessors(node_id n) const { return predecessors_[n]; }
    /// The edges, transposed.
    [[nodiscard]] csr_rows<node_id, node_id> const& predecessors() const { return predecessors_; }

    /// The steps of n; a node has at least one.
    [[nodiscard]] step_range steps_of(node_id n) const
    {
        return {n == 0 ? step_id{0} : node_end_[n - 1], node_end_[n]};
    }
    /// The touches of a step: reads and writes, then definitions, each in the order in which the program
    /// listed them.
    [[nodiscard]] std::span<touch const> touches(step_id s) const { return touches({s, s + 1}); }
    /// The same of consecutive steps.
    [[nodiscard]] std::span<touch const> touches(step_range steps) const
    {
        if (steps.first == steps.last) return {};
        touch const* const all = record_.touches.data();
        return {all + record_.step_begin[steps.first], all + record_.step_begin[steps.last]};
    }
    /// The in-place pairs that a step declares.  O(log pairs)
    [[nodiscard]] std::span<overwrite const> overwrites(step_id s) const
    {
        return equal_keys<&overwrite::step>(record_.overwrites, s);
    }
    /// Those of all steps, ascending by step.
    [[nodiscard]] std::span<overwrite const> overwrites() const
    {
        return {record_.overwrites.data(), record_.overwrites.size()};
    }
    /// The step says that it may run again: effect_sink::may_recompute().
    [[nodiscard]] bool may_recompute(step_id s) const { return says(s, detail::effect_record::recomputable); }
    /// The step says that it may run again without its updates: effect_sink::may_recompute_results().
    [[nodiscard]] bool may_recompute_results(step_id s) const
    {
        return says(s, detail::effect_record::recomputes_results);
    }
    /// The step says that it changes no bytes: effect_sink::only_views().
    [[nodiscard]] bool only_views(step_id s) const { return says(s, detail::effect_record::only_views); }
    /// The phi operands that a node declares.  O(log operands)
    [[nodiscard]] std::span<edge_use const> edge_uses(node_id n) const
    {
        return equal_keys<&edge_use::node>(record_.edge_uses, n);
    }
    /// Those of all nodes, ascending by node.
    [[nodiscard]] std::span<edge_use const> edge_uses() const
    {
        return {record_.edge_uses.data(), record_.edge_uses.size()};
    }

    /// What steps say that their views are parts of, ascending by step.
    [[nodiscard]] std::span<said_view const> said_views() const
    {
        return {record_.said_views.data(), record_.said_views.size()};
    }

    /// Values that a listing begins at their first touch: where steps run one after another, their writes may
    /// run in any order.
    [[nodiscard]] std::span<value_id const> commuting() const
    {
        return {record_.commuting.data(), record_.commuting.size()};
    }

    /// Some step changes a value in place.
    [[nodiscard]] bool has_writes() const { return record_.has_writes; }
    /// Some step makes a view.
    [[nodiscard]] bool has_views() const { return record_.has_views; }

    /// Some step makes a value without contents.
    [[nodiscard]] bool has_allocations() const { return record_.allocates; }

    /// The same program, which says by itself of what its views are parts, by value.
    [[nodiscard]] snapshot with_views(std::vector<value_id> const& alias_of,
                                      std::vector<byte_count> const& view_offset) const;

    /// Tells a sink what n does, step by step: a snapshot is a program, too.
    void effects(node_id n, effect_sink& sink) const;

    friend bool operator==(snapshot const&, snapshot const&) = default;

private:
    template <class Handle>
    friend class listing;
    /// That of a listing, which is recorded already: every touch is of a value, the last step is not closed.
    snapshot(std::size_t values, edge_meaning edges, csr_graph successors, table<node_id, step_id> node_end,
             detail::effect_record record);

    template <class Effects>
    friend snapshot detail::recorded(edge_meaning edges, csr_graph successors, std::size_t values,
                                     Effects& effects);
    /// Records the effects of each node; values and edges are set.
    void record(bool has_edge_meaning, void const* told, void (*tell)(void const*, node_id, effect_sink&));
    [[nodiscard]] bool says(step_id s, unsigned char what) const
    {
        return s < record_.said.size() && (record_.said[s] & what) != 0;
    }
    template <auto Key, class Row>
    static std::span<Row const> equal_keys(std::vector<Row> const& rows, std::uint32_t key)
    {
        auto const first =
            detail::partition_point(rows.size(), [&](std::size_t i) { return rows[i].*Key >= key; });
        auto const last =
            detail::partition_point(rows.size(), [&](std::size_t i) { return rows[i].*Key > key; });
        return {rows.data() + first, rows.data() + last};
    }

    std::size_t values_ = 0;
    edge_meaning edges_ = edge_meaning::none;
    bool is_listed_ = false; // although it has edges
    csr_graph successors_;
    csr_rows<node_id, node_id> predecessors_;
    table<node_id, step_id> node_end_;
    detail::effect_record record_;
};

namespace detail {

template <class Effects>
snapshot recorded(edge_meaning edges, csr_graph successors, std::size_t values, Effects& effects)
{
    snapshot result;
    result.values_ = values;
    result.successors_ = std::move(successors);
    result.edges_ = edges;
    result.record(true, __builtin_addressof(effects), [](void const* told, node_id n, effect_sink& sink) {
        call_user(*const_cast<Effects*>(static_cast<Effects const*>(told)), n, sink); // it may be mutable
    });
    return result;
}

/// Throws: precondition_error if an edge of an order leads back in the list.
void expect_forward_edges(snapshot const& p);

/// The program in which the last step of a node reads what phis read at the end of the node.
snapshot with_reads_in_steps(snapshot const& p);

/// A fact that a step says of itself, with what is said of a step that is made from it or beside it.
struct step_fact {
    char const* name;
    unsigned char bit;
    bool (snapshot::*read)(step_id) const;
    void (effect_sink::*say)(bool);
    bool of_copy;   ///< what a step says that only copies bytes out or back
    bool of_border; ///< what the begin and the end of a step with bodies say
};

/// The table of these, as each_value_fact() is for values: calls visit(fact) for each.
template <class Visit>
constexpr void each_step_fact(Visit visit)
{
    visit(step_fact{"may_recompute", effect_record::recomputable, &snapshot::may_recompute,
                    &effect_sink::may_recompute, false, false});
    visit(step_fact{"may_recompute_results", effect_record::recomputes_results,
                    &snapshot::may_recompute_results, &effect_sink::may_recompute_results, false, false});
    visit(step_fact{"only_views", effect_record::only_views, &snapshot::only_views, &effect_sink::only_views,
                    true, true});
}

/// A bit without a row does not compile.
constexpr unsigned bits_of_step_facts()
{
    unsigned bits = 0;
    each_step_fact([&bits](step_fact const& fact) { bits |= fact.bit; });
    return bits;
}
static_assert(bits_of_step_facts() == effect_record::end_of_said - 1);

/// Says of the step that is recorded what step s of p says of itself.
inline void copy_step_facts(snapshot const& p, step_id s, effect_sink& sink)
{
    each_step_fact([&](step_fact const& fact) { (sink.*fact.say)((p.*fact.read)(s)); });
}

/// A program with the nodes and edges of `like`, and other effects.
template <class Effects>
[[nodiscard]] snapshot with_effects(snapshot const& like, std::size_t values, Effects effects)
{
    return recorded(like.edges(), like.graph(), values, effects);
}

} // namespace detail

/// A list of operations: an ONNX graph, an FX trace, a tape. One step per node, in listed order.
///
/// The list has no edges. Liveness and a sequential plan use its order; for a concurrent plan, dependences
/// follow from the data alone.
template <class Effects>
    requires detail::effects_function<Effects, step_id>
[[nodiscard]] snapshot sequence(std::size_t steps, std::size_t values, Effects effects)
{
    auto const by_node = [&effects](node_id n, effect_sink& sink) {
        detail::call_user(effects, step_id::of(+n), sink);
    };
    return detail::recorded(edge_meaning::none, detail::without_edges(steps), values, by_node);
}

/// The same from two callables, each of which returns a list of values; or from two tables of such lists, as
/// a vector of vectors is.
template <class Uses, class Defs>
    requires detail::id_list_function<Uses, step_id, value_id> &&
             detail::id_list_function<Defs, step_id, value_id>
[[nodiscard]] snapshot sequence(std::size_t steps, std::size_t values, Uses uses, Defs defs)
{
    return sequence(steps, values, detail::uses_then_defs(uses, defs, steps));
}

template <class Effects>
    requires(!detail::effects_function<Effects, step_id>)
snapshot sequence(std::size_t, std::size_t, Effects,
                  detail::effects_take_this_and_a_sink<step_id> = {}) = delete;
template <class Uses, class Defs>
    requires(!detail::id_list_function<Uses, step_id, value_id> ||
             !detail::id_list_function<Defs, step_id, value_id>)
snapshot sequence(std::size_t, std::size_t, Uses, Defs,
                  detail::list_problem<step_id, value_id, Uses, Defs> = {}) = delete;

/// A control-flow graph: control may pass from a node to each of its successors.
template <detail::id_number Nodes, class Successors, class Effects>
    requires detail::id_list_function<Successors, node_id, node_id> &&
             detail::effects_function<Effects, node_id>
[[nodiscard]] snapshot flow(Nodes const& nodes, std::size_t values, Successors successors, Effects effects)
{
    csr_graph edges = detail::edges_by(static_cast<std::size_t>(nodes), successors);
    return detail::recorded(edge_meaning::control_flow, std::move(edges), values, effects);
}

/// The same from two callables, each of which returns a list of values.
template <detail::id_number Nodes, class Successors, class Uses, class Defs>
    requires detail::id_list_function<Successors, node_id, node_id> &&
             detail::id_list_function<Uses, node_id, value_id> &&
             detail::id_list_function<Defs, node_id, value_id>
[[nodiscard]] snapshot flow(Nodes const& nodes, std::size_t values, Successors successors, Uses uses,
                            Defs defs)
{
    auto effects = detail::uses_then_defs(uses, defs, static_cast<std::size_t>(nodes));
    return flow(nodes, values, std::move(successors), std::move(effects));
}

template <detail::id_number Nodes, class Successors, class Effects>
    requires(!detail::id_list_function<Successors, node_id, node_id>)
snapshot flow(Nodes const&, std::size_t, Successors, Effects,
              detail::node_problem<Nodes, Successors> = {}) = delete;
template <detail::id_number Nodes, class Successors, class Effects>
    requires(detail::id_list_function<Successors, node_id, node_id> &&
             !detail::effects_function<Effects, node_id>)
snapshot flow(Nodes const&, std::size_t, Successors, Effects,
              detail::effects_take_this_and_a_sink<node_id> = {}) = delete;
template <detail::id_number Nodes, class Successors, class Uses, class Defs>
    requires(!detail::id_list_function<Successors, node_id, node_id> ||
             !detail::id_list_function<Uses, node_id, value_id> ||
             !detail::id_list_function<Defs, node_id, value_id>)
snapshot flow(Nodes const&, std::size_t, Successors, Uses, Defs,
              detail::node_problem<Nodes, Successors, Uses, Defs> = {}) = delete;

/// A task graph: a successor begins after the node has ended. Data adds to this order.
template <detail::id_number Nodes, class Successors, class Effects>
    requires detail::id_list_function<Successors, node_id, node_id> &&
             detail::effects_function<Effects, node_id>
[[nodiscard]] snapshot tasks(Nodes const& nodes, std::size_t values, Successors successors, Effects effects)
{
    csr_graph edges = detail::edges_by(static_cast<std::size_t>(nodes), successors);
    return detail::recorded(edge_meaning::order, std::move(edges), values, effects);
}

/// The same from two callables, each of which returns a list of values.
template <detail::id_number Nodes, class Successors, class Uses, class Defs>
    requires detail::id_list_function<Successors, node_id, node_id> &&
             detail::id_list_function<Uses, node_id, value_id> &&
             detail::id_list_function<Defs, node_id, value_id>
[[nodiscard]] snapshot tasks(Nodes const& nodes, std::size_t values, Successors successors, Uses uses,
                             Defs defs)
{
    auto effects = detail::uses_then_defs(uses, defs, static_cast<std::size_t>(nodes));
    return tasks(nodes, values, std::move(successors), std::move(effects));
}

template <detail::id_number Nodes, class Successors, class Effects>
    requires(!detail::id_list_function<Successors, node_id, node_id>)
snapshot tasks(Nodes const&, std::size_t, Successors, Effects,
               detail::node_problem<Nodes, Successors> = {}) = delete;
template <detail::id_number Nodes, class Successors, class Effects>
    requires(detail::id_list_function<Successors, node_id, node_id> &&
             !detail::effects_function<Effects, node_id>)
snapshot tasks(Nodes const&, std::size_t, Successors, Effects,
               detail::effects_take_this_and_a_sink<node_id> = {}) = delete;
template <detail::id_number Nodes, class Successors, class Uses, class Defs>
    requires(!detail::id_list_function<Successors, node_id, node_id> ||
             !detail::id_list_function<Uses, node_id, value_id> ||
             !detail::id_list_function<Defs, node_id, value_id>)
snapshot tasks(Nodes const&, std::size_t, Successors, Uses, Defs,
               detail::node_problem<Nodes, Successors, Uses, Defs> = {}) = delete;

/// The same for any graph of the Boost.Graph protocol. The callables get the vertices of the graph; node n of
/// the program is the vertex `numbers[n]`, by default the n-th of `vertices(g)`.
///
/// Throws: precondition_error if the target of an edge is not a vertex of the graph.
template <graph G, class Effects>
    requires detail::takes_graph<G, Effects>
[[nodiscard]] snapshot flow(G const& g, vertex_numbering<detail::vertex_of<G>> const& numbers,
                            std::size_t values, Effects effects)
{
    auto const by_number = detail::effects_of_vertices(numbers, effects);
    return detail::recorded(edge_meaning::control_flow, as_graph(g, numbers), values, by_number);
}

/// The same, numbered in the order of `vertices(g)`.
template <graph G, class Effects>
    requires detail::takes_graph<G, Effects>
[[nodiscard]] snapshot flow(G const& g, std::size_t values, Effects effects)
{
    return flow(g, vertex_numbering<detail::vertex_of<G>>(g), values, std::move(effects));
}

/// The same from two callables, each of which returns a list of values.
template <graph G, class Uses, class Defs>
    requires detail::take_graph<G, Uses, Defs>
[[nodiscard]] snapshot flow(G const& g, std::size_t values, Uses uses, Defs defs)
{
    vertex_numbering<detail::vertex_of<G>> const numbers(g);
    return flow(g, numbers, values, detail::uses_then_defs(uses, defs, numbers.size()));
}

template <class G, class Effects>
    requires(!detail::id_number<G> && !detail::takes_graph<G, Effects>)
snapshot flow(G const&, std::size_t, Effects, detail::graph_problem<G> = {}) = delete;
template <class G, class Uses, class Defs>
    requires(!detail::id_number<G> && !detail::take_graph<G, Uses, Defs>)
snapshot flow(G const&, std::size_t, Uses, Defs, detail::graph_problem<G, Uses, Defs> = {}) = delete;

/// A task graph of any such graph.
template <graph G, class Effects>
    requires detail::takes_graph<G, Effects>
[[nodiscard]] snapshot tasks(G const& g, vertex_numbering<detail::vertex_of<G>> const& numbers,
                             std::size_t values, Effects effects)
{
    auto const by_number = detail::effects_of_vertices(numbers, effects);
    return detail::recorded(edge_meaning::order, as_graph(g, numbers), values, by_number);
}

/// The same, numbered in the order of `vertices(g)`.
template <graph G, class Effects>
    requires detail::takes_graph<G, Effects>
[[nodiscard]] snapshot tasks(G const& g, std::size_t values, Effects effects)
{
    return tasks(g, vertex_numbering<detail::vertex_of<G>>(g), values, std::move(effects));
}

/// The same from two callables, each of which returns a list of values.
template <graph G, class Uses, class Defs>
    requires detail::take_graph<G, Uses, Defs>
[[nodiscard]] snapshot tasks(G const& g, std::size_t values, Uses uses, Defs defs)
{
    vertex_numbering<detail::vertex_of<G>> const numbers(g);
    return tasks(g, numbers, values, detail::uses_then_defs(uses, defs, numbers.size()));
}

template <class G, class Effects>
    requires(!detail::id_number<G> && !detail::takes_graph<G, Effects>)
snapshot tasks(G const&, std::size_t, Effects, detail::graph_problem<G> = {}) = delete;
template <class G, class Uses, class Defs>
    requires(!detail::id_number<G> && !detail::take_graph<G, Uses, Defs>)
snapshot tasks(G const&, std::size_t, Uses, Defs, detail::graph_problem<G, Uses, Defs> = {}) = delete;

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/snapshot.ipp>
#endif

#endif
