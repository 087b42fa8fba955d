// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_RECORDER_HPP
#define SUBLET_EXECUTION_RECORDER_HPP

/// Records calls of your functions, each with the values that it reads and writes, as a program that is
/// planned and run later, any number of times. A recorded call gives access to its declared values only;
/// others throw. Source: operations with read and write blocks as in Apache SINGA (pull request 626, 2020).

#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/detail/recorded_kernel.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sublet {

/// The handle of a value: its id and its type.
template <class T = std::byte>
struct recorded_value {
    value_id id = no_value; ///< as the recorder numbers them, from 0
    /// Its id, for the executor and for reports.
    constexpr operator value_id() const noexcept { return id; }

    /// The same bytes as objects of another type.
    template <class Other>
    [[nodiscard]] constexpr recorded_value<Other> as() const noexcept
    {
        return {id};
    }
};

/// The interface of a recorded function: its operands, by the handles with which it was recorded.
///
///     recorded:   reads {x, w}, writes {y}
///     runs:       call.read(x)    the bytes of x, read-only, as objects of its type
///                 call.write(y)   the bytes of y
///                 call.read(z)    throws: z was not declared, so the call does not wait for it
///
/// `Call` is the kernel's argument: cpu_call or a device's call. Spans are valid as long as its own.
template <class Call>
class recorded_call {
public:
    /// Made by the recorder for each step that runs.
    recorded_call(Call const& step, std::span<value_id const> reads, std::span<value_id const> writes)
        : step_(&step), reads_(reads), writes_(writes)
    {
    }

    /// The bytes of v, as objects of its type.
    ///
    /// Throws: precondition_error if the call was not recorded to read v.
    template <class T>
    [[nodiscard]] std::span<T const> read(recorded_value<T> v) const
    {
        std::size_t const i = index_of(v, reads_);
        SUBLET_EXPECTS(i != reads_.size(),
                       "sublet: a recorded function reads value %, which it has not declared to read", v.id);
        return sublet::as<T>(step_->in(i));
    }

    /// For a value that the call reads too, the bytes that it reads; otherwise bytes without contents, all of
    /// which the call must write.
    /// Throws: precondition_error if the call was not recorded to write v.
    template <class T>
    [[nodiscard]] std::span<T> write(recorded_value<T> v) const
    {
        std::size_t const i = index_of(v, reads_), j = index_of(v, writes_);
        SUBLET_EXPECTS(j != writes_.size(),
                       "sublet: a recorded function writes value %, which it has not declared to write",
                       v.id);
        SUBLET_EXPECTS(i == reads_.size() || step_->in(i).data() == step_->out(j).data(),
                       "sublet: the updated value % has two storages; its versions must share one", v.id);
        return sublet::as<T>(step_->out(j));
    }

    /// The call of the executor: the step, a stream.
    [[nodiscard]] Call const& step() const { return *step_; }

private:
    static std::size_t index_of(value_id v, std::span<value_id const> list)
    {
        std::size_t i = 0;
        while (i != list.size() && list[i] != v) ++i;
        return i;
    }

    Call const* step_;
    std::span<value_id const> reads_, writes_;
};

/// Records a program call by call, to be planned and run any number of times.
///
///     sublet::recorder net;
///     auto x = net.input<float>(784), y = net.output<float>(10), w = net.state<float>(7840);
///     net.record({x, w}, {y}, [=](auto& call) { multiply(call.read(x), call.read(w), call.write(y)); });
///     net.record({y, w}, {w}, [=](auto& call) { step_down(call.read(y), call.write(w)); });
///     auto planned = sublet::plan_memory(net, net.options());
///     sublet::cpu_executor run{net, net.options(), sublet::arena{planned.plan}, net.kernel()};
///
/// A recording models `program`. Nothing runs while it is made, and no value has an address yet. A parameter
/// is a state value: a run reads it, then updates it, and the next run reads the update.
///
///     run 1:   w ─► y ─► w        run 2:   w ─► y ─► w        its storage is the caller's throughout
///                         └────────────────┘
///
/// Models `program`: one node per call, in the order of recording. Regular; a copy is independent. `Call` is
/// the type of the executor's call: see recorded_call. A member that throws changes nothing.
template <class Call>
class basic_recorder {
public:
    /// The values of one call: `{x, y}`, or any list of handles or ids.
    class list {
    public:
        /// In this order.
        list(std::initializer_list<value_id> values) : values_(values) {}
        /// In the order of the range.
        template <detail::id_range<value_id> R>
        list(R const& values)
        {
            for (auto const& v : values) values_.push_back(v);
        }
        /// Their ids.
        [[nodiscard]] std::span<value_id const> values() const { return values_; }

