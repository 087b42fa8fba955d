// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_INTERNAL_NAME_TEXTS_HPP
#define SUBLET_REPORTING_INTERNAL_NAME_TEXTS_HPP

/// Names that a result of a listing has, or that the caller gives instead; and ids and names in JSON.
///
///     load\0blur\0     names of 0 and 1 in a result; 2 is called "2"

#include <sublet/core/internal/text.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

/// The names of steps, or of values. It refers to what it is made of.
template <class Id>
class name_texts {
public:
    /// `held`: those of 0, 1, 2 ..., each ends with '\0'.
    explicit name_texts(std::vector<char> const& held) : held_(held)
    {
        for (std::size_t i = 0; i != held.size(); ++i)
            if (i == 0 || held[i - 1] == '\0') begin_.push_back(i);
    }
    /// `given`, if there are any, come before those.
    name_texts(std::vector<char> const& held, names_of<Id> const& given) : name_texts(held)
    {
        if (given.is_given()) given_ = &given;
    }

    /// Unchanged: for `escape_json` or `escape_dot`.
    [[nodiscard]] std::vector<char>& name_of(Id one)
    {
        if (given_ != nullptr || one >= begin_.size()) {
            (given_ != nullptr ? *given_ : by_number_).read(name_, one);
            return name_;
        }
        name_.clear();
        for (std::size_t i = begin_[one]; held_[i] != '\0'; ++i) name_.push_back(held_[i]);
        return name_;
    }
    /// On one line.
    template <text_stream Stream>
    void write(plain_text<Stream>& text, Id one)
    {
        std::vector<char>& name = name_of(one);
        keep_printable(name);
        for (char c : name) text << c;
    }
    /// As a string.
    template <text_stream Stream>
    void write_json(plain_text<Stream>& text, Id one)
    {
        std::vector<char>& name = name_of(one);
        escape_json(name);
        text << '"';
        for (char c : name) text << c;
        text << '"';
    }
    /// As a list of strings: those of 0, 1, 2 ...
    template <text_stream Stream>
    void write_json_list(plain_text<Stream>& text, std::size_t count)
    {
        text << '[';
        for (Id one = 0; one != count; ++one) {
            if (one != 0) text << ", ";
            write_json(text, one);
        }
        text << ']';
    }

private:
    std::vector<char> const& held_;
    names_of<Id> const* given_ = nullptr;
    names_of<Id> const by_number_ = {};
    table<Id, std::size_t> begin_; // of each name in those that are held
    std::vector<char> name_;
};

/// [0, 2]
template <text_stream Stream, class Id>
void write_json_ids(plain_text<Stream>& text, std::vector<Id> const& ids)
{
    text << '[';
    for (std::size_t i = 0; i != ids.size(); ++i) text << (i == 0 ? "" : ", ") << ids[i];
    text << ']';
}

} // namespace sublet::detail

#endif
