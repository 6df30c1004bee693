/**
 * Stands in the place of the product's module of this name. `PZ_FAULT=point:nth:action` says what happens when a point is
 * reached for the nth time: kill (SIGKILL), int (SIGINT), throw (an error) or full (the error of a full disk). With
 * `PZ_FAULT_LOG` the points that were reached are written to that file, one a line, and `!` once it has happened.
 */
const [wanted = "", nth = "1", action = ""] = (variable("PZ_FAULT") ?? "").split(":");
const log = variable("PZ_FAULT_LOG");
let left = Number(nth);

export function faultPoint(name: string): void {
  note(name);
  if (name !== wanted || --left !== 0) return;
  note("!");
  if (action === "kill") Deno.kill(Deno.pid, "SIGKILL");
  if (action === "int") Deno.kill(Deno.pid, "SIGINT");
  if (action === "throw") throw new Error("this is a test");
  if (action === "full") throw Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" });
}

function note(line: string): void {
  if (log !== undefined) Deno.writeTextFileSync(log, `${line}\n`, { append: true });
}

/** A connector's process may not look, and nothing happens there. */
function variable(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}
