import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import escapeRegExp from 'lodash/escapeRegExp.js';
import memoize from 'lodash/memoize.js';
import { OperatorError } from '../../system/index.js';
import { textsBelow } from '../files.js';

// The depth below the package's root is the same in lib/ and dist/chunks/js/.
const root = fileURLToPath(new URL('../../../templates/', import.meta.url));

const styleOfPath = /@([a-z]+)\./;

export interface TemplateValues {
  /** Words of the templates with their replacements. */
  readonly words: Readonly<Record<string, string>>;
  /** The true conditions of regions `+operator-builder:if <condition>` … `+operator-builder:end`. */
  readonly conditions: ReadonlySet<string>;
  /** Selects among files for a style, `name@style.ts`. A selected file replaces the plain `name.ts`. */
  readonly style?: string | undefined;
}

export interface TemplateFile {
  /** Path in the project's folder, with slashes. */
  readonly path: string;
  readonly text: string;
}

/**
 * Renders a template: a folder of `templates/` with its words replaced, even in paths. Drops a leading `_` of a
 * name, which hides the file from this repository's tools.
 */
export async function readTemplate(
  name: string,
  values: TemplateValues,
): Promise<readonly TemplateFile[]> {
  const files = await rawTemplate(name);
  return files
    .filter(isOfStyle(values.style))
    .map(({ path, text }) => ({ path: filledPath(path, values), text: filledText(text, values) }));
}

/** Reads the raw files of a template; one command needs them several times. */
const rawTemplate = memoize(async (name: string): Promise<readonly TemplateFile[]> => {
  const texts = await textsBelow(join(root, name));
  return [...texts].map(([path, text]) => ({ path, text }));
});

/** Selects files by style; a style's own file replaces the plain one. */
function isOfStyle(style: string | undefined) {
  return ({ path }: TemplateFile, _index: number, all: readonly TemplateFile[]): boolean => {
    const [, own] = styleOfPath.exec(path) ?? [];
    if (own !== undefined) return own === style;
    const others = all.filter((other) => other.path !== path);
    return !others.some((other) => other.path.replace(`@${style ?? ''}.`, '.') === path);
  };
}

function filledPath(path: string, values: TemplateValues): string {
  const bare = path
    .split('/')
    .map((name) => name.replace(/^_/, ''))
    .join('/');
  return replaced(bare.replace(/@[a-z]+(?=\.)/, ''), values);
}

/** @throws OperatorError `InvalidConfig`: a region without an end: an error in the template */
function filledText(text: string, values: TemplateValues): string {
  const lines: string[] = [];
  let kept = true;
  for (const line of text.split('\n')) {
    const [, condition] = /\+operator-builder:if ([-a-z]+)$/.exec(line) ?? [];
    if (condition !== undefined) kept = values.conditions.has(condition);
    else if (line.endsWith('+operator-builder:end')) kept = true;
    else if (kept) lines.push(line);
  }
  if (!kept) throw new OperatorError('InvalidConfig', 'a region of a template has no end');
  return replaced(lines.join('\n'), values);
}

function replaced(text: string, { words, style }: TemplateValues): string {
  const longestFirst = Object.keys(words).toSorted((one, other) => other.length - one.length);
  const pattern = new RegExp(longestFirst.map(escapeRegExp).join('|'), 'g');
  const filled = text.replaceAll(pattern, (word) => words[word] ?? word);
  // Files of a style import each other as `./name@style.js`; the project has them as `./name.js`.
  return style === undefined ? filled : filled.replaceAll(/@[a-z]+(?=\.js')/g, '');
}
