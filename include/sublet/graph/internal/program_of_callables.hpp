// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_PROGRAM_OF_CALLABLES_HPP
#define SUBLET_GRAPH_INTERNAL_PROGRAM_OF_CALLABLES_HPP

/// How the factories make a program of lambdas: an object with the members that the concept asks for, each of
/// which calls one. It lives until the copy is made; graphs are numbered and copied before.

#include <sublet/core/internal/callables.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/id_lists.hpp>
#include <sublet/graph/program.hpp>

#include <concepts>
#include <cstddef>
#include <span>

namespace sublet::detail {

template <class F, class From, class Sink = effect_sink>
concept effects_function = requires(F& f, From from, Sink& sink) { f(from, sink); };

/// A program by callables.
template <class Successors, class Effects>
struct called_program {
    std::size_t node_count;
    std::size_t value_count;
    edge_meaning meaning;
    Successors& ask_successors;
    Effects& ask_effects;

    edge_meaning edges() const { return meaning; }
    std::size_t nodes() const { return node_count; }
    std::size_t values() const { return value_count; }
    decltype(auto) successors(node_id n) const { return list_of(ask_successors, n); }
    void effects(node_id n, effect_sink& sink) const { call_user(ask_effects, n, sink); }
};

/// The effects of nodes from two lists for each, which are read at once.
template <class Uses, class Defs>
auto uses_then_defs(Uses& uses, Defs& defs, std::size_t nodes)
{
    expect_lists(uses, nodes, "uses");
    expect_lists(defs, nodes, "defs");
    return [&uses, &defs](auto const& at, effect_sink& sink) {
        for (auto&& v : list_of(uses, at)) sink.use(v);
        for (auto&& v : list_of(defs, at)) sink.def(v);
    };
}

inline constexpr auto no_successors = [](node_id) { return std::span<node_id const>{}; };

/// A copy of the program that calls them; `Snapshot` is snapshot, which is declared after this.
template <class Snapshot, class Successors, class Effects>
Snapshot called(edge_meaning edges, std::size_t nodes, std::size_t values, Successors& successors,
                Effects& effects)
{
    expect_lists(successors, nodes, "successors");
    return Snapshot(called_program<Successors, Effects>{nodes, values, edges, successors, effects});
}

/// An effect_sink in which predecessors are named by the vertices of the graph.
template <class V>
class vertex_effect_sink : public effect_sink {
public:
    vertex_effect_sink(effect_sink const& sink, vertex_numbering<V> const& numbers)
        : effect_sink(sink), numbers_(&numbers)
    {
    }

    void use_at_end_of(V const& pred, value_id v)
    {
        node_id const number = numbers_->number_of(pred);
        SUBLET_EXPECTS(number != no_node, "sublet: use_at_end_of names a vertex that is not in the graph");
        effect_sink::use_at_end_of(number, v);
    }

private:
    vertex_numbering<V> const* numbers_;
};

template <class G, class Effects>
concept takes_graph =
    graph<G> && effects_function<Effects, vertex_of<G> const&, vertex_effect_sink<vertex_of<G>>>;

template <class G, class Uses, class Defs>
concept take_graph = graph<G> && id_list_function<Uses, vertex_of<G> const&, value_id> &&
                     id_list_function<Defs, vertex_of<G> const&, value_id>;

/// The program of a graph: its vertices are numbered, and callables get the vertices.
template <class Snapshot, class G, class Effects>
Snapshot of_graph(edge_meaning edges, G const& g, vertex_numbering<vertex_of<G>> const& numbers,
                  std::size_t values, Effects& effects)
{
    csr_graph const flat = as_graph(g, numbers);
    auto const by_number = [&effects, &numbers](node_id n, effect_sink& sink) {
        vertex_effect_sink<vertex_of<G>> vertex_sink(sink, numbers);
        call_user(effects, numbers[n], vertex_sink);
    };
    auto const successors = [&flat](node_id n) { return flat[n]; };
    return called<Snapshot>(edges, flat.rows(), values, successors, by_number);
}

} // namespace sublet::detail

#endif
