import { expect } from 'chai';
import type { Client } from '../../lib/client/client.js';
import { forwarding } from '../../lib/client/client-wrappers.js';
import { traced } from '../../lib/controller/tracing.js';
import { EmbeddedCluster } from '../../lib/apiserver/cluster/embedded-cluster.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { Span, SpanAttributes, Tracer } from '../../lib/system/tracer.js';
import { configMap } from '../manager/manager-setup.js';

/** Records the beginning and end of spans, in order. */
class Noted implements Tracer {
  readonly log: string[] = [];
  readonly begun: SpanAttributes[] = [];

  readonly root: Span = {
    span: (name, attributes, work) => this.span(name, attributes, work),
    set: () => undefined,
    failed: () => undefined,
  };

  async span<T>(
    name: string,
    attributes: SpanAttributes,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const what = `${name} ${attributes['k8s.page'] ?? ''}`.trim();
    this.log.push(`+${what}`);
    this.begun.push(attributes);
    try {
      return await work(this.root);
    } finally {
      this.log.push(`-${what}`);
    }
  }
}

describe('A traced client', () => {
  let cluster: EmbeddedCluster;
  let noted: Noted;
  let client: Client;

  beforeEach(async () => {
    cluster = await EmbeddedCluster.start();
    for (const name of ['a', 'b', 'c']) await cluster.client().create(configMap(name));
    noted = new Noted();
    client = traced(cluster.client(), noted.root, noted);
  });
  afterEach(() => cluster.stop());

  const query = { namespace: 'default', labelSelector: '!no', limit: 2 };

  it('has a span for each page of a list, without the time that the caller takes', async () => {
    const names: unknown[] = [];
    for await (const { items } of client.pages(ConfigMap, query)) {
      noted.log.push('read');
      names.push(...items.map(({ metadata }) => metadata.name));
    }
    expect(names).to.include.members(['a', 'b', 'c']);
    expect(noted.log).to.deep.equal([
      ...['+list ConfigMap 1', '-list ConfigMap 1', 'read'],
      ...['+list ConfigMap 2', '-list ConfigMap 2', 'read'],
    ]);
  });

  it('has a span for each list, get and write, with its verb, kind and key', async () => {
    const key = { namespace: 'default', name: 'a' };
    const { items } = await client.list(ConfigMap, query);
    expect(items).to.have.length(3);
    await client.get(ConfigMap, key);
    await client.apply(configMap('d'), { fieldManager: 'spec' });
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { n: '1' } } });
    await client.delete(ConfigMap, key);
    await client.deleteCollection(ConfigMap, { namespace: 'default' });
    const spans = noted.begun.map((attributes) => Object.values(attributes).join(' '));
    expect(spans).to.deep.equal([
      ...['list ConfigMap default ', 'get ConfigMap default a', 'apply ConfigMap default d'],
      ...['patch ConfigMap default a', 'delete ConfigMap default a'],
      'deleteCollection ConfigMap default ',
    ]);
    expect(noted.log.at(-1)).to.equal('-deleteCollection ConfigMap');
    expect((await cluster.client().list(ConfigMap, { namespace: 'default' })).items).to.have.length(
      0,
    );
  });

  it('reads no further page after the loop ends, and closes the iterator of the wrapped client', async () => {
    const ended: string[] = [];
    const inner = cluster.client();
    const watched: Client = {
      ...forwarding(inner),
      pages: async function* (type, options) {
        try {
          yield* inner.pages(type, options);
        } finally {
          ended.push('pages');
        }
      },
    };
    for await (const page of traced(watched, noted.root, noted).pages(ConfigMap, query)) {
      expect(page.items).to.have.length(2);
      break;
    }
    expect(noted.log).to.deep.equal(['+list ConfigMap 1', '-list ConfigMap 1']);
    expect(ended).to.deep.equal(['pages']);
  });

  it('ends the span of a page whose request fails', async () => {
    const pages = client.pages({ apiVersion: 'v1', kind: 'Nothing' })[Symbol.asyncIterator]();
    const error: unknown = await pages.next().catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error');
    expect(noted.log).to.deep.equal(['+list Nothing 1', '-list Nothing 1']);
  });

  it('has no span for a watch', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const seen = client.watch(ConfigMap, { signal })[Symbol.asyncIterator]();
    await seen.next().catch(() => undefined);
    expect(noted.log).to.deep.equal([]);
  });
});
