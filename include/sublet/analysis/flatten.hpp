// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

/// Programs whose steps hold programs, as a tree: one number for each value, the tree as one program, and one
/// program of the tree by itself.

#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/units.hpp>

#include <cstdint>
#include <vector>

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

namespace sublet {

/// A program of a tree: 0 is the root, i is body i.
using program_id = std::uint32_t;

struct program_body {
    /// Which of the names in a binding of a body.
    enum class binding_part : std::uint8_t { inner, initial, next, result };

    /// The bodies of a step run one after the other, as they were added; branches that stand side by side
    /// there are one choice, and exactly one of them runs. An empty program is a branch that does nothing.
    enum class run_kind : std::uint8_t {
        once,   ///< runs
        branch, ///< it runs, or the other branches beside it
        loop    ///< runs any number of times, also not at all
    };

    /// `inner` is the outer value itself, under another name.
    struct capture {
        value_id inner = no_value;
        value_id outer = no_value;
        friend bool operator==(program_body::capture, program_body::capture) = default;
    };

    /// What is copied into `inner` and out of it; each but `inner` may be left out.
    struct binding {
        value_id inner = no_value;
        value_id initial = no_value; ///< outer: copied into `inner` at entry
        value_id next = no_value;    ///< inner: copied into `inner` where the loop begins again
        value_id result = no_value;  ///< outer: gets a copy of `inner` where the body is left
        friend bool operator==(program_body::binding, program_body::binding) = default;
    };

    program_id parent = 0;
    step_id step = no_step; ///< of the parent
    program_body::run_kind kind = program_body::run_kind::once;
    std::vector<program_body::capture> captures;
    std::vector<program_body::binding> bindings;
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

    static bool are_distinct(std::vector<value_id>& values);
    static void expect_valid_bindings(std::size_t outer, std::size_t inner, program_body::run_kind kind,
                                      std::vector<program_body::capture> const& captures,
                                      std::vector<program_body::binding> const& bindings);

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
    std::vector<std::uint64_t> key_; // parent and step, ascending
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
                                   } -> std::convertible_to<program_body::run_kind>;
                               requires program<detail::program_in<Item>>;
                               {
                                   *std::begin(b.captures)
                                   } -> std::convertible_to<program_body::capture>;
                               {
                                   *std::begin(b.bindings)
                                   } -> std::convertible_to<program_body::binding>;
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
                std::vector<program_body::capture> captures;
                std::vector<program_body::binding> bindings;
                for (program_body::capture c : b.captures) captures.push_back(c);
                for (program_body::binding i : b.bindings) bindings.push_back(i);
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

// --- tree values -----------------------------------------------------------------------------------------

/// One number for each value of a tree of programs, however many names it has.
///
///     program 0        a   b              0  1
///     body 1           c   d = b             1  2       d captures b
///     body of that     e = d   f             1  3       e captures d, so it is b as well
///
/// A captured value is the outer value itself. All others are new; they are numbered by program, and in
/// each in its own order.

namespace detail {

struct tree_value {
    program_id program = 0;
    value_id value = no_value;
    friend bool operator==(tree_value, tree_value) = default;
};

struct tree_values {
    std::vector<std::vector<value_id>> flat_of; ///< by program, by value
    std::vector<tree_value> value_of;           ///< by number: the outermost of its names
    friend bool operator==(tree_values const&, tree_values const&) = default;
};

/// Complexity: O(values) of all programs.
/// Throws:     precondition_error for more values than 32-bit ids.
[[nodiscard]] tree_values number_values(program_tree const& tree);

/// By number: the value that it is a view of in the end, or itself.
///
/// Requires:   `alias_of`, by program and value, says what is a view of what; empty: there are none. What it
///             says of captured values is not asked.
/// Complexity: O(values).
/// Throws:     precondition_error where views are not as aliases() asks.
[[nodiscard]] std::vector<value_id> view_roots(tree_values const& values,
                                               std::vector<std::vector<value_id>> const& alias_of);

} // namespace detail

// --- flat tree -------------------------------------------------------------------------------------------

/// What becomes of a tree of programs that is flattened, and how one finds back.
///
///     flat step      0       1           2       3         4
///     step_of        whole   beginning   move    whole     end          part
///                    0, 0    0, 1        1, 0    1, 0      0, 1         program and step, or body and move
///
/// Data, made by flatten(): one program with control flow, and for each of its values and steps the program
/// of the tree that it comes from.

/// Of spares, from `first_spare` on, `value_of` says which value they keep a copy of.
struct flat_tree : detail::tree_values {
    enum class part : std::uint8_t {
        whole,     ///< a step without bodies
        beginning, ///< of a step with bodies
        end,       ///< of a step with bodies
        move,      ///< a copy that a binding asks for
        nothing    ///< a place where paths meet
    };

