import { block } from "./blocks.ts";
import type { RetryBlock } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { report } from "./problems.ts";
import { about, duration, type Shape, whole } from "./shapes.ts";

const FIELDS = {
  max_attempts: about("Attempts in all, the first one included; 3 unless set.", whole(1)),
  base_delay: about("Wait before the second attempt; doubles each time; 1s unless set.", duration()),
  max_delay: about("The longest wait between two attempts; 30s unless set.", duration()),
};
const SHAPE = block(FIELDS, { code: "PZ0121" });

/** The `retry:` block, the same for connections, both sides of an entity and calls. */
export function retryShape(): Shape<RetryBlock> {
  return {
    schema: SHAPE.schema,
    read(node, scope) {
      const values = SHAPE.read(node, scope);
      if (values === undefined) return undefined;
      const { max_attempts: maxAttempts, base_delay: baseDelayMs, max_delay: maxDelayMs } = values;
      if (baseDelayMs !== undefined && maxDelayMs !== undefined && maxDelayMs < baseDelayMs) {
        const message = `'max_delay' in '${scope.path}' is shorter than 'base_delay'`;
        report(scope.problems, "PZ0121", message, scope.key, "Make 'max_delay' at least as long as 'base_delay'.");
      }
      return withoutUndefined({ maxAttempts, baseDelayMs, maxDelayMs });
    },
  };
}
