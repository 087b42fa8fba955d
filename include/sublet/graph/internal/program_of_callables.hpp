// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_PROGRAM_OF_CALLABLES_HPP
#define SUBLET_GRAPH_INTERNAL_PROGRAM_OF_CALLABLES_HPP

/// What the factories take for a program: effects by node or by vertex, or two lists of values for each. A
/// vertex is found by its number, and a list is read at once.

#include <sublet/core/internal/callables.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/id_lists.hpp>
#include <sublet/graph/program.hpp>

#include <concepts>
#include <cstddef>

namespace sublet::detail {

template <class F, class From, class Sink = effect_sink>
concept effects_function = requires(F& f, From from, Sink& sink) { f(from, sink); };

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

/// The edges of nodes, from a callable that is kept by its caller: effects may refer to what it holds.
template <class Successors>
csr_graph edges_by(std::size_t nodes, Successors& successors)
{
    expect_lists(successors, nodes, "successors");
    return as_graph(nodes, [&successors](node_id n) -> decltype(auto) { return list_of(successors, n); });
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

/// The effects of nodes from those of the vertices that they number.
template <class V, class Effects>
auto effects_of_vertices(vertex_numbering<V> const& numbers, Effects& effects)
{
    return [&effects, &numbers](node_id n, effect_sink& sink) {
        vertex_effect_sink<V> vertex_sink(sink, numbers);
        call_user(effects, numbers[n], vertex_sink);
    };
}

} // namespace sublet::detail

#endif
