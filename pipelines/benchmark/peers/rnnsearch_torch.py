#!/usr/bin/env python3
"""One training update of RNNsearch (Bahdanau, Cho and Bengio, arXiv 1409.0473) in PyTorch on CPUs, timed.

It is what `rnnsearch benchmark` is compared with, and takes options of the same names: the same sizes, as many pairs of as many words,
words drawn by the same law, the gradient of the sum over the batch, its norm clipped to 1, and Adadelta. Two variants compute the same
loss and gradients (--check compares them in double precision):

autograd   What one writes: nn.GRU for the encoder, a loop over target words for the decoder, autograd for the gradients, and
           torch.autocast for bfloat16. Products that do not depend on the loop are already outside of it.
by-hand    The fastest that we found without C++. Both recurrences are autograd.Functions with backward passes written by hand: the
           gradient of a recurrent matrix is one product over all time steps; the decoder multiplies annotations by the context
           matrices once per sentence in place of the contexts once per word; tanh is computed by sigmoid, which is the faster of the
           two in PyTorch; states and gates are float32, factors of products bfloat16. The output layer computes logits, loss and
           gradient for some rows at a time, so that they stay in the cache.

Both share the optimiser, which updates only the embeddings of words in the batch (exactly: the decay of the others is made up for when
they occur again) and goes through all parameters in pieces that stay in the cache. The reset gate acts after the product, as in nn.GRU,
which saves PyTorch one product per step. All sentences of a batch have the same length, so there is no padding.

Letters: Tx source and Ty target words of a sentence (with </s>), B sentences, and the widths m of embeddings, n of states, a of the
alignment model and l of maxout. Matrices have the paper's names. d_x is the gradient of x. Time comes first: [Tx, B, n].
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn
from torch.autograd import Function
from torch.nn import functional as F


def gru(gi, gh, state):
    """Gates of a step from the products of its inputs and of its state, both [B, 3n] in nn.GRU's order r, z, candidate."""
    n = state.shape[1]
    rz = torch.sigmoid(gi[:, :2 * n] + gh[:, :2 * n])
    candidate = torch.tanh(gi[:, 2 * n:] + rz[:, :n] * gh[:, 2 * n:])
    return candidate + rz[:, n:] * (state - candidate)


def decode(s, words, annotations, keys, U, W_a, C, v):
    """The decoder under autograd. s: s_0 [B, n]; words: E y_i W [Ty, B, 3n]; annotations [B, Tx, 2n]; keys: h_j U_a [B, Tx, a].
    Returns the states s_i-1 [Ty, B, n] and contexts c_i [Ty, B, 2n] that predict the words."""
    states, contexts = [], []
    for gi in words:
        scores = torch.tanh(keys + F.linear(s, W_a)[:, None]) @ v
        context = torch.bmm(torch.softmax(scores, 1)[:, None], annotations)[:, 0]
        states.append(s)
        contexts.append(context)
        s = gru(gi + F.linear(context, C), F.linear(s, U), s)
    return torch.stack(states), torch.stack(contexts)


class Steps:
    """The GRU of all time steps, forward and backward by hand. What backward needs is kept in `wide`, the type of states."""

    def __init__(self, steps, B, n, wide):
        self.n = n
        self.rz = torch.empty(steps, B, 2 * n, dtype=wide)
        self.recurrent, self.candidate = torch.empty(2, steps, B, n, dtype=wide)

    def forward(self, t, gi, gh, state, out):
        n, rz, candidate = self.n, self.rz[t], self.candidate[t]
        torch.add(gi[:, :2 * n], gh[:, :2 * n], out=rz).sigmoid_()
        self.recurrent[t] = gh[:, 2 * n:]
        torch.addcmul(gi[:, 2 * n:], rz[:, :n], self.recurrent[t], out=candidate)
        tanh_(candidate)
        torch.sub(state, candidate, out=out).mul_(rz[:, n:]).add_(candidate)

    def backward(self, t, d, state, d_inputs, d_state):
        """From d, the gradient of the state after step t [B, n], computes those of the products, and returns that part of the gradient of
        the state before it that does not pass through the products."""
        n, r, z, candidate = self.n, self.rz[t, :, :self.n], self.rz[t, :, self.n:], self.candidate[t]
        kept = d * z
        d_candidate = torch.addcmul(d - kept, (d - kept) * candidate, candidate, value=-1)
        d_inputs[:, 2 * n:] = d_candidate
        d_state[:, 2 * n:] = d_candidate * r
        d_r, d_z = d_candidate.mul_(self.recurrent[t]), (state - candidate).mul_(d)
        d_inputs[:, :n] = d_state[:, :n] = d_r.mul_(r).mul_(1 - r)
        d_inputs[:, n:2 * n] = d_state[:, n:2 * n] = d_z.mul_(z).mul_(1 - z)
        return kept


