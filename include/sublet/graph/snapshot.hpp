// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_SNAPSHOT_HPP
#define SUBLET_GRAPH_SNAPSHOT_HPP

/// A program, copied: what every planner takes. And programs whose steps hold programs, as a tree of such
/// copies.

#include <sublet/detail/sorting.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

// --- snapshot --------------------------------------------------------------------------------------------

/// A program copied flat, and the factories that make one from lambdas: the border of the library.
///
///     your IR --lambdas--> sequence | flow | from_graph --> snapshot --> every analysis, planner, checker
///
/// The factories call the lambdas at once. Nothing of them, of the graph or of a temporary is kept, so
/// nothing can dangle, and everything behind this line is compiled once for one concrete type. A snapshot
/// is itself a program; functions that take a program copy any other, once, in O(V + E + touches). All of
/// them throw precondition_error for an id out of range, and whatever the lambdas throw.

namespace sublet {

/// The steps of a node: [first, last).
struct step_range {
    step_id first = 0;
    step_id last = 0;
    friend bool operator==(step_range, step_range) = default;
};

/// Regular: copied, compared and stored like an int; default-constructed it is the empty program.
class snapshot {
public:
    snapshot() = default;

    /// A copy of any program: what takes a snapshot takes any other program, too, at the price of a copy.
    ///
    /// Complexity: O(V + E + touches) time and memory, four bytes an edge and direction, eight a touch.
    /// Throws:     precondition_error for an id out of range, or more than 2^32 - 2 nodes, values or steps.
    template <class P>
        requires(!std::same_as<P, snapshot> && !requires(P const& p) { p.operator snapshot(); })
    snapshot(P const& p) // NOLINT: not explicit
    {
        static_assert(program<P>, "sublet: what is planned, analysed or checked has to be a program");
        if constexpr (program<P>) copy(p);
    }

    [[nodiscard]] std::size_t nodes() const { return successors_.rows(); }
    [[nodiscard]] std::size_t values() const { return values_; }
    [[nodiscard]] std::size_t steps() const { return node_end_.empty() ? 0 : node_end_.back(); }

    [[nodiscard]] csr_graph const& graph() const { return successors_; }
    [[nodiscard]] std::span<node_id const> successors(node_id n) const { return successors_[n]; }
    [[nodiscard]] std::span<node_id const> predecessors(node_id n) const { return predecessors_[n]; }
    [[nodiscard]] csr_rows const& predecessors() const { return predecessors_; }

    [[nodiscard]] step_range steps_of(node_id n) const
    {
        return {n == 0 ? 0 : node_end_[n - 1], node_end_[n]};
    }
    /// The touches of a step: reads, then writes, each in the order in which the program named them.
    [[nodiscard]] std::span<touch const> touches(step_id s) const { return touches({s, s + 1}); }
    /// Those of several steps, one after the other.
    [[nodiscard]] std::span<touch const> touches(step_range steps) const
    {
        if (steps.first == steps.last) return {};
        touch const* const all = record_.touches.data();
        return {all + record_.step_begin[steps.first], all + record_.step_begin[steps.last]};
    }
    /// The in-place pairs that a step declares.  O(log of their number)
    template <std::integral Step>
    [[nodiscard]] std::span<overwrite const> overwrites(Step s) const
    {
        return equal_keys<&overwrite::step>(record_.overwrites, static_cast<step_id>(s));
    }
    [[nodiscard]] std::span<overwrite const> overwrites() const
    {
        return {record_.overwrites.data(), record_.overwrites.size()};
    }
    /// The uses at the ends of predecessors that a node declares.  O(log of their number)
    template <std::integral Node>
    [[nodiscard]] std::span<edge_use const> edge_uses(Node n) const
    {
        return equal_keys<&edge_use::node>(record_.edge_uses, static_cast<node_id>(n));
    }
    [[nodiscard]] std::span<edge_use const> edge_uses() const
    {
        return {record_.edge_uses.data(), record_.edge_uses.size()};
    }

