// SPDX-License-Identifier: BSL-1.0
#include "memonger.hpp"

#include <sublet/sublet.hpp>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace memonger {
namespace {

using namespace sublet;

/// A net as the library sees it. What the nets inside an operator know from outside is read by it, behind its
/// own inputs; what they write there keeps its name.
struct numbered_net {
    std::vector<std::string> name;                    // by value
    std::vector<std::vector<value_id>> reads, writes; // by operator
    std::vector<std::vector<std::string>> captured;   // by operator: read behind its own inputs
    std::vector<std::vector<node_id>> next;           // by operator: who waits for it by a control input
    std::vector<value_role> role;
    std::vector<node_id> producer; // by value: the last
    std::vector<bool> is_written_inside;
    std::map<std::string, value_id> ids;

    /// The number of a blob; one that is read before an operator writes it is the caller's.
    value_id id(std::string const& of, value_role if_new = value_role::external)
    {
        auto const [at, is_new] = ids.emplace(of, static_cast<value_id>(name.size()));
        if (is_new) {
            name.push_back(of);
            role.push_back(if_new);
            producer.push_back(no_node);
            is_written_inside.push_back(false);
        }
        return at->second;
    }

    explicit numbered_net(net_def const& net)
    {
        next.resize(net.operators.size());
        for (operator_def const& op : net.operators) {
            auto const self = static_cast<node_id>(reads.size());
            reads.emplace_back(), writes.emplace_back(), captured.emplace_back();
            for (auto const& blob : op.inputs) reads.back().push_back(id(blob));
            names seen;
            for (net_def const& inner : op.step_nets) {
                names outside(inner.external_inputs.begin(), inner.external_inputs.end());
                outside.insert(inner.external_outputs.begin(), inner.external_outputs.end());
                for (auto const& blob : outside)
                    if (ids.count(blob) != 0 && seen.insert(blob).second) {
                        captured.back().push_back(blob);
                        reads.back().push_back(id(blob));
                    }
                for (operator_def const& deep : inner.operators)
                    for (auto const& blob : deep.outputs)
                        if (outside.count(blob) != 0) is_written_inside[id(blob)] = true;
            }
            for (auto const& blob : op.controls)
                if (ids.count(blob) != 0 && producer[id(blob)] != no_node)
                    next[producer[id(blob)]].push_back(self);
            for (auto const& blob : op.outputs) {
                writes.back().push_back(id(blob, value_role::intermediate));
                producer[id(blob)] = self;
            }
        }
        for (auto const& blob : net.external_inputs)
            if (ids.count(blob) != 0) role[ids.at(blob)] = value_role::external;
    }

