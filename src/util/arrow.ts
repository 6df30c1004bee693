/** The one importer of apache-arrow: whoever moves Arrow data imports it from here, and small verbs never do. */
export * from "apache-arrow";
export { type Extension, extensionMetadata, extensionOf, isOpaque, type OpaqueType } from "./arrow_extension.ts";
