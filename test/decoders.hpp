// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_DECODERS_HPP
#define SUBLET_TEST_DECODERS_HPP

/// One step of decoding in two manners of transformers, with key and value caches that are written through
/// views: operations as structs with pointers, a listing of them, and their arithmetic.

#include <sublet/execution/cpu.hpp>
#include <sublet/listing.hpp>

#include <cmath>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

struct decoder_tensor {
    std::string name;
    std::size_t floats = 0;
    sublet::value_role role = sublet::value_role::intermediate;
    decoder_tensor const* of = nullptr; ///< what it is a view of
    std::size_t first = 0;              ///< its first float there
};

struct decoder_operation {
    enum class kind { norm, multiply, add, activate, product, rotate, copy, attend, view };

    decoder_operation::kind what = decoder_operation::kind::view;
    std::vector<decoder_tensor const*> in;
    decoder_tensor const* out = nullptr;
    decoder_tensor const* written = nullptr; ///< changed in place; `out` is then a view of the same bytes
};

class decoder {
public:
    /// `gated`: in the manner of LLaMA (rotated keys, gated activation), otherwise of GPT-2.
    decoder(bool gated, std::size_t layers, std::size_t width, std::size_t length, std::size_t at)
        : width_(width)
    {
        auto const* x = add("token", width, sublet::value_role::input);
        for (std::size_t l = 0; l != layers; ++l) {
            std::string const layer = "layer " + std::to_string(l) + ", ";
            auto const* k_cache = add(layer + "keys", length * width, sublet::value_role::state);
            auto const* v_cache = add(layer + "values", length * width, sublet::value_role::state);
            auto const* h = make(decoder_operation::kind::norm, layer + "norm", width, {x});
            auto const* q = linear(layer + "q", h, width);
            auto const* k = linear(layer + "k", h, width);
            auto const* v = linear(layer + "v", h, width);
            if (gated) {
                q = make(decoder_operation::kind::rotate, layer + "rotated q", width, {q}, true);
                k = make(decoder_operation::kind::rotate, layer + "rotated k", width, {k}, true);
            }
            store(layer + "key row", k, k_cache, at * width);
            store(layer + "value row", v, v_cache, at * width);
            auto const* keys = view(layer + "all keys", k_cache, 0, (at + 1) * width);
            auto const* values = view(layer + "all values", v_cache, 0, (at + 1) * width);
            auto const* a =
                make(decoder_operation::kind::attend, layer + "attention", width, {q, keys, values});
            x = make(decoder_operation::kind::add, layer + "sum 1", width, {linear(layer + "o", a, width), x},
                     true);
            h = make(decoder_operation::kind::norm, layer + "norm 2", width, {x});
            auto const* up = linear(layer + "up", h, 2 * width);
            auto const* act = make(decoder_operation::kind::activate, layer + "act", 2 * width, {up}, true);
            if (gated)
                act = make(decoder_operation::kind::product, layer + "gate", 2 * width,
                           {act, linear(layer + "gate up", h, 2 * width)}, true);
            x = make(decoder_operation::kind::add, layer + "sum 2", width,
                     {linear(layer + "down", act, width), x}, true);
        }
        tensors_[index_of(x)].role = sublet::value_role::output;
        result_ = x;
    }

    std::vector<decoder_operation> const& operations() const { return operations_; }
    std::deque<decoder_tensor> const& tensors() const { return tensors_; }
    decoder_tensor const* result() const { return result_; }

    /// `says_writes` false: the writes of the caches are forgotten; `only_views`: and every step says that it
    /// changes nothing.
    sublet::listing<decoder_tensor const*> list(bool says_writes = true, bool only_views = false) const
    {
        sublet::listing<decoder_tensor const*> list;
        for (decoder_tensor const& t : tensors_)
            if (sublet::detail::is_given(t.role))
                list.facts(&t, {.bytes = 4 * t.floats, .alignment = 4, .role = t.role, .name = t.name});
        for (decoder_operation const& o : operations_) {
            auto step = list.step(o.out->name);
            for (decoder_tensor const* t : o.in) step.read(t);
            if (o.out->of != nullptr)
                step.view(o.out, o.out->of, 4 * o.out->first,
                          {.bytes = 4 * o.out->floats, .name = o.out->name});
            else
                step.make(
                    o.out,
                    {.bytes = 4 * o.out->floats, .alignment = 4, .role = o.out->role, .name = o.out->name});
            if (o.written != nullptr && says_writes) step.write(o.written);
            if (may_overwrite(o)) step.may_overwrite(o.in[0], o.out);
            step.only_views(only_views);
        }
        return list;
    }

