// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_ALIASES_HPP
#define SUBLET_ANALYSIS_ALIASES_HPP

/// Views: values that are the same bytes as another value.
///
///     a        b = reshape(a)     c = slice(b)     d          alias_of   -  a  b  -
///     [==============================]             [====]     buffer     0  0  0  1
///
/// A view says of which value it is one; that may be a view too. What has no further to point is the root,
/// and a root with all its views is one buffer: it lives while any of them does, and is as large as the root.

#include <sublet/contract.hpp>
#include <sublet/graph/csr_graph.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace sublet {

struct buffer_classes {
    std::vector<buffer_id> buffer_of; ///< by value
    std::vector<value_id> root;       ///< by buffer, ascending
    friend bool operator==(buffer_classes const&, buffer_classes const&) = default;
};

/// The classes of `values` values under "is a view of".
///
/// Ensures:    buffers are numbered by ascending root.
/// Complexity: O(values) time and memory; `alias_of` is called once a value.
/// Throws:     precondition_error if `alias_of` names no value or runs in a circle.
template <class AliasOf>
    requires std::invocable<AliasOf&, value_id> &&
             id_like<std::remove_cvref_t<std::invoke_result_t<AliasOf&, value_id>>>
[[nodiscard]] buffer_classes aliases(std::size_t values, AliasOf alias_of)
{
    // root[v] while chains are followed: v's own alias at first, at last the root of v.
    std::vector<value_id> root(values);
    for (std::size_t v = 0; v != values; ++v) {
        value_id const to = detail::as_id(detail::ask(alias_of, static_cast<value_id>(v)));
        SUBLET_EXPECTS(to == no_value || to < values, "sublet: alias_of names a value that does not exist");
        root[v] = to == no_value ? static_cast<value_id>(v) : to;
        SUBLET_EXPECTS(to != v, "sublet: a value is a view of itself");
    }
    std::vector<value_id> chain;
    for (std::size_t start = 0; start != values; ++start) {
        auto v = static_cast<value_id>(start);
        for (; root[v] != v; v = root[v]) {
            SUBLET_EXPECTS(chain.size() < values, "sublet: views run in a circle");
            chain.push_back(v);
        }
        for (value_id view : chain) root[view] = v;
        chain.clear();
    }

    buffer_classes classes;
    classes.buffer_of.assign(values, no_buffer);
    for (std::size_t v = 0; v != values; ++v) {
        if (root[v] != v) continue;
        classes.buffer_of[v] = static_cast<buffer_id>(classes.root.size());
        classes.root.push_back(static_cast<value_id>(v));
    }
    for (std::size_t v = 0; v != values; ++v) classes.buffer_of[v] = classes.buffer_of[root[v]];
    return classes;
}

} // namespace sublet

#endif
