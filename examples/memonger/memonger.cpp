// SPDX-License-Identifier: BSL-1.0
#include "memonger.hpp"

#include "../statements.hpp"

#include <sublet/sublet.hpp>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace memonger {
namespace {

using namespace sublet;
using statements::in_quotes;

/// An output of an operator.
struct net_output {
    node_id op = no_node;
    std::size_t index = 0;
};

/// A net as the library's program. Each operator reads, after its own inputs, the outer blobs that its nested
/// nets use; a blob that they write keeps its name.
struct numbered_net {
    std::vector<std::string> name;                        // by value
    std::vector<std::vector<value_id>> reads, writes;     // by operator
    std::vector<std::vector<touch>> effects;              // by operator: those writes
    std::vector<std::vector<std::string>> captured;       // by operator: read after its own inputs
    std::vector<std::vector<node_id>> next;               // by operator: control successors
    std::vector<std::vector<net_output>> control_sources; // by operator: what its control inputs name
    std::vector<value_role> role;
    std::vector<net_output> producer; // by value: the last one
    std::vector<bool> keeps_storage;  // by value: a nested net writes it, or it is a view of several
    std::vector<value_id> view_of;
    buffer_classes storage; // of views, that of another blob
    std::map<std::string, value_id> ids;

    /// The number of a blob; a blob that is read before an operator writes it is external.
    value_id id(std::string const& of, value_role if_new = value_role::external)
    {
        auto const [at, is_new] = ids.emplace(of, static_cast<value_id>(name.size()));
        if (is_new) {
            name.push_back(of);
            role.push_back(if_new);
            producer.emplace_back();
            keeps_storage.push_back(false);
        }
        return at->second;
    }

    explicit numbered_net(net_def const& net)
    {
        next.resize(net.operators.size());
        control_sources.resize(net.operators.size());
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
                for (operator_def const& inner_op : inner.operators)
                    for (auto const& blob : inner_op.outputs)
                        if (outside.count(blob) != 0) keeps_storage[id(blob)] = true;
            }
            for (auto const& blob : op.controls) {
                auto const known = ids.find(blob);
                control_sources[self].push_back(known == ids.end() ? net_output() : producer[known->second]);
                if (control_sources[self].back().op != no_node)
                    next[control_sources[self].back().op].push_back(self);
            }
            for (std::size_t i = 0; i != op.outputs.size(); ++i) {
                value_id const output = id(op.outputs[i], value_role::intermediate);
                writes.back().push_back(output);
                producer[output] = {self, i};
            }
        }
        for (auto const& blob : net.external_inputs)
            if (ids.count(blob) != 0) role[ids.at(blob)] = value_role::external;
        join_views(net);
    }

    snapshot program() const
    {
        return tasks(
            reads.size(), name.size(), [this](node_id op) -> auto& { return next[op]; },
            [this](node_id op, effect_sink& sink) {
                for (value_id v : reads[op]) sink.add(touch::access::use, v);
                for (touch t : effects[op]) sink.add(t.kind, t.value);
            });
    }