def tanh_(x):
    """In place, as 2 sigmoid(2 x) - 1."""
    return x.mul_(2).sigmoid_().mul_(2).sub_(1)


def wide_type(narrow):
    return torch.float32 if narrow == torch.bfloat16 else narrow


class Recurrence(Function):
    """One direction of the encoder: states [Tx, B, n] from words [Tx, B, 3n] and U [3n, n]."""

    @staticmethod
    def forward(ctx, words, U):
        Tx, B, n = words.shape[0], words.shape[1], U.shape[1]
        wide = wide_type(words.dtype)
        states, steps = torch.zeros(Tx + 1, B, n, dtype=wide), Steps(Tx, B, n, wide)
        for t in range(Tx):
            steps.forward(t, words[t].to(wide), (states[t].to(U.dtype) @ U.t()).to(wide), states[t], states[t + 1])
        ctx.saved = states, steps, U
        return states[1:].to(U.dtype)

    @staticmethod
    def backward(ctx, d_states):
        states, steps, U = ctx.saved
        ctx.saved = None
        Tx, B, n = d_states.shape
        d_inputs, d_products = torch.empty(2, Tx, B, 3 * n, dtype=U.dtype)
        d = torch.zeros(B, n, dtype=states.dtype)
        for t in reversed(range(Tx)):
            d = steps.backward(t, d.add_(d_states[t]), states[t], d_inputs[t], d_products[t])
            d += d_products[t] @ U
        return d_inputs, d_products.view(-1, 3 * n).t() @ states[:-1].reshape(-1, n).to(U.dtype)


class Decoder(Function):
    """The decoder: states s_i-1 [Ty, B, n] and weights alpha [Ty, B, Tx]. values: h_j C [B, Tx, 3n]. `query` is [U; W_a], keys and W_a are
    twice what the equation has: tanh(x) = 2 sigmoid(2 x) - 1, and the constant cancels in the softmax."""

    @staticmethod
    def forward(ctx, s, words, keys, values, query, v):
        Ty, (B, Tx, a), n, narrow = len(words), keys.shape, s.shape[1], words.dtype
        wide = wide_type(narrow)
        states, alphas = torch.empty(Ty, B, n, dtype=wide), torch.empty(Ty, B, Tx, dtype=wide)
        hidden, steps = torch.empty(Ty, B, Tx, a, dtype=narrow), Steps(Ty, B, n, wide)
        states[0] = s
        for i in range(Ty):
            product = states[i].to(narrow) @ query.t()
            torch.add(keys, product[:, None, 3 * n:], out=hidden[i]).sigmoid_()
            alphas[i] = torch.softmax((hidden[i].view(-1, a) @ (2 * v)).view(B, Tx).to(wide), 1)
            if i + 1 < Ty:
                gi = torch.bmm(alphas[i].to(narrow)[:, None], values)[:, 0] + words[i]
                steps.forward(i, gi.to(wide), product[:, :3 * n].to(wide), states[i], states[i + 1])
        ctx.saved = states, alphas, hidden, steps, keys, values, query, v
        return states.to(narrow), alphas.to(narrow)

    @staticmethod
    def backward(ctx, d_states, d_alphas):
        states, alphas, hidden, steps, keys, values, query, v = ctx.saved
        ctx.saved = None
        Ty, B, n = states.shape
        Tx, a, narrow, wide = keys.shape[1], keys.shape[2], keys.dtype, states.dtype
        d_words = torch.zeros(Ty, B, 3 * n, dtype=narrow)
        d_query = torch.zeros(Ty, B, 3 * n + a, dtype=narrow)
        slopes, d_v, slope = torch.zeros_like(keys), torch.zeros(a, dtype=wide), torch.empty_like(keys)
        d = torch.zeros(B, n, dtype=wide)
        for i in reversed(range(Ty)):
            d_alpha = d_alphas[i].to(wide)
            if i + 1 < Ty:
                d = steps.backward(i, d.add_(d_states[i + 1]), states[i], d_words[i], d_query[i][:, :3 * n])
                d_alpha = d_alpha + torch.bmm(values, d_words[i][:, :, None])[:, :, 0]
            d_score = alphas[i] * (d_alpha - (alphas[i] * d_alpha).sum(1, keepdim=True))
            d_score = d_score.to(narrow)
            d_v += hidden[i].view(-1, a).t() @ d_score.view(-1)
            torch.addcmul(hidden[i], hidden[i], hidden[i], value=-1, out=slope)  # sigmoid' = x (1 - x)
            torch.mul(torch.bmm(d_score[:, None], slope)[:, 0], 2 * v, out=d_query[i][:, 3 * n:])
            slopes.addcmul_(slope, d_score[:, :, None])
            d += d_query[i] @ query
        d_values = torch.bmm(alphas.permute(1, 2, 0).to(narrow), d_words.transpose(0, 1))
        d_matrix = d_query.view(-1, 3 * n + a).t() @ states.view(-1, n).to(narrow)
        return (d + d_states[0]).to(narrow), d_words, slopes.mul_(2 * v), d_values, d_matrix, d_v.mul_(2).to(narrow)


