export {
  syncFolder,
  writeAllSync,
  writeFileAtomically,
  writeFilesAtomically,
  writeFileUnflushed,
} from "./atomic_file.ts";
export { parseByteSize } from "./byte_size.ts";
export { type Canonical, canonicalJson } from "./canonical_json.ts";
export { ordinal } from "./compare.ts";
export { type FaultPoint, faultPoint } from "./fault_point.ts";
export { sha256Hex } from "./hash.ts";
export { type Mask, maskOf, type Shown } from "./mask.ts";
export { editDistance, nearMiss } from "./near_miss.ts";
export { isSecretKey, secretForms, secretTexts, type SettingValue } from "./secrets.ts";