    snapshot program() const
    {
        return flow(
            reads.size(), name.size(), [this](node_id op) -> auto& { return next[op]; },
            [this](node_id op) -> auto& { return reads[op]; },
            [this](node_id op) -> auto& { return writes[op]; });
    }
};

/// In the nets of an operator, and in theirs, blobs that come from outside get their new names; and each
/// operator that holds such a net is told.
void rename_inside(operator_def& root, std::string const& old, std::string const& fresh)
{
    std::vector<operator_def*> open{&root};
    while (!open.empty()) {
        operator_def& op = *open.back();
        open.pop_back();
        bool knows = false;
        for (net_def& inner : op.step_nets) {
            auto replace = [&](std::vector<std::string>& all) {
                bool const found = std::find(all.begin(), all.end(), old) != all.end();
                std::replace(all.begin(), all.end(), old, fresh);
                return found;
            };
            bool const reads = replace(inner.external_inputs), writes = replace(inner.external_outputs);
            if (!reads && !writes) continue; // a blob of the same name, but of its own
            knows = true;
            for (operator_def& deep : inner.operators) {
                replace(deep.inputs), replace(deep.outputs), replace(deep.controls);
                if (!deep.step_nets.empty()) open.push_back(&deep);
            }
        }
        if (knows) op.arguments[old + ".rename"] = fresh;
    }
}

/// The blobs of a net and of all nets in its operators, whosoever they are: a new name goes down into these.
std::vector<std::string> names_within(net_def const& root)
{
    std::vector<std::string> found;
    auto add = [&found](auto const& names) { found.insert(found.end(), names.begin(), names.end()); };
    std::vector<net_def const*> open{&root};
    while (!open.empty()) {
        net_def const& net = *open.back();
        open.pop_back();
        add(net.external_inputs), add(net.external_outputs);
        for (auto const& [name, blob] : net.blobs) found.push_back(name);
        for (operator_def const& op : net.operators) {
            add(op.inputs), add(op.outputs);
            for (net_def const& inner : op.step_nets) open.push_back(&inner);
        }
    }
    return found;
}

/// Plans slots of versions: a value's slot by value.
using planner = std::function<sized_slot_plan(versioned_program const&, plan_options const&)>;

savings optimize(net_def& net, predicate const& is_eligible, planner const& plan_slots)
{
    savings result;
    result.was_planned = net.is_planned;
    if (net.is_planned) return result;
    if (net.type != "simple" && net.type != "dag" && net.type != "async_dag" &&
        net.type != "async_scheduling")
        throw net_error("'" + net.type + "' is no type of net that can be planned");

    numbered_net const all(net);
    std::vector<byte_count> bytes;
    std::vector<value_id> view_of;
    std::map<std::string, pool_id> devices{{"", 0}};
    std::vector<pool_id> device(all.name.size());
    result.has_sizes =
        std::any_of(net.blobs.begin(), net.blobs.end(), [](auto& b) { return b.second.bytes != 0; });
    for (auto const& name : all.name) {
        auto const known = net.blobs.find(name);
        bool const has_root = known != net.blobs.end() && all.ids.count(known->second.view_of) != 0;
        bytes.push_back(!result.has_sizes ? 1 : known == net.blobs.end() ? no_size : known->second.bytes);
        view_of.push_back(has_root ? all.ids.at(known->second.view_of) : no_value);
    }
    for (std::size_t op = 0; op != net.operators.size(); ++op) {
        std::string const& on = net.operators[op].device;
        bool const to_host = net.operators[op].type == "CopyGPUToCPU"; // runs there, its result is here
        auto const number =
            devices.emplace(to_host ? "" : on, static_cast<pool_id>(devices.size())).first->second;
        for (value_id v : all.writes[op]) device[v] = number;
    }
    names const kept(net.external_outputs.begin(), net.external_outputs.end());
    plan_options const by_name{
        .bytes = bytes, .role = all.role, .alias_of = view_of, .pool = device, .eligible = [&](value_id v) {
            return !kept.count(all.name[v]) && !all.is_written_inside[v] && is_eligible(all.name[v]);
        }};
    versioned_program const made = versions(all.program(), versions_for(by_name));
    if (made.violation)
        throw net_error("blob '" + all.name[made.violation->value] + "' is used before it is there");
    plan_options const options = with_versions(by_name, made);
    sized_slot_plan const plan = plan_slots(made, options);
    slot_renaming const given = name_slots(made, plan, options);

    auto const fault = check_rewrite(made.program, renamed_program(made, given),
                                     {.role = made.role,
                                      .alias_of = made.alias_of,
                                      .given_as = given.storage_of,
                                      .kept_as = given.storage_of});
    if (fault) throw net_error("the plan is wrong, and the net unchanged");

    auto const in_use = names_within(net);
    auto const numbers = unused_names("__m_shared_", given.made.size(), in_use.size(),
                                      [&](value_id i) -> auto& { return in_use[i]; });
    auto new_name = [&](std::size_t k) { return "__m_shared_" + std::to_string(numbers[k]); };
    rename(
        made, given,
        [&](step_id s, std::size_t i, std::size_t k) {
            operator_def& op = net.operators[s];
            if (i < op.inputs.size()) op.inputs[i] = new_name(k);
            else rename_inside(op, all.captured[s][i - op.inputs.size()], new_name(k));
        },
        [&](step_id s, std::size_t i, std::size_t k) { net.operators[s].outputs[i] = new_name(k); });
    names still_there(net.external_inputs.begin(), net.external_inputs.end());
    for (operator_def const& op : net.operators) {
        still_there.insert(op.inputs.begin(), op.inputs.end());
        still_there.insert(op.outputs.begin(), op.outputs.end());
    }
    for (value_id v = 0; v != all.name.size(); ++v) {
        if (has_role(all.role[v], value_role::external) || view_of[v] != no_value || bytes[v] == no_size)
            continue;
        result.before += bytes[v];
        if (still_there.count(all.name[v]) != 0) result.after += bytes[v];
        else net.blobs.erase(all.name[v]);
    }
    for (std::size_t k = 0; k != given.made.size(); ++k) {
        result.after += given.made[k].bytes;
        if (result.has_sizes) net.blobs[new_name(k)].bytes = given.made[k].bytes;
    }
    for (value_id v = 0; v != made.value_of.size(); ++v) // a view of what has a new name
        if (view_of[made.value_of[v]] != no_value && given.storage_of[v] >= given.values)
            net.blobs[all.name[made.value_of[v]]].view_of = new_name(given.storage_of[v] - given.values);
    for (operator_def& op : net.operators) // a control input stands for an operator: its first output will do
        for (auto& blob : op.controls)
            if (still_there.count(blob) == 0)
                for (std::size_t s = 0; s != all.next.size(); ++s)
                    for (std::size_t i = 0; i != all.writes[s].size(); ++i)
                        if (all.name[all.writes[s][i]] == blob) blob = net.operators[s].outputs[i];
    result.shared_blobs = given.made.size();
    net.is_planned = true;

    sharing_log const log = log_sharing(made.program, plan, options);
    for (sharing_entry const& e : log.entries) {
        if (e.from == no_value) continue;
        std::ostringstream line;
        write_entry(line, e, [&](value_id v) -> auto& { return all.name[made.value_of[v]]; });
        result.log.push_back(line.str());
    }
    return result;
}

/// Buffers of an operator list and their lives, and the plan that is made of them told to their values.
template <class Plan>
sized_slot_plan in_listed_order(versioned_program const& made, plan_options const& options, Plan plan_buffers)
{
    auto const lives = lifetimes(made.program, {.role = options.role});
    if (lives.violation) throw net_error("a blob is used before it is there");
    buffer_table const table =
        take_in_place(made.program, steps_in_order(made.program, {}), gather_buffers(lives, options));
    sized_slot_plan plan = plan_buffers(table);
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of)
        slot_of.push_back(table.buffers[b].is_planned() ? plan.slot_of[b] : no_slot);
    plan.slot_of = slot_of;
    return plan;
}

