// SPDX-License-Identifier: BSL-1.0
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/rewriting/rename.hpp>

#include "../operations.hpp"
#include "../random_names.hpp"
#include "../random_source.hpp"
#include "../random_tasks.hpp"
#include "../view_sizes.hpp"

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/rewriting/detail/numbered_names.hpp>
#include <sublet/sharing/color_intervals.hpp>
#include <sublet/sharing/detail/tokens.hpp>
#include <sublet/sharing/in_place.hpp>
#include <sublet/sharing/share_slots.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

/// The user's operations, over names.
using ops = std::vector<operation>;

/// A plan by version from one by buffer.
sized_slot_plan by_version(sized_slot_plan plan, buffer_table const& table)
{
    std::vector<slot_id> slot_of;
    for (buffer_id b : table.buffer_of) slot_of.push_back(plan.slot_of[b]);
    plan.slot_of = slot_of;
    return plan;
}

/// Slots for the order of the program, in one pass.
sized_slot_plan plan_linearly(snapshot const& p, plan_options const& options)
{
    auto const lives = lifetimes(p, {.role = options.role, .order = options.order});
    REQUIRE(lives);
    buffer_table table = gather_buffers(lives, options);
    if (options.in_place) table = take_in_place(p, steps_in_order(p, options.order), std::move(table));
    auto const plan = share_linearly(
        table.buffers.size(), [&](buffer_id b) { return table.buffers[b].life; },
        [&](buffer_id b) { return table.buffers[b].is_planned() ? table.buffers[b].size : byte_count{0}; },
        {.fit = linear_options::fit_kind::grow, .pool = [&](buffer_id b) { return table.buffers[b].pool; }});
    return by_version(plan, table);
}

ops rewritten(ops list, versioned_program const& made, slot_renaming const& names)
{
    auto name = [&](std::size_t k) { return value_id::of(names.values + k); };
    rename(
        made, names, [&](step_id s, std::size_t i, std::size_t k) { list[s].uses[i] = name(k); },
        [&](step_id s, std::size_t i, std::size_t k) { list[s].defs[i] = name(k); });
    return list;
}

verdict checked(versioned_program const& made, slot_renaming const& names,
                std::vector<node_id> const& order = {})
{
    return check_rewrite(made.program, renamed_program(made, names),
                         {.role = made.role,
                          .alias_of = made.alias_of,
                          .given_as = names.storage_of,
                          .kept_as = names.storage_of,
                          .order = order});
}

struct all_of_it {
    versioned_program made;
    slot_renaming names;
    ops after;
};

/// From a list of operations to a renamed list, as a user does it.
all_of_it rename_list(ops const& list, std::size_t values, plan_options const& by_value,
                      rename_options const& how = {})
{
    snapshot const p = with_views(program_of(list, values), by_value.alias_of.tabulate(values));
    all_of_it all{versions(p, by_value), {}, {}};
    REQUIRE(all.made);
    plan_options const options = with_versions(by_value, all.made);
    all.names = name_slots(all.made, plan_linearly(all.made.program, options), options, how);
    REQUIRE(checked(all.made, all.names));
    all.after = rewritten(list, all.made, all.names);
    return all;
}

enum : std::uint32_t { a, b, c, d, e };
constexpr auto given = value_role::input;
constexpr auto kept = value_role::output;

} // namespace

TEST_CASE("values that share a slot get one name, and a value alone in its slot keeps its own")
{
    ops const list{{{}, {a}}, {{a}, {b}}, {{b}, {c}}, {{c, b}, {d}}};
    auto const all = rename_list(list, 4, {.bytes = 8, .role = {{}, {}, {}, kept}});
    value_id const s = 4;
    REQUIRE(all.names.new_names.size() == 1);
    CHECK(all.after == ops{{{}, {s}}, {{s}, {b}}, {{b}, {s}}, {{s, b}, {d}}});
}

// SYSTEMS M8: renames never chain.
TEST_CASE("each touch gets the slot of the version that it touches")
{
    ops const list{{{}, {a}}, {{a}, {b}}, {{b}, {a}}, {{a}, {c}}, {{c}, {a}}, {{a}, {d}}};
    auto const all = rename_list(list, 4, {.bytes = 8, .role = {{}, {}, {}, kept}});
    // a, a' and a'' are in slot 0; b and c in 1: one value was written three times, and two share
    value_id const s = 4;
    CHECK(all.after == ops{{{}, {a}}, {{a}, {s}}, {{s}, {a}}, {{a}, {s}}, {{s}, {a}}, {{a}, {d}}});
}