    /// Says again what the copied program said.
    void effects(node_id n, effect_sink& sink) const;

    friend bool operator==(snapshot const&, snapshot const&) = default;

private:
    template <program P>
    void copy(P const& p)
    {
        values_ = static_cast<std::size_t>(p.values());
        successors_ = as_graph(static_cast<std::size_t>(p.nodes()),
                               [&p](node_id n) -> decltype(auto) { return p.successors(n); });
        predecessors_ = successors_.transposed(successors_.rows());
        SUBLET_EXPECTS(values_ < no_value, "sublet: more values than 32-bit ids");
        std::size_t const guess =
            detail::smaller(values_, std::size_t{1} << 16); // a step a value, three touches
        record_.step_begin.reserve(nodes() + guess + 1);
        record_.touches.reserve(3 * guess);
        node_end_.reserve(nodes());
        for (std::size_t n = 0; n != nodes(); ++n) {
            effect_sink sink(record_, values_, predecessors_[n], static_cast<node_id>(n));
            sink.next_step();
            p.effects(static_cast<node_id>(n), sink);
            sink.close_step();
            SUBLET_EXPECTS(record_.touches.size() < no_node, "sublet: more touches than 32-bit ids");
            SUBLET_EXPECTS(record_.step_begin.size() < no_node, "sublet: more steps than 32-bit ids");
            node_end_.push_back(static_cast<step_id>(record_.step_begin.size()));
        }
        if (nodes() != 0) record_.step_begin.push_back(static_cast<std::uint32_t>(record_.touches.size()));
    }
    template <auto Key, class Row>
    static std::span<Row const> equal_keys(std::vector<Row> const& rows, std::uint32_t key)
    {
        auto const first = detail::first_that(rows.size(), [&](std::size_t i) { return rows[i].*Key >= key; });
        auto const last = detail::first_that(rows.size(), [&](std::size_t i) { return rows[i].*Key > key; });
        return {rows.data() + first, rows.data() + last};
    }

    std::size_t values_ = 0;
    csr_graph successors_;
    csr_rows predecessors_;
    std::vector<step_id> node_end_;
    detail::effect_record record_;
};

namespace detail {

/// From an id or a vertex, and a sink, to nothing: tells the sink what happens there.
template <class F, class From, class Sink = effect_sink>
concept effects_function = std::invocable<F&, From, Sink&>;

/// The four members, from callables.
template <class Successors, class Effects>
struct called_program {
    std::size_t node_count;
    std::size_t value_count;
    Successors& ask_successors;
    Effects& ask_effects;

    std::size_t nodes() const { return node_count; }
    std::size_t values() const { return value_count; }
    decltype(auto) successors(node_id n) const { return ask(ask_successors, n); }
    void effects(node_id n, effect_sink& sink) const { ask(ask_effects, n, sink); }
};

template <class Uses, class Defs>
auto uses_then_defs(Uses& uses, Defs& defs)
{
    return [&uses, &defs](auto const& at, effect_sink& sink) {
        for (auto&& v : ask(uses, at)) sink.use(as_id(v));
        for (auto&& v : ask(defs, at)) sink.def(as_id(v));
    };
}

inline constexpr auto no_successors = [](node_id) { return std::span<node_id const>{}; };

} // namespace detail

/// A list of operations: an ONNX graph, an FX trace, a tape. One step a node, in the order of the list.
///
/// The list has no edges. Read sequentially its order counts; read concurrently, who waits for whom follows
/// from the data alone. (For the control-flow reading of straight-line code say `flow(1, ...)`: one block.)
template <class Effects>
    requires detail::effects_function<Effects, step_id>
[[nodiscard]] snapshot sequence(std::size_t steps, std::size_t values, Effects effects)
{
    using called = detail::called_program<decltype(detail::no_successors) const, Effects>;
    return snapshot(called{steps, values, detail::no_successors, effects});
}

template <class Uses, class Defs>
    requires detail::id_list_function<Uses, step_id> && detail::id_list_function<Defs, step_id>
[[nodiscard]] snapshot sequence(std::size_t steps, std::size_t values, Uses uses, Defs defs)
{
    return sequence(steps, values, detail::uses_then_defs(uses, defs));
}

/// A control-flow graph, or a task graph with edges of its own.
template <class Successors, class Effects>
    requires detail::id_list_function<Successors, node_id> && detail::effects_function<Effects, node_id>
[[nodiscard]] snapshot flow(std::size_t nodes, std::size_t values, Successors successors, Effects effects)
{
    using called = detail::called_program<Successors, Effects>;
    return snapshot(called{nodes, values, successors, effects});
}

template <class Successors, class Uses, class Defs>
    requires detail::id_list_function<Successors, node_id> && detail::id_list_function<Uses, node_id> &&
             detail::id_list_function<Defs, node_id>
[[nodiscard]] snapshot flow(std::size_t nodes, std::size_t values, Successors successors, Uses uses,
                            Defs defs)
{
    return flow(nodes, values, std::move(successors), detail::uses_then_defs(uses, defs));
}

namespace detail {

/// The sink of a graph's own vertices: as effect_sink, but predecessors are named by vertex.
template <class V>
class effect_sink_on : public effect_sink {
public:
    effect_sink_on(effect_sink const& sink, vertex_numbering<V> const& numbers)
        : effect_sink(sink), numbers_(&numbers)
    {
    }