class Output(Function):
    """The sum of the cross-entropies of rows x [N, l] with words [N]."""
    rows_at_once = 128

    @staticmethod
    def forward(ctx, x, W, bias, words):
        loss, d_x, d_W, d_bias = 0.0, torch.empty_like(x), torch.zeros_like(W), torch.zeros(len(bias), dtype=wide_type(W.dtype))
        for rows in torch.arange(len(x)).split(Output.rows_at_once):
            rows = slice(int(rows[0]), int(rows[-1]) + 1)
            p = F.log_softmax(torch.addmm(bias, x[rows], W.t()).to(d_bias.dtype), 1)
            loss -= p.gather(1, words[rows, None]).sum().item()
            p.exp_()[torch.arange(len(p)), words[rows]] -= 1
            d_bias += p.sum(0)
            p = p.to(W.dtype)
            torch.mm(p, W, out=d_x[rows])
            d_W.addmm_(p.t(), x[rows])
        ctx.saved = d_x, d_W, d_bias.to(W.dtype)
        return torch.tensor(loss, dtype=d_bias.dtype)

    @staticmethod
    def backward(ctx, _):  # the loss is what is differentiated, so its own gradient is 1
        return *ctx.saved, None


class Model(nn.Module):
    def __init__(self, o):
        super().__init__()
        m, n, a, l = o.embedding, o.state, o.alignment, o.maxout

        def matrix(rows, columns, deviation=0.01):
            return nn.Parameter(torch.randn(rows, columns) * deviation)
        self.by_hand, self.narrow = o.variant == 'by-hand', torch.bfloat16 if o.precision == 'bf16' else torch.get_default_dtype()
        self.source, self.target = (nn.Embedding(words, m, sparse=True) for words in (o.source_words, o.target_words))
        nn.init.normal_(self.source.weight, 0, 0.01)
        nn.init.normal_(self.target.weight, 0, 0.01)
        self.encoder = nn.GRU(m, n, bidirectional=True, bias=False)
        self.W_s, self.W, self.U, self.C = matrix(n, n), matrix(3 * n, m), matrix(3 * n, n, n ** -0.5), matrix(3 * n, 2 * n)
        self.W_a, self.U_a, self.v_a = matrix(a, n, 0.001), matrix(a, 2 * n, 0.001), nn.Parameter(torch.randn(a) * 0.01)
        self.readout, self.W_o = matrix(2 * l, 3 * n + m), matrix(o.target_words, l)
        self.b_s, self.b, self.b_readout, self.b_o = (
            nn.Parameter(torch.zeros(size)) for size in (n, 3 * n, 2 * l, o.target_words))

    def forward(self, source, target):
        """Word numbers [Tx, B] and [Ty, B]. Returns the sum of the negative log-probabilities of the target words."""
        x, y = self.source(source), self.target(target)
        before = torch.cat([torch.zeros_like(y[:1]), y[:-1]])  # E y_i-1; nothing stands before the first word
        if self.by_hand:
            states, contexts = self.run_by_hand(x, y)
        else:
            annotations, last = self.encoder(x)
            s = torch.tanh(F.linear(last[1], self.W_s, self.b_s))  # last[1]: the backward direction at the first word
            annotations = annotations.transpose(0, 1)
            states, contexts = decode(s, F.linear(y, self.W, self.b), annotations, F.linear(annotations, self.U_a),
                                      self.U, self.W_a, self.C, self.v_a)
        narrow = self.narrow if self.by_hand else states.dtype
        features = torch.cat([states.to(narrow), before.to(narrow), contexts.to(narrow)], 2)
        t = F.linear(features, self.readout.to(narrow), self.b_readout.to(narrow)).flatten(0, 1)
        t = torch.maximum(*t.chunk(2, 1))
        if self.by_hand:
            return Output.apply(t, self.W_o.to(narrow), self.b_o.to(narrow), target.flatten())
        return F.cross_entropy(F.linear(t, self.W_o, self.b_o), target.flatten(), reduction='sum')

    def run_by_hand(self, x, y):
        narrow, e = self.narrow, self.encoder
        x, y = x.to(narrow), y.to(narrow)
        forward = Recurrence.apply(F.linear(x, e.weight_ih_l0.to(narrow)), e.weight_hh_l0.to(narrow))
        backward = Recurrence.apply(F.linear(x.flip(0), e.weight_ih_l0_reverse.to(narrow)), e.weight_hh_l0_reverse.to(narrow))
        annotations = torch.cat([forward, backward.flip(0)], 2).transpose(0, 1).contiguous()
        s = torch.tanh(F.linear(backward[-1], self.W_s.to(narrow), self.b_s.to(narrow)))
        states, alphas = Decoder.apply(
            s, F.linear(y, self.W.to(narrow), self.b.to(narrow)), F.linear(annotations, (2 * self.U_a).to(narrow)),
            F.linear(annotations, self.C.to(narrow)), torch.cat([self.U, 2 * self.W_a]).to(narrow), self.v_a.to(narrow))
        return states, torch.bmm(alphas.transpose(0, 1), annotations).transpose(0, 1)


