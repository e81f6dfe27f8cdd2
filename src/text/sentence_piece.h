// The implementation of Subwords for SentencePiece.
#pragma once

#include <memory>
#include <string>

#include "text/subword_model.h"

namespace rnnsearch::text {

/// Throws Error as Subwords::sentence_piece does.
std::shared_ptr<const Subwords::Model> make_sentence_piece(std::string bytes);

}  // namespace rnnsearch::text
