// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_NESTED_HPP
#define SUBLET_EXECUTION_NESTED_HPP

/// Runs a tree of programs on the host, in the arena of a plan of plan_nested or without a plan: a kernel
/// runs the steps, a callable says which branch runs and whether a loop runs again.
///
///     flat program   beginning ─► choice ─┬─► moves, body 1 ─┬─► end          the walk takes one path
///                                         └─► moves, body 2 ─┘
///
///     part of a flat step    what is done
///     whole                  the kernel is called
///     beginning              the kernel is called only if the step makes a value that its bodies fill
///     end                    the kernel is called, with the results that no body makes, or none
///     move                   bytes are copied, unless both values lie at the same ones
///
/// Overhead of a run without checks: O(flat steps that run + their touches).

#include <sublet/analysis/flatten.hpp>
#include <sublet/analysis/program_tree.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/host_values.hpp>
#include <sublet/execution/detail/memory_mode.hpp>
#include <sublet/execution/detail/nested_program.hpp>
#include <sublet/execution/detail/path_checker.hpp>
#include <sublet/execution/detail/value_storage.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/storage.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sublet {

/// One step of a program of a tree, as its kernel sees it; as cpu_call. Values have the ids of the program.
///
/// Throws: precondition_error for an operand that the step does not have.
class nested_call {
public:
    /// For the executor; `s` is a flat step.
    nested_call(detail::nested_program const& run, detail::value_storage const& values, step_id s,
                std::uint64_t iteration_of_loop)
        : program(run.flat.step_of[s].program), step(run.flat.step_of[s].step),
          part(run.flat.step_of[s].part), iteration(iteration_of_loop), run_(&run), values_(&values), flat_(s)
    {
    }

    program_id program;          ///< of the tree
    step_id step;                ///< of that program
    flat_tree::part part;        ///< `whole`; of a step with bodies, its `beginning` or its `end`
    std::uint64_t iteration = 0; ///< of the innermost loop around the step; 0 if there is none

    /// The values that it reads, in program order; at the end of a step with bodies without early ones.
    [[nodiscard]] std::span<value_id const> uses() const { return run_->own_uses[flat_]; }
    /// The values that it writes or makes itself: written ones first.
    [[nodiscard]] std::span<value_id const> defs() const { return run_->own_defs[flat_]; }
    /// The bytes of operand i.
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const { return bytes(run_->uses[flat_], i); }
    /// The bytes of result j.
    [[nodiscard]] std::span<std::byte> out(std::size_t j) const { return bytes(run_->defs[flat_], j); }
    /// Result j is a view of bytes that exist already: the step need not write it.
    [[nodiscard]] bool is_view(std::size_t j) const
    {
        return run_->lowered.is_view(nth(run_->defs[flat_], j), position_id::of(+flat_));
    }
    /// The bytes of result j are there already: the step changes them, or a part of them.
    [[nodiscard]] bool is_update(std::size_t j) const
    {
        return run_->lowered.is_update(nth(run_->defs[flat_], j), position_id::of(+flat_));
    }
    /// Scratch storage of the step.
    [[nodiscard]] std::size_t scratch_count() const { return scratch_row().size(); }
    /// The bytes of scratch value k.
    [[nodiscard]] std::span<std::byte> scratch(std::size_t k = 0) const { return bytes(scratch_row(), k); }

private:
    std::span<value_id const> scratch_row() const { return run_->lowered.scratch[position_id::of(+flat_)]; }
    value_id nth(std::span<value_id const> row, std::size_t i) const
    {
        SUBLET_EXPECTS(i < row.size(), "sublet: the kernel of step % of program % accesses operand % of %",
                       step, program, i, row.size());
        return row[i];
    }
    std::span<std::byte> bytes(std::span<value_id const> row, std::size_t i) const
    {
        return values_->value_bytes(run_->lowered, nth(row, i));
    }

    detail::nested_program const* run_;
    detail::value_storage const* values_;
    step_id flat_;
};

/// What is decided during a run: which of several ways it takes. The answer is a number below `alternatives`.
///
///     step with branches     which of them runs                  0, 1, ...
///     loop                   whether another iteration runs      0 or false: no; 1 or true: yes
///     node of a program      which of its successors is next     0, 1, ...
///       with control flow
///
/// An `If` reads its condition: as<bool>(choice.in(0))[0]. If a body computes the condition of a `while`, the
/// step that has it remembers it in your own state:
///
///     bool again = true;
///     auto kernel = [&](sublet::nested_call const& call) {
///         if (call.program == 1 && call.step == 4) again = sublet::as<bool>(call.in(0))[0];
///     };
///     auto choose = [&](sublet::nested_choice const& choice) -> std::size_t { return again; };
class nested_choice {
public:
    /// For the executor.
    nested_choice(detail::nested_program const& run, detail::value_storage const& values, node_id at,
                  std::uint64_t begun);

    program_id program; ///< of the tree
    step_id step;       ///< of that program: with the bodies, or the last of the node
    program_id body;    ///< the first branch, or the body of the loop; 0 for a node with several successors
    std::size_t alternatives;    ///< how many ways there are: at least 2
    std::uint64_t iteration = 0; ///< of a loop: how many have run; otherwise as nested_call::iteration

