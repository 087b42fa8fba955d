// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_GRAPH_PROGRAM_TREE_HPP
#define SUBLET_GRAPH_PROGRAM_TREE_HPP

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

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

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

namespace detail {

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

} // namespace detail

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

/// Semantics:     p.bodies(n) are the programs nested in node n, in the order in which they run. They come
///                by reference or as a span; by value only if their programs are pointers.
/// Ordinary model: an IR whose operations have a list of regions.
template <class P>
concept nested_program = program<P> && requires(P const& p, node_id n) {
                                           std::begin(p.bodies(n)) != std::end(p.bodies(n));
                                           requires body_description<detail::body_item<P>>;
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
#include <sublet/graph/impl/program_tree.ipp>
#endif

#endif
