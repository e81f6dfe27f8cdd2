#include "rnnsearch/corpus/batches.h"

#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

/// A corpus whose pairs can be told apart by their first source word.
struct Tiny {
  explicit Tiny(std::size_t pairs, bool joint = false)
      : corpus((prepare(tiny_options(scratch, pairs, 1, joint)), scratch / "corpus.h5")) {}
  std::vector<std::string> names(const auto& pairs) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pairs.source.size(); ++i)
      names.push_back(corpus.source_vocabulary().word(pairs.source[i][0]));
    return names;
  }
  Scratch scratch;
  Corpus corpus;
};

using Batches = std::vector<std::vector<std::string>>;

/// One rank's batches of one epoch.
Batches epoch_of(const Tiny& tiny, BatchSequence& sequence) {
  Batches batches;
  const std::uint64_t epoch = sequence.position().epoch;
  while (sequence.position().epoch == epoch) batches.push_back(tiny.names(sequence.next()));
  return batches;
}

/// Pairs of the corpus, and batch_words.
class BatchSequenceOfSize : public testing::TestWithParam<std::tuple<std::size_t, std::uint64_t>> {
 protected:
  std::size_t size() const { return std::get<0>(GetParam()); }
  BatchOptions options() const {
    BatchOptions options = small_options();
    options.batch_words = static_cast<double>(std::get<1>(GetParam()));
    return options;
  }
};
class BatchSequenceBySentences : public BatchSequenceOfSize {};
const auto kPairs = testing::Values(1, 2, 7, 8, 9, 12, 23, 36, 37, 100, 211);
INSTANTIATE_TEST_SUITE_P(Pairs, BatchSequenceBySentences, testing::Combine(kPairs, testing::Values(0)));
INSTANTIATE_TEST_SUITE_P(Pairs, BatchSequenceOfSize, testing::Combine(kPairs, testing::Values(0, 60)));

TEST_P(BatchSequenceOfSize, HandsOutEveryPairOnceAnEpochInBatchesThatAreNotTooLargeOrTiny) {
  const Tiny tiny(size());
  const BatchOptions options = this->options();
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(sequence.position(), (DataPosition{epoch, 0}));
    std::map<std::string, int> seen;
    for (const auto& batch : epoch_of(tiny, sequence)) {
      if (options.batch_words.to == 0) {
        EXPECT_LE(batch.size(), options.batch_sentences);
        EXPECT_GE(batch.size(), std::min<std::size_t>(size(), options.batch_sentences / 2));
      }
      for (const std::string& name : batch) ++seen[name];
    }
    EXPECT_EQ(seen.size(), size());
    for (const auto& [name, times] : seen) ASSERT_EQ(times, 1) << name;
  }
}

TEST(BatchSequence, GivesEveryPairItsLinksAndItsWeight) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 211);
  options.train[0].alignments = write_links(scratch / "links", options.train[0]);
  std::string weights;
  for (int i = 0; i < 211; ++i) weights += fmt::format("{}\n", i);
  options.train[0].weights = write_text(scratch / "weights", weights);
  prepare(options);
  const Corpus corpus(options.output);
  std::map<std::string, std::vector<WordId>> expected;  // by the first source word
  const PairBlock all = corpus.read_pairs(0, 211);
  std::size_t links = 0;
  for (std::size_t i = 0; i < 211; ++i) {
    expected[corpus.source_vocabulary().word(all.source[i][0])] = {all.links[i].begin(), all.links[i].end()};
    links += all.links[i].size() / 2;
  }
  EXPECT_GT(links, 500u) << "of 630, some of which are repeated";
  for (const int rank : {0, 1, 2}) {
    BatchSequence sequence(corpus, small_options(), rank, 3);
    for (int batch = 0; batch < 60; ++batch) {
      const BatchSlice slice = sequence.next();
      ASSERT_EQ(slice.links.size(), slice.source.size());
      ASSERT_EQ(slice.weights.size(), slice.source.size());
      for (std::size_t i = 0; i < slice.source.size(); ++i) {
        const std::string& name = corpus.source_vocabulary().word(slice.source[i][0]);
        EXPECT_THAT(slice.links[i], testing::ElementsAreArray(expected.at(name)));
        EXPECT_EQ(fmt::format("p{}", slice.weights[i]), name);
      }
    }
  }
}

