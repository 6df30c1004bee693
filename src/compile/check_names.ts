import type { Check } from "../project/mod.ts";

/** The names of a pipeline's checks, in their order; of equal ones the first stays plain, later ones get `_2`, `_3`. */
export function checkNames(pipeline: string, checks: readonly Check[]): readonly string[] {
  const plain = checks.map((check) => plainName(pipeline, check));
  const taken = new Set<string>();
  return plain.map((name) => {
    let unique = name;
    for (let n = 2; taken.has(unique); n++) unique = `${name}_${n}`;
    taken.add(unique);
    return unique;
  });
}

function plainName(pipeline: string, check: Check): string {
  if (check.type === "custom_sql") return `check_${pipeline}_${check.name ?? check.type}`;
  return ["check", pipeline, check.type, ...check.columns].join("_");
}
