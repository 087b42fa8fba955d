// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_DTR_HPP
#define SUBLET_BENCH_DTR_HPP

/// Dynamic tensor rematerialization, offline: Kirisame et al., "Dynamic tensor rematerialization", ICLR 2021.
/// A baseline for advise_memory(), with which it shares no code.
///
///     steps, budget ─► simulate ─► steps as they run, some again ─► write ─► plan_memory ─► does it fit?
///                          ▲                                                                     │ no
///                          └──────────── budget less the excess, up to eight times ──────────────┘
///
/// The cheapest plan of all variants below counts, each simulated with budgets around the limit: greedy
/// choices are not always better with more bytes, and a plan may need fewer than the simulation.
///
/// The steps run in the order given. Where the results of one do not fit within the budget, the storage with
/// the lowest heuristic is evicted, of those that are resident and not locked:
///
///     h_DTR    (cost of its step + cost of the evicted neighbourhood) / (bytes * time since the last access)
///
/// The neighbourhood are the evicted storages that have to be made first to make it again (ancestors), and
/// those that need it to be made (descendants), each through evicted ones only. h_DTR-local has the cost of
/// the step alone, LRU the time alone, and so on. A step that reads evicted storage waits until the step of
/// that has run again, in turn with evicted operands; operands are locked until the step has run.
///
/// Evicted are planned storages of pool 0 that one step writes, which may be run again, as long as that step
/// gives the same bytes until the last read that may need them: a weight is updated, an operand is gone. A
/// step that may run again for its results leaves out its updates of external values, and does not read them.
/// Views belong to their storage. Storage with no later read in the program stays and may be evicted as any
/// other, or is evicted at once, or also whenever it was made again: three variants. What cannot be made
/// again ends with its last read, if nothing evicted needs it. A result is written over an operand that ends
/// with the step, where the program says that it may be. Nothing is copied.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::no_step;
using sublet::no_value;
using sublet::step_id;
using sublet::touch;
using sublet::value_id;
using sublet::value_role;

/// Which storage is evicted.
struct dtr_heuristic {
    enum class cost : std::uint8_t { none, own, with_ancestors, with_neighbourhood };
    enum class dead : std::uint8_t { stays, is_evicted, is_always_evicted };

    dtr_heuristic::cost counts = cost::with_neighbourhood;
    bool by_bytes = true, by_time = true;
    dtr_heuristic::dead without_reads = dead::stays;
};

/// A step as it runs; `made` are the storages that it makes again, if it does.
struct dtr_run {
    step_id step = no_step;
    bool is_again = false;
    std::vector<value_id> made;
};

/// What the simulation has to know about a program.
struct dtr_program {
    using ids = std::vector<value_id>;

    dtr_program(sublet::snapshot const& program, sublet::plan_options const& asked,
                std::vector<byte_count> step_costs)
        : p(program), cost(std::move(step_costs)), bytes(asked.bytes.tabulate(p.values())), root(p.values()),
          offset(p.values(), 0), maker(p.values(), no_step), last(p.values(), 0), reads(p.steps()),
          makes(p.steps()), left_out(p.steps()), members(p.values()), children(p.values()),
          valid_until(p.steps(), end())
    {
        find_roots(asked);
        auto const role = asked.role.tabulate(p.values());
        auto const pool = asked.pool.tabulate(p.values());
        auto const is_eligible = asked.eligible.tabulate(p.values());
        auto const pinned = asked.pinned.tabulate(p.values());
        is_planned.assign(p.values(), 0);
        is_given.assign(p.values(), 0);
        is_output.assign(p.values(), 0);
        std::vector<unsigned char> is_fixed(p.values(), 0), is_external(p.values(), 0);
        for (value_id v = 0; v != p.values(); ++v) {
            value_id const r = root[v];
            if (v == r)
                is_planned[r] =
                    bytes[r] != sublet::no_size && bytes[r] != 0 && pool[r] == 0 && is_eligible[r];
            if (has_role(role[v], value_role::external)) is_fixed[r] = is_external[r] = 1;
            if (has_role(role[v], value_role::input)) is_given[r] = 1;
            if (has_role(role[v], value_role::output)) is_output[r] = 1;
            if (pinned[v] != sublet::no_offset) is_fixed[r] = 1;
        }
        for (value_id v = 0; v != p.values(); ++v)
            if (has_role(role[v], value_role::external)) is_planned[root[v]] = 0;
        find_makers(is_fixed, is_external);
    }