TEST_P(BatchSequenceOfSize, GivesEveryRankCountTheSameBatches) {
  const Tiny tiny(size());
  BatchSequence alone(tiny.corpus, options(), 0, 1);
  const Batches expected = epoch_of(tiny, alone);
  for (int ranks = 2; ranks <= 5; ++ranks) {
    std::vector<BatchSequence> sequences;
    for (int rank = 0; rank < ranks; ++rank) sequences.emplace_back(tiny.corpus, options(), rank, ranks);
    for (const auto& batch : expected) {
      std::vector<std::vector<std::string>> slices;
      std::uint64_t source_words = 0, target_words = 0;
      BatchSlice last;
      for (BatchSequence& sequence : sequences) {
        last = sequence.next();
        slices.push_back(tiny.names(last));
        ASSERT_EQ(last.batch_pairs, batch.size());
        ASSERT_EQ(last.source.size(), last.target.size());
        ASSERT_EQ(last.after, sequence.position());
        for (std::size_t i = 0; i < slices.back().size(); ++i)
          ASSERT_EQ(slices.back()[i], batch[last.first_pair + i * last.pair_stride]);
        source_words += last.source.words.size();
        target_words += last.target.words.size();
      }
      ASSERT_EQ(source_words, last.batch_source_words);
      ASSERT_EQ(target_words, last.batch_target_words);
      for (std::size_t i = 0; i < batch.size(); ++i) {  // interleaved
        const std::size_t rank = i % static_cast<std::size_t>(ranks), place = i / static_cast<std::size_t>(ranks);
        ASSERT_LT(place, slices[rank].size());
        ASSERT_EQ(slices[rank][place], batch[i]);
      }
    }
  }
}

TEST_P(BatchSequenceOfSize, DealsOutRunsSoThatAShardHasTheSamePairsOnAnyNumberOfRanks) {
  const Tiny tiny(size());
  constexpr std::uint64_t kShards = 12;
  BatchSequence alone(tiny.corpus, options(), 0, 1);
  const Batches expected = epoch_of(tiny, alone);
  for (const int ranks : {1, 2, 3, 4, 12}) {
    const std::uint64_t run = kShards / static_cast<std::uint64_t>(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      BatchSequence sequence(tiny.corpus, options(), rank, ranks, run);
      for (const auto& batch : expected) {
        const BatchSlice slice = sequence.next();
        EXPECT_EQ(slice.first_pair, static_cast<std::uint64_t>(rank) * run);
        EXPECT_EQ(slice.pair_stride, kShards);
        // Every run-th pair belongs to the same shard: pairs s, s + S, s + 2S, ... of the batch.
        const auto names = tiny.names(slice);
        for (std::uint64_t k = 0; k < run; ++k) {
          std::vector<std::string> found, shard;
          for (std::size_t i = k; i < names.size(); i += run) found.push_back(names[i]);
          for (std::size_t i = slice.first_pair + k; i < batch.size(); i += kShards) shard.push_back(batch[i]);
          ASSERT_EQ(found, shard) << "shard " << slice.first_pair + k << " on " << ranks << " ranks";
        }
      }
    }
  }
}

TEST_P(BatchSequenceOfSize, RepeatsTheFirstEpochWhenItIsShuffledOnceOnAnyNumberOfRanksAndAfterASeek) {
  const Tiny tiny(size());
  BatchOptions options = this->options();
  BatchSequence anew(tiny.corpus, options, 0, 1);
  const Batches first = epoch_of(tiny, anew), second = epoch_of(tiny, anew);
  options.reshuffle = false;
  BatchSequence once(tiny.corpus, options, 0, 1);
  EXPECT_EQ(epoch_of(tiny, once), first) << "its order is that of the first epoch";
  EXPECT_EQ(epoch_of(tiny, once), first);
  EXPECT_EQ(epoch_of(tiny, once), first);
  if (size() > 30) {
    EXPECT_NE(second, first);
  }
  for (int ranks = 1; ranks <= 3; ++ranks) {
    for (int rank = 0; rank < ranks; ++rank) {
      BatchSequence part(tiny.corpus, options, rank, ranks);
      const Batches slices = epoch_of(tiny, part);
      BatchSequence resumed(tiny.corpus, options, rank, ranks);
      std::uint64_t pairs = 0;
      for (std::size_t i = 0; i < slices.size(); ++i) {
        resumed.seek({2, pairs});
        const BatchSlice slice = resumed.next();
        ASSERT_EQ(tiny.names(slice), slices[i]) << "batch " << i << ", rank " << rank << " of " << ranks;
        pairs = slice.after.pairs;
      }
    }
  }
}

