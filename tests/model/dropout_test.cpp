#include "model/dropout.h"

#include "rnnsearch/base/parallel.h"
#include "tests/model/all_systems.h"
#include "tests/model/systems.h"
#include "tests/support/test.h"

namespace rnnsearch::model {
namespace {

constexpr DropoutSeed kDropoutSeed{.seed = 7, .update = 1000, .first_pair = 2, .pair_stride = 3};

/// Systems that drop: all there are with one kind or the other, and cells of two layers with both.
std::vector<Variant> dropping_systems() {
  std::vector<Variant> all;
  const auto add = [&](const std::string& name, ModelOptions o, DropoutKind kind) {
    o.dropout = 0.3;
    o.dropout_kind = kind;
    if (o.attends()) o.attention_dropout = 0.2;
    all.push_back({name + "_" + name_of(kind), o});
  };
  const auto add_words_alone = [&](const std::string& name, ModelOptions o, DropoutKind kind) {
    o.dropout_kind = kind;
    o.source_word_dropout = 0.3;
    const bool reads = (o.state_inputs.word || o.readout_inputs.word) && o.feedback == Feedback::kWord;
    o.target_word_dropout = reads ? 0.25 : 0;
    all.push_back({name + "_words_" + name_of(kind), o});
  };
  for (const Variant& system : all_systems()) {
    add(system.name, system.options, all.size() % 2 == 0 ? DropoutKind::kVariational : DropoutKind::kPlain);
    if (all.size() % 3 == 0) add_words_alone(system.name, system.options, all.back().options.dropout_kind);
  }
  const auto kinds = each("dropout-kind", all_names<DropoutKind>());
  const std::vector<std::string> words[] = {kinds, each("state-word", all_names<Step>()),
                                            each("attention", {"additive", "none"}), each("dropout", {"0", "0.2"})};
  add_product(all, "words", with(small(), "source-word-dropout=0.3 target-word-dropout=0.25"), words);
  const std::vector<std::string> cells[] = {kinds, each("cell", {"gru", "lstm", "tanh"})};
  add_product(all, "two_layers", with(small(), "layers=2 dropout=0.3 attention-dropout=0.2"), cells);
  all.push_back({"rnnsearch_attention_only", with(small(), "attention-dropout=0.5")});
  return all;
}

std::vector<Variant> dropping_words(const std::string& kind) {
  const std::string shares = "source-word-dropout=0.3 target-word-dropout=0.25 dropout-kind=";
  return variants(with(small(), shares + kind), 4);
}

class DroppingSystems : public testing::TestWithParam<Variant> {};

#ifdef RNNSEARCH_DOUBLE
/// What the masks leave of one sentence, unit by unit.
systems::Drop drop_of(const ModelOptions& options, const DropoutSeed& seed, std::uint64_t sentence) {
  return [&options, seed, sentence](Activations activations, std::size_t number, std::size_t step, systems::Vector x) {
    Dropout dropout(options);
    const Dropout::Batch batch(dropout, seed);
    kernels::DropoutMask mask = dropout.mask(activations, number);
    const auto at = static_cast<std::uint32_t>(step);
    if (activations == Activations::kWholeSourceWord || activations == Activations::kWholeTargetWord) {
      const auto word = static_cast<WordId>(number);
      mask = dropout.mask_of_words(activations, {});
      mask.sentences = {&sentence, 1};
      mask.steps = {options.dropout_kind == DropoutKind::kPlain ? &at : &word, 1};
      kernels::drop_rows(mask, {x.data(), 1, x.size()});
      return x;
    }
    const bool each_step = options.dropout_kind == DropoutKind::kPlain || activations == Activations::kAttention;
    mask.sentences = {&sentence, 1};
    if (each_step) mask.steps = {&at, 1};
    kernels::drop(mask, {x.data(), 1, x.size()});
    return x;
  };
}

TEST_P(DroppingSystems, AgreeWithTheEquationsOfWhatIsLeft) {
  const ModelOptions& options = GetParam().options;
  Model model(options);
  fill(model, 71);
  const reference::Parameters parameters = named(model);
  Random random(72);
  const Sentences source = random_sentences(random, 5, 9, 12), target = random_sentences(random, 5, 9, 13);
  double expected = 0;
  for (std::size_t b = 0; b < source.size(); ++b) {
    const systems::System system(parameters, model.options(), drop_of(options, kDropoutSeed, 2 + 3 * b));
    expected -=
        system.run({source[b].begin(), source[b].end()}, {target[b].begin(), target[b].end()}).log_probability();
  }
  const double found =
      model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed}).negative_log_likelihood;
  EXPECT_NEAR(found, expected, 1e-10 * expected);
  EXPECT_GT(std::abs(found - model.loss(source, target).negative_log_likelihood), 1e-3) << "nothing is dropped";
}

