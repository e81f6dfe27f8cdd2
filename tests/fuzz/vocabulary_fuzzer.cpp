// Vocabularies: any list of words is refused, or is a vocabulary that comes back from a file as it was. Lines of the
// input are its words; with the first byte odd, the special symbols stand before them.
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/fuzz.h"

void rnnsearch::fuzz::run(Input input) {
  const std::uint8_t how = input.byte();
  std::vector<std::string> words;
  if (how & 1) words.assign(corpus::kSpecialSymbols.begin(), corpus::kSpecialSymbols.end());
  std::vector<std::uint64_t> counts(how & 2 ? input.below(20) : 0, input.number());
  for (std::string& word : split(input.rest(), '\n')) words.push_back(std::move(word));
  if (how & 4 && !words.empty()) words.back() += "\nx";
  corpus::Vocabulary vocabulary;
  if (!accepted([&] { vocabulary = corpus::Vocabulary(words, counts); })) return;
  require(vocabulary.size() >= 3 && vocabulary.counts().size() == vocabulary.size(), "a vocabulary without its parts");
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::string& word = vocabulary.words()[i];
    require(i < 3 ? vocabulary.id(word) == kUnknown : vocabulary.id(word) == i, "a word does not give its id");
    require(!word.empty() && word.find_first_of(std::string_view("\n\0", 2)) == word.npos, "an odd word");
    require(!text::first_invalid_utf8(word), "a word that is no UTF-8");
  }
  const auto path = scratch("vocabulary.h5");
  {
    storage::File file = storage::File::create(path);
    corpus::write_vocabulary(file, "source", vocabulary);
    file.close();
  }
  const corpus::Vocabulary again = corpus::read_vocabulary(storage::File::open(path), "source");
  require(again.words() == vocabulary.words() && again.counts() == vocabulary.counts(), "it comes back as another");
}
