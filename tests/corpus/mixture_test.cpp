#include "rnnsearch/corpus/mixture.h"

#include "corpus/prepare/corpus_writer.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/synthetic_batches.h"
#include "rnnsearch/text/unicode.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

/// Corpora with one vocabulary, whose pairs can be told apart by their source: pair i of corpus k is "K w(i / 100)
/// w(i % 100)". The second one has alignments, and the weights i.
struct Corpora {
  Scratch scratch;
  std::vector<Corpus> all;

  explicit Corpora(const std::vector<std::size_t>& sizes) {
    std::string words;
    for (int i = 0; i < 100; ++i) words += fmt::format("w{}\n", i);
    prepare(options("words", words + "A\nB\nC\n"));
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      std::string text, links, weights;
      for (std::size_t i = 0; i < sizes[k]; ++i) {
        text += fmt::format("{} w{} w{}\n", "ABC"[k], i / 100, i % 100);
        links += fmt::format("{}-{}\n", i % 3, (i + 1) % 3);
        weights += fmt::format("{}\n", i);
      }
      PrepareOptions made = options(fmt::format("corpus{}", k), text);
      made.vocabulary_of = scratch / "words.h5";
      if (k == 1) made.train[0].alignments = write_text(scratch / "links", links);
      if (k == 1) made.train[0].weights = write_text(scratch / "weights", weights);
      prepare(made);
      all.emplace_back(made.output);
    }
  }
  PrepareOptions options(const std::string& name, const std::string& text) const {
    const auto file = write_text(scratch / (name + ".txt"), text);
    PrepareOptions options;
    options.train = {{file, file}};
    options.output = scratch / (name + ".h5");
    options.pipeline.tokenizer = "none";
    options.source_words = std::nullopt;
    return options;
  }
  /// Corpus and number of a pair.
  std::pair<char, std::size_t> name(std::span<const WordId> source) const {
    const auto number = [&](WordId word) { return std::stoul(all[0].source_vocabulary().word(word).substr(1)); };
    return {all[0].source_vocabulary().word(source[0])[0], number(source[1]) * 100 + number(source[2])};
  }
};

using Names = std::vector<std::pair<char, std::size_t>>;

std::vector<Names> batches_of(const Corpora& corpora, BatchSequence& sequence, std::uint64_t epochs) {
  std::vector<Names> batches;
  while (sequence.position().epoch < epochs) {
    const BatchSlice slice = sequence.next();
    batches.emplace_back();
    for (std::size_t i = 0; i < slice.source.size(); ++i) batches.back().push_back(corpora.name(slice.source[i]));
  }
  return batches;
}

TEST(Shares, AddUpToAnEpochAndStayEvenAllTheWay) {
  const Corpora corpora({100, 40, 30});
  const std::vector<MixedCorpus> others{{&corpora.all[1], 0.5}, {&corpora.all[2], 1.27}};
  const Shares shares(corpora.all[0], others);
  EXPECT_EQ(shares.pairs(), 100u + 50 + 127);
  EXPECT_EQ(shares.pairs_of(0), 100u);
  EXPECT_EQ(shares.pairs_of(1), 50u);
  EXPECT_EQ(shares.pairs_of(2), 127u);
  std::vector<std::uint64_t> counted(3, 0);
  for (std::uint64_t pair = 0; pair < shares.pairs(); ++pair) {
    EXPECT_EQ(shares.among_first(pair), counted);
    for (std::size_t k = 0; k < 3; ++k) {
      const double even = static_cast<double>(pair * shares.pairs_of(k)) / static_cast<double>(shares.pairs());
      EXPECT_NEAR(static_cast<double>(counted[k]), even, 2);
    }
    ++counted[shares.corpus_of(pair)];
  }
  EXPECT_THAT(counted, ElementsAre(100, 50, 127));
  EXPECT_THAT(Shares(corpora.all[0], std::vector<MixedCorpus>{{&corpora.all[1], 1e-9}}).among_first(101),
              ElementsAre(100, 1));
}

