/** Splits text at line feeds. What follows the last one is a torn line and is dropped. */
export class TextLineStream extends TransformStream<string, string> {
  constructor() {
    let torn = "";
    super({
      transform(chunk, controller) {
        const lines = (torn + chunk).split("\n");
        torn = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}