    [[nodiscard]] step_id end() const { return static_cast<step_id>(p.steps()); }
    /// The step does not touch v where it runs again.
    [[nodiscard]] bool leaves_out(step_id s, value_id v) const
    {
        return std::find(left_out[s].begin(), left_out[s].end(), root[v]) != left_out[s].end();
    }

    sublet::snapshot const& p;
    std::vector<byte_count> cost; ///< by step
    // By value; of storages, by their root:
    sublet::table<value_id, byte_count> bytes;
    ids root;
    std::vector<byte_count> offset; ///< of a view in its root
    std::vector<step_id> maker;     ///< the step that may make it again; none: it is not evicted
    std::vector<step_id> last;      ///< step of the last access; of outputs the end
    std::vector<unsigned char> is_planned, is_given, is_output;
    // By step, storages of the pool:
    std::vector<ids> reads, makes;
    std::vector<ids> left_out; ///< external ones that a step updates only where it runs for the first time
    std::vector<ids> members, children; ///< by root: its values; the storages of which a step reads it
    std::vector<step_id> valid_until;   ///< by step: run again before this one it gives the same bytes

private:
    void find_roots(sublet::plan_options const& asked)
    {
        std::vector<value_id> alias_of(p.values(), no_value);
        std::vector<byte_count> offset_in(p.values(), 0);
        auto const said_of = asked.alias_of.tabulate(p.values());
        auto const said_offset = asked.view_offset.tabulate(p.values());
        for (value_id v = 0; v != p.values(); ++v) {
            alias_of[v] = said_of[v];
            offset_in[v] = said_offset[v];
        }
        for (sublet::said_view const& said : p.said_views()) {
            alias_of[said.value] = said.of;
            offset_in[said.value] = said.offset;
        }
        for (value_id v = 0; v != p.values(); ++v) {
            root[v] = v;
            while (alias_of[root[v]] != no_value) {
                offset[v] += offset_in[root[v]];
                root[v] = alias_of[root[v]];
            }
            members[root[v]].push_back(v);
        }
    }

    static void add_once(ids& list, value_id v)
    {
        if (std::find(list.begin(), list.end(), v) == list.end()) list.push_back(v);
    }

    void find_makers(std::vector<unsigned char> const& is_fixed,
                     std::vector<unsigned char> const& is_external)
    {
        std::vector<ids> touched(p.steps()), written(p.steps());
        std::vector<std::vector<step_id>> writes(p.values()); // by root, ascending
        std::vector<step_id> first(p.values(), no_step);
        for (step_id s = 0; s != p.steps(); ++s)
            for (touch const t : p.touches(s)) {
                value_id const r = root[t.value];
                add_once(touched[s], r);
                if (t.writes()) add_once(written[s], r);
                if (t.writes() && (writes[r].empty() || writes[r].back() != s)) writes[r].push_back(s);
                if (first[r] == no_step) first[r] = s;
                last[r] = s;
            }
        for (value_id v = 0; v != p.values(); ++v)
            if (is_output[v]) last[v] = end();
        for (step_id s = 0; s != p.steps(); ++s) {
            bool may_repeat = p.may_recompute(s) || p.may_recompute_results(s);
            for (value_id r : written[s])
                if (p.may_recompute_results(s) && is_external[r]) left_out[s].push_back(r);
                else may_repeat = may_repeat && !is_fixed[r] && !is_given[r] && writes[r].size() == 1;
            for (value_id r : touched[s]) {
                bool const is_made = first[r] == s && !is_given[r];
                if (is_planned[r]) (is_made ? makes : reads)[s].push_back(r);
                auto const next = std::upper_bound(writes[r].begin(), writes[r].end(), s);
                if (next != writes[r].end() && !leaves_out(s, r))
                    valid_until[s] = std::min(valid_until[s], *next);
            }
            for (value_id r : written[s])
                if (may_repeat && is_planned[r] && first[r] == s) maker[r] = s;
        }
        for (step_id s = 0; s != p.steps(); ++s)
            for (value_id made : makes[s])
                for (value_id r : reads[s])
                    if (maker[made] == s) children[r].push_back(made);
    }
};

