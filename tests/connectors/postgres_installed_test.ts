import { INSTALL_HINT, installedPostgres } from "../harness/postgres.ts";

/** The suite once more, on a server that somebody else built. */
const FILES = ["types", "write", "read"];

const isMissing = installedPostgres() === undefined;
Deno.test({
  name: `the PostgreSQL suite runs on an installed server; to have it run, ${INSTALL_HINT}`,
  ignore: isMissing,
  fn: () => {},
});
for (const name of isMissing ? [] : FILES) await import(`./postgres_${name}_test.ts?installed`);
