// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_STREAM_EXECUTOR_BASE_HPP
#define SUBLET_EXECUTION_DETAIL_STREAM_EXECUTOR_BASE_HPP

/// The base of stream_executor: storage of values on a device, digests of their contents, and the transfer of
/// inputs and outputs. A run costs O(touches) host operations for digests and storage.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/executor_base.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/graph/concepts.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// --- digests ---------------------------------------------------------------------------------------------

/// Compares digests of values on the device with those that their producers left.
///
///     stream 0   launch 0   digest a → 0   record 0           the host compares at the end:
///     stream 1                       wait 0   digest a → 1   launch 1        0 with 1
///
/// A digest is taken after the step that writes a value, and before each step that accesses it, on the stream
/// of that step, so it needs no wait of its own. The pairs to compare are fixed at construction.

namespace sublet::detail {

class stream_digests {
public:
    explicit stream_digests(lowered_program const& lowered);

    /// Each calls `take(buffer, digest)` for every digest due at that point of the stream.
    template <class Take>
    void at_start(Take take)
    {
        each(0, take);
    }
    template <class Take>
    void before(position_id at, Take take)
    {
        each(1 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void after(position_id at, Take take)
    {
        each(2 + 2 * std::size_t{at}, take);
    }
    template <class Take>
    void at_end(Take take)
    {
        each(1 + 2 * lowered_.step_at.size(), take);
    }

    /// The first change in program order, after all digests are taken. `plan`: of the arenas, or null.
    [[nodiscard]] std::optional<clobbered_value::finding> first_change(memory_plan const* plan) const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    struct sample {
        buffer_id id;
        position_id at;
        std::uint32_t reference; ///< index of the producer's digest; `none`: this is one
    };

    buffer const& its(buffer_id b) const { return lowered_.table.buffers[b]; }
    step_id step(position_id at) const { return at == no_position ? no_step : lowered_.step_at[at]; }
    void end_row() { row_end_.push_back(digest_samples_.size()); }

    template <class Take>
    void each(std::size_t row, Take take)
    {
        for (std::size_t i = row == 0 ? 0 : row_end_[row - 1]; i != row_end_[row]; ++i)
            take(digest_samples_[i].id, &digest_[i]);
    }

    /// Finds the next buffer in program order that is written over those bytes, cyclically from the producer.
    void find_culprit(clobbered_value::finding& found, buffer_id b, position_id producer,
                      memory_plan const& plan) const;

    lowered_program const& lowered_;
    std::vector<sample> digest_samples_;
    std::vector<std::size_t> row_end_; // end of each row: start, {before, after} each step, end
    std::vector<std::uint64_t> digest_;
};

// --- storage ---------------------------------------------------------------------------------------------

/// The bytes of values on a device: blocks allocated in stream order, or offsets in arenas.
///
///     allocate(b, stream 1) ──► launch ... (stream 1) ──► release(b, stream 0)   after a wait for stream 1
///     host: counts 64 bytes                                host: counts 64 bytes less
///
/// The schedule decides when. Counters change when a command is issued, so `live` is what a single stream
/// would hold, without the memory that a device keeps for delayed frees.

/// A stream of a device as a memory resource.
template <stream_device Device>
struct stream_pool_source {
    Device& device;
    typename Device::stream_type stream;
    bool skips_device = false; ///< frees do not reach the device: it is lost, or never had the block

    void* allocate(std::size_t bytes, std::size_t alignment)
    {
        return device.allocate(bytes, alignment, stream);
    }
    void deallocate(void* block, std::size_t bytes, std::size_t alignment)
    {
        if (!skips_device) device.deallocate(static_cast<std::byte*>(block), bytes, alignment, stream);
    }
};

/// Its destructor releases nothing.
template <stream_device Device>
class stream_storage {
public:
    using stream_type = typename Device::stream_type; ///< the stream of the device

    /// Throws: precondition_error for an alignment that is no power of two.
    stream_storage(Device& device, stream_type first, lowered_program const& lowered, byte_count limit)
        : source_{device, first}, memory_(&source_, limit), lowered_(lowered)
    {
        for (buffer const& b : lowered.table.buffers) {
            SUBLET_EXPECTS(!b.is_planned() || (b.alignment & (b.alignment - 1)) == 0,
                           "sublet: value % has the alignment %, but an executor takes only powers of two",
                           b.root, b.alignment);
            capacity_.push_back(b.size);
        }
        where_.assign(capacity_.size(), nullptr);
        blocks_.resize(capacity_.size());
    }
    stream_storage(stream_storage const&) = delete; // memory_ refers to source_
    stream_storage& operator=(stream_storage const&) = delete;

    /// In a growing arena, or in blocks of its own.
    /// Throws: as expect_placed(); allocation_error.
    void place(memory_plan const& plan, arena_blocks* shared = nullptr)
    {
        expect_placed(lowered_, plan);
        table<pool_id, byte_count> const alignment = arena_alignments(lowered_, plan);
        if (shared != nullptr) {
            arena_bytes_ = plan.arena_bytes;
            user_ = shared->add_user();
            shared_ = shared;
        }
        arenas_.resize(plan.arena_bytes.size());
        for (pool_id pool = 0; pool != arenas_.size(); ++pool) {
            byte_count const size = plan.arena_bytes[pool];
            if (size == 0) continue;
            if (shared == nullptr) arenas_[pool] = take(size, alignment[pool], no_step);
            else arenas_[pool] = {shared->address_for(pool, size, alignment[pool]), size, alignment[pool]};
        }
        for (buffer_id b = 0; b != where_.size(); ++b) {
            buffer const& its = lowered_.table.buffers[b];
            if (its.is_planned()) where_[b] = arenas_[its.pool].bytes + plan.offset_of(its.root);
        }
    }

    struct block {
        std::byte* bytes = nullptr;
        byte_count size = 0;
        byte_count alignment = 1;
    };
    [[nodiscard]] std::span<block const> arenas() const { return arenas_; }
    /// What was written here is still there: no other executor has used the same growing arena since.
    [[nodiscard]] bool holds_arena() const { return shared_ == nullptr || shared_->is_used_by(user_); }
    /// Gets the bytes of a growing arena. Throws: allocation_error.
    void take_arena() { shared_->use_for(user_, arena_bytes_); }
    [[nodiscard]] counted_memory& memory() { return memory_; }
    [[nodiscard]] counted_memory const& memory() const { return memory_; }

    [[nodiscard]] std::span<std::byte> bytes_of(buffer_id b) const
    {
        return {where_[b], where_[b] == nullptr ? 0 : static_cast<std::size_t>(capacity_[b])};
    }
    [[nodiscard]] std::span<std::byte> value_bytes(value_id v) const
    {
        return part_of(lowered_, v, bytes_of(lowered_.table.buffer_of[v]));
    }

    void bind(buffer_id b, std::span<std::byte> bytes)
    {
        where_[b] = bytes.data();
        capacity_[b] = bytes.size();
    }

    /// `step` is reported in allocation_error.
    void allocate(buffer_id b, stream_type stream, step_id step)
    {
        source_.stream = stream;
        blocks_[b] = take(capacity_[b], lowered_.table.buffers[b].alignment, step);
        where_[b] = blocks_[b].bytes;
    }
    /// Allocates outside of any step, unless b has a block; returns whether it did.
    bool provide(buffer_id b, stream_type stream)
    {
        if (!arenas_.empty() || blocks_[b].bytes != nullptr) return false;
        allocate(b, stream, no_step);
        return true;
    }
    void transfer_block(buffer_id from, buffer_id to)
    {
        blocks_[to] = std::exchange(blocks_[from], {});
        where_[to] = blocks_[to].bytes; // where_[from] stays: the step reads it
    }
    /// Does nothing if there is no block.
    void release(buffer_id b, stream_type stream)
    {
        source_.stream = stream;
        if (blocks_[b].bytes != nullptr) give_back(blocks_[b]);
        if (arenas_.empty() && lowered_.table.buffers[b].is_planned()) where_[b] = nullptr;
    }
    /// Releases all that match, even if some fail. Throws: the first error.
    template <class Predicate>
    void release_if(Predicate matches, stream_type stream)
    {
        std::exception_ptr refusal;
        for (buffer_id b = 0; b != blocks_.size(); ++b) try {
                if (matches(lowered_.table.buffers[b].role)) release(b, stream);
            } catch (...) {
                if (!refusal) refusal = std::current_exception();
            }
        if (refusal) std::rethrow_exception(refusal);
    }
    void release_arenas(stream_type stream) noexcept
    {
        if (shared_ != nullptr) return;
        source_.stream = stream;
        for (block& a : arenas_) try {
                if (a.bytes != nullptr) give_back(a);
            } catch (...) {
            }
    }

    /// While set, releases are kept from the device.
    void skip_device(bool skips_device) { source_.skips_device = skips_device; }

private:
    block take(byte_count size, byte_count alignment, step_id step)
    {
        try {
            return {static_cast<std::byte*>(memory_.allocate(size, alignment)), size, alignment};
        } catch (...) {
            throw allocation_error(step, size, std::current_exception());
        }
    }
    void give_back(block& b)
    {
        block const old = std::exchange(b, {}); // released once, even if the device throws
        memory_.deallocate(old.bytes, old.size, old.alignment);
    }

    stream_pool_source<Device> source_;
    counted_memory memory_;
    lowered_program const& lowered_;
    table<buffer_id, block> blocks_;
    table<pool_id, block> arenas_;
    table<buffer_id, std::byte*> where_;
    table<buffer_id, byte_count> capacity_;  // for the caller's storage, the bytes that were bound
    arena_blocks* shared_ = nullptr;         // the growing arena that owns arenas_, or null
    std::uint64_t user_ = 0;                 // of it
    table<pool_id, byte_count> arena_bytes_; // of it
};

// --- stream executor base --------------------------------------------------------------------------------

/// Transfer of inputs and outputs if the bytes lie on a device.
///
///     bind(weights, address)  once ──┐
///     give(image, bytes)     per run ┴─► run ──► take(scores, bytes)    until the next input
///
/// After an error, it waits until the device is idle, releases storage, then throws. It never calls a lost
/// device.

/// How far the commands of a run have been issued.
struct issue_progress {
    step_id step = no_step; ///< the last that was launched, or is being launched
    bool is_launching = false;
};

/// A command failed on the device, now or earlier.
class device_error : public run_error {
public:
    /// `reached`: the last step that was launched, or `no_step` after the run.
    explicit device_error(std::exception_ptr cause, step_id reached = no_step) : run_error(no_step, cause, {})
    {
        text_ = {};
        text_ << "sublet: in a run on streams, the device failed at ";
        if (reached == no_step) text_ << "a step that it does not name";
        else text_ << "step " << reached << " or before it";
        write_cause(text_, cause);
    }
};

/// Sets a flag while kernels may run.
class kernels_running {
public:
    explicit kernels_running(bool& are_running) noexcept : are_running_(are_running) { are_running_ = true; }
    kernels_running(kernels_running const&) = delete;
    kernels_running& operator=(kernels_running const&) = delete;
    ~kernels_running() { are_running_ = false; }

private:
    bool& are_running_;
};

/// Owns streams and events of a device; nothing is queued in them at destruction.
template <stream_device Device>
class stream_handles {
public:
    explicit stream_handles(Device& device) : device_(device) {}
    stream_handles(stream_handles const&) = delete;
    stream_handles& operator=(stream_handles const&) = delete;
    ~stream_handles()
    {
        for (auto e : events) device_.destroy_event(e);
        for (auto s : streams) device_.destroy_stream(s);
    }
    void ensure(std::size_t streams_wanted, std::size_t events_wanted)
    {
        streams.reserve(streams_wanted);
        events.reserve(events_wanted);
        while (streams.size() < streams_wanted) streams.push_back(device_.make_stream());
        while (events.size() < events_wanted) events.push_back(device_.make_event());
    }

    std::vector<typename Device::stream_type> streams{};
    std::vector<typename Device::event_type> events{};

private:
    Device& device_;
};

/// The interface of stream_executor for values. Addresses are device addresses.
template <stream_device Device>
class stream_executor_base {
public:
    using stream_type = typename Device::stream_type;

    /// The bytes of an input on the device, which you may write when this returns. Waits for issued runs, and
    /// ends the validity of their outputs: an input may share bytes with them.
    /// Throws: precondition_error if v is no input or has storage of the caller's, or the device is lost;
    ///         allocation_error; errors of synchronize().
    [[nodiscard]] std::span<std::byte> input(value_id v)
    {
        expect_input(v);
        synchronize();
        provide(v);
        synchronize(); // waits for the allocation
        return values_.value_bytes(v);
    }

    /// Copies an input, or the contents of bound storage, to the device, after the runs issued so far. The
    /// source may be changed when this returns.
    /// Throws: as input(), without errors of runs; precondition_error if the size differs from that of v.
    void give(value_id v, std::span<std::byte const> bytes)
    {
        expect_device();
        bindings_.expect_value(lowered_, v);
        if (!is_bound(v)) expect_input(v);
        byte_count const has = is_bound(v) ? values_.value_bytes(v).size() : lowered_.bytes[v];
        SUBLET_EXPECTS(bytes.size() == has, "sublet: value % is given with % bytes, but it has %", v,
                       bytes.size(), has);
        if (!is_bound(v)) provide(v);
        std::span<std::byte> const to = values_.value_bytes(v);
        is_idle_ = false;
        try {
            device_.copy_to_device(to.data(), bytes, first_);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    /// The bytes of an output on the device, after the issued runs are over.
    /// Throws: precondition_error if v is no output; unusable_value if no run has computed it, or an input
    ///         has been given since; errors of synchronize().
    [[nodiscard]] std::span<std::byte const> output(value_id v)
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_output(lowered_, v);
        synchronize();
        bindings_.expect_results(v, has_results_ && values_.holds_arena());
        return values_.value_bytes(v);
    }

    /// Copies an output, or the contents of bound storage, to the host.
    /// Throws: as output(); precondition_error if the size differs from that of v.
    void take(value_id v, std::span<std::byte> bytes)
    {
        bindings_.expect_value(lowered_, v);
        synchronize();
        std::span<std::byte const> const from =
            is_bound(v) ? std::span<std::byte const>(values_.value_bytes(v)) : output(v);
        SUBLET_EXPECTS(bytes.size() == from.size(), "sublet: value % is taken with % bytes, but it has %", v,
                       bytes.size(), from.size());
        try {
            kernels_running const now(are_kernels_running_);
            device_.copy_from_device(bytes, from.data(), first_);
            device_.synchronize(first_);
        } catch (...) {
            fail(std::current_exception());
        }
    }

    /// Sets the caller's storage on the device for a value that is external, state, not eligible or of
    /// unknown size, and for all views of it. It stays bound.
    ///
    /// Requires: the bytes outlive all runs, and nothing else changes them during one; storage bound for two
    ///           values does not overlap.
    /// Throws:   precondition_error if v has storage of the executor's; unusable_value if there are too few
    ///           bytes, or they do not begin at its alignment; errors of synchronize().
    void bind(value_id v, std::span<std::byte> bytes)
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_fit(lowered_, v, bytes);
        synchronize();
        buffer_id const b = lowered_.table.buffer_of[v];
        std::span<std::byte> const before = values_.bytes_of(b);
        if (bytes.data() != before.data() || bytes.size() != before.size()) ++rebinds_;
        values_.bind(b, bytes);
        bindings_.mark_supplied(b);
        are_operands_written_ = false;
    }

    /// Waits for the issued runs. Then their outputs can be read.
    ///
    /// Throws: run_error if a command of them failed, with the step if the device names it; clobbered_value.
    ///         Then all storage but the arenas is released, inputs have to be given again, and it may run
    ///         again unless the device is lost.
    void synchronize()
    {
        expect_idle();
        if (is_idle_) return;
        try {
            kernels_running const now(are_kernels_running_);
            device_.synchronize(first_);
        } catch (...) {
            fail(std::current_exception());
        }
        is_idle_ = true;
        runs_in_flight_ = 0;
        if (!std::exchange(are_digests_taken_, false)) return;
        if (auto const change = digests_->first_change(plan())) {
            forget_run();
            throw clobbered_value(*change);
        }
    }

    /// Allocations since construction, counted when issued.
    [[nodiscard]] memory_use memory() const { return values_.memory().use(); }
    /// One of the streams that it uses, numbered from 0.
    ///
    /// Throws: precondition_error if the executor does not use that stream.
    [[nodiscard]] stream_type stream(std::size_t number = 0) const
    {
        SUBLET_EXPECTS(number < handles_.streams.size(),
                       "sublet: stream() names stream %, but the executor uses only % streams", number,
                       handles_.streams.size());
        return handles_.streams[number];
    }
    /// The order that its waits keep: the lowered program and its waits.
    [[nodiscard]] run_order const& order() const { return order_; }

protected:
    stream_executor_base(Device& device, run_order order, executor_options const& settings)
        : device_(device), order_(std::move(order)), lowered_(order_.lowered), handles_(device),
          first_((handles_.ensure(1, 0), handles_.streams[0])),
          values_(device, first_, lowered_, settings.limit), check_(settings.check), bindings_(lowered_)
    {
    }
    stream_executor_base(stream_executor_base const&) = delete; // queued work refers to it
    stream_executor_base& operator=(stream_executor_base const&) = delete;
    ~stream_executor_base()
    {
        if (!wait_until_idle()) values_.skip_device(true);
        try {
            values_.release_if([](value_role) { return true; }, first_);
        } catch (...) { // ignored: the device keeps the memory
        }
        values_.release_arenas(first_);
    }

    void expect_idle() const
    {
        SUBLET_EXPECTS(!are_kernels_running_, "sublet: an executor is used by its own kernel");
    }
    void expect_device() const
    {
        expect_idle();
        SUBLET_EXPECTS(!is_lost_ && !device_.is_lost(),
                       "sublet: a device is lost, and nothing can be run on it any more");
    }
    void expect_storage()
    {
        expect_device();
        if (!values_.holds_arena()) bindings_.consume_inputs(lowered_); // another executor wrote over them
        bindings_.expect_all(lowered_);
        take_arena();
    }
    /// Does not require inputs yet.
    void expect_bound()
    {
        expect_device();
        bindings_.expect_bound(lowered_);
        take_arena();
    }
    /// Gets the bytes of a growing arena if another executor has them; waits for all work of the device then.
    void take_arena()
    {
        if (values_.holds_arena()) return;
        bindings_.consume_inputs(lowered_);
        has_results_ = false;
        values_.take_arena();
        if (check_ >= executor_options::checks::paint) paint_arenas();
    }
    void paint_arenas()
    {
        is_idle_ = false;
        for (auto const& block : values_.arenas())
            if (block.size != 0) device_.fill(block.bytes, std::byte{0xFF}, block.size, first_);
    }
    /// Discards a run, when nothing of it is in flight.
    void forget_run()
    {
        runs_in_flight_ = 0;
        has_results_ = are_digests_taken_ = false;
        if (values_.arenas().empty()) ++rebinds_;
        bindings_.consume_inputs(lowered_);
        try {
            values_.release_if([](value_role) { return true; }, first_);
        } catch (...) { // the device keeps it
        }
    }

    /// Returns whether it is idle. A device reports each failure once, then continues or is lost.
    bool wait_until_idle() noexcept
    {
        for (std::size_t tries = 0; tries != 1000 && !device_.is_lost(); ++tries) {
            try {
                kernels_running const now(are_kernels_running_);
                device_.synchronize();
                return is_idle_ = true;
            } catch (...) {
            }
        }
        is_idle_ = true; // a lost device has no work
        return false;
    }

    /// Waits until idle, releases what it can, and throws `why` with the step being launched, if any.
    [[noreturn]] void fail(std::exception_ptr why, issue_progress reached = {})
    {
        is_lost_ = !wait_until_idle();
        values_.skip_device(is_lost_);
        forget_run();
        try {
            std::rethrow_exception(why);
        } catch (run_error const&) { // has its step already
            throw;
        } catch (...) {
            // A lost device: not the kernel's error.
            if (!reached.is_launching || is_lost_) throw device_error(why, reached.step);
            throw run_error(reached.step, why);
        }
    }

    [[nodiscard]] memory_plan const* plan() const { return plan_ ? &*plan_ : nullptr; }

    Device& device_;
    run_order order_;
    lowered_program const& lowered_;
    stream_handles<Device> handles_;
    stream_type first_;
    stream_storage<Device> values_;
    std::optional<stream_digests> digests_;
    std::optional<memory_plan> plan_; ///< of the arenas
    executor_options::checks check_;
    binding_state bindings_;
    std::size_t runs_in_flight_ = 0; ///< issued since it was idle, without graphs
    std::size_t rebinds_ = 0;        ///< counts changes of the storage that a graph refers to
    bool is_idle_ = true;            ///< all issued work has been waited for
    bool has_results_ = false;
    bool are_kernels_running_ = false; ///< or may be
    bool are_digests_taken_ = false;
    bool are_operands_written_ = false; ///< for all runs: with arenas, until the next bind()

private:
    bool is_bound(value_id v) const
    {
        return !bindings_.buffer_of(lowered_, v).is_planned() &&
               bindings_.is_supplied(lowered_.table.buffer_of[v]);
    }

    void expect_input(value_id v) const
    {
        bindings_.expect_value(lowered_, v);
        bindings_.expect_input(lowered_, v);
        expect_device();
    }
    void provide(value_id v)
    {
        buffer_id const b = lowered_.table.buffer_of[v];
        take_arena();
        if (bindings_.buffer_of(lowered_, v).is_planned() && values_.provide(b, first_)) is_idle_ = false;
        has_results_ = false;
        bindings_.mark_supplied(b);
    }

    bool is_lost_ = false;
};

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/execution/impl/stream_executor_base.ipp>
#endif

#endif
