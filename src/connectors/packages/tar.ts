/** The one importer of the tar library. */
// @ts-types="./tar_stream.d.ts"
import tar from "tar-stream";

export type { TarEntry, TarExtract, TarHeader, TarPack } from "./tar_stream.d.ts";
export default tar;