    private:
        std::vector<value_id> values_;
    };
    /// What a value needs besides its bytes.
    struct storage {
        byte_count alignment = 1; ///< combined with the alignment of its type
        pool_id pool = 0;         ///< where it lies
    };

    /// Declares a value of `count` objects. The functions below are named after the roles.
    /// Throws: precondition_error if its bytes exceed 64 bits, or an alignment is 0.
    template <class T>
        requires std::is_trivially_copyable_v<T>
    recorded_value<T> value(std::size_t count, value_role role, storage its = {})
    {
        SUBLET_EXPECTS(bytes_.size() + 1 < no_value, "sublet: more values than 32-bit ids");
        SUBLET_EXPECTS(its.alignment != 0, "sublet: an alignment is 0");
        byte_count const bytes = checked_multiply(count, sizeof(T));
        byte_count const alignment = detail::combine_alignment(alignof(T), its.alignment);
        detail::reserve_more(alignment_), detail::reserve_more(bytes_), detail::reserve_more(role_),
            detail::reserve_more(pool_);
        detail::reserve_more(is_defined_), detail::reserve_more(is_updated_);
        alignment_.push_back(alignment);
        bytes_.push_back(bytes);
        role_.push_back(role);
        pool_.push_back(its.pool);
        is_defined_.push_back(detail::is_given(role));
        is_updated_.push_back(0);
        return {value_id::of(bytes_.size() - 1)};
    }
    /// Supplied before each run.
    template <class T>
    recorded_value<T> input(std::size_t count, storage its = {})
    {
        return value<T>(count, value_role::input, its);
    }
    /// Can be read after each run.
    template <class T>
    recorded_value<T> output(std::size_t count, storage its = {})
    {
        return value<T>(count, value_role::output, its);
    }
    /// Written and read within a run; if it is never read, its bytes last for its call only.
    template <class T>
    recorded_value<T> intermediate(std::size_t count, storage its = {})
    {
        return value<T>(count, value_role::intermediate, its);
    }
    /// In the caller's storage, which runs only read.
    template <class T>
    recorded_value<T> external(std::size_t count, storage its = {})
    {
        return value<T>(count, value_role::external, its);
    }
    /// In the caller's storage; its contents are kept between runs.
    template <class T>
    recorded_value<T> state(std::size_t count, storage its = {})
    {
        return value<T>(count, value_role::state, its);
    }

    /// Records a call; returns its step. A value that it reads and writes is updated in place; a value that
    /// it only writes must be written completely, and may get other storage than at the call before.
    ///
    /// Requires: the function touches values through its call only, and what it refers to outlives all runs.
    /// Ensures:  the function is kept by value, and copied with the recording and into each kernel.
    /// Throws:   precondition_error if a value was not declared, or is read before a call writes it.
    template <class F>
        requires std::invocable<F&, recorded_call<Call> const&> && std::copy_constructible<F>
    step_id record(list const& reads, list const& writes, F function)
    {
        for (value_id v : reads.values()) {
            expect_declared(v);
            SUBLET_EXPECTS(is_defined_[v],
                           "sublet: a recorded call reads value %, which no call has written yet", v);
        }
        for (value_id v : writes.values()) expect_declared(v);
        SUBLET_EXPECTS(functions_.size() + 1 < no_step, "sublet: more steps than 32-bit ids");
        detail::reserve_more(successors_), detail::reserve_more(pairs_),
            detail::reserve_more(is_recomputable_);
        reads_.reserve_more(reads.values().size());
        writes_.reserve_more(writes.values().size());
        functions_.emplace_back(std::move(function)); // nothing throws from here on
        successors_.emplace_back();
        pairs_.emplace_back();
        is_recomputable_.push_back(0);
        for (value_id v : reads.values()) reads_.append(v);
        for (value_id v : writes.values()) {
            for (value_id read : reads.values())
                if (read == v) is_updated_[v] = 1;
            writes_.append(v);
            is_defined_[v] = 1;
        }
        reads_.close_row();
        writes_.close_row();
        return step_id::of(functions_.size() - 1);
    }

