import { isJsonObject } from '../../object/json.js';
import { asError } from '../../system/as-error.js';
import type { Json } from './json-values.js';
import { objectAt, scalarText, textAt } from './json-values.js';
import type { Place } from './field-spec.js';
import { splitPath } from './field-spec.js';
import type { KustomizationFile } from './kustomization-file.js';
import { kustomizationError, unsupportedField } from './kustomization-error.js';
import type { Resource } from './resource.js';
import type { ResourceSet } from './resource-set.js';
import { idText, isOfKind } from './resource-id.js';
import { compileSelector } from './selector.js';
import type { ResourceSelector } from './selector.js';

/**
 * Copies a field of one object into fields of others, as an entry of `replacements` defines.
 * @throws OperatorError `InvalidConfig`: the source is ambiguous, or a field is missing
 */
export function applyReplacement(set: ResourceSet, entry: Json, file: KustomizationFile): void {
  const { path, folder } = file;
  const source = objectAt(entry, 'source');
  const targets = (entry['targets'] ?? []) as readonly Json[];
  if (entry['sourceValue'] !== undefined) {
    throw unsupportedField(folder, path, 'replacements: sourceValue');
  }
  if (source === undefined || targets.length === 0) {
    throw kustomizationError(path, 'replacements: want a source, and targets');
  }
  const value = valueOf(set, source, path);
  for (const target of targets) {
    const selected = selectedBy(set, target, path);
    for (const resource of selected) copyTo(resource, { value, target, file: path });
  }
}

function valueOf(set: ResourceSet, source: Json, file: string): unknown {
  const isIt = ({ ids }: Resource): boolean =>
    ids.some(
      (id) =>
        isOfKind(id, source) &&
        fits(textAt(source, 'name'), id.name) &&
        fits(textAt(source, 'namespace'), id.namespace),
    );
  const [resource, ...others] = set.all.filter(isIt);
  const named = JSON.stringify(source);
  if (resource === undefined || others.length > 0) {
    const count = resource === undefined ? 'nothing' : 'several objects';
    throw kustomizationError(file, `replacements: ${count} fit the source ${named}`);
  }
  const path = textAt(source, 'fieldPath') || 'metadata.name';
  const [place] = placesAt(resource.object, pathOf(path), undefined);
  if (place?.value === undefined) {
    throw kustomizationError(file, `replacements: ${idText(resource.id)} has no ${path}`);
  }
  const { delimiter, index } = delimiterOf(source);
  if (delimiter === '') return place.value;
  const part = scalarText(place.value).split(delimiter)[index];
  if (part !== undefined) return part;
  throw kustomizationError(file, `replacements: ${path} has no part ${index}`);
}

const fits = (wanted: string, found: string): boolean => wanted === '' || wanted === found;

function delimiterOf(object: Json): Readonly<{ delimiter: string; index: number }> {
  const options = objectAt(object, 'options') ?? {};
  return { delimiter: textAt(options, 'delimiter'), index: Number(options['index'] ?? 0) };
}

function selectedBy(set: ResourceSet, target: Json, file: string): readonly Resource[] {
  const select = objectAt(target, 'select');
  if (select === undefined) throw kustomizationError(file, 'replacements: a target wants a select');
  const compiled = (one: Json): ResourceSelector => {
    try {
      return compileSelector(one);
    } catch (thrown) {
      const problem = `replacements: a target: ${asError(thrown).message}`;
      throw kustomizationError(file, problem, thrown);
    }
  };
  const selector = compiled(select);
  const rejected = ((target['reject'] ?? []) as readonly Json[]).map(compiled);
  return set.all.filter(
    (one) => selector.matches(one) && !rejected.some((reject) => reject.matches(one)),
  );
}

interface Copy {
  readonly value: unknown;
  readonly target: Json;
  readonly file: string;
}

function copyTo(resource: Resource, { value, target, file }: Copy): void {
  const paths = (target['fieldPaths'] ?? ['metadata.name']) as readonly string[];
  const isCreated = objectAt(target, 'options')?.['create'] === true;
  const { delimiter, index } = delimiterOf(target);
  for (const path of paths) {
    const places = placesAt(resource.object, pathOf(path), isCreated ? '' : undefined);
    if (places.length === 0) {
      throw kustomizationError(file, `replacements: ${idText(resource.id)} has no ${path}`);
    }
    for (const place of places) {
      if (delimiter === '') place.set(structuredClone(value));
      else
        place.set(spliced(scalarText(place.value).split(delimiter), { value, delimiter, index }));
    }
  }
}

function spliced(
  parts: readonly string[],
  { value, delimiter, index }: { value: unknown; delimiter: string; index: number },
): string {
  const text = scalarText(value);
  if (index < 0) return [text, ...parts].join(delimiter);
  if (index >= parts.length) return [...parts, text].join(delimiter);
  return parts.with(index, text).join(delimiter);
}

/** Splits a path at dots: `[a.b/c]` is one name, `[name=x]` an item of a list. */
function pathOf(path: string): readonly string[] {
  const names: string[] = [];
  for (const part of splitPath(path, '.')) {
    const open = names.at(-1);
    if (open?.startsWith('[') === true && !open.endsWith(']')) {
      names[names.length - 1] = `${open}.${part}`;
    } else {
      names.push(part);
    }
  }
  return names.map((name) => (name.includes('=') ? name : name.replace(/^\[(.*)\]$/, '$1')));
}

/** @param made - initial value of a missing field; undefined: missing fields stay missing */
function placesAt(
  value: unknown,
  [first, ...rest]: readonly string[],
  made: string | undefined,
): readonly Place[] {
  if (first === undefined) return [];
  return stepsTo(value, first).flatMap((place): readonly Place[] => {
    if (place.value === undefined || place.value === null) {
      if (made === undefined) return [];
      place.set(rest.length === 0 ? made : {});
      return rest.length === 0
        ? [{ ...place, value: made }]
        : placesAt(valueAfter(value, first), rest, made);
    }
    return rest.length === 0 ? [place] : placesAt(place.value, rest, made);
  });
}

function valueAfter(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

function stepsTo(value: unknown, name: string): readonly Place[] {
  if (Array.isArray(value)) {
    const list = value as unknown[];
    const indexes = [...list.keys()].filter((index) => isItem(list[index], index, name));
    return indexes.map((index) => ({ value: list[index], set: (to) => (list[index] = to) }));
  }
  if (!isJsonObject(value)) return [];
  const object = value as Json;
  const names = name === '*' ? Object.keys(object) : [name];
  return names.map((one) => ({ value: object[one], set: (to) => (object[one] = to) }));
}

function isItem(item: unknown, index: number, name: string): boolean {
  if (name === '*' || name === String(index)) return true;
  const [, key, wanted] = /^\[([^=]+)=(.*)\]$/.exec(name) ?? [];
  if (key === undefined) return false;
  return isJsonObject(item) && scalarText(item[key]) === wanted;
}
