import { expect } from 'chai';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { configMaps } from '../api.js';
import { AccessApi } from './access-api.js';

const accounts = '/api/v1/namespaces/default/serviceaccounts';
const robot = { kind: 'ServiceAccount', name: 'robot' };
const reading = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];

async function tokenOf(server: AccessApi, spec: object = {}): Promise<string> {
  const answer = await server.make(`${accounts}/robot/token`, { spec });
  return (answer as UnstructuredObject & { status: { token: string } }).status.token;
}

async function withRobot(): Promise<AccessApi> {
  const server = new AccessApi();
  await server.make(accounts, { metadata: { name: 'robot' } });
  await server.grant('reader', reading, robot);
  return server;
}

describe('tokens of ServiceAccounts', () => {
  it('authenticate their account until they expire', async () => {
    const server = await withRobot();
    const token = await tokenOf(server, { expirationSeconds: 600 });
    expect((await server.as(token, { path: configMaps })).code).to.equal(200);
    await server.api.clock.advance(599_000);
    expect((await server.as(token, { path: configMaps })).code).to.equal(200);
    await server.api.clock.advance(1_000);
    expect((await server.as(token, { path: configMaps })).code).to.equal(401);
  });

  it('become invalid with the deletion of their account, even if it is recreated', async () => {
    const server = await withRobot();
    const token = await tokenOf(server);
    await server.as('admin-token', { method: 'DELETE', path: `${accounts}/robot` });
    expect((await server.as(token, { path: configMaps })).code).to.equal(401);
    await server.make(accounts, { metadata: { name: 'robot' } });
    expect((await server.as(token, { path: configMaps })).code).to.equal(401);
  });

  it('become invalid with the deletion of the bound object', async () => {
    const server = await withRobot();
    const secrets = '/api/v1/namespaces/default/secrets';
    await server.make(secrets, { metadata: { name: 's' } });
    const boundObjectRef = { kind: 'Secret', apiVersion: 'v1', name: 's' };
    const token = await tokenOf(server, { boundObjectRef });
    expect((await server.as(token, { path: configMaps })).code).to.equal(200);
    await server.as('admin-token', { method: 'DELETE', path: `${secrets}/s` });
    expect((await server.as(token, { path: configMaps })).code).to.equal(401);
  });

  it('are invalid if they are altered, or used for another audience', async () => {
    const server = await withRobot();
    const token = await tokenOf(server);
    const [header = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'system:admin' })).toString(
      'base64url',
    );
    const changed = `${header}.${forged}.${signature}`;
    expect((await server.as(changed, { path: configMaps })).code).to.equal(401);
    const elsewhere = await tokenOf(server, { audiences: ['vault'] });
    expect((await server.as(elsewhere, { path: configMaps })).code).to.equal(401);
  });

  it('are authenticated by a TokenReview for its audiences', async () => {
    const server = await withRobot();
    const token = await tokenOf(server, { audiences: ['vault'] });
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const object = { spec: { token, audiences: ['vault'] } };
    const { body } = await server.as('admin-token', { method: 'POST', path, object });
    const { status } = body as unknown as { status: { user: { username: string } } };
    expect(status.user.username).to.equal('system:serviceaccount:default:robot');
    expect(status).to.deep.include({ authenticated: true, audiences: ['vault'] });
  });

  it('are refused by a TokenReview with the reason', async () => {
    const server = await withRobot();
    const reasonFor = async (token: string, audiences?: readonly string[]): Promise<unknown> => {
      const path = '/apis/authentication.k8s.io/v1/tokenreviews';
      const object = { spec: { token, ...(audiences && { audiences }) } };
      const { body } = await server.as('admin-token', { method: 'POST', path, object });
      return body['status'];
    };
    const token = await tokenOf(server, { expirationSeconds: 600, audiences: ['vault', 'db'] });
    expect(await reasonFor(token, ['db', 'other', 'vault'])).to.deep.include({
      ...{ authenticated: true, audiences: ['db', 'vault'] },
    });
    const shown = (await reasonFor(token)) as { readonly error: string };
    expect(shown.error).to.include(
      'token audiences ["vault" "db"] is invalid for the target audiences ["https://kubernetes.default.svc"]',
    );
    await server.api.clock.advance(600_000);
    const expired = (await reasonFor(token, ['db'])) as { readonly error: string };
    expect(expired.error).to.include('service account token has expired');
  });
});