    template <id_like I>
    void use_at_end_of(V const& pred, I const& v)
    {
        node_id const number = numbers_->number_of(pred);
        SUBLET_EXPECTS(number != no_node, "sublet: use_at_end_of names a vertex that is not in the graph");
        effect_sink::use_at_end_of(number, v);
    }

private:
    vertex_numbering<V> const* numbers_;
};

} // namespace detail

/// Any graph of the Boost.Graph protocol, its nodes numbered as `numbers` says. The callables get the
/// graph's own vertices; node n of the program is the vertex `numbers[n]`, by default the n-th of
/// `vertices(g)`.
///
/// Throws: precondition_error if an edge leads to something that is no vertex of the graph.
template <graph G, class Effects>
    requires detail::effects_function<Effects, detail::vertex_of<G> const&,
                                      detail::effect_sink_on<detail::vertex_of<G>>>
[[nodiscard]] snapshot from_graph(G const& g, vertex_numbering<detail::vertex_of<G>> const& numbers,
                                  std::size_t values, Effects effects)
{
    csr_graph const flat = as_graph(g, numbers);
    auto by_number = [&effects, &numbers](node_id n, effect_sink& sink) {
        detail::effect_sink_on<detail::vertex_of<G>> on(sink, numbers);
        detail::ask(effects, numbers[n], on);
    };
    return flow(
        flat.rows(), values, [&flat](node_id n) { return flat[n]; }, std::move(by_number));
}

template <graph G, class Effects>
    requires detail::effects_function<Effects, detail::vertex_of<G> const&,
                                      detail::effect_sink_on<detail::vertex_of<G>>>
[[nodiscard]] snapshot from_graph(G const& g, std::size_t values, Effects effects)
{
    return from_graph(g, vertex_numbering<detail::vertex_of<G>>(g), values, std::move(effects));
}

template <graph G, class Uses, class Defs>
    requires detail::id_list_function<Uses, detail::vertex_of<G> const&> &&
             detail::id_list_function<Defs, detail::vertex_of<G> const&>
[[nodiscard]] snapshot from_graph(G const& g, std::size_t values, Uses uses, Defs defs)
{
    return from_graph(g, values, detail::uses_then_defs(uses, defs));
}

// --- program tree ----------------------------------------------------------------------------------------

/// Programs whose steps hold programs: bodies of loops, branches, step nets; to any depth.
///
///     0: x = ...
///     1: y = while ──────────────┐ body 1, a loop     capture   w is x, the outer value itself
///     2: use y                   │ 0: b = f(a, w)     binding   a: at entry a copy of x, where the loop
///                                └────────────────              begins again one of b; y: at exit one of a
///
/// How a body's values meet those of the step around it is said by captures and bindings, and by nothing
/// else: numbers of values mean nothing across programs. A tree is made body by body, or by as_tree from a
/// program that has a fifth member, p.bodies(n).

/// A program of a tree: 0 is the root, i is body i.
using program_id = std::uint32_t;

/// The bodies of a step run one after the other, as they were added; branches that stand side by side there
/// are one choice, and exactly one of them runs. An empty program is a branch that does nothing.
enum class body_kind : std::uint8_t {
    once,   ///< runs
    branch, ///< it runs, or the other branches beside it
    loop    ///< runs any number of times, also not at all
};

/// `inner` is the outer value itself, under another name.
struct body_capture {
    value_id inner = no_value;
    value_id outer = no_value;
    friend bool operator==(body_capture, body_capture) = default;
};

/// What is copied into `inner` and out of it; each but `inner` may be left out.
struct body_binding {
    value_id inner = no_value;
    value_id initial = no_value; ///< outer: copied into `inner` at entry
    value_id next = no_value;    ///< inner: copied into `inner` where the loop begins again
    value_id result = no_value;  ///< outer: gets a copy of `inner` where the body is left
    friend bool operator==(body_binding, body_binding) = default;
};

struct program_body {
    program_id parent = 0;
    step_id step = no_step; ///< of the parent
    body_kind kind = body_kind::once;
    std::vector<body_capture> captures;
    std::vector<body_binding> bindings;
    friend bool operator==(program_body const&, program_body const&) = default;
};

/// Regular, as a snapshot; a parent comes before its bodies. A program without edges is a list of nodes, one
/// after the other; where there are edges, they say who follows whom.
class program_tree {
public:
    program_tree() = default; // of the empty program
    explicit program_tree(snapshot const& root) : nested_{{root, {}}} {}