    /// The arithmetic of a step; weights are functions of the step.
    void operator()(sublet::cpu_call const& call) const
    {
        decoder_operation const& o = operations_[call.step];
        if (o.what == decoder_operation::kind::view) return;
        auto in = [&](std::size_t i) { return sublet::as<float>(call.in(i)); };
        auto const out = sublet::as<float>(call.out(0)); // of a copy: the row
        auto const x = in(0);
        switch (o.what) {
        case decoder_operation::kind::norm: {
            float sum = 1e-5f;
            for (float f : x) sum += f * f / static_cast<float>(x.size());
            for (std::size_t i = 0; i != out.size(); ++i) out[i] = x[i] / std::sqrt(sum);
            break;
        }
        case decoder_operation::kind::multiply:
            for (std::size_t i = 0; i != out.size(); ++i) {
                float sum = 0;
                for (std::size_t j = 0; j != x.size(); ++j) sum += weight(call.step, i, j) * x[j];
                out[i] = sum;
            }
            break;
        case decoder_operation::kind::add:
            for (std::size_t i = 0; i != out.size(); ++i) out[i] = x[i] + in(1)[i];
            break;
        case decoder_operation::kind::product:
            for (std::size_t i = 0; i != out.size(); ++i) out[i] = x[i] * in(1)[i];
            break;
        case decoder_operation::kind::activate:
            for (std::size_t i = 0; i != out.size(); ++i) out[i] = x[i] / (1 + std::exp(-x[i]));
            break;
        case decoder_operation::kind::rotate:
            for (std::size_t i = 0; i + 1 < out.size(); i += 2) {
                float const a = x[i], b = x[i + 1];
                out[i] = 0.6f * a - 0.8f * b;
                out[i + 1] = 0.8f * a + 0.6f * b;
            }
            break;
        case decoder_operation::kind::copy:
            for (std::size_t i = 0; i != out.size(); ++i) out[i] = x[i];
            break;
        case decoder_operation::kind::attend: {
            auto const keys = in(1), values = in(2);
            std::vector<float> score(keys.size() / width_);
            float total = 0;
            for (std::size_t r = 0; r != score.size(); ++r) {
                for (std::size_t i = 0; i != width_; ++i) score[r] += x[i] * keys[r * width_ + i];
                total += score[r] = std::exp(score[r] / static_cast<float>(width_));
            }
            for (std::size_t i = 0; i != width_; ++i) {
                out[i] = 0;
                for (std::size_t r = 0; r != score.size(); ++r)
                    out[i] += score[r] / total * values[r * width_ + i];
            }
            break;
        }
        case decoder_operation::kind::view: break;
        }
    }

private:
    decoder_tensor const* add(std::string name, std::size_t floats, sublet::value_role role)
    {
        tensors_.push_back({std::move(name), floats, role});
        return &tensors_.back();
    }
    decoder_tensor const* make(decoder_operation::kind what, std::string name, std::size_t floats,
                               std::vector<decoder_tensor const*> in, bool = false)
    {
        auto const* out = add(std::move(name), floats, sublet::value_role::intermediate);
        operations_.push_back({what, std::move(in), out});
        return out;
    }
    decoder_tensor const* linear(std::string name, decoder_tensor const* x, std::size_t floats)
    {
        return make(decoder_operation::kind::multiply, std::move(name), floats, {x});
    }
    decoder_tensor const* view(std::string name, decoder_tensor const* of, std::size_t first,
                               std::size_t floats)
    {
        auto const* out = make(decoder_operation::kind::view, std::move(name), floats, {});
        tensors_.back().of = of;
        tensors_.back().first = first;
        return out;
    }
    void store(std::string const& name, decoder_tensor const* from, decoder_tensor const* cache,
               std::size_t first)
    {
        auto const* row = view(name, cache, first, width_);
        auto const* stored = make(decoder_operation::kind::copy, name + ", stored", width_, {from});
        tensors_.back().of = row; // as tensor libraries have it, the result of a copy is a view of its target
        operations_.back().written = row;
        static_cast<void>(stored);
    }
    static bool may_overwrite(decoder_operation const& o)
    {
        switch (o.what) {
        case decoder_operation::kind::add:
        case decoder_operation::kind::product:
        case decoder_operation::kind::activate:
        case decoder_operation::kind::rotate: return true;
        default: return false;
        }
    }
    static float weight(sublet::step_id step, std::size_t i, std::size_t j)
    {
        return static_cast<float>((step * 7 + i * 3 + j * 5) % 11) / 11 - 0.4f;
    }
    std::size_t index_of(decoder_tensor const* t) const
    {
        std::size_t i = 0;
        while (&tensors_[i] != t) ++i;
        return i;
    }

    std::size_t width_;
    std::deque<decoder_tensor> tensors_;
    std::vector<decoder_operation> operations_;
    decoder_tensor const* result_ = nullptr;
};

#endif
