import { TargetWriter } from '../../../lib/declarative/runtime/target-writer.js';
import { expect } from 'chai';
import { EmbeddedApiServer } from '../../../lib/apiserver/internal.js';
import { Cache } from '../../../lib/cache/cache.js';
import { createClient } from '../../../lib/client/http-client.js';
import type { Document } from '../../../lib/declarative/document.js';
import type { WriteContext } from '../../../lib/declarative/runtime/target-writer.js';
import { ViewKinds } from '../../../lib/declarative/views/view-kinds.js';
import { Views } from '../../../lib/declarative/views/views.js';
import { LazyList, holdList } from '../../../lib/object/known-list.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const key = { namespace: 'any', name: 'web' };
const metadata = key;

describe('An Updater of views', () => {
  let clock: VirtualClock;
  let views: Views;
  let type: ResourceType;
  let stored: TargetWriter;
  let applied: TargetWriter;
  let context: WriteContext;

  beforeEach(async () => {
    clock = new VirtualClock();
    views = await Views.start({ clock });
    type = await views.ensure('shop', 'Health');
    const options = { type, how: 'Updater', fieldManager: 'shop/health' } as const;
    stored = new TargetWriter({ ...options, views });
    applied = new TargetWriter(options);
    context = { client: views.client, signal: new AbortController().signal };
  });
  afterEach(() => views.stop());

  const requests = (): number => views.server.requests.entries.length;
  const steps: readonly Document[] = [
    { metadata, spec: { a: 1, map: { b: null, c: 'x' } }, list: [1, { d: 2 }] },
    { metadata: { ...metadata, labels: { l: 'v' } }, spec: { a: 1, map: { c: 'y' } }, status: {} },
    {
      metadata: { ...metadata, labels: { l: 'w' } },
      spec: { a: 1, map: { c: 'y' } },
      status: 'ok',
    },
    {
      metadata: { ...metadata, labels: { l: 'w' } },
      spec: { a: 1, map: { c: 'y' } },
      status: 'no',
    },
    { metadata: { ...metadata, annotations: { n: '' } }, spec: { a: 1, map: {} }, empty: [] },
    { metadata, spec: { a: [1], map: { deep: { er: true } } }, 'an:odd': 'name' },
    { metadata: { ...metadata, finalizers: ['a.b/c'] }, spec: {} },
    { metadata },
    { metadata, n: 1.5 },
  ];

  it('gives the same result as a server-side apply, including managedFields', async () => {
    const others = await Views.start({ clock });
    try {
      await others.ensure('shop', 'Health');
      for (const document of steps) {
        await clock.advance(1_000);
        const outcome = await stored.write(key, document, context);
        const before = await others.client.get(type, key).catch(() => undefined);
        const theirs = await applied.write(key, document, { ...context, client: others.client });
        expect(outcome).to.equal(theirs);
        const wanted = await others.client.get(type, key);
        expect(comparable(await views.client.get(type, key))).to.deep.equal(comparable(wanted));
        expect(await stored.write(key, document, context)).to.equal('unchanged');
        expect(before?.metadata.uid ?? wanted.metadata.uid).to.equal(wanted.metadata.uid);
      }
    } finally {
      await others.stop();
    }
  });

  it('increments the generation for changes outside of metadata and status', async () => {
    const labels = { l: 'v' };
    const documents = [
      { n: 1 },
      { n: 1, status: 'ok' },
      { n: 1, metadata: { ...metadata, labels } },
    ];
    const generations: unknown[] = [];
    for (const document of [...documents, { n: 2 }, { n: 2, m: 1 }]) {
      await stored.write(key, { metadata, ...document }, context);
      generations.push((await views.client.get(type, key)).metadata.generation);
    }
    expect(generations).to.deep.equal([1, 1, 1, 2, 3]);
  });

  it('sends no request unless another client writes the view', async () => {
    const before = requests();
    await stored.write(key, { metadata, n: 1 }, context);
    await stored.write(key, { metadata, n: 2 }, context);
    expect(requests()).to.equal(before);
    expect(await views.client.get(type, key)).to.include({ n: 2 });
  });

  it('keeps labels of other clients, and reverts their other changes', async () => {
    await stored.write(key, { metadata, n: 1 }, context);
    const body = { metadata: { labels: { by: 'hand' } }, n: 3, more: true };
    await views.client.patch(type, key, { type: 'merge', body }, { fieldManager: 'hand' });
    expect(await stored.write(key, { metadata, n: 2 }, context)).to.equal('configured');
    const live = await views.client.get(type, key);
    expect(live).to.include({ n: 2 }).and.not.have.property('more');
    expect(live.metadata.labels).to.deep.equal({ by: 'hand' });
  });

  it('passes the stored object itself to a watch in the process, and an equal copy to a client over HTTP', async () => {
    await stored.write(key, { metadata, n: 1 }, context);
    const [within, without] = await Promise.all([
      firstEvent(views.client.watch(type)),
      firstEvent(createClient({ transport: views.server.transport() }).watch(type)),
    ]);
    expect(within).to.be.frozen.and.equal(views.server.loopback.get(type, key));
    expect(without).not.to.be.frozen;
    expect(without).to.deep.equal(within);
  });

  for (const where of ['of a view', 'in the spec of a view']) {
    it(`does not build a lazy list ${where} before the list is read`, async () => {
      // The spec needs its own server, because modules that are loaded on demand are a second copy here.
      const server = new EmbeddedApiServer({
        clock,
        looseCustomResources: true,
        logBytes: 10 ** 6,
      });
      const transport = server.transport(undefined, undefined, { sharesObjects: true });
      const client = createClient({ transport, clock });
      const kind = await new ViewKinds(client).ensure('shop', 'Health');
      const how = 'Updater' as const;
      const options = { type: kind, how, fieldManager: 'shop/health', views: { server } };
      const writer = new TargetWriter(options);
      let made = 0;
      const document = (digest: string): Document => {
        const make = (): string[] => {
          made++;
          return Array.from({ length: 1_000 }, (_, n) => `${digest}-${n}`);
        };
        const spec = {};
        const whole = { metadata, spec };
        const holder = where === 'in the spec of a view' ? spec : whole;
        holdList(holder, 'list', new LazyList({ digest, bytes: 10_000 }, make));
        return whole;
      };
      await writer.write(key, document('one'), context);
      made = 0;
      const cache = new Cache({ client, clock });
      const informer = cache.informer(kind);
      cache.start();
      try {
        await settledOf(clock, () => informer.synced);
        expect(await writer.write(key, document('one'), context)).to.equal('unchanged');
        expect(await writer.write(key, document('two'), context)).to.equal('configured');
        await settledOf(clock, () => informer.get(key)?.metadata.generation === 2);
        expect(made).to.equal(0);
        expect(JSON.stringify(await client.get(kind, key))).to.include('two-999');
        expect(made).to.equal(1);
      } finally {
        await cache.stop();
        await server.stop();
      }
    });
  }

  it('compares a view with its desired state without a write', async () => {
    await stored.write(key, { metadata, n: 1 }, context);
    const live = await views.client.get(type, key);
    expect(stored.isCurrent(live, { metadata, n: 1 })).to.equal(true);
    expect(stored.isCurrent(live, { metadata, n: 2 })).to.equal(false);
    expect(await views.client.get(type, key)).to.include({ n: 1 });
  });

  it('counts the bytes of its writes towards the size limit of the watch history', async () => {
    await stored.write(key, { metadata, n: 1 }, context);
    const { resourceVersion } = (await views.client.get(type, key)).metadata;
    // The history of views keeps 64 MiB. Each version counts with its whole size.
    const text = 'x'.repeat(1024 ** 2);
    for (let n = 0; n < 70; n++) await stored.write(key, { metadata, n, text }, context);
    const late = firstEvent(views.client.watch(type, { resourceVersion }));
    expect(await late.catch((error: unknown) => error)).to.have.property('status', 410);
  });
});

async function settledOf(clock: VirtualClock, isSettled: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1_000 && !isSettled(); turn++) await clock.advance(0);
  expect(isSettled()).to.equal(true);
}

async function firstEvent(events: AsyncIterable<{ readonly type: string }>): Promise<unknown> {
  for await (const event of events) {
    if (event.type !== 'BOOKMARK') return (event as unknown as { object: unknown }).object;
  }
  throw new Error('the watch ended');
}

/** Omits what differs between servers. This includes the generation, because an apply may take several writes. */
function comparable({ metadata: own, ...rest }: KubernetesObject): unknown {
  const { uid, resourceVersion, generation, ...kept } = own;
  expect([uid, resourceVersion, generation]).not.to.include(undefined);
  return { ...rest, metadata: kept };
}
