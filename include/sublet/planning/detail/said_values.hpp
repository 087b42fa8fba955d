// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SAID_VALUES_HPP
#define SUBLET_PLANNING_DETAIL_SAID_VALUES_HPP

/// Tables of facts of values, each with the step that states it, and of names by id. A table ends with the
/// last id of which something is stated: a fact that no value has costs nothing.

#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet::detail {

/// A size that was not said, which is not one that is said to be unknown.
inline constexpr byte_count unsaid_size = no_size - 1;

/// What is said of values, and by which step: `unsaid` until something else is. The table may be shorter than
/// the values.
template <class T, class Property = T>
class said_values {
public:
    explicit said_values(T unsaid) : unsaid_{unsaid} {}

    /// False if something else was said before. `no_step`: it is no step that says it, but facts().
    [[nodiscard]] bool say(value_id v, T what, step_id by)
    {
        if (what == unsaid_.what) return true;
        if (v >= table_.size()) {
            if (v > table_.size()) table_.resize(v, unsaid_);
            table_.push_back({what, by});
            return true;
        }
        if (table_[v].what == unsaid_.what) table_[v] = {what, by};
        return table_[v].what == what;
    }
    /// Of no later value something is said.
    [[nodiscard]] std::size_t size() const { return table_.size(); }
    [[nodiscard]] T of_value(value_id v) const { return v < table_.size() ? table_[v].what : unsaid_.what; }
    [[nodiscard]] step_id step_of(value_id v) const { return v < table_.size() ? table_[v].by : no_step; }
    [[nodiscard]] per_value<Property> of(std::size_t values) const { return of(values, unsaid_.what); }
    /// With another value where nothing is said.
    [[nodiscard]] per_value<Property> of(std::size_t values, T otherwise) const
    {
        if (table_.empty()) return static_cast<Property>(otherwise);
        table<value_id, T> all;
        all.reserve(values);
        for (said const& one : table_) all.push_back(one.what == unsaid_.what ? otherwise : one.what);
        all.resize(values, otherwise);
        return all;
    }

private:
    struct said {
        T what;
        step_id by = no_step;
    };
    said unsaid_;
    table<value_id, said> table_;
};

/// Names by id, copied: the first that is said.
template <class Id>
class said_names {
public:
    void add(Id id, std::string_view name)
    {
        if (name.empty() || !(*this)[id].empty()) return;
        reserve_for(id, name);
        at_[id] = {text_.size(), name.size()};
        text_.insert(text_.end(), name.begin(), name.end());
    }
    /// The next add(id, name) does not throw.
    void reserve_for(Id id, std::string_view name)
    {
        if (name.empty()) return;
        if (id >= at_.size()) at_.resize(std::size_t{id} + 1);
        reserve_more(text_, name.size());
    }
    /// Empty if none is said.
    [[nodiscard]] std::string_view operator[](Id id) const
    {
        return id < at_.size() ? std::string_view(text_.data() + at_[id].first, at_[id].size) : "";
    }

private:
    struct part {
        std::size_t first = 0, size = 0;
    };
    std::vector<char> text_;
    table<Id, part> at_;
};

} // namespace sublet::detail

#endif
