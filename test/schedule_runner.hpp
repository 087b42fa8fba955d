// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SCHEDULE_RUNNER_HPP
#define SUBLET_TEST_SCHEDULE_RUNNER_HPP

/// Runs any schedule on a device with synthetic kernels, also invalid ones that an executor refuses.

#include <sublet/core/plan.hpp>
#include <sublet/execution/detail/operand_table.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/internal/run_order.hpp>
#include <sublet/execution/run_options.hpp>
#include <sublet/execution/step_waits.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/testing/synthetic.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

/// Results of each step, by run and position; then the contents of outputs and given storage.
using schedule_trace = std::vector<std::uint64_t>;

/// Requires: the device outlives it, and has no other user.
template <sublet::stream_device Device>
class schedule_runner {
public:
    /// `plan`: of arena mode, or null.
    schedule_runner(Device& device, sublet::detail::run_order const& order,
                    sublet::stream_schedule const& schedule, sublet::memory_plan const* plan)
        : device_(device), lowered_(order.lowered), schedule_(schedule), plan_(plan), places_(lowered_),
          blocks_(lowered_.table.buffers.size()), own_(blocks_.size())
    {
        for (std::size_t s = 0; s != schedule.streams; ++s) streams_.push_back(device.make_stream());
        for (std::size_t e = 0; e != schedule.events; ++e) events_.push_back(device.make_event());
        if (plan != nullptr)
            for (sublet::byte_count bytes : plan->arena_bytes)
                arenas_.push_back(device.allocate(bytes, 64, streams_[0]));
        for (std::size_t b = 0; b != blocks_.size(); ++b) {
            auto const& its = lowered_.table.buffers[b];
            if (its.is_planned()) {
                if (plan != nullptr) blocks_[b] = arenas_[its.pool] + plan->offset_of(its.root);
            } else {
                own_[b].resize(64);
                sublet::fill_noise(std::span(own_[b]), b);
                blocks_[b] = own_[b].data();
            }
        }
    }

    /// Queues a run after those already queued.
    void issue(std::uint64_t number)
    {
        using sublet::stream_schedule;
        if (plan_ == nullptr)
            for (std::size_t b = 0; b != blocks_.size(); ++b) {
                auto const& its = lowered_.table.buffers[b];
                if (!its.is_planned()) continue;
                if (has_role(its.role, sublet::value_role::output) && blocks_[b] != nullptr) release(b, 0);
                if (has_role(its.role, sublet::value_role::input)) allocate(b, 0);
            }
        for (std::size_t b = 0; b != blocks_.size(); ++b) {
            auto const& its = lowered_.table.buffers[b];
            if (!its.is_planned() || !has_role(its.role, sublet::value_role::input)) continue;
            std::vector<std::byte> noise(its.size);
            sublet::fill_noise(std::span(noise), 100 * number + b);
            device_.copy_to_device(blocks_[b], noise, streams_[0]);
        }
        auto& operands = operands_.emplace_back(places_.count());
        auto& written = traces_.emplace_back(lowered_.positions(), 0);
        for (sublet::stream_schedule::command const& c : schedule_.commands) {
            auto const s = streams_[c.stream];
            switch (c.what) {
            case stream_schedule::action::record: device_.record(events_[c.which], s); break;
            case stream_schedule::action::wait: device_.wait(s, events_[c.which]); break;
            case stream_schedule::action::allocate: allocate(c.which, c.stream); break;
            case stream_schedule::action::transfer_block:
                blocks_[c.which] = blocks_[c.from];
                break; // the step still reads it
            case stream_schedule::action::fill:
                device_.fill(blocks_[c.which], std::byte{0xFF}, lowered_.table.buffers[c.which].size, s);
                break;
            case stream_schedule::action::release: release(c.which, c.stream); break;
            case stream_schedule::action::launch: {
                places_.write(operands, lowered_, c.which, [this](sublet::value_id v) {
                    auto const b = lowered_.table.buffer_of[v];
                    auto const shown = lowered_.bytes[v] == sublet::no_size ? 40 : lowered_.bytes[v];
                    return std::span(blocks_[b], static_cast<std::size_t>(shown));
                });
                auto work = [number, out = &written[c.which]](auto const& call) {
                    sublet::synthetic_kernel{number}(call);
                    std::uint64_t sum = 0;
                    for (std::size_t j = 0; j != call.defs().size(); ++j)
                        if (!call.is_view(j)) // a step that makes a view reads no byte of it
                            sum = sublet::fold_digest(sum, sublet::digest(call.out(j)));
                    *out = sum;
                };
                using call_type = sublet::stream_call<typename Device::stream_type>;
                device_.launch(s, std::move(work),
                               call_type(lowered_, c.which, s, operands.data() + places_[c.which]));
                break;
            }
            }
        }
        for (std::size_t b = 0; b != blocks_.size(); ++b) { // as a caller that takes them
            auto const& its = lowered_.table.buffers[b];
            if (!its.is_planned() || !has_role(its.role, sublet::value_role::output)) continue;
            auto& taken = taken_.emplace_back(its.size);
            device_.copy_from_device(taken, blocks_[b], streams_[0]);
        }
    }

    /// Waits for all runs.
    schedule_trace finish()
    {
        device_.synchronize();
        schedule_trace all;
        for (auto const& trace : traces_) all.insert(all.end(), trace.begin(), trace.end());
        for (auto const& bytes : taken_) all.push_back(sublet::digest(bytes));
        for (auto const& bytes : own_) all.push_back(sublet::digest(bytes));
        return all;
    }

private:
    void allocate(std::size_t b, std::uint32_t s)
    {
        auto const& its = lowered_.table.buffers[b];
        blocks_[b] = device_.allocate(its.size, its.alignment, streams_[s]);
        sizes_.push_back({blocks_[b], its.size});
    }
    void release(std::size_t b, std::uint32_t s)
    {
        // The block may have another buffer's size, if that buffer handed it over.
        for (std::size_t i = sizes_.size(); i-- != 0;)
            if (sizes_[i].data == blocks_[b]) {
                device_.deallocate(blocks_[b], sizes_[i].bytes, 1, streams_[s]);
                sizes_.erase(sizes_.begin() + static_cast<std::ptrdiff_t>(i));
                break;
            }
        // The pointer stays, so that a use after release is found.
    }

    struct sized {
        std::byte* data;
        sublet::byte_count bytes;
    };

    Device& device_;
    sublet::detail::lowered_program const& lowered_;
    sublet::stream_schedule const& schedule_;
    sublet::memory_plan const* plan_;
    sublet::detail::operand_table places_;
    std::vector<typename Device::stream_type> streams_;
    std::vector<typename Device::event_type> events_;
    std::vector<std::byte*> arenas_;
    std::vector<std::byte*> blocks_;          // by buffer
    std::vector<std::vector<std::byte>> own_; // by buffer: storage that is not allocated on the device
    std::vector<sized> sizes_;                // of the blocks allocated now
    std::deque<std::vector<std::span<std::byte>>> operands_;
    std::deque<std::vector<std::uint64_t>> traces_;
    std::deque<std::vector<std::byte>> taken_;
};

#endif