TEST_P(BatchSequenceBySentences, KeepsTheOrderOfTheCorpusInEveryEpochWhenItIsNeverShuffled) {
  const Tiny tiny(size());
  const std::vector<std::string> corpus = tiny.names(tiny.corpus.read_pairs(0, size()));
  BatchOptions options = this->options();
  options.shuffle = false;
  options.pool_batches = 1;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  for (int epoch = 0; epoch < 2; ++epoch) {
    // The last pool, of up to one and a half batches, may be cut into two.
    Batches batches = epoch_of(tiny, sequence);
    if (batches.size() > 1) {
      auto& before_last = batches[batches.size() - 2];
      before_last.insert(before_last.end(), batches.back().begin(), batches.back().end());
      batches.pop_back();
    }
    auto next = corpus.begin();
    for (const auto& batch : batches) {
      ASSERT_LE(batch.size(), static_cast<std::size_t>(corpus.end() - next));
      const auto end = next + static_cast<std::ptrdiff_t>(batch.size());
      EXPECT_TRUE(std::is_permutation(batch.begin(), batch.end(), next, end));
      next = end;
    }
    EXPECT_EQ(next, corpus.end());
  }
}

TEST_P(BatchSequenceBySentences, HandsOutThePoolsFromShortToLongWhereItsBatchesAreNotShuffled) {
  const Tiny tiny(size());
  BatchOptions options = this->options();
  BatchSequence shuffled(tiny.corpus, options, 0, 1);
  Batches expected = epoch_of(tiny, shuffled);
  options.shuffle_batches = false;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  Batches found;
  std::size_t falls = 0, before = 0;
  while (sequence.position().epoch == 0) {
    const BatchSlice slice = sequence.next();
    const auto lengths = lengths_of(slice);
    ASSERT_TRUE(std::ranges::is_sorted(lengths)) << "a batch is sorted";
    if (lengths.front() < before) ++falls;
    before = lengths.back();
    found.push_back(tiny.names(slice));
  }
  const std::size_t pool = options.batch_sentences * options.pool_batches;
  EXPECT_LE(falls + 1, std::max<std::size_t>(1, (size() + pool / 2) / pool)) << "lengths fall only where a pool ends";
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, expected) << "the batches are those of the other order";
}

TEST_P(BatchSequenceOfSize, GoesOnAlikeFromEveryBoundaryAndRefusesEveryOtherPlace) {
  const Tiny tiny(size());
  BatchSequence whole(tiny.corpus, options(), 0, 1);
  Batches batches;
  std::vector<DataPosition> boundaries{{0, 0}};
  while (boundaries.back().epoch < 2) {
    batches.push_back(tiny.names(whole.next()));
    boundaries.push_back(whole.position());
  }
  BatchSequence other(tiny.corpus, options(), 0, 1);
  for (std::size_t i = batches.size(); i-- > 0;) {
    other.seek(boundaries[i]);
    ASSERT_EQ(other.position(), boundaries[i]);
    for (std::size_t k = i; k < std::min(batches.size(), i + 5); ++k) ASSERT_EQ(tiny.names(other.next()), batches[k]);
  }
  for (std::uint64_t pairs = 0; pairs <= size() + 1; pairs += 1 + size() / 40) {
    if (std::count(boundaries.begin(), boundaries.end(), DataPosition{1, pairs})) continue;
    other.seek(boundaries[batches.size() / 2]);
    ASSERT_THAT(message_of([&] { other.seek({1, pairs}); }), HasSubstr("is not the start of a batch"));
    ASSERT_EQ(tiny.names(other.next()), batches[batches.size() / 2]) << "a refusal changes nothing";
  }
}

TEST_P(BatchSequenceOfSize, GivesTheSameBatchesWhetherItReadsAheadOrNot) {
  const Tiny tiny(size());
  BatchOptions options = this->options();
  BatchSequence ahead(tiny.corpus, options, 0, 1);
  options.prefetch = false;
  BatchSequence behind(tiny.corpus, options, 0, 1);
  for (std::uint64_t turn = 0; behind.position().epoch < 3; ++turn) {
    const BatchSlice expected = behind.next(), found = ahead.next();
    ASSERT_EQ(found.source.words, expected.source.words);
    ASSERT_EQ(found.target.words, expected.target.words);
    ASSERT_EQ(found.target.offsets, expected.target.offsets);
    ASSERT_EQ(found.after, expected.after);
    if (turn % 5 == 0) ahead.seek(found.after);  // away from what is being read
  }
}

