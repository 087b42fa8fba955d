// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_INTERNAL_SAID_VIEWS_HPP
#define SUBLET_GRAPH_INTERNAL_SAID_VIEWS_HPP

/// The options of a call, with what steps of the program say of their views: a fact that is said twice has to
/// be said alike.

#include <sublet/core/internal/asked_options.hpp>
#include <sublet/graph/snapshot.hpp>

#include <type_traits>
#include <utility>

namespace sublet::detail {

/// Adds to `of` what steps of the program say that their views are views of. Returns the offsets that they
/// say. Throws: precondition_error if two steps, or a step and `of`, say different things of a view.
[[nodiscard]] table<value_id, byte_count> add_said_views(snapshot const& p, table<value_id, value_id>& of);

/// The options of a call together with what steps of the program say of their views.
///
/// Complexity: O(values), if a step says something.
/// Throws:     precondition_error if two steps, or a step and the options, say different things of a view.
template <class Options>
[[nodiscard]] asked_options<Options> with_said_views(snapshot const& p, asked_options<Options> asked)
{
    if (p.said_views().empty()) return asked;
    table<value_id, value_id> of = asked->alias_of.tabulate(p.values(), "alias_of");
    table<value_id, byte_count> const offset = add_said_views(p, of);
    Options& own = asked.own();
    own.alias_of = std::move(of);
    if constexpr (requires { own.view_offset; }) {
        auto table = own.view_offset.tabulate(p.values(), "view_offset");
        for (value_id v = 0; v != p.values(); ++v) {
            if (offset[v] == no_offset) continue;
            std::remove_cvref_t<decltype(table[v])> const begin{offset[v]}, unsaid{0};
            SUBLET_EXPECTS(table[v] == unsaid || table[v] == begin,
                           "sublet: a step says that value % is a view from byte % on, and view_offset says "
                           "something else",
                           v, offset[v]);
            table[v] = begin;
        }
        own.view_offset = std::move(table);
    }
    return asked;
}

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/graph/impl/said_views.ipp>
#endif

#endif