TEST(Mixture, UsesAllPairsOfTheFirstCorpusOnceAnEpochAndThoseOfTheOthersEquallyOften) {
  const Corpora corpora({211, 50, 90});
  const std::vector<MixedCorpus> others{{&corpora.all[1], 0.5}, {&corpora.all[2], 0.2}};
  BatchSequence sequence(corpora.all[0], small_options(), 0, 1, 1, others);
  EXPECT_EQ(sequence.epoch_pairs(), 211u + 106 + 42);
  std::map<std::pair<char, std::size_t>, int> uses;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch) {
    std::size_t pairs = 0;
    for (const Names& batch : batches_of(corpora, sequence, epoch)) {
      pairs += batch.size();
      for (const auto& pair : batch) ++uses[pair];
    }
    EXPECT_EQ(pairs, sequence.epoch_pairs());
    const auto uses_of = [&](char corpus, std::size_t size) {
      std::vector<int> found;
      for (std::size_t i = 0; i < size; ++i) found.push_back(uses[{corpus, i}]);
      return found;
    };
    const int e = static_cast<int>(epoch);
    EXPECT_THAT(uses_of('A', 211), Each(e));
    EXPECT_THAT(uses_of('B', 50), Each(AnyOf(106 * e / 50, 106 * e / 50 + 1)));
    EXPECT_THAT(uses_of('C', 90), Each(AnyOf(42 * e / 90, 42 * e / 90 + 1)));
  }
}

/// Windows of 70 pairs: the shares hold in each of them, so the corpora do not follow each other.
TEST(Mixture, HasItsSharesInEveryPartOfAnEpoch) {
  const Corpora corpora({300, 300});
  const std::vector<MixedCorpus> others{{&corpora.all[1], 0.5}};
  for (const bool shuffle : {true, false}) {
    BatchOptions options = small_options();
    options.shuffle = shuffle;
    BatchSequence sequence(corpora.all[0], options, 0, 1, 1, others);
    std::size_t pairs = 0, of_second = 0;
    for (const Names& batch : batches_of(corpora, sequence, 1)) {
      pairs += batch.size();
      for (const auto& pair : batch) of_second += pair.first == 'B' ? 1 : 0;
      EXPECT_NEAR(static_cast<double>(of_second), static_cast<double>(pairs) / 3, shuffle ? 24 : 9) << pairs;
    }
    EXPECT_EQ(of_second, 150u);
  }
}

TEST(Mixture, HasTheSameBatchesOnAnyNumberOfRanksAndAfterASeekToAnyOfThem) {
  const Corpora corpora({150, 41, 60});
  const std::vector<MixedCorpus> others{{&corpora.all[1], 0.7}, {&corpora.all[2], 0.1}};
  for (const bool reshuffle : {true, false}) {
    BatchOptions options = small_options();
    options.reshuffle = reshuffle;
    BatchSequence alone(corpora.all[0], options, 0, 1, 1, others);
    const std::vector<Names> expected = batches_of(corpora, alone, 2);
    for (int ranks = 2; ranks <= 3; ++ranks) {
      for (int rank = 0; rank < ranks; ++rank) {
        BatchSequence part(corpora.all[0], options, rank, ranks, 1, others);
        BatchSequence sought(corpora.all[0], options, rank, ranks, 1, others);
        for (const Names& batch : expected) {
          Names share;
          for (std::size_t i = static_cast<std::size_t>(rank); i < batch.size(); i += static_cast<std::size_t>(ranks))
            share.push_back(batch[i]);
          sought.seek(part.position());
          const BatchSlice next = part.next(), again = sought.next();
          ASSERT_EQ(next.source.size(), share.size());
          for (std::size_t i = 0; i < share.size(); ++i) ASSERT_EQ(corpora.name(next.source[i]), share[i]);
          EXPECT_EQ(again.source.words, next.source.words);
          EXPECT_EQ(again.links.words, next.links.words);
          EXPECT_EQ(again.weights, next.weights);
        }
      }
    }
  }
}

TEST(Mixture, OfOneCorpusAloneHasTheBatchesOfThatCorpus) {
  const Corpora corpora({150});
  BatchSequence alone(corpora.all[0], small_options(), 0, 1), mixed(corpora.all[0], small_options(), 0, 1, 1, {});
  EXPECT_EQ(batches_of(corpora, alone, 2), batches_of(corpora, mixed, 2));
  EXPECT_EQ(fingerprint_of(corpora.all[0], {}), corpora.all[0].fingerprint());
}

