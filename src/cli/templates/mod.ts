import { MINIMAL } from "./minimal.ts";
import { SAMPLE } from "./sample.ts";
import type { Template } from "./template.ts";

export { PLACEHOLDER_NAME, type Template } from "./template.ts";

/** Every template, in the order in which they are listed. */
export const TEMPLATES: readonly Template[] = [MINIMAL, SAMPLE];
