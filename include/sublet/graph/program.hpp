// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_PROGRAM_HPP
#define SUBLET_GRAPH_PROGRAM_HPP

/// What we ask of a program, and why a type is none.

#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// --- program ---------------------------------------------------------------------------------------------

/// A program: nodes with successors, each node a list of steps, each step touching values.
///
///     node 0            node 1                 a node is an operation (one step)
///       step: def a       step: use a, def b   or a basic block (many)
///       step: def c       step: use b, use c
///
/// A type joins by four members, or without any through the factories of snapshot.hpp:
///
///     struct my_ir {
///         std::size_t nodes() const;
///         std::size_t values() const;
///         auto const& successors(sublet::node_id n) const;
///         void effects(sublet::node_id n, sublet::effect_sink& s) const;  // s.use(a); s.def(b); ...
///     };
///
/// Node 0 is the entry. A name that is written twice is one value.
///
/// What the edges mean is not part of the program but of the question asked: alternatives for liveness,
/// nothing beyond the order of nodes for a sequential plan, an order of execution for a concurrent one.

namespace sublet {

struct touch {
    enum class access : std::uint8_t {
        use,       ///< reads; holds the storage to the end of the step
        use_early, ///< reads before the step writes anything: an output may move in within the step
        def        ///< writes; an unread result is written all the same
    };

    value_id value;
    touch::access kind;
    friend bool operator==(touch, touch) = default;
};

/// At `node`, `value` is used at the end of its predecessor `pred`: a phi operand.
struct edge_use {
    node_id node;
    node_id pred;
    value_id value;
    friend bool operator==(edge_use, edge_use) = default;
};

/// In `step`, the storage of the used value `in` may be written with the result `out`.
struct overwrite {
    step_id step;
    value_id in;
    value_id out;
    friend bool operator==(overwrite, overwrite) = default;
};

namespace detail {

/// What effect sinks write to. Steps are numbered through all nodes.
struct effect_record {
    std::vector<touch> touches;
    std::vector<std::uint32_t> step_begin; // into touches, and one more; empty if there is no step
    std::vector<edge_use> edge_uses;
    std::vector<overwrite> overwrites;
    friend bool operator==(effect_record const&, effect_record const&) = default;
};

} // namespace detail

/// Where a program says what a node does. A concrete type: a user's `effects` need not be a template.
///
/// Within a step the calls may come in any order: a step reads, then writes, and so it is recorded.
/// `no_value` (and -1) is skipped: an operand that is not there. Every member throws precondition_error for a
/// value that does not exist.
class effect_sink {
public:
    /// The step reads v.
    template <detail::id_like I>
    void use(I const& v)
    {
        touch_value(v, touch::access::use);
    }
    /// The step has read v before it writes anything.
    template <detail::id_like I>
    void use_early(I const& v)
    {
        touch_value(v, touch::access::use_early);
    }
    /// The step writes v.
    template <detail::id_like I>
    void def(I const& v)
    {
        touch_value(v, touch::access::def);
    }
    /// The step may write its result `out` over the storage of its operand `in`, if nobody needs that any
    /// more. Says nothing where the step does not use `in` or does not define `out`.
    template <detail::id_like In, detail::id_like Out>
    void may_overwrite(In const& in, Out const& out)
    {
        value_id const from = checked(in), to = checked(out);
        if (from == no_value || to == no_value) return;
        record_->overwrites.push_back({static_cast<step_id>(record_->step_begin.size() - 1), from, to});
    }
    /// v is used where `pred`, a predecessor of this node, ends: a phi operand.
    /// Throws: precondition_error if no edge leads from `pred` to this node.
    template <detail::id_like N, detail::id_like I>
    void use_at_end_of(N const& pred, I const& v)
    {
        node_id const p = detail::as_id(pred);
        SUBLET_EXPECTS(detail::is_listed(predecessors_, p),
                       "sublet: use_at_end_of names a node that is not a predecessor");
        value_id const used = checked(v);
        if (used != no_value) record_->edge_uses.push_back({node_, p, used});
    }
    /// Ends a step and begins the next: n steps take n - 1 calls.
    void next_step();

private:
    friend class snapshot;
    effect_sink(detail::effect_record& record, std::size_t values, std::span<node_id const> predecessors,
                node_id node)
        : record_(&record), values_(values), predecessors_(predecessors), node_(node)
    {
    }

