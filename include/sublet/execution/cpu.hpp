// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_CPU_HPP
#define SUBLET_EXECUTION_CPU_HPP

/// Run a program on this machine, one step after the other, in one of three memory modes.
///
///     auto kernel = [&](sublet::cpu_call const& call) {
///         auto x = sublet::as<float>(call.in(0));
///         auto y = sublet::as<float>(call.out(0));
///         my_operation(ir.operations[call.step], x, y);
///     };
///     sublet::cpu_executor executor{program, options, sublet::arena{plan}, kernel};
///     read_image(sublet::as<float>(executor.input(image)));
///     executor.run();
///     show(sublet::as<float>(executor.output(result)));
///
/// One functor is the kernel of the whole program: it knows your operations, the executor knows where their
/// operands lie. This is the reference executor: it proves a plan before it runs it, and can watch it.

#include <sublet/analysis/buffers.hpp>
#include <sublet/checking/check_plan.hpp>
#include <sublet/contract.hpp>
#include <sublet/execution/cpu_call.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/tape.hpp>
#include <sublet/execution/watch.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/per_value.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

struct executor_options {
    check_level check = check_level::plan;
    bool prove = true;               ///< false: at any level, run even what the plan check would refuse
    byte_count limit = no_limit;     ///< of what is allocated at once
    memory_source upstream = {};     ///< a pointer to any std::pmr::memory_resource
    per_value<bool> scratch = false; ///< defined by one step and used by none
};

struct run_report {
    memory_use run;             ///< while running; peaks count what was there before as well
    byte_count reserved = 0;    ///< held from run to run: the arenas, as they were allocated
    byte_count plan_bytes = 0;  ///< what the plan asks for; 0 without one
    byte_count lower_bound = 0; ///< what no plan in this order goes below
    std::size_t steps = 0;
};

/// Runs a program, again and again.
///
///     external, state, not eligible, of unknown size     bind() your storage once
///     input                                              input() before every run, and fill it
///     output                                             output() after a run, until the next input()
///
/// Of the modes, `no_plan` and `recycle` allocate while running, `arena` when it is constructed. An executor
/// can be moved, and all spans stay; what was moved from runs nothing.
template <class Kernel>
class cpu_executor {
public:
    /// Nothing of program, options and mode is kept but what was copied.
    ///
    /// Requires:   alignments are powers of two; scratch is defined by one step and used by none.
    /// Complexity: that of tape_of(), and of check_plan() from check_level::plan on.
    /// Throws:     unsound_plan if the plan or the order does not hold (at any level where a place is outside
    ///             of its arena); allocation_error if there is no memory for the arenas; precondition_error
    ///             where a requirement is broken.
    template <program P, memory_mode Mode>
        requires cpu_kernel<Kernel> // asked of the class, it would go unnamed in errors where it is deduced
    cpu_executor(P const& p, plan_options const& options, Mode const& mode, Kernel kernel,
                 executor_options const& how = {})
        : cpu_executor(std::move(kernel), as_snapshot(p), options, mode, how)
    {
    }

    /// The bytes of an input, to be filled before a run. Outputs of the last run end here: an input may lie
    /// where they lie.
    ///
    /// Throws: precondition_error if v is no input or its storage is to be bound; allocation_error.
    template <id_like V>
    [[nodiscard]] std::span<std::byte> input(V const& v)
    {
        value_id const value = checked(v);
        buffer_id const b = tape_.table.buffer_of[value];
        buffer const& its = tape_.table.buffers[b];
        expect_idle();
        SUBLET_EXPECTS(has_role(its.role, value_role::input), "sublet: input() is asked for no input");
        SUBLET_EXPECTS(its.is_planned() || its.size == 0, "sublet: storage of this input is to be bound");
        has_results_ = false;
        if (its.is_planned()) {
            values_.provide(tape_, b);
            detail::make_usable(values_.bytes_of(b));
        }
        is_there_[b] = 1;
        return values_.shown_by(tape_, value);
    }

    /// The bytes of an output after a run.
    ///
    /// Throws: precondition_error if v is no output; unusable_value if no run has made it, or an input has
    ///         been given since.
    template <id_like V>
    [[nodiscard]] std::span<std::byte const> output(V const& v) const
    {
        value_id const value = checked(v);
        SUBLET_EXPECTS(has_role(tape_.table.buffers[tape_.table.buffer_of[value]].role, value_role::output),
                       "sublet: output() is asked for no output");
        if (!has_results_)
            throw unusable_value(value, "is an output: it is there after a run, until the next input()");
        return values_.shown_by(tape_, value);
    }

