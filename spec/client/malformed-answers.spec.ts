import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap, isApiError } from '../../lib/object/index.js';
import { failureOf, scripted } from './scripted-transport.js';

const key = { namespace: 'shop', name: 'web' };
const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key };
const failure = {
  ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' },
  ...{ code: 500, reason: 'InternalError', message: 'the store is gone' },
};

const calls: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  get: (client) => client.get(ConfigMap, key),
  list: (client) => client.list(ConfigMap),
  create: (client) => client.create(configMap),
  update: (client) => client.update(configMap),
  patch: (client) => client.patch(ConfigMap, key, { type: 'merge', body: {} }),
  apply: (client) => client.apply(configMap, { fieldManager: 'spec' }),
  delete: (client) => client.delete(ConfigMap, key),
  deletecollection: (client) => client.deleteCollection(ConfigMap, { namespace: 'shop' }),
  discovery: (client) => client.resourceType({ apiVersion: 'example.com/v1', kind: 'Widget' }),
};

/** Returns the error of a call that the server answers with `json` and status 200. */
async function errorAfter(call: (client: Client) => Promise<unknown>, json: unknown) {
  const { client } = scripted(() => ({ json }));
  const error = await failureOf(call(client));
  if (isApiError(error)) return error;
  throw error;
}

describe('an answer with status 200 whose body is not a valid result', () => {
  for (const [verb, call] of Object.entries(calls)) {
    it(`makes ${verb} fail if the body is the Status of a failure`, async () => {
      const error = await errorAfter(call, failure);
      expect(error.body).to.deep.equal(failure);
      expect(error.status).to.equal(500);
      expect(error.message).to.contain('the store is gone');
      if (verb !== 'discovery') expect(error.message).to.match(new RegExp(`^${verb} ConfigMap`));
    });

    it(`makes ${verb} fail if the body is not a JSON object`, async () => {
      for (const json of [null, 5, [configMap]]) {
        const { message } = await errorAfter(call, json);
        expect(message).to.contain('malformed answer: it is not a JSON object');
      }
    });
  }

  it('makes the call fail with the code of the Status, or with 500 for a Status without an error code', async () => {
    for (const [code, status] of [
      [404, 404],
      [200, 500],
      [undefined, 500],
    ]) {
      const error = await errorAfter((client) => client.get(ConfigMap, key), { ...failure, code });
      expect(error.status).to.equal(status);
    }
  });

  const lists: Readonly<Record<string, [answer: object, problem: string]>> = {
    'without metadata': [{ items: [] }, 'no metadata'],
    'without items': [{ metadata: {} }, 'no array of items'],
    'whose items are an object': [{ metadata: {}, items: { a: configMap } }, 'no array of items'],
    'that is one object': [configMap, 'no array of items'],
    'that is the Status of a success': [{ ...failure, status: 'Success' }, 'no array of items'],
  };
  for (const [title, [json, problem]] of Object.entries(lists)) {
    it(`makes list fail for an answer ${title}`, async () => {
      const list = await errorAfter((client) => client.list(ConfigMap), json);
      expect(list.message).to.contain('list ConfigMap').and.to.contain(problem);
      const pages = await errorAfter(
        (client) => client.pages(ConfigMap)[Symbol.asyncIterator]().next(),
        json,
      );
      expect(pages.message).to.equal(list.message);
    });
  }

  it('makes delete fail if the body is neither a Status nor an object', async () => {
    const { message } = await errorAfter((client) => client.delete(ConfigMap, key), { kind: 'X' });
    expect(message).to.contain('delete ConfigMap shop/web').and.to.contain('no metadata');
  });
});
