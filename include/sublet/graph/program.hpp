// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_PROGRAM_HPP
#define SUBLET_GRAPH_PROGRAM_HPP

/// Defines the input of all analyses: a program is a graph of nodes, each a list of steps that use and
/// define values by 32-bit ids. Your IR models it with four members; a sink of a concrete type records the
/// effects of each node. explain_program names each member that is missing.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
///     control_flow       refused                                             each successor is an
///     alternative
///
/// Nodes run as listed only if no edge of `order` leads back. A task graph without edges is a list.
enum class edge_meaning : std::uint8_t {
    none,        ///< there are no edges: the program is a list of nodes
    order,       ///< a task graph: the target begins after the source has ended
    control_flow ///< control may pass from the source to the target, and need not
};

/// One access of a step to a value.
struct touch {
    /// What the step does with the value.
    enum class access : std::uint8_t {
        use,        ///< reads; holds the storage until the step ends
        use_early,  ///< reads before the step writes: a result may take the storage in the same step
        write,      ///< reads and writes bytes of a value that is there already; it stays that value
        view,       ///< makes a view: names bytes that are there, and neither reads nor writes them
        read_view,  ///< makes a view and reads its bytes, as they are before the step writes
        write_view, ///< makes a view and writes its bytes: the storage may be written here for the first time
        def,        ///< makes a value: writes all of its bytes, even if the result is never read
        allocate    ///< makes a value that has no contents yet: steps write them, all or in parts
    };

    value_id value;     ///< the value that is accessed
    touch::access kind; ///< what the step does with it

    /// The value is there from this step on: made, or a view of one that is.
    [[nodiscard]] constexpr bool defines() const { return kind >= touch::access::view; }
    /// The step makes a view, whether it reads or writes through it or not.
    [[nodiscard]] constexpr bool makes_view() const { return defines() && !makes(); }
    /// The step makes a view of storage that has to be there before.
    [[nodiscard]] constexpr bool views_what_is_there() const
    {
        return kind == touch::access::view || kind == touch::access::read_view;
    }
    /// The step makes a value that is no view, with or without contents.
    [[nodiscard]] constexpr bool makes() const { return kind >= touch::access::def; }
    /// Uses the value, and needs its storage to the end of the step.
    [[nodiscard]] constexpr bool holds() const
    {
        return kind == touch::access::use || kind == touch::access::write;
    }
    /// Bytes of its storage change, or have no contents yet.
    [[nodiscard]] constexpr bool writes() const
    {
        return kind == touch::access::write || kind >= touch::access::write_view;
    }
    friend bool operator==(touch, touch) = default;
};

/// A phi operand: `node` uses `value` at the end of its predecessor `pred`.
struct edge_use {
    node_id node;   ///< the node with the phi
    node_id pred;   ///< the predecessor; the value is read at its end
    value_id value; ///< the operand
    friend bool operator==(edge_use, edge_use) = default;
};

/// In `step`, the result `out` may overwrite the storage of the operand `in`.
struct overwrite {
    step_id step; ///< the step that declares it
    value_id in;  ///< the operand
    value_id out; ///< the result
    friend bool operator==(overwrite, overwrite) = default;
};

namespace detail {

/// A step says of what its view is a part.
struct said_view {
    step_id step;      ///< the step that says it
    value_id value;    ///< the view
    value_id of;       ///< what it is a view of
    byte_count offset; ///< its first byte there
    friend bool operator==(said_view const&, said_view const&) = default;
};

/// The storage behind effect sinks. Steps are numbered across all nodes.
struct effect_record {
    std::vector<touch> touches;
    std::vector<std::uint32_t> step_begin; // into touches, and the end; empty if there is no step
    std::vector<edge_use> edge_uses;
    std::vector<overwrite> overwrites;
    std::vector<said_view> said_views;
    enum : unsigned char { recomputable = 1, only_views = 2, end_of_said = 4 }; // each_step_fact() lists them
    std::vector<unsigned char> said; // by step, up to the last one that says something: a set of these
    bool has_writes = false; // some touch changes a value in place
    bool has_views = false;  // some touch makes a view
    bool allocates = false;  // some touch makes a value without contents
    bool defines = false;    // of the last step, until it is closed
    bool writes = false;
    bool reads = false;
    bool views = false;
    bool reads_after_def = false;

