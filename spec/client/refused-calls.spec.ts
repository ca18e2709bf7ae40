import { expect } from 'chai';
import {
  addFinalizer,
  createOrPatch,
  createOrUpdate,
  removeFinalizer,
  retryOnConflict,
  waitFor,
} from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, Pod } from '../../lib/object/kinds.js';
import type { LabelSelector } from '../../lib/object/label-selector.js';
import { configMapNamed, embeddedClient } from './embedded-client.js';
import { failureOf } from './scripted-transport.js';

const key = { namespace: 'default', name: 'web' };
const misspelt = { fieldManger: 'web' } as object;
const same = <T>(object: T): T => object;
const merge = { type: 'merge', body: {} } as const;

async function first(all: AsyncIterable<unknown>): Promise<unknown> {
  for await (const each of all) return each;
  return undefined;
}

describe('Calls of a client', () => {
  const calls: readonly [verb: string, call: (client: Client) => Promise<unknown>][] = [
    ['get', (client) => client.get(ConfigMap, key, misspelt)],
    ['list', (client) => client.list(ConfigMap, misspelt)],
    ['pages', (client) => first(client.pages(ConfigMap, misspelt))],
    ['watch', (client) => first(client.watch(ConfigMap, misspelt))],
    ['stream', (client) => first(client.stream(Pod, key, { subresource: 'log', ...misspelt }))],
    ['create', (client) => client.create(configMapNamed('web'), misspelt)],
    ['update', (client) => client.update(configMapNamed('web'), misspelt)],
    ['patch', (client) => client.patch(ConfigMap, key, merge, misspelt)],
    ['apply', (client) => client.apply(configMapNamed('web'), misspelt)],
    ['delete', (client) => client.delete(ConfigMap, key, misspelt)],
    ['deleteCollection', (client) => client.deleteCollection(ConfigMap, misspelt)],
  ];
  for (const [verb, call] of calls) {
    it(`refuse an unknown option before any request: ${verb}`, async () => {
      const { client, server } = embeddedClient();
      const mark = server.requests.mark();
      const error = await failureOf(call(client));
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error.message).to.match(new RegExp(`^client.${verb}: unknown option "fieldManger"`));
      expect(server.requests.since(mark).entries).to.deep.equal([]);
    });
  }

  it('are refused if they get a string instead of a key, with an example of a key', async () => {
    const { client } = embeddedClient();
    const error = await failureOf(client.get(ConfigMap, 'web' as never));
    expect(error.message).to.include(
      'name: want a string, got undefined; a key is an object: { name, namespace }',
    );
  });

  // If the client accepted this selector, `deleteCollection` would delete every object.
  const labelSelector = { app: 'web' } as LabelSelector;
  for (const [verb, call] of [
    ['list', (client) => client.list(ConfigMap, { labelSelector })],
    ['pages', (client) => first(client.pages(ConfigMap, { labelSelector }))],
    ['watch', (client) => first(client.watch(ConfigMap, { labelSelector }))],
    ['deleteCollection', (client) => client.deleteCollection(ConfigMap, { labelSelector })],
  ] as readonly (readonly [string, (client: Client) => Promise<unknown>])[]) {
    it(`refuse labels in place of a selector before any request: ${verb}`, async () => {
      const { client, server } = embeddedClient();
      const mark = server.requests.mark();
      const error = await failureOf(call(client));
      expect(error).to.have.property('code', 'InvalidSelector');
      expect(error.message).to.match(/^label selector {"app":"web"}: unknown field app; put/);
      expect(server.requests.since(mark).entries).to.deep.equal([]);
    });
  }

  const web = configMapNamed('web');
  const functions: readonly [name: string, call: (client: Client) => Promise<unknown>][] = [
    ['waitFor', (client) => waitFor(client, web, { until: () => true, ...misspelt })],
    ['createOrUpdate', (client) => createOrUpdate(client, web, { mutate: same, ...misspelt })],
    ['createOrPatch', (client) => createOrPatch(client, web, { mutate: same, ...misspelt })],
    ['addFinalizer', (client) => addFinalizer(client, web, { finalizer: 'a/b', ...misspelt })],
    ['removeFinalizer', (client) => removeFinalizer(client, web, { finalizer: 'a', ...misspelt })],
    ['retryOnConflict', (client) => retryOnConflict(() => client.get(ConfigMap, key), misspelt)],
  ];
  for (const [name, call] of functions) {
    it(`refuse an unknown option before any request, through ${name}`, async () => {
      const { client, server } = embeddedClient();
      const mark = server.requests.mark();
      const error = await failureOf((async () => call(client))());
      expect(error).to.have.property('code', 'InvalidOption');
      expect(error.message).to.match(new RegExp(`^${name}: unknown option "fieldManger"`));
      expect(server.requests.since(mark).entries).to.deep.equal([]);
    });
  }

  const objects: readonly [string, object | null, RegExp][] = [
    [
      'without a kind',
      { apiVersion: 'v1', metadata: {} },
      /: want an object with apiVersion and kind/,
    ],
    [
      'without an apiVersion',
      { kind: 'ConfigMap', metadata: {} },
      /: want an object with apiVersion/,
    ],
    [
      'without metadata',
      { apiVersion: 'v1', kind: 'ConfigMap' },
      / ConfigMap: metadata: want an object/,
    ],
    ['that is null', null, /: want an object with apiVersion and kind, got null/],
  ];
  for (const [title, object, message] of objects) {
    it(`refuse an object ${title}`, async () => {
      const { client } = embeddedClient();
      for (const verb of ['create', 'update', 'apply'] as const) {
        const options = { fieldManager: 'web' };
        const error = await failureOf((async () => client[verb](object as never, options))());
        expect(error).to.have.property('code', 'InvalidObject');
        expect(error.message)
          .to.match(new RegExp(`^${verb}`))
          .and.to.match(message);
      }
    });
  }

  it('fail with the name of the object if its data cannot be JSON, or if it lacks a namespace', async () => {
    const { client } = embeddedClient();
    const counts = { ...web, data: { replicas: NaN } } as object as typeof web;
    for (const verb of ['create', 'update', 'apply'] as const) {
      const error = await failureOf(client[verb](counts, { fieldManager: 'web' }));
      expect(error.message).to.match(
        new RegExp(`^${verb} ConfigMap default/web: data\\.replicas has no JSON form`),
      );
    }
    const nowhere = { ...web, metadata: { name: 'web' } };
    const error = await failureOf(client.create(nowhere));
    expect(error.message).to.match(/^create ConfigMap web: metadata\.namespace is missing/);
  });

  for (const [patch, got] of [
    [undefined, 'none'],
    [null, 'none'],
    [{ body: {} }, 'none'],
    [{ type: 'smart', body: {} }, 'smart'],
  ] as const) {
    it(`refuse ${patch === undefined ? 'undefined' : JSON.stringify(patch)} as a patch before any request`, async () => {
      const { client, server } = embeddedClient();
      const mark = server.requests.mark();
      const error = await failureOf((async () => client.patch(ConfigMap, key, patch as never))());
      expect(error).to.have.property('code', 'InvalidPatch');
      expect(error.message).to.equal(`patch: type: want one of json, merge, strategic, got ${got}`);
      expect(server.requests.since(mark).entries).to.deep.equal([]);
    });
  }
});