TEST_P(DroppingSystems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  Model model(GetParam().options);
  const GradientOptions how{.dropout_seed = kDropoutSeed};
  expect_gradient_of_central_differences(model, how, [&](const Sentences& source, const Sentences& target) {
    return model.accumulate_gradient(source, target, how).negative_log_likelihood;
  });
}

/// Cut as by three ranks, in pieces: the same numbers, the same masks.
TEST_P(DroppingSystems, DropTheSameHoweverABatchIsCut) {
  Model whole(GetParam().options), cut(GetParam().options);
  fill(whole, 81);
  fill(cut, 81);
  Random random(82);
  const Sentences source = random_sentences(random, 8, 9, 12), target = random_sentences(random, 8, 9, 13);
  const DropoutSeed seed{.seed = 3, .update = 5};
  const double expected = whole.accumulate_gradient(source, target, {.dropout_seed = seed}).negative_log_likelihood;
  double found = 0;
  for (const std::size_t rank : {2u, 0u, 1u}) {
    Sentences a, b;
    for (std::size_t i = rank; i < source.size(); i += 3) {
      a.add(source[i]);
      b.add(target[i]);
    }
    const DropoutSeed share{.seed = 3, .update = 5, .first_pair = rank, .pair_stride = 3};
    found += cut.accumulate_gradient(a, b, {.dropout_seed = share}).negative_log_likelihood;
  }
  EXPECT_NEAR(found, expected, 1e-12 * expected);
  const auto a = whole_gradient(whole), b = whole_gradient(cut);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(b[i], a[i], 1e-11 * (1 + std::abs(a[i]))) << i;
  const DropoutSeed later{.seed = 3, .update = 6}, other{.seed = 4, .update = 5};
  for (const DropoutSeed& different : {later, other}) {
    const double loss = whole.accumulate_gradient(source, target, {.dropout_seed = different}).negative_log_likelihood;
    EXPECT_GT(std::abs(loss - expected), 1e-6);
  }
}
#endif

#ifndef RNNSEARCH_DOUBLE
/// What is computed without a gradient has the bits of the model without dropout, before and after one.
TEST_P(DroppingSystems, DropNothingInInference) {
  ModelOptions without = GetParam().options;
  without.dropout = without.attention_dropout = without.source_word_dropout = without.target_word_dropout = 0;
  without.dropout_kind = DropoutKind::kPlain;
  Model model(GetParam().options), plain(without);
  fill(model, 91);
  fill(plain, 91);
  Random random(92);
  const Sentences source = random_sentences(random, 6, 12, 12), target = random_sentences(random, 6, 12, 13);
  for (const bool after : {false, true}) {
    if (after) model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed});
    EXPECT_EQ(model.loss(source, target).negative_log_likelihood, plain.loss(source, target).negative_log_likelihood);
    const auto encoded = model.encode(source), expected = plain.encode(source);
    for (const auto member : {&Encoded::annotations, &Encoded::contexts, &Encoded::initial_states}) {
      const auto found = (encoded.*member).view(), wanted = (expected.*member).view();
      const std::size_t bytes = found.rows * found.cols * sizeof(Real);
      ASSERT_EQ(bytes, wanted.rows * wanted.cols * sizeof(Real));
      EXPECT_TRUE(bytes == 0 || std::memcmp(found.data, wanted.data, bytes) == 0);
    }
    const std::size_t R = source.size(), K = without.target_words;
    std::vector<std::uint32_t> same(R);
    std::iota(same.begin(), same.end(), 0u);
    std::vector<std::vector<float>> log_p(2), next(2);
    for (const std::size_t i : {0u, 1u}) {
      Model& of = i == 0 ? model : plain;
      log_p[i].resize(R * K);
      SearchState state = of.start(encoded);
      of.predict(encoded, state, {{log_p[i].data(), R, K}});
      state.select(same, std::vector<WordId>(R, 5));
      of.advance(state);
      for (const auto& part : {state.states.view(), state.fed.view()})
        next[i].insert(next[i].end(), part.data, part.data + part.rows * part.cols);
    }
    EXPECT_EQ(log_p[0], log_p[1]);
    EXPECT_EQ(next[0], next[1]);
  }
}

