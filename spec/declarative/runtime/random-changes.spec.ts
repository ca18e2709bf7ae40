import { expect } from 'chai';
import fc from 'fast-check';
import { tries } from '../../sample.js';
import { ControllerScene, configMap, sameName } from './controller-scene.js';
import type { Thing } from './controller-scene.js';

const ConfigMaps = { apiVersion: 'v1', kind: 'ConfigMap' };

const source = (as: string) => ({
  ...{ apiGroup: '', version: 'v1', kind: 'ConfigMap', as },
  labelSelector: { matchLabels: { side: as } },
});

/** Controllers that write a view for each pair, a ConfigMap for each group of pairs, and a field of each member. */
const controllers = [
  {
    ...{ name: 'pairs', sources: [source('Left'), source('Right')], target: { kind: 'Pair' } },
    pipeline: [
      { '@join': { '@eq': ['$.Left.data.k', '$.Right.data.k'] } },
      {
        '@project': {
          metadata: {
            namespace: 'default',
            name: { '@concat': ['$.Left.metadata.name', '-', '$.Right.metadata.name'] },
          },
          ...{ k: '$.Left.data.k', left: '$.Left.metadata.name', right: '$.Right.metadata.name' },
        },
      },
    ],
  },
  {
    ...{ name: 'groups', sources: [{ kind: 'Pair' }], target: { apiGroup: '', kind: 'ConfigMap' } },
    pipeline: [
      { '@gather': ['$.k', '$.metadata.name'] },
      {
        '@project': {
          metadata: { namespace: 'default', name: { '@concat': ['group-', '$.k'] } },
          data: {
            pairs: { '@concat': { '@map': [{ '@concat': ['$$', ';'] }, '$.metadata.name'] } },
          },
        },
      },
    ],
  },
  {
    name: 'counts',
    sources: [{ kind: 'Pair' }],
    pipeline: [
      { '@gather': ['$.left', '$.right'] },
      {
        '@project': {
          metadata: { ...sameName, name: '$.left' },
          data: { count: { '@string': { '@len': '$.right' } } },
        },
      },
    ],
    target: { apiGroup: '', kind: 'ConfigMap', type: 'Patcher' },
  },
];

const name = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('1', '2');
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      ...{
        act: fc.constant('put' as const),
        name,
        k: key,
        side: fc.constantFrom('Left', 'Right', 'None'),
      },
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('delete' as const), name }) },
  fc.record({ act: fc.constantFrom('edit' as const, 'remove' as const), k: key }),
  fc.record({
    act: fc.constant('fault' as const),
    verb: fc.constantFrom('get' as const, 'create' as const, 'patch' as const, 'delete' as const),
    code: fc.constantFrom(409, 500),
  }),
  fc.constant({ act: 'drop' as const }),
  fc.record({ act: fc.constant('wait' as const), ms: fc.constantFrom(0, 10, 2_000) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(scene: ControllerScene, one: Step): Promise<unknown> {
  const { cluster, clock } = scene.base;
  switch (one.act) {
    case 'put':
      return await scene.put(configMap(one.name, { k: one.k }, { labels: { side: one.side } }));
    case 'delete':
      return await scene.delete(configMap(one.name)).catch(() => undefined);
    case 'edit':
      return await scene.put(configMap(`group-${one.k}`, { pairs: 'edited', more: 'x' }));
    case 'remove':
      return await scene.delete(configMap(`group-${one.k}`)).catch(() => undefined);
    case 'fault': {
      const reason = one.code === 409 ? 'Conflict' : 'InternalError';
      cluster.faults.add({
        match: { verb: one.verb, resource: 'configmaps', user: 'operator' },
        effect: { type: 'status', code: one.code, reason, message: 'no' },
        times: 2,
      });
      return;
    }
    case 'drop':
      cluster.server.compact();
      cluster.server.dropWatches();
      return;
    case 'wait':
      return clock.advance(one.ms);
  }
}

/** Returns the data of all objects, as the controllers should make them. */
function expected(all: readonly Thing[]): Record<string, unknown> {
  const sources = all.filter(({ metadata }) => /^[abc]$/.test(metadata.name ?? ''));
  const kOf = ({ data }: Thing) => (data as { k: string }).k;
  const side = (wanted: string) =>
    sources.filter(({ metadata }) => metadata.labels?.['side'] === wanted);
  const pairs = side('Left').flatMap((left) =>
    side('Right').flatMap((right) => (kOf(left) === kOf(right) ? [{ left, right }] : [])),
  );
  const result: Record<string, unknown> = {};
  for (const one of sources) {
    const count = pairs.filter(({ left }) => left === one).length;
    result[one.metadata.name ?? ''] = { k: kOf(one), ...(count > 0 && { count: String(count) }) };
  }
  for (const k of ['1', '2']) {
    const own = pairs.filter(({ left }) => kOf(left) === k);
    const names = own
      .map(({ left, right }) => `${left.metadata.name}-${right.metadata.name};`)
      .sort();
    if (own.length > 0) result[`group-${k}`] = { pairs: names.join('') };
  }
  return result;
}

describe('declarative controllers under random changes', () => {
  it('write what follows from their sources, despite faults, lost watches and edits by others', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 25 }),
      async (steps) => {
        const scene = await ControllerScene.start();
        try {
          await scene.run(...controllers);
          for (const one of steps) await take(scene, one);
          await scene.base.clock.advance(2_000_000);
          await scene.settled();
          const all = Object.values(await scene.all(ConfigMaps));
          const wanted = expected(all);
          const actual = all.flatMap(({ metadata: { name: own = '' }, data }) => {
            // An object belongs to the user if it was edited and no controller desires it.
            const isForeign = !(own in wanted) && (data as { more?: string }).more === 'x';
            return isForeign || !/^[abc]$|^group-/.test(own) ? [] : [[own, data] as const];
          });
          expect(Object.fromEntries(actual)).to.deep.equal(wanted);
        } finally {
          await scene.end();
        }
      },
    );
    await fc.assert(property, { numRuns: tries(30) });
  });
});
