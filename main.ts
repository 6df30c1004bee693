/** The program: arguments in, exit code out. A connector's child process starts here too, without the command line. */
async function start(args: readonly string[]): Promise<number> {
  if (args[0] === "__connector") {
    const { runConnectorChild } = await import("./src/connectors/child/child.ts");
    return await runConnectorChild(args.slice(1));
  }
  const { main } = await import("./src/cli/mod.ts");
  return await main(args);
}

Deno.exit(await start(Deno.args));
