import { isJsonObject, memberOf, setMember } from '../../../object/index.js';
import { DataError } from '../operands.js';
import { compileTest, slicedIndexes } from './find.js';
import type { Path, Segment, Selector } from './parse-path.js';

/** The highest index that a setter may use: lists are filled up to it. */
export const highestSetIndex = 65_535;

/** Returns a copy of `node` with a value set in it. Never modifies its input. */
export type PlaceSetter = (node: unknown, value: unknown, document: unknown) => unknown;

/** Returns why values cannot be set at a path; undefined if they can. */
export function unsettable({ segments }: Path): string | undefined {
  if (segments.some(({ descendant }) => descendant)) return '.. cannot be used to set a value';
  const indexes = segments
    .flatMap(({ selectors }) => selectors)
    .flatMap((selector) => (selector.kind === 'index' ? [selector.index] : []));
  return indexes.some((index) => index > highestSetIndex)
    ? `a list is filled up to index ${highestSetIndex} at most`
    : undefined;
}

/**
 * Compiles a setter for a path. It creates a missing name or index, with its parents, and fills a list with
 * null up to the index. Wildcards, slices and filters set only existing places. The setter throws DataError
 * if a parent is neither missing nor of the required type, map or list.
 */
export function compilePlaceSetter({ segments }: Path, operation: string): PlaceSetter {
  const last: PlaceSetter = (_node, value) => value;
  return segments.reduceRight<PlaceSetter>(
    (next, segment) => segmentSetter(segment, next, operation),
    last,
  );
}

function segmentSetter({ selectors }: Segment, next: PlaceSetter, operation: string): PlaceSetter {
  const setters = selectors.map((selector) => selectorSetter(selector, next, operation));
  return (node, value, document) =>
    setters.reduce((result, set) => set(result, value, document), node);
}

function selectorSetter(selector: Selector, next: PlaceSetter, operation: string): PlaceSetter {
  switch (selector.kind) {
    case 'name':
      return nameSetter(selector.name, next, operation);
    case 'index':
      return indexSetter(selector.index, next, operation);
    case 'wildcard':
      return eachSetter(() => true, next);
    case 'filter':
      return eachSetter(compileTest(selector.test), next);
    case 'slice':
      return (node, value, document) => {
        if (!Array.isArray(node)) return node;
        const copy: unknown[] = [...(node as unknown[])];
        for (const index of slicedIndexes(selector, copy.length)) {
          copy[index] = next(copy[index], value, document);
        }
        return copy;
      };
  }
}

function nameSetter(name: string, next: PlaceSetter, operation: string): PlaceSetter {
  return (node, value, document) => {
    const map = node ?? {};
    if (!isJsonObject(map)) {
      throw new DataError(operation, `want a map to set ${JSON.stringify(name)} in`, node);
    }
    const copy: Record<string, unknown> = { ...map };
    setMember(copy, name, next(memberOf(map, name), value, document));
    return copy;
  };
}

function indexSetter(index: number, next: PlaceSetter, operation: string): PlaceSetter {
  return (node, value, document) => {
    const list = node ?? [];
    if (!Array.isArray(list)) {
      throw new DataError(operation, `want a list to set [${index}] in`, node);
    }
    const copy: unknown[] = [...(list as unknown[])];
    const place = index < 0 ? copy.length + index : index;
    if (place < 0) throw new DataError(operation, `the list has no [${index}]`, node);
    while (copy.length < place) copy.push(null);
    copy[place] = next(copy[place], value, document);
    return copy;
  };
}

function eachSetter(
  selects: (node: unknown, document: unknown) => boolean,
  next: PlaceSetter,
): PlaceSetter {
  return (node, value, document) => {
    const set = (child: unknown): unknown =>
      selects(child, document) ? next(child, value, document) : child;
    if (Array.isArray(node)) return node.map(set);
    if (!isJsonObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([name, child]) => [name, set(child)]));
  };
}
