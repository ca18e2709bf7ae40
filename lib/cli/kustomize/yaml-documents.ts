import type { ScalarTag } from 'yaml';
import { checkDepth } from '../../object/depth.js';
import { isJsonObject } from '../../object/json.js';
import { parseYamlDocuments } from '../../object/yaml-documents.js';
import type { Json } from './json-values.js';
import { kustomizationError } from './kustomization-error.js';

/** Go's YAML parsers, and so Kubernetes, read `0644` as octal. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  identify: () => false,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => parseInt(text, 8),
};

/**
 * Returns every non-empty document of a text, as Kubernetes' tools read it.
 * @throws OperatorError `InvalidConfig`: invalid YAML
 */
export function parseDocuments(text: string, file: string): readonly unknown[] {
  const customTags = (tags: readonly (string | object)[]) => [octal, ...tags] as ScalarTag[];
  const options = { merge: true, customTags, logLevel: 'error' } as const;
  return parseYamlDocuments(text, file, options).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw kustomizationError(file, problem.message.trimEnd(), problem);
    // A copy: a change at one place must not reach the aliases of the value.
    const value: unknown = structuredClone(
      checkDepth(document.toJS({ maxAliasCount: 1000 }), file),
    );
    return value === null || value === undefined ? [] : [value];
  });
}

/**
 * Returns the objects of a text, including those in lists.
 * @throws OperatorError `InvalidConfig`: invalid YAML, or a value without kind and name
 */
export function parseObjects(text: string, file: string): readonly Json[] {
  return parseDocuments(text, file).flatMap((value) => checkedObjects(value, file));
}

function checkedObjects(value: unknown, file: string): readonly Json[] {
  if (!isJsonObject(value)) throw kustomizationError(file, 'want objects of Kubernetes');
  if (Object.keys(value).length === 0) return [];
  const { kind, apiVersion, metadata, items } = value;
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') {
    throw kustomizationError(file, 'an object has no apiVersion or no kind');
  }
  if (kind.endsWith('List') && 'items' in value) {
    const list: readonly unknown[] = Array.isArray(items) ? items : [];
    return list.flatMap((item) => checkedObjects(item, file));
  }
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '') {
    throw kustomizationError(file, `a ${kind} has no metadata.name`);
  }
  return [value];
}
