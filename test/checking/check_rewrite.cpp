// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_rewrite.hpp>

#include "../archetype.hpp"
#include "../operations.hpp"
#include "../random_names.hpp"
#include "../random_source.hpp"

#include <sublet/analysis/versions.hpp>

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

using operations = std::vector<operation>;

std::optional<counterexample> fault_of(operations const& before, operations const& after,
                                       rewrite_options const& options = {})
{
    verdict const valid = check_rewrite(program_of(before), program_of(after), options);
    return valid ? std::nullopt : std::optional(valid.error());
}

counterexample difference(fault what, counterexample::renaming const& its) { return {what, its}; }

operations const chain{{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {}}, {{2}, {}, {}}};
std::vector<value_role> const given_first{value_role::input, {}, {}};

/// A program with names that can be changed one by one.
struct renaming {
    snapshot shape;
    std::vector<std::vector<value_id>> names; // by step and touch
    std::vector<value_id> at_end;             // by edge use
    std::vector<overwrite> pairs;
    std::size_t values;
    std::vector<value_id> given_as, kept_as; // by value before

    snapshot program() const
    {
        std::size_t use_at_end = 0;
        return detail::with_effects(shape, values, [&](node_id n, effect_sink& sink) {
            step_range const own = shape.steps_of(n);
            for (step_id s = own.first; s != own.last; ++s) {
                if (s != own.first) sink.next_step();
                for (std::size_t i = 0; i != names[s].size(); ++i) {
                    sink.add(shape.touches(s)[i].kind, names[s][i]);
                }
                for (overwrite o : pairs)
                    if (o.step == s) sink.may_overwrite(o.in, o.out);
            }
            for (edge_use u : shape.edge_uses(n)) sink.use_at_end_of(u.pred, at_end[use_at_end++]);
        });
    }
};

renaming same_names(snapshot const& p, std::size_t values)
{
    renaming all{p, {}, {}, {p.overwrites().begin(), p.overwrites().end()}, p.values(), {}, {}};
    for (step_id s = 0; s != p.steps(); ++s) {
        all.names.emplace_back();
        for (touch t : p.touches(s)) all.names.back().push_back(t.value);
    }
    for (edge_use u : p.edge_uses()) all.at_end.push_back(u.value);
    for (value_id v = 0; v != values; ++v) all.given_as.push_back(v), all.kept_as.push_back(v);
    return all;
}

/// The oracle: runs both programs and compares the contents that are read and left; then compares for every
/// step the operands that its results may overwrite.
struct oracle {
    random_names const& names;
    renaming const& after;
    snapshot before;

    oracle(random_names const& n, renaming const& a) : names(n), after(a), before(n.program()) {}

