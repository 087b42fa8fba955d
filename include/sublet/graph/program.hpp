// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_PROGRAM_HPP
#define SUBLET_GRAPH_PROGRAM_HPP

/// Defines the input of all analyses: a program is a graph of nodes, each a list of steps that use and
/// define values by 32-bit ids. Your IR models it with four members; a sink of a concrete type records the
/// effects of each node. explain_program names each member that is missing.

#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/effect_record.hpp>
#include <sublet/graph/internal/program_requirements.hpp>
#include <sublet/graph/touch.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

// --- program ---------------------------------------------------------------------------------------------

///     node 0            node 1                 a node is an operation (one step)
///       step: def a       step: use a, def b   or a basic block (many)
///       step: def c       step: use b, use c
///
/// A type models it with four members. The factories of snapshot.hpp make a program from lambdas instead.
///
///     struct my_ir {
///         std::size_t nodes() const;
///         std::size_t values() const;
///         auto const& successors(sublet::node_id n) const;
///         void effects(sublet::node_id n, sublet::effect_sink& s) const;  // calls s.use(a), s.def(b)
///         static constexpr auto edges() { return sublet::edge_meaning::control_flow; } // if there are any
///     };
///
/// Four words for what a step does to storage:
///
///     s.def(v)       makes v: all of its bytes are new                        c = add(a, b)
///     s.allocate(v)  makes v, without contents                                c = alloc()
///     s.view(v)      makes a view: v names bytes of alias_of[v]               row = cache[3]
///     s.write(v)     changes v where it lies: a part, if v is a view          row[:] = c
///
/// and two for what it does not do: after s.may_recompute() it is a function of what it reads, and may run
/// again. Of a step that does not say so nothing is assumed: it may draw a random number, or print. After
/// s.only_views() it changes no bytes: a step that reads values and only makes views of others, and does not
/// say so, is refused.
///
/// Accesses of the same bytes, one of which writes, keep their listed order; those of other bytes of the same
/// storage do not wait for each other. A `def` of a view is refused: it does not say which of the last two
/// it is.
///
/// Node 0 is the entry. A name that is defined twice is one value. An edge is one of two things, and the
/// program says which: an order of execution, or a way that control may take.

namespace sublet {

/// What the edges of a program mean.
///
///                        for a plan in sequence, or of every schedule        for liveness and plan_flow
///     none               the order of the nodes; data                        nodes run as listed
///     order              the target runs after the source                    nodes run as listed
///     control_flow       refused                                             a successor may follow
///
/// Nodes run as listed only if no edge of `order` leads back. A task graph without edges is a list.
enum class edge_meaning : std::uint8_t {
    none,        ///< there are no edges: the program is a list of nodes
    order,       ///< a task graph: the target begins after the source has ended
    control_flow ///< control may pass from the source to the target, and need not
};

/// Records the effects of a node. A concrete type: a user's `effects` need not be a template.
///
/// Within a step the calls may come in any order: reads and writes are recorded before definitions.
/// `no_value` (and -1) is an absent operand and skipped. Every member throws precondition_error for an id out
/// of range.
class effect_sink {
public:
    /// The step reads v and holds its storage until it ends.
    void use(value_id v) { touch_value(v, touch::access::use); }
    /// The step reads v before it writes anything: a result may take its storage in the same step.
    void use_early(value_id v) { touch_value(v, touch::access::use_early); }
    /// The step makes v, which is not a view of another value.
    void def(value_id v) { touch_value(v, touch::access::def); }
    /// The step makes v, a view: it names bytes of the value `plan_options::alias_of[v]`, or of the one that
    /// view(v, of, offset) says; the root is there.
    /// This accesses none of them, and may run while another step writes them: a step that reads them calls
    /// use(v) too, one that changes them write(v).
    void view(value_id v) { touch_value(v, touch::access::view); }
    /// The step makes v, of which no byte has contents yet: several steps write them, through views; or, if
    /// no other step touches it, and it is no output and not the caller's, it is scratch that ends with its
    /// step. A byte that is read and that no step has written is an error of a planner.
    void allocate(value_id v) { touch_value(v, touch::access::allocate); }
    /// The same, and says of what: v begins at byte `offset` of the value `of`. Options need not say it then.
    void view(value_id v, value_id of, byte_count offset = 0);
    /// The step reads and writes the bytes of v, which is there already: an update in place or, if v is a
    /// view, of a part. The step may make the view itself.
    void write(value_id v) { touch_value(v, touch::access::write); }
    /// The one of these that `kind` names, as it is: to copy a step of another program.
    void add(touch::access kind, value_id v) { touch_value(v, kind, true); }
    /// The result `out` of the step may overwrite the storage of its operand `in`, if that is not needed
    /// afterwards. Has no effect where the step does not use `in` or does not define `out`.
    void may_overwrite(value_id in, value_id out);
    /// Running the step again with the same operands gives the same bytes, and has no other effect: it may be
    /// recomputed. Without this call, or if `is_so` is false, it never is.
    void may_recompute(bool is_so = true)
    {
        if (is_so) record_->say(detail::effect_record::recomputable);
    }
    /// The same for a step that also updates external values, such as running averages: run again, it makes
    /// its results, which do not depend on these values, and leaves out the updates. A step that updates
    /// planned storage still runs once.
    void may_recompute_results(bool is_so = true)
    {
        if (is_so) record_->say(detail::effect_record::recomputes_results);
    }
    /// The step changes no bytes: what it reads, such as a shape, only tells which views it makes. Without
    /// this call, a step that reads values and only makes views of others is refused: a write was forgotten.
    void only_views(bool is_so = true)
    {
        if (is_so) record_->say(detail::effect_record::only_views);
    }
    /// v is used at the end of `pred`, a predecessor of this node: a phi operand.
    /// Throws: precondition_error if no edge leads from `pred` to this node.
    void use_at_end_of(node_id pred, value_id v);
    /// Ends a step and begins the next: n steps take n - 1 calls.
    void next_step() { record_->next_step(); }

private:
    friend class snapshot;
    effect_sink(detail::effect_record& record, std::size_t values, std::span<node_id const> predecessors,
                node_id node)
        : record_(&record), values_(values), predecessors_(predecessors), node_(node)
    {
    }

    [[nodiscard]] value_id checked(value_id v) const;
    void touch_value(value_id v, touch::access kind, bool is_copied = false);

    detail::effect_record* record_;
    std::size_t values_;
    std::span<node_id const> predecessors_; // ascending
    node_id node_;
};

/// A program by four members: `nodes`, `values`, `successors` and `effects`; a program with edges has a
/// fifth, `edges`, which returns their meaning.
///
/// Semantics:     node 0 is the entry; the members return the same at every call.
/// Minimal model: archetype::program.   Ordinary models: snapshot; your IR.
template <class P>
concept program =
    detail::has_nodes<P> && detail::has_values<P> && detail::has_successors<P> && detail::has_effects<P>;

// --- explain ---------------------------------------------------------------------------------------------

/// Explains why a type does not model graph or program, with one sentence per missing piece.
///
///     sublet::explain_graph<my_graph>();   // error: sublet: a graph needs target(e, g), found by ...

/// Compiles if and only if G is a graph; otherwise the error names the first missing piece.
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

/// Compiles if and only if P is a program; otherwise an error names each missing member.
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
