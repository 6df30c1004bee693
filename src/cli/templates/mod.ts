import { HTTP } from "./http.ts";
import { MINIMAL } from "./minimal.ts";
import { POSTGRES } from "./postgres.ts";
import { SAMPLE } from "./sample.ts";
import type { PlannedTemplate, Template } from "./template.ts";

export { PLACEHOLDER_NAME, type PlannedTemplate, type Template } from "./template.ts";

/** Every template, in the order in which they are listed. */
export const TEMPLATES: readonly Template[] = [MINIMAL, SAMPLE, HTTP, POSTGRES];

/** Templates that pz knows by name and can't make yet, since no run could use them. */
export const PLANNED_TEMPLATES: readonly PlannedTemplate[] = [
  {
    id: "incremental",
    summary: "CSV files of which each run reads what is new, by watermark()",
    needs: "watermark()",
  },
  {
    id: "sqlserver",
    summary: "SQL Server to SQL Server: merge and every kind of check",
    needs: "connector 'sqlserver'",
  },
];