    value_id root(value_id v) const { return names.root(v); }
    struct trace {
        std::vector<std::vector<std::string>> reads;
        std::vector<std::string> at_end, left;
        std::vector<std::vector<bool>>
            apart; // views that are made under another name than that of their root
        bool reads_as(trace const& other) const
        {
            return reads == other.reads && at_end == other.at_end && left == other.left;
        }
    };
    template <class Name, class NameAtEnd, class Given, class Kept>
    trace run(Name name, NameAtEnd name_at_end, std::size_t cells, Given given_as, Kept kept_as) const
    {
        trace seen;
        std::vector<std::string> cell(cells);
        std::vector<value_id> made_as(names.values(), no_value); // by root: its last name
        for (value_id v = 0; v != names.values(); ++v)
            if (is_given(names.role[v])) {
                cell[given_as(v)] = "given " + std::to_string(root(v));
                made_as[root(v)] = given_as(v);
            }
        seen.reads.resize(before.steps());
        seen.apart.resize(before.steps());
        seen.at_end.resize(before.edge_uses().size());
        for (node_id n : names.order) {
            step_range const own = before.steps_of(n);
            for (step_id s = own.first; s != own.last; ++s)
                for (std::size_t i = 0; i != before.touches(s).size(); ++i) {
                    touch const t = before.touches(s)[i];
                    value_id& of_root = made_as[root(t.value)];
                    bool const is_view = t.makes_view() && root(t.value) != t.value && of_root != no_value;
                    seen.reads[s].push_back(is_view       ? cell[of_root]
                                            : t.defines() ? std::string()
                                                          : cell[name(s, i)]);
                    seen.apart[s].push_back(is_view && name(s, i) != of_root);
                    if (!t.defines()) continue;
                    if (is_view) cell[name(s, i)] = cell[of_root];
                    else
                        cell[of_root = name(s, i)] =
                            "step " + std::to_string(s) + " touch " + std::to_string(i);
                }
            for (std::size_t i = 0; i != seen.at_end.size(); ++i)
                if (before.edge_uses()[i].pred == n) seen.at_end[i] = cell[name_at_end(i)];
        }
        for (value_id v = 0; v != names.values(); ++v)
            if (has_role(names.role[v], value_role::output) || has_role(names.role[v], value_role::external))
                seen.left.push_back(cell[kept_as(v)]);
        return seen;
    }
    trace run_before() const
    {
        auto by_root = [this](value_id v) { return root(v); };
        return run([&](step_id s, std::size_t i) { return root(before.touches(s)[i].value); },
                   [&](std::size_t i) { return root(before.edge_uses()[i].value); }, names.values(), by_root,
                   by_root);
    }
    trace run_after() const
    {
        return run([&](step_id s, std::size_t i) { return after.names[s][i]; },
                   [&](std::size_t i) { return after.at_end[i]; }, after.values,
                   [&](value_id v) { return after.given_as[v]; },
                   [&](value_id v) { return after.kept_as[v]; });
    }
    bool results_differ(step_id s) const
    {
        auto const touches = before.touches(s);
        std::vector<bool> const apart = run_after().apart[s];
        for (std::size_t i = 0; i != touches.size(); ++i)
            for (std::size_t k = 0; k != i; ++k)
                if (touches[i].defines() && touches[k].defines()) {
                    bool const is_one = root(touches[i].value) == root(touches[k].value);
                    bool const is_one_name = after.names[s][i] == after.names[s][k];
                    if (is_one_name ? !is_one : is_one && !apart[i] && !apart[k]) return true;
                }
        return false;
    }
    bool pairs_differ(step_id s) const
    {
        std::set<std::pair<value_id, value_id>> asked, done;
        auto const touches = before.touches(s);
        std::vector<bool> const apart = run_after().apart[s];
        for (std::size_t i = 0; i != touches.size(); ++i)
            for (std::size_t k = 0; k != touches.size(); ++k) {
                if (touches[i].defines() || !touches[k].defines()) continue;
                value_id const x = after.names[s][i], y = after.names[s][k];
                bool is_held = false; // another use of this name is held to the end of the step
                for (std::size_t j = 0; j != touches.size(); ++j)
                    is_held |= touches[j].kind == touch::access::use && after.names[s][j] == x;
                bool const is_late = touches[i].kind == touch::access::use;
                bool const is_view = touches[k].makes_view() && root(touches[k].value) != touches[k].value;
                if (root(touches[i].value) == root(touches[k].value) && (x != y ? !is_view : is_late))
                    asked.insert({x, y});
                if (x == y && is_late) done.insert({x, y});
                if (apart[k] || (x == y && !is_held)) continue; // writes nothing, or reads before it does
                for (overwrite o : before.overwrites(s)) {
                    if (root(o.in) != root(touches[i].value) || root(o.out) != root(touches[k].value))
                        continue;
                    bool others = false;
                    for (std::size_t j = 0; j != touches.size(); ++j)
                        others |= touches[j].kind == touch::access::use && after.names[s][j] == x &&
                                  touches[j].value != o.in;
                    if (x != y || !others) asked.insert({x, y});
                }
                for (overwrite o : after.pairs)
                    if (o.step == s && o.in == x && o.out == y) done.insert({x, y});
            }
        return asked != done;
    }
    bool gifts_differ() const
    {
        for (value_id v = 0; v != names.values(); ++v)
            for (value_id u = 0; u != v; ++u)
                if (is_given(names.role[u]) && is_given(names.role[v]) &&
                    (root(u) == root(v)) != (after.given_as[u] == after.given_as[v]))
                    return true;
        return false;
    }
    bool differs() const
    {
        if (gifts_differ()) return true;
        if (!run_before().reads_as(run_after())) return true;
        for (step_id s = 0; s != before.steps(); ++s)
            if (results_differ(s) || pairs_differ(s)) return true;
        return false;
    }
};

