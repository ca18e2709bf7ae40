/** A name that a statement imports. */
interface ImportedName {
  /** Source text: `a` or `a as b`. */
  readonly text: string;
  readonly isType: boolean;
}

/** A statement `import { … } from '…';`. */
export interface ImportStatement {
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

/** Returns the local name of an import. */
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
  // Windows files end lines with CRLF.
  const isWindows = text.includes('\r\n');
  const [before, after] = [found.whole, merged].map((one) =>
    isWindows ? one.replaceAll('\n', '\r\n') : one,
  );
  return text.replace(before ?? '', () => after ?? '');
}

/** Whether a text imports every name of a statement. */
export function isImported(text: string, line: string): boolean {
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
