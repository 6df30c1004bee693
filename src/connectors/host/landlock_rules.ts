import type { Grant } from "../contract/mod.ts";
import type { RulesetRights } from "./landlock_calls.ts";

/** Rights on files, bits of `linux/landlock.h`. */
const EXECUTE = 1n << 0n;
const WRITE_FILE = 1n << 1n;
const READ_FILE = 1n << 2n;
const READ_DIR = 1n << 3n;
const REMOVE_DIR = 1n << 4n;
const REMOVE_FILE = 1n << 5n;
const MAKE_DIR = 1n << 7n;
const MAKE_REG = 1n << 8n;
const REFER = 1n << 13n;
const TRUNCATE = 1n << 14n;
const IOCTL_DEV = 1n << 15n;

/** The rights that the first version knows. */
const FIRST_FILES = (1n << 13n) - 1n;
/** The rights that mean something for what is no folder. */
const ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const BIND_TCP = 1n << 0n;
const CONNECT_TCP = 1n << 1n;
const SCOPE_ABSTRACT_SOCKETS = 1n << 0n;
const SCOPE_SIGNALS = 1n << 1n;

const READ = READ_FILE | READ_DIR;
const RUN = READ_FILE | EXECUTE;
const WRITE = WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | REFER | TRUNCATE;

/** A path and the rights on it, or below it. */
export type PathRule = { readonly path: string; readonly rights: bigint };

/** All that a confined process may do; what is handled and not allowed is refused. */
export type LandlockRules = {
  readonly handled: RulesetRights;
  readonly paths: readonly PathRule[];
  readonly ports: readonly number[];
};

/** Where the program lies that a connector's process runs. */
export type ProgramPlaces = {
  readonly executable: string;
  /** Files that it has mapped: the loader, which is executed with it, and the libraries. */
  readonly mapped: readonly string[];
  /** What else must be readable: sources and cache, where it does not run as one executable. */
  readonly sources: readonly string[];
  /** Where programs are that it may start. Absent: none. */
  readonly programs?: readonly string[];
  /** What is at a path, links followed. */
  readonly kindOf: (path: string) => "file" | "folder" | undefined;
};

/** What the runtime itself opens, and what for. Nothing of it is a user's or secret. */
const SYSTEM: readonly string[] = [
  "/etc/ld.so.cache", // the loader: where the libraries are
  "/dev/urandom", // seeds
  "/proc/self", // of this process alone: the bounds of its stack, its control group
  "/proc/meminfo", // how large the heap may become
  "/sys/fs/cgroup", // limits of memory and CPUs
  "/sys/devices/system/cpu/online", // the number of CPUs
  "/etc/localtime", // the time zone
];

/** What a connection by TCP needs besides: certificates, and how names become addresses. */
const NETWORK: readonly string[] = [
  "/etc/ssl/certs",
  "/etc/ssl/cert.pem",
  "/etc/pki/tls/certs",
  "/etc/pki/ca-trust/extracted",
  "/usr/share/ca-certificates",
  "/usr/local/share/ca-certificates",
  "/etc/resolv.conf",
  "/etc/hosts",
  "/etc/host.conf",
  "/etc/nsswitch.conf",
  "/etc/gai.conf",
  "/etc/services",
];

/** Opened for writing too. */
const NULL_DEVICE = "/dev/null";

/** An answer that does not fit into a datagram is asked for again over TCP. */
const NAME_SERVICE_PORT = 53;

/** What a version of Landlock is told for a grant. */
export function landlockRules(grant: Grant, abi: number, program: ProgramPlaces): LandlockRules {
  const tcp = tcpPorts(grant.net);
  const handled: RulesetRights = {
    files: FIRST_FILES | (abi >= 2 ? REFER : 0n) | (abi >= 3 ? TRUNCATE : 0n) | (abi >= 5 ? IOCTL_DEV : 0n),
    tcp: abi < 4 ? 0n : tcp === undefined ? BIND_TCP : BIND_TCP | CONNECT_TCP,
    scopes: abi >= 6 ? SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS : 0n,
  };
  const wanted: PathRule[] = [
    { path: program.executable, rights: RUN },
    ...libraryRules(program),
    ...(program.programs ?? []).map((path) => ({ path, rights: READ | EXECUTE })),
    { path: NULL_DEVICE, rights: READ_FILE | WRITE_FILE },
    ...[...SYSTEM, ...(grant.net.length === 0 ? [] : NETWORK), ...program.sources]
      .map((path) => ({ path, rights: READ })),
    ...grant.read.map((path) => ({
      path: grant.write.includes(path) ? existing(path, program) : path,
      rights: READ,
    })),
    ...grant.write.map((path) => ({ path: existing(path, program), rights: WRITE })),
  ];
  const paths = wanted.flatMap(({ path, rights }) => {
    const kind = program.kindOf(path);
    const allowed = rights & handled.files & (kind === "folder" ? ~0n : ON_FILES);
    return kind === undefined || allowed === 0n ? [] : [{ path, rights: allowed }];
  });
  return { handled, paths, ports: (handled.tcp & CONNECT_TCP) === 0n ? [] : tcp ?? [] };
}

/**
 * The loader and the folders of the libraries: modules for name service are loaded from there at the first look-up.
 * Only the loader may be executed.
 */
function libraryRules({ mapped, executable }: ProgramPlaces): PathRule[] {
  const libraries = mapped.filter((path) => path !== executable && /\.so(\.|$)/.test(path));
  const folders = new Set(libraries.map((path) => path.slice(0, path.lastIndexOf("/"))));
  const loaders = libraries.filter((path) => /\/ld[^/]*\.so[^/]*$/.test(path));
  return [
    ...[...folders].filter((path) => path !== "").map((path) => ({ path, rights: READ })),
    ...loaders.map((path) => ({ path, rights: RUN })),
  ];
}

/**
 * A path to write, or the nearest folder above it that is there: the kernel has no rules for files to come. The
 * runtime's own layer keeps such a grant to its path.
 */
function existing(path: string, { kindOf }: ProgramPlaces): string {
  let at = path;
  while (kindOf(at) === undefined && at.lastIndexOf("/") > 0) at = at.slice(0, at.lastIndexOf("/"));
  return at;
}

/** The ports of a grant; undefined when it names a host with all of its ports. */
function tcpPorts(net: readonly string[]): readonly number[] | undefined {
  const ports = new Set<number>();
  for (const target of net) {
    const [, host, port] = /^(.*?)(?::(\d+))?$/.exec(target.replace(/^\[.*\]/, "v6")) ?? [];
    if (port === undefined) return undefined;
    ports.add(Number(port));
    if (host !== "v6" && !/^[\d.]+$/.test(host ?? "")) ports.add(NAME_SERVICE_PORT);
  }
  return [...ports].sort((a, b) => a - b);
}