/// Fewer names: each class gets the first that is free from its first to its last touch, in listed order. A
/// name is never reused in the step of its last read, which would have to be declared.
renaming fewer_names(random_names const& names, random_source& pick)
{
    snapshot const p = names.program();
    renaming all = same_names(p, names.values());
    table<step_id, position_id> position(p.steps());
    position_id next = 0;
    for (node_id n : names.order)
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) position[s] = next++;
    struct life {
        position_id first = no_position, last = 0;
    };
    std::vector<life> lives(names.values());
    auto touched = [&](value_id v, position_id at) {
        life& its = lives[names.root(v)];
        its.first = std::min(its.first, at);
        its.last = std::max<position_id>(its.last, at + 1);
    };
    for (step_id s = 0; s != p.steps(); ++s)
        for (touch t : p.touches(s)) touched(t.value, position[s]);
    for (edge_use u : p.edge_uses()) touched(u.value, position[p.steps_of(u.pred).last - 1]);
    for (value_id v = 0; v != names.values(); ++v) {
        if (is_given(names.role[v])) lives[names.root(v)].first = 0;
        bool const lasts =
            has_role(names.role[v], value_role::output) || has_role(names.role[v], value_role::external);
        if (lasts) touched(v, next);
    }
    std::vector<value_id> slot_of(names.values(), no_value);
    auto slot = [&](value_id v) { return slot_of[names.root(v)]; };
    std::uint32_t slots = 0;
    for (value_id v = 0; v != names.values(); ++v) {
        if (names.root(v) != v) continue;
        value_id s = pick.below(2); // not always the first
        for (bool is_free = false; !is_free; ++s) {
            is_free = true;
            for (value_id u = 0; u != names.values(); ++u)
                if (slot_of[u] == s && lives[u].first < lives[v].last && lives[v].first < lives[u].last)
                    is_free = false;
            if (is_free) break;
        }
        slot_of[v] = s;
        slots = std::max(slots, s + 1);
    }
    all.values = slots + 1;
    for (auto& step : all.names)
        for (auto& name : step) name = slot(name);
    for (auto& name : all.at_end) name = slot(name);
    for (auto& o : all.pairs) o = {o.step, slot(o.in), slot(o.out)};
    for (value_id v = 0; v != names.values(); ++v) all.given_as[v] = all.kept_as[v] = slot(v);
    return all;
}

renaming of_versions(random_names const& names)
{
    auto const made = versions_of(names.program(), {.role = names.role, .order = names.order});
    renaming all = same_names(made.program, names.values());
    all.kept_as = made.last;
    return all;
}

/// Changes one or two things.
void damage(renaming& all, random_source& pick)
{
    auto any = [&](std::size_t n) { return pick.below(static_cast<unsigned>(n)); };
    auto name = [&] { return any(all.values); };
    step_id const s = any(all.names.size());
    switch (pick.below(8)) {
    case 0:
    case 1:
        if (!all.names[s].empty()) all.names[s][any(all.names[s].size())] = name();
        break;
    case 2:
        if (!all.at_end.empty()) all.at_end[any(all.at_end.size())] = name();
        break;
    case 3: { // one name becomes another from here on
        value_id const from = name(), to = name();
        for (std::size_t i = s; i != all.names.size(); ++i)
            std::replace(all.names[i].begin(), all.names[i].end(), from, to);
        break;
    }
    case 4: { // two names are exchanged or merged everywhere
        value_id const from = name(), to = name();
        for (auto& step : all.names) std::replace(step.begin(), step.end(), from, to);
        break;
    }
    case 5:
        if (!all.pairs.empty()) all.pairs.erase(all.pairs.begin() + any(all.pairs.size()));
        break;
    case 6: all.pairs.push_back({s, name(), name()}); break;
    case 7: (pick.below(2) == 0 ? all.given_as : all.kept_as)[any(all.given_as.size())] = name(); break;
    }
}

rewrite_options options_of(random_names const& names, renaming const& all)
{
    return {.role = names.role,
            .alias_of = names.alias_of,
            .given_as = all.given_as,
            .kept_as = all.kept_as,
            .order = names.order};
}

} // namespace

