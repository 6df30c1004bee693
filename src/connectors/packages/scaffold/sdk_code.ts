/** What of pz the code of a package finds in its process, by these names. */
export const SDK_NAMES = ["arrowSchema", "BatchBuilder", "columnReaders", "ConnectorError", "requireNet"] as const;

/** The module that an author imports: it hands on what pz gives to the process that the connector runs in. */
export const SDK_CODE = `// @ts-self-types="./sdk.d.ts"
// Written by pz connector new: do not edit; pz connector sdk writes it anew.
const sdk = globalThis[Symbol.for("pz.connector.sdk")];
if (sdk === undefined) throw new Error("this module runs inside pz: try the connector with pz connector test");
export const { ${SDK_NAMES.join(", ")} } = sdk;
`;