    /// The operands of the step, in its program order.
    [[nodiscard]] std::span<value_id const> uses() const { return run_->own_uses[end().step]; }
    /// The bytes of operand i: early ones only before any body runs, and behind a step those that it may not
    /// write over.
    /// Throws: precondition_error if there is no such operand, or its bytes may have changed.
    [[nodiscard]] std::span<std::byte const> in(std::size_t i) const;

private:
    detail::nested_program::node_end const& end() const { return run_->end_of[at_]; }

    detail::nested_program const* run_;
    detail::value_storage const* values_;
    node_id at_;
};

namespace detail {

template <class K>
concept nested_kernel = std::invocable<K&, nested_call const&>;
template <class C>
concept nested_chooser = std::invocable<C&, nested_choice const&> &&
                         std::convertible_to<std::invoke_result_t<C&, nested_choice const&>, std::size_t>;
/// The path is not known ahead, so no block can be freed at its last touch.
template <class M>
concept nested_mode = memory_mode<M> && !std::same_as<M, recycle>;

// Parameters of deleted constructors: their names are the reason.
struct the_memory_mode_is_arena_or_no_plan {};
struct a_choice_returns_a_number {};
struct options_by_program_are_a_table_a_callable_or_listings {};
template <class Options, class Mode, class Kernel, class Choose>
using nested_problem = std::conditional_t<
    !nested_mode<Mode>, the_memory_mode_is_arena_or_no_plan,
    std::conditional_t<!nested_kernel<Kernel>, a_kernel_takes_its_call,
                       std::conditional_t<!nested_chooser<Choose>, a_choice_returns_a_number,
                                          options_by_program_are_a_table_a_callable_or_listings>>>;

/// The walk of one run over a flat program: storage, copies, checks and counts. Outlived by all that it is
/// given.
class nested_walk {
public:
    nested_walk(nested_program const& run, value_storage& values, path_liveness const& live,
                executor_options::checks check);

    /// Storage and checks before a step, and its copy.
    void begin_step(step_id s);
    /// Its kernel is called.
    [[nodiscard]] bool has_call(step_id s) const;
    [[nodiscard]] std::uint64_t iteration(step_id s) const;
    void end_step(step_id s);
    /// What died at the last step of a node, unless the next node is asked for first.
    void discard(step_id s);

    [[nodiscard]] std::uint64_t begun(node_id n) const;
    /// Follows the edge that an answer names.
    /// Throws: precondition_error if it is none of the alternatives.
    [[nodiscard]] node_id follow(node_id n, std::size_t answer);
    void finish() const;

    std::size_t steps = 0, copies = 0;

private:
    nested_program const& run_;
    value_storage& values_;
    std::optional<path_checker> checker_;
    table<program_id, std::uint64_t> begun_; // iterations of a loop
};

/// Its values and storage, and the walk over them.
class nested_runner {
public:
    template <nested_mode Mode>
    nested_runner(nested_program lowered, Mode const& mode, executor_options const& settings)
        : run_(std::move(lowered)), values_(run_.lowered, mode, settings)
    {
        values_.report().lower_bound = 0; // no path is the order
        if (settings.check >= executor_options::checks::paint)
            live_ = live_buffers(run_.flat.program, run_.lowered);
    }

    template <class Kernel, class Choose>
    run_report run(Kernel& kernel, Choose& choose)
    {
        std::size_t steps = 0, copies = 0;
        run_report report = values_.run_once([&] {
            nested_walk walk(run_, values_.storage(), live_, values_.check());
            walk_through(walk, kernel, choose);
            steps = walk.steps;
            copies = walk.copies;
        });
        report.steps = steps;
        report.copies = copies;
        return report;
    }

    [[nodiscard]] nested_program const& program() const { return run_; }
    [[nodiscard]] host_values& values() { return values_; }
    [[nodiscard]] host_values const& values() const { return values_; }
    /// Throws: precondition_error if the root has no such value.
    [[nodiscard]] value_id of_root(value_id v) const { return flat(tree_value{0, v}); }
    /// Throws: precondition_error if there is no such value.
    [[nodiscard]] value_id flat(tree_value v) const;

private:
    template <class Kernel, class Choose>
    void walk_through(nested_walk& walk, Kernel& kernel, Choose& choose)
    {
        snapshot const& p = run_.flat.program;
        node_id n = p.nodes() == 0 ? no_node : node_id{0};
        while (n != no_node) {
            step_range const steps = p.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s) {
                walk.begin_step(s);
                if (walk.has_call(s)) {
                    nested_call const call(run_, values_.storage(), s, walk.iteration(s));
                    try {
                        kernel(call);
                    } catch (...) {
                        throw run_error(s, std::current_exception());
                    }
                }
                walk.end_step(s);
                if (s + 1 != steps.last) walk.discard(s);
            }
            std::size_t answer = 0;
            if (run_.end_of[n].what != asked_of::nothing)
                answer = static_cast<std::size_t>(
                    choose(nested_choice(run_, values_.storage(), n, walk.begun(n))));
            n = walk.follow(n, answer);
        }
        walk.finish();
    }

