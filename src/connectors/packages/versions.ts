/** The one importer of the version library. */
import { PzError } from "../../errors/mod.ts";
// @ts-types="./semver.d.ts"
import semver from "semver";

/**
 * The highest version that a version or range allows; undefined where none does.
 *
 * @throws {PzError} PZ0323 for what names no bounds, such as `latest` or `*`
 */
export function chosenVersion(id: string, wanted: string, versions: readonly string[]): string | undefined {
  const range = semver.validRange(wanted);
  if (range === null || range === "*" || range === "") {
    throw new PzError("PZ0323", `package '${id}' has the version '${wanted}', which is neither a version nor a range`, {
      file: "project.yml",
      hint: "write a version such as 1.2.3, or a range such as ^1.2.0, which the lock pins",
    });
  }
  return semver.maxSatisfying(versions.filter((version) => semver.valid(version) !== null), range) ?? undefined;
}
