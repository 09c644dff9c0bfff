#include "actors/profiler/profiler_actor.hpp"

#include <utility>

#include "actors/codec.hpp"

namespace tandem::actors {

namespace {

tuner::WindowFacts read_facts(schemas::WindowSample::Reader sample) {
  tuner::WindowFacts facts;
  facts.steps = sample.getSteps();
  facts.seconds = sample.getSeconds();
  facts.step_seconds = read_numbers(sample.getStepSeconds());
  facts.user_seconds = sample.getCpuSeconds();
  facts.system_seconds = sample.getSystemSeconds();
  facts.minor_faults = sample.getMinorFaults();
  facts.major_faults = sample.getMajorFaults();
  facts.voluntary_switches = sample.getVoluntarySwitches();
  facts.involuntary_switches = sample.getInvoluntarySwitches();
  facts.run_queue_wait_seconds = sample.getRunQueueWaitSeconds();
  facts.events = read_values(sample.getEvents());
  facts.batch_size = sample.getBatchSize();
  facts.parameter_count = sample.getParameterCount();
  facts.flops_per_sample = sample.getFlopsPerSample();
  facts.activation_bytes_per_sample = sample.getActivationBytesPerSample();
  facts.input_elements = sample.getInputElements();
  return facts;
}

}  // namespace

void ProfilerActor::on_start() {
  on<schemas::WindowSample>([](schemas::WindowSample::Reader sample, runtime::Incoming& in) {
    auto profile = runtime::make_message<schemas::Profile>();
    write_profile(*profile, tuner::make_profile(read_facts(sample)));
    in.reply(std::move(profile));
  });
}

}  // namespace tandem::actors
