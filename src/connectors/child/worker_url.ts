/** Where the worker's module is; the build puts the place of its bundle here. */
export const WORKER_URL: URL = new URL("./worker.ts", import.meta.url);
