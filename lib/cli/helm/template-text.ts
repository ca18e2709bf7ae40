import { stringify } from 'yaml';
import { yamlSettings } from '../object-texts.js';

/** Returns lines of a template for an indentation, as Helm's `nindent` needs them. */
export type TemplateLines = (indent: number) => readonly string[];

/**
 * Writes objects with Helm actions. An action is not valid YAML, so placeholder words represent actions until
 * the text is written.
 */
export class TemplateText {
  readonly #inline = new Map<string, string>();
  readonly #lines = new Map<string, TemplateLines>();

  /** Returns the placeholder of an action within a text. */
  inline(action: string): string {
    const word = `HelmInline${this.#inline.size}End`;
    this.#inline.set(word, `{{ ${action} }}`);
    return word;
  }

  /** Returns the placeholder of lines: an item of a list or, with the value null, a member of an object. */
  lines(lines: TemplateLines): string {
    const word = `HelmLines${this.#lines.size}End`;
    this.#lines.set(word, lines);
    return word;
  }

  /** Returns the placeholder of a line: an action between items or members. */
  line(action: string): string {
    return this.lines((indent) => [`${' '.repeat(indent)}{{- ${action} }}`]);
  }

  /** Returns the template of an object. */
  textOf(object: object): string {
    const escaped = stringify(object, yamlSettings).replaceAll('{{', '{{ "{{" }}');
    const lines = escaped.split('\n').flatMap((line) => this.#linesOf(line));
    return lines
      .join('\n')
      .replaceAll(/HelmInline\d+End/g, (word) => this.#inline.get(word) ?? word);
  }

  #linesOf(line: string): readonly string[] {
    const [, blanks = '', word = ''] =
      /^( *)(?:- )?"?(HelmLines\d+End)"?(?:: null|:)?$/.exec(line) ?? [];
    return this.#lines.get(word)?.(blanks.length) ?? [line];
  }
}

/** Returns lines with `key:` and the members or items of a value, if the value is not empty. */
export function valueLines(key: string, path: string): TemplateLines {
  return (indent) => {
    const blanks = ' '.repeat(indent);
    return [
      `${blanks}{{- with .Values.${path} }}`,
      `${blanks}${key}:`,
      `${blanks}  {{- toYaml . | nindent ${indent + 2} }}`,
      `${blanks}{{- end }}`,
    ];
  };
}

/** Returns the members or items of a value, to be placed among others. */
export function spreadLines(path: string): TemplateLines {
  return (indent) => {
    const blanks = ' '.repeat(indent);
    return [
      `${blanks}{{- with .Values.${path} }}`,
      `${blanks}{{- toYaml . | nindent ${indent} }}`,
      `${blanks}{{- end }}`,
    ];
  };
}

/** Returns a line with the text of a value, if the text is not empty. */
export function textLines(key: string, path: string): TemplateLines {
  return (indent) => {
    const blanks = ' '.repeat(indent);
    return [
      `${blanks}{{- with .Values.${path} }}`,
      `${blanks}${key}: {{ . | quote }}`,
      `${blanks}{{- end }}`,
    ];
  };
}
