// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_LISTED_FACTS_HPP
#define SUBLET_PLANNING_DETAIL_LISTED_FACTS_HPP

/// The values of a listing: their handles and numbers, what is said of each, its name. What is said twice
/// has to agree; a sentence about a contradiction names the value and both steps. Each fact is a table of
/// its own (said_values.hpp), turned into the options of a plan in O(values).

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/internal/effect_record.hpp>
#include <sublet/planning/detail/handle_numbers.hpp>
#include <sublet/planning/detail/handle_text.hpp>
#include <sublet/planning/detail/labelled_waits.hpp>
#include <sublet/planning/detail/said_values.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Handles with their numbers, facts and names, and the names of steps.
template <class Handle>
class listed_facts {
public:
    [[nodiscard]] std::size_t size() const { return numbers_.size(); }
    [[nodiscard]] handle_numbers<Handle> const& numbers() const { return numbers_; }
    /// The number of h, a new one if it has none.
    value_id add(Handle const& h) { return numbers_.add(h); }

    /// Notes the facts of h, `Facts` being listing::value_facts. `no_step`: no step says them.
    /// Throws: precondition_error if something else was said before.
    template <class Facts>
    value_id describe(Handle const& h, Facts const& facts, step_id by)
    {
        auto const& [bytes, alignment, role, pool, pinned, eligible, kind, begins_at_touch, name] = facts;
        value_id const v = numbers_.add(h);
        say(bytes_, "size", v, bytes, by);
        say(alignment_, "alignment", v, alignment, by);
        say(role_, "role", v, role, by);
        say(pool_, "pool", v, pool, by);
        if (pinned != no_offset) say(pinned_, "pinned offset", v, pinned, by);
        if (!eligible) say(eligible_, "eligibility", v, static_cast<unsigned char>(false), by);
        say(kind_, "kind", v, kind, by);
        if (begins_at_touch) static_cast<void>(begins_at_touch_.say(v, 1, by));
        value_names_.add(v, name);
        return v;
    }
    /// The same for a view.
    template <class Facts>
    value_id describe_view(Handle const& h, Handle const& of, byte_count offset, Facts const& facts,
                           step_id by)
    {
        value_id const v = describe(h, facts, by), source = numbers_.add(of);
        if (!alias_of_.say(v, source, by)) {
            value_id const before = alias_of_.of_value(v);
            sentence why = about("root", v);
            add_source(why.quote(text_of(before), before), alias_of_.step_of(v)) << ", and ";
            add_source(why.quote(text_of(source), source), by).fail();
        }
        say(view_offset_, "offset", v, offset, by);
        return v;
    }
    [[nodiscard]] bool begins_at_touch(value_id v) const { return begins_at_touch_.of_value(v) != 0; }
    /// The values that begin at their first touch, ascending.
    [[nodiscard]] std::vector<value_id> begun_by_touch() const
    {
        std::vector<value_id> begun;
        for (value_id v = 0; v < begins_at_touch_.size(); ++v)
            if (begins_at_touch(v)) begun.push_back(v);
        return begun;
    }
    void add_choice(value_id v, pool_id pool, byte_count cost) { pool_choices_.push_back({v, pool, cost}); }
    void add_carry(value_id from, value_id to) { carried_.push_back({from, to}); }
    void add_optional(step_id s) { optional_.push_back(s); }
    void add_apart(value_id a, value_id b) { apart_.push_back({a, b}); }

    /// The next name_step(s, label) does not throw.
    void reserve_step_name(step_id s, std::string_view label) { step_names_.reserve_for(s, label); }
    void name_step(step_id s, std::string_view label) { step_names_.add(s, label); }
    [[nodiscard]] said_names<step_id> const& labels() const { return step_names_; }
    /// Empty if none is said.
    [[nodiscard]] std::string_view step_name(step_id s) const { return step_names_[s]; }
    /// The same, or the number of the step.
    [[nodiscard]] id_text step_text(step_id s) const
    {
        std::string_view const said = step_names_[s];
        return said.empty() ? id_text(+s) : id_text(said);
    }
    /// `s` begins after the step with this label.
    void add_wait(step_id s, std::string_view label) { waits_.add(s, label); }
    /// Throws: precondition_error for a label that is not that of one other step.
    [[nodiscard]] std::vector<std::pair<node_id, node_id>> waits_by_label(std::size_t steps) const
    {
        return waits_.edges(steps, step_names_);
    }
    /// The name of the value, else the text of its handle.
    [[nodiscard]] id_text text_of(value_id v) const
    {
        std::string_view const said = value_names_[v];
        return said.empty() && v < size() ? text_of_handle(numbers_[v]) : id_text(said);
    }
    /// The same of a copy of the numbers, for erased_handles.
    [[nodiscard]] auto texts() const
    {
        return [names = value_names_](handle_numbers<Handle> const& numbers, value_id v) {
            std::string_view const said = names[v];
            return said.empty() && v < numbers.size() ? text_of_handle(numbers[v]) : id_text(said);
        };
    }
    /// Goes on " in step s".
    sentence& add_step(sentence& why, step_id s) const
    {
        why << " in step ";
        return why.quote(id_text(step_names_[s]), s);
    }

