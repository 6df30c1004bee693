/** Arrow data that staging can't hold unchanged. The message names the column and never holds more than one value. */
export class IngestError extends Error {
  override readonly name = "IngestError";
}
