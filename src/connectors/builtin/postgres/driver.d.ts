import type { Buffer } from "node:buffer";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** What of the driver pz uses; the driver itself comes without types. */
export type PgClientConfig = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | (() => string);
  readonly database: string;
  readonly ssl: false | { readonly [option: string]: unknown };
  readonly application_name?: string;
  readonly options?: string;
  readonly binary?: boolean;
  readonly replication?: string;
  readonly client_encoding?: string;
  readonly sslnegotiation?: "postgres";
  readonly connectionTimeoutMillis?: number;
  readonly keepAlive?: boolean;
};

/** What the driver's parser uses of a socket. */
export type PgStream = {
  on(event: string, listener: (bytes: Buffer) => void): unknown;
  destroy(error: Error): unknown;
};

export type PgConnection = EventEmitter & {
  readonly stream: Socket;
  /** Called once the socket that messages come by is there. */
  attachListeners(stream: PgStream): void;
  query(text: string): void;
  parse(query: { readonly text: string; readonly name?: string; readonly types?: readonly number[] }): void;
  describe(message: { readonly type: "S" | "P"; readonly name?: string }): void;
  sync(): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
};

export type PgField = {
  readonly name: string;
  readonly dataTypeID: number;
  readonly dataTypeModifier: number;
};

/** A statement that speaks the protocol by itself. */
export type PgSubmittable = {
  submit(connection: PgConnection): void;
  handleRowDescription(message: { readonly fields: readonly PgField[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleEmptyQuery(): void;
  handlePortalSuspended(): void;
  handleCopyInResponse(connection: PgConnection): void;
  handleCopyData(message: { readonly chunk: Uint8Array }, connection: PgConnection): void;
  handleError(error: Error): void;
  handleReadyForQuery(): void;
};

type Rows = { readonly rows: (string | null)[][] };

export default class Client extends EventEmitter {
  constructor(config: PgClientConfig);
  readonly connection: PgConnection;
  readonly connectionParameters: { options?: string | undefined; replication?: string | undefined };
  replication?: string | undefined;
  readonly processID: number | null;
  readonly secretKey: number | null;
  connect(): Promise<unknown>;
  end(): Promise<void>;
  query(submittable: PgSubmittable): PgSubmittable;
  query(query: {
    readonly text: string;
    readonly rowMode: "array";
    readonly types: { readonly getTypeParser: () => (value: string) => string };
  }): Promise<Rows | Rows[]>;
}
