/** Whether a text is a path of a file in a package that means the same on every platform, and nothing outside of it. */
export function isPackagePath(path: string): boolean {
  const parts = path.split("/");
  return path.length <= 200 &&
    parts.every((part) => /^[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]*$/.test(part) && !part.endsWith("."));
}

/** Whether a folder stands at a path. */
export function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