    nested_program run_;
    host_values values_;
    path_liveness live_;
};

} // namespace detail

/// Runs a tree of programs on one thread, along the path that `choose` decides.
///
///     sublet::program_tree tree(program); // add_body() adds each nested program; or as_tree(ir)
///     auto options = [](auto) { return sublet::plan_options{.bytes = 8}; }; // of each program
///     auto planned = sublet::plan_nested(tree, options);
///     auto choose = [](sublet::nested_choice const& choice) { return std::size_t{choice.iteration < 3}; };
///     sublet::nested_executor execute{tree, options, sublet::arena{planned}, kernel, choose};
///     execute.run();
///     show(sublet::as<float>(execute.output(result)));
///
/// In `no_plan` each value has bytes of its own, and every move is a copy: what a run in the arena must
/// compute too. `recycle` is refused: which touch is the last depends on the path.
///
/// Errors of a run name flat steps and values; flat() says of which program they are. Those of the root have
/// the same ids. With executor_options::checks::digest a read of what no step of the path has written is
/// reported as well. A plan that allows undefined reads has to be run with `prove` off. A tree of one program
/// with control flow runs as well.
template <class Kernel, class Choose>
class nested_executor {
public:
    /// Keeps copies only. `options` are those of the plan: a table by program, a callable that takes a
    /// program_id, or a vector of listings.
    ///
    /// Requires:   alignments are powers of two; what plan_nested() requires.
    /// Complexity: flatten(), and from executor_options::checks::plan on that of check_flow_plan(), from
    ///             paint on that of liveness().
    /// Throws:     unsound_plan if the plan is invalid (at any level, an address that is wrong: see arena);
    ///             allocation_error if there is no memory for the arenas; precondition_error where a
    ///             requirement is broken.
    template <detail::tree_options Options, detail::nested_mode Mode>
        requires detail::nested_kernel<Kernel> && detail::nested_chooser<Choose>
    nested_executor(program_tree const& tree, Options const& options, Mode const& mode, Kernel kernel,
                    Choose choose, executor_options const& settings = {})
        : runner_(detail::proved_nested(
                      tree, detail::flatten_with_options(tree, detail::options_of_tree(tree, options)),
                      detail::plan_in(mode), settings),
                  mode, settings),
          kernel_(std::move(kernel)), choose_(std::move(choose))
    {
    }
    template <class Options, class Mode>
        requires(!detail::tree_options<Options> || !detail::nested_mode<Mode> ||
                 !detail::nested_kernel<Kernel> || !detail::nested_chooser<Choose>)
    nested_executor(program_tree const&, Options const&, Mode const&, Kernel, Choose,
                    executor_options const& = {},
                    detail::nested_problem<Options, Mode, Kernel, Choose> = {}) = delete;

    /// Runs the root once. `steps` and `copies` of the report are those of this path: calls of the kernel,
    /// and moves between different bytes. `lower_bound` is 0.
    ///
    /// Ensures: as cpu_executor::run().
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value of any
    ///          program not bound; run_error (allocation_error, clobbered_value) with its step;
    ///          precondition_error for an answer that is none of the alternatives;
    ///          what `choose` throws; from executor_options::checks::paint on std::bad_alloc.
    run_report run() { return runner_.run(kernel_, choose_); }

    /// The bytes of an input of the root, as cpu_executor::input().
    [[nodiscard]] std::span<std::byte> input(value_id v)
    {
        return runner_.values().input(runner_.of_root(v));
    }
    /// The bytes of an output of the root, as cpu_executor::output().
    [[nodiscard]] std::span<std::byte const> output(value_id v) const
    {
        return runner_.values().output(runner_.of_root(v));
    }
    /// Sets the caller's storage for a value of the root, as cpu_executor::bind().
    void bind(value_id v, std::span<std::byte> bytes) { runner_.values().bind(runner_.of_root(v), bytes); }
    /// The same for a value of any program; a captured one is the value outside.
    void bind(tree_value v, std::span<std::byte> bytes) { runner_.values().bind(runner_.flat(v), bytes); }
    /// The same for a value that no step writes.
    template <class Bytes>
        requires detail::constant_bytes<Bytes>
    void bind(value_id v, Bytes&& constant)
    {
        runner_.values().bind_constant(runner_.of_root(v), constant);
    }
    /// The same for a value of any program.
    template <class Bytes>
        requires detail::constant_bytes<Bytes>
    void bind(tree_value v, Bytes&& constant)
    {
        runner_.values().bind_constant(runner_.flat(v), constant);
    }

    /// What runs, with the program, step and value behind each id of an error.
    [[nodiscard]] flat_tree const& flat() const { return runner_.program().flat; }
    /// Allocations since construction.
    [[nodiscard]] run_report::memory_use memory() const { return runner_.values().storage().memory().use(); }

private:
    detail::nested_runner runner_;
    Kernel kernel_;
    Choose choose_;
};

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/nested.ipp>
#endif

#endif
