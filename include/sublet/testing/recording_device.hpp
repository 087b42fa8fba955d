// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TESTING_RECORDING_DEVICE_HPP
#define SUBLET_TESTING_RECORDING_DEVICE_HPP

/// A device that records its commands as data and forwards them to an inner device.
///
///     sublet::recording_device device(inner); // executor -> recording_device -> inner
///     sublet::stream_executor run{device, program, options, sublet::arena{plan}, kernel};
///     run.run();
///     if (auto const valid = device.check(); !valid) std::cout << valid.error();
///
/// The check covers every order in which a device may execute the recorded commands, not only the observed
/// one. Bytes that were allocated elsewhere are checked too, as one block that always exists.

#include <sublet/checking/check_streams.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/internal/device_features.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sublet {

/// Handles are those of the inner device, so its kernels can be launched. A command that the inner device
/// refuses is not recorded.
/// Requires: the inner device outlives this one, and gets no other commands meanwhile.
template <stream_device Inner>
class recording_device {
public:
    using stream_type = typename Inner::stream_type;
    using event_type = typename Inner::event_type;

    /// Records what is passed on to `inner`.
    explicit recording_device(Inner& inner) : inner_(&inner) { forget(); }

    // --- recorded commands --------------------------------------------------------------------------------

    /// What was recorded since construction or forget().
    [[nodiscard]] stream_commands const& commands() const noexcept { return list_; }
    /// True, or the first fault among them. `is_whole`: all blocks must have been released.
    [[nodiscard]] verdict check(bool is_whole = false) const { return check_streams(list_, is_whole); }
    /// Starts a new recording: current blocks are given, and all queued work counts as done.
    void forget()
    {
        list_ = {};
        list_.streams = streams_.size();
        list_.blocks.push_back({.bytes = no_size, .is_given = true}); // bytes allocated elsewhere
        std::erase_if(blocks_, [](block const& b) { return b.is_released; });
        for (block& b : blocks_) {
            b.number = static_cast<std::uint32_t>(list_.blocks.size());
            list_.blocks.push_back({.bytes = b.bytes, .is_given = true});
        }
        for (event const& its : events_)
            if (its.is_recorded)
                list_.operations.push_back({stream_commands::operation_kind::record, 0, its.number});
    }

    // --- a stream_device ----------------------------------------------------------------------------------

    [[nodiscard]] bool is_lost() const { return inner_->is_lost(); }
    /// As the device that it records, if that has batches.
    [[nodiscard]] auto batch()
        requires requires(Inner& inner) { inner.batch(); }
    {
        return inner_->batch();
    }

    [[nodiscard]] stream_type make_stream()
    {
        streams_.reserve(streams_.size() + 1);
        stream_type const made = inner_->make_stream();
        streams_.push_back(made);
        list_.streams = streams_.size();
        return made;
    }
    void destroy_stream(stream_type s) { inner_->destroy_stream(s); }
    [[nodiscard]] event_type make_event()
    {
        events_.reserve(events_.size() + 1);
        event_type const made = inner_->make_event();
        std::erase_if(events_, [&](event const& its) { return its.handle == made; }); // a destroyed event
        events_.push_back({made, events_made_++});
        return made;
    }
    void destroy_event(event_type e) { inner_->destroy_event(e); }
    void record(event_type e, stream_type s)
    {
        inner_->record(e, s);
        event& its = event_of(e);
        add(stream_commands::operation_kind::record, s, its.number);
        its.is_recorded = true;
    }
    void wait(stream_type s, event_type e)
    {
        inner_->wait(s, e);
        add(stream_commands::operation_kind::wait, s, event_of(e).number);
    }

    [[nodiscard]] std::byte* allocate(byte_count bytes, byte_count alignment, stream_type s)
    {
        std::byte* const data = inner_->allocate(bytes, alignment, s);
        if (bytes == 0) return data;
        auto const number = static_cast<std::uint32_t>(list_.blocks.size());
        std::size_t const first = first_after(address(data)), last = first_after(address(data) + bytes - 1);
        bool const overlaps_previous = first != 0 && blocks_[first - 1].end() > address(data);
        auto const begin = blocks_.begin();
        auto const at = blocks_.erase(begin + static_cast<std::ptrdiff_t>(first - overlaps_previous),
                                      begin + static_cast<std::ptrdiff_t>(last));
        blocks_.insert(at, {data, bytes, number});
        list_.blocks.push_back({.bytes = bytes});
        add(stream_commands::operation_kind::allocate, s, number);
        return data;
    }
    void deallocate(std::byte* data, byte_count bytes, byte_count alignment, stream_type s)
    {
        inner_->deallocate(data, bytes, alignment, s);
        block* const its = bytes == 0 ? nullptr : block_containing(address(data));
        if (its == nullptr) return;
        add(stream_commands::operation_kind::release, s, its->number);
        its->is_released = true;
    }

