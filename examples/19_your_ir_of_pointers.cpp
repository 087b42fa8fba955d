// SPDX-License-Identifier: BSL-1.0
// An IR of structs and pointers: one step of a decoder, with a cache that is written row by row through a
// view, operations in place, and two kinds of memory. The glue is one function. One plan, for the longest
// sequence, serves all shorter ones, also if the graph is built anew for each, with other pointers. Prints
// where tensors lie, and whether sixteen steps have the same results as with storage of its own for each
// tensor.

#include <sublet/sublet.hpp>

#include <algorithm>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

using role = sublet::value_role;

// --- the IR, with an interpreter

struct tensor {
    std::string name;
    std::size_t floats;
    role used_as = role::intermediate;
    unsigned memory = 0;   // 0: main memory, 1: scratchpad
    tensor* of = nullptr;  // a view: it is a part of that tensor
    std::size_t first = 0; // and begins at this float of it
    float* data = nullptr;
};
enum class kind { view, multiply, store, dot, weigh, relu, add };
struct operation {
    kind what;
    std::vector<tensor*> in;
    tensor* out;
};

constexpr std::size_t width = 8, longest = 16;

void run(std::vector<operation> const& graph)
{
    for (operation const& o : graph) {
        auto* const y = o.out->data = o.out->of ? o.out->of->data + o.out->first : o.out->data;
        auto in = [&](std::size_t k, std::size_t i) { return o.in[k]->data[i]; };
        for (std::size_t i = 0; i != o.out->floats && o.what != kind::view; ++i) {
            float sum = 0;
            if (o.what == kind::multiply)
                for (std::size_t j = 0; j != width; ++j)
                    sum += in(0, j) * (static_cast<float>((i * j + 3) % 7) - 3);
            if (o.what == kind::dot)
                for (std::size_t j = 0; j != width; ++j) sum += in(0, j) * in(1, i * width + j);
            if (o.what == kind::weigh)
                for (std::size_t j = 0; j != o.in[0]->floats; ++j) sum += in(0, j) * in(1, j * width + i);
            if (o.what == kind::store) sum = in(0, i);
            if (o.what == kind::relu) sum = std::max(in(0, i), 0.f);
            if (o.what == kind::add) sum = in(0, i) + in(1, i);
            y[i] = sum / 2;
        }
    }
}

// --- the glue

sublet::listing<tensor*> list_of(std::vector<operation> const& graph, std::deque<tensor>& tensors)
{
    sublet::listing<tensor*> list;
    for (tensor& t : tensors)
        list.facts(&t,
                   {.bytes = t.floats * sizeof(float), .role = t.used_as, .pool = t.memory, .name = t.name});
    for (operation const& o : graph) {
        auto step = list.step(o.out->name);
        for (tensor* t : o.in) step.read(t);
        if (o.out->of != nullptr) step.view(o.out, o.out->of, o.out->first * sizeof(float));
        else step.make(o.out, {.alignment = alignof(float)});
        if (o.what == kind::store) step.write(o.out); // through the view: a part of the cache
        if (o.what == kind::relu || o.what == kind::add) step.may_overwrite(o.in[0], o.out);
    }
    return list;
}

/// The graph built anew: other tensors, with other addresses.
std::vector<operation> copied(std::vector<operation> graph, std::deque<tensor> const& from,
                              std::deque<tensor>& to)
{
    auto copy_of = [&](tensor* t) {
        std::size_t i = 0;
        while (t != nullptr && &from[i] != t) ++i;
        return t == nullptr ? nullptr : &to[i];
    };
    to = from;
    for (tensor& t : to) t.of = copy_of(t.of);
    for (operation& o : graph) {
        for (tensor*& t : o.in) t = copy_of(t);
        o.out = copy_of(o.out);
    }
    return graph;
}

int main()
{
    std::deque<tensor> tensors;
    std::vector<operation> graph;
    auto add = [&](kind what, tensor made, std::vector<tensor*> in = {}) {
        tensors.push_back(made);
        graph.push_back({what, in, &tensors.back()});
        return &tensors.back();
    };
    tensor* const x = &tensors.emplace_back(tensor{"x", width, role::input});
    tensor* const cache = &tensors.emplace_back(tensor{"cache", longest * width, role::state});
    tensor* const key = add(kind::multiply, {"key", width}, {x});
    tensor* const row = add(kind::store, {.name = "row", .floats = width, .of = cache}, {key});
    tensor* const keys = add(kind::view, {.name = "keys", .floats = longest * width, .of = cache});
    tensor* const scores = add(kind::dot, {.name = "scores", .floats = longest, .memory = 1}, {key, keys});
    tensor* const active = add(kind::relu, {.name = "active", .floats = longest, .memory = 1}, {scores});
    tensor* const mixed = add(kind::weigh, {"mixed", width}, {active, keys});
    tensor* const sum = add(kind::add, {"sum", width, role::output}, {mixed, x});
    auto set_length = [&](std::size_t n) { // rows of the cache, with the one that is written now
        row->first = (n - 1) * width;
        keys->floats = n * width;
        scores->floats = active->floats = n;
    };

    auto results = [&] {
        std::vector<float> all;
        std::fill_n(cache->data, cache->floats, 0.f);
        for (std::size_t n = 1; n <= longest; ++n) {
            set_length(n);
            for (std::size_t i = 0; i != width; ++i) x->data[i] = static_cast<float>((n * i) % 5) / 4;
            run(graph);
            all.insert(all.end(), sum->data, sum->data + width);
        }
        return all;
    };
    std::deque<std::vector<float>> storage; // of its own for each tensor, and of the cache in any case
    for (tensor& t : tensors) t.data = storage.emplace_back(t.floats).data();
    std::vector<float> const expected = results();

    set_length(longest);
    auto const planned = sublet::plan_memory(list_of(graph, tensors));
    std::cout << planned << '\n';
    if (!planned) return 1;
    std::vector<float> base[] = {std::vector<float>(planned.bytes(0) / sizeof(float)),
                                 std::vector<float>(planned.bytes(1) / sizeof(float))};
    for (auto [t, pool, offset] : planned) {
        t->data = base[pool].data() + offset / sizeof(float);
        std::cout << "  " << t->name << ": memory " << pool << ", byte " << offset << '\n';
    }
    std::size_t served = 0, served_anew = 0;
    for (std::size_t n = 1; n <= longest; ++n) {
        set_length(n);
        served += bool(sublet::fits(planned, list_of(graph, tensors)));
        std::deque<tensor> others;
        std::vector<operation> const anew = copied(graph, tensors, others);
        auto const fitted = sublet::fits_by_position(planned, list_of(anew, others));
        served_anew += fitted && fitted.offset_of(&others[0]) == planned.offset_of(&tensors[0]);
    }
    std::cout << "it is a plan for " << served << " of " << longest << " lengths, and for " << served_anew
              << " of " << longest << " graphs built anew\n";
    std::cout << (results() == expected ? "all results are equal\n" : "results differ\n");
}
