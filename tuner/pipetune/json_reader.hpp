/// Reading JSON that may be damaged: the first fault is kept with the path of its field, and reading goes on with
/// empty values, so that the caller asks once, at the end.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "tuner/space/value.hpp"

namespace tandem::tuner {

class JsonReader {
 public:
  /// `what` names the document in errors, e.g. "ground truth".
  JsonReader(std::string_view what, std::string_view text);

  /// Where reading stands, e.g. "entries[3].key".
  class Node {
   public:
    [[nodiscard]] Node operator[](std::string_view key) const;
    /// Elements of an array of at most `limit`.
    [[nodiscard]] std::vector<Node> elements(std::size_t limit) const;
    [[nodiscard]] bool is_null() const noexcept { return json_ != nullptr && json_->is_null(); }

    [[nodiscard]] bool boolean() const;
    [[nodiscard]] std::int64_t integer() const;
    [[nodiscard]] double number() const;  ///< finite
    [[nodiscard]] std::string text() const;
    [[nodiscard]] Parameters parameters() const;
    [[nodiscard]] std::vector<double> numbers(std::size_t limit) const;
    /// Calls the field damaged.
    void refuse(std::string_view expected) const;

   private:
    friend class JsonReader;
    Node(JsonReader& reader, const nlohmann::json* json, std::string path)
        : reader_(&reader), json_(json), path_(std::move(path)) {}
    JsonReader* reader_;
    const nlohmann::json* json_;  ///< nullptr: within something damaged
    std::string path_;
  };

  [[nodiscard]] Node root() { return {*this, &document_, ""}; }
  /// data_loss with the first damaged field.
  [[nodiscard]] Result<> outcome() const;

 private:
  std::string what_;
  nlohmann::json document_;
  std::string fault_;
};

}  // namespace tandem::tuner
