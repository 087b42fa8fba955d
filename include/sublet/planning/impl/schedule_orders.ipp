// SPDX-License-Identifier: BSL-1.0

/// Orders and bounds are those of order(), with a sixteenth of its work.

#include <sublet/impl/config.hpp>
#include <sublet/ordering/order.hpp>
#include <sublet/planning/detail/schedule_orders.hpp>

#include <utility>

namespace sublet::detail {

/// Without what is read early, or made in place of an operand.
SUBLET_DECL byte_count most_touched(snapshot const& p, memory_plan const& plan)
{
    table<buffer_id, step_id> counted_at(plan.buffers.size(), no_step);
    auto const results = csr_rows<step_id, value_id>::gathered(p.steps(), [&](auto add) {
        for (overwrite o : p.overwrites()) add(o.step, o.out);
    });
    byte_count most = 0;
    for (step_id s = 0; s != p.steps(); ++s) {
        for (value_id v : results[s])
            if (plan.buffer_of[v] != no_buffer) counted_at[plan.buffer_of[v]] = s;
        byte_count sum = 0;
        for (touch t : p.touches(s)) {
            buffer_id const b = plan.buffer_of[t.value];
            if (b == no_buffer || t.kind == touch::access::use_early || counted_at[b] == s) continue;
            counted_at[b] = s;
            sum = sum_fits(sum, plan.buffers[b].size) ? sum + plan.buffers[b].size : no_limit;
        }
        most = larger(most, sum);
    }
    return most;
}

SUBLET_DECL byte_count least_in_schedules(snapshot const& p, plan_options const& options,
                                          memory_plan const& plan, byte_count of_orders)
{
    if (p.steps() != p.nodes()) return smaller(of_orders, most_touched(p, plan));
    enum : unsigned char { given = 1, touched = 2, early = 4 };
    table<buffer_id, unsigned char> marks(plan.buffers.size(), 0);
    auto mark = [&](value_id v, unsigned char with) {
        if (plan.buffer_of[v] == no_buffer) return;
        marks[plan.buffer_of[v]] = static_cast<unsigned char>(marks[plan.buffer_of[v]] | with);
    };
    auto const role = options.role.tabulate(p.values(), "role");
    for (value_id v = 0; v != p.values(); ++v)
        if (has_role(role[v], value_role::input)) mark(v, given);
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) mark(t.value, t.kind == touch::access::use_early ? early : touched);
    byte_count sum = 0;
    for (buffer_id b = 0; b != marks.size(); ++b)
        if ((marks[b] & given) != 0 && ((marks[b] & early) != 0 || marks[b] == given))
            sum += plan.buffers[b].size;
    return of_orders - smaller(of_orders, sum);
}

SUBLET_DECL std::vector<std::vector<node_id>>
orders_for_schedules(snapshot const& p, plan_options const& options, byte_count enough,
                     std::uint32_t thousandths, byte_count& least)
{
    byte_count all = 0; // order() refuses sums of 64 bits
    for (byte_count size : options.bytes.tabulate(p.values(), "bytes"))
        if (size != no_size) all = all > no_size - size ? no_size : all + size;
    std::vector<std::vector<node_id>> orders(1, options.order);
    if (options.order.empty())
        for (node_id n = 0; n != p.nodes(); ++n) orders[0].push_back(n);
    if (all >> 63 != 0) return orders;
    node_order const listed = order(p, options, node_order::method::listed);
    least = listed.lower_bound;
    if (enough != no_limit && enough - smaller(enough, least) <= least / 1000 * thousandths) return {};
    if (!listed || !options.order.empty()) return orders;
    plan_options quick = options;
    quick.effort = options.effort.of(12'300'000); // six rounds of eight: about as long as a plan takes
    node_order found = order(p, quick);
    least = found.lower_bound;
    orders.push_back(std::move(found.order));
    return orders;
}

SUBLET_DECL std::uint64_t least_makespan(table<step_id, std::uint64_t> const& duration, std::size_t workers,
                                         std::uint64_t critical_path)
{
    std::uint64_t all = 0;
    for (std::uint64_t takes : duration) all += takes;
    if (workers == 0 || all == 0) return critical_path;
    return larger(critical_path, (all - 1) / workers + 1);
}

} // namespace sublet::detail
