import fc from 'fast-check';
import { definition, definitionName } from '../../../../lib/apiserver/kinds/documents.js';
import { groupOf, versionOf } from '../../../../lib/object/resource-type.js';
import type { Schema } from '../../../../lib/object/schema.js';
import { collectionOf, sampleKinds, sampleObject, settled } from '../kinds.js';
import type { SampleKind } from '../kinds.js';
import { post, put, remove } from '../scenario.js';
import type { Scenario } from '../scenario.js';

/** A place in an object: names of members, and `0` for the first item of a list. */
type Path = readonly (string | 0)[];

/** A field of a kind, as a place in its objects. */
interface Field {
  readonly path: Path;
  readonly schema: Schema;
}

/** The maximum depth of a field in an object. Most fields of pod templates are deeper. */
const deepest = 9;

/**
 * Values from the schema at fields drawn by `seed`, each in an otherwise valid object: defaulting
 * and validation field by field.
 * @param count - fields of each kind
 */
export function fields(seed: number, count: number): readonly Scenario[] {
  return sampleKinds.map((sample) => ({
    title: `fields of ${sample.apiVersion} ${sample.kind}`,
    requests: drawn(sample, seed, count).map((object) =>
      post(`${collectionOf(sample)}?dryRun=All`, object),
    ),
  }));
}

/**
 * Returns updates of stored objects to the values that `fields` creates objects with. They show which fields are
 * immutable, and what an update keeps.
 * @param count - fields of each kind
 */
export function changes(seed: number, count: number): readonly Scenario[] {
  return sampleKinds.map((sample) => {
    const all = collectionOf(sample);
    const one = `${all}/${nameOf(sample)}`;
    return {
      title: `changes of ${sample.apiVersion} ${sample.kind}`,
      requests: [
        post(all, sampleObject(sample, { name: nameOf(sample) })),
        ...settled(sample, one),
        ...drawn(sample, seed, count).map((object) => put(`${one}?dryRun=All`, object)),
        remove(one, { propagationPolicy: 'Orphan' }),
      ],
    };
  });
}

function nameOf({ name = '{{ns}}-one' }: SampleKind): string {
  return name;
}

/** Returns objects that have another value at a field: two for each field. */
function drawn(sample: SampleKind, seed: number, count: number): readonly unknown[] {
  const { apiVersion, kind } = sample;
  const schema = definition(definitionName(groupOf(apiVersion), versionOf(apiVersion), kind));
  const object = sampleObject(sample, { name: nameOf(sample) });
  const all = [...fieldsOf(schema, [], new Set())];
  const size = Math.min(count, all.length);
  const drawing = fc.shuffledSubarray(all, { minLength: size, maxLength: size });
  const paths = fc.sample(drawing, { numRuns: 1, seed })[0] ?? [];
  return paths.flatMap(({ path, schema: field }, index) => {
    const values = valuesOf(field);
    // Another seed selects other values.
    return [0, 1].map((more) =>
      withValue(object, path, values[(seed + index + more) % values.length]),
    );
  });
}

/** Yields the fields below `schema`, except for metadata, `apiVersion` and `kind`. */
function* fieldsOf(schema: Schema, path: Path, above: ReadonlySet<Schema>): Generator<Field> {
  if (path.length > deepest || above.has(schema)) return;
  const inside = new Set([...above, schema]);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    if (path.length === 0 && ['apiVersion', 'kind', 'metadata', 'status'].includes(name)) continue;
    yield { path: [...path, name], schema: inner };
    yield* fieldsOf(inner, [...path, name], inside);
  }
  if (schema.items !== undefined) yield* fieldsOf(schema.items, [...path, 0], inside);
}

/** Returns values for a field: valid ones, wrong types, and values out of usual ranges. */
function valuesOf({ type = 'object', format, ...schema }: Schema): readonly unknown[] {
  if (schema['x-kubernetes-int-or-string'] === true)
    return [-1, '150%', 'x', '1', 0, '', '5Gi', '-1'];
  switch (type) {
    case 'string':
      return format === 'date-time'
        ? ['2026-01-01T00:00:00Z', 'yesterday', 5]
        : ['', 'x', 'A_b!', 'a'.repeat(300), 5, '/a/../b', 'a.b/c', null];
    case 'integer':
    case 'number':
      return [-1, 0, 1, 70_000, 2 ** 40, '1', 1.5, null];
    case 'boolean':
      return [true, false, 'true', null];
    case 'array':
      return [[], ['x'], ['x', 'x'], [{}], 'x', [null], [''], null, [{}, {}]];
    case 'object':
      return [{}, { x: 'y' }, 'x', [], null, { '': '' }, { 'a b': 'c' }];
  }
}

/** Returns `object` with `value` at `path`; missing members above become objects and lists. */
function withValue(object: unknown, [name, ...rest]: Path, value: unknown): unknown {
  if (name === undefined) return value;
  if (name === 0) {
    const [first, ...others] = Array.isArray(object) ? (object as unknown[]) : [];
    return [withValue(first, rest, value), ...others];
  }
  const members = (object ?? {}) as Readonly<Record<string, unknown>>;
  return { ...members, [name]: withValue(members[name], rest, value) };
}
