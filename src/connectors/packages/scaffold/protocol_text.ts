import { CAPABILITIES } from "../../contract/mod.ts";

/** What needs more of the protocol than this page tells, or pz itself. */
const OTHERS: ReadonlySet<string> = new Set([
  "NativeScan",
  "NativeCopy",
  "NativeOnlyRead",
  "SyncState",
  "ChangeCapture",
  "PathTemplating",
  "TextLengthStats",
  "ColumnPartitionedWrites",
  "StreamingPartitions",
  "GatedOperations",
  "CheckpointableReads",
  "CheckpointableWrites",
  "ApplyDeletes",
]);

function bits(): string {
  return Object.entries(CAPABILITIES).filter(([name]) => !OTHERS.has(name)).map(([name, bit]) => `| ${bit} | ${name} |`)
    .join("\n");
}

/** The protocol, for the author of a program that speaks it. */
export function protocolText(): string {
  return `# The protocol of a program

With \`"runtime": "process"\` a package brings a program, which pz starts without arguments and speaks to on its stdin and
stdout. What it writes to stderr is shown when it fails. A new connector does not need this: the runtime \`deno\` speaks for it.

A program is trusted: on Linux the kernel's Landlock keeps it to its grant and to what the system's programs need, elsewhere
nothing does. Its environment holds PATH, HOME, TMPDIR, LANG, LC_ALL and what its permissions name.

## Frames

Both directions carry frames: length of the payload (u32, little-endian), kind (u8), stream (u32, little-endian), payload.

| kind | payload | at most |
|---|---|---|
| 1 control | a JSON object with the message's name in \`m\`, in UTF-8 | 8 MiB |
| 2 data | a piece of an Arrow IPC stream | 1 MiB |
| 3 credit | a number (u32): so many data frames more may be sent on this stream | 4 bytes |

On each stream 8 data frames may be under way in each direction; the receiver sends a credit for each one that it has taken.

## Requests

Each request of pz opens the stream whose number its frame carries; requests run side by side. The answer is any number of
messages and data frames on that stream, then exactly one of

    {"m":"EndOfStream","frames":<data frames that were sent>}
    {"m":"Failed","error":{"message":"…","transient":false,"code":"PZ0301","hint":"…","retryAfterMs":1000}}

\`code\`, \`hint\` and \`retryAfterMs\` may be left out. \`transient: true\` says that trying again may help. What still comes for a
stream that has ended is to be dropped. Unknown requests fail; unknown members are ignored.

| request | answer |
|---|---|
| \`Start\` on stream 0, the first of all: \`connector\`, \`grant\` | none |
| \`Ping\` on stream 0 | \`{"m":"Pong"}\` on stream 0, at once, whatever goes on |
| \`Handshake\` | \`{"m":"Hello","name":…,"version":…,"protocolMajor":1,"capabilities":"<sum of the bits, as text>"}\` |
| \`Configure\`: \`config\`, the connection's settings | none |
| \`CheckConnection\`: reach the system, change nothing | none |
| \`Shutdown\`, before stdin closes: free what is held | none |
| \`GetSchema\`: \`spec\` | data: an Arrow stream with the schema and no batch |
| \`PlanRead\`: \`spec\` | \`{"m":"Partition","id":"…"}\` for each part, one at least |
| \`OpenReadStream\`: \`spec\`, \`partition\`, \`batchBytes\` | data: one Arrow stream of the schema that GetSchema gives |
| \`BeginWrite\`: \`spec\` | see below |

\`{"m":"Cancel"}\` on a request's stream asks it to end within 5 seconds, with \`Failed\`. When stdin ends, the program ends with
exit code 0. On stream 0 it may send \`{"m":"LogEvent","level":"info","message":"…"}\` and \`{"m":"Notice","message":"…"}\`.

\`spec\` of a read: \`connection\`, \`entity\`, \`options\`, perhaps \`columns\` (\`[{"name":…,"type":…}]\`) and \`hints\`. In \`config\`
and \`options\` a map comes as \`{"map":{…}}\` and a 64-bit integer as \`{"int":"…"}\`; all else is as JSON has it.

## A write

\`spec\` has \`connection\`, \`entity\`, \`options\`, \`mode\` (\`replace\`, \`append\`, \`merge\`), \`schemaPolicy\`, \`keys\` and \`attempt\`. pz sends
an Arrow stream as data. When the program has its schema and has begun, it says

    {"m":"WriteSession","abortSemantics":"discards_all","provesAttempt":false}

and takes the rows, with a credit for each frame. Behind them comes \`{"m":"EndOfData","frames":n}\`, and then one of

* \`CommitWrite\`: say \`{"m":"Committing"}\`, make the rows visible, say \`{"m":"WriteResult","rows":"<rows, as text>","batches":n}\`, then EndOfStream;
* \`AbortWrite\`, at any time before Committing: take everything back, then EndOfStream.

A failure before the commit is told at once as \`{"m":"WriteFailed","error":{…}}\`, then what was written is taken back, then comes
\`Failed\`. A failed commit says in its error \`"outcomeUnknown": false\` where surely nothing became visible.

## Capabilities

| bit | name |
|---|---|
${bits()}
`;
}
