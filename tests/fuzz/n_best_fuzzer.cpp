// N-best lists in both formats, and weights: a list with another feature is read back with the same texts and numbers,
// and a weights file gives weights that rank.
#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/n_best_list.h"
#include "tests/fuzz/fuzz.h"

void rnnsearch::fuzz::run(Input input) {
  using namespace rnnsearch::evaluate;
  const std::string text(input.rest());
  std::vector<FeatureWeight> weights;
  accepted([&] { weights = read_weights(text, "weights"); });
  NBestList list;
  if (!accepted([&] { list = read_n_best_list(split(text, '\n'), "a list"); })) return;
  if (list.lines.empty()) return;  // an empty file, which commands refuse
  const std::vector<std::string> added{"added-1"};
  if (!accepted([&] { check_feature_names(list, added); })) return;
  std::vector<double> values;
  for (const auto& line : list.lines) {
    require(!line.empty(), "a line without translations");
    for (std::size_t i = 0; i < line.size(); ++i) values.push_back(1.0 / static_cast<double>(values.size() + 3));
  }
  add_feature(list, added.front(), values);
  std::vector<std::string> again;
  for (const auto& line : list.lines) {
    require(ranking(line, std::vector<double>(list.features.size(), 0.5)).size() == line.size(), "another ranking");
    for (std::size_t k = 0; k < line.size(); ++k) again.push_back(written(list, line[k], k, -0.5));
  }
  const NBestList back = read_n_best_list(again, "the same");
  require(back.features == list.features && back.lines.size() == list.lines.size(), "another list comes back");
  for (std::size_t i = 0; i < list.lines.size(); ++i) {
    require(back.lines[i].size() == list.lines[i].size(), "a line comes back with more or fewer translations");
    for (std::size_t k = 0; k < list.lines[i].size(); ++k) {
      require(back.lines[i][k].text == list.lines[i][k].text, "a text comes back as another");
      require(back.lines[i][k].features == list.lines[i][k].features, "numbers come back as others");
    }
  }
}
