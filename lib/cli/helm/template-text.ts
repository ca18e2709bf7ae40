import { stringify } from 'yaml';
import { yamlSettings } from '../kustomize/objects-text.js';

/** Lines of a template, and how deep they are to be indented, as Helm's `nindent` wants it. */
export type TemplateLines = (indent: number) => readonly string[];

/**
 * Objects with the actions of Helm in them. An action is no YAML: words stand for actions until the
 * text is written.
 */
export class TemplateText {
  readonly #inline = new Map<string, string>();
  readonly #lines = new Map<string, TemplateLines>();

  /** What stands for an action in a text. */
  inline(action: string): string {
    const word = `HelmInline${this.#inline.size}End`;
    this.#inline.set(word, `{{ ${action} }}`);
    return word;
  }

  /** What stands for lines, as an item of a list or, with the value null, a member of an object. */
  lines(lines: TemplateLines): string {
    const word = `HelmLines${this.#lines.size}End`;
    this.#lines.set(word, lines);
    return word;
  }

  /** What stands for one line: an action between items or members. */
  line(action: string): string {
    return this.lines((indent) => [`${' '.repeat(indent)}{{- ${action} }}`]);
  }

  /** The template of an object. */
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

/** Members or items of a value, where it has any: `key:` and the value below it. */
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

/** The members or items of a value among others. */
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

/** A text of a value, where it is not empty. */
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
