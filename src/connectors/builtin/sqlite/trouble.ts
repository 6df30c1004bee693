import { ConnectorError } from "../../contract/mod.ts";

/** Next steps for what users meet most. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/is locked/, "another program writes to the database; the write is repeated if the retry policy says so"],
  [/no such table/, "check the spelling; the names of tables are compared without case"],
  [/readonly database/, "check who may write to the file and its folder"],
  [/unable to open database file/, "check that the file and its folder are there, and who may read and write them"],
  [/database or disk is full/, "free some space on the disk of the database"],
  [/not a database/, "check the setting path of the connection"],
  [/disk image is malformed/, "put the database back from a copy"],
];

/**
 * An error of SQLite as a connector's; `doing` says what failed, such as `Reading "t"`. One that is a connector's error
 * already, and the runtime's refusal of a permission, pass as they are.
 */
export function toTrouble(error: unknown, doing: string): unknown {
  if (error instanceof ConnectorError || !isSqlite(error) || /^Requires /.test(error.message)) return error;
  // Nothing of SQLite's messages comes from a row.
  const { message } = error;
  return new ConnectorError(`${doing} failed: ${message}`, {
    transient: /is locked|\bbusy\b/.test(message),
    hint: HINTS.find(([pattern]) => pattern.test(message))?.[1],
    cause: error,
  });
}

function isSqlite(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}
