import { expect } from 'chai';
import { isApiError } from '../../../lib/object/api-error.js';
import { ConfigMap, Deployment } from '../../../lib/object/kinds.js';
import type { Patch } from '../../../lib/object/patch.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour, ContractSubject } from './contract-subject.js';

type ContainerPatch = Readonly<Record<string, unknown>>;

const strategic = (body: object) => ({ type: 'strategic', body }) as const;
const merge = (body: unknown) => ({ type: 'merge', body: body as object }) as const;
const json = (operations: unknown) => ({ type: 'json', operations: operations as never }) as const;
const podSpec = (spec: object) => ({ spec: { template: { spec } } });
const containers = (...list: readonly ContainerPatch[]) => podSpec({ containers: list });

/** Declares how unusual patches behave, as kube-apiserver 1.36 responds. */
export function patchContract(it: Behaviour): void {
  const before = '{"a":"1","b":"2"}';

  /** Returns the data of a ConfigMap after `patch`, or the code of the error. */
  async function patched({ client, namespace }: ContractSubject, patch: Patch): Promise<unknown> {
    await client.create(configMapIn({ client, namespace }, 'a', { data: { a: '1', b: '2' } }));
    try {
      const { data } = await client.patch(ConfigMap, { namespace, name: 'a' }, patch);
      return data === undefined ? 'none' : JSON.stringify(data);
    } catch (error) {
      if (isApiError(error)) return error.status;
      throw error;
    }
  }

  const outcomes: readonly (readonly [string, Patch, unknown])[] = [
    ['a merge patch with null for a member', merge({ data: { a: null } }), '{"b":"2"}'],
    ['a merge patch with null for an absent member', merge({ data: { c: null } }), before],
    ['a merge patch with null for a map', merge({ data: null }), 'none'],
    ['a merge patch with a number for a string', merge({ data: { a: 1 } }), 422],
    ['a merge patch that removes the name', merge({ metadata: { name: null } }), 400],
    ['a merge patch with another name', merge({ metadata: { name: 'b' } }), 400],
    ['a merge patch with another uid', merge({ metadata: { uid: 'x' } }), 422],
    ['a merge patch with another kind', merge({ kind: 'Secret' }), 422],
    ['a merge patch with another apiVersion', merge({ apiVersion: 'v2' }), 422],
    ['a merge patch that removes the kind', merge({ kind: null }), before],
    ['a merge patch that removes the apiVersion', merge({ apiVersion: null }), 400],
    ['a merge patch with a kind that is not a string', merge({ kind: 1 }), 422],
    ['a strategic patch with another kind', strategic({ kind: 'Secret' }), before],
    ['a strategic patch with another apiVersion', strategic({ apiVersion: 'v2' }), before],
    [
      'a JSON patch with another kind',
      json([{ op: 'replace', path: '/kind', value: 'Secret' }]),
      422,
    ],
    ['a merge patch that is a list', merge([]), 400],
    ['a merge patch that changes nothing', merge({}), before],
    ['a strategic patch that is a list', strategic([]), 400],
    ['a strategic patch that replaces the root', strategic({ $patch: 'replace' }), 400],
    [
      'a strategic patch with an unknown directive',
      strategic({ data: { $patch: 'explode' } }),
      500,
    ],
    [
      'a strategic patch that replaces a map',
      strategic({ data: { $patch: 'replace', c: '3' } }),
      '{"c":"3"}',
    ],
    [
      'a JSON patch that replaces an absent member',
      json([{ op: 'replace', path: '/data/c', value: '3' }]),
      '{"a":"1","b":"2","c":"3"}',
    ],
    ['a JSON patch that removes an absent member', json([{ op: 'remove', path: '/data/c' }]), 422],
    [
      'a JSON patch that tests an absent member for null',
      json([{ op: 'test', path: '/data/c', value: null }]),
      before,
    ],
    ['a JSON patch with an unknown operation', json([{ op: 'explode', path: '/data/c' }]), 422],
    ['a JSON patch without a path', json([{ op: 'add', value: '3' }]), 422],
    [
      'a JSON patch that moves a map into itself',
      json([{ op: 'move', from: '/data', path: '/data/c' }]),
      422,
    ],
    ['a JSON patch that is an object', json({ op: 'add' }), 400],
  ];
  for (const [title, patch, outcome] of outcomes) {
    const effect = typeof outcome === 'number' ? 'fails with' : 'results in the data';
    it(`${title} ${effect} ${String(outcome)}`, async (subject) => {
      expect(await patched(subject, patch)).to.equal(outcome);
    });
  }

  const protoPatches: readonly (readonly [string, unknown])[] = [
    ['merge', merge(JSON.parse('{"data":{"__proto__":"x"}}'))],
    ['strategic', strategic(JSON.parse('{"data":{"__proto__":"x"}}') as object)],
    ['JSON', json([{ op: 'add', path: '/data/__proto__', value: 'x' }])],
  ];
  for (const [type, patch] of protoPatches) {
    it(`a ${type} patch treats __proto__ as an ordinary key`, async (subject) => {
      const data = '{"__proto__":"x","a":"1","b":"2"}';
      expect(await patched(subject, patch as Patch)).to.equal(data);
      expect({}).not.to.have.property('x');
    });
  }

  for (const [title, patch, outcome] of [
    ['a merge patch', merge(JSON.parse('{"__proto__":{"polluted":"x"}}')), before],
    [
      'a strategic patch',
      strategic(JSON.parse('{"constructor":{"polluted":"x"}}') as object),
      before,
    ],
    ['a JSON patch', json([{ op: 'add', path: '/__proto__/polluted', value: 'x' }]), 422],
    [
      'a JSON patch',
      json([{ op: 'add', path: '/constructor/prototype/polluted', value: 'x' }]),
      422,
    ],
  ] as const) {
    it(`${title} does not change Object.prototype with ${JSON.stringify(patch)}`, async (subject) => {
      expect(await patched(subject, patch)).to.equal(outcome);
      expect({}).not.to.have.property('polluted');
    });
  }

  strategicContract(it);
}

