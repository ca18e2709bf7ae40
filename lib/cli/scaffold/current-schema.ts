import { inspect } from 'node:util';
import omit from 'lodash/omit.js';
import { isMap, parseAllDocuments, parseDocument } from 'yaml';
import { isJsonObject } from '../../object/json.js';
import { checkYamlDepth } from '../../object/yaml-depth.js';

/** The file of a kind's first version, and the one that a template makes of a further version. */
export interface SchemaTexts {
  /** As the user has it. */
  readonly own: string;
  /** As the template has the first version. */
  readonly template: string;
  /** As the template has the further version. */
  readonly further: string;
  /** Name of the first version. */
  readonly first: string;
}

/**
 * Returns the file of a further version with the schema that the first one has now: a schema of its own
 * would lose data without a conversion. As the template has it, where the schema is not changed or
 * can't be found between the imports and `defineResource`.
 */
export function withCurrentSchema({ own, template, further, first }: SchemaTexts): string {
  const [current, before] = [schemaPart(own), schemaPart(template)];
  if (current === undefined || before === undefined || current === before) return further;
  if (!further.includes(before)) return further;
  const imports = importsOf(own, current, first).filter((line) => !further.includes(line));
  const copied = further.replace(before, () => current);
  return imports.length === 0 ? copied : `${imports.join('\n')}\n${copied}`;
}

/** Schemas stand between the marker of the imports and the resource with its comment. */
function schemaPart(text: string): string | undefined {
  const [, part] =
    /\+operator-builder:scaffold:imports\r?\n(.*?)(?:\/\*\*(?:(?!\*\/).)*\*\/\s*)?export const \w+ = defineResource\(/s.exec(
      text,
    ) ?? [];
  return part?.trim();
}

const taken: ReadonlySet<string> = new Set(['s', 'defineResource', 'ObjectOf']);

/** The imports that a part of a file needs, for a file in the folder of another version. */
function importsOf(text: string, part: string, first: string): readonly string[] {
  return [...text.matchAll(/^import [^;]*? from '([^']+)';$/gms)].flatMap(([line, from = '']) => {
    const [, list = ''] = /\{([^}]*)\}/s.exec(line) ?? [];
    const names = list.split(',').map((name) => name.trim().replace(/^.* as /, ''));
    const used = names.filter((name) => name !== '' && !taken.has(name));
    if (!used.some((name) => new RegExp(`\\b${name}\\b`).test(part))) return [];
    return [from.startsWith('./') ? line.replace(`'./`, `'../${first}/`) : line];
  });
}

/** Returns a sample of a further version with the spec of the first one's sample. */
export function withCurrentSpec(own: string, further: string): string {
  const current = parseDocument(checkYamlDepth(own, 'sample'));
  const document = parseDocument(further);
  if (current.errors.length > 0 || !isMap(current.contents) || !current.has('spec')) return further;
  document.set('spec', current.get('spec'));
  return document.toString({ lineWidth: 0 });
}

const contentOfTests = /^const content: object = .*;$/m;

/**
 * Returns a test with the content of a kind's sample, since the schema may no longer have the fields of
 * the template. As the template has it, where there is no such sample.
 */
export function withSampleContent(text: string, sample: string | undefined, kind: string): string {
  const documents = parseAllDocuments(checkYamlDepth(sample ?? '', 'sample'));
  const found = [...documents]
    .filter(({ errors }) => errors.length === 0)
    .map((document) => document.toJS() as unknown)
    .find((object) => isJsonObject(object) && object['kind'] === kind);
  if (!isJsonObject(found)) return text;
  const content = omit(found, ['apiVersion', 'kind', 'metadata', 'status']);
  const literal = inspect(content, { depth: null, maxArrayLength: null, maxStringLength: null });
  return text.replace(contentOfTests, () => `const content: object = ${literal};`);
}
