// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_ANALYSIS_FLATTEN_HPP
#define SUBLET_ANALYSIS_FLATTEN_HPP

/// Programs nested in the steps of programs: the tree, value numbers across it, the tree flattened to one
/// program, and each program with the effects of its bodies. Flattening is O(V + E + touches), and O(b log b)
/// for b bodies. Nothing is recursive: only memory limits the depth.

#include <sublet/core/units.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

#include <cstdint>
#include <vector>

// --- program tree ----------------------------------------------------------------------------------------

/// A tree of programs: steps contain bodies, which are loops, branches or run once, nested to any depth.
///
///     0: x = ...
///     1: y = while ──────────────┐ body 1, a loop     capture   w is x, the outer value itself
///     2: use y                   │ 0: b = f(a, w)     binding   a: at entry a copy of x, in later
///                                └────────────────              iterations one of b; y: at exit one of a
///
/// Captures and bindings alone relate the values of a body to those of its parent: equal value ids in
/// different programs mean nothing. A tree is built body by body, or by as_tree from p.bodies(n).

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

/// The bodies of each step, in the order in which they run.
class bodies_by_step {
public:
    /// Complexity: O(b log b), b = bodies.
    explicit bodies_by_step(program_tree const& tree);
    /// O(log bodies)
    [[nodiscard]] std::span<program_id const> of(program_id parent, step_id step) const;

private:
    std::vector<std::uint64_t> key_; // parent and step, ascending
    std::vector<program_id> body_;
};

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