/// One simulation; converts to true if all steps could run within the budget.
class dtr_simulation {
public:
    dtr_simulation(dtr_program const& program, dtr_heuristic how, byte_count budget, byte_count most_cost)
        : f_(program), how_(how), budget_(budget), most_cost_(most_cost), state_(f_.p.values(), absent),
          locks_(f_.p.values(), 0), accessed_(f_.p.values(), 0), seen_(f_.p.values(), 0),
          valid_until_(f_.valid_until)
    {
        for (value_id v = 0; v != f_.p.values(); ++v)
            if (f_.is_planned[v] && f_.is_given[v]) set_resident(v);
        fits_ = live_ <= budget_ && run_all();
    }

    explicit operator bool() const { return fits_; }
    [[nodiscard]] byte_count cost() const { return cost_; } ///< of the steps that run again
    [[nodiscard]] std::vector<dtr_run> const& runs() const { return runs_; }

private:
    enum state : std::uint8_t { absent, resident, evicted, gone };
    struct frame {
        step_id step;
        value_id wanted;  // none: the step runs for the first time
        std::size_t next; // of the operands
    };
    struct neighbourhood {
        byte_count ancestors = 0, descendants = 0; // cost
        bool is_valid = true;                      // it can be made whenever it may be needed
    };

    bool run_all()
    {
        for (now_ = 0; now_ != f_.p.steps(); ++now_) {
            if (!run({now_, no_value, 0})) return false;
            for (value_id r : f_.reads[now_]) end_if_dead(r, true);
            for (value_id r : f_.makes[now_]) end_if_dead(r, true);
        }
        for (value_id v = 0; v != f_.p.values(); ++v) { // the outputs are there at the end
            if (!f_.is_planned[v] || !f_.is_output[v]) continue;
            if (state_[v] == evicted && !run({f_.maker[v], v, 0})) return false;
            ++locks_[v];
        }
        return true;
    }

    /// Runs a step, and before it those that make its operands again.
    bool run(frame first)
    {
        stack_.assign(1, first);
        while (!stack_.empty()) {
            frame& top = stack_.back();
            auto const& operands = f_.reads[top.step];
            for (; top.next != operands.size() && state_[operands[top.next]] == resident; ++top.next)
                ++locks_[operands[top.next]];
            if (top.next != operands.size()) {
                value_id const v = operands[top.next];
                if (state_[v] != evicted) return false; // read before it is made: no valid program
                stack_.push_back({f_.maker[v], v, 0});
                continue;
            }
            frame const done = top;
            stack_.pop_back();
            if (!compute(done)) return false;
        }
        return true;
    }

    bool compute(frame const& at)
    {
        bool const is_again = at.wanted != no_value;
        auto const& operands = f_.reads[at.step];
        dtr_run made{at.step, is_again, {}};
        byte_count kept = 0, dropped = 0; // bytes of results
        for (value_id r : f_.makes[at.step]) {
            bool const stays = !is_again || r == at.wanted || (state_[r] == evicted && f_.last[r] >= now_);
            (stays ? kept : dropped) += f_.bytes[r];
            if (stays) made.made.push_back(r);
        }
        std::vector<value_id> taken; // operands that end and the results that are written over them
        byte_count room = kept + dropped;
        for (sublet::overwrite const& o : f_.p.overwrites(at.step)) {
            value_id const in = f_.root[o.in], out = f_.root[o.out];
            bool const is_used = std::find(taken.begin(), taken.end(), in) != taken.end() ||
                                 std::find(taken.begin(), taken.end(), out) != taken.end();
            bool const is_kept = std::find(made.made.begin(), made.made.end(), out) != made.made.end();
            if (is_used || !is_kept || o.in == o.out || state_[in] != resident || locks_[in] != 1 ||
                f_.bytes[out] > f_.bytes[in] || !is_dead(in, !is_again) || !may_end(in))
                continue;
            taken.push_back(in);
            taken.push_back(out);
            room += f_.bytes[in] - f_.bytes[out];
            end_storage(in);
        }
        if (!evict_for(room)) return false;
        clock_ += f_.cost[at.step];
        if (is_again) cost_ += f_.cost[at.step];
        if (cost_ > most_cost_) return false;
        for (value_id r : made.made) {
            if (state_[r] != resident) set_resident(r);
            accessed_[r] = clock_;
        }
        for (value_id r : operands) {
            accessed_[r] = clock_;
            --locks_[r];
        }
        for (value_id r : operands)
            if (is_again && how_.without_reads == dtr_heuristic::dead::is_always_evicted)
                end_if_dead(r, false);
        runs_.push_back(std::move(made));
        return true;
    }

