import { blob, widget } from './kinds.js';
import { apply, create, force, jsonPatch, update } from './scenario.js';
import type { Scenario } from './scenario.js';

type Fields = Readonly<Record<string, unknown>>;

const spec = (fields: Fields): Fields => ({ spec: fields });
const status = (fields: Fields): Fields => ({ status: fields });

/** Scenarios of custom resources with and without a schema. */
export const custom: readonly Scenario[] = [
  {
    title: 'a custom resource is owned from its root',
    on: widget,
    steps: [
      create('ed', spec({ color: 'red' })),
      update('other', spec({ color: 'blue', ratio: 1.5 })),
      apply('op', spec({ color: 'blue', enabled: true })),
      apply('op', spec({ enabled: false })),
      update('other', { spec: null }),
    ],
  },
  {
    title: 'a default that no client set',
    on: widget,
    steps: [apply('op', spec({ size: 5 })), apply('op', spec({})), apply('op', {})],
  },
  {
    title: 'list-maps, sets and atomic things of a custom resource',
    on: widget,
    steps: [
      apply(
        'op',
        spec({
          ports: [{ port: 80 }, { port: 81, protocol: 'UDP', name: 'u' }],
          tags: ['b', 'a'],
          steps: ['x', 'y'],
          rows: [{ a: '1' }],
          settings: { k: 'v' },
          selector: { app: 'x' },
        }),
      ),
      apply(
        'two',
        spec({
          ports: [{ port: 82 }, { port: 80, name: 'eighty' }],
          tags: ['c', 'a'],
          settings: { l: 'w' },
        }),
      ),
      apply('two', spec({ steps: ['z'], rows: [{ b: '2' }], selector: { app: 'x', tier: 't' } })),
      apply('op', spec({ tags: ['a'], settings: {}, ports: [] })),
      update('ed', spec({ tags: ['z', 'a'], rows: [], settings: { m: 'n' } })),
      apply('op', {}),
    ],
  },
  {
    title: 'nested structs of a custom resource disappear with their last field',
    on: widget,
    steps: [
      apply('op', spec({ nested: { deep: { a: '1' }, other: 'o' } })),
      apply('two', spec({ nested: { deep: { b: '2' } } })),
      apply('op', spec({ nested: {} })),
      apply('two', spec({ nested: {} })),
      apply('op', spec({ color: 'red' })),
      apply('two', {}),
    ],
  },
  {
    title: 'an empty struct that another keeps',
    on: widget,
    steps: [
      apply('keeper', spec({ nested: { deep: {} }, settings: {}, tags: [] })),
      apply('op', spec({ nested: { deep: { a: '1' } }, settings: { k: 'v' }, tags: ['a'] })),
      apply('op', {}),
    ],
  },
  {
    title: 'nulls in an apply',
    on: widget,
    steps: [
      apply('op', spec({ color: null, nested: null, tags: null, settings: { a: 'b' } })),
      apply('op', spec({ color: 'red', settings: null })),
      apply('op', spec({ color: null })),
    ],
  },
  {
    title: 'unknown fields below one that keeps them',
    on: widget,
    steps: [
      apply('op', spec({ free: { a: 1, list: [1, { x: 1 }], map: { k: { l: 'm' } } } })),
      apply('two', spec({ free: { map: { k: { n: 'o' } } } })),
      apply('op', spec({ free: { a: 'text', map: { k: {} } } })),
      force('two', spec({ free: { a: { now: 'a map' } } })),
      apply('two', {}),
    ],
  },
  {
    title: 'status through its subresource',
    on: widget,
    steps: [
      apply('op', { ...spec({ color: 'red' }), ...status({ phase: 'Ignored' }) }),
      apply('op', status({ phase: 'Ready', conditions: [{ type: 'A', status: 'True' }] }), {
        subresource: 'status',
      }),
      update(
        'other',
        { ...spec({ color: 'x' }), ...status({ phase: 'Gone' }) },
        { subresource: 'status' },
      ),
      apply(
        'third',
        { ...status({ conditions: [{ type: 'B', status: 'True' }] }), ...spec({ color: 'y' }) },
        {
          subresource: 'status',
        },
      ),
      apply('op', status({ conditions: [{ type: 'A', status: 'False', reason: 'R' }] }), {
        subresource: 'status',
      }),
      apply('op', spec({ color: 'green' })),
    ],
  },
  {
    title: 'scale of a custom resource',
    on: widget,
    steps: [
      apply('op', spec({ replicas: 1, color: 'red' })),
      update('autoscaler', spec({ replicas: 2 }), { subresource: 'scale' }),
      update('autoscaler', spec({ replicas: 3 }), { subresource: 'scale' }),
      apply('op', spec({ replicas: 1, color: 'red' })),
      apply('op', spec({ color: 'red' })),
    ],
  },
  {
    title: 'values of types that leave a choice',
    on: widget,
    steps: [
      apply('op', spec({ limit: '50%', ratio: 1 })),
      apply('op', spec({ limit: 5, ratio: 1.0 })),
      apply('two', spec({ limit: 5, ratio: 1 })),
      apply('two', spec({ limit: '5', ratio: 2 })),
    ],
  },
  {
    title: 'bodies that do not fit the schema of a custom resource',
    on: widget,
    steps: [
      apply('op', spec({ unknown: 1 })),
      apply('op', spec({ color: 5 })),
      apply('op', spec({ size: 'big' })),
      apply('op', spec({ enabled: { a: [1, 'x', true, null] } })),
      apply('op', spec({ ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] })),
      apply('op', spec({ ports: ['x'] })),
      apply('op', spec({ tags: ['a', 'b', 'a'] })),
      apply('op', spec({ tags: [{}] })),
      apply('op', spec({ nested: 'x' })),
      apply('op', spec({ nested: ['x'] })),
      apply('op', spec({ tags: { a: 'b' } })),
      apply('op', spec({ limit: [1] })),
      apply('op', spec({ limit: 1.5 })),
    ],
  },
  {
    title: 'a custom resource without a schema: maps granular, lists atomic',
    on: blob,
    steps: [
      apply('op', { spec: { a: { b: 1 }, list: [{ name: 'x', v: 1 }] }, top: 'x' }),
      apply('two', { spec: { a: { c: 2 }, list: [{ name: 'x', v: 1 }] } }),
      apply('two', { spec: { list: [{ name: 'y' }] } }),
      apply('op', { spec: { a: { b: 1 } } }),
      update('ed', { spec: { a: 'scalar' } }),
      apply('op', { spec: { a: { b: 1 } } }),
      force('op', { spec: { a: [1] }, more: null, empty: {}, none: [] }),
      jsonPatch('ed', [{ op: 'replace', path: '/spec/a', value: { x: 1 } }]),
    ],
  },
];
