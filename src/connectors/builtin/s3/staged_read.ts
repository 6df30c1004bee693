import { join } from "node:path";
import type {
  ConfigProblem,
  DatasetSpec,
  FetchedFile,
  NativeDiagnosis,
  NativeOutcome,
  NativeScan,
  StagedRead,
} from "../../contract/mod.ts";
import { parseFileOptions } from "../localfiles/format.ts";
import { declaredColumns, emptyFiles, readerOf, scanFound } from "../localfiles/scan.ts";
import { readConfig } from "./config.ts";
import { netTargets } from "./endpoint.ts";
import { readPlace } from "./place.ts";

/** The read of one dataset: its objects are fetched, and DuckDB reads them as it reads files of this machine. */
export function readStaged(spec: DatasetSpec): NativeOutcome<StagedRead> {
  const { config, problems: ofConfig } = readConfig(spec.config);
  const problems: ConfigProblem[] = [...ofConfig];
  const options = parseFileOptions({ format: "parquet", ...spec.options }, "read", problems);
  const columns = declaredColumns(spec, problems);
  const place = options === undefined || config === undefined
    ? undefined
    : readPlace(spec, options.format, config, problems);
  if (options === undefined || config === undefined || place === undefined || problems.length > 0) {
    return { ok: false, problems };
  }
  return {
    ok: true,
    value: {
      options: { ...place },
      net: netTargets(config.endpoint, [place.bucket]),
      mechanism: readerOf(options),
      scan: (folder, fetched) => {
        const troubles: ConfigProblem[] = [];
        const names = new Map(fetched.map((file) => [join(folder, ...file.path.split("/")), file]));
        const files = [...names.keys()];
        troubles.push(...emptyFiles(files, options.format));
        const scan = troubles.length > 0 ? undefined : scanFound({ files, base: folder, options, columns }, troubles);
        return scan === undefined
          ? { ok: false, problems: troubles.map((problem) => named(problem, names)) }
          : { ok: true, value: withNames(scan, names) };
      },
    },
  };
}

type Names = ReadonlyMap<string, FetchedFile>;

/** The scan whose diagnosis speaks of objects, not of the files that they were fetched into. */
function withNames(scan: NativeScan, names: Names): NativeScan {
  const { infer, diagnose } = scan;
  return {
    ...scan,
    ...(infer === undefined ? {} : { infer: async (query) => withNames(await infer(query), names) }),
    ...(diagnose === undefined ? {} : {
      diagnose: async (query, message) => {
        const found = await diagnose(query, message);
        return found === undefined ? undefined : namedDiagnosis(found, names);
      },
    }),
  };
}

function namedDiagnosis(found: NativeDiagnosis, names: Names): NativeDiagnosis {
  return {
    ...found,
    message: replaceNames(found.message, names),
    file: names.get(found.file)?.name ?? found.file,
    hint: replaceNames(found.hint, names),
  };
}

function named(problem: ConfigProblem, names: Names): ConfigProblem {
  return { ...problem, message: replaceNames(problem.message, names) };
}

function replaceNames(text: string, names: Names): string {
  let replaced = text;
  for (const [path, { name }] of names) if (replaced.includes(path)) replaced = replaced.replaceAll(path, () => name);
  return replaced;
}