private:
    /// A blob that is named by views only, and is no view itself, is external.
    void join_views(net_def const& net)
    {
        for (auto const& [view, blob] : net.blobs) {
            if (blob.view_of.empty()) continue;
            auto const base = net.blobs.find(blob.view_of);
            bool const is_view = base != net.blobs.end() && !base->second.view_of.empty();
            (void)id(view, value_role::intermediate);
            (void)id(blob.view_of, is_view ? value_role::intermediate : value_role::external);
        }
        std::vector<std::uint64_t> bytes;
        for (auto const& blob : name) {
            auto const known = net.blobs.find(blob);
            bool const is_view = known != net.blobs.end() && !known->second.view_of.empty();
            view_of.push_back(is_view ? ids.at(known->second.view_of) : no_value);
            bytes.push_back(known == net.blobs.end() ? 0 : known->second.bytes);
        }
        std::vector<value_id> seen_from(name.size(), no_value);
        for (value_id v = 0; v != name.size(); ++v) {
            value_id at = v;
            while (at != no_value && seen_from[at] == no_value) seen_from[at] = v, at = view_of[at];
            if (at != no_value && seen_from[at] == v)
                throw net_error("blob " + in_quotes(name[at]) + " is a view of itself");
        }
        storage = group_views(name.size(), [this](value_id v) { return view_of[v]; });
        std::vector<bool> is_made(name.size());
        for (auto const& written : writes)
            for (value_id v : written) {
                if (is_made[v] && view_of[v] != no_value)
                    keeps_storage[v] = true; // the text format has one `view` per blob
                is_made[v] = true;
            }
        for (value_id v = 0; v != name.size(); ++v) {
            value_id const root = storage.root[storage.buffer_of[v]];
            if (bytes[v] > bytes[root] && bytes[root] != 0)
                throw net_error("blob " + in_quotes(name[v]) + " is a view of " + in_quotes(name[root]) +
                                " and is larger: " + std::to_string(bytes[v]) + " bytes, not at most " +
                                std::to_string(bytes[root]));
        }
        expect_bases_first();
        classify_writes();
    }

    /// An operator with a view as output makes the view. It also writes through it if the view exists
    /// already, or if the operator does not touch that storage otherwise.
    void classify_writes()
    {
        std::vector<bool> is_there; // by value
        for (value_role r : role) is_there.push_back(has_role(r, value_role::external));
        std::vector<node_id> touched_by(storage.root.size(), no_node); // by storage: the last one
        for (node_id op = 0; op != writes.size(); ++op) {
            for (value_id v : reads[op]) touched_by[storage.buffer_of[v]] = op;
            for (value_id v : writes[op])
                if (view_of[v] == no_value) touched_by[storage.buffer_of[v]] = op;
            effects.emplace_back();
            for (value_id v : writes[op]) {
                bool const is_mere_view = touched_by[storage.buffer_of[v]] == op && !is_there[v];
                effects.back().push_back({v, view_of[v] == no_value ? touch::access::def
                                             : is_mere_view         ? touch::access::view
                                                                    : touch::access::write_view});
            }
            for (value_id v : writes[op]) is_there[v] = true;
        }
    }

    /// The base of a view must be defined before the view.
    void expect_bases_first() const
    {
        std::vector<bool> is_defined; // by value
        for (value_role r : role) is_defined.push_back(has_role(r, value_role::external));
        auto expect_root = [&](value_id v) {
            value_id const root = storage.root[storage.buffer_of[v]];
            if (!is_defined[root])
                throw net_error("blob " + in_quotes(name[v]) + " is a view of " + in_quotes(name[root]) +
                                ", which is not defined yet");
        };
        for (value_id v = 0; v != name.size(); ++v)
            if (is_defined[v]) expect_root(v);
        for (auto const& written : writes) {
            for (value_id v : written) is_defined[v] = true;
            for (value_id v : written) expect_root(v);
        }
    }
};

/// Renames outer blobs in the nested nets of an operator, at any depth, and tells each operator with such a
/// net its new names.
void rename_inside(operator_def& root, std::map<std::string, std::string> const& new_names)
{
    using renames = std::map<std::string, std::string>;
    auto replace = [](std::vector<std::string>& all, renames const& by, auto found) {
        for (std::string& name : all)
            if (auto const at = by.find(name); at != by.end()) {
                found(*at);
                name = at->second;
            }
    };
    std::deque<renames> known{
        new_names}; // by net: the names from outside; an inner blob may have one of them
    struct unrenamed {
        operator_def* op;
        renames const* known;
    };
    std::vector<unrenamed> open{{&root, &known.back()}};
    while (!open.empty()) {
        unrenamed const now = open.back();
        open.pop_back();
        for (net_def& inner : now.op->step_nets) {
            renames outside;
            auto note = [&outside](auto const& renamed) { outside.insert(renamed); };
            replace(inner.external_inputs, *now.known, note);
            replace(inner.external_outputs, *now.known, note);
            if (outside.empty()) continue;
            renames const& inner_names = known.emplace_back(std::move(outside));
            for (auto const& [old, name] : inner_names) now.op->arguments[old + ".rename"] = name;
            for (operator_def& inner_op : inner.operators) {
                for (auto* names : {&inner_op.inputs, &inner_op.outputs, &inner_op.controls})
                    replace(*names, inner_names, [](auto const&) {});
                if (!inner_op.step_nets.empty()) open.push_back({&inner_op, &inner_names});
            }
        }
    }
}