TEST_CASE("a value with versions in different slots loses its name")
{
    // step 2 reads a and b and defines a again; step 3 reads both
    ops const list{{{}, {a}}, {{a}, {b}}, {{a, b}, {a}}, {{a, b}, {c}}};
    auto const all = rename_list(list, 3, {.bytes = {8, 8, 8}, .role = {{}, {}, kept}});
    for (value_id v = 0; v != all.made.value_of.size(); ++v)
        if (all.made.value_of[v] == a) CHECK(all.names.name_of[v] == a); // written in place: one slot
    snapshot const p = sequence(2, 1, [](step_id, effect_sink& sink) { sink.def(0); });
    auto const made = versions_of(p);
    sized_slot_plan apart;
    apart.slot_of = {0, 1};
    apart.slots = 2;
    auto const names = name_slots(made, apart, with_versions(plan_options{.bytes = 8}, made));
    CHECK(names.name_of == std::vector<value_id>{1, 2});
    CHECK(names.new_names.size() == 2);
}

TEST_CASE("inputs and outputs keep their names")
{
    ops const list{{{a}, {b}}, {{b}, {c}}, {{c}, {d}}};
    auto const all = rename_list(list, 4, {.bytes = 8, .role = {given, {}, {}, kept}});
    CHECK(all.after == list); // c could take the storage of a, but then a would get another name
    auto const named = rename_list({{{}, {a}}, {{a}, {b}}, {{b}, {c}}, {{c}, {d}}}, 4, {.bytes = 8},
                                   {.keeps_name = [](value_id v) { return v == c; }});
    CHECK(named.after[2].defs == std::vector<value_id>{c});
}

// SYSTEMS M2.
TEST_CASE("a second run changes nothing")
{
    ops const list{{{}, {a}}, {{a}, {b}}, {{b}, {c}}, {{c, b}, {d}}};
    auto const once = rename_list(list, 4, {.bytes = 8, .role = {{}, {}, {}, kept}});
    std::size_t const values = 4 + once.names.new_names.size();
    plan_options const options{.bytes = 8, .role = [](value_id v) { return v == d ? kept : value_role{}; }};
    auto const twice =
        rename_list(once.after, values, options, {.is_slot = [](value_id v) { return v >= 4; }});
    CHECK(twice.names.planned_already == 4);
    CHECK(twice.names.new_names.empty());
    CHECK(twice.after == once.after);
}

TEST_CASE("an in-place pair gets one name, and a value written in place by name keeps one")
{
    snapshot const p = sequence(3, 3, [](step_id s, effect_sink& sink) {
        if (s != 0) sink.use(s - 1);
        sink.def(+s);
        if (s == 1) sink.may_overwrite(0, 1);
    });
    auto const made = versions_of(p);
    plan_options const options{.bytes = 8, .role = {{}, {}, kept}};
    auto const names = name_slots(made, plan_linearly(p, options), options);
    CHECK(names.name_of == std::vector<value_id>{3, 3, 2});
    CHECK(checked(made, names));
    ops const list{{{}, {a}}, {{a}, {a}}, {{a}, {a}}, {{a}, {b}}};
    CHECK(rename_list(list, 2, {.bytes = 8, .role = {{}, kept}}).after == list);
}

TEST_CASE("a view keeps its name unless an option gives it that of its storage")
{
    enum : std::uint32_t { x, view, y, z };
    ops const list{{{}, {x}}, {{x}, {view}}, {{view}, {y}}, {{y}, {z}}};
    plan_options const options{.bytes = 8,
                               .alias_of = std::vector<value_id>{no_value, x, no_value, no_value}};
    auto const own = rename_list(list, 4, options);
    CHECK(own.after == ops{{{}, {4}}, {{4}, {view}}, {{view}, {y}}, {{y}, {4}}});
    auto const by_storage = rename_list(list, 4, options, {.renames_views = true});
    CHECK(by_storage.after == ops{{{}, {4}}, {{4}, {4}}, {{4}, {y}}, {{y}, {4}}});
}