    /// The caller's storage for a value that is external, state, not eligible or of unknown size, and for all
    /// views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment.
    template <id_like V>
    void bind(V const& v, std::span<std::byte> bytes)
    {
        value_id const value = checked(v);
        buffer_id const b = tape_.table.buffer_of[value];
        buffer const& its = tape_.table.buffers[b];
        expect_idle();
        SUBLET_EXPECTS(!its.is_planned(), "sublet: storage is bound for a value that is planned");
        if (its.size != no_size && bytes.size() < its.size)
            throw unusable_value(value, "is larger than the storage that is bound for it");
        for (std::size_t view = 0; its.size == no_size && view != tape_.bytes.size(); ++view)
            if (tape_.table.buffer_of[view] == b && tape_.bytes[view] != no_size &&
                tape_.bytes[view] > bytes.size())
                throw unusable_value(static_cast<value_id>(view),
                                     "is larger than the storage that is bound for what it is a view of");
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % its.alignment != 0)
            throw unusable_value(value,
                                 "has an alignment, and the storage that is bound for it does not keep it");
        values_.bind(b, bytes);
        is_there_[b] = 1;
    }
    /// The same for what no step writes.
    template <id_like V, class Bytes>
        requires(std::convertible_to<Bytes, std::span<std::byte const>> &&
                 !std::convertible_to<Bytes, std::span<std::byte>> &&
                 (std::is_lvalue_reference_v<Bytes> || // a temporary container would dangle
                  std::ranges::enable_borrowed_range<std::remove_cvref_t<Bytes>>))
    void bind(V const& v, Bytes&& constant)
    {
        SUBLET_EXPECTS(tape_.first_write[tape_.table.buffer_of[checked(v)]] == no_step,
                       "sublet: constant storage is bound for a value that a step writes");
        std::span<std::byte const> const bytes = constant;
        bind(v, std::span<std::byte>(const_cast<std::byte*>(bytes.data()), bytes.size()));
    }

    /// Runs every step once.
    ///
    /// Ensures: outputs can be read. If it throws: all storage but the arenas is given back and inputs have
    ///          to be given again, then it may run again; what state values hold may be half updated.
    /// Throws:  unusable_value before anything runs, if an input is not given or an external value not bound;
    ///          run_error (allocation_error, clobbered_value) with its step; from check_level::paint on
    ///          std::bad_alloc.
    run_report run()
    {
        expect_idle();
        expect_storage();
        struct ending { // whatever happens
            cpu_executor& mine;
            bool is_done = false;
            ~ending()
            {
                mine.is_running_ = false;
                mine.has_results_ = is_done;
                for (buffer_id b : mine.owed_)
                    if (mine.tape_.table.buffers[b].is_planned()) mine.is_there_[b] = 0;
                if (is_done) mine.values_.end(mine.tape_);
                else mine.values_.release_all(mine.tape_);
            }
        } end{*this};
        is_running_ = true;
        has_results_ = false;
        values_.begin(tape_);
        values_.memory().mark();
        if (check_ < check_level::paint) {
            run_steps([](auto) {}, [](auto) {});
        } else {
            detail::run_watch<run_tape> watch(tape_, values_, check_ == check_level::digest);
            run_steps([&](step_id at) { watch.before(at); }, [&](step_id at) { watch.after(at); });
            watch.finish();
        }
        end.is_done = true;
        run_report report{.run = values_.memory().use_since_mark(),
                          .plan_bytes = plan_bytes_,
                          .lower_bound = lower_bound_,
                          .steps = tape_.step_at.size()};
        for (auto const& block : values_.arenas()) report.reserved += block.size;
        return report;
    }

    /// What has been allocated since this executor was made.
    [[nodiscard]] memory_use const& memory() const { return values_.memory().use(); }

private:
    template <class Mode>
    cpu_executor(Kernel kernel, snapshot const& p, plan_options const& options, Mode const& mode,
                 executor_options const& how)
        : tape_(tape_of(p, options, how.scratch)),
          values_(tape_, prove(p, options, mode, how), counted_memory(how.upstream, how.limit)),
          kernel_(std::move(kernel)), check_(how.check), lower_bound_(live_peak(tape_)),
          is_there_(tape_.holds.size(), 0)
    {
        for (std::size_t b = 0; b != tape_.holds.size(); ++b) {
            buffer const& its = tape_.table.buffers[b];
            bool const is_owed = !its.is_planned() || has_role(its.role, value_role::input);
            if (is_owed && tape_.holds[b] != 0 && its.size != 0) owed_.push_back(static_cast<buffer_id>(b));
        }
        if constexpr (std::same_as<Mode, arena>)
            for (byte_count bytes : mode.plan.arena_bytes) plan_bytes_ = checked_add(plan_bytes_, bytes);
    }

    template <class Mode>
    static Mode const& prove(snapshot const& p, plan_options const& options, Mode const& mode,
                             executor_options const& how)
    {
        if constexpr (std::same_as<Mode, arena>)
            if (how.prove && how.check != check_level::off)
                if (auto const why = check_plan(p, mode.plan, options)) throw unsound_plan(*why);
        return mode;
    }

    template <class V>
    value_id checked(V const& v) const
    {
        value_id const value = detail::as_id(v);
        SUBLET_EXPECTS(value < tape_.bytes.size(),
                       "sublet: an executor is asked for a value that does not exist");
        return value;
    }

    void expect_idle() const
    {
        SUBLET_EXPECTS(!is_running_, "sublet: an executor is used by its own kernel");
    }

    void expect_storage() const
    {
        for (buffer_id b : owed_) {
            if (is_there_[b]) continue;
            buffer const& its = tape_.table.buffers[b];
            throw unusable_value(
                its.root, its.is_planned() ? "is an input, and was not given since the last run"
                                           : "has storage of the caller's, and none is bound: see bind()");
        }
    }

    template <class Before, class After>
    void run_steps(Before before, After after)
    {
        cpu_call call(tape_, values_);
        for (step_id at = 0; at != tape_.positions(); ++at) {
            call.position = at;
            call.step = tape_.step_at[at];
            values_.before(tape_, at);
            before(at);
            try {
                kernel_(std::as_const(call));
            } catch (...) {
                throw run_error(call.step, std::current_exception());
            }
            after(at);
            values_.after(tape_, at);
        }
    }

    run_tape tape_;
    detail::value_storage<run_tape> values_;
    Kernel kernel_;
    check_level check_;
    byte_count lower_bound_;
    byte_count plan_bytes_ = 0;
    std::vector<buffer_id> owed_;         // the caller's to bind once, or to give before every run
    std::vector<unsigned char> is_there_; // by buffer: bound or given
    bool is_running_ = false;
    bool has_results_ = false;
};

} // namespace sublet

#endif
