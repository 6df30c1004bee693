/** The README of a new connector. */
export const README_TEXT = `# __NAME__

A connector for pz, written in TypeScript. It reads and writes files of JSON lines; make it one for your system.

| file | what it is |
|---|---|
| \`pz.connector.json\` | the manifest: name, version, capabilities, options, permissions |
| \`connector.ts\` | the entry: exports \`connector\` |
| \`lines.ts\` | how the system is spoken to |
| \`connector_test.yml\`, \`data/\` | what \`pz connector test\` asks it |
| \`sdk.js\`, \`sdk.d.ts\` | the SDK of pz; every type and what it promises stands in \`sdk.d.ts\` |
| \`dist/connector.js\` | what is run; \`pz connector build\` makes it |

    pz connector build        # connector.ts and what it imports become dist/connector.js
    pz connector test .       # every promise that the manifest makes is tried out

The test leaves what it has written, \`data/written*\`. \`pz connector build\` drops types without checking them; \`deno check connector.ts\` or \`npx tsc --noEmit\` (with the package @types/node) checks them. With
npm packages in it, bundle it by

    npx esbuild connector.ts --bundle --format=esm --platform=node --outfile=dist/connector.js

## In a project

\`project.yml\` names the folder, a tarball of it (\`npm pack\`) or, once it is published, its npm name with a version:

    connectors:
      - package: ./path/to/this/folder

\`pz restore\` installs it and writes \`pz.lock.json\` with the hash of every file, which belongs into version control. After
a change: \`pz connector build\`, then \`pz restore --update\`.

## What it may touch

The connector runs in a process of its own that may reach what \`permissions\` in the manifest names and nothing else: no other
file, host, program or environment variable. \`{option}\` stands for an option of the connection:

    "permissions": {
      "net": ["{host}:{port}"],
      "read": ["{path}"],
      "write": ["{path}"],
      "env": ["ACME_TOKEN"]
    }

\`net\` may be one option that holds a URL, too: \`"{url}"\`. Use \`fetch\`, or \`node:net\` and \`node:tls\` after \`requireNet(host, port)\`.

## What it promises

* \`capabilities\` stand in the manifest and in \`connector\`, the same ones in both. Declare what is true, no more.
* Fail with \`ConnectorError\`. \`transient: true\` says that trying again may help, and the engine does; do not try again yourself.
* Nothing is visible before \`commit\`, and nothing is left after \`abort\` with \`abortSemantics: "discards_all"\`. \`Transactional\`
  promises besides that the commit is one step, which no test can prove.
* \`open\` returns at once, and the code pauses now and then: one that does not is ended (after 15 and 120 seconds).
* What goes to \`console\` or stdout is logged, as by \`host.log\`.
* Values are exact: 64-bit integers, decimals and timestamps are \`bigint\`, never \`number\`.
`;