TEST(BatchSequence, FailsAtTheSamePlaceWithTheSameSentenceWhetherItReadsAheadOrNot) {
  const Scratch scratch;
  write_corpus(scratch / "corpus.h5", [](storage::File& file) {
    for (const std::string side : {"source", "target"}) {
      write_vocabulary(file, side, Vocabulary({"<unk>", "<s>", "</s>", "a"}, {0, 0, 0, 0}));
      std::vector<std::uint64_t> offset(212);
      std::iota(offset.begin(), offset.end(), 0);
      std::vector<WordId> words(211, 3);
      words[170] = side == "source" ? 4 : 3;  // there is no such word
      file.write<std::uint64_t>("/train/" + side + "_offset", offset);
      file.write<WordId>("/train/" + side + "_words", words);
    }
  });
  const Corpus corpus(scratch / "corpus.h5");
  std::vector<std::string> sentences;
  std::vector<DataPosition> places;
  for (const bool prefetch : {false, true}) {
    BatchOptions options = small_options();
    options.prefetch = prefetch;
    BatchSequence sequence(corpus, options, 0, 1);
    while (message_of([&] { sequence.next(); }) == "nothing was thrown") ASSERT_LT(sequence.position().epoch, 1u);
    places.push_back(sequence.position());
    sentences.push_back(message_of([&] { sequence.next(); }));  // it goes on failing
  }
  EXPECT_EQ(places[0], places[1]);
  EXPECT_GT(places[0].pairs, 0u) << "it should not fail at once";
  EXPECT_EQ(sentences[0], sentences[1]);
  EXPECT_THAT(sentences[0], AllOf(HasSubstr("corpus.h5"), HasSubstr("word id 4")));
}

TEST(BatchSequence, EndsWhileItReadsAhead) {
  const Tiny tiny(211);
  BatchSequence undisturbed(tiny.corpus, small_options(), 0, 1);
  const auto first = tiny.names(undisturbed.next()), second = tiny.names(undisturbed.next());
  for (int i = 0; i < 20; ++i) {
    BatchSequence sequence(tiny.corpus, small_options(), 0, 1);
    EXPECT_EQ(tiny.names(sequence.next()), first);
    BatchSequence moved = std::move(sequence);
    if (i % 2 == 0) {
      EXPECT_EQ(tiny.names(moved.next()), second) << "a sequence that is moved reads ahead for its new owner";
    }
  }
}

TEST(BatchSequence, SortsPoolsByLengthSoThatBatchesAreEven) {
  const Tiny tiny(480);
  BatchOptions options = small_options();
  options.pool_batches = 20;
  options.window_blocks = 16;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  std::size_t padded = 0, words = 0, batches_in_order = 0, former = 0;
  for (int i = 0; i < 60; ++i) {
    const auto lengths = lengths_of(sequence.next());
    EXPECT_TRUE(std::ranges::is_sorted(lengths));
    words += std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
    padded += lengths.back() * lengths.size();
    batches_in_order += lengths.back() >= former;
    former = lengths.back();
  }
  EXPECT_LT(static_cast<double>(padded), 1.1 * static_cast<double>(words));
  EXPECT_LT(batches_in_order, 50u) << "the batches of a pool are shuffled";
}