/// The blobs of a net and of all nested nets: new names must differ from all of them.
std::vector<std::string> all_names(net_def const& root)
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

/// The devices of the blobs. A copy to the host runs on a device, but its result is on the host.
struct blob_devices {
    std::vector<pool_id> pool;  // by value
    std::vector<bool> is_moved; // by value: operators on several devices write it

    blob_devices(net_def const& net, numbered_net const& all)
        : pool(all.name.size()), is_moved(all.name.size())
    {
        std::map<std::string, pool_id> numbers{{"", 0}};
        std::vector<bool> is_known(all.name.size());
        for (std::size_t op = 0; op != net.operators.size(); ++op) {
            bool const to_host = net.operators[op].type == "CopyGPUToCPU";
            auto const number = numbers.emplace(to_host ? "" : net.operators[op].device,
                                                static_cast<pool_id>(numbers.size()));
            for (value_id v : all.writes[op]) {
                is_moved[v] = is_moved[v] || (is_known[v] && pool[v] != number.first->second);
                is_known[v] = true;
                pool[v] = number.first->second;
            }
        }
        for (value_id v = 0; v != pool.size(); ++v)
            pool[v] = pool[all.storage.root[all.storage.buffer_of[v]]];
    }
};

/// Assigns slots to the versions; a value has the slot of its versions.
using planner = std::function<sized_slot_plan(versioned_program const&, plan_options const&)>;