    /// The options that concern values.
    [[nodiscard]] plan_options options() const
    {
        return {.bytes = bytes_.of(size(), no_size),
                .alignment = alignment_.of(size()),
                .role = role_.of(size()),
                .alias_of = alias_of_.of(size()),
                .view_offset = view_offset_.of(size(), 0),
                .pool = pool_.of(size()),
                .pinned = pinned_.of(size()),
                .eligible = eligible_.of(size()),
                .kind = kind_.of(size()),
                .pool_choices = pool_choices_,
                .carried = carried_,
                .optional = optional_,
                .apart = apart_};
    }

    // Each throws precondition_error.

    /// Of v, made by a step, or given.
    void expect_size(value_id v, step_id made_by) const
    {
        if (bytes_.of_value(v) != unsaid_size) return;
        if (has_role(role_.of_value(v), value_role::external) || eligible_.of_value(v) == 0) return;
        sentence why;
        why << "sublet: the size of value ";
        why.quote(text_of(v), v);
        if (made_by != no_step) add_step(why << ", made", made_by) << ",";
        (why << " is not said: say .bytes, or no_size if it is unknown").fail();
    }
    void expect_sizes_of_made(effect_record const& record) const
    {
        std::size_t const steps = record.step_begin.size();
        std::size_t i = 0;
        for (step_id s = 0; s != steps; ++s) {
            std::size_t const end = s + 1 == steps ? record.touches.size() : record.step_begin[s + 1];
            for (; i != end; ++i)
                if (record.touches[i].makes()) expect_size(record.touches[i].value, s);
        }
    }
    void expect_sizes_without_maker() const
    {
        for (value_id v = 0; v != size(); ++v)
            if ((has_role(role_.of_value(v), value_role::input) && alias_of_.of_value(v) == no_value) ||
                begins_at_touch(v))
                expect_size(v, no_step);
        for (plan_options::carry const& c : carried_) expect_size(c.to, no_step);
    }
    /// Values that begin at their first touch are made by no step, there at no other time, and are no views
    /// or their roots.
    void expect_touchable(effect_record const& record, bool has_blocks) const
    {
        auto about_it = [this](value_id v) {
            sentence why;
            why << "sublet: value ";
            why.quote(text_of(v), v) << " begins at its first touch, and ";
            return why;
        };
        for (value_id v = 0; v != size(); ++v) {
            value_id const of = alias_of_.of_value(v);
            if (of != no_value && begins_at_touch(v))
                (about_it(v) << "is a view of ").quote(text_of(of), of).fail();
            if (of != no_value && begins_at_touch(of))
                (about_it(of).quote(text_of(v), v) << " is a view of it").fail();
            if (!begins_at_touch(v)) continue;
            if (has_blocks) (about_it(v) << "in a listing with blocks no touch is the first").fail();
            if (is_given(role_.of_value(v)))
                (about_it(v) << "is there before, as it is external or an input").fail();
        }
        std::size_t i = 0;
        for (step_id s = 0; s != record.step_begin.size(); ++s) {
            bool const is_last = s + 1 == record.step_begin.size();
            for (std::size_t end = is_last ? record.touches.size() : record.step_begin[s + 1]; i != end; ++i)
                if (value_id const v = record.touches[i].value;
                    record.touches[i].defines() && begins_at_touch(v)) {
                    sentence why = about_it(v);
                    (add_step(why << "is made", s) << ": say write()").fail();
                }
        }
    }
    void expect_aligned_views(plan_options const& all) const
    {
        bool is_any_said = false;
        for (value_id v = 0; v != size() && !is_any_said; ++v)
            is_any_said = alias_of_.of_value(v) != no_value && alignment_.of_value(v) > 1;
        if (!is_any_said) return;
        table<value_id, value_id> const of = all.alias_of.tabulate(size());
        buffer_classes const classes = group_views(size(), [&of](value_id v) { return of[v]; });
        table<value_id, byte_count> const offset = offsets_in_roots(of, all.view_offset.tabulate(size()));
        for (value_id v = 0; v != size(); ++v) {
            byte_count const said = alignment_.of_value(v);
            if (of[v] == no_value || said <= 1 || offset[v] % said == 0) continue;
            value_id const root = classes.root[classes.buffer_of[v]];
            sentence why = about("alignment", v);
            add_source(why << said, alignment_.step_of(v))
                << ", but it begins at byte " << offset[v] << " of value ";
            why.quote(text_of(root), root).fail();
        }
    }
    /// A pair is of a value that its step reads, and of one that it makes.
    void expect_pairs_of_steps(effect_record const& record) const
    {
        if (record.overwrites.empty()) return;
        table<value_id, step_id> read_in(size(), no_step), made_in(size(), no_step);
        step_id seen = no_step;
        for (overwrite o : record.overwrites) { // by step
            if (std::exchange(seen, o.step) != o.step) {
                std::size_t const last = o.step + 1 == record.step_begin.size()
                                             ? record.touches.size()
                                             : record.step_begin[o.step + 1];
                for (std::size_t i = record.step_begin[o.step]; i != last; ++i) {
                    touch const t = record.touches[i];
                    if (t.defines()) made_in[t.value] = o.step;
                    if (!t.defines() || t.kind == touch::access::read_view) read_in[t.value] = o.step;
                }
            }
            if (read_in[o.in] == o.step && made_in[o.out] == o.step) continue;
            bool const is_read = read_in[o.in] == o.step;
            sentence why;
            why << "sublet: step ";
            why.quote(id_text(step_names_[o.step]), o.step) << " says that ";
            why.quote(text_of(o.out), o.out) << " may overwrite ";
            why.quote(text_of(o.in), o.in) << ", and does not " << (is_read ? "make " : "read ");
            why.quote(text_of(is_read ? o.out : o.in), is_read ? o.out : o.in).fail();
        }
    }
    /// If any pools are listed, those of all values with planned storage are; a view lies with its root.
    void expect_listed_pools(std::size_t listed) const
    {
        auto fail = [listed](sentence& why) {
            if (listed == 1) why << ", but only pool 0 is listed";
            else why << ", but only " << listed << " pools are listed, from 0";
            why.fail();
        };
        for (value_id v = 0; listed != 0 && v < pool_.size(); ++v) {
            pool_id const its = pool_.of_value(v);
            if (its < listed || alias_of_.of_value(v) != no_value || eligible_.of_value(v) == 0 ||
                bytes_.of_value(v) == no_size || has_role(role_.of_value(v), value_role::external))
                continue;
            sentence why = about("pool", v);
            fail(add_source(why << its, pool_.step_of(v)));
        }
        for (plan_options::pool_choice const& c : pool_choices_) {
            if (listed == 0 || c.pool < listed) continue;
            sentence why;
            why << "sublet: value ";
            fail(why.quote(text_of(c.value), c.value) << " may lie in pool " << c.pool);
        }
    }
    void expect_carried(plan_options const& all) const
    {
        carried_fault const found = fault_of_carried(all, size());
        if (found.sentence == nullptr) return;
        sentence why;
        why << "sublet: ";
        auto write = [&why](auto one) {
            if constexpr (std::same_as<decltype(one), char>) why << std::string_view(&one, 1);
            else why << one;
        };
        found.write([&](value_id v) { why.quote(text_of(v), v); }, write);
        why.fail();
    }
    void expect_no_carry(char const* call) const
    {
        if (carried_.empty()) return;
        value_id const v = carried_.front().from;
        sentence why;
        why << "sublet: " << call << " does not carry value ";
        (why.quote(text_of(v), v) << " into the next round").fail();
    }
    void expect_no_choice() const
    {
        if (pool_choices_.empty()) return;
        value_id const v = pool_choices_.front().value;
        sentence why;
        why << "sublet: value ";
        (why.quote(text_of(v), v) << " has a choice of pools, and a plan for every shape cannot keep that")
            .fail();
    }

private:
    template <class T, class Property>
    void say(said_values<T, Property>& table, std::string_view fact, value_id v, T what, step_id by)
    {
        if (table.say(v, what, by)) return;
        sentence why = about(fact, v);
        add_source(why << table.of_value(v), table.step_of(v)) << ", and ";
        add_source(why << what, by).fail();
    }
    sentence about(std::string_view fact, value_id v) const
    {
        sentence why;
        why << "sublet: the " << fact << " of value ";
        why.quote(text_of(v), v) << " is ";
        return why;
    }
    sentence& add_source(sentence& why, step_id by) const
    {
        return by == no_step ? why << " by facts()" : add_step(why, by);
    }

    handle_numbers<Handle> numbers_;
    said_values<byte_count> bytes_{unsaid_size}, alignment_{1}, view_offset_{no_offset};
    said_values<byte_count> pinned_{no_offset};
    said_values<unsigned char, bool> eligible_{1};
    said_values<std::uint32_t> kind_{0};
    said_values<unsigned char, bool> begins_at_touch_{0};
    std::vector<plan_options::pool_choice> pool_choices_;
    std::vector<plan_options::carry> carried_;
    std::vector<step_id> optional_;
    std::vector<std::pair<value_id, value_id>> apart_;
    said_values<value_id> alias_of_{no_value};
    said_values<pool_id> pool_{0};
    said_values<value_role> role_{value_role::intermediate};
    said_names<value_id> value_names_;
    said_names<step_id> step_names_;
    labelled_waits waits_;
};

} // namespace sublet::detail

#endif