TEST(BatchSequence, FillsBatchesWithWordsAsEvenlyAsTheirLimitAllows) {
  const Tiny tiny(500);
  BatchOptions options = small_options();
  options.pool_batches = 10;
  options.shuffle_batches = false;
  for (const std::uint64_t words : {5, 60, 100, 400}) {
    options.batch_words = static_cast<double>(words);
    BatchSequence sequence(tiny.corpus, options, 0, 1);
    std::vector<std::size_t> pool;  // the lengths of its pairs, ascending
    std::vector<std::uint64_t> sizes;
    // How many batches one needs that fills each up to a limit before it begins the next.
    const auto needed = [&](std::uint64_t limit) {
      std::size_t count = 0;
      for (std::size_t i = 0, first = 0; i < pool.size(); ++i)
        if (i == 0 || (i - first + 1) * (pool[i] + 1) > limit) ++count, first = i;
      return count;
    };
    const auto end_pool = [&] {
      EXPECT_EQ(sizes.size(), needed(words)) << words;
      const std::uint64_t largest = *std::max_element(sizes.begin(), sizes.end());
      if (largest <= words) {
        EXPECT_GT(needed(largest - 1), sizes.size()) << "a lower limit needs more";
      }
      pool.clear();
      sizes.clear();
    };
    while (sequence.position().epoch == 0) {
      const auto lengths = lengths_of(sequence.next());
      if (!pool.empty() && lengths.front() < pool.back()) end_pool();
      const std::uint64_t size = lengths.size() * (lengths.back() + 1);
      EXPECT_TRUE(lengths.size() == 1 || size <= words) << size << " of " << words;
      pool.insert(pool.end(), lengths.begin(), lengths.end());
      sizes.push_back(size);
    }
    end_pool();
  }
}

TEST(BatchSequence, LetsTheWordsOfBatchesGrowAlsoAfterAResume) {
  const Tiny tiny(2000);
  BatchOptions options = small_options();
  options.batch_words = Ramp(40, 160, 100);
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  std::vector<double> sizes;  // of each update, in padded words
  std::vector<DataPosition> after;
  const auto size_of = [](const BatchSlice& slice) {
    const auto lengths = lengths_of(slice);
    return static_cast<double>(lengths.size() * (std::ranges::max(lengths) + 1));
  };
  while (sizes.size() < 240) {
    const BatchSlice slice = sequence.next();
    sizes.push_back(size_of(slice));
    after.push_back(slice.after);
  }
  // Pools of three of the largest batches share a limit. Batches are not full, and less so where the sides of a pair
  // differ as here, so the ramp takes more updates.
  for (std::size_t u = 0; u < sizes.size(); ++u) EXPECT_LE(sizes[u], options.batch_words.at(u + 1)) << u;
  for (std::size_t u = 0; u + 20 <= sizes.size(); u += 20) {
    const double mean = std::accumulate(&sizes[u], &sizes[u] + 20, 0.0) / 20;
    EXPECT_GE(mean, 0.6 * options.batch_words.at(u)) << u;
  }
  EXPECT_GE(after.back().epoch, 1u);
  for (const std::size_t u : {30u, 120u}) {
    BatchSequence resumed(tiny.corpus, options, 0, 1);
    resumed.seek(after[u]);
    for (std::size_t k = u + 1; k < u + 20; ++k) {
      const BatchSlice slice = resumed.next();
      EXPECT_EQ(size_of(slice), sizes[k]);
      EXPECT_EQ(slice.after, after[k]);
    }
  }
}

TEST(BatchSequence, SamplesTheWordsOfConsecutiveBatches) {
  const Tiny tiny(211);
  BatchOptions options = small_options();
  options.sampled_softmax = 18;
  BatchSequence sequence(tiny.corpus, options, 0, 1), second_of_two(tiny.corpus, options, 1, 2);
  std::set<const std::vector<WordId>*> samples;
  std::vector<std::shared_ptr<const std::vector<WordId>>> kept;
  while (sequence.position().epoch == 0) {
    const DataPosition before = sequence.position();
    const BatchSlice slice = sequence.next();
    const std::span<const WordId> sample = slice.sample_words();
    EXPECT_THAT(second_of_two.next().sample_words(), testing::ElementsAreArray(sample)) << "of any rank";
    EXPECT_TRUE(std::ranges::is_sorted(sample));
    EXPECT_TRUE(std::ranges::binary_search(sample, kEnd));
    for (const WordId word : slice.target.words) EXPECT_TRUE(std::ranges::binary_search(sample, word)) << word;
    EXPECT_GE(sample.size(), 18u);
    samples.insert(slice.sample.get());
    kept.push_back(slice.sample);
    BatchSequence resumed(tiny.corpus, options, 0, 1);
    resumed.seek(before);
    EXPECT_THAT(resumed.next().sample_words(), testing::ElementsAreArray(sample));
  }
  EXPECT_GT(samples.size(), 3u);
  EXPECT_LT(samples.size(), kept.size()) << "batches share a sample";
}

