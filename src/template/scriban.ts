/** A form of another template language, and how Liquid spells it. */
export type ForeignForm = {
  readonly message: string;
  readonly hint: string;
  /** The name that the form would have given a value. */
  readonly assigns?: string;
};

const UNAVAILABLE = /^(?:while|func|capture|import|include|with|ret|readonly|tablerow|macro|set|block)\b/;

/**
 * Recognises Scriban's statements in `{{ }}`, of which Liquid writes each in `{% %}`. `open` holds the statements that
 * wait for their `{{ end }}` and is kept up to date.
 */
export function foreignForm(content: string, open: string[]): ForeignForm | undefined {
  const [, word = "", rest = ""] = /^([A-Za-z_]\w*)\s*([^]*)$/.exec(content) ?? [];
  switch (word) {
    case "if":
    case "unless":
    case "case":
      if (rest === "" || rest.startsWith("|")) return undefined;
      open.push(word);
      return statement(`{% ${word} ${rest} %}`);
    case "for": {
      const name = /^([A-Za-z_]\w*)\s+in\b/.exec(rest)?.[1];
      if (name === undefined) return undefined;
      open.push(word);
      return { ...statement(`{% for ${rest} %}`), assigns: name };
    }
    case "else":
      return statement(rest.startsWith("if ") ? `{% elsif ${rest.slice(3).trim()} %}` : "{% else %}");
    case "when":
      return statement(`{% when ${rest} %}`);
    case "end": {
      const opened = open.pop();
      return statement(opened === undefined ? "{% endif %} or {% endfor %}" : `{% end${opened} %}`);
    }
    case "break":
    case "continue":
      return rest === "" ? statement(`{% ${word} %}`) : undefined;
  }
  if (/^=[^=]/.test(rest)) return { ...statement(`{% assign ${word} ${rest} %}`), assigns: word };
  if (!UNAVAILABLE.test(content) || rest === "" || /^[|.[]/.test(rest)) return undefined;
  return {
    message: `'${word}' is no statement of pipelines`,
    hint: "Statements are if, unless, case, for and assign, in {% %}.",
  };
}

function statement(liquid: string): ForeignForm {
  const short = liquid.length > 80 ? `${liquid.slice(0, 76)}… %}` : liquid.replaceAll(/\s+/g, " ");
  return { message: "Statements stand in {% %}, not in {{ }}", hint: `Write ${short}.` };
}
