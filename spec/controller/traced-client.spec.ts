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

  it("has a span for each page that excludes the caller's time", async () => {
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

  it('reads no further page after the loop ends, and closes the inner iterator', async () => {
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

  it('ends the span of a page that fails', async () => {
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