TEST(BatchSequence, SamplesTheWordsOfBothSidesOfAJointVocabulary) {
  const Tiny tiny(50, true);
  const BatchSlice slice = BatchSequence(tiny.corpus, {.batch_sentences = 5, .sampled_softmax = 1}, 0, 1).next();
  std::set<WordId> words{kEnd};
  for (const Sentences& side : {slice.source, slice.target}) words.insert(side.words.begin(), side.words.end());
  EXPECT_THAT(slice.sample_words(), testing::ElementsAreArray(words));
}

TEST(BatchSequence, LetsShortSentencesComeFirstInACurriculum) {
  const Tiny tiny(480);
  BatchOptions options = small_options();
  options.window_blocks = 100;
  options.curriculum = true;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  const auto longest_means = [&] {  // the mean of the longest sentences of the batches of each third of an epoch
    std::vector<double> longest;
    const std::uint64_t epoch = sequence.position().epoch;
    while (sequence.position().epoch == epoch)
      longest.push_back(static_cast<double>(lengths_of(sequence.next()).back()));
    const std::size_t third = longest.size() / 3;
    const auto mean = [&](std::size_t first) {
      return std::accumulate(&longest[first], &longest[first] + third, 0.0) / static_cast<double>(third);
    };
    return std::array{mean(0), mean(third), mean(2 * third)};
  };
  const auto first = longest_means(), second = longest_means();
  EXPECT_LT(first[0] + 1, first[1]);
  EXPECT_LT(first[1] + 1, first[2]);
  EXPECT_NEAR(second[0], second[2], 1);
  options.reshuffle = false;
  sequence = BatchSequence(tiny.corpus, options, 0, 1);
  EXPECT_EQ(longest_means(), longest_means()) << "all passes are the same";
}

TEST(BatchSequence, BalancesTheSlices) {
  const Tiny tiny(500);
  BatchOptions options = small_options();
  options.batch_sentences = 40;
  options.pool_batches = 4;
  std::vector<BatchSequence> sequences;
  for (int rank = 0; rank < 3; ++rank) sequences.emplace_back(tiny.corpus, options, rank, 3);
  for (int i = 0; i < 12; ++i) {
    std::size_t fewest = 1000, most = 0, shortest = 1000, longest = 0;
    for (BatchSequence& sequence : sequences) {
      const auto lengths = lengths_of(sequence.next());
      const std::size_t steps = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
      fewest = std::min(fewest, lengths.size());
      most = std::max(most, lengths.size());
      shortest = std::min(shortest, steps);
      longest = std::max(longest, steps);
    }
    EXPECT_LE(most - fewest, 1u);
    EXPECT_LE(longest - shortest, 13u) << "no more than one sentence";
  }
}

TEST(BatchSequence, OrdersEveryEpochAndEverySeedAnew) {
  const Tiny tiny(211);
  BatchOptions options = small_options();
  BatchSequence first(tiny.corpus, options, 0, 1), same(tiny.corpus, options, 0, 1);
  options.seed = 2;
  BatchSequence other(tiny.corpus, options, 0, 1);
  const Batches one = epoch_of(tiny, first);
  EXPECT_EQ(one, epoch_of(tiny, same));
  EXPECT_NE(one, epoch_of(tiny, first));
  EXPECT_NE(one, epoch_of(tiny, other));
}

TEST(BatchSequence, ShufflesFarBeyondABlock) {
  const Tiny tiny(500);
  BatchOptions options = small_options();
  options.pool_batches = 1;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  std::size_t neighbours = 0;
  for (const auto& batch : epoch_of(tiny, sequence)) {
    std::vector<int> numbers;
    for (const std::string& name : batch) numbers.push_back(std::stoi(name.substr(1)));
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t i = 1; i < numbers.size(); ++i) neighbours += numbers[i] == numbers[i - 1] + 1;
  }
  EXPECT_LT(neighbours, 100u) << "of 437";
}

TEST(BatchSequence, TakesAnyOptionsButZero) {
  const Tiny tiny(50);
  BatchOptions options;
  options.batch_sentences = options.pool_batches = options.block_pairs = options.window_blocks = ~0ull;
  BatchSequence sequence(tiny.corpus, options, 0, 1);
  EXPECT_EQ(sequence.next().source.size(), 50u);
  options.pool_batches = 0;
  EXPECT_THAT(message_of([&] { BatchSequence none(tiny.corpus, options, 0, 1); }), HasSubstr("pool-batches is 0"));
}

}  // namespace
}  // namespace rnnsearch::corpus
