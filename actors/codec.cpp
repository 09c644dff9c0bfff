#include "actors/codec.hpp"

#include <array>

namespace tandem::actors {

using tuner::Parameters;

Parameters read_parameters(NamedValues::Reader values) {
  Parameters parameters;
  for (const auto value : values) {
    tuner::Value& slot = parameters[value.getName().cStr()];
    switch (value.which()) {
      case schemas::NamedValue::BOOLEAN:
        slot = value.getBoolean();
        break;
      case schemas::NamedValue::INTEGER:
        slot = static_cast<std::int64_t>(value.getInteger());
        break;
      case schemas::NamedValue::NUMBER:
        slot = value.getNumber();
        break;
      case schemas::NamedValue::TEXT:
        slot = std::string(value.getText().cStr());
        break;
    }
  }
  return parameters;
}

namespace {

struct ValueWriter {
  schemas::NamedValue::Builder out;
  void operator()(bool value) { out.setBoolean(value); }
  void operator()(std::int64_t value) { out.setInteger(value); }
  void operator()(double value) { out.setNumber(value); }
  void operator()(const std::string& value) { out.setText(value.c_str()); }
};

}  // namespace

void write_parameters(NamedValues::Builder out, const Parameters& parameters) {
  unsigned i = 0;
  for (const auto& [name, value] : parameters) {
    auto slot = out[i++];
    slot.setName(name.c_str());
    std::visit(ValueWriter{slot}, value);
  }
}

std::vector<Parameters> read_configurations(capnp::List<schemas::Configuration>::Reader list) {
  std::vector<Parameters> configurations;
  configurations.reserve(list.size());
  for (const auto configuration : list) configurations.push_back(read_parameters(configuration.getValues()));
  return configurations;
}

void write_configurations(capnp::List<schemas::Configuration>::Builder out,
                          const std::vector<Parameters>& configurations) {
  unsigned i = 0;
  for (const auto& parameters : configurations) {
    write_parameters(out[i++].initValues(static_cast<unsigned>(parameters.size())), parameters);
  }
}

tuner::Values read_values(MetricList::Reader metrics) {
  tuner::Values values;
  for (const auto metric : metrics) values[metric.getName().cStr()] = metric.getValue();
  return values;
}

void write_values(MetricList::Builder out, const tuner::Values& values) {
  unsigned i = 0;
  for (const auto& [name, value] : values) {
    out[i].setName(name.c_str());
    out[i++].setValue(value);
  }
}

std::vector<double> read_numbers(capnp::List<double>::Reader list) {
  std::vector<double> numbers;
  numbers.reserve(list.size());
  for (const double number : list) numbers.push_back(number);
  return numbers;
}

void write_numbers(capnp::List<double>::Builder out, const std::vector<double>& numbers) {
  for (unsigned i = 0; i < numbers.size(); ++i) out.set(i, numbers[i]);
}

namespace {

tuner::Stage read_stage(capnp::Text::Reader name) {
  for (const auto stage : {tuner::Stage::profile, tuner::Stage::match, tuner::Stage::probe}) {
    if (tuner::to_string(stage) == name.cStr()) return stage;
  }
  return tuner::Stage::exploit;
}

}  // namespace

std::vector<tuner::StageRecord> read_stages(capnp::List<schemas::StageSpan>::Reader list) {
  std::vector<tuner::StageRecord> records;
  records.reserve(list.size());
  for (const auto span : list) {
    records.push_back({read_stage(span.getStage()), span.getFromStep(), span.getToStep(), span.getSeconds(),
                       read_parameters(span.getSystem())});
  }
  return records;
}

void write_stages(capnp::List<schemas::StageSpan>::Builder out, const std::vector<tuner::StageRecord>& records) {
  unsigned i = 0;
  for (const auto& record : records) {
    auto span = out[i++];
    span.setStage(std::string(tuner::to_string(record.stage)).c_str());
    span.setFromStep(record.from_step);
    span.setToStep(record.to_step);
    span.setSeconds(record.seconds);
    write_parameters(span.initSystem(static_cast<unsigned>(record.system.size())), record.system);
  }
}

tuner::ProfileVector read_profile(schemas::Profile::Reader profile) {
  tuner::ProfileVector vector;
  vector.version = static_cast<int>(profile.getVersion());
  for (const auto name : profile.getNames()) vector.names.emplace_back(name.cStr());
  vector.values = read_numbers(profile.getValues());
  return vector;
}

void write_profile(schemas::Profile::Builder out, const tuner::ProfileVector& profile) {
  out.setVersion(static_cast<std::uint32_t>(profile.version));
  auto names = out.initNames(static_cast<unsigned>(profile.names.size()));
  for (unsigned i = 0; i < profile.names.size(); ++i) names.set(i, profile.names[i].c_str());
  write_numbers(out.initValues(static_cast<unsigned>(profile.values.size())), profile.values);
}

tuner::GroundTruthKey read_key(schemas::EvidenceKey::Reader key) {
  return {key.getBatchSize(), key.getLeaseCores(), key.getObjective().cStr(), key.getHostClass().cStr()};
}

void write_key(schemas::EvidenceKey::Builder out, const tuner::GroundTruthKey& key) {
  out.setBatchSize(key.batch_size);
  out.setLeaseCores(key.lease_cores);
  out.setObjective(key.objective.c_str());
  out.setHostClass(key.host_class.c_str());
}

tuner::TrialTuned read_tuned(schemas::Tuned::Reader tuned) {
  tuner::TrialTuned found;
  found.system = read_parameters(tuned.getSystem());
  found.step_seconds = tuned.getStepSeconds();
  found.default_step_seconds = tuned.getDefaultStepSeconds();
  found.probe_steps = tuned.getProbeSteps();
  found.total_steps = tuned.getTotalSteps();
  found.excess_seconds = tuned.getExcessSeconds();
  found.hit = tuned.getHit();
  return found;
}

void write_tuned(schemas::Tuned::Builder out, const tuner::TrialTuned& tuned) {
  write_parameters(out.initSystem(static_cast<unsigned>(tuned.system.size())), tuned.system);
  out.setStepSeconds(tuned.step_seconds);
  out.setDefaultStepSeconds(tuned.default_step_seconds);
  out.setProbeSteps(tuned.probe_steps);
  out.setTotalSteps(tuned.total_steps);
  out.setExcessSeconds(tuned.excess_seconds);
  out.setHit(tuned.hit);
}

void write_failure(schemas::Failure::Builder out, const Error& error) {
  out.setCode(std::string(to_string(error.code())).c_str());
  out.setMessage(error.message().c_str());
}

Error read_failure(schemas::Failure::Reader failure) {
  static constexpr std::array kCodes = {
      ErrorCode::invalid_argument,  ErrorCode::not_found,          ErrorCode::already_exists,
      ErrorCode::permission_denied, ErrorCode::resource_exhausted, ErrorCode::unavailable,
      ErrorCode::deadline_exceeded, ErrorCode::cancelled,          ErrorCode::failed_precondition,
      ErrorCode::data_loss,         ErrorCode::infeasible};
  for (const auto code : kCodes) {
    if (to_string(code) == failure.getCode().cStr()) return {code, failure.getMessage().cStr()};
  }
  return {ErrorCode::internal, failure.getMessage().cStr()};
}

}  // namespace tandem::actors
