import { fieldPath } from '../../object/field-path.js';
import { FieldSet } from '../../object/field-set.js';
import {
  FieldNodeBuilder,
  asMember,
  elementsOf,
  isLeaf,
  isMember,
} from '../../object/field-tree.js';
import type { FieldNode } from '../../object/field-tree.js';

/**
 * Picks the fields of `set` that a client may own through an endpoint.
 * @param apiVersion - The API version of the fields in `set`.
 */
export type FieldFilter = (set: FieldSet, apiVersion: string) => FieldSet;

/**
 * Returns a filter that drops the fields at `paths` (`spec`, `metadata.labels`) and everything
 * below them.
 */
export function excludeFields(...paths: readonly string[]): FieldFilter {
  const excluded = FieldSet.of(...paths.map((path) => fieldPath(...path.split('.'))));
  return (set) => set.recursiveDifference(excluded);
}

/**
 * Returns a filter that keeps only the fields at `paths`, their parents and everything below them.
 * `*` matches any step: `spec.containers.*.resources`.
 */
export function includeFields(...paths: readonly string[]): FieldFilter {
  const patterns = paths.map((path) => path.split('.').map(patternStep));
  return (set) => {
    const root = includedOf(set.root, patterns);
    return root === undefined ? FieldSet.empty : FieldSet.ofRoot(root);
  };
}

type Pattern = readonly string[];

function patternStep(name: string): string {
  return name === '*' ? name : `f:${name}`;
}

function includedOf(node: FieldNode, patterns: readonly Pattern[]): FieldNode | undefined {
  const builder = new FieldNodeBuilder();
  for (const element of elementsOf(node)) {
    const child = node[element] as FieldNode;
    const rests = patterns.filter((pattern) => matches(pattern[0], element)).map(([, ...r]) => r);
    if (rests.length === 0) continue;
    builder.add(element, rests.some((rest) => rest.length === 0) ? child : include(child, rests));
  }
  return builder.buildSorted(false);
}

function include(child: FieldNode, rests: readonly Pattern[]): FieldNode | undefined {
  if (isLeaf(child)) return child;
  const below = includedOf(child, rests);
  if (!isMember(child)) return below;
  return asMember(below);
}

function matches(step: string | undefined, element: string): boolean {
  return step === '*' || step === element;
}