    /// No step of the program reads it after this one.
    [[nodiscard]] bool is_dead(value_id r, bool has_run) const
    {
        return has_run ? f_.last[r] <= now_ : f_.last[r] < now_;
    }
    /// It can be made again when it is needed, or no evicted one needs it.
    bool may_end(value_id r)
    {
        if (f_.maker[r] != no_step) return look_around(r).is_valid;
        for (value_id child : f_.children[r])
            if (state_[child] == evicted && needed_until(child) > now_) return false;
        return true;
    }
    void end_if_dead(value_id r, bool has_run)
    {
        if (state_[r] != resident || locks_[r] != 0 || !is_dead(r, has_run)) return;
        bool const is_lazy = how_.without_reads == dtr_heuristic::dead::stays;
        if ((f_.maker[r] != no_step && is_lazy) || !may_end(r)) return;
        end_storage(r);
    }
    void end_storage(value_id r)
    {
        live_ -= f_.bytes[r];
        state_[r] = f_.maker[r] != no_step ? evicted : gone;
        if (state_[r] == gone)
            for (value_id child : f_.children[r])
                valid_until_[f_.maker[child]] = std::min(valid_until_[f_.maker[child]], now_);
    }
    void set_resident(value_id r)
    {
        live_ += f_.bytes[r];
        state_[r] = resident;
    }

    bool evict_for(byte_count bytes)
    {
        while (live_ > budget_ || bytes > budget_ - live_) {
            value_id lowest = no_value;
            double least = 0;
            for (value_id v = 0; v != f_.p.values(); ++v) {
                if (state_[v] != resident || locks_[v] != 0 || f_.maker[v] == no_step) continue;
                neighbourhood const around = look_around(v);
                if (!around.is_valid) continue;
                double const h = score(v, around);
                if (lowest != no_value && h >= least) continue;
                lowest = v;
                least = h;
            }
            if (lowest == no_value) return false;
            end_storage(lowest);
        }
        return true;
    }

    [[nodiscard]] double score(value_id v, neighbourhood const& around) const
    {
        using enum dtr_heuristic::cost;
        byte_count cost = how_.counts == none ? 1 : 1 + f_.cost[f_.maker[v]];
        if (how_.counts >= with_ancestors) cost += around.ancestors;
        if (how_.counts == with_neighbourhood) cost += around.descendants;
        double h = static_cast<double>(cost);
        if (how_.by_bytes) h /= static_cast<double>(f_.bytes[v]);
        if (how_.by_time) h /= static_cast<double>(clock_ - accessed_[v] + 1);
        return h;
    }

    /// Evicted storages that are made from r, through evicted ones, in `walk_`: their last access.
    step_id needed_until(value_id r)
    {
        step_id until = f_.last[r];
        walk_.assign(1, r);
        seen_[r] = ++stamp_;
        for (std::size_t i = 0; i != walk_.size(); ++i)
            for (value_id v : f_.children[walk_[i]])
                if (state_[v] == evicted && seen_[v] != stamp_) {
                    seen_[v] = stamp_;
                    until = std::max(until, f_.last[v]);
                    walk_.push_back(v);
                }
        return until;
    }
    neighbourhood look_around(value_id r)
    {
        neighbourhood result;
        step_id const until = needed_until(r);
        for (std::size_t i = 1; i < walk_.size(); ++i) result.descendants += f_.cost[f_.maker[walk_[i]]];
        auto is_valid = [&](step_id maker) { return until < now_ || valid_until_[maker] >= until; };
        result.is_valid = is_valid(f_.maker[r]);
        walk_.assign(1, r);
        for (std::size_t i = 0; i != walk_.size() && result.is_valid; ++i)
            for (value_id v : f_.reads[f_.maker[walk_[i]]])
                if (state_[v] == evicted && seen_[v] != stamp_) {
                    seen_[v] = stamp_;
                    result.ancestors += f_.cost[f_.maker[v]];
                    result.is_valid = result.is_valid && is_valid(f_.maker[v]);
                    walk_.push_back(v);
                }
        return result;
    }