// SYSTEMS T7: the table entry of a name that replaces others.
TEST_CASE("a new name has the size of its largest occupant, and names that occupant")
{
    ops const list{{{}, {a}}, {{a}, {b}}, {{b}, {c}}, {{c}, {d}}, {{d}, {e}}};
    plan_options const options{
        .bytes = {8, 64, 32, 16, 4}, .role = {{}, {}, {}, {}, kept}, .pool = pool_id{3}};
    auto const all = rename_list(list, 5, options);
    REQUIRE(all.names.new_names.size() == 2);
    slot_renaming::name const first = all.names.new_names[0], second = all.names.new_names[1];
    CHECK(first.largest == c); // a, c
    CHECK(first.bytes == 32);
    CHECK(first.occupants == 2);
    CHECK(first.pool == 3);
    CHECK(second.largest == b); // b, d
    CHECK(second.bytes == 64);
}

TEST_CASE("an empty program has no new names")
{
    CHECK(rename_list({}, 0, {.bytes = 8}).after.empty());
    CHECK(rename_list({{{}, {}}}, 0, {.bytes = 8}).names.new_names.empty());
    ops const one{{{}, {a}}};
    CHECK(rename_list(one, 1, {.bytes = 8}).after == one);
    CHECK(rename_list(one, 1, {.bytes = 0}).after == one);
    CHECK(rename_list(one, 1, {.bytes = no_size}).after == one);
}

TEST_CASE("an invalid plan or table is refused")
{
    snapshot const p = program_of({{{}, {a}}}, 1);
    auto const made = versions_of(p);
    sized_slot_plan plan;
    CHECK_THROWS_AS((void)name_slots(made, plan, {.bytes = 8}), precondition_error);
    plan.slot_of = {0};
    CHECK_THROWS_AS((void)name_slots(made, plan, {.bytes = 8}), precondition_error);
    plan.slots = 1;
    (void)name_slots(made, plan, {.bytes = 8});
    snapshot const at_end = tasks(
        2, 1, [](node_id n) { return n == 0 ? std::vector<node_id>{1} : std::vector<node_id>{}; },
        [](node_id n, effect_sink& sink) {
            if (n == 0) sink.def(0);
            else sink.use_at_end_of(0, 0);
        });
    auto const ended = versions_of(at_end);
    auto const names = name_slots(ended, plan, {.bytes = 8});
    auto ignore = [](auto, std::size_t, std::size_t) {};
    CHECK_THROWS_AS(rename(ended, names, ignore, ignore), precondition_error);
    rename(ended, names, ignore, ignore, ignore);
}

namespace {

/// Runs the user's renamed lists name by name: every step must read what the program read before. A name has
/// its own bytes, but a view has those of its storage.
void run_again(random_names const& before, names_run const& expected, versioned_program const& made,
               slot_renaming const& names)
{
    using content = names_run::content;
    snapshot const p = before.program();
    std::vector<std::vector<value_id>> in(p.steps()), out(p.steps());
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) (t.defines() ? out : in)[s].push_back(t.value);
    std::vector<std::vector<value_id>> at_end(p.nodes());
    for (edge_use u : p.edge_uses()) at_end[u.node].push_back(u.value);
    auto name = [&](std::size_t k) { return value_id::of(before.values() + k); };
    rename(
        made, names, [&](step_id s, std::size_t i, std::size_t k) { in[s][i] = name(k); },
        [&](step_id s, std::size_t i, std::size_t k) { out[s][i] = name(k); },
        [&](node_id n, std::size_t i, std::size_t k) { at_end[n][i] = name(k); });

