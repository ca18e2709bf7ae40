import { OperatorError } from '../../system/index.js';

/** Start of a marker after the comment characters; lines are inserted above it. */
const markerWord = '+operator-builder:scaffold:';

/** Lines to insert above a marker. */
export interface Insertion {
  /** The marker's line, trimmed. */
  readonly marker: string;
  /** The lines as in the template. */
  readonly lines: readonly string[];
  /** Indentation of the marker in the template. */
  readonly indentation: string;
}

/** A text with all insertions, or its missing markers. */
type Inserted =
  | { readonly type: 'inserted'; readonly text: string }
  | { readonly type: 'markers-missing'; readonly missing: readonly Insertion[] };

/** Whether a text has a marker above which `create` inserts lines. */
export function hasMarker(text: string): boolean {
  return text.includes(markerWord);
}

/**
 * Returns the lines above the markers that `more` has and `bare` lacks. So both can be complete, valid files.
 * @throws OperatorError `InvalidConfig`: the markers differ: an error in the templates
 */
export function insertionsOf(bare: string, more: string): readonly Insertion[] {
  const bareLines = bare.split('\n');
  const lines = more.split('\n');
  return lines.flatMap((line, end) => {
    const place = bareLines.indexOf(line);
    // A marker that `bare` lacks belongs to the lines that are inserted.
    if (!line.includes(markerWord) || place < 0) return [];
    const start = lines.lastIndexOf(bareLines[place - 1] ?? '', end - 1) + 1;
    if (place < 1 || start < 1) {
      throw new OperatorError('InvalidConfig', `the templates differ at ${line}`);
    }
    if (start === end) return [];
    const marker = line.trim();
    const indentation = line.slice(0, line.indexOf(marker));
    return [{ marker, lines: lines.slice(start, end), indentation }];
  });
}

/** Inserts the missing lines with the indentation of the text's markers. @param text - with LF as line endings */
export function insert(text: string, insertions: readonly Insertion[]): Inserted {
  const present = new Set(text.split('\n').map((line) => line.trim()));
  const isThere = (line: string): boolean => present.has(line.trim()) || isImported(text, line);
  const wanted = insertions.filter(({ lines }) => !lines.every(isThere));
  const missing = wanted.filter(({ marker }) => !present.has(marker));
  if (missing.length > 0) return { type: 'markers-missing', missing };
  return { type: 'inserted', text: wanted.reduce(withInsertion, text) };
}

/** Inserts lines. Imports may already exist for another use; each module is imported once. */
function withInsertion(text: string, { marker, lines, indentation }: Insertion): string {
  const importing = lines.reduce(
    (changed, line) =>
      isImported(changed, line) ? changed : (withImported(changed, line) ?? changed),
    text,
  );
  const before = importing.split('\n');
  const place = before.findIndex((line) => line.trim() === marker);
  const own = indentationAt(before, place);
  const added = lines
    .filter((line) => !isImported(importing, line))
    .map((line) => own + line.slice(indentation.length));
  return before.toSpliced(place, 0, ...added).join('\n');
}

/** Returns the marker's indentation, or that of the list above it, which kustomize may have unindented. */
function indentationAt(lines: readonly string[], place: number): string {
  const [own = ''] = /^[ \t]*/.exec(lines[place] ?? '') ?? [];
  const above = lines.slice(0, place).findLast((line) => !/^\s*(?:#.*)?$/.test(line)) ?? '';
  const [entry = own] = /^ *(?=- )/.exec(above) ?? [];
  return entry.length < own.length ? entry : own;
}

/** Returns a diff of the lines to add by hand to a file whose markers are missing. */
export function missingMarkers(path: string, missing: readonly Insertion[]): string {
  const added = missing.flatMap(({ marker, lines }) => ['@@', ...lines, marker]);
  const diff = added.map((line) => (line === '@@' ? line : `+${line}`));
  return [`--- ${path}`, `+++ ${path}`, ...diff].join('\n');
}

export interface ImportedName {
  /** Source text: `a` or `a as b`. */
  readonly text: string;
  readonly isType: boolean;
}

interface ImportStatement {
  readonly whole: string;
  readonly from: string;
  readonly names: readonly ImportedName[];
}

const statements = /^import (type )?\{([^{}]*)\} from (['"])([^'"\n]+)\3;[ \t]*$/gm;
const name = /^(type )?([\w$]+(?: as [\w$]+)?)$/;
const lineWidth = 100;

/** Returns the named imports of a text; omits other imports and those with comments. */
export function importsIn(text: string): readonly ImportStatement[] {
  const plain = text.replaceAll('\r\n', '\n');
  return [...plain.matchAll(statements)].flatMap(([whole, type, list = '', , from = '']) => {
    const names = list
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== '')
      .map((one) => name.exec(one));
    if (names.includes(null) || names.length === 0) return [];
    const imported = names.map((one): ImportedName => {
      const [, ownType, given = ''] = one ?? [];
      return { text: given, isType: type !== undefined || ownType !== undefined };
    });
    return [{ whole, from, names: imported }];
  });
}

export function localName({ text }: ImportedName): string {
  return text.replace(/^.* as /, '');
}

/** Returns a statement in Prettier's format. */
export function importText({ from, names }: Pick<ImportStatement, 'from' | 'names'>): string {
  const areTypes = names.every(({ isType }) => isType);
  const listed = names.map(({ text, isType }) => (isType && !areTypes ? `type ${text}` : text));
  const word = areTypes ? 'import type' : 'import';
  const line = `${word} { ${listed.join(', ')} } from '${from}';`;
  if (line.length <= lineWidth || names.length === 1) return line;
  return `${word} {\n${listed.map((one) => `  ${one},\n`).join('')}} from '${from}';`;
}

/** Merges the named imports of a text so that each module is imported once. */
export function withMergedImports(text: string): string {
  const all = importsIn(text);
  return all.reduce((changed, statement, index) => {
    const first = all.findIndex(({ from }) => from === statement.from);
    if (first < index) return changed.replace(`${statement.whole}\n`, '');
    const same = all.filter(({ from }) => from === statement.from);
    const merged = importText({ from: statement.from, names: joinedNames(same) });
    return changed.replace(statement.whole, () => merged);
  }, text);
}

/** Adds names to the text's import of the same module; undefined if the text does not import the module. */
export function withImported(text: string, line: string): string | undefined {
  const [added] = importsIn(line);
  const found = importsIn(text).find(({ from }) => from === added?.from);
  if (added === undefined || found === undefined) return undefined;
  const merged = importText({ from: found.from, names: joinedNames([found, added]) });
  return text.replace(found.whole, () => merged);
}

/** Whether a text imports every name of a statement. */
function isImported(text: string, line: string): boolean {
  const [wanted] = importsIn(line);
  if (wanted === undefined) return false;
  const there = importsIn(text)
    .filter(({ from }) => from === wanted.from)
    .flatMap(({ names }) => names.map(localName));
  return wanted.names.every((one) => there.includes(localName(one)));
}

/** Returns each name once; a value import also covers the type. */
function joinedNames(all: readonly ImportStatement[]): readonly ImportedName[] {
  const names = all.flatMap((statement) => statement.names);
  return names
    .filter(({ text }, index) => names.findIndex((one) => one.text === text) === index)
    .map(({ text }) => ({
      text,
      isType: names.every((one) => one.text !== text || one.isType),
    }));
}
