export { syncFolder, writeAllSync, writeFileAtomically, writeFilesAtomically } from "./atomic_file.ts";
export { type Canonical, canonicalJson } from "./canonical_json.ts";
export { ordinal } from "./compare.ts";
export { sha256Hex } from "./hash.ts";
export { type Mask, maskOf } from "./mask.ts";
export { editDistance, nearMiss } from "./near_miss.ts";
