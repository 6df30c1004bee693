import type { PgConnection, PgField, PgSubmittable } from "./driver.ts";

/** A statement whose answer is nothing but a message of its end; others add to it. */
export class Statement implements PgSubmittable {
  readonly #submit: (connection: PgConnection) => void;
  readonly #end = Promise.withResolvers<void>();

  constructor(submit: (connection: PgConnection) => void) {
    this.#submit = submit;
    // Whoever does not wait for the end hears of the failure elsewhere.
    this.#end.promise.catch(() => {});
  }

  /** Settles when the server is ready for the next statement, or failed this one. */
  get end(): Promise<void> {
    return this.#end.promise;
  }

  submit(connection: PgConnection): void {
    this.#submit(connection);
  }

  handleRowDescription(_message: { readonly fields: readonly PgField[] }): void {}
  handleDataRow(_message: { readonly fields: readonly (string | null)[] }): void {}
  handleCommandComplete(_message: { readonly text: string }): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(_connection: PgConnection): void {}
  handleCopyOutResponse(): void {}
  handleCopyData(_message: { readonly chunk: Uint8Array }, _connection: PgConnection): void {}

  handleError(error: unknown): void {
    this.#end.reject(error);
  }

  handleReadyForQuery(): void {
    this.#end.resolve();
  }
}

/** Statements with rows or columns as their answer. */
export class Answer extends Statement {
  #rows: (readonly (string | null)[])[] = [];
  #fields: readonly PgField[] = [];

  get rows(): Promise<readonly (readonly (string | null)[])[]> {
    return this.end.then(() => this.#rows);
  }

  get fields(): Promise<readonly PgField[]> {
    return this.end.then(() => this.#fields);
  }

  override handleRowDescription({ fields }: { readonly fields: readonly PgField[] }): void {
    this.#fields = fields;
    this.#rows = [];
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#rows.push(fields);
  }
}