    std::size_t const all = before.values() + names.new_names.size();
    std::vector<content> cell(all);
    std::vector<std::size_t> cell_of(all);
    for (std::size_t i = 0; i != all; ++i) cell_of[i] = i;
    for (value_id v = 0; v != before.values(); ++v) {
        if (!is_given(before.role[v])) continue;
        cell_of[v] = before.alias_of[v] == no_value ? +v : cell_of[before.alias_of[v]];
        if (before.alias_of[v] == no_value) cell[v] = names_run::given(v);
    }
    std::vector<std::size_t> next_of(p.nodes());
    for (node_id n : before.order) {
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            std::vector<content> reads;
            for (value_id v : in[s]) reads.push_back(cell[cell_of[v]]);
            REQUIRE(reads == expected.reads[s]);
            auto const touches = made.program.touches(s);
            auto const was = p.touches(s);
            std::vector<std::size_t> defs; // a viewed value, which has a lower id, comes before its views
            for (std::size_t i = reads.size(); i != touches.size(); ++i) defs.push_back(i);
            std::sort(defs.begin(), defs.end(), [&](std::size_t i, std::size_t k) {
                return was[i].value != was[k].value ? was[i].value < was[k].value : i < k;
            });
            for (std::size_t i : defs) {
                value_id const of = made.alias_of[touches[i].value], mine = out[s][i - reads.size()];
                cell_of[mine] = of == no_value ? +mine : cell_of[names.name_of[of]];
                std::size_t first = reads.size();
                while (was[first].value != was[i].value) ++first;
                if (!expected.makes_view[s][i]) cell[cell_of[mine]] = names_run::written(s, first, reads);
            }
        }
        for (std::size_t i = 0; i != p.edge_uses().size(); ++i)
            if (edge_use const u = p.edge_uses()[i]; u.pred == n) {
                std::size_t operand = 0;
                for (std::size_t k = 0; k != i; ++k) operand += p.edge_uses()[k].node == u.node;
                REQUIRE(cell[cell_of[at_end[u.node][operand]]] == expected.reads_at_end[i]);
            }
    }
    for (value_id v = 0; v != before.values(); ++v)
        if (has_role(before.role[v], kept) || has_role(before.role[v], value_role::external))
            REQUIRE(cell[cell_of[v]] == expected.left[v]);
}

} // namespace