    dtr_program const& f_;
    dtr_heuristic how_;
    byte_count budget_, most_cost_;
    std::vector<state> state_; // of storages, by root
    std::vector<unsigned> locks_;
    std::vector<byte_count> accessed_;
    std::vector<std::uint32_t> seen_;
    std::uint32_t stamp_ = 0;
    std::vector<step_id> valid_until_; // by step
    std::vector<value_id> walk_;
    std::vector<frame> stack_;
    std::vector<dtr_run> runs_;
    step_id now_ = 0;
    byte_count live_ = 0, clock_ = 0, cost_ = 0;
    bool fits_ = false;
};

/// Writes a program with these runs as steps: each that runs again makes new versions of its results.
class dtr_writer {
public:
    sublet::plan_options options;
    sublet::snapshot program;
    std::vector<value_id> origin, alias_of; ///< by value: of the program before; the root, of a view
    std::vector<value_id> current;          ///< by value of the program before: its last version

    dtr_writer(dtr_program const& f, sublet::plan_options const& asked, std::vector<dtr_run> const& runs)
        : options(asked), f_(f), is_made_(f.p.values(), 0)
    {
        auto const role = asked.role.tabulate(f_.p.values());
        for (value_id v = 0; v != f_.p.values(); ++v)
            add_value(v, role[v], f_.root[v] == v ? no_value : f_.root[v]);
        current = origin;
        for (dtr_run const& r : runs) {
            for (touch const t : f_.p.touches(r.step))
                if (!r.is_again || !f_.leaves_out(r.step, t.value)) name(r, t);
            for (value_id v : remade_views_) touches_.push_back({current[v], touch::access::view});
            remade_views_.clear();
            for (sublet::overwrite const& o : f_.p.overwrites(r.step))
                overwrites_.push_back({static_cast<step_id>(end_.size()), named(o.in), named(o.out)});
            names_.clear();
            end_.push_back(touches_.size());
            overwrites_end_.push_back(overwrites_.size());
        }
        program = sublet::sequence(runs.size(), origin.size(), [&](step_id s, sublet::effect_sink& sink) {
            for (std::size_t i = s == 0 ? 0 : end_[s - 1]; i != end_[s]; ++i)
                sink.add(touches_[i].kind, touches_[i].value);
            for (std::size_t i = s == 0 ? 0 : overwrites_end_[s - 1]; i != overwrites_end_[s]; ++i)
                sink.may_overwrite(overwrites_[i].in, overwrites_[i].out);
            sink.may_recompute(f_.p.may_recompute(runs[s].step));
            sink.may_recompute_results(f_.p.may_recompute_results(runs[s].step));
            sink.only_views(f_.p.only_views(runs[s].step));
        });
        std::vector<byte_count> bytes;
        for (value_id v : origin) bytes.push_back(f_.bytes[v]);
        options.bytes = bytes;
        options.role = role_;
        options.alias_of = alias_of;
        options.view_offset = view_offset_;
        options.alignment = of_origins(asked.alignment);
        options.pool = of_origins(asked.pool);
        options.pinned = of_origins(asked.pinned);
        options.eligible = of_origins(asked.eligible);
        options.kind = of_origins(asked.kind);
    }

private:
    template <class T>
    std::vector<T> of_origins(sublet::per_value<T> const& asked) const
    {
        auto const of = asked.tabulate(f_.p.values());
        std::vector<T> table;
        for (value_id v : origin) table.push_back(of[v]);
        return table;
    }

    value_id add_value(value_id of, value_role role, value_id root)
    {
        origin.push_back(of);
        role_.push_back(role);
        alias_of.push_back(root);
        view_offset_.push_back(root == no_value ? 0 : f_.offset[of]);
        return static_cast<value_id>(origin.size() - 1);
    }

