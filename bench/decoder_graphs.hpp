// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_DECODER_GRAPHS_HPP
#define SUBLET_BENCH_DECODER_GRAPHS_HPP

/// Graphs as tensor libraries build them, of any number of nodes: decoders with caches, experts, and nets of
/// convolutions. Only structure and sizes; test/decoders.hpp has a small decoder with its arithmetic.
///
///     gpt2_step, gpt2_prompt     fused q, k and v with views of it, biases in place; one token or 512
///     gpt2_fused                 gpt2_prompt with attention as one node, without scores
///     llama_step, llama_prompt, llama_fused      rotated q and k, fewer heads of k and v, gated activation
///     llama_uneven               llama_fused with other widths in each of 16 layers
///     experts                    llama_fused with eight parallel branches, listed side by side
///     unet                       each block down is concatenated with one up
///     inception                  blocks of four branches, of five sizes
///
///     k ──► copy ──► stored (a view of row, not read)     the cache is state of the run: written through
///     row = view(cache) ─┘                                the view `row`, read through the view `all rows`
///     all rows = view(cache) ──► attention
///
/// A view is a node, as it is there. Element-wise operations may overwrite their first operand. Layers have
/// the same sizes unless said otherwise; those of convolutions shrink by level. Same model and number, same
/// graph.

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/listing.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace bench {

using sublet::byte_count;
using sublet::no_value;
using sublet::step_id;
using sublet::value_id;
using sublet::value_role;

enum class graph_model : std::uint8_t {
    gpt2_step,
    gpt2_prompt,
    gpt2_fused,
    llama_step,
    llama_prompt,
    llama_fused,
    llama_uneven,
    experts,
    unet,
    inception
};

struct named_model {
    char const* name;
    graph_model model;
};

inline constexpr named_model graph_models[] = {{"gpt2_step", graph_model::gpt2_step},
                                               {"gpt2_prompt", graph_model::gpt2_prompt},
                                               {"gpt2_fused", graph_model::gpt2_fused},
                                               {"llama_step", graph_model::llama_step},
                                               {"llama_prompt", graph_model::llama_prompt},
                                               {"llama_fused", graph_model::llama_fused},
                                               {"llama_uneven", graph_model::llama_uneven},
                                               {"experts", graph_model::experts},
                                               {"unet", graph_model::unet},
                                               {"inception", graph_model::inception}};

class decoder_graph {
public:
    struct tensor {
        byte_count bytes = 0;
        value_role role = value_role::intermediate;
        value_id of = no_value;
        byte_count offset = 0;
    };

    /// Whole layers or blocks: about `nodes` nodes.
    decoder_graph(graph_model model, std::size_t nodes)
    {
        switch (model) {
        case graph_model::gpt2_step: make_decoder({.tokens = 1, .is_gated = false}, nodes); break;
        case graph_model::gpt2_prompt: make_decoder({.tokens = 512, .is_gated = false}, nodes); break;
        case graph_model::gpt2_fused:
            make_decoder({.tokens = 512, .is_gated = false, .is_fused = true}, nodes);
            break;
        case graph_model::llama_step: make_decoder({.tokens = 1}, nodes); break;
        case graph_model::llama_prompt: make_decoder({.tokens = 512}, nodes); break;
        case graph_model::llama_fused: make_decoder({.tokens = 512, .is_fused = true}, nodes); break;
        case graph_model::llama_uneven:
            make_decoder({.tokens = 512, .is_fused = true, .is_uneven = true}, nodes);
            break;
        case graph_model::experts:
            make_decoder({.tokens = 512, .is_fused = true, .experts = 8}, nodes);
            break;
        case graph_model::unet: make_unet(nodes); break;
        case graph_model::inception: make_inception(nodes); break;
        }
        tensors_[last_].role = value_role::output;
    }

    std::size_t nodes() const { return first_read_.size(); }
    std::vector<tensor> const& tensors() const { return tensors_; }

    sublet::snapshot program() const
    {
        return sublet::sequence(nodes(), tensors_.size(), [this](step_id s, sublet::effect_sink& sink) {
            for (value_id v : reads(s)) sink.use(v);
            if (written_[s] != no_value) sink.write(written_[s]);
            value_id const out = results_[s];
            if (tensors_[out].of != no_value) sink.view(out);
            else sink.def(out);
            if (is_elementwise_[s] != 0) sink.may_overwrite(reads(s)[0], out);
        });
    }

    sublet::plan_options options(sublet::effort effort = sublet::effort::balanced) const
    {
        auto const all = std::span(tensors_);
        return {.bytes = [all](value_id v) { return all[v].bytes; },
                .role = [all](value_id v) { return all[v].role; },
                .alias_of = [all](value_id v) { return all[v].of; },
                .view_offset = [all](value_id v) { return all[v].offset; },
                .effort = effort};
    }

    /// The same by handles.
    sublet::listing<tensor const*> list() const
    {
        sublet::listing<tensor const*> list;
        for (tensor const& t : tensors_)
            if (sublet::detail::is_given(t.role)) list.facts(&t, {.bytes = t.bytes, .role = t.role});
        for (step_id s = 0; s != nodes(); ++s) {
            auto step = list.step();
            for (value_id v : reads(s)) step.read(&tensors_[v]);
            if (written_[s] != no_value) step.write(&tensors_[written_[s]]);
            tensor const* const out = &tensors_[results_[s]];
            if (out->of != no_value) step.view(out, &tensors_[out->of], out->offset, {.bytes = out->bytes});
            else step.make(out, {.bytes = out->bytes, .role = out->role});
            if (is_elementwise_[s] != 0) step.may_overwrite(&tensors_[reads(s)[0]], out);
        }
        return list;
    }

private:
    struct layer_sizes {
        byte_count tokens = 1;
        bool is_gated = true, is_fused = false, is_uneven = false;
        std::size_t experts = 0;
        byte_count inner = 2048, attended = 768; ///< widths
        byte_count width = 768, cached = 1024;   ///< cached rows, of those the first 640 are in use
    };

    std::span<value_id const> reads(step_id s) const
    {
        std::size_t const end = s + 1 == nodes() ? reads_.size() : first_read_[s + 1];
        return {reads_.data() + first_read_[s], reads_.data() + end};
    }

    value_id add(tensor const& t)
    {
        tensors_.push_back(t);
        return static_cast<value_id>(tensors_.size() - 1);
    }
    value_id given(byte_count floats) { return add({4 * floats, value_role::external}); }

    value_id add_node(std::initializer_list<value_id> in, tensor const& out, value_id written = no_value,
                      bool is_elementwise = false)
    {
        first_read_.push_back(static_cast<std::uint32_t>(reads_.size()));
        for (value_id v : in) reads_.push_back(v);
        results_.push_back(add(out));
        written_.push_back(written);
        is_elementwise_.push_back(is_elementwise);
        return last_ = results_.back();
    }
    value_id make(std::initializer_list<value_id> in, byte_count floats)
    {
        return add_node(in, {4 * floats});
    }
    value_id elementwise(std::initializer_list<value_id> in)
    {
        return add_node(in, {tensors_[*in.begin()].bytes}, no_value, true);
    }
    value_id view(value_id of, byte_count first, byte_count floats)
    {
        return add_node({}, {4 * floats, value_role::intermediate, of, 4 * first});
    }
    value_id reshape(value_id of) { return view(of, 0, tensors_[of].bytes / 4); }
    /// The result is a view of what is written.
    void copy(value_id from, value_id to)
    {
        add_node({from}, {tensors_[to].bytes, value_role::intermediate, to}, to);
    }
    value_id multiply(value_id x, byte_count tokens, byte_count width_in, byte_count width_out)
    {
        return make({given(width_in * width_out), x}, tokens * width_out);
    }
    value_id biased(value_id x) { return elementwise({x, given(64)}); }
    value_id normed(value_id x, bool has_bias)
    {
        value_id h = make({x}, tensors_[x].bytes / 4);
        h = elementwise({h, given(64)});
        return has_bias ? biased(h) : h;
    }

    // --- decoders ----------------------------------------------------------------------------------------

    void make_decoder(layer_sizes l, std::size_t nodes)
    {
        value_id const tokens = add({4 * l.tokens, value_role::input});
        value_id const mask = add({4 * l.tokens * 640, value_role::input});
        value_id x = make({given(50'000 * l.width), tokens}, l.tokens * l.width);
        for (std::size_t layer = 0; this->nodes() < nodes; ++layer) {
            if (l.is_uneven) l.inner = 1024 + 128 * (layer * 7 % 16);
            if (l.is_uneven) l.attended = 384 + 64 * (layer * 5 % 12);
            x = make_layer(l, x, mask);
        }
        x = normed(x, !l.is_gated);
        x = view(x, (l.tokens - 1) * l.width, l.width);
        multiply(x, 1, l.width, 50'000);
    }

    value_id make_layer(layer_sizes const& l, value_id x, value_id mask)
    {
        constexpr byte_count heads = 12, rows = 640;
        byte_count const t = l.tokens, w = l.width, wq = l.attended, kv = l.is_gated ? wq / 4 : wq;
        value_id const h = normed(x, !l.is_gated);
        value_id q, k, v;
        if (l.is_gated) {
            q = elementwise({reshape(multiply(h, t, w, wq))});
            k = elementwise({reshape(multiply(h, t, w, kv))});
            v = multiply(h, t, w, kv);
        } else {
            value_id const all = biased(multiply(h, t, w, 3 * w));
            q = view(all, 0, t * w);
            k = view(all, t * w, t * w);
            v = view(all, 2 * t * w, t * w);
        }
        value_id const k_cache = add({4 * l.cached * kv, value_role::state});
        value_id const v_cache = add({4 * l.cached * kv, value_role::state});
        copy(k, view(k_cache, (rows - t) * kv, t * kv));
        copy(v, view(v_cache, (rows - t) * kv, t * kv));
        value_id const keys = reshape(view(k_cache, 0, rows * kv));
        value_id const values = reshape(view(v_cache, 0, rows * kv));
        value_id a;
        if (l.is_fused) {
            a = reshape(make({q, keys, values, mask}, t * wq));
        } else {
            value_id score = make({keys, make({reshape(q)}, t * w)}, t * rows * heads);
            score = elementwise({score});       // scale
            score = elementwise({score, mask}); // mask
            score = elementwise({score});       // softmax
            a = make({values, score}, t * w);
            a = make({reshape(a)}, t * w); // contiguous heads
        }
        a = multiply(a, t, wq, w);
        if (!l.is_gated) a = biased(a);
        x = elementwise({a, x});

        value_id m = normed(x, !l.is_gated);
        if (l.experts != 0) m = mixed(l, m);
        else if (l.is_gated) m = gated(m, t, w, l.inner);
        else {
            m = elementwise({biased(multiply(m, t, w, 4 * w))}); // gelu
            m = biased(multiply(m, t, 4 * w, w));
        }
        return elementwise({m, x});
    }

    value_id gated(value_id h, byte_count tokens, byte_count width, byte_count inner)
    {
        value_id const gate = elementwise({multiply(h, tokens, width, inner)});
        value_id const up = multiply(h, tokens, width, inner);
        return multiply(elementwise({gate, up}), tokens, inner, width);
    }

    /// All experts for all tokens, each result scaled by its column of the router's.
    value_id mixed(layer_sizes const& l, value_id h)
    {
        value_id const route = elementwise({multiply(h, l.tokens, l.width, l.experts)});
        std::vector<value_id> own(l.experts);
        for (value_id& e : own) e = elementwise({multiply(h, l.tokens, l.width, l.width)});
        for (value_id& e : own) e = elementwise({e, multiply(h, l.tokens, l.width, l.width)});
        for (std::size_t e = 0; e != own.size(); ++e)
            own[e] = elementwise(
                {multiply(own[e], l.tokens, l.width, l.width), view(route, e * l.tokens, l.tokens)});
        value_id sum = own[0];
        for (std::size_t e = 1; e != own.size(); ++e) sum = elementwise({sum, own[e]});
        return sum;
    }

    // --- convolutions ------------------------------------------------------------------------------------

    value_id convolution(value_id x, byte_count floats)
    {
        return elementwise({biased(make({x, given(4096)}, floats))}); // bias, activation
    }

    /// Four levels down and up; a block is two convolutions with a sum around them.
    void make_unet(std::size_t nodes)
    {
        constexpr std::size_t levels = 4, nodes_of_pair = 16;
        std::size_t const blocks = nodes < 2 * levels * nodes_of_pair ? 1 : nodes / (levels * nodes_of_pair);
        value_id x = add({4 * 64 * 64 * 4, value_role::input});
        x = convolution(x, size_at(0));
        std::vector<value_id> kept;
        for (std::size_t level = 0; level != levels; ++level)
            for (std::size_t b = 0; b != blocks; ++b) {
                value_id const h = convolution(convolution(x, size_at(level)), size_at(level));
                x = b == 0 && level != 0 ? h : elementwise({h, x});
                kept.push_back(x);
            }
        for (std::size_t level = levels; level-- != 0;)
            for (std::size_t b = 0; b != blocks; ++b) {
                value_id const both = make({x, kept.back()}, 2 * size_at(level));
                kept.pop_back();
                value_id const h = convolution(convolution(both, size_at(level)), size_at(level));
                x = elementwise({h, make({both}, size_at(level))});
            }
        convolution(x, 64 * 64 * 4);
    }
    static byte_count size_at(std::size_t level) { return byte_count{64 * 64 * 320} >> level; }

    /// A fifth of the blocks for each of five sizes.
    void make_inception(std::size_t nodes)
    {
        constexpr std::size_t nodes_of_block = 20;
        std::size_t const blocks = nodes < 5 * nodes_of_block ? 1 : nodes / (5 * nodes_of_block);
        value_id x = convolution(add({4 * 3 * 224 * 224, value_role::input}), 112 * 112 * 64);
        for (std::size_t level = 0; level != 5; ++level) {
            byte_count const cells = (byte_count{56} >> level) * (56 >> level), c = byte_count{64} << level;
            x = make({x}, cells * c); // pool
            for (std::size_t b = 0; b != blocks; ++b) {
                byte_count const more = b % 4; // widths differ a little from block to block
                value_id const one = convolution(x, cells * (c / 4));
                value_id const three =
                    convolution(convolution(x, cells * (c / 4 + 2 * more)), cells * (c / 2));
                value_id const five = convolution(convolution(x, cells * (c / 16 + more)), cells * (c / 8));
                value_id const pooled = convolution(make({x}, tensors_[x].bytes / 4), cells * (c / 8));
                x = make({one, three, five, pooled}, cells * c);
            }
        }
        make({make({x}, 2048)}, 1000);
    }

    std::vector<tensor> tensors_;
    std::vector<value_id> reads_;
    // By node:
    std::vector<std::uint32_t> first_read_;
    std::vector<value_id> results_, written_;
    std::vector<unsigned char> is_elementwise_;
    value_id last_ = no_value;
};

} // namespace bench

#endif
