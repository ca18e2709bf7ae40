import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import type { AccessAttributes, ListenerAccess } from '../../../lib/apiserver/internal.js';
import { forbidden } from '../../../lib/apiserver/status-error.js';
import { Api, apply, configMap, configMaps } from '../api.js';
import { installed } from '../custom/widgets.js';

/** Returns an access check that authenticates the user in the header `x-user`, and lets `may` authorize requests. */
function accessOf(
  may: (user: string, attributes: AccessAttributes) => boolean,
  rest: Partial<ListenerAccess> & { readonly validForMs?: number } = {},
): ListenerAccess {
  const { validForMs, ...more } = rest;
  return {
    authenticate: async ({ headers }, nowMs) => {
      const name = headers['x-user'];
      if (name === undefined) return undefined;
      const authorize = (user: { username: string }, attributes: AccessAttributes) => ({
        allowed: may(user.username, attributes),
        reason: '',
      });
      return {
        user: { name, groups: ['staff'] },
        authorizer: { authorize },
        ...(validForMs !== undefined && { untilMs: nowMs + validForMs }),
      };
    },
    ...more,
  };
}

describe('a listener with an access option of its own', () => {
  let api: Api;
  beforeEach(() => {
    api = new Api({ users: { 'server-token': 'root' } });
  });
  afterEach(() => api.server.stop());

  async function ask(
    url: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ code: number; body: { message: string } & Record<string, unknown> }> {
    const response = await fetch(url + path, { headers });
    const text = await response.text();
    const body = text.startsWith('{') ? (JSON.parse(text) as { message: string }) : undefined;
    return { code: response.status, body: { message: text, ...body } };
  }

  it('authenticates the users of this option, not the users of the server', async () => {
    const url = await api.server.listen({ access: accessOf(() => true) });
    const shown = { authorization: 'Bearer server-token' };
    expect((await ask(url, configMaps, shown)).code).to.equal(401);
    expect((await ask(url, configMaps, { 'x-user': 'jane' })).code).to.equal(200);
    const [, entry] = api.server.requests.entries;
    expect(entry).to.include({ user: 'jane', verb: 'list', code: 200 });
  });

  it('does not affect other listeners', async () => {
    await api.server.listen({ access: accessOf(() => false) });
    const other = await api.server.listen();
    expect((await ask(other, configMaps)).code).to.equal(200);
    expect((await api.get(configMaps)).code).to.equal(200);
  });

  it('authorizes requests by this option, and logs refused requests', async () => {
    const access = accessOf((_user, { verb }) => verb === 'list');
    const url = await api.server.listen({ access });
    const jane = { 'x-user': 'jane' };
    expect((await ask(url, configMaps, jane)).code).to.equal(200);
    const { code, body } = await ask(url, `${configMaps}/a`, jane);
    expect([code, body.message]).to.deep.equal([
      403,
      'configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "default"',
    ]);
    expect((await ask(url, '/version', jane)).code).to.equal(403);
    const refused = api.server.requests.entries.filter(({ denied }) => denied === true);
    expect(refused.map(({ resource, user }) => [resource, user])).to.deep.equal([
      ['configmaps', 'jane'],
      ['/version', 'jane'],
    ]);
  });

  it('requires the permission to create for an apply that creates an object', async () => {
    const url = await api.server.listen({
      access: accessOf((_user, { verb }) => verb === 'patch'),
    });
    const path = `${configMaps}/a?fieldManager=jane`;
    const applied = async (): Promise<number> => {
      const headers = { 'x-user': 'jane', 'content-type': apply };
      const body = JSON.stringify(configMap('a'));
      return (await fetch(url + path, { method: 'PATCH', headers, body })).status;
    };
    expect(await applied()).to.equal(403);
    await api.create(configMaps, configMap('a'));
    expect(await applied()).to.equal(200);
  });

  it('authorizes impersonation by this option', async () => {
    const access = accessOf((user, { verb, name }) =>
      verb === 'impersonate' ? user === 'jane' && name === 'bob' : user === 'bob',
    );
    const url = await api.server.listen({ access });
    const as = (user: string, other: string): Promise<{ code: number }> =>
      ask(url, configMaps, { 'x-user': user, 'impersonate-user': other });
    expect((await as('jane', 'bob')).code).to.equal(200);
    expect((await as('jane', 'eve')).code).to.equal(403);
    expect((await as('eve', 'bob')).code).to.equal(403);
  });

  it('returns the error that the access option throws as a status, and 500 for other errors', async () => {
    const no = forbidden({ group: '', plural: 'sites' }, 'not from there');
    const refusing = { authenticate: async () => Promise.reject(no) };
    const url = await api.server.listen({ access: refusing });
    const refused = await ask(url, configMaps);
    expect([refused.code, refused.body.message]).to.deep.equal([
      403,
      'sites is forbidden: not from there',
    ]);
    const broken = { authenticate: async () => Promise.reject(new TypeError('oops')) };
    const other = await api.server.listen({ access: broken });
    expect((await ask(other, configMaps)).code).to.equal(500);
  });

  it('answers 401 before the body arrives', async () => {
    const url = await api.server.listen({ access: accessOf(() => true) });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`POST ${configMaps} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    expect(chunk.toString()).to.match(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('ends a watch when the token of its user expires', async () => {
    const access = accessOf(() => true, { validForMs: 60_000 });
    const url = await api.server.listen({ access });
    const watch = await fetch(`${url}${configMaps}?watch=1`, { headers: { 'x-user': 'jane' } });
    await api.create(configMaps, configMap('a'));
    const text = watch.text();
    await api.clock.advance(59_000);
    expect(api.server.openWatches).to.equal(1);
    await api.clock.advance(1_000);
    expect(await text).to.match(/^\{"type":"ADDED".*\}\n$/);
    expect(api.server.openWatches).to.equal(0);
  });

  it('ends a watch at timeoutSeconds of the request if the token expires later', async () => {
    const access = accessOf(() => true, { validForMs: 60_000 });
    const url = await api.server.listen({ access });
    const path = `${configMaps}?watch=1&timeoutSeconds=10`;
    const watch = await fetch(url + path, { headers: { 'x-user': 'jane' } });
    await api.clock.advance(10_000);
    expect(await watch.text()).to.equal('');
  });

  describe('with some groups only', () => {
    let url: string;
    const jane = { 'x-user': 'jane' };
    beforeEach(async () => {
      const serves = (group: string): boolean => group === 'apps';
      url = await api.server.listen({ access: accessOf(() => true, { serves }) });
    });

    it('answers 404 for other groups', async () => {
      expect((await ask(url, '/apis/apps/v1/deployments', jane)).code).to.equal(200);
      for (const path of [configMaps, '/api/v1', '/apis/batch/v1', '/apis/batch/v1/jobs']) {
        expect((await ask(url, path, jane)).code, path).to.equal(404);
      }
    });

    it('omits other groups from discovery', async () => {
      const { body } = await ask(url, '/apis', jane);
      const { groups } = body as unknown as { readonly groups: readonly { name: string }[] };
      expect(groups.map(({ name }) => name)).to.deep.equal(['apps']);
      expect((await ask(url, '/api', jane)).body).to.deep.include({ versions: [] });
    });

    it('omits other groups from OpenAPI', async () => {
      await installed(api);
      const { body } = await ask(url, '/openapi/v3', jane);
      expect(Object.keys(body['paths'] as object)).to.deep.equal(['apis/apps/v1']);
      expect((await ask(url, '/openapi/v3/apis/apps/v1', jane)).code).to.equal(200);
      expect((await ask(url, '/openapi/v3/api/v1', jane)).code).to.equal(404);
      const { definitions } = (await ask(url, '/openapi/v2', jane)).body as unknown as {
        readonly definitions: object;
      };
      expect(definitions).to.have.property('io.k8s.api.apps.v1.Deployment');
      expect(definitions).not.to.have.property('io.k8s.api.batch.v1.Job');
    });

    it('works next to a listener with all groups', async () => {
      const all = await api.server.listen();
      expect((await ask(all, configMaps)).code).to.equal(200);
      expect((await ask(url, configMaps, jane)).code).to.equal(404);
    });
  });
});
