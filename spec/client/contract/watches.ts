import { expect } from 'chai';
import type { WatchEvent, WatchOptions } from '../../../lib/client/index.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { failureOf } from '../scripted-transport.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour, ContractSubject } from './contract-subject.js';

/** Formats an event as `ADDED a` or `BOOKMARK`. */
const summary = (event: WatchEvent<ConfigMap>): string =>
  event.type === 'BOOKMARK' ? event.type : `${event.type} ${event.object.metadata.name ?? ''}`;

/** Returns the first `count` events without bookmarks. */
async function take(
  { client, namespace }: ContractSubject,
  count: number,
  options: WatchOptions,
): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of client.watch(ConfigMap, { namespace, ...options })) {
    if (event.type !== 'BOOKMARK') seen.push(summary(event));
    if (seen.length === count) break;
  }
  return seen;
}

const labelled = (subject: ContractSubject, name: string, app: string): ConfigMap =>
  configMapIn(subject, name, { metadata: { name, namespace: subject.namespace, labels: { app } } });

/** Declares the behaviours of `watch`. */
export function watchContract(it: Behaviour): void {
  it('a watch from a resourceVersion yields every later event, in order', async (subject) => {
    const { client, namespace } = subject;
    const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
    const created = await client.create(labelled(subject, 'a', 'x'));
    await client.update({ ...created, data: { a: '1' } });
    await client.delete(ConfigMap, { namespace, name: 'a' });
    const seen = await take(subject, 3, { resourceVersion, labelSelector: 'app' });
    expect(seen).to.deep.equal(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  it('a watch yields changes while it runs', async (subject) => {
    const { client, namespace } = subject;
    await client.create(labelled(subject, 'a', 'x'));
    const seen: string[] = [];
    for await (const event of client.watch(ConfigMap, { namespace, labelSelector: 'app' })) {
      if (event.type === 'BOOKMARK') continue;
      seen.push(summary(event));
      if (seen.length === 1) await client.create(labelled(subject, 'b', 'x'));
      else break;
    }
    expect(seen).to.deep.equal(['ADDED a', 'ADDED b']);
  });

  it('an object that no longer matches the selector yields a DELETED event', async (subject) => {
    const { client, namespace } = subject;
    const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
    const created = await client.create(labelled(subject, 'a', 'x'));
    await client.update({ ...created, metadata: { ...created.metadata, labels: { app: 'y' } } });
    const labelSelector = { matchLabels: { app: 'x' } };
    const seen = await take(subject, 2, { resourceVersion, labelSelector });
    expect(seen).to.deep.equal(['ADDED a', 'DELETED a']);
  });

  it('a streaming list yields the existing objects, then a bookmark', async (subject) => {
    const { client, namespace } = subject;
    await client.create(labelled(subject, 'a', 'x'));
    await client.create(labelled(subject, 'b', 'x'));
    const seen: string[] = [];
    const options = { namespace, labelSelector: 'app', sendInitialEvents: true };
    for await (const event of client.watch(ConfigMap, options)) {
      seen.push(summary(event));
      if (event.type === 'BOOKMARK' && event.initialEventsEnd) {
        expect(Number(event.resourceVersion)).to.be.above(0);
        break;
      }
    }
    expect(seen.toSorted()).to.deep.equal(['ADDED a', 'ADDED b', 'BOOKMARK']);
  });

  it('a watch with metadataOnly yields metadata only', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a', { data: { a: '1' } }));
    const options = { namespace, fieldSelector: 'metadata.name=a', metadataOnly: true };
    for await (const event of client.watch(ConfigMap, options)) {
      if (event.type === 'BOOKMARK') continue;
      expect(Object.keys(event.object)).to.deep.equal(['apiVersion', 'kind', 'metadata']);
      expect(event.object.kind).to.equal('ConfigMap');
      break;
    }
  });

  it('a watch ends when its timeout expires', async ({ client, namespace }) => {
    const options = { namespace, labelSelector: 'app', timeoutMs: 1_000 };
    for await (const event of client.watch(ConfigMap, options))
      expect(event.type).to.equal('BOOKMARK');
  });

  it('a watch throws Aborted when its signal aborts', async (subject) => {
    const { client, namespace } = subject;
    const controller = new AbortController();
    await client.create(configMapIn(subject, 'a'));
    const run = async () => {
      const options = { namespace, signal: controller.signal };
      for await (const event of client.watch(ConfigMap, options)) {
        expect(event.type).not.to.equal('MODIFIED');
        controller.abort();
      }
    };
    expect(await failureOf(run())).to.have.property('code', 'Aborted');
  });

  it('a watch from an invalid resourceVersion fails', async (subject) => {
    const error = await failureOf(take(subject, 1, { resourceVersion: 'nonsense' }));
    expect(error).to.have.property('code', 'ApiError');
  });
}