TEST_P(DroppingSystems, ComputeTheSameBitsOnAnyNumberOfThreads) {
  Random random(51);
  const Sentences source = random_sentences(random, 12, 20, 12), target = random_sentences(random, 12, 20, 13);
  std::vector<float> expected;
  for (const std::size_t threads : {1u, 2u}) {
    set_thread_count(threads);
    Model model(GetParam().options);
    fill(model, 52);
    model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed});
    const auto gradient = whole_gradient(model);
    if (threads == 1)
      expected = gradient;
    else
      EXPECT_EQ(std::memcmp(gradient.data(), expected.data(), expected.size() * sizeof(float)), 0);
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, DroppingSystems, testing::ValuesIn(dropping_systems()), name_of_case);

INSTANTIATE_TEST_SUITE_P(DroppingWords, DroppingSystems, testing::ValuesIn(dropping_words("plain")), name_of_case);
INSTANTIATE_TEST_SUITE_P(DroppingWordsTogether, DroppingSystems, testing::ValuesIn(dropping_words("variational")),
                         name_of_case);

#ifdef RNNSEARCH_DOUBLE
TEST(Dropout, FollowsItsRampFromUpdateToUpdate) {
  ModelOptions options = widths(12, 6, 8, 5, 3);
  options.dropout = {0, 0.5, 4};
  options.source_word_dropout = {0.5, 0, 2};
  Dropout dropout(options);
  std::vector<double> units, words;
  for (std::uint64_t update = 1; update <= 6; ++update) {
    const Dropout::Batch batch(dropout, {.seed = 1, .update = update});
    units.push_back(dropout.mask(Activations::kReadout).share);
    words.push_back(dropout.mask_of_words(Activations::kWholeSourceWord, {}).share);
  }
  EXPECT_EQ(units, (std::vector<double>{0, 0.125, 0.25, 0.375, 0.5, 0.5}));
  EXPECT_EQ(words, (std::vector<double>{0.5, 0.25, 0, 0, 0, 0}));
}
#endif

// ---- with guided alignment

/// For each pair some links: of words with one, several and no links, and one link twice over.
Sentences random_links(Random& random, const Sentences& source, const Sentences& target) {
  Sentences links;
  for (std::size_t b = 0; b < source.size(); ++b) {
    std::vector<WordId> of_pair;
    for (std::size_t i = 0; i < target.length(b) && source.length(b) > 0; ++i) {
      for (std::uint64_t k = random.below(4); k > 0; --k) {
        of_pair.push_back(static_cast<WordId>(random.below(source.length(b))));
        of_pair.push_back(static_cast<WordId>(i));
      }
    }
    links.add(of_pair);
  }
  return links;
}

/// Systems whose attention sees the whole sentence, with and without dropout, in every order of words.
std::vector<Variant> guided_systems() {
  std::vector<Variant> all;
  for (const auto& systems : {all_systems(), dropping_systems()}) {
    for (const Variant& system : systems) {
      if (!system.options.attends() || system.options.attention_window != AttentionWindow::kGlobal) continue;
      all.push_back(system);
    }
  }
  all.push_back({"rnnsearch", small()});
  all.push_back({"rnnsearch_turned_round", with(small(), kTurnedRound)});
  return all;
}

class GuidedSystems : public testing::TestWithParam<Variant> {};

#ifdef RNNSEARCH_DOUBLE
/// Equation: see GuidedAlignment; the weights of attention are those of `align`.
double alignment_cost_of(Model& model, double weight, const Sentences& source, const Sentences& target,
                         const Sentences& links) {
  double cost = 0;
  const auto alignments = model.align(source, target);
  for (std::size_t b = 0; b < source.size(); ++b) {
    const std::size_t Tx = std::max<std::size_t>(1, source.length(b) + (model.options().source_end ? 1 : 0));
    for (std::size_t i = 0; i < target.length(b); ++i) {
      std::vector<std::size_t> to;
      for (std::size_t k = 0; k < links[b].size(); k += 2)
        if (links[b][k + 1] == i) to.push_back(links[b][k]);
      for (const std::size_t j : to) cost -= std::log(alignments[b].alpha[i * Tx + j]) / static_cast<double>(to.size());
    }
  }
  return weight * cost;
}