savings optimize(net_def& net, predicate const& is_eligible, planner const& plan_slots)
{
    savings result;
    result.was_planned = net.is_planned;
    if (net.is_planned) return result;
    if (net.type != "simple" && net.type != "dag" && net.type != "async_dag" &&
        net.type != "async_scheduling")
        throw net_error(in_quotes(net.type) + " is no type of net that can be planned");

    numbered_net const all(net);
    auto root_of = [&all](value_id v) { return all.storage.root[all.storage.buffer_of[v]]; };
    result.has_sizes =
        std::any_of(net.blobs.begin(), net.blobs.end(), [](auto& b) { return b.second.bytes != 0; });
    std::vector<byte_count> bytes; // a view has those of its root
    for (value_id v = 0; v != all.name.size(); ++v) {
        auto const known = net.blobs.find(all.name[root_of(v)]);
        byte_count const blob_bytes =
            known == net.blobs.end() || known->second.bytes == 0 ? no_size : known->second.bytes;
        bytes.push_back(result.has_sizes ? blob_bytes : 1);
    }
    blob_devices const devices(net, all);
    names const kept(net.external_outputs.begin(), net.external_outputs.end());
    plan_options const by_name{.bytes = bytes,
                               .role = all.role,
                               .alias_of = all.view_of,
                               .pool = devices.pool,
                               .eligible = [&](value_id v) {
                                   return bytes[v] != no_size && !devices.is_moved[v] &&
                                          !kept.count(all.name[v]) && !all.keeps_storage[v] &&
                                          is_eligible(all.name[v]);
                               }};
    versioned_program const versioned = versions(all.program(), by_name);
    if (!versioned)
        throw net_error("blob " + in_quotes(all.name[versioned.error().value()]) +
                        " is used before it is defined");
    byte_count sum = 0;
    for (value_id v : versioned.value_of) {
        if (bytes[v] == no_size || all.view_of[v] != no_value) continue;
        if (bytes[v] >= sublet::no_size - sum)
            throw net_error("its blobs take more bytes than 64 bits can count");
        sum += bytes[v];
    }
    plan_options const options = with_versions(by_name, versioned);
    sized_slot_plan const plan = plan_slots(versioned, options);
    slot_renaming const renaming = name_slots(versioned, plan, options);

    auto const valid = check_rewrite(versioned.program, renamed_program(versioned, renaming),
                                     {.role = versioned.role,
                                      .alias_of = versioned.alias_of,
                                      .given_as = renaming.storage_of,
                                      .kept_as = renaming.storage_of});
    if (!valid) throw net_error("the plan is invalid, and the net unchanged");

    auto const in_use = all_names(net);
    auto const numbers = unused_names(
        "__m_shared_", renaming.new_names.size(),
        in_use.size(), [&](value_id i) -> auto& { return in_use[i]; });
    auto new_name = [&](std::size_t k) { return "__m_shared_" + std::to_string(numbers[k]); };
    std::map<step_id, std::map<std::string, std::string>> inside; // by operator: new names of captured blobs
    rename(
        versioned, renaming,
        [&](step_id s, std::size_t i, std::size_t k) {
            operator_def& op = net.operators[s];
            if (i < op.inputs.size()) op.inputs[i] = new_name(k);
            else inside[s][all.captured[s][i - op.inputs.size()]] = new_name(k);
        },
        [&](step_id s, std::size_t i, std::size_t k) { net.operators[s].outputs[i] = new_name(k); });
    for (auto const& [s, new_names] : inside) rename_inside(net.operators[s], new_names);
    for (std::size_t s = 0; s != all.control_sources.size(); ++s) // a control input stands for an operator
        for (std::size_t i = 0; i != all.control_sources[s].size(); ++i)
            if (auto const [op, index] = all.control_sources[s][i]; op != no_node)
                net.operators[s].controls[i] = net.operators[op].outputs[index];
    names remaining(net.external_inputs.begin(), net.external_inputs.end());
    for (operator_def const& op : net.operators) {
        remaining.insert(op.inputs.begin(), op.inputs.end());
        remaining.insert(op.outputs.begin(), op.outputs.end());
    }
    for (value_id v = 0; v != all.name.size(); ++v) {
        if (has_role(all.role[v], value_role::external) || all.view_of[v] != no_value || bytes[v] == no_size)
            continue;
        result.before += bytes[v];
        if (remaining.count(all.name[v]) != 0) result.after += bytes[v];
        else net.blobs.erase(all.name[v]);
    }
    for (std::size_t k = 0; k != renaming.new_names.size(); ++k) {
        result.after += renaming.new_names[k].bytes;
        if (result.has_sizes) net.blobs[new_name(k)].bytes = renaming.new_names[k].bytes;
    }
    for (value_id v = 0; v != versioned.value_of.size(); ++v) // a view of a renamed blob
        if (all.view_of[versioned.value_of[v]] != no_value && renaming.storage_of[v] >= renaming.values)
            net.blobs[all.name[versioned.value_of[v]]].view_of =
                new_name(renaming.storage_of[v] - renaming.values);
    result.shared_blobs = renaming.new_names.size();
    net.is_planned = true;

    sharing_log const log = log_sharing(versioned.program, plan, options);
    for (sharing_log::entry const& e : log.entries) {
        if (e.from == no_value) continue;
        std::ostringstream line;
        write_log(
            line, e, [&](value_id v) -> auto& { return all.name[versioned.value_of[v]]; });
        result.log.push_back(line.str());
    }
    return result;
}

/// Buffers of an operator list and their lifetimes; writes the slots of their plan to their values.
template <class Plan>
sized_slot_plan in_listed_order(versioned_program const& versioned, plan_options const& options,
                                Plan plan_buffers)
{
    auto const lives = lifetimes(versioned.program, {.role = options.role, .alias_of = options.alias_of});
    if (!lives) throw net_error("a blob is used before it is defined");
    std::vector<step_id> steps(versioned.program.steps());
    std::iota(steps.begin(), steps.end(), step_id{0});
    buffer_table const table = take_in_place(versioned.program, steps, gather_buffers(lives, options));
    sized_slot_plan plan = plan_buffers(table);
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of)
        slot_of.push_back(table.buffers[b].is_planned() ? plan.slot_of[b] : no_slot);
    plan.slot_of = slot_of;
    return plan;
}