TEST_CASE("other names for the same values are no change")
{
    CHECK(!fault_of(chain, chain));
    CHECK(!fault_of(chain, {{{}, {2}, {}}, {{2}, {0}, {}}, {{0}, {1}, {}}, {{1}, {}, {}}}));
    CHECK(!fault_of(chain, {{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {0}, {}}, {{0}, {}, {}}})); // taking turns
    CHECK(!fault_of({}, {}));
}

TEST_CASE("a use that reads the def of another step is found, with both steps")
{
    operations const before{{{}, {0}, {}}, {{}, {1}, {}}, {{0, 1}, {}, {}}};
    operations const after{{{}, {0}, {}}, {{}, {0}, {}}, {{0, 0}, {}, {}}};
    CHECK(fault_of(before, after) == difference(fault::other_read, {2, 0, 0, 0, {0, 0}, {1, 0}}));
    CHECK(fault_of(before, {{{}, {0}, {}}, {{}, {1}, {}}, {{0, 0}, {}, {}}}) ==
          difference(fault::other_read, {2, 1, 1, 0, {1, 0}, {0, 0}}));
}

TEST_CASE("results of one step are distinguished")
{
    operations const before{{{}, {0, 1}, {}}, {{0}, {}, {}}, {{1}, {}, {}}};
    CHECK(!fault_of(before, {{{}, {1, 0}, {}}, {{1}, {}, {}}, {{0}, {}, {}}}));
    CHECK(fault_of(before, {{{}, {1, 0}, {}}, {{0}, {}, {}}, {{1}, {}, {}}})->what == fault::other_read);
    CHECK(fault_of(before, {{{}, {0, 0}, {}}, {{0}, {}, {}}, {{0}, {}, {}}})->what == fault::other_storage);
    operations const unread{{{}, {0, 1}, {}}, {{0}, {}, {}}}; // also if one is not read
    CHECK(fault_of(unread, {{{}, {0, 0}, {}}, {{0}, {}, {}}})->what == fault::other_storage);
}

TEST_CASE("a dead def destroys the value that has its name")
{
    operations const before{{{}, {0}, {}}, {{}, {1}, {}}, {{0}, {}, {}}};
    CHECK(fault_of(before, {{{}, {0}, {}}, {{}, {0}, {}}, {{0}, {}, {}}})->what == fault::other_read);
}

TEST_CASE("a given value is found under its initial name")
{
    operations const before{{{0}, {1}, {}}, {{0, 1}, {}, {}}}, after{{{1}, {0}, {}}, {{1, 0}, {}, {}}};
    auto const role = std::vector<value_role>{value_role::input, {}};
    CHECK(!fault_of(before, after, {.role = role, .given_as = {1, 1}}));
    CHECK(fault_of(before, after, {.role = role}) ==
          difference(fault::other_read, {0, 0, 0, 1, {no_step, 0}, {}}));
    CHECK_THROWS_AS((void)fault_of(before, after, {.role = role, .given_as = 2}), precondition_error);
}

TEST_CASE("given values are not merged, and views of one value are not separated")
{
    operations const ops{{{0}, {}, {}}, {{}, {1}, {}}}; // merging is refused although 1 is not read
    auto const in = value_role::input;
    CHECK(fault_of(ops, ops, {.role = in, .given_as = {0, 0}}) ==
          difference(fault::other_storage, {no_step, 0, 1, 0, {}, {}}));
    CHECK(!fault_of(ops, {{{0}, {}, {}}, {{}, {0}, {}}},
                    {.role = in, .alias_of = {-1, 0}, .given_as = 0, .kept_as = 0}));
    CHECK(fault_of(ops, ops, {.role = in, .alias_of = {-1, 0}})->what == fault::other_storage);
}

TEST_CASE("an output or external value is at the end under its final name")
{
    operations const before{{{}, {0}, {}}, {{0}, {1}, {}}}, after{{{}, {1}, {}}, {{1}, {0}, {}}};
    auto const out = std::vector<value_role>{{}, value_role::output};
    CHECK(!fault_of(before, after, {.role = out, .kept_as = {0, 0}}));
    CHECK(fault_of(before, after, {.role = out}) ==
          difference(fault::other_end, {no_step, 0, 1, 1, {1, 1}, {0, 0}}));
    CHECK_THROWS_AS((void)fault_of(before, after, {.role = out, .kept_as = 2}), precondition_error);
    // The step writes over a value that the caller keeps and no step reads.
    std::vector<value_role> const kept{{}, {}, value_role::external};
    operations const leaves{{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {}, {}}, {{}, {2}, {}}},
        takes{{{}, {2}, {}}, {{2}, {1}, {}}, {{1}, {}, {}}, {{}, {0}, {}}};
    CHECK(fault_of(leaves, takes, {.role = kept})->what == fault::other_end);
    CHECK(!fault_of(leaves, takes, {.role = kept, .kept_as = {0, 0, 0}}));
}