TEST(Mixture, GivesPairsOfACorpusWithoutAlignmentsAndWeightsNoLinksAndTheWeightOne) {
  const Corpora corpora({40, 40});
  const std::vector<MixedCorpus> others{{&corpora.all[1], 1}};
  BatchSequence sequence(corpora.all[0], small_options(), 0, 1, 1, others);
  std::size_t with_links = 0;
  while (sequence.position().epoch == 0) {
    const BatchSlice slice = sequence.next();
    ASSERT_EQ(slice.links.size(), slice.source.size());
    for (std::size_t i = 0; i < slice.source.size(); ++i) {
      const auto [corpus, pair] = corpora.name(slice.source[i]);
      EXPECT_EQ(slice.weights.at(i), corpus == 'A' ? 1 : static_cast<float>(pair));
      if (corpus == 'A') {
        EXPECT_EQ(slice.links.length(i), 0u);
      } else {
        EXPECT_THAT(slice.links[i], ElementsAre(pair % 3, (pair + 1) % 3));
        ++with_links;
      }
    }
  }
  EXPECT_EQ(with_links, 40u);
}

TEST(Mixture, RefusesCorporaWithOtherWordsAndWeightsThatMakeNoSense) {
  const Corpora corpora({40, 40});
  PrepareOptions other = corpora.options("other", "A w1 w2\n");
  prepare(other);
  const Corpus few(other.output);
  const auto said_of = [&](const Corpus& corpus, double weight) {
    return message_of([&] { check_mixture(corpora.all[0], std::vector<MixedCorpus>{{&corpus, weight}}); });
  };
  EXPECT_THAT(said_of(few, 1), AllOf(HasSubstr("other.h5 cannot be mixed into"), HasSubstr("corpus0.h5"),
                                     HasSubstr("of the source vocabulary"), HasSubstr("--vocabulary-of")));
  other.pipeline.lowercase = true;
  other.overwrite = true;
  prepare(other);
  EXPECT_THAT(said_of(Corpus(other.output), 1), HasSubstr("lowercase is true there and false in"));
  EXPECT_NO_THROW(check_mixture(corpora.all[0], std::vector<MixedCorpus>{{&corpora.all[1], 1}}));
  EXPECT_THAT(said_of(corpora.all[1], 0), HasSubstr("must be above 0"));
  EXPECT_THAT(said_of(corpora.all[1], -1), HasSubstr("must be above 0"));
  EXPECT_THAT(said_of(corpora.all[1], 1e9), HasSubstr("choose a lower weight"));
}

TEST(OtherLibraries, AreThoseOfTextThatAnotherVersionSplit) {
  const Corpora corpora({});
  PrepareOptions options = corpora.options("one", "a b\n");
  options.pipeline.normalization = "nfc";  // which is ICU's
  prepare(options);
  const Corpus one(options.output);
  const auto beside = [&](const std::string& libraries) {
    CorpusHead head{one.source_vocabulary(), one.target_vocabulary(), false, one.pipeline(), one.selection(), {}};
    head.pipeline.libraries.text = libraries;
    const PairBlock pair = one.read_pairs(0, 1);
    head.sizes = {1, pair.source.words.size(), pair.target.words.size(), {}};
    CorpusWriter writer(corpora.scratch / "changed.h5", head);
    EXPECT_TRUE(writer.add(pair.source[0], pair.target[0]));
    EXPECT_FALSE(writer.add(pair.source[0], pair.target[0])) << "more than was announced";
    writer.publish([] {});
    return other_libraries(one, Corpus(corpora.scratch / "changed.h5"));
  };
  EXPECT_EQ(beside(text::icu()), "");
  EXPECT_THAT(beside("ICU 50.1"), AllOf(HasSubstr("changed.h5 was split into words with ICU 50.1"),
                                        HasSubstr("one.h5 with " + text::icu())));
}

TEST(Mixture, IsKnownByItsCorporaAndWeights) {
  const Corpora corpora({40, 50, 60});
  const auto with = [&](const std::vector<MixedCorpus>& others) { return fingerprint_of(corpora.all[0], others); };
  const std::string mixed = with({{&corpora.all[1], 0.5}, {&corpora.all[2], 1}});
  EXPECT_EQ(mixed, fmt::format("{} + 0.5 * {} + 1 * {}", corpora.all[0].fingerprint(), corpora.all[1].fingerprint(),
                               corpora.all[2].fingerprint()));
  const std::set<std::string> all{mixed, with({{&corpora.all[2], 1}, {&corpora.all[1], 0.5}}),
                                  with({{&corpora.all[1], 0.5}}), with({{&corpora.all[1], 0.25}}), with({})};
  EXPECT_EQ(all.size(), 5u);
}