byte_count planned_bytes(buffer const& b) { return b.is_planned() ? b.size : 0; }

sized_slot_plan under_every_schedule(versioned_program const& made, plan_options const& options)
{
    auto const plan = share_by_tokens(made.program, options, {.handoffs = made.handoffs});
    if (plan.violation) throw net_error("the net has no order to run in");
    return plan;
}

predicate none_of(names const& excluded)
{
    return [&excluded](std::string const& name) { return excluded.count(name) == 0; };
}

} // namespace

savings optimize_inference_fast(net_def& net, names const& static_blobs)
{
    return optimize(net, none_of(static_blobs), [](auto const& made, auto const& options) {
        return in_listed_order(made, options, [](buffer_table const& table) {
            return share_linearly(
                table.buffers.size(), [&](buffer_id b) { return table.buffers[b].life; },
                [&](buffer_id b) { return planned_bytes(table.buffers[b]); },
                {.fit = slot_fit::grow, .pool = [&](buffer_id b) { return table.buffers[b].pool; }});
        });
    });
}

savings optimize_inference_for_dag(net_def& net, names const& static_blobs)
{
    return optimize(net, none_of(static_blobs), under_every_schedule);
}

savings share_grad_blobs(net_def& net, predicate const& is_gradient, names const& dont_share,
                         bool share_activations)
{
    auto const is_eligible = [&](std::string const& name) {
        return dont_share.count(name) == 0 && (share_activations || is_gradient(name));
    };
    return optimize(net, is_eligible, under_every_schedule);
}

savings compute_assignments(net_def& net, names const& static_blobs)
{
    return optimize(net, none_of(static_blobs), [](auto const& made, auto const& options) {
        return in_listed_order(made, options, [](buffer_table const& table) {
            auto const& buffers = table.buffers;
            auto const graph = interference(buffers.size(), [&](buffer_id b) {
                return buffers[b].is_planned() ? buffers[b].life : live_range{};
            });
            std::vector<std::vector<buffer_id>> by_pool;
            sized_slot_plan plan;
            auto const colored =
                color_graph(graph, {.by = coloring_order::by_size,
                                    .bytes = [&](buffer_id b) { return planned_bytes(buffers[b]); }});
            std::map<std::pair<slot_id, pool_id>, slot_id> slots; // a colour is a slot in each pool
            for (buffer_id b = 0; b != buffers.size(); ++b) {
                slot_id const color = planned_bytes(buffers[b]) == 0 ? no_slot : colored.plan.slot_of[b];
                plan.slot_of.push_back(no_slot);
                if (color == no_slot) continue;
                auto const at = slots.emplace(std::pair(color, buffers[b].pool), plan.slots);
                if (at.second) ++plan.slots;
                plan.slot_of.back() = at.first->second;
            }
            return plan;
        });
    });
}

std::size_t release_blobs_when_used(net_def& net, names const& dont_free)
{
    numbered_net const all(net);
    names const kept(net.external_outputs.begin(), net.external_outputs.end());
    auto const storage = aliases(all.name.size(), [&](value_id v) { // of a view, that of another blob
        auto const known = net.blobs.find(all.name[v]);
        bool const has_root = known != net.blobs.end() && all.ids.count(known->second.view_of) != 0;
        return has_root ? all.ids.at(known->second.view_of) : no_value;
    });
    std::vector<bool> stays(storage.root.size());
    for (value_id v = 0; v != all.name.size(); ++v)
        if (dont_free.count(all.name[v]) != 0 || kept.count(all.name[v]) != 0)
            stays[storage.buffer_of[v]] = true;
    std::vector<buffer_id> buffer_of;
    for (buffer_id b : storage.buffer_of) buffer_of.push_back(stays[b] ? no_buffer : storage.root[b]);
    std::size_t freed = 0;
    auto const points = releases(all.program(), all.name.size(), buffer_of, {.role = all.role});
    insert_releases(points, {}, [&](step_id i, auto blobs) {
        operator_def op;
        op.type = "Free";
        for (buffer_id b : blobs) op.inputs.push_back(all.name[b]);
        freed += blobs.size();
        net.operators.insert(net.operators.begin() + i, op);
    });
    return freed;
}

} // namespace memonger
