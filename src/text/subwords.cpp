#include "rnnsearch/text/subwords.h"

#include <atomic>
#include <utility>

#include "rnnsearch/base/error.h"
#include "text/byte_pair_codes.h"
#include "text/sentence_piece.h"
#include "text/word_cache.h"

namespace rnnsearch::text {

std::uint64_t WordCache::new_owner() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Subwords::Subwords(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

Subwords Subwords::sentence_piece(std::string bytes) {
  return Subwords(make_sentence_piece(std::move(bytes)));
}
Subwords Subwords::byte_pair_codes(std::string bytes) {
  return Subwords(make_byte_pair_codes(std::move(bytes)));
}
Subwords Subwords::of(Kind kind, std::string bytes) {
  return kind == Kind::kSentencePiece ? sentence_piece(std::move(bytes)) : byte_pair_codes(std::move(bytes));
}

std::string sentence_piece_library() {
  return "SentencePiece " RNNSEARCH_SENTENCEPIECE_VERSION;
}

Subwords::Kind Subwords::kind() const {
  return model_->kind();
}
const std::string& Subwords::bytes() const {
  return model_->bytes();
}
std::string Subwords::description() const {
  return model_->description();
}
std::vector<std::string> Subwords::pieces() const {
  return model_->pieces();
}
void Subwords::split(std::string_view text, WordList& pieces) const {
  model_->split(text, pieces);
}
std::string Subwords::join(const std::vector<std::string>& pieces, std::string_view unknown) const {
  return model_->join(pieces, unknown);
}

bool operator==(const Subwords& a, const Subwords& b) {
  if (a.model_ == b.model_) return true;
  return a && b && a.kind() == b.kind() && a.bytes() == b.bytes();
}

Subwords::Kind subword_kind_of(const std::string& name) {
  if (name == "sentencepiece") return Subwords::Kind::kSentencePiece;
  if (name == "bpe-codes") return Subwords::Kind::kBytePairCodes;
  throw Error("there are no subwords '{}'; choose sentencepiece or bpe-codes", name);
}
std::string name_of(Subwords::Kind kind) {
  return kind == Subwords::Kind::kSentencePiece ? "sentencepiece" : "bpe-codes";
}

}  // namespace rnnsearch::text