    template <detail::id_like I>
    value_id checked(I const& v) const
    {
        value_id const id = detail::as_id(v);
        if (id < values_) return id;
        SUBLET_EXPECTS(id == no_value, "sublet: a step touches a value that does not exist");
        return no_value;
    }
    template <detail::id_like I>
    void touch_value(I const& v, touch::access kind)
    {
        value_id const id = checked(v);
        if (id == no_value) return;
        if (kind == touch::access::def) writes_ = true;
        else read_after_write_ |= writes_;
        record_->touches.push_back({id, kind});
    }
    void close_step();

    detail::effect_record* record_;
    std::size_t values_;
    std::span<node_id const> predecessors_; // ascending
    node_id node_;
    bool writes_ = false; // the step, so far
    bool read_after_write_ = false;
};

namespace detail {

template <class P>
concept has_nodes = requires(P const& p) {
                        {
                            p.nodes()
                            } -> std::convertible_to<std::size_t>;
                    };
template <class P>
concept has_values = requires(P const& p) {
                         {
                             p.values()
                             } -> std::convertible_to<std::size_t>;
                     };
template <class P>
concept has_successors = requires(P const& p, node_id n) {
                             {
                                 p.successors(n)
                                 } -> id_range;
                         };
template <class P>
concept has_effects = requires(P const& p, node_id n, effect_sink& s) { p.effects(n, s); };

} // namespace detail

/// Semantics:     node 0 is the entry; the members say the same whenever they are called.
/// Poorest model: archetype::program.   Ordinary models: snapshot; your IR.
template <class P>
concept program =
    detail::has_nodes<P> && detail::has_values<P> && detail::has_successors<P> && detail::has_effects<P>;

// --- explain ---------------------------------------------------------------------------------------------

/// Why is my type not a graph, not a program? In English, one sentence a missing piece.
///
///     sublet::explain_graph<my_graph>();
///     error: static assertion failed: sublet: a graph needs target(e, g): ...
///
/// Include it only where you are stuck, or keep `static_assert(sublet::graph<my_graph>)` next to your type:
/// then the error appears there and not in the first call.

/// Compiles if and only if G is a graph; otherwise the first sentence says what to write.
template <class G>
constexpr bool explain_graph()
{
    if constexpr (!detail::has_vertices<G>) {
        static_assert(!detail::needs_as_graph<G>,
                      "sublet: a nested list is no graph by itself; wrap it: "
                      "as_graph(g.size(), [&](auto v) -> auto& { return g[v]; })");
        static_assert(detail::has_vertices<G> || detail::needs_as_graph<G>,
                      "sublet: a graph needs vertices(g), found by argument-dependent lookup, that returns a "
                      "pair of iterators");
    } else if constexpr (!detail::has_order<detail::vertex_of<G>>) {
        static_assert(detail::has_order<detail::vertex_of<G>>,
                      "sublet: the vertices of a graph need to be copyable and ordered by <");
    } else if constexpr (!detail::has_out_edges<G>) {
        static_assert(detail::has_out_edges<G>,
                      "sublet: a graph needs out_edges(v, g), found by argument-dependent lookup, that "
                      "returns a pair of iterators");
    } else {
        static_assert(detail::has_target<G>,
                      "sublet: a graph needs target(e, g), found by argument-dependent lookup, that returns "
                      "the vertex which the edge e leads to");
    }
    return graph<G>;
}

/// Compiles if and only if P is a program; otherwise there is a sentence for each member that is missing.
template <class P>
constexpr bool explain_program()
{
    static_assert(detail::has_nodes<P>, "sublet: a program needs nodes() const: how many nodes there are");
    static_assert(detail::has_values<P>, "sublet: a program needs values() const: how many values there are");
    static_assert(detail::has_successors<P>,
                  "sublet: a program needs successors(node_id) const, which returns a list of node ids");
    static_assert(detail::has_effects<P>,
                  "sublet: a program needs effects(node_id, effect_sink&) const, which says "
                  "what a node reads and writes");
    return program<P>;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/program.ipp>
#endif

#endif