TEST_CASE("a renamed program reads what it read before, view by view and version by version")
{
    std::size_t shared = 0, split = 0, by_tokens = 0;
    for (std::uint32_t seed = 0; seed != rounds(4000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_names drawn = draw_names(pick, {.nodes = 9, .names = 8, .shuffled = false});
        for (value_id v = 0; v != drawn.values(); ++v) // one name for an input and an output is one storage
            if (is_given(drawn.role[v]) && has_role(drawn.role[v], kept)) drawn.same_storage[v] = true;
        names_run const expected(drawn);
        if (expected.is_ambiguous) continue;
        std::vector<byte_count> bytes;
        std::vector<pool_id> pool;
        bool const equal = pick.below(2) == 0; // in place
        for (value_id v = 0; v != drawn.values(); ++v) {
            bytes.push_back(equal ? 8 : 8 * (1 + pick.below(2)));
            pool.push_back(pick.below(8) == 0 ? 1 : 0);
        }
        plan_options const by_name{.bytes = within_roots(bytes, drawn.alias_of),
                                   .role = drawn.role,
                                   .alias_of = drawn.alias_of,
                                   .pool = pool,
                                   .in_place = equal};
        auto const made =
            versions_of(drawn.program(),
                        {.role = drawn.role, .alias_of = drawn.alias_of, .same_storage = drawn.same_storage});
        if (!made) continue;
        plan_options const options = with_versions(by_name, made);
        rename_options const how{.renames_views = pick.below(2) == 0};
        for (bool tokens : {false, true}) {
            sized_slot_plan plan;
            if (tokens) {
                auto const shares = share_slots(made.program, options);
                if (!shares) continue;
                plan = shares;
            } else {
                auto const lives = lifetimes(made.program, {.role = made.role});
                if (!lives) continue;
                plan = plan_linearly(made.program, options);
            }
            auto const names = name_slots(made, plan, options, how);
            shared += names.new_names.size();
            by_tokens += tokens ? names.new_names.size() : 0;
            split += made.value_of.size() - drawn.values();
            REQUIRE(checked(made, names));
            run_again(drawn, expected, made, names);
            for (slot_renaming::name const& one : names.new_names) {
                std::size_t occupants = 0;
                byte_count largest = 0;
                for (value_id v = 0; v != made.value_of.size(); ++v) {
                    bool const is_tenant =
                        names.name_of[v] ==
                            drawn.values() + static_cast<std::size_t>(&one - names.new_names.data()) &&
                        made.alias_of[v] == no_value;
                    if (!is_tenant) continue;
                    ++occupants;
                    largest = std::max(largest, bytes[made.value_of[v]]);
                    REQUIRE(plan.slot_of[v] == one.slot);
                    REQUIRE(pool[made.value_of[v]] == one.pool);
                }
                REQUIRE(occupants == one.occupants);
                REQUIRE(largest == one.bytes);
                REQUIRE(occupants > 0);
            }
        }
    }
    CHECK(shared > 1000);
    CHECK(split > 1000);
    CHECK(by_tokens > 300);
}

// --- sharing log -------------------------------------------------------------------------------------------

namespace {

/// 0: a; 1: a -> b; 2: b -> c; 3: c, b -> d
snapshot chain()
{
    return sequence(
        4, 4, [](step_id s) { return std::vector<std::vector<int>>{{}, {0}, {1}, {2, 1}}[s]; },
        [](std::uint32_t s) { return std::vector{s}; });
}

slot_plan slots(std::vector<slot_id> slot_of, std::uint32_t count) { return {std::move(slot_of), count}; }

std::vector<byte_count> const sizes{64, 32, 48, 80};

} // namespace

// SYSTEMS M7, T9: what replaced what, and the bytes saved.
TEST_CASE("the log gives for every value its slot, the value before it, and the bytes saved")
{
    auto const log = log_sharing(chain(), slots({0, 1, 0, 0}, 2), {.bytes = sizes});
    std::ostringstream text;
    char const* const names[] = {"conv1", "relu1", "conv2", "sum"};
    write_log(text, log, [&](value_id v) { return names[v]; });
    CHECK(text.str() ==
          "conv1: 64 B opens slot 0\n"
          "relu1: 32 B opens slot 1\n"
          "conv2: 48 B takes slot 0 from conv1, saves 48 B\n"
          "sum: 80 B is written over slot 0, in place of conv2, which grows by 16 B, saves 64 B\n"
          "4 values in 2 slots, 1 of them shared: 112 B instead of 224 B\n");
    CHECK(log.saved() == 112);
    CHECK(log.shared == 1);
}

TEST_CASE("a log is written to any stream, with numbers if there are no names")
{
    std::ostringstream text;
    text << log_sharing(chain(), slots({0, no_slot, 1, no_slot}, 3), {.bytes = sizes});
    CHECK(text.str() == "0: 64 B opens slot 0\n2: 48 B opens slot 1\n"
                        "2 values in 2 slots, 0 of them shared: 112 B instead of 112 B\n");
    struct wire {
        std::string all;
        void operator<<(char const* s) { all += s; }
        void operator<<(char one) { all += one; }
    } plain;
    write_total(plain, sharing_log{});
    CHECK(plain.all == "0 values in 0 slots, 0 of them shared: 0 B instead of 0 B\n");
}

TEST_CASE("the trace of a value is its own entry and that of its successor in the slot")
{
    auto const log = log_sharing(chain(), slots({0, 1, 0, 0}, 2), {.bytes = sizes});
    auto const about = trace(log, c);
    REQUIRE(about.size() == 2);
    CHECK(about[0] == sharing_log::entry{c, a, 0, 48, 0, false});
    CHECK(about[1] == sharing_log::entry{d, c, 0, 80, 16, true});
    CHECK(trace(log, 77).empty());
}

TEST_CASE("views have no entry, and inputs come first")
{
    auto const log = log_sharing(
        chain(), slots({0, 0, 1, 1}, 2),
        {.bytes = sizes, .alias_of = [](value_id v) { return v == b ? a : no_value; }}, {0, 1, 2, 3});
    CHECK(log.entries.size() == 3);
    snapshot const p = sequence(
        1, 3, [](step_id) { return std::vector{2}; }, [](step_id) { return std::vector{1}; });
    auto const shared = log_sharing(p, slots({no_slot, 0, 1}, 2), {.bytes = 8});
    CHECK(shared.entries[0].value == 2);
}

TEST_CASE("a log of an invalid plan is refused")
{
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0}, 1), {.bytes = 8}), precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 0, 0, 5}, 1), {.bytes = 8}), precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 0, 0, 0}, 1), {.bytes = no_size}),
                    precondition_error);
    CHECK_THROWS_AS((void)log_sharing(chain(), slots({0, 1, 2, 3}, 4), {.bytes = no_size / 2}),
                    precondition_error);
}

