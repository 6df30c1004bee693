import { type Attempt, eventOf, load, must, tells, unknownMember } from "./attempt.ts";

/** Other hosts, other ports, other transports. */
export const HOSTS: readonly Attempt[] = [
  {
    kind: "hosts",
    name: "Deno.connect to another port",
    permission: "net",
    run: async ({ otherPort }) => (await Deno.connect({ hostname: "127.0.0.1", port: otherPort })).close(),
  },
  {
    kind: "hosts",
    name: "a granted port by another name of its host",
    permission: "net",
    run: async ({ grantedPort }) => (await Deno.connect({ hostname: "localhost", port: grantedPort })).close(),
  },
  {
    kind: "hosts",
    name: "fetch",
    permission: "net",
    run: async ({ otherPort }) => tells(await (await fetch(`http://127.0.0.1:${otherPort}/`)).text()),
  },
  {
    kind: "hosts",
    name: "fetch that is redirected",
    run: async ({ grantedPort }) => tells(await (await fetch(`http://127.0.0.1:${grantedPort}/redirect`)).text()),
  },
  {
    kind: "hosts",
    name: "fetch of an address as one number",
    run: async ({ otherPort }) => tells(await (await fetch(`http://2130706433:${otherPort}/`)).text()),
  },
  {
    kind: "hosts",
    name: "node:net",
    run: async ({ otherPort }) => {
      const socket = (await import("node:net")).connect(otherPort, "127.0.0.1");
      await connected(socket);
    },
  },
  {
    kind: "hosts",
    name: "node:http",
    run: async ({ otherPort }) => {
      const request = (await import("node:http")).get(`http://127.0.0.1:${otherPort}/`);
      await new Promise((resolve, reject) => {
        request.on("response", (response) => resolve(response.resume()));
        request.on("error", reject);
      });
    },
  },
  {
    kind: "hosts",
    name: "WebSocket",
    run: async ({ otherPort }) => {
      const socket = new WebSocket(`ws://127.0.0.1:${otherPort}/ws`);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = (event) => reject(new Error(event instanceof ErrorEvent ? event.message : "no connection"));
      });
      socket.close();
    },
  },
  {
    kind: "hosts",
    name: "EventSource",
    run: ({ otherPort }) =>
      new Promise<void>((resolve, reject) => {
        const source = new EventSource(`http://127.0.0.1:${otherPort}/events`);
        source.onopen = () => resolve(source.close());
        source.onerror = () => {
          source.close();
          reject(new Error("no connection"));
        };
      }),
  },
  {
    kind: "hosts",
    name: "Deno.listen",
    permission: "net",
    run: () => Deno.listen({ hostname: "127.0.0.1", port: 0 }).close(),
  },
  {
    kind: "hosts",
    name: "Deno.listen on the granted port of another address",
    run: ({ grantedPort }) => Deno.listen({ hostname: "127.0.0.3", port: grantedPort }).close(),
  },
  {
    kind: "hosts",
    name: "node:net server",
    run: async () => {
      const server = (await import("node:net")).createServer();
      await new Promise<void>((resolve, reject) => {
        server.on("error", reject);
        server.listen(0, "127.0.0.1", resolve);
      });
      server.close();
    },
  },
  {
    kind: "hosts",
    name: "Deno.serve",
    run: () => Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => new Response()).shutdown(),
  },
  {
    kind: "hosts",
    name: "a unix socket",
    run: async ({ unixSocket }) => (await Deno.connect({ transport: "unix", path: unixSocket })).close(),
  },
  {
    kind: "hosts",
    name: "a unix socket by node:net",
    run: async ({ unixSocket }) => connected((await import("node:net")).connect(unixSocket)),
  },
  {
    kind: "hosts",
    name: "a unix socket to listen on",
    run: ({ victims }) => Deno.listen({ transport: "unix", path: `${victims}/s` }).close(),
  },
  { kind: "hosts", name: "UDP by node:dgram", run: ({ namePort }) => askByUdp(namePort) },
  {
    kind: "hosts",
    name: "UDP by Deno.listenDatagram",
    run: () => {
      const open = unknownMember(Deno, "listenDatagram");
      open({ transport: "udp", hostname: "127.0.0.1", port: 0 })["close"]?.();
    },
  },
];

/** Waits until a socket is connected, and closes it. @throws {Error} when it does not connect */
export async function connected(
  socket: { once(event: string, call: (value: unknown) => void): unknown; destroy(): unknown },
): Promise<void> {
  try {
    await new Promise((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
  } finally {
    socket.destroy();
  }
}

async function askByUdp(port: number): Promise<void> {
  const socket = (await import("node:dgram")).createSocket("udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("message", () => resolve());
      socket.send(nameQuestion(), port, "127.0.0.1", (error) => {
        if (error !== null) reject(error);
      });
    });
  } finally {
    socket.close();
  }
}

/** A question for the address of `a`. */
function nameQuestion(): Uint8Array {
  return new Uint8Array([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]);
}