TEST_P(GuidedSystems, HaveTheGradientOfCentralDifferencesInEveryParameter) {
  set_thread_count(1);
  Model model(GetParam().options);
  Random random(23);
  Sentences source, target;
  for (const std::size_t length : {3u, 1u, 0u, 5u, 3u}) source.add(random_sentence(random, length, 12));
  for (const std::size_t length : {2u, 4u, 1u, 0u, 6u}) target.add(random_sentence(random, length, 13));
  const Sentences links = random_links(random, source, target);
  const GradientOptions how{.dropout_seed = kDropoutSeed, .guided_alignment = {.weight = 0.7, .links = &links}};
  fill(model, 24);
  const Loss loss = model.accumulate_gradient(source, target, how);
  EXPECT_GT(loss.alignment, 1);
  if (!GetParam().options.drops()) {
    EXPECT_NEAR(loss.alignment, alignment_cost_of(model, 0.7, source, target, links), 1e-10);
    EXPECT_NEAR(loss.negative_log_likelihood, model.loss(source, target).negative_log_likelihood, 1e-10);
  }
  expect_central_differences(model, whole_gradient(model), [&] {
    const Loss at = model.accumulate_gradient(source, target, how);
    return at.negative_log_likelihood + at.alignment;
  });
}
#endif

#ifdef RNNSEARCH_DOUBLE
/// The gradients of the pairs, one by one, weighted by hand and added.
TEST_P(GuidedSystems, MultiplyTheGradientOfEachPairByItsWeight) {
  set_thread_count(1);
  Model model(GetParam().options);
  fill(model, 27);
  Random random(28);
  const Sentences source = random_sentences(random, 6, 9, 12), target = random_sentences(random, 6, 9, 13);
  const Sentences links = random_links(random, source, target);
  const std::vector<float> weights{0.5F, 0, 2, 1, 3.25F, 0.125F};
  GradientOptions how{
      .label_smoothing = 0.1, .dropout_seed = kDropoutSeed, .guided_alignment = {.weight = 0.7, .links = &links}};
  const Loss unweighted = model.accumulate_gradient(source, target, how);
  how.weights = weights;
  model.zero_gradient();
  const Loss loss = model.accumulate_gradient(source, target, how);
  EXPECT_EQ(loss.negative_log_likelihood, unweighted.negative_log_likelihood);
  EXPECT_EQ(loss.alignment, unweighted.alignment);
  const std::vector<double> found = whole_gradient(model);
  std::vector<double> expected(found.size());
  how.weights = {};
  for (std::size_t b = 0; b < source.size(); ++b) {
    Sentences one, other, its_links;
    one.add(source[b]);
    other.add(target[b]);
    its_links.add(links[b]);
    how.guided_alignment.links = &its_links;
    how.dropout_seed.first_pair = kDropoutSeed.first_pair + b * kDropoutSeed.pair_stride;
    model.zero_gradient();
    model.accumulate_gradient(one, other, how);
    const std::vector<double> gradient = whole_gradient(model);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += double{weights[b]} * gradient[i];
  }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-11 * (1 + std::abs(expected[i]))) << i;
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_GT(largest, 0.1);
}
#endif

#ifndef RNNSEARCH_DOUBLE
/// Without links, and with a weight of 0, the bits are those of a gradient without guided alignment.
TEST_P(GuidedSystems, ComputeWithoutLinksWhatUnguidedOnesDo) {
  Random random(25);
  const Sentences source = random_sentences(random, 6, 9, 12), target = random_sentences(random, 6, 9, 13);
  const Sentences links = random_links(random, source, target);
  Sentences none;
  for (std::size_t b = 0; b < source.size(); ++b) none.add({});
  std::vector<std::vector<float>> gradients;
  for (const GuidedAlignment& guided :
       {GuidedAlignment{}, GuidedAlignment{0, &links}, GuidedAlignment{1, &none}, GuidedAlignment{1, &links}}) {
    Model model(GetParam().options);
    fill(model, 26);
    const Loss loss =
        model.accumulate_gradient(source, target, {.dropout_seed = kDropoutSeed, .guided_alignment = guided});
    EXPECT_EQ(loss.alignment > 0, gradients.size() == 3);
    gradients.push_back(whole_gradient(model));
  }
  EXPECT_EQ(gradients[1], gradients[0]);
  EXPECT_EQ(gradients[2], gradients[0]);
  EXPECT_NE(gradients[3], gradients[0]);
  for (const float weight : {1.0F, 2.0F}) {
    const std::vector<float> weights(source.size(), weight);
    Model model(GetParam().options);
    fill(model, 26);
    model.accumulate_gradient(source, target,
                              {.dropout_seed = kDropoutSeed, .guided_alignment = {1, &links}, .weights = weights});
    EXPECT_EQ(whole_gradient(model) == gradients[3], weight == 1) << "weights of " << weight;
  }
}
#endif

INSTANTIATE_TEST_SUITE_P(Every, GuidedSystems, testing::ValuesIn(guided_systems()), name_of_case);

}  // namespace
}  // namespace rnnsearch::model
