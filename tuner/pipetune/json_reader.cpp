#include "tuner/pipetune/json_reader.hpp"

#include <cmath>

#include "tuner/space/value_json.hpp"

namespace tandem::tuner {

JsonReader::JsonReader(std::string_view what, std::string_view text)
    : what_(what), document_(nlohmann::json::parse(text, nullptr, false)) {
  if (document_.is_discarded()) {
    document_ = nullptr;
    fault_ = "not JSON";
  }
}

Result<> JsonReader::outcome() const {
  if (fault_.empty()) return {};
  return fail(ErrorCode::data_loss, "{} is damaged: {}", what_, fault_);
}

void JsonReader::Node::refuse(std::string_view expected) const {
  if (json_ == nullptr || !reader_->fault_.empty()) return;
  reader_->fault_ = fmt::format("{}: expected {}", path_.empty() ? "document" : path_, expected);
}

JsonReader::Node JsonReader::Node::operator[](std::string_view key) const {
  std::string path = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  if (json_ != nullptr && json_->is_object()) {
    if (const auto found = json_->find(std::string(key)); found != json_->end())
      return {*reader_, &*found, std::move(path)};
    Node(*reader_, json_, path).refuse("a value, found none");
  } else {
    refuse("an object");
  }
  return {*reader_, nullptr, std::move(path)};
}

std::vector<JsonReader::Node> JsonReader::Node::elements(std::size_t limit) const {
  std::vector<Node> nodes;
  if (json_ == nullptr || !json_->is_array() || json_->size() > limit) {
    refuse(fmt::format("an array of at most {}", limit));
    return nodes;
  }
  for (std::size_t i = 0; i < json_->size(); ++i)
    nodes.push_back({*reader_, &(*json_)[i], fmt::format("{}[{}]", path_, i)});
  return nodes;
}

bool JsonReader::Node::boolean() const {
  if (json_ != nullptr && json_->is_boolean()) return json_->get<bool>();
  refuse("true or false");
  return false;
}

std::int64_t JsonReader::Node::integer() const {
  if (json_ != nullptr && json_->is_number_integer()) return json_->get<std::int64_t>();
  refuse("an integer");
  return 0;
}

double JsonReader::Node::number() const {
  if (json_ != nullptr && json_->is_number() && std::isfinite(json_->get<double>())) return json_->get<double>();
  refuse("a finite number");
  return 0;
}

std::string JsonReader::Node::text() const {
  if (json_ != nullptr && json_->is_string()) return json_->get<std::string>();
  refuse("a string");
  return {};
}

Parameters JsonReader::Node::parameters() const {
  if (json_ != nullptr) {
    if (auto read = parameters_from_json(*json_)) return *std::move(read);
  }
  refuse("names with values");
  return {};
}

std::vector<double> JsonReader::Node::numbers(std::size_t limit) const {
  std::vector<double> numbers;
  for (const Node& node : elements(limit)) numbers.push_back(node.number());
  return numbers;
}

}  // namespace tandem::tuner