byte_count planned_bytes(buffer const& b) { return b.is_planned() ? b.size : 0; }

sized_slot_plan under_every_schedule(versioned_program const& versioned, plan_options const& options)
{
    auto const plan = share_slots(versioned.program, options);
    if (!plan) throw net_error("the net has no order to run in");
    return plan;
}

/// The number of interfering pairs of buffers.
std::uint64_t overlaps(std::vector<buffer> const& buffers)
{
    std::vector<position_id> first, last;
    for (buffer const& b : buffers)
        if (b.is_planned()) first.push_back(b.life.first), last.push_back(b.life.last);
    std::sort(first.begin(), first.end());
    std::sort(last.begin(), last.end());
    std::uint64_t pairs = 0;
    for (std::size_t i = 0, ended = 0; i != first.size(); ++i) {
        while (last[ended] <= first[i]) ++ended;
        pairs += i - ended;
    }
    return pairs;
}

predicate none_of(names const& excluded)
{
    return [&excluded](std::string const& name) { return excluded.count(name) == 0; };
}

} // namespace

savings optimize_inference_fast(net_def& net, names const& static_blobs)
{
    return optimize(net, none_of(static_blobs), [](auto const& versioned, auto const& options) {
        return in_listed_order(versioned, options, [](buffer_table const& table) {
            return share_linearly(
                table.buffers.size(), [&](buffer_id b) { return table.buffers[b].life; },
                [&](buffer_id b) { return planned_bytes(table.buffers[b]); },
                {.fit = linear_options::fit_kind::grow,
                 .pool = [&](buffer_id b) { return table.buffers[b].pool; }});
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
    return optimize(net, none_of(static_blobs), [](auto const& versioned, auto const& options) {
        return in_listed_order(versioned, options, [](buffer_table const& table) {
            auto const& buffers = table.buffers;
            constexpr std::uint64_t most = 20'000'000; // edges of the graph
            if (auto const pairs = overlaps(buffers); pairs > most)
                throw net_error(std::to_string(pairs) + " pairs of its blobs interfere, and at most " +
                                std::to_string(most) + " can be coloured");
            auto const graph = interference(buffers.size(), [&](buffer_id b) {
                return buffers[b].is_planned() ? buffers[b].life : live_range{};
            });
            std::vector<std::vector<buffer_id>> by_pool;
            sized_slot_plan plan;
            auto const colored = color(graph, {.by = coloring_options::heuristic::by_size,
                                               .bytes = [&](auto b) { return planned_bytes(buffers[+b]); }});
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
    buffer_classes const& storage = all.storage;
    std::vector<bool> is_excluded(storage.root.size());
    for (value_id v = 0; v != all.name.size(); ++v)
        if (dont_free.count(all.name[v]) != 0 || kept.count(all.name[v]) != 0)
            is_excluded[storage.buffer_of[v]] = true;
    std::vector<buffer_id> buffer_of; // of one number with its root
    for (buffer_id b : storage.buffer_of)
        buffer_of.push_back(is_excluded[b] ? no_buffer : buffer_id{+storage.root[b]});
    std::size_t freed = 0;
    std::vector<operator_def> reversed;       // the new list
    auto move_tail = [&](std::size_t first) { // the rest of the old list
        while (net.operators.size() != first) {
            reversed.push_back(std::move(net.operators.back()));
            net.operators.pop_back();
        }
    };
    auto const points = releases(all.program(), all.name.size(), buffer_of, {.role = all.role});
    insert_releases(points, {}, [&](position_id i, auto blobs) {
        move_tail(i);
        operator_def& op = reversed.emplace_back();
        op.type = "Free";
        for (buffer_id b : blobs) op.inputs.push_back(all.name[+b]);
        freed += blobs.size();
    });
    move_tail(0);
    net.operators.assign(std::make_move_iterator(reversed.rbegin()),
                         std::make_move_iterator(reversed.rend()));
    return freed;
}

} // namespace memonger
