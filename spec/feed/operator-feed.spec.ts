import { expect } from 'chai';
import { OperatorFeed, withoutFailures } from '../../lib/feed/index.js';
import type { Client } from '../../lib/client/index.js';
import type { ControllerEventListener } from '../../lib/controller/index.js';
import type { Pod } from '../../lib/object/kinds.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { OperatorError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { configMapNamed, embeddedClient } from '../client/embedded-client.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';

type Reconciled = Extract<Parameters<ControllerEventListener>[0], { readonly type: 'reconciled' }>;

const key = { namespace: 'default', name: 'web' };
const fieldManager = 'spec';

function newFeed() {
  const lines: string[] = [];
  const stdout = { write: (text: string) => lines.push(...text.trimEnd().split('\n')) };
  const clock = new VirtualClock();
  const feed = new OperatorFeed({ stdout, env: {}, clock });
  const { client: other } = embeddedClient();
  /** Returns the lines since the last call. */
  const told = (): string[] => lines.splice(0);
  return { clock, feed, other, client: feed.observed(other), told };
}

/** Reads `count` events of a watch of ConfigMaps. */
async function watched(
  client: Client,
  count: number,
  options: Parameters<Client['watch']>[1],
): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of client.watch(ConfigMap, { namespace: 'default', ...options })) {
    const name = 'object' in event ? event.object.metadata.name : '';
    seen.push(`${event.type} ${name ?? ''}`.trim());
    if (seen.length >= count) break;
  }
  return seen;
}

