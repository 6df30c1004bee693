import type { ConfigMap, SetupTrouble } from "../../contract/mod.ts";

const RESTORE = "put the database back from a copy, or take the file away: a write makes a new one";

/** What it means that DuckDB could not attach a connection's database, from its message; undefined for any other. */
export function attachTrouble(message: string, config: ConfigMap): SetupTrouble | undefined {
  const path = config["path"];
  const file = `"${typeof path === "string" ? path : ""}"`;
  if (message.startsWith("Could not set lock on file")) {
    const holder = /\(PID (\d+)\)/.exec(message);
    return {
      message: `${file} is in use by another process${holder === null ? "" : ` (${holder[1]})`}`,
      hint: "run again when that is done, such as another run of pz or an open DuckDB shell",
    };
  }
  if (/No space left on device|disk quota exceeded|There is not enough space on the disk/i.test(message)) {
    return {
      message: `${file} can't be written: no space is left on its disk`,
      hint: "free some space there, and delete the file if it is empty",
    };
  }
  if (/^(Could not read (enough|all) bytes|Corrupt database file|.*not a valid DuckDB database file)/.test(message)) {
    return { message: `${file} is cut off or damaged: DuckDB can't read it`, hint: RESTORE };
  }
  const newer = /version number (\d+)/.exec(message);
  if (newer !== null) {
    return {
      message: `${file} was written by another version of DuckDB (storage version ${newer[1]})`,
      hint: "export it with that version, and import it with one that pz knows",
    };
  }
  const unopened = /^Cannot open file ".*": (.*)$/.exec(message);
  if (unopened === null) return undefined;
  return {
    message: `${file} can't be opened: ${unopened[1]}`,
    hint: "correct path:, or the rights of the file and its folder",
  };
}
