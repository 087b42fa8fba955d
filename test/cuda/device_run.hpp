// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_CUDA_DEVICE_RUN_HPP
#define SUBLET_TEST_CUDA_DEVICE_RUN_HPP

/// A program with its inputs and bindings, to be run on the host or on a device, and the results of its runs.

#include "../random_program.hpp"
#include "synthetic.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/execution/streams.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

using device_executor = sublet::stream_executor<digesting_device, device_synthetic_kernel>;
using digests = std::vector<std::uint64_t>;

/// How a value is supplied before a run.
enum class binding_kind { nothing, input, bound_once, bound_always };

class device_run {
public:
    explicit device_run(random_program const& drawn) : p(drawn)
    {
        auto const lives = live_ranges_of(p);
        for (sublet::value_id v = 0; v != p.values(); ++v) {
            auto const role = p.class_role(v);
            bool const is_input = has_role(role, sublet::value_role::input);
            bool const is_external = has_role(role, sublet::value_role::external);
            binding_kind how = binding_kind::nothing;
            if (p.root(v) == v && lives.count(v) != 0)
                how = is_input ? binding_kind::input : binding_kind::nothing;
            else if (p.root(v) == v && p.bytes[v] != 0)
                how = is_input && !is_external ? binding_kind::bound_always : binding_kind::bound_once;
            given.push_back(how);
            if (has_role(p.role[v], sublet::value_role::output)) outputs.push_back(v);
            else if (p.root(v) == v && is_external && p.bytes[v] != 0) externals.push_back(v);
        }
    }

    std::size_t room(sublet::value_id v) const
    {
        return p.bytes[v] == sublet::no_size ? 40 : static_cast<std::size_t>(p.bytes[v]);
    }
    std::vector<std::byte> noise(sublet::value_id v, unsigned run) const
    {
        std::vector<std::byte> bytes(room(v));
        sublet::fill_noise(bytes, 1000 * run + v);
        return bytes;
    }

    /// Sequentially, each value in its own storage: by run, digests of outputs, then of externals.
    std::vector<digests> run_on_host(unsigned runs) const;
    sublet::memory_plan plan() const;

    /// Device storage for bound values.
    class blocks {
    public:
        blocks(digesting_device& device, device_run const& of)
            : device_(device), stream_(device.make_stream())
        {
            for (sublet::value_id v = 0; v != of.given.size(); ++v)
                if (of.given[v] == binding_kind::bound_once || of.given[v] == binding_kind::bound_always)
                    at_[v] = device.allocate(64, 64, stream_);
            device.synchronize(stream_);
        }
        blocks(blocks const&) = delete;
        blocks& operator=(blocks const&) = delete;
        ~blocks()
        {
            for (auto const& [v, bytes] : at_) try {
                    device_.deallocate(bytes, 64, 64, stream_);
                } catch (sublet::cuda_error const&) { // ignored in a destructor
                }
            device_.destroy_stream(stream_);
        }
        std::span<std::byte> of(sublet::value_id v, std::size_t bytes) { return {at_.at(v), bytes}; }

    private:
        digesting_device& device_;
        cudaStream_t stream_;
        std::map<sublet::value_id, std::byte*> at_;
    };

    void give(device_executor& run, blocks& bound, unsigned number) const
    {
        for (sublet::value_id v = 0; v != p.values(); ++v) {
            if (given[v] == binding_kind::nothing) continue;
            if (given[v] != binding_kind::input && number == 1) run.bind(v, bound.of(v, room(v)));
            if (given[v] != binding_kind::bound_once || number == 1) run.give(v, noise(v, number));
        }
    }
    digests take(device_executor& run) const
    {
        digests its;
        for (auto const* values : {&outputs, &externals})
            for (sublet::value_id v : *values) {
                std::vector<std::byte> bytes(
                    static_cast<std::size_t>(std::min<sublet::byte_count>(p.bytes[v], room(p.root(v)))));
                run.take(v, bytes);
                its.push_back(sublet::digest(bytes));
            }
        return its;
    }

    random_program const& p;
    std::vector<binding_kind> given; // by value
    random_program::ids outputs, externals;
};

/// Layers of branches, to be spread over streams. Each branch works in place of its own scratch.
inline random_program branches(std::uint32_t layers, std::uint32_t width, sublet::byte_count bytes)
{
    using namespace sublet;
    random_program p;
    auto value = [&](value_role role = value_role::intermediate) {
        p.bytes.push_back(bytes - 8 * (p.values() % 5));
        p.alignment.push_back(64);
        p.role.push_back(role);
        p.alias_of.push_back(no_value);
        p.pool.push_back(0);
        p.eligible.push_back(true);
        p.is_scratch.push_back(false);
        return value_id::of(p.values() - 1);
    };
    value_id from = value(value_role::input);
    for (std::uint32_t layer = 0; layer != layers; ++layer) {
        random_program::step join;
        for (std::uint32_t i = 0; i != width; ++i) {
            value_id const first = value(), room = value(), second = value();
            p.is_scratch[room] = true;
            p.nodes.push_back({{{{from}, {}, {first}, {room}, {}}}, {}});
            p.nodes.push_back({{{{first}, {}, {second}, {}, {{first, second}}}}, {}});
            join.uses.push_back(second);
        }
        from = value(layer + 1 == layers ? value_role::output : value_role::intermediate);
        join.defs.push_back(from);
        p.nodes.push_back({{join}, {}});
    }
    return p;
}

#endif
