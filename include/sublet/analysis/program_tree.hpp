// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_PROGRAM_TREE_HPP
#define SUBLET_ANALYSIS_PROGRAM_TREE_HPP

/// A tree of programs: steps contain bodies, which are loops, branches or run once, nested to any depth.
///
///     0: x = ...
///     1: y = while ──────────────┐ body 1, a loop     capture   w is x, the outer value itself
///     2: use y                   │ 0: b = f(a, w)     binding   a: at entry a copy of x, in later
///                                └────────────────              iterations one of b; y: at exit one of a
///
/// Captures and bindings alone relate the values of a body to those of its parent: equal value ids in
/// different programs mean nothing. A tree is built body by body, or by as_tree from p.bodies(n).

#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// A program of a tree: 0 is the root, i is body i.
struct program_body {
    /// The members of a binding.
    enum class binding_part : std::uint8_t { inner, initial, next, result };

    /// The bodies of a step run in the order in which they were added; adjacent branches are one choice, and
    /// exactly one of them runs. An empty program is a branch that does nothing.
    enum class run_kind : std::uint8_t {
        once,   ///< runs once
        branch, ///< one of the adjacent branches runs
        loop    ///< runs any number of times, possibly none
    };

    /// `inner` is another name of `outer`.
    struct capture {
        value_id inner = no_value; ///< of the body
        value_id outer = no_value; ///< of its parent
        friend bool operator==(program_body::capture, program_body::capture) = default;
    };

    /// Copies into and out of `inner`; each of the other values may be omitted.
    struct binding {
        /// Of the body: the target of the first two copies, the source of the last.
        value_id inner = no_value;
        value_id initial = no_value; ///< outer: copied into `inner` at entry
        value_id next = no_value;    ///< inner: copied into `inner` before the next iteration
        value_id result = no_value;  ///< outer: gets a copy of `inner` at exit
        friend bool operator==(program_body::binding, program_body::binding) = default;
    };

    program_id parent = 0;  ///< the program that contains the body; lower than its own id
    step_id step = no_step; ///< of the parent
    program_body::run_kind kind = program_body::run_kind::once; ///< how often it runs
    /// Values of the parent that it uses under names of its own.
    std::vector<program_body::capture> captures;
    std::vector<program_body::binding> bindings; ///< values that are copied at its borders
    friend bool operator==(program_body const&, program_body const&) = default;
};

/// Regular, as a snapshot; a parent comes before its bodies. A program without control flow runs its nodes as
/// they are listed.
class program_tree {
public:
    program_tree() = default; // of the empty program
    /// A tree without bodies.
    /// Throws: precondition_error if an edge of an order leads back in the list.
    explicit program_tree(snapshot const& root) : nested_{{as_listed(root), {}}} {}

    /// How many programs there are, with the root.
    [[nodiscard]] std::size_t size() const { return nested_.size(); }
    /// Program i; 0 is the root.
    [[nodiscard]] snapshot const& program_of(program_id i) const { return nested_[i].program; }
    /// How program i is nested; without meaning for the root.
    [[nodiscard]] program_body const& body(program_id i) const { return nested_[i].body; }

    /// Nests a program in a step, after the bodies that it has. Returns the id of the body.
    ///
    /// Complexity: O(n log n), n = captures and bindings, and a copy of the body.
    /// Throws:     precondition_error for an id out of range, a value that is captured or bound more than
    ///             once, a result of two bindings, a `next` in a body that is no loop, and an edge of an
    ///             order that leads back in the list.
    program_id add_body(program_id parent, step_id step, program_body::run_kind kind, snapshot const& body,
                        std::vector<program_body::capture> captures = {},
                        std::vector<program_body::binding> bindings = {});

    friend bool operator==(program_tree const&, program_tree const&) = default;

private:
    struct nested {
        snapshot program;
        program_body body;
        friend bool operator==(nested const&, nested const&) = default;
    };

    static snapshot as_listed(snapshot const& p);
    static bool are_distinct(std::vector<value_id>& values);
    static void expect_valid_bindings(std::size_t outer, std::size_t inner, program_body::run_kind kind,
                                      std::vector<program_body::capture> const& captures,
                                      std::vector<program_body::binding> const& bindings);

    table<program_id, nested> nested_ = std::vector<nested>(1);
};

namespace detail {

template <class P>
using body_list = decltype(std::declval<P const&>().bodies(node_id{}));
template <class P>
using body_item = std::remove_cvref_t<decltype(*std::begin(std::declval<body_list<P>&>()))>;

/// The program of a body is a member or a pointer.
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

/// The members of a body in a user's IR; a node of one step may omit `step`, the index within its node.
template <class Item>
concept body_description = requires(Item const& b) {
    { b.kind } -> std::convertible_to<program_body::run_kind>;
    requires program<detail::program_in<Item>>;
    { *std::begin(b.captures) } -> std::convertible_to<program_body::capture>;
    { *std::begin(b.bindings) } -> std::convertible_to<program_body::binding>;
};

} // namespace detail

/// A program with one member more: `bodies`.
///
/// Semantics:     p.bodies(n) are the programs nested in node n, in the order in which they run: by reference
///                or as a span; by value only if their programs are pointers.
/// Ordinary model: an IR with a list of regions in each operation.
template <class P>
concept nested_program = program<P> && requires(P const& p, node_id n) {
    std::begin(p.bodies(n)) != std::end(p.bodies(n));
    requires detail::body_description<detail::body_item<P>>;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/program_tree.ipp>
#endif

#endif
