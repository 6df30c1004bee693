import { CONNECTOR_TEXT } from "./connector_text.ts";
import { LINES_TEXT } from "./lines_text.ts";
import { protocolText } from "./protocol_text.ts";
import { README_TEXT } from "./readme_text.ts";
import { SDK_CODE } from "./sdk_code.ts";
import { SDK_TYPES } from "./sdk_types.ts";

/** Stands for the connector's name. */
const NAME = /__NAME__/g;

/** The files of a new connector, by path. */
export function scaffoldFiles(name: string): ReadonlyMap<string, string> {
  const texts: readonly (readonly [string, string])[] = [
    ["README.md", README_TEXT],
    ["PROTOCOL.md", protocolText()],
    ["deno.json", DENO],
    ["pz.connector.json", MANIFEST],
    ["package.json", PACKAGE],
    ["tsconfig.json", TSCONFIG],
    ["connector.ts", CONNECTOR_TEXT],
    ["lines.ts", LINES_TEXT],
    ["connector_test.yml", TEST],
    ["data/things.jsonl", things()],
    ...sdkFiles(),
  ];
  return new Map(texts.map(([path, text]) => [path, text.replace(NAME, name)]));
}

/** The files of the SDK, by path. */
export function sdkFiles(): readonly (readonly [path: string, text: string])[] {
  return [["sdk.js", SDK_CODE], ["sdk.d.ts", SDK_TYPES]];
}

function things(): string {
  const lines = Array.from({ length: 12 }, (_, index) => {
    const id = index + 1;
    return JSON.stringify({ id, name: `thing ${id}`, price: id * 1.25, sold: id % 3 === 0 });
  });
  return `${lines.join("\n")}\n`;
}

const MANIFEST = `{
  "name": "__NAME__",
  "version": "0.1.0",
  "protocol": 1,
  "entry": "dist/connector.js",
  "capabilities": ["Transactional", "ReplaceWrites"],
  "connection": {
    "properties": {
      "path": { "type": "string", "minLength": 1, "description": "the folder of the files" }
    },
    "required": ["path"]
  },
  "read": {},
  "write": {},
  "permissions": {
    "read": ["{path}"],
    "write": ["{path}"]
  }
}
`;

/** So that `deno check` needs no installed packages. */
const DENO = `{ "nodeModulesDir": "none" }
`;

const PACKAGE = `{
  "name": "__NAME__",
  "version": "0.1.0",
  "description": "A connector for pz",
  "type": "module",
  "files": ["pz.connector.json", "dist"]
}
`;

const TSCONFIG = `{
  "compilerOptions": {
    "strict": true,
    "noEmit": true,
    "module": "esnext",
    "target": "esnext",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": true
  },
  "include": ["*.ts"]
}
`;

const TEST = `# What pz connector test asks of this connector. \${VAR} stands for an environment variable.
connection:
  path: ./data
read:
  dataset: things
# Rows are written to these outputs and stay there, in data/written*.jsonl: delete the files whenever you like, and never
# name an output whose rows anybody needs.
write:
  output: written
  mode: replace
  # The output can be read as this dataset: what was written is compared with what comes back.
  read_back: written
`;
