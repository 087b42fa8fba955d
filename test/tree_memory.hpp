// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_TREE_MEMORY_HPP
#define SUBLET_TEST_TREE_MEMORY_HPP

/// Memory for interpreters of random trees that read them as they were drawn: bytes of its own for each value
/// of each activation of a body.

#include "random_tree.hpp"
#include <sublet/analysis/flatten.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tree_memory {

inline std::uint64_t mixed(std::uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

using bytes_of = std::vector<unsigned char>;

inline std::uint64_t digest_of(unsigned char const* at, std::size_t size)
{
    std::uint64_t sum = size;
    for (std::size_t i = 0; i != size; ++i) sum = mixed(sum * 31 + at[i]);
    return sum;
}
inline void fill(unsigned char* at, std::size_t size, std::uint64_t seed)
{
    for (std::size_t i = 0; i != size; ++i) at[i] = static_cast<unsigned char>(mixed(seed + i) >> 24);
}

/// An activation of a program, with the cell of each of its alias classes; captured ones belong to the
/// activations around it.
struct activation {
    sublet::program_id program = 0;
    activation const* outer = nullptr;
    std::map<sublet::value_id, std::size_t> own; // by root
    std::size_t cell(random_tree const& t, sublet::value_id v) const
    {
        auto const r = t.root(program, v);
        activation const* a = this;
        while (a->program != r.program) a = a->outer;
        return a->own.at(r.value);
    }
};

/// Every class of every activation has bytes of its own; copies are parallel.
struct apart {
    random_tree const& t;
    std::vector<bytes_of> cells = {};

    void open(activation& a)
    {
        for (sublet::value_id v = 0; v != t.programs[a.program].bytes.size(); ++v)
            if (auto const r = t.root(a.program, v); r == random_tree::place{a.program, v}) {
                a.own[v] = cells.size();
                cells.emplace_back(t.size(r), 0xEE);
            }
    }
    std::uint64_t read(activation const& a, sublet::value_id v)
    {
        bytes_of const& all = cells[a.cell(t, v)];
        return digest_of(all.data(), all.size());
    }
    void write(activation const& a, sublet::value_id v, std::uint64_t seed)
    {
        bytes_of& all = cells[a.cell(t, v)];
        fill(all.data(), all.size(), seed);
    }
    void copy(activation const& a, sublet::flat_tree::move_time when)
    {
        std::vector<std::pair<std::size_t, bytes_of>> written;
        for (sublet::program_body::binding const& b : t.programs[a.program].how.bindings) {
            if (when == sublet::flat_tree::move_time::enter && b.initial != sublet::no_value)
                written.emplace_back(a.cell(t, b.inner), cells[a.outer->cell(t, b.initial)]);
            if (when == sublet::flat_tree::move_time::again && b.next != sublet::no_value)
                written.emplace_back(a.cell(t, b.inner), cells[a.cell(t, b.next)]);
            if (when == sublet::flat_tree::move_time::leave && b.result != sublet::no_value)
                written.emplace_back(a.outer->cell(t, b.result), cells[a.cell(t, b.inner)]);
        }
        for (auto& [to, what] : written) cells[to] = what;
    }
    void forget(activation const&, bool) {}
};

} // namespace tree_memory

#endif
