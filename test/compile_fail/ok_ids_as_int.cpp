// SPDX-License-Identifier: BSL-1.0
// flags: -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wdouble-promotion -Wextra-semi

// Callables that take an id as an int or a std::size_t, and a table that is indexed by one: the library
// converts ids without warnings, also under stricter warning options.
#include <sublet/sublet.hpp>

#include <cstddef>
#include <vector>

struct table {
    std::vector<long> bytes;
    long operator[](int v) const { return bytes[static_cast<std::size_t>(v)]; }
    int size() const { return static_cast<int>(bytes.size()); }
};

int main()
{
    auto one = [](int i) { return std::vector{i}; };
    auto none = [](std::size_t) { return std::vector<int>{}; };
    auto const list = sublet::sequence(3, 3, none, one);
    auto const graph = sublet::as_graph(3, none);
    auto const nodes = sublet::tasks(graph, 3, none, one);
    auto const blocks = sublet::tasks(1, 1, none, [](int, sublet::effect_sink& sink) { sink.def(0); });
    sublet::plan_options const options{.bytes = table{{8, 8, 8}}, .alignment = [](int) { return 8; }};
    auto const lives = sublet::lifetimes(list).of;
    auto life_of = [&](int v) { return lives[static_cast<std::size_t>(v)]; };
    auto size_of = [](int) { return 8; };
    auto const slots = sublet::color(3, life_of).slots;
    auto const recycled = sublet::share_linearly(3, life_of, size_of).slots;
    bool const same = slots == recycled && nodes.steps() == blocks.steps();
    return same && sublet::plan_memory(list, options) ? 0 : 1;
}