TEST(PairLengths, AreTwoNumbersALine) {
  EXPECT_EQ(read_pair_lengths("25 27\n1\t100000\n 3  4 ", "lengths"),
            (std::vector<PairLength>{{25, 27}, {1, 100000}, {3, 4}}));
}

TEST(PairLengths, RefuseALineOfAnythingElse) {
  for (const char* line :
       {"25", "", "25 27 29", "0 5", "5 0", "-3 4", "2.5 3", "a b", "1 100001", "5 99999999999999999999"}) {
    EXPECT_THAT(message_of([&] { read_pair_lengths(std::string("3 4\n") + line + "\n3 4\n", "lengths.txt"); }),
                AllOf(HasSubstr("lengths.txt, line 2"), HasSubstr(line)));
  }
  EXPECT_THAT(message_of([] { read_pair_lengths("", "lengths.txt"); }), HasSubstr("lengths.txt is empty"));
}

SyntheticOptions options() {
  SyntheticOptions options;
  for (std::size_t i = 1; i <= 30; ++i) options.lengths.push_back({i, 31 - i});
  options.source_words = 1000;
  options.target_words = 4;
  options.batch_sentences = 7;
  options.pool_batches = 5;
  return options;
}

TEST(SyntheticBatches, AreWholeAndOfTheGivenLengths) {
  const auto batches = synthetic_batches(options(), 12, 0, 1);
  ASSERT_EQ(batches.size(), 12);
  std::size_t narrow = 0;
  for (const auto& batch : batches) {
    ASSERT_EQ(batch.source.size(), 7);
    EXPECT_EQ(batch.batch_pairs, 7);
    EXPECT_EQ(batch.batch_source_words, batch.source.words.size());
    EXPECT_EQ(batch.batch_target_words, batch.target.words.size());
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(batch.source.length(i) + batch.target.length(i), 31);
    const auto [shortest, longest] = std::ranges::minmax(lengths_of(batch));
    narrow += longest - shortest <= 4 ? 1 : 0;
    for (const WordId word : batch.source.words) EXPECT_TRUE(2 < word && word < 1000);
    for (const WordId word : batch.target.words) EXPECT_EQ(word, 3);
  }
  EXPECT_EQ(narrow, 12) << "pools are sorted by length";
}

TEST(SyntheticBatches, AreSharedByTheRanks) {
  const auto whole = synthetic_batches(options(), 6, 0, 1);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const auto share = synthetic_batches(options(), 6, rank, 3);
    for (std::size_t b = 0; b < 6; ++b) {
      EXPECT_EQ(share[b].batch_pairs, 7);
      EXPECT_EQ(share[b].batch_source_words, whole[b].batch_source_words);
      ASSERT_EQ(share[b].source.size(), rank == 0 ? 3 : 2);
      for (std::size_t i = 0; i < share[b].source.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(share[b].source[i], whole[b].source[rank + 3 * i]));
        EXPECT_TRUE(std::ranges::equal(share[b].target[i], whole[b].target[rank + 3 * i]));
      }
    }
  }
}

TEST(SyntheticBatches, RepeatFrequentWordsAsTextDoes) {
  SyntheticOptions text;
  text.lengths = {{50, 50}};
  text.source_words = text.target_words = 10003;
  std::vector<std::size_t> times(text.source_words);
  std::size_t words = 0;
  for (const auto& batch : synthetic_batches(text, 20, 0, 1))
    for (const WordId word : batch.source.words) ++times[word], ++words;
  // The first tenth of the ranks of a law 1 / k carries about log(1000) / log(10000), three quarters of the text.
  std::size_t head = 0;
  for (std::size_t word = 3; word < 1003; ++word) head += times[word];
  EXPECT_NEAR(static_cast<double>(head) / static_cast<double>(words), 0.75, 0.02);
  EXPECT_GT(times[3], times[12]);
  EXPECT_GT(std::ranges::count_if(times, [](std::size_t n) { return n > 0; }), 3000);
}

}  // namespace
}  // namespace rnnsearch::corpus
