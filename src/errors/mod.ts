export {
  formatError,
  formatWarning,
  type Position,
  PzError,
  type PzErrorInit,
  PzErrors,
  sortErrors,
} from "./pz_error.ts";
export { CODES, type ErrorCode, isErrorCode, titleOf } from "./codes.ts";
export { fail, type Outcome, succeed } from "./outcome.ts";
export { classifyForeign } from "./foreign.ts";