    [[nodiscard]] std::size_t size() const { return nested_.size(); }
    [[nodiscard]] snapshot const& program_of(program_id i) const { return nested_[i].program; }
    /// How program i is nested; of the root it says nothing.
    [[nodiscard]] program_body const& body(program_id i) const { return nested_[i].body; }

    /// Nest a program in a step, behind those that are there. Returns its number.
    ///
    /// Complexity: O(n log n), n = captures and bindings, and a copy of the body.
    /// Throws:     precondition_error for an id out of range, a value that is captured or bound more than
    ///             once, a result that two bindings give, and a `next` where nothing begins again.
    program_id add_body(program_id parent, step_id step, body_kind kind, snapshot const& body,
                        std::vector<body_capture> captures = {}, std::vector<body_binding> bindings = {});

    friend bool operator==(program_tree const&, program_tree const&) = default;

private:
    struct nested {
        snapshot program;
        program_body body;
        friend bool operator==(nested const&, nested const&) = default;
    };

    static bool are_distinct(std::vector<value_id>& values);
    static void expect_joints(std::size_t outer, std::size_t inner, body_kind kind,
                              std::vector<body_capture> const& captures,
                              std::vector<body_binding> const& bindings);

    std::vector<nested> nested_ = std::vector<nested>(1);
};

namespace detail {

/// The bodies of each step, in the order in which they run.
class bodies_by_step {
public:
    /// Complexity: O(b log b), b = bodies.
    explicit bodies_by_step(program_tree const& tree);
    /// O(log of the bodies)
    [[nodiscard]] std::span<program_id const> of(program_id parent, step_id step) const;

private:
    std::vector<std::uint64_t> place_; // parent and step, ascending
    std::vector<program_id> body_;
};

template <class P>
using body_list = decltype(std::declval<P const&>().bodies(node_id{}));
template <class P>
using body_item = std::remove_cvref_t<decltype(*std::begin(std::declval<body_list<P>&>()))>;

/// A body's program may be a member, or be pointed to.
template <class P>
P const& body_program(P const& p)
{
    return p;
}
template <class P>
P const& body_program(P* p)
{
    return *p;
}

template <class Item>
using program_in = std::remove_cvref_t<decltype(body_program(std::declval<Item const&>().program))>;

/// What a user's body has to say; `step`, which step of the node it is nested in, may be left out where the
/// node has but one.
template <class Item>
concept body_description = requires(Item const& b) {
                               {
                                   b.kind
                                   } -> std::convertible_to<body_kind>;
                               requires program<detail::program_in<Item>>;
                               {
                                   *std::begin(b.captures)
                                   } -> std::convertible_to<body_capture>;
                               {
                                   *std::begin(b.bindings)
                                   } -> std::convertible_to<body_binding>;
                           };

} // namespace detail

/// Semantics:     p.bodies(n) are the programs nested in node n, in the order in which they run. They come
///                by reference or as a span; by value only if their programs are pointers.
/// Ordinary model: an IR whose operations have a list of regions.
template <class P>
concept nested_program = program<P> && requires(P const& p, node_id n) {
                                           std::begin(p.bodies(n)) != std::end(p.bodies(n));
                                           requires detail::body_description<detail::body_item<P>>;
                                       };

namespace detail {

template <class P>
concept lasting_bodies =
    std::is_lvalue_reference_v<body_list<P>> || std::ranges::enable_borrowed_range<body_list<P>> ||
    std::is_pointer_v<std::remove_cvref_t<decltype(std::declval<body_item<P> const&>().program)>>;

/// A program whose bodies are still to be listed. The type is forgotten, since programs of one type may hold
/// programs of another, and theirs may be of the first again.
struct unlisted_program {
    void const* at;
    program_id number;
    void (*list)(unlisted_program, program_tree&, std::vector<unlisted_program>&);
};

template <class P>
void list_bodies(unlisted_program of, program_tree& tree, std::vector<unlisted_program>& open)
{
    if constexpr (nested_program<P>) {
        static_assert(lasting_bodies<P>,
                      "sublet: bodies(n) returns programs that are gone when it has returned: "
                      "let it return a reference or a span, or bodies that hold pointers");
        P const& p = *static_cast<P const*>(of.at);
        for (std::size_t n = 0, count = tree.program_of(of.number).nodes(); n != count; ++n) {
            for (auto&& b : p.bodies(static_cast<node_id>(n))) {
                auto const steps = tree.program_of(of.number).steps_of(static_cast<node_id>(n));
                step_id step = steps.first;
                if constexpr (requires { as_id(b.step); }) step += as_id(b.step);
                else
                    SUBLET_EXPECTS(steps.last - steps.first == 1,
                                   "sublet: a body does not say in which step of its node it is nested");
                SUBLET_EXPECTS(step >= steps.first && step < steps.last,
                               "sublet: a body is nested in a step that its node does not have");
                std::vector<body_capture> captures;
                std::vector<body_binding> bindings;
                for (body_capture c : b.captures) captures.push_back(c);
                for (body_binding i : b.bindings) bindings.push_back(i);
                auto const& body = body_program(b.program);
                program_id const number = tree.add_body(of.number, step, b.kind, body, captures, bindings);
                open.push_back({&body, number, &list_bodies<std::remove_cvref_t<decltype(body)>>});
            }
        }
    }
}

} // namespace detail

/// The tree of a program whose nodes say which programs are nested in them, to any depth.
///
/// Ensures:    bodies are numbered parents first, those of one program by node and in the order of bodies(n).
/// Complexity: O(V + E + touches + b log b) in all programs, b = bodies; bodies(n) is called once a node. No
///             recursion: nesting may be as deep as memory.
/// Throws:     as add_body; whatever the program throws.
template <nested_program P>
[[nodiscard]] program_tree as_tree(P const& p)
{
    program_tree tree(p);
    std::vector<detail::unlisted_program> open{{&p, 0, &detail::list_bodies<P>}};
    for (std::size_t i = 0; i != open.size(); ++i) {
        detail::unlisted_program const next = open[i]; // the list grows under it
        next.list(next, tree, open);
    }
    return tree;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/snapshot.ipp>
#endif

#endif
