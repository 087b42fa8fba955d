// SPDX-License-Identifier: BSL-1.0
#include "transpiler.hpp"

#include <sublet/sublet.hpp>

#include <iterator>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

namespace transpiler {
namespace {

using namespace sublet;

bool ends_with(std::string const& name, std::string const& end)
{
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

/// The blocks as a tree of programs. A conditional block gets an empty alternative: it may be skipped.
struct block_tree {
    struct block_values {
        std::vector<std::string> name; // by value
        std::map<std::string, value_id> ids;
        std::vector<bool> is_outer; // by value: declared in an outer block, or not at all
        std::vector<bool>
            is_forward_value; // by value, of gradients: a value of the forward block for each time step
        std::vector<bool> is_captured; // by value: visible in a nested or in the gradient block
        std::vector<std::vector<value_id>> reads, writes;
    };
    std::vector<block_values> blocks;
    std::vector<int> block_of; // by program; -1: an empty branch
    program_tree tree;

    explicit block_tree(program_desc const& program) : blocks(program.blocks.size())
    {
        constexpr std::size_t max_captures = 1'000'000;
        std::size_t capture_count = 0;                   // a variable counts in each block that captures it
        for (std::size_t b = blocks.size(); b-- != 0;) { // nested blocks come first
            block_desc const& block = program.blocks[b];
            block_values& current = blocks[b];
            auto id = [&](std::string const& name) {
                auto const [at, is_new] =
                    current.ids.emplace(name, static_cast<value_id>(current.name.size()));
                if (!is_new) return at->second;
                bool const is_own = block.vars.count(name) != 0;
                bool const is_forward_value =
                    !is_own && block.forward >= 0 && of_block(program, block.forward).vars.count(name) != 0;
                current.name.push_back(name);
                current.is_outer.push_back(!is_own && !is_forward_value);
                current.is_forward_value.push_back(is_forward_value);
                current.is_captured.push_back(false);
                return at->second;
            };
            for (op_desc const& op : block.ops) {
                current.reads.emplace_back(), current.writes.emplace_back();
                for (auto const& name : op.inputs) current.reads.back().push_back(id(name));
                for (auto const& name : op.outputs) current.writes.back().push_back(id(name));
                if (op.sub_block < 0) continue;
                block_values const& within = blocks[static_cast<std::size_t>(op.sub_block)];
                for (auto const& [name, inner] : within.ids)
                    if (within.is_outer[inner]) current.is_captured[id(name)] = true, ++capture_count;
                if (capture_count > max_captures)
                    throw program_error("its variables are captured by more than " +
                                        std::to_string(max_captures) + " blocks in total");
            }
        }
        for (std::size_t b = 0; b != blocks.size(); ++b) // forward values are kept for the gradient block
            for (value_id v = 0; v != blocks[b].name.size(); ++v) {
                if (!blocks[b].is_forward_value[v]) continue;
                block_values& forward = blocks[static_cast<std::size_t>(program.blocks[b].forward)];
                auto const at = forward.ids.find(blocks[b].name[v]);
                if (at != forward.ids.end()) forward.is_captured[at->second] = true;
            }
        if (blocks.empty()) return;

        tree = program_tree(flat_block(0));
        block_of.push_back(0);
        std::vector<program_id> program_of(blocks.size(), 0);
        for (std::size_t b = 0; b != blocks.size(); ++b)
            for (std::size_t s = 0; s != program.blocks[b].ops.size(); ++s) {
                op_desc const& op = program.blocks[b].ops[s];
                if (op.sub_block < 0) continue;
                auto const within = static_cast<std::size_t>(op.sub_block);
                std::vector<program_body::capture> captures;
                for (auto const& [name, inner] : blocks[within].ids)
                    if (blocks[within].is_outer[inner]) captures.push_back({inner, blocks[b].ids.at(name)});
                bool const is_conditional = op.type.rfind("conditional", 0) == 0;
                auto const step = static_cast<step_id>(s);
                program_of[within] = tree.add_body(program_of[b], step,
                                                   is_conditional ? program_body::run_kind::branch
                                                                  : program_body::run_kind::loop,
                                                   flat_block(within), captures);
                block_of.push_back(op.sub_block);
                if (!is_conditional) continue;
                tree.add_body(program_of[b], step, program_body::run_kind::branch, snapshot());
                block_of.push_back(-1);
            }
    }
    static block_desc const& of_block(program_desc const& program, int b)
    {
        return program.blocks[static_cast<std::size_t>(b)];
    }
    snapshot flat_block(std::size_t b) const
    {
        return sequence(
            blocks[b].reads.size(),
            blocks[b].name.size(), [&](step_id s) -> auto& { return blocks[b].reads[s]; },
            [&](step_id s) -> auto& { return blocks[b].writes[s]; });
    }
    block_values const& values_of(program_id p) const
    {
        return blocks[static_cast<std::size_t>(block_of[p])];
    }
};

/// Names in a block that no plan changes.
std::set<std::string> excluded_names(block_desc const& block, std::set<std::string> names, bool skip_grads)
{
    names.insert("@EMPTY@");
    for (auto const& [name, var] : block.vars)
        if (var.is_persistable || var.shape.empty()) names.insert(name);
    for (op_desc const& op : block.ops) {
        if (op.is_on_host) names.insert(op.outputs.begin(), op.outputs.end());
        std::set<std::string> const written(op.outputs.begin(), op.outputs.end());
        for (auto const& name : op.inputs) {
            bool const is_grad = skip_grads && op.is_optimizer && ends_with(name, "@GRAD");
            if (is_grad || written.count(name) != 0) names.insert(name);
        }
    }
    return names;
}

/// Writes new names into the blocks.
struct block_renamer {
    program_desc& program;
    block_tree const& blocks;
    std::vector<std::string> const& name;

    op_desc& op(program_id p, step_id s) const
    {
        return program.blocks[static_cast<std::size_t>(blocks.block_of[p])].ops[s];
    }
    void set_input(program_id p, step_id s, std::size_t i, std::size_t k) { op(p, s).inputs[i] = name[k]; }
    void set_output(program_id p, step_id s, std::size_t i, std::size_t k) { op(p, s).outputs[i] = name[k]; }
    void set_at_end(program_id, node_id, std::size_t, std::size_t) {}
    void set_capture(program_id, std::size_t, std::size_t) {} // captures keep their names
    void set_binding(program_id, std::size_t, program_body::binding_part, std::size_t) {}
};

/// By value: whether the first step that touches it writes it. If it is touched in one block only, it is then
/// live from that step to its last touch.
std::vector<unsigned char> written_first(snapshot const& flat)
{
    std::vector<unsigned char> is_touched(flat.values()), is_written(flat.values());
    for (touch t : flat.touches({0, static_cast<step_id>(flat.steps())})) {
        if (is_touched[t.value] == 0) is_written[t.value] = t.defines();
        is_touched[t.value] = 1;
    }
    return is_written;
}

/// The program in which only the selected values are touched.
snapshot restricted_to(snapshot const& flat, std::vector<unsigned char> const& counts)
{
    return flow(
        flat.nodes(), flat.values(), [&](node_id n) { return flat.successors(n); },
        [&](node_id n, effect_sink& sink) {
            step_range const node_steps = flat.steps_of(n);
            for (step_id s = node_steps.first; s != node_steps.last; ++s) {
                if (s != node_steps.first) sink.next_step();
                for (touch t : flat.touches(s))
                    if (counts[t.value] != 0) sink.add(t.kind, t.value);
            }
        });
}

/// Numbers keys in order of their first appearance.
pool_id number_of(std::map<std::string, pool_id>& numbers, std::string const& key)
{
    return numbers.emplace(key, static_cast<pool_id>(numbers.size())).first->second;
}

} // namespace

optimized memory_optimize(program_desc& program, std::set<std::string> const& skip_opt_set,
                          std::ostream* print_log, int level, bool skip_grads)
{
    optimized result;
    result.was_optimized = program.is_optimized;
    if (program.is_optimized) return result;
    block_tree const all(program);
    flat_tree const flat = flatten(all.tree);
    std::vector<std::set<std::string>> excluded;
    for (std::size_t b = 0; b != program.blocks.size(); ++b) {
        excluded.push_back(excluded_names(program.blocks[b], skip_opt_set, skip_grads));
    }

    // Variables that may share are in one pool: of one type, and of one block (a gradient block counts as its
    // parent); on level 0 of one shape, on level 1 with or without a batch dimension.
    std::vector<unsigned char> const is_written_first = written_first(flat.program);
    std::vector<byte_count> bytes(flat.value_of.size());
    std::vector<pool_id> pool(flat.value_of.size());
    std::vector<unsigned char> shares(flat.value_of.size());
    std::vector<std::size_t> declaring_block(flat.value_of.size()); // the block that declares its storage
    std::vector<std::string> name(flat.value_of.size());
    std::map<std::string, pool_id> pools;
    for (value_id f = 0; f != flat.value_of.size(); ++f) {
        auto const [p, v] = flat.value_of[f];
        auto const b = static_cast<std::size_t>(all.block_of[p]);
        block_desc const& block = program.blocks[b];
        name[f] = all.blocks[b].name[v];
        auto const declared = block.vars.find(name[f]);
        bool const is_own = declared != block.vars.end() && !all.blocks[b].is_captured[v];
        if (!is_own || excluded[b].count(name[f]) != 0) continue;
        shares[f] = is_written_first[f]; // else it has a value from outside
        bytes[f] = transpiler::bytes_of(declared->second);
        declaring_block[f] = block.forward >= 0 ? static_cast<std::size_t>(block.parent) : b;
        std::string key = std::to_string(declaring_block[f]) + ' ' + declared->second.type;
        if (level == 0)
            for (auto extent : declared->second.shape) key += ' ' + std::to_string(extent);
        else if (declared->second.shape[0] == -1) key += " batch";
        pool[f] = number_of(pools, key);
        if (!shares[f]) continue;
        if (bytes[f] >= sublet::no_size - result.before)
            throw program_error("its variables take more bytes than 64 bits can count");
        result.before += bytes[f];
    }
    live_range_lists const lives = live_intervals(restricted_to(flat.program, shares));
    sized_slot_plan const plan = share_linearly(
        flat.value_of.size(), [&](value_id f) { return shares[f] ? lives.hull(f) : live_range{}; },
        [&](value_id f) { return bytes[f]; },
        {.fit = level == 0 ? linear_options::fit_kind::equal : linear_options::fit_kind::best_fit,
         .pool = pool});
    plan_options const options{.bytes = bytes, .pool = pool};
    versioned_program const versioned = values_as_versions(flat.program, options);
    slot_renaming const renaming = name_slots(versioned, plan, options);

    slot_plan proof; // variables without a new name have storage of their own
    for (value_id first : renaming.storage_of) proof.slot_of.push_back(+first); // a slot for each name
    proof.slots = static_cast<std::uint32_t>(renaming.values + renaming.new_names.size());
    if (!check_slots(flat.program, proof))
        throw program_error("the plan is invalid, and the program unchanged");

    std::vector<std::string> in_use;
    for (block_desc const& block : program.blocks)
        for (auto const& [declared, var] : block.vars) in_use.push_back(declared);
    for (auto const& block : all.blocks) in_use.insert(in_use.end(), block.name.begin(), block.name.end());
    auto const numbers = unused_names(
        "shared_", renaming.new_names.size(), in_use.size(), [&](value_id i) -> auto& { return in_use[i]; });
    std::vector<std::string> new_name;
    for (std::size_t k = 0; k != renaming.new_names.size(); ++k) {
        slot_renaming::name const& slot = renaming.new_names[k];
        new_name.push_back("shared_" + std::to_string(numbers[k]));
        auto const [p, v] = flat.value_of[slot.largest];
        var_desc const& largest =
            program.blocks[static_cast<std::size_t>(all.block_of[p])].vars.at(name[slot.largest]);
        program.blocks[declaring_block[slot.largest]].vars[new_name[k]] = var_desc(largest);
        result.reused += slot.occupants - 1;
    }
    for (value_id f = 0; f != flat.value_of.size(); ++f)
        if (renaming.name_of[f] >= renaming.values)
            program.blocks[static_cast<std::size_t>(all.block_of[flat.value_of[f].program])].vars.erase(
                name[f]);
    block_renamer renamer{program, all, new_name};
    rename(all.tree, flat, renaming, renamer);
    for (byte_count slot : plan.slot_bytes) result.after += slot;
    program.is_optimized = true;

    if (print_log == nullptr) return result;
    for (sharing_log::entry const& e : log_sharing(flat.program, plan, options).entries)
        if (e.from != no_value)
            write_log(
                *print_log, e, [&](value_id f) -> auto& { return name[f]; });
    return result;
}

std::size_t release_memory(program_desc& program, std::set<std::string> const& skip_opt_set)
{
    block_tree const all(program);
    std::size_t deleted = 0;
    std::vector<snapshot> const programs = each_with_captures(all.tree);
    for (program_id p = 0; p != all.tree.size() && !program.blocks.empty(); ++p) {
        if (all.block_of[p] < 0) continue;
        auto const b = static_cast<std::size_t>(all.block_of[p]);
        auto const& values = all.blocks[b];
        block_desc& block = program.blocks[b];
        auto const excluded = excluded_names(block, skip_opt_set, false);
        std::vector<buffer_id> buffer_of;
        for (value_id v = 0; v != values.name.size(); ++v) {
            bool const is_own = block.vars.count(values.name[v]) != 0 && excluded.count(values.name[v]) == 0;
            bool const is_kept = b != 0 && values.is_captured[v]; // for its gradients
            buffer_of.push_back(is_own && !is_kept ? buffer_id{+v} : no_buffer);
        }
        std::vector<op_desc> reversed;            // the new list
        auto move_tail = [&](std::size_t first) { // the rest of the old list
            while (block.ops.size() != first) {
                reversed.push_back(std::move(block.ops.back()));
                block.ops.pop_back();
            }
        };
        auto const points = releases(programs[p], values.name.size(), buffer_of);
        insert_releases(points, {}, [&](position_id i, std::span<buffer_id const> last_used) {
            move_tail(i);
            op_desc& op = reversed.emplace_back();
            op.type = "delete_var";
            for (buffer_id v : last_used) op.inputs.push_back(values.name[+v]);
            deleted += last_used.size();
        });
        move_tail(0);
        block.ops.assign(std::make_move_iterator(reversed.rbegin()),
                         std::make_move_iterator(reversed.rend()));
    }
    return deleted;
}

} // namespace transpiler
