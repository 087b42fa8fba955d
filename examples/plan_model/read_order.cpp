// SPDX-License-Identifier: BSL-1.0

#include "read_order.hpp"

#include <charconv>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace plan_model {
namespace {

using sublet::node_id;
using sublet::value_id;

std::vector<node_id> read_permutation(std::string const& file, std::size_t operations)
{
    std::error_code none;
    if (std::filesystem::is_directory(file, none)) throw input_error(file + ": is a directory, not an order");
    std::ifstream in(file);
    if (!in) throw input_error(file + ": cannot be read, or does not exist");
    std::vector<node_id> order;
    std::vector<bool> named(operations);
    std::size_t line = 0;
    for (std::string text; std::getline(in, text);) {
        ++line;
        while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.pop_back();
        if (text.empty()) continue;
        auto const where = file + ": line " + std::to_string(line);
        std::uint32_t n = 0;
        auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
        if (error != std::errc{} || end != text.data() + text.size() || n >= operations)
            throw input_error(where + " is not the index of one of the " + std::to_string(operations) +
                              " nodes, which are counted from 0");
        if (named[n]) throw input_error(where + " names node " + std::to_string(n) + " again");
        named[n] = true;
        order.push_back(n);
    }
    if (in.bad() || order.size() != operations)
        throw input_error(file + ": names " + std::to_string(order.size()) + " nodes, and the model has " +
                          std::to_string(operations));
    return order;
}

/// A mutation defines no value, so data dependences do not fix its position.
void check_mutations(std::string const& file, network const& net, std::vector<node_id> const& order)
{
    std::vector<std::size_t> position_of(order.size());
    for (std::size_t i = 0; i != order.size(); ++i) position_of[order[i]] = i;

    // By root: the last operation that touched it so far, and the last that mutated it.
    std::vector<node_id> touched(net.values.size(), sublet::no_node), mutated = touched;
    std::vector<value_id> root_of;
    for (value_id v = 0; v != net.values.size(); ++v) { // a view comes after its base
        value_id const of = net.values[v].alias_of;
        root_of.push_back(of == sublet::no_value ? v : root_of[of]);
    }
    auto must_follow = [&](node_id later, node_id earlier, value_id v) {
        if (earlier == sublet::no_node || earlier == later || position_of[earlier] < position_of[later])
            return;
        throw input_error(file + ": " + net.operations[later].label + " must run after " +
                          net.operations[earlier].label + ", because one of them mutates value " +
                          quoted(net.values[v].name));
    };
    for (node_id n = 0; n != net.operations.size(); ++n) {
        operation const& op = net.operations[n];
        for (value_id v : op.mutated) must_follow(n, touched[root_of[v]], v);
        for (value_id v : op.inputs)
            if (v != sublet::no_value) must_follow(n, mutated[root_of[v]], v);
        for (value_id v : op.inputs) {
            if (v == sublet::no_value) continue;
            node_id& last = touched[root_of[v]];
            if (last == sublet::no_node || position_of[last] < position_of[n]) last = n;
        }
        for (value_id v : op.mutated) mutated[root_of[v]] = n;
    }
}

} // namespace

std::vector<node_id> read_order(std::string const& file, network const& net)
{
    std::vector<node_id> order = read_permutation(file, net.operations.size());
    check_mutations(file, net, order);
    return order;
}

} // namespace plan_model
