import { posix } from 'node:path';
import { OperatorError } from '../../system/index.js';
import { importText, importsIn, localName } from './insertions.js';

/** The file of a kind, and the template's file of a further version. */
export interface SchemaTexts {
  /** The user's file of the version to copy. */
  readonly own: string;
  readonly path: string;
  /** The template's file of the further version. */
  readonly further: string;
  /** Name of the version to copy. */
  readonly copied: string;
  /** Name of the further version. */
  readonly version: string;
  /** Whether the further version exists already, and is stored. */
  readonly isStored: boolean;
}

/**
 * Returns the file of a further version with a copy of another version's entry in `versions`, or of its constant, and
 * of the code above. If the fields differed, the versions would need a conversion to keep all data.
 * @throws OperatorError `InvalidConfig`: the file has no entry of the version
 */
export function withCurrentSchema(texts: SchemaTexts): string {
  const { own, path, further, copied, version, isStored } = texts;
  const code = own.replaceAll('\r\n', '\n');
  const entry = entryOf(code, copied);
  if (entry === undefined) {
    const remedy = `write it there as { name: '${copied}', schema: … }, and run the command again`;
    const what = `${path}: no version is an object with name '${copied}'`;
    throw new OperatorError('InvalidConfig', `${what}; ${remedy}`);
  }
  const properties = entry.properties.filter((one) => !/^(?:name|storage)\s*:/.test(one));
  const above = codeAbove(code, entry.start);
  const named = [`name: '${version}'`, ...(isStored ? ['storage: true'] : [])];
  const members = [...named, ...properties].map((property) => `  ${property},`);
  const definition = definitionIn(further).replace(
    /\{\n.*?\n\}/s,
    () => `{\n${members.join('\n')}\n}`,
  );
  const body = [...(above === '' ? [] : [above]), definition].join('\n\n');
  const home = posix.basename(posix.dirname(path));
  return `${importsFor(body, code, further, home)}\n\n${body}`;
}

/** Whether the resource in a file of a kind has a conversion already. */
export function hasConversion(text: string): boolean {
  const code = text.replaceAll('\r\n', '\n');
  const found = resource.exec(code);
  if (found === null) return false;
  const place = code.indexOf('{', found.index + found[0].length) + 1;
  return membersOf(code, place).some((property) => /^conversion\b/.test(property));
}

/** Whether the entry of a version in the file of a kind, or its constant there, has `storage: true`. */
export function isStoredIn(text: string, version: string): boolean {
  const { properties = [] } = entryOf(text.replaceAll('\r\n', '\n'), version) ?? {};
  return properties.some((one) => /^storage\s*:\s*true$/.test(one));
}

/** Returns the text from the version's comment to the end. */
function definitionIn(further: string): string {
  return further.slice(further.indexOf('/** The version '));
}

const resource = /^(?:\/\*\*(?:(?!\*\/).)*\*\/\s*)?export const \w+ = defineResource\(/ms;
const constant = /^(?:\/\*\*(?:(?!\*\/).)*\*\/\s*)?(?:export )?const \w+[^=\n]*= \{/gms;
const anyImport = /^import\b[^;]*;[ \t]*\n/gm;
const markers = /^.*\+operator-builder:scaffold:.*\n/gm;

/** Returns the code between the imports and the statement at `end`. */
function codeAbove(code: string, end: number): string {
  return code.slice(0, end).replaceAll(anyImport, '').replaceAll(markers, '').trim();
}

/** Returns the imports that code needs in the folder of another version. @param home - the folder of `code` */
function importsFor(body: string, code: string, further: string, home: string): string {
  const used = body.replaceAll(opaque, (found) => (found.startsWith('`') ? found : ''));
  // If the further version is created again, the first version imports names from it: it must not import from itself.
  const own = [...further.matchAll(/^export (?:const|type) (\w+)/gm)].map(([, name]) => name);
  const isUsed = (name: string): boolean =>
    !own.includes(name) && new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(used);
  const ofVersions = importsIn(further).filter(({ names }) =>
    names.some((one) => localName(one) === 'VersionDefinition'),
  );
  const needed = [...importsIn(code), ...ofVersions].flatMap(({ from, names }) => {
    const wanted = names.filter((one) => isUsed(localName(one)));
    const moved = from.replace(/^\.\//, `../${home}/`);
    return wanted.length === 0 ? [] : [importText({ from: moved, names: wanted })];
  });
  // Default and namespace imports stay unchanged.
  const others = [...code.matchAll(/^import (?:type )?(?:\* as )?(\w+) from '[^']+';$/gm)]
    .filter(([, name = '']) => isUsed(name))
    .map(([line]) => line.replace(`'./`, `'../${home}/`));
  return [...needed, ...others].join('\n');
}

interface Entry {
  readonly properties: readonly string[];
  /** The place where the statement with the entry starts, including its comment. */
  readonly start: number;
}

/** Returns the entry in the `versions` of the resource, or the constant of a version. */
function entryOf(code: string, version: string): Entry | undefined {
  const start = resource.exec(code)?.index ?? code.length;
  const list = /\bversions:\s*\[/.exec(code.slice(start));
  const entries = list === null ? [] : membersOf(code, start + list.index + list[0].length);
  const found = [
    ...entries
      .filter((entry) => entry.startsWith('{'))
      .map((entry) => ({ properties: membersOf(entry, 1), start })),
    ...[...code.matchAll(constant)].map(({ index, 0: text }) => {
      return { properties: membersOf(code, index + text.length), start: index };
    }),
  ].find(({ properties }) => properties.some((one) => isNameOf(version, one)));
  if (found === undefined) return undefined;
  const properties = found.properties.filter((one) => one !== '').map(outdented);
  return { ...found, properties };
}

function isNameOf(version: string, property: string): boolean {
  return new RegExp(`^name:\\s*['"\`]${version}['"\`]`).test(property);
}

/** Returns the members after an opening bracket, without the comments above them. */
function membersOf(text: string, place: number): readonly string[] {
  return partsOf(text, place).map((part) => withoutComment(text.slice(...part)));
}

/** Removes the leading comments, which stay with the copied version. */
function withoutComment(text: string): string {
  return text.replace(/^(?:\s|\/\/.*\n|\/\*(?:(?!\*\/)[^])*\*\/)*/, '').trimEnd();
}

/** Outdents the lines after the first to the level of a constant's property. */
function outdented(property: string): string {
  const [first = '', ...lines] = property.split('\n');
  const [, indentation = ''] = /^( *)/.exec(lines.at(-1) ?? '') ?? [];
  const own = new RegExp(`^ {0,${indentation.length}}`);
  return [first, ...lines.map((line) => line.replace(own, '  '))].join('\n');
}

/** Text whose brackets and commas do not count: strings, comments and regular expressions. */
const opaque =
  /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|\/\/.*|\/\*[^]*?\*\/|(?<=[(,=:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\//g;

/** Returns the parts between commas, from after an opening bracket to the closing one. */
function partsOf(text: string, place: number): readonly (readonly [start: number, end: number])[] {
  const code = text.replaceAll(opaque, (found) => ' '.repeat(found.length));
  const parts: (readonly [number, number])[] = [];
  let depth = 0;
  let start = place;
  for (let at = place; at < code.length; at++) {
    const character = code[at] ?? '';
    if ('([{'.includes(character)) depth++;
    const isEnd = depth === 0 && ')]}'.includes(character);
    if (isEnd || (depth === 0 && character === ',')) {
      parts.push([start, at]);
      start = at + 1;
    }
    if (isEnd) return parts;
    if (')]}'.includes(character)) depth--;
  }
  return [];
}
