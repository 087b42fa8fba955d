// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_RUN_NETWORK_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_RUN_NETWORK_HPP

/// Runs a network with synthetic kernels: each byte of a result depends on each byte of the operands, so runs
/// that end with the same digest read the same values everywhere.

#include "network.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution.hpp>
#include <sublet/execution/storage.hpp>
#include <sublet/execution/threads.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <vector>

namespace plan_model {

/// A kernel for every operation: each byte that it writes depends on each byte that it reads. It writes its
/// results, except for views, and the operands that the file declares as written, even if they are views.
struct network_kernel {
    network const* net = nullptr;

    /// Complexity: O(bytes of operands and results), no allocation.
    template <class Call>
    void operator()(Call const& call) const
    {
        std::uint64_t sum = call.step;
        auto const uses = call.uses(), defs = call.defs();
        for (std::size_t i = 0; i != uses.size(); ++i) // in any order
            sum += sublet::fold_digest(uses[i], sublet::digest(call.in(i)));
        std::size_t at = 0;
        auto write = [&](sublet::value_id v) {
            while (defs[at] != v) at = at + 1 == defs.size() ? 0 : at + 1;
            sublet::fill_noise(call.out(at), sublet::fold_digest(sum, v));
        };
        operation const& op = net->operations[call.step];
        for (sublet::value_id v : op.outputs)
            if (v != sublet::no_value && net->values[v].alias_of == sublet::no_value) write(v);
        for (sublet::value_id v : op.mutated) write(v);
        if (op.scratch != sublet::no_value) sublet::fill_noise(call.scratch(), sum);
    }
};

/// Weights and other external storage, in one block. Storage that no operation writes is a window of one
/// noise buffer, as long as the largest of them; storage that is written (a trained weight) has bytes of its
/// own.
class external_storage {
public:
    /// Allocates nothing before storage is bound.
    external_storage(network const& net, sublet::byte_count alignment) : alignment_(alignment)
    {
        std::vector<bool> written(net.values.size());
        auto write = [&](sublet::value_id v) {
            for (; v != sublet::no_value && !written[v]; v = net.values[v].alias_of) written[v] = true;
        };
        for (operation const& op : net.operations) {
            for (auto v : op.mutated) write(v);
            for (auto v : op.outputs) write(v);
        }
        std::vector<sublet::byte_count> needed(net.values.size(), 64); // of unknown size: room for its views
        for (auto v = static_cast<sublet::value_id>(net.values.size()); v-- != 0;) { // views come later
            network_value const& value = net.values[v];
            if (value.bytes != sublet::no_size) needed[v] = value.bytes;
            if (value.alias_of != sublet::no_value)
                needed[value.alias_of] = std::max(needed[value.alias_of], needed[v]);
        }
        for (sublet::value_id v = 0; v != net.values.size(); ++v) {
            if (!has_role(net.values[v].role, sublet::value_role::external)) continue;
            windows_.push_back({v, 0, needed[v], written[v]});
            if (!written[v]) end_ = std::max(end_, windows_.back().size);
        }
        for (window& w : windows_) {
            if (!w.is_written) continue;
            w.begin = sublet::align_up(end_, alignment);
            end_ = sublet::checked_add(w.begin, w.size);
        }
    }

    /// Binds all of it, with its initial contents.
    template <class Executor>
    void bind(Executor& run)
    {
        if (block_.empty()) block_.resize(total_bytes());
        sublet::fill_noise(bytes(0, end_), ~std::uint64_t{0});
        for (window const& w : windows_) {
            std::span<std::byte> const storage = bytes(w.begin, w.size);
            std::span<std::byte const> const constant = storage;
            if constexpr (requires { run.bind(w.value, constant); }) {
                if (w.is_written) run.bind(w.value, storage);
                else run.bind(w.value, constant);
            } else { // a device has no constants
                run.bind(w.value, storage);
            }
        }
    }