describe('OperatorFeed', () => {
  it('begins with the names of the operator, its cluster and its namespaces', () => {
    const { feed, told } = newFeed();
    feed.sayHead({ operator: 'shops', cluster: 'context dev: https://a', namespaces: ['a', 'b'] });
    expect(told()).to.deep.equal(['operator shops, on context dev: https://a', 'namespaces: a, b']);
    feed.sayHead({ operator: 'shops', cluster: undefined, namespaces: undefined });
    expect(told()).to.deep.equal(['operator shops', 'namespaces: all']);
  });

  it('prints each write, and returns what the inner client returns', async () => {
    const { client, other, told } = newFeed();
    const created = await client.create(configMapNamed('web', { a: '1' }));
    expect(created).to.deep.equal(await other.get(ConfigMap, key));
    expect(told()).to.deep.equal(['+ ConfigMap default/web']);
    const updated = await client.update({ ...created, data: { a: '2' } });
    expect(updated.data).to.deep.equal({ a: '2' });
    expect(told()).to.deep.equal(['~ ConfigMap default/web  data.a: "1" → "2"']);
    const patch = { type: 'merge', body: { data: { a: '3' } } } as const;
    expect((await client.patch(ConfigMap, key, patch)).data).to.deep.equal({ a: '3' });
    expect(told()).to.deep.equal(['~ ConfigMap default/web  data.a: "2" → "3"']);
    const desired = configMapNamed('web', { a: '4' });
    const applied = await client.apply(desired, { fieldManager, force: true });
    expect([applied.created, applied.object.data]).to.deep.equal([false, { a: '4' }]);
    expect(told()).to.deep.equal(['~ ConfigMap default/web  data.a: "3" → "4"']);
    expect(await client.delete(ConfigMap, key)).to.equal(undefined);
    expect(told()).to.deep.equal(['- ConfigMap default/web']);
    const again = await client.apply(desired, { fieldManager });
    expect([again.created, told()]).to.deep.equal([true, ['+ ConfigMap default/web']]);
  });

  it('prints no dry runs, and no writes that return another kind of object', async () => {
    const { client, other, told } = newFeed();
    await other.create(configMapNamed('web'));
    const dryRun = true;
    await client.create(configMapNamed('new'), { dryRun });
    await client.apply(configMapNamed('web', { a: '1' }), { fieldManager, dryRun });
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '1' } } }, { dryRun });
    await client.delete(ConfigMap, key, { dryRun });
    await client.create<Pod>({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: key },
      spec: { containers: [{ name: 'web', image: 'web' }] },
    });
    expect(told()).to.deep.equal(['+ Pod default/web']);
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: key };
    await client.create(eviction, { subresource: 'eviction' });
    expect(told()).to.deep.equal([]);
  });

  it("prints what other clients change in the operator's resources, compared with the state that it has read", async () => {
    const reads: readonly ((client: Client) => Promise<unknown>)[] = [
      (client) => client.get(ConfigMap, key),
      async (client) => {
        const { items } = await client.list(ConfigMap, { namespace: 'default' });
        expect(items.map(({ metadata }) => metadata.name)).to.include('web');
      },
      async (client) => {
        for await (const { items } of client.pages(ConfigMap)) expect(items).to.not.deep.equal([]);
      },
      (client) => watched(client, 1, { sendInitialEvents: true }),
    ];
    for (const read of reads) {
      const { client, feed, other, told } = newFeed();
      feed.use([{ group: '', kind: 'ConfigMap' }]);
      const { metadata } = await other.create(configMapNamed('web', { a: '1' }));
      await read(client);
      expect(told()).to.deep.equal([]);
      await other.update(configMapNamed('web', { a: '2' }));
      const { resourceVersion } = metadata;
      expect(await watched(client, 1, { resourceVersion })).to.deep.equal(['MODIFIED web']);
      expect(told()).to.deep.equal(['~ ConfigMap default/web  data.a: "1" → "2"']);
    }
  });

  it('prints the changes after the initial events of a watch, but not the initial events', async () => {
    const { client, feed, other, told } = newFeed();
    feed.use([{ group: '', kind: 'ConfigMap' }]);
    await other.create(configMapNamed('old'));
    const seeing = watched(client, 3, { sendInitialEvents: true });
    await new Promise((resolve) => setImmediate(resolve));
    await other.create(configMapNamed('new'));
    expect(await seeing).to.deep.equal(['ADDED old', 'BOOKMARK', 'ADDED new']);
    expect(told()).to.deep.equal(['+ ConfigMap default/new']);
  });

  it('does not compare changes with what metadata-only reads returned', async () => {
    const { client, feed, other, told } = newFeed();
    feed.use([{ group: '', kind: 'ConfigMap' }]);
    const { metadata } = await other.create(configMapNamed('web', { a: '1' }));
    const metadataOnly = true;
    await client.get(ConfigMap, key, { metadataOnly });
    await client.list(ConfigMap, { metadataOnly });
    for await (const page of client.pages(ConfigMap, { metadataOnly })) expect(page.items.length);
    await other.update(configMapNamed('web', { a: '2' }));
    const { resourceVersion } = metadata;
    await watched(client, 1, { resourceVersion, metadataOnly });
    await watched(client, 1, { resourceVersion });
    // The feed prints no line, because the previous state of the object is unknown.
    expect(told()).to.deep.equal([]);
  });

  it('prints failed reconciles, and a repeated failure of one key at most once a second', async () => {
    const { clock, feed, told } = newFeed();
    const failed = (more: Partial<Reconciled>): void => {
      feed.onEvent({
        ...{ type: 'reconciled', controller: 'shops', kind: 'Shop', cluster: '', key: 'default/a' },
        ...{ reconcileID: '1', causes: { triggers: [], more: 0 }, durationMs: 1 },
        ...{ outcome: 'error', error: new Error('Shop default/a: no till') },
        ...more,
      });
    };
    const line = '! Shop default/a: no till';
    failed({ againInMs: 1_500 });
    failed({ againInMs: 20 });
    expect(told()).to.deep.equal([`${line} (again in 1.5 s)`]);
    await clock.advance(999);
    failed({});
    await clock.advance(1);
    failed({});
    expect(told()).to.deep.equal([`${line} (no retry before a change)`]);
    failed({ key: 'default/b', againInMs: 20 });
    failed({ error: new Error('fire'), againInMs: 20 });
    expect(told()).to.deep.equal([
      '! Shop default/b: Shop default/a: no till (again in 20 ms)',
      '! Shop default/a: fire (again in 20 ms)',
    ]);
    failed({ outcome: 'success', error: undefined });
    failed({ outcome: 'timeout', error: new Error('fire'), againInMs: 20 });
    failed({ outcome: 'terminal', error: new Error('ashes') });
    expect(told()).to.have.length(2);
    for (const code of ['Aborted', 'Stopped'] as const) {
      failed({ error: new OperatorError(code, 'over') });
    }
    failed({ outcome: 'requeueAfter', error: undefined });
    expect(told()).to.deep.equal([]);
  });

  it('gives the operator a logger that omits the failures that the feed prints', () => {
    const lines: LogLine[] = [];
    const logger = withoutFailures(rememberingLogger(lines)).child({ controller: 'shops' });
    logger.error('reconcile failed: error');
    logger.error('the till burns');
    logger.warn('reconcile failed once');
    expect(lines.map(({ message }) => message)).to.deep.equal([
      ...['the till burns', 'reconcile failed once'],
    ]);
  });
});