TEST_CASE("the lines add up to the total saved")
{
    std::size_t in_place = 0;
    for (std::uint32_t seed = 0; seed != rounds(1000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_tasks const tasks = draw_tasks(pick, {.tasks = 20, .views = 15, .in_place = 30});
        auto const plan = share_slots(tasks.program(), tasks.options());
        REQUIRE(plan);
        auto const log = log_sharing(tasks.program(), plan, tasks.options());
        byte_count naive = 0, saved = 0;
        std::map<slot_id, byte_count> largest;
        for (value_id v = 0; v != tasks.values(); ++v) {
            if (plan.slot_of[v] == no_slot || tasks.alias_of[v] != no_value) continue;
            naive += tasks.bytes[v];
            largest[plan.slot_of[v]] = std::max(largest[plan.slot_of[v]], tasks.bytes[v]);
        }
        byte_count total = 0;
        for (auto const& [slot, bytes] : largest) total += bytes;
        for (sharing_log::entry const& e : log.entries) {
            saved += e.saved();
            in_place += e.is_in_place;
        }
        REQUIRE(log.naive_bytes == naive);
        REQUIRE(log.slot_bytes == total);
        REQUIRE(log.slots == largest.size());
        REQUIRE(saved == naive - total);
        REQUIRE(saved == log.saved());
    }
    CHECK(in_place > rounds(200));
}

// --- unused names ------------------------------------------------------------------------------------------

namespace {

std::vector<std::uint64_t> unused(std::string const& prefix, std::size_t count,
                                  std::vector<std::string> const& names)
{
    return unused_names(
        prefix, count, names.size(), [&](value_id v) -> auto& { return names[v]; });
}

using numbers = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("names that are in use are skipped")
{
    CHECK(unused("slot", 3, {"conv1", "slot0", "slot2", "slot07"}) == numbers{1, 3, 4});
    CHECK(unused("slot", 2, {}) == numbers{0, 1});
    CHECK(unused("slot", 0, {"slot0"}).empty());
    CHECK(unused("", 2, {"0", "2", "a", ""}) == numbers{1, 3});
}

TEST_CASE("a name may be a number, text or characters")
{
    CHECK(unused_names("", 2, 3, [](value_id v) { return 2 * v; }) == numbers{1, 3});
    CHECK(unused_names("s", 2, 1, [](value_id) { return "s0"; }) == numbers{1, 2});
    CHECK(unused_names("s", 1, 1, [](value_id) { return std::vector<char>{'s', '0'}; }) == numbers{1});
}

TEST_CASE("a number is a canonical decimal of 64 bits")
{
    CHECK(parse_numbered("s", "s0") == 0);
    CHECK(parse_numbered("s", "s120") == 120);
    CHECK(parse_numbered("s", "s18446744073709551615") == ~std::uint64_t{0});
    for (char const* none : {"", "s", "t0", "s00", "s01", "s 1", "s-1", "s1x", "S1", "s18446744073709551616",
                             "s99999999999999999999999"})
        CHECK(parse_numbered("s", none) == std::nullopt);
    CHECK(parse_numbered("slot_1", "slot_11") == 1);
}

// SYSTEMS M2, REGRESSIONS memonger.cc 11.
TEST_CASE("no new name repeats one of many random names in use")
{
    for (std::uint32_t seed = 0; seed != rounds(500); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        std::string const prefix = std::string("m1").substr(0, pick.below(3));
        std::vector<std::string> names;
        for (auto i = pick.below(60); i != 0; --i) {
            std::string name = pick.below(4) == 0 ? "m" : prefix;
            for (auto k = pick.below(3); k != 0; --k) name += std::to_string(pick.below(12));
            names.push_back(name);
        }
        std::set<std::string> all(names.begin(), names.end());
        auto const found = unused(prefix, 20, names);
        REQUIRE(found.size() == 20);
        std::uint64_t before = 0;
        for (std::uint64_t number : found) {
            for (; before != number; ++before) REQUIRE(all.count(prefix + std::to_string(before)) == 1);
            REQUIRE(all.insert(prefix + std::to_string(number)).second);
            ++before;
        }
    }
}

} // namespace this_test