    void replace(value_id v)
    {
        value_id const old = current[v], root = f_.root[v];
        value_role const role = role_[old];
        role_[old] = value_role::intermediate;
        current[v] = add_value(v, role, v == root ? no_value : current[root]);
    }

    /// The name of a value in the step that is written now.
    [[nodiscard]] value_id named(value_id v) const
    {
        for (auto const& [of, is] : names_)
            if (of == v) return is;
        return current[v];
    }

    void name(dtr_run const& r, touch t)
    {
        value_id const root = f_.root[t.value];
        bool const is_first = !is_made_[t.value];
        if (!r.is_again) {
            if (t.defines() && is_first && root != t.value) alias_of[current[t.value]] = current[root];
            if (t.defines()) is_made_[t.value] = 1;
            touches_.push_back({current[t.value], t.kind});
            return;
        }
        bool const is_remade = std::find(r.made.begin(), r.made.end(), root) != r.made.end();
        if (is_remade && !is_replaced(root)) replace_all(r, root);
        else if (!is_remade && t.defines() && named(t.value) == current[t.value])
            names_.push_back({t.value, add_value(t.value, value_role::intermediate,
                                                 t.value == root ? no_value : named(root))});
        touches_.push_back({named(t.value), t.kind});
    }
    /// In this step: its new name is listed.
    [[nodiscard]] bool is_replaced(value_id root) const
    {
        for (auto const& [of, is] : names_)
            if (of == root) return true;
        return false;
    }
    void replace_all(dtr_run const& r, value_id root)
    {
        replace(root);
        names_.push_back({root, current[root]});
        for (value_id v : f_.members[root]) {
            if (v == root || !is_made_[v]) continue;
            replace(v);
            bool is_touched = false;
            for (touch const t : f_.p.touches(r.step))
                is_touched = is_touched || (t.value == v && t.defines());
            if (!is_touched) remade_views_.push_back(v);
        }
    }

    dtr_program const& f_;
    std::vector<unsigned char> is_made_;
    std::vector<byte_count> view_offset_;
    std::vector<value_role> role_;
    std::vector<touch> touches_;
    std::vector<sublet::overwrite> overwrites_;
    std::vector<std::size_t> end_, overwrites_end_;
    std::vector<value_id> remade_views_;
    std::vector<std::pair<value_id, value_id>> names_;
};

/// What each step of a list reads, and the outputs and what is kept at the end, as numbers: two programs with
/// the same numbers compute the same. `is_counted(i)`: the reads of the i-th step are listed. Results do not
/// depend on what `is_left_out(i, v)` says.
template <class StepOf, class Counted, class LeftOut>
std::vector<std::uint64_t> dtr_contents(sublet::snapshot const& p, std::vector<value_id> const& roots,
                                        std::vector<value_id> const& origins,
                                        std::vector<value_id> const& at_end, StepOf step_of,
                                        Counted is_counted, LeftOut is_left_out)
{
    auto mix = [](std::uint64_t a, std::uint64_t b) {
        return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9;
    };
    std::vector<std::uint64_t> contents(roots.begin(), roots.end()), result; // by root
    for (step_id s = 0; s != p.steps(); ++s) {
        std::uint64_t read = mix(1, step_of(s)), all = read;
        for (touch const t : p.touches(s)) {
            if (t.makes() || t.kind == touch::access::view) continue;
            all = mix(all, contents[roots[t.value]]);
            if (!is_left_out(s, t.value)) read = mix(read, contents[roots[t.value]]);
        }
        for (touch const t : p.touches(s))
            if (t.writes())
                contents[roots[t.value]] = mix(is_left_out(s, t.value) ? all : read, origins[t.value]);
        if (is_counted(s)) result.push_back(all);
    }
    for (value_id v : at_end) result.push_back(contents[roots[v]]);
    return result;
}