    struct step {
        flat_tree::part part = flat_tree::part::nothing;
        program_id program = 0; ///< of a move: the body
        step_id step = no_step; ///< of the program; of a move: its number in `moves`
        friend bool operator==(flat_tree::step, flat_tree::step) = default;
    };

    enum class move_time : std::uint8_t { enter, again, leave };

    struct move {
        program_id body = 0;
        flat_tree::move_time when = flat_tree::move_time::enter;
        value_id from = no_value; ///< flat
        value_id to = no_value;   ///< flat
        step_id step = no_step;   ///< flat
        friend bool operator==(flat_tree::move, flat_tree::move) = default;
    };

    snapshot program;
    value_id first_spare = 0;
    std::vector<flat_tree::step> step_of; ///< by flat step
    std::vector<flat_tree::move>
        moves; ///< those of one place stand together, in the order in which to do them
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

// --- flatten ---------------------------------------------------------------------------------------------

/// A tree of programs as one program with control flow: what the bodies of a step do stands between the
/// beginning of the step and its end.
///
///     once        branch                     loop
///     begin       begin ──┬──────┐           begin
///     moves in         moves   moves         moves in
///     body             body    body          again? ◄──────┐      moves in:   inner   = initial
///     moves out        moves   moves         │  └► body    │      once more:  inner   = next
///     end         end ◄───┴──────┘           │     moves ──┘      moves out:  result  = inner
///                                            moves out, end
///
/// A captured value is the outer value itself, however deep the capture; a bound one is a value of its own,
/// and the copies that bind it are steps with an in-place pair: where nothing stands against it a plan lets
/// both be the same bytes, and no copy is left. Everything else follows from liveness: what a loop reads is
/// alive throughout it, what only one branch needs is not alive in the other, what a body leaves is dead.
///
/// The copies of one place happen at once as far as the tree is concerned, here one after the other: none
/// writes what another still has to read. Where they run in a circle (x and y change places) a spare value
/// breaks it. So whoever runs the copies in the order of `moves` needs no thought of his own.
///
/// Touches of a step beside its bodies: a use holds its storage from the beginning to the end of the step, an
/// early use at the beginning only (say so of what is just handed to the bodies); a def is at the end, but
/// what a body gives as a result is defined by the body, and what a body captures (a buffer that a loop fills
/// piece by piece) is defined at the beginning.
///
/// What a backward twin reads of a forward step net's values is kept a time step at a time by the caller: in
/// the body such a value is external, or ineligible, for one storage cannot hold those of all the steps.

/// Requires:   `alias_of`, by program and value, says what is a view of what, as in plan_options; it may be
///             left out where there are no views. What it says of captured values is not asked.
/// Ensures:    the steps of the flat program stand in the order of the text, each body where its step is.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies. No recursion: nesting may be as
///             deep as memory.
/// Throws:     precondition_error where views are not as plan_options asks, or for more values or steps than
///             32-bit ids.
[[nodiscard]] flat_tree flatten(program_tree const& tree,
                                std::vector<std::vector<value_id>> const& alias_of = {});

// --- with captures ---------------------------------------------------------------------------------------

/// One program of a tree by itself, in which a step touches what its bodies touch of the values around them.
///
///     0: a = ...                       0: def a
///     1: b = while { ... a ... }       1: use a, def b      the capture is a use of the step
///     2: use b                         2: use b             so a is not given away before
///
/// For those who plan only this program, and leave the bodies to somebody else. A value that is captured or
/// brought into a body is used by the step; one that a body gives as a result is defined by it; one that is
/// captured and written, at any depth, is both, for it may be written in part, or not on every path; and so
/// is a result that not all the branches of a choice give.

namespace detail {

/// By program, by value: whether a step of the program or of a body inside writes it.
std::vector<std::vector<unsigned char>> written_in(program_tree const& tree);

/// Ensures:    nodes, edges, values, steps and in-place pairs are those of `program`; a step without bodies
///             has the touches that it had, one with bodies has them first. A value that the step itself
///             defines and a body captures is not used by it: bodies fill it.
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies; a step's touches for each value
///             that its bodies capture or bind, and the bindings of the branches beside for each result.
/// Throws:     precondition_error if `program` is not in the tree.
[[nodiscard]] snapshot with_captures(program_tree const& tree, program_id program = 0);

} // namespace detail

/// By program, what with_captures() makes of each. The whole tree is looked through once for all of them.
///
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies, and for each step what
///             with_captures() says.
[[nodiscard]] std::vector<snapshot> each_with_captures(program_tree const& tree);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flatten.ipp>
#endif

#endif
