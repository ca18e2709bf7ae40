import { expect } from 'chai';
import { Api, configMap, configMaps, merge } from '../api.js';
import type { Watch } from '../api.js';

async function change(api: Api, name: string, labels: object | null): Promise<void> {
  await api.call('PATCH', `${configMaps}/${name}`, { metadata: { labels } }, merge);
}

describe('watches', () => {
  const open: Watch[] = [];
  const followed = async (api: Api, query: string): Promise<Watch> => {
    const watch = await api.watch(`${configMaps}?watch=1${query}`);
    open.push(watch);
    return watch;
  };
  afterEach(async () => {
    for (const watch of open.splice(0)) await watch.stop();
  });

  it('start with existing objects without a resourceVersion', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const watch = await followed(api, '');
    await api.create(configMaps, configMap('b'));
    expect(await watch.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
  });

  it('continue from a resourceVersion', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const version = api.server.resourceVersion;
    await change(api, 'a', { x: 'y' });
    await api.call('DELETE', `${configMaps}/a`);
    const watch = await followed(api, `&resourceVersion=${version}`);
    expect(await watch.names(2)).to.deep.equal(['MODIFIED a', 'DELETED a']);
  });

  it('send ADDED and DELETED for objects that enter and leave the selection', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const watch = await followed(
      api,
      `&labelSelector=x&resourceVersion=${api.server.resourceVersion}`,
    );
    await change(api, 'a', { x: '1' });
    await change(api, 'a', { x: '2' });
    await change(api, 'a', { x: null });
    await change(api, 'a', { z: '1' });
    await change(api, 'a', { x: '3' });
    expect(await watch.names(4)).to.deep.equal(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a']);
  });

  it('send the last matching state of an object that leaves the selection, with the version of the change', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a', {}, { labels: { x: '1' } }));
    const watch = await followed(
      api,
      `&labelSelector=x&resourceVersion=${api.server.resourceVersion}`,
    );
    await change(api, 'a', null);
    const event = await watch.next();
    expect(event?.object.metadata).to.deep.include({
      labels: { x: '1' },
      resourceVersion: api.server.resourceVersion,
    });
  });

  it('cover one namespace, one object or everything', async () => {
    const api = new Api();
    const other = '/api/v1/namespaces/kube-system/configmaps';
    const one = await api.watch(`${configMaps}?watch=1&fieldSelector=metadata.name%3Db`);
    const all = await api.watch('/api/v1/configmaps?watch=1');
    open.push(one, all);
    for (const name of ['a', 'b']) {
      await api.create(configMaps, configMap(name));
      await api.create(other, configMap(name));
    }
    expect(await one.names(1)).to.deep.equal(['ADDED b']);
    expect(await all.names(4))
      .to.have.length(4)
      .and.not.include('end');
  });

  it('stream the existing objects, mark their end with a bookmark, and continue with changes', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const query =
      '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const watch = await followed(api, query);
    const version = api.server.resourceVersion;
    await api.create(configMaps, configMap('b'));
    expect(await watch.names(1)).to.deep.equal(['ADDED a']);
    expect((await watch.next())?.object.metadata).to.deep.equal({
      resourceVersion: version,
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    expect(await watch.names(1)).to.deep.equal(['ADDED b']);
  });

  it('start with the next change if sendInitialEvents is false', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const watch = await followed(api, '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    await api.create(configMaps, configMap('b'));
    expect(await watch.names(1)).to.deep.equal(['ADDED b']);
  });

  it('refuse a resourceVersionMatch without sendInitialEvents', async () => {
    const causesOf = async (match: string): Promise<unknown> => {
      const { body } = await new Api().get(`${configMaps}?watch=1&resourceVersionMatch=${match}`);
      return body['details'];
    };
    const field = 'resourceVersionMatch';
    const why = `${field} is forbidden for watch unless sendInitialEvents is provided`;
    const forbidden = { reason: 'FieldValueForbidden', message: `Forbidden: ${why}`, field };
    const details = { group: 'meta.k8s.io', kind: 'ListOptions' };
    expect(await causesOf('NotOlderThan')).to.deep.equal({ ...details, causes: [forbidden] });
    const message = 'Unsupported value: "Exact": supported values: "NotOlderThan"';
    expect(await causesOf('Exact')).to.deep.equal({
      ...details,
      causes: [forbidden, { reason: 'FieldValueNotSupported', message, field }],
    });
  });

  it('send a bookmark after the existing objects if the request has no resourceVersion', async () => {
    const watch = await followed(new Api(), '&allowWatchBookmarks=true');
    expect((await watch.next())?.object.metadata.annotations).to.deep.equal({
      'k8s.io/initial-events-end': 'true',
    });
  });

  it('end without a bookmark if timeoutSeconds is at most 2', async () => {
    const api = new Api();
    const watch = await followed(
      api,
      '&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=2',
    );
    const next = watch.next();
    await api.clock.advance(2000);
    expect(await next).to.equal(undefined);
  });

  it('are also served at paths that begin with /watch, for a collection or one object', async () => {
    const api = new Api();
    for (const name of ['a', 'b']) await api.create(configMaps, configMap(name));
    const old = configMaps.replace('/api/v1', '/api/v1/watch');
    const [all, one] = [await api.watch(old), await api.watch(`${old}/b`)];
    open.push(all, one);
    expect(await all.names(2)).to.deep.equal(['ADDED a', 'ADDED b']);
    expect(await one.names(1)).to.deep.equal(['ADDED b']);
  });

  it('are not started by ?watch=true at the path of one object, which returns the object', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    expect((await api.get(`${configMaps}/a?watch=true`)).body.kind).to.equal('ConfigMap');
  });

  it('send a bookmark each minute with the current resourceVersion', async () => {
    const api = new Api();
    const watch = await followed(api, '&allowWatchBookmarks=true&resourceVersion=5');
    await api.create('/api/v1/namespaces', { metadata: { name: 'x' } });
    const next = watch.next();
    await api.clock.advance(60_000);
    expect(await next).to.deep.equal({
      type: 'BOOKMARK',
      object: {
        ...{ kind: 'ConfigMap', apiVersion: 'v1' },
        metadata: { resourceVersion: api.server.resourceVersion },
      },
    });
    const later = watch.next();
    await api.clock.advance(59_999);
    await api.create(configMaps, configMap('b'));
    expect((await later)?.type).to.equal('ADDED');
    const last = watch.next();
    await api.clock.advance(1);
    expect((await last)?.object.metadata).to.deep.equal({
      resourceVersion: api.server.resourceVersion,
    });
  });

  it('end with a bookmark if timeoutSeconds is more than 2', async () => {
    const api = new Api();
    const query = '&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=3';
    const watch = await followed(api, query);
    const names = watch.names(2);
    await api.clock.advance(3_000);
    expect(await names).to.deep.equal(['BOOKMARK', 'end']);
  });

  for (const seconds of ['', '&timeoutSeconds=0']) {
    it(`end after 30 to 60 minutes with the query ${JSON.stringify(seconds)}`, async () => {
      const api = new Api();
      const watch = await followed(api, seconds);
      const next = watch.next();
      await api.clock.advance(1_800_000);
      expect(api.server.openWatches).to.equal(1);
      await api.clock.advance(1_800_000);
      expect([await next, api.server.openWatches]).to.deep.equal([undefined, 0]);
    });
  }

  it('send many existing objects in several chunks of at least 64 KiB', async () => {
    const api = new Api();
    const names = Array.from({ length: 5 }, (_, index) => `c${index}`);
    for (const name of names)
      await api.create(configMaps, configMap(name, { k: 'x'.repeat(40_000) }));
    const parts = async (accept: string): Promise<readonly number[]> => {
      const headers = { accept };
      const request = { method: 'GET', path: `${configMaps}?watch=1`, headers } as const;
      const { body } = await api.server.transport().request({ ...request, streaming: true });
      const sizes: number[] = [];
      for await (const part of body) if (sizes.push(part.length) === 3) break;
      return sizes.map((size) => Math.floor(size / 40_000));
    };
    expect(await parts('application/json')).to.deep.equal([2, 2, 1]);
    expect(await parts('application/vnd.kubernetes.protobuf;stream=watch')).to.deep.equal([
      2, 2, 1,
    ]);
  });

  it('send the bookmarks of all watches with a single timer', async () => {
    const api = new Api();
    const query = '&allowWatchBookmarks=true&resourceVersion=5';
    const first = (await followed(api, query)).next();
    await api.clock.advance(7_000);
    const second = (await followed(api, query)).next();
    await api.clock.advance(0);
    expect(api.clock.pendingTimers).to.equal(1);
    await api.clock.advance(53_000);
    const events = await Promise.all([first, second]);
    expect(events.map((event) => event?.type)).to.deep.equal(['BOOKMARK', 'BOOKMARK']);
  });

  it('end after timeoutSeconds', async () => {
    const api = new Api();
    const watch = await followed(api, '&timeoutSeconds=10');
    const next = watch.next();
    await api.clock.advance(10_000);
    expect(await next).to.equal(undefined);
    expect(api.clock.pendingTimers).to.equal(0);
    expect(api.server.openWatches).to.equal(0);
  });

  it('send an ERROR event with 410 for a version that is too old', async () => {
    const api = new Api();
    const version = api.server.resourceVersion;
    await api.create(configMaps, configMap('a'));
    api.server.compact();
    const watch = await followed(api, `&resourceVersion=${version}`);
    expect(await watch.next()).to.deep.equal({
      type: 'ERROR',
      object: {
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
        message: `too old resource version: ${version} (${api.server.resourceVersion})`,
        ...{ reason: 'Expired', code: 410 },
      },
    });
    expect(await watch.next()).to.equal(undefined);
    // The current version needs no change of the log.
    const current = await followed(api, `&resourceVersion=${api.server.resourceVersion}`);
    await api.create(configMaps, configMap('b'));
    expect(await current.names(1)).to.deep.equal(['ADDED b']);
  });

  it('end if their client is too slow for the log of changes, and buffer no events for it', async () => {
    const api = new Api({ logLength: 5 });
    const watch = await followed(api, `&resourceVersion=${api.server.resourceVersion}`);
    for (let index = 0; index < 10; index++) await api.create(configMaps, configMap(`c${index}`));
    expect(await watch.next()).to.containSubset({ type: 'ERROR', object: { code: 410 } });
    expect(await watch.next()).to.equal(undefined);
  });

  it('end when the client aborts the request, and when a fault closes them', async () => {
    const api = new Api();
    const abort = new AbortController();
    const aborted = await api.watch(`${configMaps}?watch=1`, abort.signal);
    const dropped = await followed(api, '');
    const [first, second] = [aborted.next(), dropped.next()];
    abort.abort();
    api.server.dropWatches();
    const code = await first.then(
      () => 'none',
      (error: unknown) => (error as { code: string }).code,
    );
    expect([code, await second]).to.deep.equal(['Aborted', undefined]);
    expect(await aborted.next()).to.equal(undefined);
    expect([api.clock.pendingTimers, api.server.openWatches]).to.deep.equal([0, 0]);
  });

  it('start no timer for bookmarks while their client does not read', async () => {
    const api = new Api();
    await followed(api, '&allowWatchBookmarks=true');
    expect(api.clock.pendingTimers).to.equal(0);
  });
});