/// Throws: std::logic_error if the program with steps run again computes something else.
inline void expect_same_contents(dtr_program const& f, dtr_writer const& written,
                                 std::vector<dtr_run> const& runs)
{
    std::vector<value_id> same, kept, versions, roots;
    for (value_id v = 0; v != f.p.values(); ++v) {
        same.push_back(v);
        if (f.root[v] != v || (f.is_planned[v] && !f.is_output[v])) continue;
        kept.push_back(v);
        versions.push_back(written.current[v]);
    }
    for (value_id v = 0; v != written.program.values(); ++v)
        roots.push_back(written.alias_of[v] == no_value ? v : written.alias_of[v]);
    auto const before = dtr_contents(
        f.p, f.root, same, kept, [](step_id s) { return s; }, [](step_id) { return true; },
        [&](step_id s, value_id v) { return f.leaves_out(s, v); });
    auto const after = dtr_contents(
        written.program, roots, written.origin, versions, [&](step_id s) { return runs[s].step; },
        [&](step_id s) { return !runs[s].is_again; },
        [&](step_id s, value_id v) { return f.leaves_out(runs[s].step, written.origin[v]); });
    if (before != after) throw std::logic_error("the program with steps run again computes something else");
}

/// The cheapest plan of all heuristics.
struct dtr_result {
    bool fits = false;
    byte_count arena = sublet::no_size; ///< if none fits: the lowest that was reached, if any was
    byte_count cost = sublet::no_size;
    std::vector<step_id> again; ///< the steps that run again, as often as they do
    dtr_heuristic by;
};

inline std::vector<dtr_heuristic> dtr_heuristics()
{
    using enum dtr_heuristic::cost;
    std::vector<dtr_heuristic> all;
    for (auto dead : {dtr_heuristic::dead::stays, dtr_heuristic::dead::is_evicted,
                      dtr_heuristic::dead::is_always_evicted})
        for (dtr_heuristic h :
             {dtr_heuristic{with_neighbourhood, true, true}, dtr_heuristic{own, true, true}, // h_DTR-local
              dtr_heuristic{with_neighbourhood, true, false},                                // without time
              dtr_heuristic{with_ancestors, true, false},                                    // MSPS
              dtr_heuristic{own, true, false}, dtr_heuristic{none, false, true},             // LRU
              dtr_heuristic{none, true, false},                                              // the largest
              dtr_heuristic{none, true, true}}) {
            h.without_reads = dead;
            all.push_back(h);
        }
    return all;
}

/// Tries one heuristic; `best` gets the plan if it is cheaper.
/// Requires: the program is a list; no order, no carried values.
inline void try_dtr(dtr_program const& f, sublet::plan_options const& options, dtr_heuristic how,
                    byte_count limit, byte_count budget, dtr_result& best)
{
    for (unsigned round = 0; round != 8; ++round) {
        dtr_simulation const done(f, how, budget, best.cost - 1);
        if (!done) return;
        dtr_writer const written(f, options, done.runs());
        sublet::planned_memory const planned = plan_memory(written.program, written.options);
        if (!planned && planned.error().what != sublet::fault::over_capacity) {
            std::ostringstream why;
            why << "the program with steps run again is not valid: " << planned.error();
            throw std::logic_error(why.str());
        }
        expect_same_contents(f, written, done.runs());
        byte_count const arena = planned.plan.arena_bytes[0];
        if (arena <= limit) {
            best = {true, arena, done.cost(), {}, how};
            for (dtr_run const& r : done.runs())
                if (r.is_again) best.again.push_back(r.step);
            return;
        }
        if (!best.fits) best.arena = std::min(best.arena, arena);
        if (arena - limit >= budget) return;
        budget -= arena - limit;
    }
}

/// The cheapest plan within `limit` bytes of pool 0.
inline dtr_result plan_by_dtr(sublet::snapshot const& p, sublet::plan_options options,
                              std::vector<byte_count> const& step_cost, byte_count limit, byte_count whole)
{
    dtr_program const f(p, options, step_cost);
    options.pools = {{limit, 1}};
    dtr_result best;
    best.cost = 1; // a simulation ends where all steps have run 20 times again
    for (byte_count c : step_cost) best.cost += 20 * c;
    for (unsigned const share : {100u, 95u, 104u, 108u})
        for (dtr_heuristic const& how : dtr_heuristics())
            try_dtr(f, options, how, limit, limit / 100 * share, best);
    for (byte_count budget = limit; !best.fits && best.arena == sublet::no_size && budget < whole;) {
        budget += whole / 50;
        for (dtr_heuristic const& how : dtr_heuristics()) try_dtr(f, options, how, limit, budget, best);
    }
    return best;
}

} // namespace bench

#endif
