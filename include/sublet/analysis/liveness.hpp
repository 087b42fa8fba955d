// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_LIVENESS_HPP
#define SUBLET_ANALYSIS_LIVENESS_HPP

/// Which values are alive where each node begins and ends, if successors are alternatives: the control-flow
/// reading of a program.
///
///     0: def a, b          live in 1: {a, b}        b is needed at the end of 1 by a phi of 2, so that it is
///     |                    live out 1: {b, c}       live out there; what the phi defines is not live in at 2
///     1: use a, def c
///     |  b                 live in 2: {c}
///     2: def phi(b), use c
///
/// A value is alive where some path leads on to a use of it and no def comes before. A step reads before it
/// writes; a use at the end of a predecessor is read where that node ends. Nodes that nothing reaches are
/// solved like the others. (So are those of a `sequence`: it has no edges, and nothing is alive from one of
/// its nodes to the next. Its live ranges are what `lifetimes` finds.)
///
/// Three algorithms give the same sets; each header liveness_*.hpp tells one of them. Left to itself,
/// `liveness` takes rows of bits for small programs. In large ones a bit in every node is dear for a value
/// that lives in three: so each value is first walked up from its uses, and those that turn out to live in
/// many nodes are taken back and solved together as rows of bits.

#include <sublet/analysis/live_sets.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/graph/vertex_numbering.hpp>
#include <sublet/units.hpp>

#include <cstddef>
#include <utility>

namespace sublet {

struct liveness_options {
    liveness_policy policy = liveness_policy::automatic;
    /// Up to so many 64-bit words a matrix (nodes times crossing values / 64) `automatic` takes rows of bits.
    std::size_t dense_words = std::size_t{1} << 17;
};

namespace detail {

/// For who takes live sets with the program: by the counts of its nodes and values.
inline void expect_sets_of(snapshot const& p, live_sets const& live)
{
    SUBLET_EXPECTS(live.nodes() == p.nodes() && live.values() == p.values(),
                   "sublet: live sets are not of the program that they are given with");
}

} // namespace detail

/// Complexity: that of the policy. `automatic`: O(V + E + values + touches) and, per value that crosses from
///             one node to another, at most what rows of bits or what lists would cost, whichever is less,
///             up to a constant factor.
/// Throws:     precondition_error if the policy is `loop_forest`, the program is not in strict SSA form, and
///             that would make a set wrong.
[[nodiscard]] live_sets liveness(snapshot const& p, liveness_options const& options);

/// By the policy `automatic`. (Not a default argument: whoever asks for no more need not compile more.)
[[nodiscard]] live_sets liveness(snapshot const& p);

/// Live sets that are asked with the vertices of the graph that they are of.
///
/// Requires: every vertex asked for is one of `vertices(g)`.
template <class V>
class live_sets_on {
public:
    live_sets_on(vertex_numbering<V> numbers, live_sets sets)
        : numbers_(std::move(numbers)), sets_(std::move(sets))
    {
    }
    [[nodiscard]] bool is_live_in(value_id v, V const& at) const { return sets_.is_live_in(v, number(at)); }
    [[nodiscard]] bool is_live_out(value_id v, V const& at) const { return sets_.is_live_out(v, number(at)); }
    [[nodiscard]] live_list live_in(V const& at) const { return sets_.live_in(number(at)); }
    [[nodiscard]] live_list live_out(V const& at) const { return sets_.live_out(number(at)); }
    [[nodiscard]] std::size_t live_in_count(V const& at) const { return sets_.live_in_count(number(at)); }
    [[nodiscard]] std::size_t live_out_count(V const& at) const { return sets_.live_out_count(number(at)); }

    /// The same over the numbers of the vertices, and these.
    [[nodiscard]] live_sets const& by_number() const { return sets_; }
    [[nodiscard]] vertex_numbering<V> const& numbers() const { return numbers_; }

private:
    node_id number(V const& at) const
    {
        node_id const n = numbers_.number_of(at);
        SUBLET_EXPECTS(n != no_node, "sublet: live sets are asked for a vertex that is not in the graph");
        return n;
    }

    vertex_numbering<V> numbers_;
    live_sets sets_;
};

/// Of any graph: `effects`, or `uses` and `defs`, say what happens at a vertex, as with `from_graph`.
/// The first of `vertices(g)` is the entry.
template <graph G, class Effects>
    requires effects_function<Effects, vertex_of<G> const&, effect_sink_on<vertex_of<G>>>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Effects effects,
                            liveness_options const& options = {})
{
    vertex_numbering<vertex_of<G>> numbers(g);
    live_sets sets = liveness(from_graph(g, numbers, values, std::move(effects)), options);
    return live_sets_on<vertex_of<G>>(std::move(numbers), std::move(sets));
}

template <graph G, class Uses, class Defs>
    requires id_list_function<Uses, vertex_of<G> const&> && id_list_function<Defs, vertex_of<G> const&>
[[nodiscard]] auto liveness(G const& g, std::size_t values, Uses uses, Defs defs,
                            liveness_options const& options = {})
{
    return liveness(g, values, detail::uses_then_defs(uses, defs), options);
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/liveness.ipp>
#endif

#endif