    /// `is_copied`: a read of a view that the step makes is not joined with it: it is of another program, in
    /// which both may have one name.
    void add(touch one, bool is_copied = false)
    {
        if (one.defines()) defines = true;
        else reads_after_def |= defines;
        writes |= one.writes() && !one.makes();
        reads |= !is_copied && one.kind <= touch::access::use_early;
        views |= !is_copied && one.makes_view();
        has_views |= one.makes_view();
        allocates |= one.kind == touch::access::allocate;
        touches.push_back(one);
    }
    /// Of the last step.
    void say(unsigned char what)
    {
        said.resize(step_begin.size(), 0);
        said.back() |= what;
    }
    /// Closes the last step, if there is one, and begins the next.
    void next_step();
    void close_step();

    friend bool operator==(effect_record const&, effect_record const&) = default;
};

} // namespace detail

/// Records the effects of a node. A concrete type: a user's `effects` need not be a template.
///
/// Within a step the calls may come in any order: reads and writes are recorded before definitions. `no_value` (and -1) is an
/// absent operand and skipped. Every member throws precondition_error for an id out of range.
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
    /// The step makes v, of which no byte has contents yet: several steps write them, through views. A byte
    /// that is read and that no step has written is an error of a planner.
    void allocate(value_id v) { touch_value(v, touch::access::allocate); }
    /// The same, and says of what: v begins at byte `offset` of the value `of`. Options need not say it then.
    void view(value_id v, value_id of, byte_count offset = 0)
    {
        view(v);
        value_id const id = checked(v), source = checked(of);
        if (id == no_value || source == no_value) return;
        record_->said_views.push_back({step_id::of(record_->step_begin.size() - 1), id, source, offset});
    }
    /// The step reads and writes the bytes of v, which is there already: an update in place or, if v is a
    /// view, of a part. The step may make the view itself.
    void write(value_id v) { touch_value(v, touch::access::write); }
    /// The one of these that `kind` names, as it is: to copy a step of another program.
    void add(touch::access kind, value_id v) { touch_value(v, kind, true); }
    /// The result `out` of the step may overwrite the storage of its operand `in`, if that is not needed
    /// afterwards. Has no effect where the step does not use `in` or does not define `out`.
    void may_overwrite(value_id in, value_id out)
    {
        value_id const from = checked(in), to = checked(out);
        if (from == no_value || to == no_value) return;
        record_->overwrites.push_back({step_id::of(record_->step_begin.size() - 1), from, to});
    }
    /// Running the step again with the same operands gives the same bytes, and has no other effect: it may be
    /// recomputed. Without this call, or if `is_so` is false, it never is.
    void may_recompute(bool is_so = true)
    {
        if (is_so) record_->say(detail::effect_record::recomputable);
    }
    /// The step changes no bytes: what it reads, such as a shape, only tells which views it makes. Without
    /// this call, a step that reads values and only makes views of others is refused: a write was forgotten.
    void only_views(bool is_so = true)
    {
        if (is_so) record_->say(detail::effect_record::only_views);
    }
    /// v is used at the end of `pred`, a predecessor of this node: a phi operand.
    /// Throws: precondition_error if no edge leads from `pred` to this node.
    void use_at_end_of(node_id pred, value_id v)
    {
        SUBLET_EXPECTS(detail::is_listed(predecessors_, pred),
                       "sublet: node % uses a value at the end of node %, which is not a predecessor", node_,
                       pred);
        value_id const used = checked(v);
        if (used != no_value) record_->edge_uses.push_back({node_, pred, used});
    }
    /// Ends a step and begins the next: n steps take n - 1 calls.
    void next_step() { record_->next_step(); }

private:
    friend class snapshot;
    effect_sink(detail::effect_record& record, std::size_t values, std::span<node_id const> predecessors,
                node_id node)
        : record_(&record), values_(values), predecessors_(predecessors), node_(node)
    {
    }

    value_id checked(value_id v) const
    {
        SUBLET_EXPECTS(v < values_ || v == no_value,
                       "sublet: step % touches value %, but there are only % values",
                       record_->step_begin.size() - 1, v, values_);
        return v;
    }
    void touch_value(value_id v, touch::access kind, bool is_copied = false)
    {
        if (value_id const id = checked(v); id != no_value) record_->add({id, kind}, is_copied);
    }

    detail::effect_record* record_;
    std::size_t values_;
    std::span<node_id const> predecessors_; // ascending
    node_id node_;
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
    { p.successors(n) } -> id_range<node_id>;
                         };
template <class P>
concept has_effects = requires(P const& p, node_id n, effect_sink& s) { p.effects(n, s); };
template <class P>
concept has_edge_meaning = requires(P const& p) {
    { p.edges() } -> std::same_as<edge_meaning>;
};

} // namespace detail

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
