import { OperatorError } from '../../system/index.js';
import { importText, importsIn, localName } from './insertions.js';

/** The file of a kind, and the template's file of a further version. */
export interface SchemaTexts {
  /** The user's file. */
  readonly own: string;
  /** Path of `own`, for messages. */
  readonly path: string;
  /** The template's file of the further version. */
  readonly further: string;
  /** Name of the version in `own`. */
  readonly first: string;
  /** Name of the further version. */
  readonly version: string;
}

/**
 * Returns the file of a further version with the first version's present content: its entry in `versions` and
 * the code above `defineResource`. Different fields would lose data without a conversion.
 * @throws OperatorError `InvalidConfig`: the file has no entry of the version
 */
export function withCurrentSchema(texts: SchemaTexts): string {
  const { own, path, further, first, version } = texts;
  const code = own.replaceAll('\r\n', '\n');
  const entry = entryOf(code, first);
  if (entry === undefined) {
    const remedy = `list it there as { name: '${first}', schema: … }, and run the command again`;
    const what = `${path}: the versions of defineResource have no object with name '${first}'`;
    throw new OperatorError('InvalidConfig', `${what}; ${remedy}`);
  }
  const properties = entry.filter((property) => !/^(?:name|storage)\s*:/.test(property));
  const above = codeAbove(code);
  const members = [`name: '${version}'`, ...properties].map((property) => `  ${property},`);
  const definition = definitionIn(further).replace(
    /\{\n.*?\n\}/s,
    () => `{\n${members.join('\n')}\n}`,
  );
  const body = [...(above === '' ? [] : [above]), definition].join('\n\n');
  return `${importsFor(body, { code, further, first })}\n\n${body}`;
}

/** Whether the resource in a file of a kind has a conversion already. */
export function hasConversion(text: string): boolean {
  const code = text.replaceAll('\r\n', '\n');
  const found = resource.exec(code);
  if (found === null) return false;
  const place = code.indexOf('{', found.index + found[0].length) + 1;
  const properties = partsOf(code, place).map((part) => withoutComment(code.slice(...part)));
  return properties.some((property) => /^conversion\b/.test(property));
}

/** Returns the text from the version's comment to the end. */
function definitionIn(further: string): string {
  return further.slice(further.indexOf('/** The version '));
}

const resource = /^(?:\/\*\*(?:(?!\*\/).)*\*\/\s*)?export const \w+ = defineResource\(/ms;
const anyImport = /^import\b[^;]*;[ \t]*\n/gm;
const markers = /^.*\+operator-builder:scaffold:.*\n/gm;

/** Returns the code between the imports and the resource with its comment. */
function codeAbove(code: string): string {
  const end = resource.exec(code)?.index ?? 0;
  return code.slice(0, end).replaceAll(anyImport, '').replaceAll(markers, '').trim();
}

/** Returns the imports that code needs in the folder of another version. */
function importsFor(
  body: string,
  {
    code,
    further,
    first,
  }: { readonly code: string; readonly further: string; readonly first: string },
): string {
  const used = body.replaceAll(opaque, (found) => (found.startsWith('`') ? found : ''));
  // The first version imports the further one where that is created again.
  const own = [...further.matchAll(/^export (?:const|type) (\w+)/gm)].map(([, name]) => name);
  const isUsed = (name: string): boolean =>
    !own.includes(name) && new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(used);
  const ofVersions = importsIn(further).filter(({ names }) =>
    names.some((one) => localName(one) === 'VersionDefinition'),
  );
  const needed = [...importsIn(code), ...ofVersions].flatMap(({ from, names }) => {
    const wanted = names.filter((one) => isUsed(localName(one)));
    const moved = from.replace(/^\.\//, `../${first}/`);
    return wanted.length === 0 ? [] : [importText({ from: moved, names: wanted })];
  });
  // Default and namespace imports stay unchanged.
  const others = [...code.matchAll(/^import (?:type )?(?:\* as )?(\w+) from '[^']+';$/gm)]
    .filter(([, name = '']) => isUsed(name))
    .map(([line]) => line.replace(`'./`, `'../${first}/`));
  return [...needed, ...others].join('\n');
}

/** Returns the properties of a version's entry; undefined without such an entry. */
function entryOf(code: string, version: string): readonly string[] | undefined {
  const start = resource.exec(code)?.index ?? code.length;
  const list = /\bversions:\s*\[/.exec(code.slice(start));
  if (list === null) return undefined;
  const place = start + list.index + list[0].length;
  const entries = partsOf(code, place).map((part) => code.slice(...part).trim());
  for (const entry of entries.map(withoutComment)) {
    if (!entry.startsWith('{')) continue;
    const properties = partsOf(entry, 1).map((part) => withoutComment(entry.slice(...part)));
    const isNamed = properties.some((one) =>
      new RegExp(`^name:\\s*['"\`]${version}['"\`]`).test(one),
    );
    if (isNamed) return properties.filter((one) => one !== '').map(outdented);
  }
  return undefined;
}

/** Removes the leading comments, which stay with the first version. */
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
