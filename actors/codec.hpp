/// Between the tuner's plain types and the Cap'n Proto messages of schemas/trial.capnp.
#pragma once

#include <vector>

#include "runtime/base/result.hpp"
#include "schemas/trial.capnp.h"
#include "tuner/pipetune/ground_truth.hpp"
#include "tuner/pipetune/profile.hpp"
#include "tuner/pipetune/stage_machine.hpp"
#include "tuner/space/value.hpp"
#include "tuner/study/event.hpp"

namespace tandem::actors {

using NamedValues = capnp::List<schemas::NamedValue>;
using MetricList = capnp::List<schemas::Metric>;

[[nodiscard]] tuner::Parameters read_parameters(NamedValues::Reader values);
void write_parameters(NamedValues::Builder out, const tuner::Parameters& parameters);

[[nodiscard]] std::vector<tuner::Parameters> read_configurations(capnp::List<schemas::Configuration>::Reader list);
void write_configurations(capnp::List<schemas::Configuration>::Builder out,
                          const std::vector<tuner::Parameters>& configurations);

[[nodiscard]] tuner::Values read_values(MetricList::Reader metrics);
void write_values(MetricList::Builder out, const tuner::Values& values);

[[nodiscard]] std::vector<double> read_numbers(capnp::List<double>::Reader list);
void write_numbers(capnp::List<double>::Builder out, const std::vector<double>& numbers);

[[nodiscard]] std::vector<tuner::StageRecord> read_stages(capnp::List<schemas::StageSpan>::Reader list);
void write_stages(capnp::List<schemas::StageSpan>::Builder out, const std::vector<tuner::StageRecord>& records);

[[nodiscard]] tuner::ProfileVector read_profile(schemas::Profile::Reader profile);
void write_profile(schemas::Profile::Builder out, const tuner::ProfileVector& profile);

[[nodiscard]] tuner::GroundTruthKey read_key(schemas::EvidenceKey::Reader key);
void write_key(schemas::EvidenceKey::Builder out, const tuner::GroundTruthKey& key);

[[nodiscard]] tuner::TrialTuned read_tuned(schemas::Tuned::Reader tuned);
void write_tuned(schemas::Tuned::Builder out, const tuner::TrialTuned& tuned);

void write_failure(schemas::Failure::Builder out, const Error& error);
/// An unknown code reads as `internal`.
[[nodiscard]] Error read_failure(schemas::Failure::Reader failure);

}  // namespace tandem::actors