TEST_CASE("a result takes the name of an operand only where that is declared")
{
    operations before{{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {}, {}}};
    operations after{{{}, {0}, {}}, {{0}, {0}, {}}, {{0}, {}, {}}};
    CHECK(fault_of(before, after)->what == fault::other_in_place);
    before[1].overwrites = {{0, 1}};
    after[1].overwrites = {{0, 0}};
    CHECK(!fault_of(before, after));
    after[1].overwrites.clear(); // it is in place without a declaration
    CHECK(!fault_of(before, after));
    operations apart = before;
    CHECK(!fault_of(before, apart));
    apart[1].overwrites.clear(); // the declaration is lost
    CHECK(fault_of(before, apart) == difference(fault::other_in_place, {1, 0, 0, 1, {}, {}}));
    CHECK(fault_of(apart, before)->what == fault::other_in_place); // or added
}

TEST_CASE("a name that a step reads and writes stays one name, or is declared")
{
    operations const before{{{}, {0}, {}}, {{0}, {0}, {}}, {{0}, {0}, {}}, {{0}, {}, {}}};
    CHECK(!fault_of(before, before));
    operations after{{{}, {0}, {}}, {{0}, {1}, {{0, 1}}}, {{1}, {2}, {{1, 2}}}, {{2}, {}, {}}};
    CHECK(!fault_of(before, after));
    after[2].overwrites.clear();
    CHECK(fault_of(before, after)->step() == 2);
}

TEST_CASE("a result is not written over an operand of which the step also reads a view")
{
    operations const before{{{}, {0}, {}}, {{0}, {1}, {}}, {{0, 1}, {2}, {{0, 2}}}, {{2}, {}, {}}};
    operations const after{{{}, {0}, {}}, {{0}, {0}, {}}, {{0, 0}, {0}, {{0, 0}}}, {{0}, {}, {}}};
    CHECK(fault_of(before, after, {.alias_of = {-1, 0, -1}}) ==
          difference(fault::other_in_place, {2, 0, 0, 0, {}, {}}));
}

TEST_CASE("an operand that is read early needs no declaration")
{
    auto early = [](std::vector<value_id> n, bool is_also_late) {
        return sequence(3, 2, [=](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(n[0]);
            if (s == 1) sink.use_early(n[0]), sink.def(n[1]);
            if (s == 1 && is_also_late) sink.use(n[0]);
            if (s == 2) sink.use(n[1]);
        });
    };
    CHECK(check_rewrite(early({0, 1}, false), early({0, 0}, false)));
    CHECK(check_rewrite(early({0, 1}, true), early({0, 0}, true)).error().what == fault::other_in_place);
}

TEST_CASE("views share the name of their root")
{
    operations const before{{{}, {0}, {}}, {{0}, {1}, {}}, {{0}, {}, {}}, {{1}, {}, {}}};
    operations const one{{{}, {0}, {}}, {{0}, {0}, {}}, {{0}, {}, {}}, {{0}, {}, {}}};
    CHECK(!fault_of(before, one, {.alias_of = {-1, 0}}));
    CHECK(fault_of(before, one)->what == fault::other_in_place);
    CHECK(fault_of(before, before, {.alias_of = {-1, 0}}).has_value()); // separated
}

