import { expect } from 'chai';
import { Cache } from '../../lib/cache/cache.js';
import { cachedClient } from '../../lib/cache/cached-client.js';
import type { CachingClient, Client, GetOptions, ListOptions } from '../../lib/client/client.js';
import { dryRun, fenced } from '../../lib/client/index.js';
import { isNotFound } from '../../lib/object/api-error.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { OperatorError } from '../../lib/system/operator-error.js';
import { embeddedClient } from '../client/embedded-client.js';
import { failureOf } from '../client/scripted-transport.js';
import { Setup, a, failure } from './cached-client-setup.js';
import { Thing } from './fake-server.js';

describe('cachedClient', () => {
  it('keeps the last-applied annotation in an update even if only the response to an earlier write contained it', async () => {
    const setup = new Setup();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    setup.server.put('a');
    await setup.sync();
    setup.server.paused = true;
    await setup.client.update({
      ...setup.server.put('a', { metadata: { annotations } }),
      spec: { size: 1 },
    });
    const seen = await setup.client.get(Thing, a);
    expect([seen.metadata.annotations, seen.spec]).to.deep.equal([{}, { size: 1 }]);
    await setup.client.update({ ...seen, spec: { size: 2 } });
    const [live] = setup.server.objects();
    expect([live?.metadata.annotations, live?.spec]).to.deep.equal([annotations, { size: 2 }]);
    await setup.cache.stop();
  });

  it('sends no extra request to keep the last-applied annotation in a status update, which cannot remove it', async () => {
    const setup = new Setup();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    setup.server.put('a', { metadata: { annotations } });
    await setup.sync();
    await setup.client.update(await setup.client.get(Thing, a));
    expect(setup.verbs()).to.deep.equal(['get']);
    await setup.client.update(await setup.client.get(Thing, a), { subresource: 'status' });
    expect(setup.verbs()).to.deep.equal(['get']);
    await setup.cache.stop();
  });

  describe('reads', () => {
    it("get and list from the cache without an API call, in the server's order", async () => {
      const setup = new Setup();
      for (const name of ['b', 'a', 'c']) setup.server.put(name);
      setup.server.put('z', {}, 'a-ns');
      await setup.sync();
      expect((await setup.client.get(Thing, a)).metadata.uid).to.equal('uid-2');
      expect(await setup.names()).to.deep.equal(['z', 'a', 'b', 'c']);
      expect(await setup.names({ namespace: 'ns' })).to.deep.equal(['a', 'b', 'c']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('throw the same 404 error as the server for a missing object', async () => {
      const setup = new Setup();
      await setup.sync();
      const error = await failure(setup.client.get(Thing, a));
      expect(isNotFound(error)).to.equal(true);
      expect(error).to.have.property(
        'message',
        'get Thing ns/a: 404 NotFound: things.example.com "a" not found',
      );
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('select objects by labels, name and controller from the cache', async () => {
      const setup = new Setup();
      const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'o', controller: true };
      setup.server.put('a', { metadata: { labels: { app: 'web' } } });
      setup.server.put('b', { metadata: { labels: { app: 'db' }, ownerReferences: [owner] } });
      setup.server.put('b', { metadata: { ownerReferences: [owner] } }, 'other');
      await setup.sync();
      expect(await setup.names({ labelSelector: 'app in (web)' })).to.deep.equal(['a']);
      const matchLabels = { app: 'db' };
      expect(await setup.names({ labelSelector: { matchLabels } })).to.deep.equal(['b']);
      const missing = await failureOf(setup.names({ labelSelector: null as never }));
      expect(missing).to.have.property('code', 'InvalidSelector');
      expect(await setup.names({ fieldSelector: 'metadata.name=b' })).to.deep.equal(['b', 'b']);
      expect(await setup.names({ controllerUid: 'o' })).to.deep.equal(['b', 'b']);
      expect(await setup.names({ controllerUid: 'o', namespace: 'ns' })).to.deep.equal(['b']);
      expect(await setup.names({ controllerUid: 'none' })).to.deep.equal([]);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('refuse an unknown option, which the cache would ignore', async () => {
      const setup = new Setup();
      setup.server.put('a', { metadata: { labels: { app: 'web' } } });
      await setup.sync();
      const { client } = setup;
      const mistyped = { labelselector: 'app=db' } as ListOptions;
      const pages = client.pages(Thing, mistyped);
      const refused: readonly (readonly [string, unknown])[] = [
        ['list', await failure(client.list(Thing, mistyped))],
        ['list', await failure(pages[Symbol.asyncIterator]().next())],
        ['get', await failure(client.get(Thing, a, { metadataonly: true } as GetOptions))],
      ];
      for (const [verb, error] of refused) {
        expect(error).to.have.property('code', 'InvalidOption');
        expect(error)
          .to.have.property('message')
          .that.match(new RegExp(`^client.${verb}: unknown`));
      }
      const none = await failure(client.list(Thing, null as never));
      expect(none).to.have.property('code', 'InvalidOption');
      await setup.cache.stop();
    });

    it('are sent to the server when the cache cannot answer them', async () => {
      const setup = new Setup({ namespaces: ['ns'] });
      setup.server.put('a');
      const call = async (read: () => Promise<unknown>): Promise<number> => {
        setup.server.requests.length = 0;
        await failure(read());
        return setup.server.requests.length;
      };
      const { client } = setup;
      const get = (): Promise<unknown> => client.get(Thing, a);
      expect(await call(get), 'no informer').to.equal(1);
      await setup.sync();
      expect(await call(get)).to.equal(0);
      expect(await call(() => client.get(Thing, a, { resourceVersion: '0' }))).to.equal(0);
      expect(await call(() => client.get(Thing, a, { resourceVersion: '7' }))).to.equal(1);
      expect(await call(() => client.get(Thing, a, { subresource: 'status' }))).to.equal(1);
      expect(await call(() => client.get(Thing, { ...a, namespace: 'other' }))).to.equal(1);
      await setup.cache.stop();
    });

    it('get an object outside the cached selectors from the server', async () => {
      const setup = new Setup({ labelSelector: 'app=web' });
      setup.server.put('a');
      await setup.sync();
      expect((await setup.client.get(Thing, a)).metadata.name).to.equal('a');
      expect(setup.verbs()).to.deep.equal(['get']);
      await setup.cache.stop();
    });

    it('return only metadata if asked to, even if whole objects are cached', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      const thing = await setup.client.get(Thing, a, { metadataOnly: true });
      expect(Object.keys(thing)).to.deep.equal(['apiVersion', 'kind', 'metadata']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('are answered with metadata from a cache of metadata, and with whole objects from the server', async () => {
      const setup = new Setup({ indexers: { size: ({ spec }) => [String(spec?.size)] } });
      setup.server.put('a', { spec: { size: 1 } });
      setup.cache.informer(Thing, { metadataOnly: true });
      setup.cache.start();
      await setup.clock.advance(0);
      setup.server.requests.length = 0;
      const metadataOnly = true;
      expect((await setup.client.get(Thing, a, { metadataOnly })).metadata.name).to.equal('a');
      expect(await setup.names({ metadataOnly })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      expect((await setup.client.get(Thing, a)).spec).to.deep.equal({ size: 1 });
      expect(await setup.names()).to.deep.equal(['a']);
      expect(await setup.names({ metadataOnly, index: { size: '1' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal(['get', 'list', 'list']);
      await setup.cache.stop();
    });

    it('return pages of a list from the cache', async () => {
      const setup = new Setup();
      setup.server.put('a');
      await setup.sync();
      const sizes: number[] = [];
      for await (const { items } of setup.client.pages(Thing)) sizes.push(items.length);
      expect(sizes).to.deep.equal([1]);
      await setup.cache.stop();
    });
  });

  describe('a list by index', () => {
    const thing = { apiVersion: 'example.com/v1', kind: 'Thing' };
    const byColor = ({ spec }: Thing): (string | undefined)[] => [spec?.color];

    it('makes no API call, and includes writes that the watch has not shown yet', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      setup.server.put('b', { spec: { color: 'blue' } });
      setup.cache.index(Thing, 'color', byColor);
      await setup.sync();
      setup.server.paused = true;
      const red = { index: { color: 'red' } };
      expect(await setup.names(red)).to.deep.equal(['a']);
      const metadata = { namespace: 'ns', name: 'c' };
      await setup.client.create<Thing>({ ...thing, metadata, spec: { color: 'red' } });
      const b = await setup.client.get(Thing, { namespace: 'ns', name: 'b' });
      await setup.client.update<Thing>({ ...b, spec: { color: 'red' } });
      expect(await setup.names(red)).to.deep.equal(['a', 'b', 'c']);
      await setup.client.update<Thing>({ ...(await setup.client.get(Thing, a)), spec: {} });
      await setup.client.delete(Thing, metadata);
      expect(await setup.names(red)).to.deep.equal(['b']);
      expect(await setup.names({ index: { color: 'blue' } })).to.deep.equal([]);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('selects by several indexes at once, combined with namespace, labels and controller', async () => {
      const indexers = { size: ({ spec }: Thing) => [String(spec?.size)] };
      const setup = new Setup({ indexers });
      const controller = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'o', controller: true };
      const metadata = { labels: { app: 'web' }, ownerReferences: [controller] };
      setup.server.put('a', { metadata, spec: { size: 1, color: 'red' } });
      setup.server.put('b', { spec: { size: 1, color: 'red' } });
      setup.server.put('c', { spec: { size: 2, color: 'red' } });
      setup.server.put('a', { spec: { size: 1, color: 'red' } }, 'other');
      setup.cache.index(Thing, 'color', byColor);
      await setup.sync();
      const index = { color: 'red', size: '1' };
      expect(await setup.names({ index, namespace: 'ns' })).to.deep.equal(['a', 'b']);
      expect(await setup.names({ index, labelSelector: 'app=web' })).to.deep.equal(['a']);
      expect(await setup.names({ index, controllerUid: 'o' })).to.deep.equal(['a']);
      expect(await setup.names({ index: { ...index, namespace: 'other' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      await setup.cache.stop();
    });

    it('uses an index that is declared after the start', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      await setup.sync();
      setup.cache.index(Thing, 'color', byColor);
      setup.cache.index(Thing, 'color', byColor);
      expect(await setup.names({ index: { color: 'red' } })).to.deep.equal(['a']);
      expect(setup.verbs()).to.deep.equal([]);
      const other = (): void => setup.cache.index(Thing, 'color', () => []);
      expect(other).to.throw('another index color').with.property('code', 'InvalidOption');
      await setup.cache.stop();
    });

    it('rejects the declaration of a second index of the same name, which does not start to cache the kind', async () => {
      const setup = new Setup({ indexers: { color: byColor } });
      const other = (): void => setup.cache.index(Thing, 'color', () => []);
      expect(other).to.throw('another index color').with.property('code', 'InvalidOption');
      expect(setup.cache.peek(Thing)).to.equal(undefined);
      await setup.cache.stop();
    });

    it('reads from the server, with the same result, when the cache cannot answer', async () => {
      const setup = new Setup({ namespaces: ['ns'], indexers: { color: byColor } });
      setup.server.put('a', { spec: { color: 'red' } }, 'other');
      setup.server.put('b', { spec: { color: 'blue' } }, 'other');
      const red = { namespace: 'other', index: { color: 'red' } };
      expect(await setup.names(red), 'no informer').to.deep.equal(['a']);
      await setup.sync();
      expect(await setup.names(red)).to.deep.equal(['a']);
      const { items } = await setup.client.list(Thing, { ...red, metadataOnly: true });
      expect(items.map((item) => Object.keys(item))).to.deep.equal([
        ['apiVersion', 'kind', 'metadata'],
      ]);
      for await (const page of setup.client.pages(Thing, red)) {
        expect(page.items.map(({ metadata }) => metadata.name)).to.deep.equal(['a']);
      }
      expect(setup.verbs()).to.deep.equal(['list', 'list', 'list']);
      await setup.cache.stop();
    });

    it('rejects an unknown index with the names of the known indexes, and a value that is not a string', async () => {
      const setup = new Setup({ indexers: { color: byColor } });
      await setup.sync();
      const unknown = await failure(setup.client.list(Thing, { index: { colour: 'red' } }));
      expect(unknown).to.have.property('code', 'InvalidOption');
      expect(unknown).to.have.property(
        'message',
        'list Thing: no index colour; the known ones are namespace, controllerUid, keptOwnerUid, color',
      );
      const index = { color: undefined as unknown as string };
      expect(await failure(setup.client.list(Thing, { index })))
        .to.have.property('message')
        .that.equals('list Thing: index color: want a string, got undefined');
      await setup.cache.stop();
    });

    it('rejects while a quarantined object may belong to the list', async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { color: 'red' } });
      setup.cache.index(Thing, 'color', ({ spec }) => {
        if (spec?.size === 0) throw new Error('no size');
        return [spec?.color];
      });
      await setup.sync();
      setup.server.put('a', { spec: { color: 'red', size: 0 } });
      await setup.clock.advance(0);
      const refused = await failure(setup.client.list(Thing, { index: { color: 'red' } }));
      expect(refused).to.have.property('code', 'Quarantined');
      await setup.cache.stop();
    });
  });

  it('refuses invalid calls like the client that it wraps', async () => {
    const { client } = embeddedClient();
    const cached = cachedClient(client, new Cache({ client }));
    const none = undefined as never;
    const calls: ((client: Client) => Promise<unknown>)[] = [
      (c) => c.get(none, a),
      (c) => c.get(null as never, a),
      (c) => c.list(none),
      (c) => c.list(null as never),
      (c) => c.delete(null as never, a),
      (c) => c.create(none),
      (c) => c.update({ apiVersion: 'v1', kind: 'Node' } as never),
      (c) => c.update({ apiVersion: 'v1', kind: 'Scale', metadata: a }, { subresource: 'scale' }),
      (c) => c.apply(null as never, { fieldManager: 'me' }),
      (c) => c.patch(ConfigMap, a, none),
      (c) => c.patch(ConfigMap, a, { type: 'merge' } as never),
      (c) => c.patch(ConfigMap, none, { type: 'merge', body: {} }),
      (c) => c.delete(ConfigMap, none),
    ];
    for (const call of calls) {
      const refusals = [client, cached].map((each) => failure(call(each)));
      const [expected, got] = (await Promise.all(refusals)) as [OperatorError, OperatorError];
      expect(expected.code).to.match(/^Invalid/);
      expect([got.code, got.message]).to.deep.equal([expected.code, expected.message]);
    }
  });

  const wrappers: readonly (readonly [string, (client: Client) => Client])[] = [
    ['fenced', (client) => fenced(client, { check: () => undefined })],
    ['dryRun', (client) => dryRun(client)],
  ];
  for (const [name, wrap] of wrappers) {
    it(`can be the argument of ${name}, which also wraps the live client of the cached client`, async () => {
      const setup = new Setup();
      setup.server.put('a', { spec: { size: 1 } });
      await setup.sync();
      setup.server.paused = true;
      setup.server.put('a', { spec: { size: 2 } });
      const client: CachingClient = wrap(setup.client);
      const sizes = [client, client.live].map(
        async (one) => (await one?.get(Thing, a))?.spec?.size,
      );
      expect(await Promise.all(sizes)).to.deep.equal([1, 2]);
      await setup.cache.stop();
    });
  }
});
