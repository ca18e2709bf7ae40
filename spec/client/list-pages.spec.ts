import { expect } from 'chai';
import { ConfigMap } from '../../lib/object/kinds.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { Script } from './scripted-transport.js';

const page = (names: readonly string[], next?: string) => ({
  json: {
    ...{ apiVersion: 'v1', kind: 'ConfigMapList' },
    metadata: { resourceVersion: '9', ...(next !== undefined && { continue: next }) },
    items: names.map((name) => ({ metadata: { name } })),
  },
});

/** Serves three pages; with `expired`, the third is gone. */
const threePages =
  (expired = false): Script =>
  ({ path }) => {
    if (path.includes('continue=2')) return expired ? refusal(410, 'Expired') : page(['e']);
    if (path.includes('continue=1')) return page(['c', 'd'], '2');
    return path.includes('limit=') ? page(['a', 'b'], '1') : page(['a', 'x']);
  };

const namesIn = (list: { items: ConfigMap[] }) => list.items.map(({ metadata }) => metadata.name);

describe('a list', () => {
  it('is read page by page, at the resource version of the first page', async () => {
    const { client, transport } = scripted(threePages());
    const options = { limit: 2, labelSelector: 'a', resourceVersion: '5' };
    const list = await client.list(ConfigMap, options);
    expect(namesIn(list)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(list.metadata).to.deep.equal({ resourceVersion: '9' });
    const path = 'GET /api/v1/configmaps?labelSelector=a&limit=2';
    expect(transport.calls).to.deep.equal([
      `${path}&resourceVersion=5`,
      `${path}&continue=1`,
      `${path}&continue=2`,
    ]);
  });

  it('is read again in one request when its continue token expires', async () => {
    const { client, transport } = scripted(threePages(true));
    const list = await client.list(ConfigMap, { resourceVersion: '5' });
    expect(namesIn(list)).to.deep.equal(['a', 'x']);
    expect(transport.calls.at(-1)).to.equal('GET /api/v1/configmaps?resourceVersion=5');
  });

  it('fails with the error of its first page, also if it is 410', async () => {
    const { client, transport } = scripted(() => refusal(410, 'Expired'));
    expect(await failureOf(client.list(ConfigMap))).to.have.property('status', 410);
    expect(transport.calls).to.have.length(1);
  });

  it('fails when the server repeats a continue token', async () => {
    let asked = 0;
    const { client } = scripted(() => page([`o${asked}`], String(++asked % 3)));
    const error = await failureOf(client.list(ConfigMap));
    expect(error).to.have.property('code', 'ApiError');
    expect(String(error)).to.include(
      'list ConfigMapList: 200: the server sent a continue token twice',
    );
    expect(asked).to.equal(4);
  });

  it('fails when the server sends empty pages without end', async () => {
    let asked = 0;
    const { client } = scripted(() => page([], String(++asked)));
    const error = await failureOf(client.list(ConfigMap));
    expect(String(error)).to.include('more than 1000 empty pages');
    expect(asked).to.equal(1001);
  });

  it('fails when a later page fails for another reason than an expired continue token', async () => {
    const { client, transport } = scripted((request, nth) =>
      nth === 3 ? refusal(403, 'Forbidden') : threePages()(request, nth),
    );
    expect(await failureOf(client.list(ConfigMap))).to.have.property('status', 403);
    expect(transport.calls).to.have.length(3);
  });

  it('can be larger than the argument limit of a function call', async () => {
    const { client } = scripted(() => page(Array.from({ length: 150_000 }, (_, n) => `${n}`)));
    expect((await client.list(ConfigMap)).items).to.have.length(150_000);
  });
});

describe('the pages of Client.pages', () => {
  it('are requested one at a time, each when the loop asks for it', async () => {
    const { client, transport } = scripted(threePages());
    for await (const list of client.pages(ConfigMap)) {
      if (namesIn(list).includes('c')) break;
      expect(transport.calls).to.have.length(1);
    }
    expect(transport.calls).to.have.length(2);
  });

  it('end with 410 when their resource version expires, after the pages that were already yielded', async () => {
    const { client } = scripted(threePages(true));
    const seen: unknown[] = [];
    const read = async () => {
      for await (const list of client.pages(ConfigMap)) seen.push(...namesIn(list));
    };
    expect(await failureOf(read())).to.have.property('reason', 'Expired');
    expect(seen).to.deep.equal(['a', 'b', 'c', 'd']);
  });
});
