import type { Connection } from "../project/mod.ts";
import type { Session } from "./run_context.ts";

/**
 * One connector session for each connection, opened when its first node needs it, shared by its nodes and closed when
 * none of them is left.
 */
export class SessionPool implements AsyncDisposable {
  readonly #open: (connection: Connection) => Session;
  readonly #users = new Map<string, number>();
  readonly #sessions = new Map<string, Session>();
  readonly #closing = new Set<Promise<void>>();

  /** @param users how many nodes of each connection will come; each calls `leave` once, whether it ran or not */
  constructor(options: { open: (connection: Connection) => Session; users: ReadonlyMap<string, number> }) {
    this.#open = options.open;
    for (const [connection, count] of options.users) this.#users.set(connection, count);
  }

  /** The connection's session. */
  get(connection: Connection): Session {
    let session = this.#sessions.get(connection.name);
    if (session === undefined) this.#sessions.set(connection.name, session = this.#open(connection));
    return session;
  }

  /** Says that one node needs the connection no more; the last one closes its session. */
  leave(connection: string): void {
    const left = (this.#users.get(connection) ?? 0) - 1;
    this.#users.set(connection, left);
    const session = this.#sessions.get(connection);
    if (left > 0 || session === undefined) return;
    this.#sessions.delete(connection);
    this.#close(session);
  }

  /** Closes what is still open and waits until every session is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions.values()) this.#close(session);
    this.#sessions.clear();
    await Promise.all(this.#closing);
  }

  /** A session that fails to close has nothing left to lose: its process is gone or will be killed. */
  #close(session: Session): void {
    const closing = session[Symbol.asyncDispose]().catch(() => {}).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}
