// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_FLAT_TABLES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_FLAT_TABLES_HPP

/// Reads the tables of a FlatBuffers file by the numbers of their fields, without a compiled schema.

#include "network.hpp"

#include <flatbuffers/base.h>
#include <flatbuffers/string.h>
#include <flatbuffers/table.h>
#include <flatbuffers/vector.h>
#include <flatbuffers/verifier.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plan_model {

/// Every table, vector and text is checked to lie inside of the file before it is read. Tables may share what
/// they refer to; so that a small file cannot stand for a large one, all that is copied out of it is at most
/// twice as long as it.
///
/// Each member throws input_error, naming the file, if the file is damaged.
class flat_tables {
public:
    using table = flatbuffers::Table;

    /// Both are referred to. Tables lie in the first 2 GiB; what follows are constants at offsets of 64 bits.
    flat_tables(std::string const& file, std::string_view bytes)
        : file_(file), bytes_(bytes), verify_(data(), room(), limits()),
          left_(bytes.size() < shortest ? 0 : 2 * bytes.size())
    {
    }

    table const& root()
    {
        if (bytes_.size() < shortest) refuse("its first table");
        std::size_t const at = verify_.VerifyOffset(0);
        if (at == 0) refuse("its first table");
        return table_at(data() + at);
    }

    template <class Number>
    Number number(table const& in, int field, Number otherwise = 0) const
    {
        if (!in.VerifyField<Number>(verify_, place(field), sizeof(Number))) refuse("a number");
        return in.GetField<Number>(place(field), otherwise);
    }

    /// Null if there is none.
    table const* inner(table const& in, int field)
    {
        std::uint8_t const* const at = target(in, field);
        return at == nullptr ? nullptr : &table_at(at);
    }

    /// Empty if there is none.
    std::string text(table const& in, int field)
    {
        auto const* const at = reinterpret_cast<flatbuffers::String const*>(target(in, field));
        if (at == nullptr) return {};
        if (!verify_.VerifyString(at)) refuse("a text");
        charge(at->size());
        return at->str();
    }

    /// Empty if there are none.
    template <class Number>
    std::vector<Number> numbers(table const& in, int field)
    {
        auto const* const at = vector<Number>(in, field);
        std::vector<Number> read;
        if (at == nullptr) return read;
        charge(std::uint64_t{sizeof(Number)} * at->size());
        read.reserve(at->size());
        for (std::uint32_t i = 0; i != at->size(); ++i) read.push_back(at->Get(i));
        return read;
    }

    /// Empty if there are none.
    std::vector<table const*> tables(table const& in, int field)
    {
        auto const* const at = vector<std::uint32_t>(in, field);
        std::vector<table const*> read;
        if (at == nullptr) return read;
        charge(std::uint64_t{sizeof(std::uint32_t)} * at->size());
        read.reserve(at->size());
        for (std::uint32_t i = 0; i != at->size(); ++i) {
            std::uint8_t const* const element = at->Data() + sizeof(std::uint32_t) * i;
            std::size_t const offset = verify_.VerifyOffset(element, 0);
            if (offset == 0) refuse("a table");
            read.push_back(&table_at(element + offset));
        }
        return read;
    }

    /// How many bytes a field holds, which are not read.
    std::size_t byte_count_of(table const& in, int field)
    {
        auto const* const at = vector<std::uint8_t>(in, field);
        return at == nullptr ? 0 : at->size();
    }

private:
    static constexpr std::size_t shortest = 32; ///< a shorter text may lie where numbers are not aligned

    [[noreturn]] void refuse(char const* what) const
    {
        throw input_error(file_ + ": is truncated or damaged: " + what +
                          " is not inside of it, or misplaced");
    }

    std::uint8_t const* data() const { return reinterpret_cast<std::uint8_t const*>(bytes_.data()); }
    std::size_t room() const { return std::min<std::size_t>(bytes_.size(), FLATBUFFERS_MAX_BUFFER_SIZE - 1); }

    static flatbuffers::Verifier::Options limits()
    {
        flatbuffers::Verifier::Options all;
        all.max_tables = ~flatbuffers::uoffset_t{0}; // charge() limits the work
        return all;
    }

    /// Where the table of fields says where a field is.
    static flatbuffers::voffset_t place(int field)
    {
        return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
    }

    void charge(std::uint64_t bytes)
    {
        if (bytes > left_)
            throw input_error(file_ + ": its tables repeat the same parts, more than twice its own length");
        left_ -= bytes;
    }

    table const& table_at(std::uint8_t const* at)
    {
        bool const is_inside = verify_.VerifyTableStart(at);
        (void)verify_.EndTable(); // tables are not nested here
        if (!is_inside) refuse("a table");
        return *reinterpret_cast<table const*>(at);
    }

    /// What an offset refers to, or null if there is none.
    std::uint8_t const* target(table const& in, int field) const
    {
        if (!in.VerifyOffset(verify_, place(field))) refuse("a part");
        return in.GetPointer<std::uint8_t const*>(place(field));
    }

    template <class Element>
    flatbuffers::Vector<Element> const* vector(table const& in, int field) const
    {
        auto const* const at = reinterpret_cast<flatbuffers::Vector<Element> const*>(target(in, field));
        if (!verify_.VerifyVector(at)) refuse("a list");
        return at;
    }

    std::string const& file_;
    std::string_view bytes_;
    mutable flatbuffers::Verifier verify_; // its checks of vectors are not const
    std::uint64_t left_;                   // bytes that may still be copied
};

} // namespace plan_model

#endif
