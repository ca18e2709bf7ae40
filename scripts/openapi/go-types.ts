import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A struct of Go's API: JSON name of each field, in order, to its Go type, with `?` appended for
 * `omitempty` and `0` for `omitzero`. A field that Go embeds under `inline` is named by its type,
 * with an empty JSON name in front of the dot: `.VolumeSource`.
 */
export type GoStruct = Readonly<Record<string, string>>;

/** Every type of the API by its qualified name (`core/v1.Pod`): a struct, or the type it stands for. */
export type GoTypes = Record<string, GoStruct | string>;

/**
 * Protobuf field numbers of each struct, in the order of its fields; 0 for a field that protobuf omits. Structs
 * whose fields are numbered consecutively from 1 are left out.
 */
export type FieldNumbers = Record<string, readonly number[]>;

/** A Go package to read: its directory and the short name that qualifies its types. */
export interface GoPackage {
  readonly directory: string;
  readonly name: string;
  readonly importPath: string;
}

/** Reads the type declarations of `packages`; generated code and tests are left out. */
export function readGoTypes(packages: readonly GoPackage[]): {
  readonly types: GoTypes;
  readonly numbers: FieldNumbers;
} {
  const names = new Map(packages.map((pack) => [pack.importPath, pack.name]));
  const types: GoTypes = {};
  const numbers: FieldNumbers = {};
  for (const pack of packages) {
    for (const file of readdirSync(pack.directory)) {
      if (!file.endsWith('.go') || /_test\.go$|^zz_|generated/.test(file)) continue;
      readFile(readFileSync(join(pack.directory, file), 'utf8'), { pack, names, types, numbers });
    }
  }
  return { types, numbers };
}

interface Reading {
  readonly pack: GoPackage;
  readonly names: ReadonlyMap<string, string>;
  readonly types: GoTypes;
  readonly numbers: FieldNumbers;
}

function readFile(source: string, reading: Reading): void {
  const qualify = qualifier(source, reading);
  const lines = source.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const open = /^type (\w+) struct \{$/.exec(line);
    if (open?.[1] !== undefined) {
      const fields: Record<string, string> = {};
      const numbered = new Map<string, number>();
      while (lines[++at] !== '}') {
        const name = readField(lines[at] ?? '', fields, qualify);
        const [, number = '0'] = /protobuf:"[^",]*,(\d+),/.exec(lines[at] ?? '') ?? [];
        if (name !== undefined) numbered.set(name, Number(number));
      }
      const name = `${reading.pack.name}.${open[1]}`;
      reading.types[name] = fields;
      const list = Object.keys(fields).map((field) => numbered.get(field) ?? 0);
      if (!isInOrder(Object.keys(fields), list)) reading.numbers[name] = list;
      continue;
    }
    const empty = /^type (\w+) struct ?\{\}$/.exec(line);
    if (empty?.[1] !== undefined) reading.types[`${reading.pack.name}.${empty[1]}`] = {};
    const alias = /^type (\w+) =? ?([\w.[\]*]+)(?: *\/\/.*)?$/.exec(line);
    if (alias?.[1] !== undefined && alias[2] !== undefined && !/interface|func/.test(alias[2])) {
      reading.types[`${reading.pack.name}.${alias[1]}`] = qualify(alias[2]);
    }
  }
}

/** Whether the numbers are consecutive from 1, apart from TypeMeta, so that a reader can compute them. */
function isInOrder(fields: readonly string[], numbers: readonly number[]): boolean {
  const own = fields[0] === '.TypeMeta' ? 1 : 0;
  return numbers.every((number, at) => number === at + 1 - own);
}

/** Reads a line of a struct. @returns the name of the field; undefined if the line has no field */
function readField(
  line: string,
  fields: Record<string, string>,
  qualify: (type: string) => string,
): string | undefined {
  const field = /^\t(\w+)\s+(\S+)\s+`json:"([^"]*)"/.exec(line);
  const embedded = /^\t([\w.*]+)\s+`json:"([^"]*)"/.exec(line);
  const type = field?.[2] ?? embedded?.[1];
  const tag = field?.[3] ?? embedded?.[2];
  if (type === undefined || tag === undefined) return undefined;
  const [name = '', ...options] = tag.split(',');
  if (name === '-') return undefined;
  const flags = `${options.includes('omitempty') ? '?' : ''}${options.includes('omitzero') ? '0' : ''}`;
  const isInline = options.includes('inline');
  const key = isInline ? `.${type.split('.').at(-1) ?? ''}` : name;
  fields[key] = qualify(type) + (isInline ? '' : flags);
  return key;
}

const basic = /^(string|bool|byte|int\d*|uint\d*|float\d+|any|interface\{\}|rune)$/;

function qualifier(source: string, { pack, names }: Reading): (type: string) => string {
  const aliases = new Map<string, string>();
  for (const [, alias, path] of source.matchAll(/^(?:import)?\s+(\w+)? ?"([^"]+)"/gm)) {
    const short = alias ?? path?.split('/').at(-1) ?? '';
    aliases.set(short, names.get(path ?? '') ?? path ?? '');
  }
  const one = (name: string): string => {
    if (basic.test(name)) return name;
    const [first = '', second] = name.split('.');
    if (second === undefined) return `${pack.name}.${first}`;
    return `${aliases.get(first) ?? first}.${second}`;
  };
  return (type) => type.replaceAll(/(?<![\w.])(?!map\b)[A-Za-z_][\w.]*/g, one);
}