class Adadelta:
    """Adadelta (Zeiler 2012) with rho = 0.95 and epsilon = 1e-6, after clipping the norm of the gradient to 1."""
    rho, epsilon, piece = 0.95, 1e-6, 1 << 16

    def __init__(self, model):
        self.parameters, self.update = list(model.parameters()), 0
        self.squares = {p: (torch.zeros_like(p), torch.zeros_like(p)) for p in self.parameters}
        self.last = {p: torch.zeros(len(p), dtype=torch.long) for p in self.parameters}  # updates of the rows of embeddings

    @torch.no_grad()
    def step(self):
        self.update += 1
        gradients = {p: p.grad.coalesce() if p.grad.is_sparse else p.grad for p in self.parameters}
        norm = torch.linalg.vector_norm(torch.stack(
            [torch.linalg.vector_norm(g.values() if g.is_sparse else g) for g in gradients.values()]))
        scale = min(1.0, 1.0 / float(norm))
        for p, g in gradients.items():
            of_gradients, of_changes = self.squares[p]
            if not g.is_sparse:
                for arrays in zip(*(array.view(-1).split(self.piece) for array in (p, g.contiguous(), of_gradients, of_changes))):
                    self.change(*arrays, scale)
                continue
            rows = g.indices()[0]
            missed = self.rho ** (self.update - 1 - self.last[p][rows]).to(p.dtype)[:, None]
            arrays = [p[rows], g.values(), of_gradients[rows] * missed, of_changes[rows] * missed]
            self.change(*arrays, scale)
            self.last[p][rows] = self.update
            p[rows], of_gradients[rows], of_changes[rows] = arrays[0], arrays[2], arrays[3]
        for p in self.parameters:
            p.grad = None

    def change(self, p, g, of_gradients, of_changes, scale):
        of_gradients.mul_(self.rho).addcmul_(g, g, value=(1 - self.rho) * scale * scale)
        change = ((of_changes + self.epsilon).div_(of_gradients + self.epsilon)).sqrt_().mul_(g).mul_(scale)
        of_changes.mul_(self.rho).addcmul_(change, change, value=1 - self.rho)
        p.sub_(change)