    /// The call may write `out` over `in` if `in` is not needed later: it reads each byte before writing it.
    /// Throws: precondition_error if the call does not read `in` and write `out`.
    void may_overwrite(step_id call, value_id in, value_id out)
    {
        expect_recorded(call);
        SUBLET_EXPECTS(is_listed(reads_[call], in) && is_listed(writes_[call], out),
                       "sublet: call % may not overwrite value % by value %: it does not read the one, or "
                       "does not write the other",
                       call, in, out);
        pairs_[call].push_back({call, in, out});
    }

    /// The call is a function of what it reads, without other effects: advise_memory() may run it again.
    void may_recompute(step_id call)
    {
        expect_recorded(call);
        is_recomputable_[call] = 1;
    }

    /// `second` runs after `first`, whatever values they touch.
    /// Throws: precondition_error unless `first` was recorded before `second`.
    void after(step_id first, step_id second)
    {
        expect_recorded(second);
        SUBLET_EXPECTS(first < second,
                       "sublet: after() names call % before call %, against the order of their recording",
                       first, second);
        successors_[node_of(first)].push_back(node_of(second));
    }

    /// As `program` requires it: one for each call.
    [[nodiscard]] std::size_t nodes() const { return functions_.size(); }
    /// How many values are declared.
    [[nodiscard]] std::size_t values() const { return bytes_.size(); }
    /// Those of after().
    [[nodiscard]] std::span<node_id const> successors(node_id n) const { return successors_[n]; }
    /// Edges order calls, and carry no value.
    [[nodiscard]] static constexpr edge_meaning edges() { return edge_meaning::order; }
    /// What the call reads and writes, and what it may overwrite.
    void effects(node_id n, effect_sink& sink) const
    {
        auto const call = step_id::of(+n); // a node is one call
        for (value_id v : reads_[call]) sink.use(v);
        for (value_id v : writes_[call]) sink.def(v);
        for (overwrite pair : pairs_[call]) sink.may_overwrite(pair.in, pair.out);
        sink.may_recompute(is_recomputable_[call] != 0);
    }

    /// Sizes, alignments, roles and pools of the values; pools have no limits yet.
    [[nodiscard]] plan_options options() const
    {
        return {.bytes = bytes_, .alignment = alignment_, .role = role_, .pool = pool_};
    }
    /// Values that some call both reads and writes. A plan for any order is made for versions, and the
    /// versions of such a value share their bytes:
    ///
    ///     auto made = sublet::versions(net, net.options(), net.updated());
    ///     auto any_order = sublet::plan_concurrent(made.program, sublet::with_versions(net.options(), made));
    [[nodiscard]] per_value<bool> updated() const { return is_updated_; }

    /// For an executor; it owns copies of all functions.
    [[nodiscard]] auto kernel() const { return detail::recorded_kernel<Call>(reads_, writes_, functions_); }

private:
    void expect_declared(value_id v) const
    {
        SUBLET_EXPECTS(v < bytes_.size(), "sublet: a call is recorded with value %, which was not declared",
                       v);
    }
    void expect_recorded(step_id call) const
    {
        SUBLET_EXPECTS(call < functions_.size(), "sublet: call %, which was not recorded, is named", call);
    }
    static node_id node_of(step_id call) { return node_id::of(+call); }
    static bool is_listed(std::span<value_id const> values, value_id v)
    {
        for (value_id listed : values)
            if (listed == v) return true;
        return false;
    }

    table<value_id, byte_count> bytes_, alignment_;
    table<value_id, value_role> role_;
    table<value_id, pool_id> pool_;
    table<value_id, unsigned char> is_defined_; // given, or written by a recorded call
    table<value_id, unsigned char> is_updated_;
    csr_rows<step_id, value_id> reads_, writes_; // by call
    table<node_id, std::vector<node_id>> successors_;
    table<step_id, std::vector<overwrite>> pairs_;
    table<step_id, unsigned char> is_recomputable_;
    table<step_id, detail::recorded_function<Call>> functions_;
};

/// For cpu_executor and thread_executor, both of which call a kernel with a cpu_call.
using recorder = basic_recorder<cpu_call>;

} // namespace sublet

#endif