    void fill(std::byte* to, std::byte with, byte_count bytes, stream_type s)
    {
        inner_->fill(to, with, bytes, s);
        touch(add(stream_commands::operation_kind::work, s, no_step), {to, detail::to_size(bytes)}, true);
    }
    void copy_to_device(std::byte* to, std::span<std::byte const> from, stream_type s)
    {
        inner_->copy_to_device(to, from, s);
        touch(add(stream_commands::operation_kind::work, s, no_step), {to, from.size()}, true);
    }
    void copy_from_device(std::span<std::byte> to, std::byte const* from, stream_type s)
    {
        inner_->copy_from_device(to, from, s);
        touch(add(stream_commands::operation_kind::work, s, no_step), {from, to.size()}, false);
    }
    void digest(stream_type s, std::span<std::byte const> bytes, std::uint64_t* digest)
        requires detail::takes_digests<Inner>
    {
        inner_->digest(s, bytes, digest);
        touch(add(stream_commands::operation_kind::work, s, no_step), bytes, false);
    }

    /// The operands of the call are the bytes that the kernel touches: it reads its uses, and writes scratch
    /// and all results that are no mere views.
    template <class Kernel, class Call>
        requires detail::launches<Inner, Kernel, Call>
    void launch(stream_type s, Kernel&& kernel, Call const& call)
    {
        inner_->launch(s, std::forward<Kernel>(kernel), call);
        step_id step = no_step;
        if constexpr (requires { step_id{call.step}; }) step = call.step;
        std::uint32_t const at = add(stream_commands::operation_kind::work, s, step);
        if constexpr (requires { call.uses()[0], call.in(0), call.defs()[0], call.out(0); }) {
            for (std::size_t i = 0; i != call.uses().size(); ++i)
                touch(at, call.in(i), false, call.uses()[i]);
            for (std::size_t j = 0; j != call.defs().size(); ++j)
                if (!call.is_view(j)) touch(at, call.out(j), true, call.defs()[j]);
            for (std::size_t k = 0; k != call.scratch_count(); ++k) touch(at, call.scratch(k), true);
        }
    }

    void synchronize(stream_type s)
    {
        inner_->synchronize(s);
        add(stream_commands::operation_kind::join, s, no_step);
    }
    void synchronize()
    {
        inner_->synchronize();
        list_.operations.push_back({.what = stream_commands::operation_kind::join_all});
    }

private:
    struct block {
        std::byte const* data;
        byte_count bytes;
        std::uint32_t number;
        bool is_released = false;
        byte_count end() const { return address(data) + bytes; }
    };
    struct event {
        event_type handle;
        std::uint32_t number;
        bool is_recorded = false;
    };

    static byte_count address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

    std::uint32_t add(stream_commands::operation_kind what, stream_type s, std::uint32_t which)
    {
        // Backwards: a reused handle names the stream that was made last.
        std::size_t i = streams_.size();
        while (i != 0 && !(streams_[i - 1] == s)) --i;
        SUBLET_EXPECTS(i != 0, "sublet: a command names a stream that the device does not have");
        list_.operations.push_back({what, static_cast<std::uint32_t>(i - 1), which});
        return static_cast<std::uint32_t>(list_.operations.size() - 1);
    }
    /// Events are mostly used in order: the search starts where the last one ended.
    event& event_of(event_type e)
    {
        for (std::size_t i = 0; i != events_.size(); ++i, ++hint_) {
            if (hint_ >= events_.size()) hint_ = 0;
            if (events_[hint_].handle == e) return events_[hint_];
        }
        SUBLET_EXPECTS(false, "sublet: a command names an event that the device does not have");
        return events_.front();
    }

    std::size_t first_after(byte_count at) const
    {
        auto const is_below = [](byte_count byte, block const& b) { return byte < address(b.data); };
        return static_cast<std::size_t>(std::upper_bound(blocks_.begin(), blocks_.end(), at, is_below) -
                                        blocks_.begin());
    }
    block* block_containing(byte_count at)
    {
        std::size_t const next = first_after(at);
        return next != 0 && at < blocks_[next - 1].end() ? &blocks_[next - 1] : nullptr;
    }
    void touch(std::uint32_t at, std::span<std::byte const> bytes, bool writes, value_id value = no_value)
    {
        if (bytes.empty()) return;
        byte_count const begin = address(bytes.data());
        detail::byte_access access{at, 0, begin, begin + bytes.size(), value, writes};
        if (block const* const its = block_containing(begin)) {
            access.space = its->number;
            access.begin -= address(its->data);
            access.end -= address(its->data);
        }
        list_.touches.push_back(access);
    }

    Inner* inner_;
    std::vector<stream_type> streams_{};
    std::vector<event> events_{};
    std::vector<block> blocks_{}; // by address: the last allocations
    std::uint32_t events_made_ = 0;
    std::size_t hint_ = 0;
    stream_commands list_{};
};

} // namespace sublet

#endif
