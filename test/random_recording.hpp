// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_RECORDING_HPP
#define SUBLET_TEST_RANDOM_RECORDING_HPP

/// Random recordings, and their results from immediate calls on vectors and from an executor.

#include "random_source.hpp"

#include <sublet/execution/recorder.hpp>
#include <sublet/execution/storage.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

using byte_list = std::vector<std::byte>;
using bytes_of_values = std::map<sublet::value_id, byte_list>;

/// The effect of a drawn call: results depend on all that it reads; half of what it updates is kept.
struct drawn_call {
    std::vector<sublet::value_id> reads, writes;
    std::uint64_t salt = 0;

    bool updates(sublet::value_id v) const { return std::count(reads.begin(), reads.end(), v) != 0; }
    template <class Read, class Write>
    void compute(Read read, Write write) const
    {
        std::uint64_t sum = salt;
        for (sublet::value_id v : reads) sum = sublet::fold_digest(sum, sublet::digest(read(v)));
        for (sublet::value_id v : writes) {
            std::span<std::byte> const out = write(v);
            sublet::fill_noise(updates(v) ? out.first(out.size() / 2) : out, sublet::fold_digest(sum, v));
        }
    }
};

/// A recording, and the same calls for immediate execution.
template <class Call>
struct drawn_recording {
    sublet::basic_recorder<Call> net;
    std::vector<drawn_call> calls;
    std::vector<std::size_t> size;
    std::vector<sublet::value_role> role;

    sublet::recorded_value<> declare(std::size_t count, sublet::value_role its, random_source& pick)
    {
        size.push_back(count);
        role.push_back(its);
        return net.template value<std::byte>(count, its,
                                             {sublet::byte_count{1} << pick.below(5), pick.below(2)});
    }
    void add(drawn_call call)
    {
        calls.push_back(call);
        net.record(call.reads, call.writes, [call](auto const& now) {
            call.compute([&](sublet::value_id v) { return now.read(sublet::recorded_value<>{v}); },
                         [&](sublet::value_id v) { return now.write(sublet::recorded_value<>{v}); });
        });
    }
};

template <class Call = sublet::cpu_call>
drawn_recording<Call> draw_recording(random_source& pick)
{
    drawn_recording<Call> drawn;
    std::vector<sublet::value_id> there, all, outputs;
    for (sublet::value_role role :
         {sublet::value_role::input, sublet::value_role::state, sublet::value_role::external,
          sublet::value_role::intermediate, sublet::value_role::output})
        for (std::uint32_t n = 1 + pick.below(4); n != 0; --n) {
            sublet::value_id const v = drawn.declare(pick.below(5) == 0 ? 0 : 1 + pick.below(40), role, pick);
            if (sublet::detail::is_given(role)) there.push_back(v);
            if (role != sublet::value_role::external && role != sublet::value_role::input) all.push_back(v);
            if (role == sublet::value_role::output) outputs.push_back(v);
        }
    auto any = [&](auto const& of) { return pick.one_of(of); };
    for (std::uint32_t n = 3 + pick.below(8); n != 0; --n) {
        drawn_call call{.reads = {}, .writes = {}, .salt = pick.wide()};
        for (std::uint32_t k = pick.below(4); k != 0; --k) call.reads.push_back(any(there));
        for (std::uint32_t k = 1 + pick.below(2); k != 0; --k) {
            sublet::value_id const v = n <= outputs.size() ? outputs[n - 1] : any(all);
            if (std::count(call.writes.begin(), call.writes.end(), v) == 0) call.writes.push_back(v);
        }
        drawn.add(call);
        auto const last = sublet::step_id::of(drawn.calls.size() - 1);
        for (sublet::value_id r : call.reads)
            for (sublet::value_id w : call.writes)
                if (r != w && pick.below(2) == 0) drawn.net.may_overwrite(last, r, w);
        if (last != 0 && pick.below(4) == 0) drawn.net.after(pick.below(last), last);
        for (sublet::value_id v : call.writes) there.push_back(v);
    }
    for (sublet::value_id v : outputs)
        if (std::count(there.begin(), there.end(), v) == 0)
            drawn.add({.reads = {}, .writes = {v}, .salt = v});
    return drawn;
}

/// A value before a run: external storage is set only before the first run.
template <class Call>
byte_list given(drawn_recording<Call> const& drawn, sublet::value_id v, unsigned run)
{
    byte_list its(drawn.size[v]);
    sublet::fill_noise(std::span(its), sublet::fold_digest(run, v));
    return its;
}

/// Runs each call immediately, on vectors: outputs and states after each run.
template <class Call>
std::vector<bytes_of_values> run_immediately(drawn_recording<Call> const& drawn, unsigned runs)
{
    bytes_of_values now;
    std::vector<bytes_of_values> after;
    for (unsigned run = 0; run != runs; ++run) {
        for (sublet::value_id v = 0; v != drawn.size.size(); ++v)
            if (run == 0 || !sublet::has_role(drawn.role[v], sublet::value_role::external))
                now[v] = given(drawn, v, run);
        for (drawn_call const& call : drawn.calls)
            call.compute([&](sublet::value_id v) { return std::span<std::byte const>(now[v]); },
                         [&](sublet::value_id v) { return std::span(now[v]); });
        after.emplace_back();
        for (sublet::value_id v = 0; v != drawn.size.size(); ++v)
            if (drawn.role[v] == sublet::value_role::output || drawn.role[v] == sublet::value_role::state)
                after.back()[v] = now[v];
    }
    return after;
}

struct alignas(16) line {
    std::byte bytes[48];
};

/// The same with an executor; `named` maps an output to its id there.
template <class Call, class Executor, class Named>
std::vector<bytes_of_values> run_recorded(drawn_recording<Call> const& drawn, Executor& runs, unsigned count,
                                          Named named)
{
    std::vector<line> bound(drawn.size.size());
    auto bytes_of = [&](sublet::value_id v) { return std::span(bound[v].bytes).first(drawn.size[v]); };
    std::vector<bytes_of_values> after;
    for (unsigned run = 0; run != count; ++run) {
        for (sublet::value_id v = 0; v != drawn.size.size(); ++v) {
            byte_list const its = given(drawn, v, run);
            if (drawn.role[v] == sublet::value_role::input) {
                auto const room = runs.input(v);
                std::copy(its.begin(), its.end(), room.begin());
            } else if (run == 0 && sublet::has_role(drawn.role[v], sublet::value_role::external)) {
                std::copy(its.begin(), its.end(), bytes_of(v).begin());
                runs.bind(v, bytes_of(v));
            }
        }
        runs.run();
        after.emplace_back();
        for (sublet::value_id v = 0; v != drawn.size.size(); ++v) {
            if (drawn.role[v] == sublet::value_role::output) {
                auto const its = runs.output(named(v));
                after.back()[v] = byte_list(its.begin(), its.end());
            } else if (drawn.role[v] == sublet::value_role::state) {
                after.back()[v] = byte_list(bytes_of(v).begin(), bytes_of(v).end());
            }
        }
    }
    return after;
}
inline sublet::value_id same_id(sublet::value_id v) { return v; }

#endif
