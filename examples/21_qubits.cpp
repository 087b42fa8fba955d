// SPDX-License-Identifier: BSL-1.0
// A quantum circuit in which all gates commute, as in sampling and optimization on graphs: a gate for each
// pair of neighbours in a grid of qubits. A qubit that has had its last gate is measured, and can then be
// used again as another one. The order of the gates decides how many qubits the circuit needs.

#include <sublet/sublet.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

/// The steps of the longest chain, if steps on one qubit run one after another.
template <class QubitOf>
int depth_of(std::vector<std::vector<std::string>> const& steps, std::vector<sublet::node_id> const& order,
             QubitOf qubit_of)
{
    std::map<sublet::byte_count, int> depth;
    int deepest = 0;
    for (auto s : order) {
        int last = 0;
        for (auto const& name : steps[s]) last = std::max(last, depth[qubit_of(name)]);
        for (auto const& name : steps[s]) depth[qubit_of(name)] = last + 1;
        deepest = std::max(deepest, last + 1);
    }
    return deepest;
}

int main()
{
    std::vector<std::pair<std::string, std::string>> gates; // first those of the rows, as circuits are drawn
    std::string const rows = "abc", columns = "123456";
    for (char r : rows)
        for (char c = '1'; c != columns.back(); ++c) gates.push_back({{r, c}, {r, static_cast<char>(c + 1)}});
    for (char c : columns)
        for (char r = 'a'; r != rows.back(); ++r) gates.push_back({{r, c}, {static_cast<char>(r + 1), c}});

    sublet::listing<std::string> list;           // a qubit is a value of one unit, which a step prepares
    std::vector<std::vector<std::string>> steps; // the qubits of each step
    for (char r : rows)
        for (char c : columns) steps.push_back({{r, c}});
    for (auto const& [a, b] : gates) steps.push_back({a, b});
    for (auto const& qubits : steps) {
        auto step = list.step();
        if (qubits.size() == 1) step.make(qubits[0], {.bytes = 1});
        else step.read(qubits[0]).read(qubits[1]);
    }

    auto const found = sublet::order(list);
    list.order = found.order;
    auto const planned = sublet::plan_memory(list); // an offset is the number of a qubit
    std::cout << gates.size() << " gates on " << list.values() << " qubits; with reuse, as listed "
              << found.given_peak << ", in the order found " << planned.bytes()
              << "; no order needs fewer than " << found.lower_bound << '\n';

    auto const listed = sublet::order(list, sublet::node_order::method::listed).order;
    auto const own = [&](std::string const& name) { return sublet::byte_count{+list.id(name)}; };
    auto const reused = [&](std::string const& name) { return planned.offset_of(name); };
    std::cout << "steps in the longest chain: " << depth_of(steps, listed, own) << ", with reuse "
              << depth_of(steps, found.order, reused) << "\n\n";
    for (auto s : found.order) {
        if (steps[s].size() == 1)
            std::cout << "prepare " << steps[s][0] << " in " << reused(steps[s][0]) << '\n';
        else std::cout << "    gate " << steps[s][0] << ' ' << steps[s][1] << '\n';
    }
}