    /// The digest of the contents after runs.
    std::uint64_t result_digest()
    {
        std::uint64_t sum = 0;
        for (window const& w : windows_)
            if (w.is_written) sum = sublet::fold_digest(sum, sublet::digest(bytes(w.begin, w.size)));
        return sum;
    }

    sublet::byte_count total_bytes() const { return sublet::checked_add(end_, alignment_ - 1); }

private:
    struct window {
        sublet::value_id value;
        sublet::byte_count begin, size;
        bool is_written;
    };

    std::span<std::byte> bytes(sublet::byte_count begin, sublet::byte_count size)
    {
        void* first = block_.data();
        std::size_t room = block_.size();
        std::align(alignment_, end_, first, room);
        return std::span(static_cast<std::byte*>(first) + begin, size);
    }

    sublet::byte_count alignment_, end_ = 0;
    std::vector<window> windows_;
    std::vector<std::byte> block_;
};

/// Binds storage and writes inputs, the same before every run.
template <class Executor>
void set_inputs(Executor& execute, network const& net, external_storage& external)
{
    external.bind(execute);
    for (sublet::value_id v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::input)) sublet::fill_noise(execute.input(v), v);
}

/// The digest of all results.
template <class Executor>
std::uint64_t result_digest(Executor& execute, network const& net, external_storage& external)
{
    std::uint64_t sum = external.result_digest();
    for (sublet::value_id v = 0; v != net.values.size(); ++v)
        if (has_role(net.values[v].role, sublet::value_role::output))
            sum = sublet::fold_digest(sum, sublet::digest(execute.output(v)));
    return sum;
}

/// The result of a run in one memory mode.
struct mode_run {
    std::uint64_t outputs = 0;         ///< digest of all results
    sublet::byte_count peak_bytes = 0; ///< of planned buffers, without external storage
    std::uint64_t allocations = 0;     ///< of planned buffers, including arenas
};

/// Runs the steps serially, in the order of the options.
///
/// Throws: what the executor throws.
template <class Mode>
mode_run run(network const& net, sublet::snapshot const& program, sublet::plan_options const& options,
             Mode const& mode, external_storage& external, sublet::executor_options const& how = {})
{
    sublet::cpu_executor execute{program, options, mode, network_kernel{&net}, how};
    set_inputs(execute, net, external);
    sublet::run_report const report = execute.run();
    return {.outputs = result_digest(execute, net, external),
            .peak_bytes = report.run.bytes.peak,
            .allocations = execute.memory().allocations.total};
}

/// A topological order of the positions under their waits that always takes the last ready position.
inline std::vector<sublet::position_id> latest_first(sublet::step_waits const& waits)
{
    std::vector<sublet::position_id> order;
    std::vector<std::size_t> waits_for;
    std::priority_queue<sublet::position_id> ready;
    for (sublet::position_id at = 0; at != waits.before.rows(); ++at) {
        waits_for.push_back(waits.before[at].size());
        if (waits_for.back() == 0) ready.push(at);
    }
    while (!ready.empty()) {
        order.push_back(ready.top());
        ready.pop();
        for (sublet::position_id next : waits.after[order.back()])
            if (--waits_for[next] == 0) ready.push(next);
    }
    return order;
}

/// The same for a plan for every schedule: in the order of the plan, or always the last ready step first.
template <class Mode>
mode_run run_any_order(network const& net, sublet::snapshot const& program,
                       sublet::plan_options const& options, Mode const& mode, bool last_first,
                       external_storage& external, sublet::executor_options const& how = {})
{
    sublet::thread_options one{.workers = 1};
    if (last_first) {
        sublet::thread_executor const first{program, options, mode, network_kernel{}, one, how};
        one.policy = sublet::queue_policy::given;
        one.order = latest_first(first.waits());
    }
    sublet::thread_executor execute{program, options, mode, network_kernel{&net}, one, how};
    set_inputs(execute, net, external);
    sublet::run_report const report = execute.run();
    return {.outputs = result_digest(execute, net, external),
            .peak_bytes = report.run.bytes.peak,
            .allocations = execute.memory().allocations.total};
}

} // namespace plan_model

#endif
