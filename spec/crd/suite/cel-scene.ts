import { s } from '../../../lib/crd/index.js';

/** Bounds keep the estimated cost of rules below the limit of the real server. */
const text = s.string({ maxLength: 30 });
const few = { maxItems: 5 } as const;

/**
 * Spec that the expressions refer to, with a property of each type and names that need escaping.
 */
export const sceneSpec = s.object({
  int: s.integer(),
  double: s.number(),
  whole: s.number(),
  text,
  unicode: text,
  bool: s.boolean(),
  bytes: s.string({ format: 'byte', maxLength: 30 }),
  time: s.string({ format: 'date-time' }),
  day: s.string({ format: 'date' }),
  span: s.string({ format: 'duration' }),
  percent: s.intOrString({ maxLength: 10 }),
  count: s.intOrString({ maxLength: 10 }),
  missing: s.optional(text),
  nothing: s.optional(s.nullable(text)),
  texts: s.array(text, few),
  ints: s.array(s.integer(), few),
  set: s.array(text, { ...few, listType: 'set' }),
  sameSet: s.array(text, { ...few, listType: 'set' }),
  map: s.map(s.integer(), { maxProperties: 5 }),
  entries: s.array(s.object({ name: text, value: s.optional(s.integer()) }), {
    ...few,
    listType: 'map',
    listMapKeys: ['name'],
  }),
  sameEntries: s.array(s.object({ name: text, value: s.optional(s.integer()) }), {
    ...few,
    listType: 'map',
    listMapKeys: ['name'],
  }),
  object: s.object({ inner: s.object({ deep: s.integer() }), other: s.optional(text) }),
  'dash-ed': text,
  'dot.ted': text,
  'sla/shed': text,
  in: text,
  namespace: text,
  under__score: text,
  free: s.unknownObject(),
  embedded: s.embeddedResource(),
});

/** Object on which the expressions are evaluated. */
export const sceneObject = {
  int: 7,
  double: 1.5,
  whole: 2,
  text: 'hello',
  unicode: 'añb😀c',
  bool: true,
  bytes: 'aGk=',
  time: '2024-02-29T12:30:45.123Z',
  day: '2024-02-29',
  span: '1h30m',
  percent: '25%',
  count: 3,
  nothing: null,
  texts: ['b', 'a', 'c'],
  ints: [3, 1, 2, 3],
  set: ['x', 'y'],
  sameSet: ['y', 'x'],
  map: { one: 1, two: 2 },
  entries: [{ name: 'a', value: 1 }, { name: 'b' }],
  sameEntries: [{ name: 'b' }, { name: 'a', value: 1 }],
  object: { inner: { deep: 5 } },
  'dash-ed': 'dash',
  'dot.ted': 'dot',
  'sla/shed': 'slash',
  in: 'in',
  namespace: 'ns',
  under__score: 'score',
  free: { any: 1 },
  embedded: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cm' } },
} as const;
