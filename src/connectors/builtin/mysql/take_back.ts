import type { MysqlConfig } from "./config.ts";
import { MysqlSession } from "./session.ts";
import type { Way } from "./ways.ts";

/** How long each of two connections may take for it. */
const PATIENCE_MS = 5000;

/**
 * Takes back what a write has done, on another connection where its own is gone; a table that nobody takes back stays
 * for good. What can't be taken back is left to the next write of the target.
 */
export async function takeBack(way: Way, session: MysqlSession, config: MysqlConfig): Promise<void> {
  if (await isUndone(way, session) || !way.leavesTable) return;
  try {
    await using other = await MysqlSession.connect(config, "write", AbortSignal.timeout(PATIENCE_MS));
    await isUndone(way, other);
  } catch {
    // There is no way to the server any more.
  }
}

async function isUndone(way: Way, session: MysqlSession): Promise<boolean> {
  const timer = setTimeout(() => void session.abandon(), PATIENCE_MS);
  try {
    await way.undo(session);
    return true;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