def random_words(vocabulary, length, sentences):
    """Words 1 to vocabulary - 1 by the law 1 / k, as rnnsearch benchmark draws them, and 0 for </s> at the end: [length + 1, sentences]."""
    words = torch.rand(length, sentences, dtype=torch.double).mul_(torch.tensor(float(vocabulary)).log()).exp_().long()
    return torch.cat([words.clamp_(1, vocabulary - 1), torch.zeros(1, sentences, dtype=torch.long)])


def check(o):
    """Whether both variants give the same loss and gradients, and Adadelta the same parameters as torch.optim's after three updates."""
    torch.set_default_dtype(torch.double)
    o.embedding, o.state, o.alignment, o.maxout, o.source_words, o.target_words, o.precision = 5, 6, 7, 4, 11, 13, 'f32'
    found = {}
    for o.variant in ('autograd', 'by-hand'):
        torch.manual_seed(1)
        model = Model(o)
        for p in model.parameters():
            nn.init.normal_(p, 0, 0.5)
        optimizer = Adadelta(model)
        reference = [nn.Parameter(p.detach().clone()) for p in model.parameters()]
        theirs, computed = torch.optim.Adadelta(reference, lr=1, rho=0.95, eps=1e-6), []
        for _ in range(3):
            loss = model(random_words(11, 4, 3), random_words(13, 6, 3))
            loss.backward()
            for p, q in zip(model.parameters(), reference):
                q.grad = p.grad.to_dense().clone()
            computed += [loss.detach()] + [q.grad.clone() for q in reference]
            nn.utils.clip_grad_norm_(reference, 1)
            theirs.step()
            optimizer.step()
        found[o.variant] = computed, [p.detach() for p in model.parameters()], [q.detach() for q in reference]
    (gradients, ours, theirs), (by_hand, _, _) = found['autograd'], found['by-hand']
    worst = max(float((x - y).abs().max() / y.abs().max()) for x, y in zip(by_hand + ours, gradients + theirs))
    print('largest relative difference: %.1e' % worst)
    return worst < 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--variant', choices=['autograd', 'by-hand'], default='autograd')
    parser.add_argument('--precision', choices=['f32', 'bf16'], default='f32')
    for name, default in (('embedding', 620), ('state', 1000), ('alignment', 1000), ('maxout', 500), ('source-words', 30000),
                          ('target-words', 30000), ('batch-sentences', 80), ('source-length', 25), ('target-length', 25), ('threads', 1),
                          ('updates', 10), ('untimed-updates', 2)):
        parser.add_argument('--' + name, type=int, default=default)
    parser.add_argument('--check', action='store_true', help='compare both variants and the optimiser on a small model, and exit')
    o = parser.parse_args()
    torch.set_num_threads(o.threads)
    if o.check:
        raise SystemExit(0 if check(o) else 1)
    torch.manual_seed(1)
    model = Model(o)
    optimizer, seconds = Adadelta(model), []
    for _ in range(o.untimed_updates + o.updates):
        batch = (random_words(words, length, o.batch_sentences)
                 for words, length in ((o.source_words, o.source_length), (o.target_words, o.target_length)))
        start = time.perf_counter()
        with torch.autocast('cpu', torch.bfloat16, o.precision == 'bf16' and o.variant == 'autograd'):
            loss = model(*batch)
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    seconds = seconds[o.untimed_updates:]
    print(json.dumps({'seconds': {'median': statistics.median(seconds), 'minimum': min(seconds), 'maximum': max(seconds)},
                      'loss': float(loss), 'version': torch.__version__, 'variant': o.variant, 'precision': o.precision,
                      'threads': o.threads}))


if __name__ == '__main__':
    main()
