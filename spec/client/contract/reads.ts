import { expect } from 'chai';
import { isGone, isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Namespace } from '../../../lib/object/kinds.js';
import type { ConfigMap as ConfigMapObject } from '../../../lib/object/kinds.js';
import { failureOf } from '../scripted-transport.js';
import { configMapIn } from './contract-subject.js';
import type { Behaviour, ContractSubject } from './contract-subject.js';

const namesOf = (items: readonly ConfigMapObject[]): (string | undefined)[] =>
  items.map(({ metadata }) => metadata.name);

async function createAll(subject: ContractSubject, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const labels = { letter: name };
    await subject.client.create(
      configMapIn(subject, name, { metadata: { labels, name, namespace: subject.namespace } }),
    );
  }
}

/** Declares the behaviours of `get`, `list` and `pages`. */
export function readContract(it: Behaviour): void {
  it('get returns the created object with its apiVersion and kind', async (subject) => {
    const { client, namespace } = subject;
    const created = await client.create(configMapIn(subject, 'a', { data: { key: 'é\u0000€' } }));
    const read = await client.get(ConfigMap, { namespace, name: 'a' });
    expect(read).to.deep.equal(created);
    expect(read).to.include({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(read.data).to.deep.equal({ key: 'é\u0000€' });
  });

  it('get accepts an apiVersion and kind as a type', async (subject) => {
    const { client, namespace } = subject;
    await client.create(configMapIn(subject, 'a'));
    const read = await client.get(
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { namespace, name: 'a' },
    );
    expect(read.metadata.name).to.equal('a');
  });

  it('get of a missing object fails with NotFound, and names the object', async ({
    client,
    namespace,
  }) => {
    const error = await failureOf(client.get(ConfigMap, { namespace, name: 'none' }));
    expect(isNotFound(error)).to.equal(true);
    expect(error.message).to.contain(`get ConfigMap ${namespace}/none`);
  });

  it('get of a kind that the server does not serve fails with UnknownKind', async ({
    client,
    namespace,
  }) => {
    const type = { apiVersion: 'nobody.example.com/v1', kind: 'Nothing' };
    const error = await failureOf(client.get(type, { namespace, name: 'a' }));
    expect(error).to.have.property('code', 'UnknownKind');
  });

  it('get of a type in a group that the server does not serve fails with NotFound', async ({
    client,
    namespace,
  }) => {
    const names = {
      group: 'nobody.example.com',
      version: 'v1',
      kind: 'Nothing',
      plural: 'nothings',
    };
    const error = await failureOf(
      client.get({ ...names, namespaced: true }, { namespace, name: 'a' }),
    );
    expect(isNotFound(error)).to.equal(true);
  });

  it('get with metadataOnly returns metadata only', async (subject) => {
    const { client, namespace } = subject;
    const { metadata } = await client.create(configMapIn(subject, 'a', { data: { a: '1' } }));
    const read = await client.get(ConfigMap, { namespace, name: 'a' }, { metadataOnly: true });
    expect(read).to.deep.equal({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  });

  it('get reads cluster-scoped kinds without a namespace', async ({ client, namespace }) => {
    const read = await client.get(Namespace, { name: namespace });
    expect(read.metadata.name).to.equal(namespace);
  });

  it('list returns all objects of the namespace with their apiVersion and kind', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a', 'b', 'c']);
    const { items, metadata } = await client.list(ConfigMap, {
      namespace,
      labelSelector: 'letter',
    });
    expect(namesOf(items)).to.deep.equal(['a', 'b', 'c']);
    for (const item of items) expect(item).to.include({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(Number(metadata.resourceVersion)).to.be.above(0);
  });

  it('list selects by labels and fields', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a', 'b', 'c']);
    const byLabel = await client.list(ConfigMap, { namespace, labelSelector: 'letter in (a, c)' });
    expect(namesOf(byLabel.items)).to.deep.equal(['a', 'c']);
    const others = { key: 'letter', operator: 'NotIn', values: ['a', 'c'] };
    const matchExpressions = [others, { key: 'letter', operator: 'Exists' }];
    const labelSelector = { matchExpressions };
    const byObject = await client.list(ConfigMap, { namespace, labelSelector });
    expect(namesOf(byObject.items)).to.deep.equal(['b']);
    const byField = await client.list(ConfigMap, { namespace, fieldSelector: 'metadata.name=b' });
    expect(namesOf(byField.items)).to.deep.equal(['b']);
  });

  it('list returns only objects of a controller, if it is given', async (subject) => {
    const { client, namespace } = subject;
    const owner = await client.create(configMapIn(subject, 'owner'));
    const uid = owner.metadata.uid ?? '';
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid };
    for (const [name, controller] of [
      ['owned', true],
      ['held', false],
    ] as const) {
      const ownerReferences = [{ ...reference, controller }];
      await client.create(
        configMapIn(subject, name, { metadata: { name, namespace, ownerReferences } }),
      );
    }
    const { items } = await client.list(ConfigMap, { namespace, controllerUid: uid });
    expect(namesOf(items)).to.deep.equal(['owned']);
  });

  it('list returns the items of all pages together', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a', 'b', 'c', 'd', 'e']);
    const options = { namespace, labelSelector: 'letter', limit: 2 };
    const { items, metadata } = await client.list(ConfigMap, options);
    expect(namesOf(items)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    expect(metadata.continue ?? '').to.equal('');
  });

  it('list with metadataOnly returns metadata only', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a']);
    const options = { namespace, labelSelector: 'letter', metadataOnly: true };
    const { items } = await client.list(ConfigMap, options);
    expect(items.map((item) => Object.keys(item))).to.deep.equal([
      ['apiVersion', 'kind', 'metadata'],
    ]);
    expect(items[0]).to.include({ apiVersion: 'v1', kind: 'ConfigMap' });
  });

  it('list accepts resource version 0', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a']);
    const { items } = await client.list(ConfigMap, { namespace, resourceVersion: '0' });
    expect(items).to.be.an('array');
  });

  it('list of a missing namespace is empty', async ({ client, namespace }) => {
    const { items } = await client.list(ConfigMap, { namespace: `${namespace}-none` });
    expect(items).to.deep.equal([]);
  });

  it('pages yields the pages of a list in order, all of the same resource version', async (subject) => {
    const { client, namespace } = subject;
    await createAll(subject, ['a', 'b', 'c']);
    const pages: (string | undefined)[][] = [];
    const versions = new Set<string | undefined>();
    const options = { namespace, labelSelector: 'letter', limit: 2 };
    for await (const page of client.pages(ConfigMap, options)) {
      pages.push(namesOf(page.items));
      versions.add(page.metadata.resourceVersion);
      await client.create(
        configMapIn(subject, `later-${pages.length}`, { metadata: { labels: { letter: 'z' } } }),
      );
    }
    expect(pages).to.deep.equal([['a', 'b'], ['c']]);
    expect(versions.size).to.equal(1);
  });

  it('list at an exact resource version fails with Gone if the server no longer has that version', async (subject) => {
    const { client, namespace } = subject;
    const options = { namespace, resourceVersion: '1', resourceVersionMatch: 'Exact' as const };
    const error: unknown = await client.list(ConfigMap, options).catch((reason: unknown) => reason);
    expect(error).to.satisfy(
      (outcome: unknown) => isGone(outcome) || 'items' in (outcome as object),
    );
  });
}