namespace detail {

template <class P>
concept lasting_bodies =
    std::is_lvalue_reference_v<body_list<P>> || std::ranges::enable_borrowed_range<body_list<P>> ||
    std::is_pointer_v<std::remove_cvref_t<decltype(std::declval<body_item<P> const&>().program)>>;

/// A program with bodies still to be listed. Its type is erased, because programs of one type may contain
/// programs of another type, and these again programs of the first.
struct unlisted_program {
    void const* at;
    program_id number;
    void (*list)(unlisted_program, program_tree&, std::vector<unlisted_program>&);
};

template <class P>
void list_bodies(unlisted_program of, program_tree& tree, std::vector<unlisted_program>& open)
{
    if constexpr (nested_program<P>) {
        static_assert(lasting_bodies<P>, "sublet: bodies(n) returns programs that do not outlive the call: "
                                         "return a reference or a span, or bodies that hold pointers");
        P const& p = *static_cast<P const*>(of.at);
        std::size_t const count = tree.program_of(of.number).nodes();
        for (node_id n = 0; n != count; ++n) {
            for (auto&& b : p.bodies(n)) {
                auto const steps = tree.program_of(of.number).steps_of(n);
                step_id step = steps.first;
                if constexpr (requires { to_number(+b.step); }) step += to_number(+b.step);
                else
                    SUBLET_EXPECTS(steps.last - steps.first == 1,
                                   "sublet: a body does not say in which step of its node it is nested");
                SUBLET_EXPECTS(step >= steps.first && step < steps.last,
                               "sublet: a body is nested in step %, but its node has steps % to %", step,
                               steps.first, steps.last - 1);
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

/// The tree of a program with nodes that contain programs, to any depth.
///
/// Ensures:    bodies are numbered parents first, those of one program by node and in the order of bodies(n).
/// Complexity: O(V + E + touches + b log b) in all programs, b = bodies; bodies(n) is called once per node.
/// Throws:     as add_body, and any exception of the program.
template <nested_program P>
[[nodiscard]] program_tree as_tree(P const& p)
{
    program_tree tree(p);
    std::vector<detail::unlisted_program> open{{&p, 0, &detail::list_bodies<P>}};
    for (std::size_t i = 0; i != open.size(); ++i) {
        detail::unlisted_program const next = open[i]; // the vector grows
        next.list(next, tree, open);
    }
    return tree;
}

// --- tree values -----------------------------------------------------------------------------------------

/// Numbers the values of a tree of programs: one number for all names of a value.
///
///     program 0        a   b              0  1
///     body 1           c   d = b          2  1       d captures b
///     body of that     e = d   f          1  3       e captures d, so it is b as well
///
/// A captured value has the number of the outer value. The others get new numbers, by program, then by value.

namespace detail {

struct tree_values {
    table<program_id, table<value_id, value_id>> flat_of; ///< the number of each value of each program
    table<value_id, tree_value> value_of;                 ///< of each number: the outermost of its names
    friend bool operator==(tree_values const&, tree_values const&) = default;
};

/// Complexity: O(values) of all programs.
/// Throws:     precondition_error for more values than 32-bit ids.
[[nodiscard]] tree_values number_values(program_tree const& tree);

/// By number: the root that it is a view of, or itself.
///
/// Requires:   `alias_of`, by program and value, is the value that it is a view of; empty: no views. Entries
///             of captured values are ignored.
/// Complexity: O(values).
/// Throws:     precondition_error as aliases().
[[nodiscard]] table<value_id, value_id> view_roots(tree_values const& values,
                                                   table<program_id, std::vector<value_id>> const& alias_of);

} // namespace detail

// --- flat tree -------------------------------------------------------------------------------------------

/// The result of flatten(): one program with control flow, and the origin of its values and steps.
///
///     flat step      0       1           2       3         4
///     step_of        whole   beginning   move    whole     end          part
///                    0, 0    0, 1        1, 0    1, 0      0, 1         program and step, or body and move

/// For spare values, from `first_spare` on, `value_of` is the value that they hold a copy of.
struct flat_tree : detail::tree_values {
    /// What a flat step stands for.
    enum class part : std::uint8_t {
        whole,     ///< a step without bodies
        beginning, ///< of a step with bodies
        end,       ///< of a step with bodies
        move,      ///< a copy for a binding
        nothing    ///< a join of control flow
    };

    /// The origin of a flat step.
    struct step {
        flat_tree::part part = flat_tree::part::nothing; ///< what it stands for
        program_id program = 0; ///< for a move: the body
        step_id step = no_step; ///< in the program; for a move: its index in `moves`
        friend bool operator==(flat_tree::step, flat_tree::step) = default;
    };

    /// When a move is made: at entry of a body, before the next iteration, at exit.
    enum class move_time : std::uint8_t { enter, again, leave };

    /// A copy of a value for a binding.
    struct move {
        program_id body = 0;                                     ///< the body with the binding
        flat_tree::move_time when = flat_tree::move_time::enter; ///< at which of its borders
        value_id from = no_value; ///< flat
        value_id to = no_value;   ///< flat
        step_id step = no_step;   ///< flat
        friend bool operator==(flat_tree::move, flat_tree::move) = default;
    };

    snapshot program;         ///< the flat program
    value_id first_spare = 0; ///< from here on values are spare ones; each breaks a cycle of moves
    table<step_id, flat_tree::step> step_of; ///< of each flat step
    std::vector<flat_tree::move> moves;      ///< those of one place are adjacent, in execution order
    friend bool operator==(flat_tree const&, flat_tree const&) = default;
};

// --- flatten ---------------------------------------------------------------------------------------------

/// Flattens a tree to one program with control flow: the bodies of a step come between its beginning and end.
///
///     once        branch                     loop
///     begin       begin ──┬──────┐           begin
///     moves in         moves   moves         moves in
///     body             body    body          header ◄──────┐      moves in:   inner   = initial
///     moves out        moves   moves         │  └► body    │      iteration:  inner   = next
///     end         end ◄───┴──────┘           │     moves ──┘      moves out:  result  = inner
///                                            moves out, end
///
/// A captured value is the outer value itself. A bound value is copied by a step with an in-place pair:
/// unless they conflict, a plan can give both the same bytes, and no copy remains. Liveness does the rest: a
/// value that a loop reads is live throughout it, a value that one branch needs is not live in the other.
///
/// A step with bodies is not run again: neither its beginning nor its end alone computes its results. Steps
/// of bodies say what they said.
///
/// The copies of one place are parallel in the tree, and sequential in the flat program and in `moves`: none
/// overwrites a value that another has yet to read. A spare value breaks a cycle.
///
/// Touches of a step with bodies: a use holds its storage from the beginning to the end of the step, an early
/// use at the beginning only (for values that are just passed to the bodies); a def is at the end, but a
/// result of a body is defined by the body, and a value that a body captures (a buffer that a loop fills
/// piece by piece) is defined at the beginning.
///
/// If a backward loop reads values of a forward loop, the caller keeps them for each iteration: in the body
/// such a value is external or ineligible, because one storage cannot hold those of all iterations.

/// Flattens a tree.
///
/// Requires:   `alias_of`, by program and value, is the value that it is a view of, as in plan_options;
///             empty: no views. Entries of captured values are ignored.
/// Ensures:    the steps of the flat program are in the order of the text, each body at its step.
/// Complexity: O(V + E + touches) of all programs, O(b log b) for b bodies.
/// Throws:     precondition_error for views that plan_options does not allow, or for ids beyond 32 bits.
[[nodiscard]] flat_tree flatten(program_tree const& tree,
                                table<program_id, std::vector<value_id>> const& alias_of = {});

// --- with captures ---------------------------------------------------------------------------------------

/// One program of a tree, in which each step also touches the outer values that its bodies touch.
///
///     0: a = ...                       0: def a
///     1: b = while { ... a ... }       1: use a, def b      the capture is a use of the step,
///     2: use b                         2: use b             so a is live until then
///
/// For plans of this program without its bodies. A value that is captured, or is the initial value of a
/// binding, is used by the step; a result of a body is defined by it; a value that is captured and written,
/// at any depth, is both, because it may be written in part, or not on every path; and so is a result that
/// not all branches of a choice define. A step with bodies may run again if it and all steps of its bodies
/// say so.

namespace detail {

/// By program and value: whether a step of the program or of a nested body writes it.
table<program_id, table<value_id, unsigned char>> written_in(program_tree const& tree);

/// Ensures:    nodes, edges, values, steps and in-place pairs are those of `program`; a step without bodies
///             keeps its touches, one with bodies has them first. A value that the step itself defines and a
///             body captures is not used by it: the bodies fill it.
/// Complexity: O(touches) of the whole tree, O(b log b) for its b bodies; the touches of a step for each
///             value that its bodies capture or bind, and for each result the bindings of adjacent branches.
/// Throws:     precondition_error if `program` is not in the tree.
[[nodiscard]] snapshot with_captures(program_tree const& tree, program_id program = 0);

} // namespace detail

/// with_captures() of each program; the tables of the tree, O(touches + b log b), are computed once.
[[nodiscard]] table<program_id, snapshot> each_with_captures(program_tree const& tree);

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/analysis/impl/flatten.ipp>
#endif

#endif
