import { expect } from 'chai';
import { Api, configMap, configMaps, merge } from '../api.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const shops = '/apis/example.com/v1/namespaces/default/shops';

/** A server with the custom resource `Shop`, and one Shop. */
async function withShop(): Promise<Api> {
  const api = new Api();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  await api.create(definitions, {
    metadata: { name: 'shops.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'shops', kind: 'Shop' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  });
  const metadata = { name: 'a', finalizers: ['a/b'] };
  await api.create(shops, { apiVersion: 'example.com/v1', kind: 'Shop', metadata });
  return api;
}

describe('the warnings of an answer', () => {
  /** Sends a ConfigMap with unknown fields of these lengths. @returns the lengths of the warnings */
  async function warned(names: readonly string[]): Promise<string[]> {
    const fields = Object.fromEntries(names.map((name) => [name, 1]));
    const body = { ...configMap('a'), ...fields };
    const { headers } = await new Api().call('POST', configMaps, body);
    const text = Buffer.from(headers['warning'] ?? '', 'latin1').toString();
    return [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, one = '']) => one);
  }

  it('are complete up to 4,096 characters', async () => {
    const prefix = 'unknown field \\"';
    const [one = ''] = await warned(['x'.repeat(4_096 - 'unknown field ""'.length)]);
    expect(one).to.equal(`${prefix}${'x'.repeat(4_080)}\\"`);
    const [cut = ''] = await warned(['x'.repeat(4_096 - 'unknown field ""'.length + 1)]);
    expect(cut).to.equal(`${prefix}${'x'.repeat(256 - 'unknown field "'.length)}`);
  });

  it('are cut to 256 characters, and are 16 of these, if all are longer', async () => {
    const names = Array.from({ length: 18 }, (_, n) => `é${n + 10}`.padEnd(300, 'é'));
    const texts = await warned(names);
    expect(texts.map((text) => text.length)).to.deep.equal(Array<number>(16).fill(257));
  });
});

describe('answers about custom resources', () => {
  it('refuse a create while their definition is being deleted', async () => {
    const api = await withShop();
    await api.call('DELETE', `${definitions}/shops.example.com`);
    const metadata = { name: 'b' };
    const { code, body } = await api.call('POST', shops, {
      ...{ apiVersion: 'example.com/v1', kind: 'Shop', metadata },
    });
    expect([code, body['reason'], body.message, body['details']]).to.deep.equal([
      ...[405, 'MethodNotAllowed'],
      'create not allowed while custom resource definition is terminating',
      { group: 'example.com', kind: 'shops' },
    ]);
  });

  const metadataOf = (list: string) => ({
    accept: `application/json;as=PartialObjectMetadata${list};g=meta.k8s.io;v=v1`,
  });
  for (const [title, path, accept, why] of [
    ['an object', `${shops}/a`, metadataOf('List'), 'is not a list (*unstructured.Unstructured)'],
    ['a list', shops, metadataOf(''), 'is a list (*unstructured.UnstructuredList)'],
    ['a built-in list', configMaps, metadataOf(''), 'is a list (*core.ConfigMapList)'],
    [
      ...(['a list of another group', '/apis/apps/v1/deployments'] as const),
      ...[metadataOf(''), 'is a list (*apps.DeploymentList)'],
    ],
    [
      ...(['a built-in object', '/api/v1/namespaces/default'] as const),
      ...[metadataOf('List'), 'is not a list (*core.Namespace)'],
    ],
  ] as const) {
    it(`refuse the other kind of metadata of ${title}`, async () => {
      const { code, body } = await (await withShop()).get(path, accept);
      const as = accept.accept.replace(/.*as=(\w+);.*/, '$1');
      expect([code, body['reason'], body.message]).to.deep.equal([
        ...[406, 'NotAcceptable'],
        `you requested ${as}, but the requested object ${why}`,
      ]);
    });
  }

  it('need a name for an update or a patch of the collection', async () => {
    const api = await withShop();
    const put = await api.call('PUT', shops, {});
    const patched = await api.call('PATCH', shops, {}, merge);
    const other = await api.call('PATCH', shops, {}, 'application/other');
    for (const { code, body } of [put, patched]) {
      expect([code, body.message]).to.deep.equal([400, 'name must be provided']);
    }
    expect(other.code).to.equal(415);
    expect((await api.call('PUT', configMaps, {})).code).to.equal(405);
  });
});

describe('an error as YAML', () => {
  it('is an error about its text, if YAML does not allow it', async () => {
    const api = new Api();
    await api.create(configMaps, configMap('a'));
    const put = async (name: string): Promise<unknown> => {
      const headers = { accept: 'application/yaml', 'content-type': 'application/json' };
      const body = JSON.stringify(configMap(name));
      const answer = await api.raw({ method: 'PUT', path: `${configMaps}/a`, headers, body });
      let text = '';
      for await (const chunk of answer.body) text += new TextDecoder().decode(chunk);
      return [answer.status, answer.headers['content-type'], /^message: (.*)$/m.exec(text)?.[1]];
    };
    expect(await put('b')).to.deep.equal([
      ...[400, 'application/yaml'],
      'the name of the object (b) does not match the name on the URL (a)',
    ]);
    expect(await put('\u007f')).to.deep.equal([
      ...[500, 'application/yaml', "'yaml: control characters are not allowed'"],
    ]);
  });
});