TEST_CASE("the name of a root holds the bytes of the root while a view is made and used")
{
    // Values 0 and 1 are made, 2 is a view of 0; `at` is the step that makes 1.
    auto program = [](step_id at, std::vector<value_id> const& names) {
        return sequence(4, 3, [=](step_id s, effect_sink& sink) {
            if (s == 0) sink.def(names[0]);
            else if (s == at) sink.def(names[1]);
            else if (s == 3) sink.use(names[2]);
            else sink.view(names[2]);
        });
    };
    rewrite_options const options{.alias_of = std::vector<value_id>{no_value, no_value, 0}};
    for (step_id at : {1u, 2u}) { // 1 is made before the view, or after it
        auto check = [&](std::vector<value_id> const& names) {
            return check_rewrite(program(at, {0, 1, 2}), program(at, names), options);
        };
        CHECK(check({0, 1, 0}));
        CHECK(check({0, 1, 2})); // a view with a name of its own
        CHECK(check({1, 0, 1}));
        for (value_id view : {0u, 2u}) {
            if (at == 2 && view == 2) continue; // views that keep names of their own are not followed
            auto const valid = check({0, 0, view});
            REQUIRE(!valid);
            CHECK(valid.error().what == fault::other_read);
            CHECK(valid.error().step() == (at == 1 ? 2 : 3));
            CHECK(valid.error().as<counterexample::renaming>()->found.step == at);
        }
        CHECK(bool{check({0, 1, 1})} == (at != 2));
    }
}

TEST_CASE("a step that reads a value and makes a view of it writes nothing over it")
{
    auto program = [](bool is_held, std::vector<value_id> const& n) {
        return sequence(3, 3, [=](step_id s, effect_sink& sink) {
            auto const use = is_held ? touch::access::use : touch::access::use_early;
            if (s == 0) sink.def(n[0]), sink.def(n[1]);
            else if (s == 2) sink.use(n[0]), sink.use(n[1]), sink.use(n[2]);
            else sink.add(use, n[0]), sink.add(touch::access::view, n[2]), sink.add(use, n[1]);
        });
    };
    rewrite_options const options{.alias_of = std::vector<value_id>{no_value, no_value, 0}};
    for (bool is_held : {true, false}) {
        auto check = [&](std::vector<value_id> const& names) {
            return check_rewrite(program(is_held, {0, 1, 2}), program(is_held, names), options);
        };
        CHECK(check({0, 1, 2}));
        CHECK(check({0, 1, 0}));
        CHECK(!check({0, 1, 1})); // it has the bytes of 0
    }
}