/** Names that become addresses: each look-up could carry a secret away. */
export const DNS: readonly Attempt[] = [
  {
    kind: "dns",
    name: "Deno.resolveDns",
    permission: "net",
    run: async ({ namePort }) => {
      const nameServer = { ipAddr: "127.0.0.1", port: namePort };
      must((await Deno.resolveDns("leak.test", "A", { nameServer })).length > 0);
    },
  },
  {
    kind: "dns",
    name: "Deno.resolveDns of another kind",
    run: async ({ namePort }) => {
      const nameServer = { ipAddr: "127.0.0.1", port: namePort };
      must((await Deno.resolveDns("leak2.test", "AAAA", { nameServer })).length > 0);
    },
  },
  {
    kind: "dns",
    name: "node:dns lookup",
    run: async () => {
      const { lookup } = await import("node:dns");
      await new Promise((resolve, reject) =>
        lookup("localhost", (error, address) => error ? reject(error) : resolve(address))
      );
    },
  },
  {
    kind: "dns",
    name: "node:dns/promises lookup",
    run: async () => must((await (await import("node:dns/promises")).lookup("localhost")).address.length > 0),
  },
  {
    kind: "dns",
    name: "node:dns Resolver",
    run: async ({ namePort }) => {
      const { Resolver } = await import("node:dns");
      const resolver = new Resolver();
      resolver.setServers([`127.0.0.1:${namePort}`]);
      await new Promise((resolve, reject) =>
        resolver.resolve4("leak3.test", (error, all) => error ? reject(error) : resolve(all))
      );
    },
  },
  {
    kind: "dns",
    name: "node:dns/promises Resolver",
    run: async ({ namePort }) => {
      const { Resolver } = await import("node:dns/promises");
      const resolver = new Resolver();
      resolver.setServers([`127.0.0.1:${namePort}`]);
      must((await resolver.resolve4("leak4.test")).length > 0);
    },
  },
  {
    kind: "dns",
    name: "node:dns resolve of any kind",
    run: async ({ namePort }) => {
      const dns = await import("node:dns");
      dns.setServers([`127.0.0.1:${namePort}`]);
      await new Promise((resolve, reject) =>
        dns.resolve("leak5.test", "A", (error, all) => error ? reject(error) : resolve(all))
      );
    },
  },
  {
    kind: "dns",
    name: "a connection to a name",
    run: async ({ grantedPort }) => connected((await import("node:net")).connect(grantedPort, "localhost")),
  },
];

/** Other programs. */
export const SPAWN: readonly Attempt[] = [
  {
    kind: "spawn",
    name: "Deno.Command output",
    permission: "run",
    run: async ({ program }) => must((await new Deno.Command(program).output()).success),
  },
  {
    kind: "spawn",
    name: "Deno.Command outputSync",
    permission: "run",
    run: ({ program }) => must(new Deno.Command(program).outputSync().success),
  },
  {
    kind: "spawn",
    name: "Deno.Command spawn",
    permission: "run",
    run: async ({ program }) => must((await new Deno.Command(program).spawn().status).success),
  },
  {
    kind: "spawn",
    name: "this program again",
    run: async () => must((await new Deno.Command(Deno.execPath(), { args: ["--version"] }).output()).success),
  },
  {
    kind: "spawn",
    name: "node:child_process execFileSync",
    run: async ({ program }) => (await childProcess())["execFileSync"]?.(program),
  },
  {
    kind: "spawn",
    name: "node:child_process execSync",
    run: async ({ program }) => (await childProcess())["execSync"]?.(program),
  },
  {
    kind: "spawn",
    name: "node:child_process spawn",
    run: async ({ program }) => {
      const child = (await childProcess())["spawn"]?.(program);
      if (child === undefined) throw new Error("no spawn");
      await eventOf(child, "exit");
    },
  },
  {
    kind: "spawn",
    name: "node:child_process spawnSync",
    run: async ({ program }) => must((await childProcess())["spawnSync"]?.(program)?.["status"] as unknown === 0),
  },
];

function childProcess() {
  return load(["node", "child_process"].join(":"));
}

/** Signals to a process that is not the connector's own. */
export const SIGNALS: readonly Attempt[] = [
  { kind: "signals", name: "Deno.kill", permission: "run", run: ({ pid }) => Deno.kill(pid, "SIGCONT") },
  {
    kind: "signals",
    name: "Deno.kill with a signal to be handled",
    permission: "run",
    run: ({ pid }) => Deno.kill(pid, "SIGURG"),
  },
  {
    kind: "signals",
    name: "process.kill",
    run: async ({ pid }) => must((await import("node:process")).kill(pid, "SIGCONT")),
  },
  {
    kind: "signals",
    name: "process.kill with 0",
    run: async ({ pid }) => must((await import("node:process")).kill(pid, 0)),
  },
  {
    kind: "signals",
    name: "the global process's kill",
    run: ({ pid }) => must(unknownMember(globalThis, "process")["kill"]?.(pid, "SIGCONT") as unknown === true),
  },
  { kind: "signals", name: "the parent's process", run: () => Deno.kill(Deno.ppid, "SIGCONT") },
  { kind: "signals", name: "os.setPriority", run: async ({ pid }) => (await import("node:os")).setPriority(pid, 1) },
];
