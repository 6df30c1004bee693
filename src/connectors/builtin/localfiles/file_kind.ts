import type { ConfigProblem } from "../../contract/mod.ts";

/** What stands at a path, through links. */
export type FileKind = "nothing" | "file" | "folder" | "special" | "dangling" | "loop" | "denied";

/** Folders whose files the system makes up; those of /proc say that they are empty. */
const SYSTEM = /^\/(proc|sys)\//;

/** What stands at a path; never opens it, so that a pipe or a device can't hold anybody up. */
export function fileKind(path: string): FileKind {
  try {
    const info = Deno.statSync(path);
    if (!info.isFile) return info.isDirectory ? "folder" : "special";
    return (info.size === 0 || SYSTEM.test(path)) && SYSTEM.test(Deno.realPathSync(path)) ? "special" : "file";
  } catch (error) {
    if (error instanceof Deno.errors.NotADirectory) return "nothing";
    if (error instanceof Deno.errors.NotFound) return linkTarget(path) === undefined ? "nothing" : "dangling";
    if (error instanceof Deno.errors.FilesystemLoop) return "loop";
    if (error instanceof Deno.errors.PermissionDenied) return "denied";
    // The runtime withholds what leads to the insides of the system.
    if (error instanceof Deno.errors.NotCapable) return "special";
    throw error;
  }
}

/** Whether a path is a file, through links; false where there is nothing. */
export function isFile(path: string): boolean {
  return fileKind(path) === "file";
}

/** What stands at a path, through links, or undefined where nothing can be looked at. */
export function statOrNothing(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}

/** The problem of a path at which something stands that is neither a file nor a folder; undefined for any other. */
export function specialProblem(path: string): ConfigProblem | undefined {
  switch (fileKind(path)) {
    case "special":
      return {
        code: "PZ0353",
        message: `"${path}" is not a regular file`,
        hint: "pz needs a file on a disk: a pipe, a socket, a device and the like are none",
      };
    case "dangling":
      return {
        code: "PZ0353",
        message: `"${path}" is a link to "${linkTarget(path)}", where there is nothing`,
        hint: "put the file there, or correct the link",
      };
    case "loop":
      return {
        code: "PZ0353",
        message: `"${path}" is a link that leads back to itself`,
        hint: "put a file there, or a link to one",
      };
    case "denied":
      return {
        code: "PZ0353",
        message: `This user may not look at "${path}"`,
        hint: "give it the right to read the folders above and the file",
      };
    default:
      return undefined;
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return undefined;
  }
}