TEST_CASE("a use at the end of a node reads what its last step leaves")
{
    auto program = [](value_id carried, value_id other) {
        return tasks(
            2, 2, [](node_id n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
            [=](node_id n, effect_sink& s) {
                if (n == 0) s.def(carried), s.def(other);
                else s.def(carried), s.use_at_end_of(0, carried);
            });
    };
    CHECK(check_rewrite(program(0, 1), program(1, 0)));
    auto other = tasks(
        2, 2, [](node_id n) { return n == 0 ? std::vector<int>{1} : std::vector<int>{}; },
        [](node_id n, effect_sink& s) {
            if (n == 0) s.def(0), s.def(1);
            else s.def(0), s.use_at_end_of(0, 1);
        });
    CHECK(check_rewrite(program(0, 1), other) ==
          difference(fault::other_read_at_end, {0, 0, 0, 1, {0, 0}, {0, 1}}));
}

TEST_CASE("programs of different shape are no renaming of each other")
{
    auto what = [](operations const& before, operations const& after) {
        auto const fact = fault_of(before, after);
        REQUIRE(fact);
        CHECK(fact->what == fault::other_shape);
        return fact->step();
    };
    CHECK(what(chain, {}) == no_step);
    CHECK(what(chain, {{{}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {}}, {{2, 2}, {}, {}}}) == 3);
    CHECK(what(chain, {{{}, {0}, {}}, {{0}, {1}, {}}, {{1, 2}, {}, {}}, {{2}, {}, {}}}) == 2);
    auto with_edge = [](int to) {
        return tasks(
            3, 1, [to](int n) { return n == 0 ? std::vector<int>{to} : std::vector<int>{}; },
            [](int, effect_sink&) {});
    };
    CHECK(check_rewrite(with_edge(1), with_edge(2)) == difference(fault::other_shape, {}));
    auto in_nodes = [](int first) { // two nodes of three steps
        return tasks(
            2, 1, [](int) { return std::vector<int>{}; },
            [first](int n, effect_sink& s) {
                if (n == first) s.next_step();
            });
    };
    CHECK(check_rewrite(in_nodes(0), in_nodes(1)) == difference(fault::other_shape, {}));
    auto uses_at_end = [](int pred) {
        return tasks(
            3, 1, [](int n) { return n == 2 ? std::vector<int>{} : std::vector<int>{2}; },
            [pred](int n, effect_sink& s) {
                if (n == 2) s.use_at_end_of(pred, 0);
            });
    };
    CHECK(check_rewrite(uses_at_end(0), uses_at_end(1), {.role = value_role::input}) ==
          difference(fault::other_shape, {}));
}

TEST_CASE("any two types that model programs are accepted")
{
    archetype::program const minimal(3);
    CHECK(check_rewrite(minimal, minimal));
    CHECK(check_rewrite(minimal, snapshot(minimal)));
    CHECK(!check_rewrite(snapshot(minimal), archetype::program(2)));
}

TEST_CASE("both programs are read in the given order")
{
    operations const before{{{0}, {}, {}}, {{}, {0}, {}}, {{}, {1}, {}}};
    operations const after{{{0}, {}, {}}, {{}, {0}, {}}, {{}, {0}, {}}};
    CHECK(!fault_of(before, after, {.order = {1, 0, 2}}));
    CHECK(fault_of(before, after, {.order = {1, 2, 0}})->what == fault::other_read);
    CHECK_THROWS_AS((void)fault_of(before, after, {.order = {1, 1, 0}}), precondition_error);
}

TEST_CASE("the renamings with which memonger has destroyed data are found")
{
    struct history {
        char const* what;
        operations before;
        std::vector<value_id> names; // by value; the last is h, which is given
        step_id step;
    };
    std::vector<history> const all{
        {"a name is written again before the value that it now shares with is read",
         {{{4}, {0}, {}}, {{4}, {1}, {}}, {{0, 4}, {2}, {}}, {{2}, {1}, {}}, {{1}, {3}, {}}},
         {0, 0, 2, 3, 4},
         2},
        {"a rewrite in place counts as one more reader of another",
         {{{4}, {0}, {}},
          {{4}, {1}, {}},
          {{0, 4, 1}, {1}, {}},
          {{0}, {2}, {}},
          {{2, 0}, {0}, {}},
          {{1, 0}, {3}, {}}},
         {0, 2, 2, 3, 4},
         5},
        {"the old version of a value written in place has another reader",
         {{{4}, {0, 1}, {}}, {{1}, {2}, {}}, {{1, 0}, {3}, {}}, {{0, 2}, {0}, {}}},
         {0, 1, 2, 2, 4},
         3},
        {"a name is written once more and not read",
         {{{5}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {}}, {{2}, {3}, {}}, {{5}, {0}, {}}, {{2, 3}, {4}, {}}},
         {0, 1, 0, 3, 4, 5},
         5},
        {"a name is written again after its last read, in order",
         {{{4}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {}}, {{4}, {0}, {}}, {{2}, {3}, {}}},
         {0, 1, 0, 3, 4},
         4},
    };
    for (history const& one : all) {
        CAPTURE(one.what);
        operations after = one.before;
        for (auto& op : after)
            for (auto* row : {&op.uses, &op.defs})
                for (value_id& v : *row) v = one.names[v];
        std::vector<value_role> role(one.names.size());
        role.back() = value_role::input;
        auto const fact = fault_of(one.before, after, {.role = role});
        REQUIRE(fact);
        CHECK(fact->what == fault::other_read);
        CHECK(fact->step() == one.step);
    }
    // A value that must not be shared gets the name of another, and is then overwritten.
    operations const kept{{{4}, {0}, {}}, {{0}, {1}, {}}, {{1}, {2}, {}}, {{2}, {3}, {}}, {{3}, {5}, {}}};
    operations const merged{{{4}, {0}, {}}, {{0}, {1}, {}}, {{1}, {0}, {}}, {{0}, {3}, {}}, {{3}, {0}, {}}};
    std::vector<value_role> const role{{}, {}, value_role::output, {}, value_role::input, {}};
    snapshot const before = program_of(kept), after = program_of(merged);
    CHECK(check_rewrite(before, after, {.role = role, .kept_as = {0, 1, 0, 3, 4, 0}}).error().what ==
          fault::other_end);
}

TEST_CASE("versions are a renaming")
{
    std::size_t split = 0;
    for (std::uint32_t seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        random_names names = draw_names(pick, {.nodes = 10, .same = 0, .views = 0});
        renaming const all = of_versions(names);
        split += all.values - names.values();
        REQUIRE(check_rewrite(names.program(), all.program(), options_of(names, all)));
    }
    CHECK(split > rounds(5000));
}

TEST_CASE("a change is found if and only if it changes what a run reads")
{
    std::size_t changed = 0, same = 0;
    std::map<fault, std::size_t> faults;
    for (std::uint32_t seed = 0; seed != rounds(24000); ++seed) {
        CAPTURE(seed);
        random_source pick{std::mt19937(seed)};
        bool const to_versions = seed % 3 == 0;
        random_names const names = draw_names(pick, {.names = 7, .same = 0, .views = to_versions ? 0u : 25u});
        renaming all = to_versions ? of_versions(names) : fewer_names(names, pick);
        for (auto i = pick.below(4); i != 0; --i) damage(all, pick);
        oracle const slow(names, all);
        verdict const valid = check_rewrite(names.program(), all.program(), options_of(names, all));
        REQUIRE(bool{valid} == !slow.differs());
        ++(valid ? same : changed);
        if (valid) continue;
        fault const what = valid.error().what;
        ++faults[what];
        REQUIRE(valid.error().as<counterexample::renaming>() != nullptr);
        auto const fact = *valid.error().as<counterexample::renaming>();

        // The expected and found sources of the counterexample are those of the runs.
        auto said = [&](counterexample::renaming::source from) -> std::string {
            if (from.step != no_step)
                return "step " + std::to_string(from.step) + " touch " + std::to_string(from.operand);
            return from.operand == no_value ? "" : "given " + std::to_string(from.operand);
        };
        auto const expected = slow.run_before(), found = slow.run_after();
        if (what == fault::other_read) {
            REQUIRE(said(fact.expected) == expected.reads[fact.step][fact.operand]);
            REQUIRE(said(fact.found) == found.reads[fact.step][fact.operand]);
            REQUIRE(fact.expected != fact.found);
        } else if (what == fault::other_read_at_end) {
            REQUIRE(said(fact.expected) == expected.at_end[fact.operand]);
            REQUIRE(said(fact.found) == found.at_end[fact.operand]);
            REQUIRE(fact.expected != fact.found);
        } else if (what == fault::other_storage) {
            REQUIRE((fact.step == no_step ? slow.gifts_differ() : slow.results_differ(fact.step)));
        } else if (what == fault::other_in_place) {
            REQUIRE(slow.pairs_differ(fact.step));
        }
    }
    CHECK(same > rounds(6000));
    CHECK(changed > rounds(6000));
    CHECK(faults[fault::other_read] > rounds(1000));
    CHECK(faults[fault::other_read_at_end] > 50);
    CHECK(faults[fault::other_end] > rounds(200));
    CHECK(faults[fault::other_storage] > 200);
    CHECK(faults[fault::other_in_place] > 200);
}

TEST_CASE("a fault prints as a sentence")
{
    auto said = [](fault what, counterexample::renaming const& its) {
        std::ostringstream out;
        out << difference(what, its);
        return out.str();
    };
    CHECK(said(fault::other_read, {2, 0, 1, 5, {0, 1}, {no_step, 3}}) ==
          "at step 2, value 1, now called 5, is the given value 3 and should be what step 0 writes as its "
          "touch 1");
    CHECK(said(fault::other_end, {no_step, 0, 1, 5, {}, {3, 0}}) ==
          "at the end, value 1, now called 5, is what step 3 writes as its touch 0 and should be nothing");
    CHECK(said(fault::other_read_at_end, {4, 0, 1, 5, {}, {3, 0}}).find("at the end of the node of step 4") ==
          0);
    CHECK(said(fault::other_in_place, {2, 0, 4, 5, {}, {}}) ==
          "step 2 may write 5 over 4 in one of the programs only");
    CHECK(said(fault::other_storage, {2, 0, 4, 5, {}, {}}) ==
          "step 2 writes value 4 as 5, but this name has other bytes, or these bytes have another name");
    CHECK(said(fault::other_storage, {no_step, 0, 4, 5, {}, {}})
              .find("the program is given value 4 as 5, but") == 0);
    CHECK(said(fault::other_shape, {}) == "the programs have different nodes, edges or steps");
    CHECK(said(fault::other_shape, {.step = 3}) == "step 3 touches values in another way than before");
}

} // namespace this_test
