// SPDX-License-Identifier: BSL-1.0
// The audio graph of a synthesis server: units pass blocks of samples on in wires, buffers of equal size, and
// most of them may write their result over an input. Servers sort the units depth first, and give each result
// the lowest free wire: no assignment takes fewer wires in this order. Another order takes fewer.

#include <sublet/sublet.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <vector>

struct unit {
    std::vector<unsigned> inputs; // units: it reads their results
    bool reads_early;             // before it writes: its result may take the wire of an input
    bool is_output;               // it adds its input to the signal of the loudspeakers, and has no result
};

/// Random units: each reads up to three results of the sixteen units before it.
std::vector<unit> make_patch(unsigned count)
{
    std::vector<unit> units;
    std::vector<bool> is_read(count);
    std::uint32_t state = 1;
    auto below = [&](unsigned limit) { // the next number of a linear congruential generator
        state = state * 1664525 + 1013904223;
        return (state >> 16) % limit;
    };
    for (unsigned u = 0; u != count; ++u) {
        unit made{{}, below(4) != 0, false};
        for (unsigned i = below(4); u != 0 && i != 0; --i) {
            made.inputs.push_back(u - 1 - below(u < 16 ? u : 16));
            is_read[made.inputs.back()] = true;
        }
        units.push_back(made);
    }
    for (unsigned u = 0; u != count; ++u)
        if (!is_read[u]) units.push_back({{u}, true, true});
    return units;
}

/// The order of a server: of the units that can run, the one that became able to last.
std::vector<unsigned> depth_first_order(std::vector<unit> const& units)
{
    std::vector<std::vector<unsigned>> readers(units.size());
    std::vector<std::size_t> missing(units.size());
    std::vector<unsigned> ready, order;
    for (unsigned u = 0; u != units.size(); ++u) {
        for (unsigned i : units[u].inputs) readers[i].push_back(u);
        missing[u] = units[u].inputs.size();
    }
    for (auto u = static_cast<unsigned>(units.size()); u-- != 0;)
        if (missing[u] == 0) ready.push_back(u);
    while (!ready.empty()) {
        order.push_back(ready.back());
        ready.pop_back();
        for (unsigned r : readers[order.back()])
            if (--missing[r] == 0) ready.push_back(r);
    }
    return order;
}

/// How many wires a server takes: a result has the lowest free one, and its last reader frees it.
unsigned greedy_wires(std::vector<unit> const& units, std::vector<unsigned> const& order)
{
    std::vector<unsigned> reads(units.size()), wire_of(units.size());
    for (unit const& u : units)
        for (unsigned i : u.inputs) ++reads[i];
    std::set<unsigned> unused;
    unsigned wires = 0;
    for (unsigned u : order) {
        auto free_inputs = [&] {
            for (unsigned i : units[u].inputs)
                if (--reads[i] == 0) unused.insert(wire_of[i]);
        };
        if (units[u].reads_early) free_inputs();
        if (!units[u].is_output) {
            if (unused.empty()) unused.insert(wires++);
            wire_of[u] = *unused.begin();
            unused.erase(unused.begin());
        }
        if (!units[u].reads_early) free_inputs();
    }
    return wires;
}

int main()
{
    auto const units = make_patch(200);
    sublet::byte_count const wire = 64 * sizeof(float);
    sublet::listing<unsigned> list; // a result is named by its unit
    for (unsigned u = 0; u != units.size(); ++u) {
        auto step = list.step();
        for (unsigned i : units[u].inputs)
            if (units[u].reads_early) step.read_early(i);
            else step.read(i);
        if (!units[u].is_output) step.make(u, {.bytes = wire});
    }

    auto const depth_first = depth_first_order(units);
    list.order.assign(depth_first.begin(), depth_first.end());
    auto const as_in_server = sublet::plan_memory(list);
    auto const found = sublet::order(list);
    list.order = found.order;
    auto const reordered = sublet::plan_memory(list);
    std::cout << units.size() << " units, " << list.values() << " results; wires of " << wire << " bytes:\n"
              << "depth first, greedy     " << greedy_wires(units, depth_first) << '\n'
              << "depth first, planned    " << as_in_server.bytes() / wire << '\n'
              << "order found, planned    " << reordered.bytes() / wire << "; no order needs fewer than "
              << found.lower_bound / wire << '\n';
}
