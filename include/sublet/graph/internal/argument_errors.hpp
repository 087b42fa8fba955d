// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_ARGUMENT_ERRORS_HPP
#define SUBLET_GRAPH_INTERNAL_ARGUMENT_ERRORS_HPP

/// Why an argument is no graph, or no callable that returns lists of ids, as a type that the error of a
/// compiler names: the requirements are tried in turn, and the first that is not met selects it.

#include <sublet/core/ids.hpp>
#include <sublet/graph/internal/graph_requirements.hpp>
#include <sublet/graph/internal/id_lists.hpp>

#include <concepts>
#include <type_traits>

namespace sublet::detail {

// Parameters of deleted overloads, which exist where no other overload applies: compilers print them, and
// their names are the reason.

template <class... Given>
struct an_id_is_an_integer {};
template <class Callable>
struct a_callable_takes_one_id {};
struct a_callable_returns_its_list {}; // and not void
struct the_array_of_an_initializer_list_is_gone {};
template <class Id, class List>
struct a_list_holds_integers_or_ids_of {};
template <class Id>
struct effects_take_this_and_a_sink {};
template <class Nested>
struct a_nested_list_needs_as_graph {};
template <class G>
struct a_graph_has_vertices {};
template <class Vertex>
struct vertices_have_an_order {};
template <class G>
struct a_graph_has_out_edges {};
template <class G>
struct a_graph_has_target {};

template <class From, class Id, class F, class... Others>
auto find_list_problem()
{
    if constexpr (sizeof...(Others) != 0 && id_list_function<F, From, Id>) {
        return find_list_problem<From, Id, Others...>();
    } else if constexpr (!std::invocable<F&, From>) {
        return a_callable_takes_one_id<F>{};
    } else {
        using list = std::invoke_result_t<F&, From>;
        if constexpr (std::is_void_v<list>) return a_callable_returns_its_list{};
        else if constexpr (!returned_list<list>) return the_array_of_an_initializer_list_is_gone{};
        else return a_list_holds_integers_or_ids_of<Id, std::remove_cvref_t<list>>{};
    }
}
/// Why one of the callables is no id_list_function from `From` to `Id`.
template <class From, class Id, class... Callables>
using list_problem = decltype(find_list_problem<From, Id, Callables...>());

template <class Nodes, class Successors, class... Callables>
auto find_node_problem()
{
    if constexpr (!id_number<Nodes>) return an_id_is_an_integer<Nodes>{};
    else if constexpr (sizeof...(Callables) == 0 || !id_list_function<Successors, node_id, node_id>)
        return list_problem<node_id, node_id, Successors>{};
    else return list_problem<node_id, value_id, Callables...>{};
}
/// The same of a node id, where the callables are of so many nodes and not of a graph.
template <class Nodes, class... Callables>
using node_problem = decltype(find_node_problem<Nodes, Callables...>());

template <class G, class... Callables>
auto find_graph_problem()
{
    if constexpr (needs_as_graph<G>) return a_nested_list_needs_as_graph<G>{};
    else if constexpr (!has_vertices<G>) return a_graph_has_vertices<G>{};
    else if constexpr (!has_order<vertex_of<G>>) return vertices_have_an_order<vertex_of<G>>{};
    else if constexpr (!has_out_edges<G>) return a_graph_has_out_edges<G>{};
    else if constexpr (!has_target<G>) return a_graph_has_target<G>{};
    else if constexpr (sizeof...(Callables) < 2) return effects_take_this_and_a_sink<vertex_of<G>>{};
    else return list_problem<vertex_of<G> const&, value_id, Callables...>{};
}
/// Why G is no graph, or why the callables do not take its vertices.
template <class G, class... Callables>
using graph_problem = decltype(find_graph_problem<G, Callables...>());

} // namespace sublet::detail

#endif
