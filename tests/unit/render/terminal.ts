type Row = { cells: string; broken: boolean };

const ESC = "\x1b";
const SEQUENCE = new RegExp(`(${ESC}\\[\\d*[A-Za-z]|\n)`);
const CODE = new RegExp(`^${ESC}\\[(\\d*)([A-Za-z])$`);

/**
 * As much of a terminal as the live tree needs: it breaks long lines, joins and breaks them again when it is resized,
 * scrolls, and knows cursor-up, home, clear-line and clear-below. Every character takes one column.
 */
export class Terminal {
  readonly #rows: Row[] = [{ cells: "", broken: false }];
  #row = 0;
  #column = 0;
  /** The first row on the screen; those before it have scrolled away. */
  #top = 0;

  constructor(public columns: number, readonly rows: number) {}

  write(text: string): void {
    for (const part of text.split(SEQUENCE)) {
      const [, count = "", code] = CODE.exec(part) ?? [];
      if (part === "\n") this.#lineFeed();
      else if (code === undefined) { for (const char of part) this.#put(char); }
      else if (code === "A") this.#row = Math.max(this.#top, this.#row - Number(count));
      else if (code === "H") {
        this.#row = this.#top;
        this.#column = 0;
      } else if (code === "K") this.#clearLine();
      else if (code === "J") {
        this.#clearLine();
        this.#rows.length = this.#row + 1;
      } else if (code !== "m") throw new Error(`the terminal does not know ${JSON.stringify(part)}`);
    }
  }

  resize(columns: number): void {
    const above = reflow(this.#rows.slice(0, this.#top), columns).length;
    const behind = this.#rows.slice(this.#row);
    const before = reflow(this.#rows.slice(0, this.#row), columns);
    this.#rows.splice(0, Infinity, ...before, ...reflow(behind, columns));
    this.#row = before.length;
    this.#top = Math.max(above, this.#row - this.rows + 1);
    this.columns = columns;
  }

  /** What stands on the screen, without blank lines at the end. */
  get lines(): readonly string[] {
    const lines = this.#rows.slice(this.#top).map(({ cells }) => cells.trimEnd());
    while (lines.at(-1) === "") lines.pop();
    return lines;
  }

  #here(): Row {
    return this.#rows[this.#row] ??= { cells: "", broken: false };
  }

  #put(char: string): void {
    if (this.#column === this.columns) {
      this.#here().broken = true;
      this.#lineFeed();
    }
    const row = this.#here();
    row.cells = row.cells.padEnd(this.#column).slice(0, this.#column) + char + row.cells.slice(this.#column + 1);
    this.#column++;
  }

  #lineFeed(): void {
    this.#row++;
    this.#column = 0;
    this.#here();
    this.#top = Math.max(this.#top, this.#row - this.rows + 1);
  }

  /** A real terminal takes the last character too when the cursor waits behind it, and keeps the line broken. */
  #clearLine(): void {
    const row = this.#here();
    row.cells = row.cells.slice(0, Math.min(this.#column, this.columns - 1));
  }
}

function reflow(rows: readonly Row[], columns: number): Row[] {
  const whole: string[] = [];
  let goesOn = false;
  for (const { cells, broken } of rows) {
    if (goesOn) whole.push((whole.pop() ?? "") + cells);
    else whole.push(cells);
    goesOn = broken;
  }
  return whole.flatMap((line) => {
    const parts = Math.max(1, Math.ceil(line.length / columns));
    return Array.from({ length: parts }, (_, index) => ({
      cells: line.slice(index * columns, (index + 1) * columns),
      broken: index < parts - 1,
    }));
  });
}
