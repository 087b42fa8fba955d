// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_SIMPLE_DEVICE_HPP
#define SUBLET_TEST_SIMPLE_DEVICE_HPP

/// A minimal device: it runs everything immediately, in host memory.

#include <sublet/core/units.hpp>
#include <sublet/execution/device.hpp>
#include <sublet/execution/run_options.hpp>

#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <set>
#include <span>

struct simple_device {
    using stream_type = int;
    using event_type = int;

    int make_stream() { return *streams.insert(next++).first; }
    int make_event() { return *events.insert(next++).first; }
    void destroy_stream(int s) { streams.erase(s); }
    void destroy_event(int e) { events.erase(e); }
    void record(int, int) {}
    void wait(int, int) {}
    std::byte* allocate(sublet::byte_count bytes, sublet::byte_count alignment, int)
    {
        void* const block = ::operator new(bytes, std::align_val_t{alignment});
        blocks[block] = alignment;
        return static_cast<std::byte*>(block);
    }
    void deallocate(std::byte* block, sublet::byte_count, sublet::byte_count alignment, int)
    {
        if (blocks.erase(block) == 1) ::operator delete(block, std::align_val_t{alignment});
    }
    void fill(std::byte* p, std::byte with, sublet::byte_count n, int)
    {
        if (n != 0) std::memset(p, static_cast<int>(with), n);
    }
    void copy_to_device(std::byte* to, std::span<std::byte const> from, int)
    {
        if (!from.empty()) std::memcpy(to, from.data(), from.size());
    }
    void copy_from_device(std::span<std::byte> to, std::byte const* from, int)
    {
        if (!to.empty()) std::memcpy(to.data(), from, to.size());
    }
    template <class Kernel, class Call>
    void launch(int, Kernel& kernel, Call const& call)
    {
        kernel(call);
    }
    void synchronize(int) {}
    void synchronize() {}
    bool is_lost() const { return false; }

    int next = 0;
    std::set<int> streams{}, events{};
    std::map<void*, sublet::byte_count> blocks{};
};
static_assert(sublet::stream_device<simple_device>);

#endif
