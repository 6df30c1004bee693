import { type Folder, readText } from "./files.ts";
import type { YamlMap } from "./yaml_node.ts";
import { parseYaml } from "./yaml_parse.ts";

/** The root of a YAML file of the project; undefined where it can't be read, which is reported. */
export function readYamlFile(folder: Folder, file: string): YamlMap | undefined {
  const text = readText(folder, file);
  return text === undefined ? undefined : parseYaml(text, file, folder.problems);
}