/** Declares how strategic merge patches treat keyed lists and directives. */
function strategicContract(it: Behaviour): void {
  /** Returns `name=image` of each container, and the volumes and strategy, after `patch`. */
  async function patched({ client, namespace }: ContractSubject, body: object): Promise<unknown> {
    const spec = {
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        { name: 'a', image: 'a1', args: ['x', 'y'], env: [{ name: 'E', value: '1' }] },
        { name: 'b', image: 'b1' },
      ],
    };
    const labels = { app: 'a' };
    await client.create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'a' } },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec },
      },
    });
    try {
      const key = { namespace, name: 'a' };
      const { spec: after } = await client.patch(Deployment, key, strategic(body));
      const { containers: list = [], volumes = [] } = after?.template.spec ?? {};
      const shown = list.map(({ name, image, args = [], env = [] }) =>
        [name, image, ...args, ...env.map((each) => `${each.name}=${each.value ?? ''}`)].join(' '),
      );
      const kinds = volumes.map((volume) => Object.keys(volume).filter((name) => name !== 'name'));
      return [...shown, `${kinds.join()} ${after?.strategy?.type ?? ''} ${after?.replicas ?? ''}`];
    } catch (error) {
      if (isApiError(error)) return error.status;
      throw error;
    }
  }
  const [a, b, rest] = ['a a1 x y E=1', 'b b1', 'emptyDir RollingUpdate 0'];

  const outcomes: readonly (readonly [string, object, unknown])[] = [
    ['adds an entry in front', containers({ name: 'c', image: 'c1' }), ['c c1', a, b, rest]],
    ['changes an entry by its key', containers({ name: 'b', image: 'b2' }), [a, 'b b2', rest]],
    ['accepts an image with a space', containers({ name: 'b', image: ' b2' }), [a, 'b  b2', rest]],
    ['deletes an entry by its key', containers({ name: 'b', $patch: 'delete' }), [a, rest]],
    [
      'replaces a list',
      containers({ $patch: 'replace' }, { name: 'c', image: 'c1' }),
      ['c c1', rest],
    ],
    ['rejects an entry without its key', containers({ image: 'c1' }), 500],
    ['rejects an unknown directive in a list', containers({ name: 'a', $patch: 'explode' }), 500],
    [
      'replaces a list without keys',
      containers({ name: 'a', args: ['z'] }),
      ['a a1 z E=1', b, rest],
    ],
    ['removes a list', containers({ name: 'a', env: null }), ['a a1 x y', b, rest]],
    [
      'restores a default for null',
      { spec: { replicas: null } },
      [a, b, 'emptyDir RollingUpdate 1'],
    ],
    ['rejects null for a required list', podSpec({ containers: null }), 422],
    ['rejects a string for a list', podSpec({ containers: 'x' }), 422],
    ['rejects a list for a map', { spec: { template: [] } }, 422],
    [
      'removes keys missing from $retainKeys',
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      [a, b, 'emptyDir Recreate 0'],
    ],
    ['keeps all keys without $retainKeys', { spec: { strategy: { type: 'Recreate' } } }, 422],
    [
      'rejects $retainKeys that lacks a key of the patch',
      { spec: { strategy: { $retainKeys: [], type: 'Recreate' } } },
      400,
    ],
    [
      'removes the other kinds of a volume by $retainKeys',
      podSpec({
        volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }],
      }),
      [a, b, 'configMap RollingUpdate 0'],
    ],
    [
      'orders a list by $setElementOrder',
      podSpec({ '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] }),
      [b, a, rest],
    ],
    [
      'rejects an order that lacks an entry of the patch',
      podSpec({
        '$setElementOrder/containers': [{ name: 'a' }],
        containers: [{ name: 'b', image: 'b2' }],
      }),
      500,
    ],
  ];
  for (const [title, patch, outcome] of outcomes) {
    it(`a strategic patch ${title}`, async (subject) => {
      expect(await patched(subject, patch)).to.deep.equal(outcome);
    });
  }
}
