import type { ScalarTag } from 'yaml';
import { checkDepth } from '../../object/depth.js';
import { isJsonObject } from '../../object/json.js';
import { parseYamlDocuments } from '../../object/yaml-documents.js';
import type { Json } from './json-values.js';
import { kustomizationError } from './kustomization-error.js';

/** `0644` is octal for everything that reads YAML in Go, and so for Kubernetes. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  identify: () => false,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => parseInt(text, 8),
};

/**
 * Every document of a text, as Kubernetes' tools read it; those that are empty are left out.
 * @throws OperatorError `InvalidConfig`: it is no YAML
 */
export function parseDocuments(text: string, file: string): readonly unknown[] {
  const customTags = (tags: readonly (string | object)[]) => [octal, ...tags] as ScalarTag[];
  const options = { merge: true, customTags, logLevel: 'error' } as const;
  return parseYamlDocuments(text, file, options).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw kustomizationError(file, problem.message.trimEnd(), problem);
    // A copy: what is an alias of another place must not change with it.
    const value: unknown = structuredClone(
      checkDepth(document.toJS({ maxAliasCount: 1000 }), file),
    );
    return value === null || value === undefined ? [] : [value];
  });
}

/**
 * The objects of a text; what is in lists stands for itself.
 * @throws OperatorError `InvalidConfig`: it is no YAML, or something else than objects with kind and name
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
