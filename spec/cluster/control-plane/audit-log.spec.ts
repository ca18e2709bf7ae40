import { expect } from 'chai';
import { get } from 'node:https';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { sharedControlPlane, writeVerbs } from './index.js';
import type { ControlPlane } from './index.js';

const configMaps = '/api/v1/namespaces/default/configmaps';

describe('AuditLog', () => {
  let controlPlane: ControlPlane;

  before(async () => {
    controlPlane = await sharedControlPlane();
  });

  const createAndDelete = async (name: string, token: string) => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
    await controlPlane.api.json({ method: 'POST', path: configMaps, body, token });
    await controlPlane.api.json({ method: 'DELETE', path: `${configMaps}/${name}`, token });
  };

  it('counts the requests of each user by verb, resource and response', async () => {
    const alice = await controlPlane.user('alice');
    const bob = await controlPlane.user('bob');
    for (const name of ['a-1', 'a-2']) await createAndDelete(name, alice.token);
    await createAndDelete('b-1', bob.token);
    await controlPlane.api.send({ path: `${configMaps}/missing`, token: bob.token });

    const { auditLog } = controlPlane;
    const shared = { group: '', resource: 'configmaps', subresource: '' };
    expect(await auditLog.tally({ user: 'alice' })).to.deep.equal([
      { ...shared, user: 'alice', verb: 'create', code: 201, count: 2 },
      { ...shared, user: 'alice', verb: 'delete', code: 200, count: 2 },
    ]);
    expect(await auditLog.tally({ user: 'bob', verbs: ['get'] })).to.deep.equal([
      { ...shared, user: 'bob', verb: 'get', code: 404, count: 1 },
    ]);
    expect(await auditLog.count({ user: 'bob', verbs: writeVerbs })).to.equal(2);
  });

  it('reads only the requests after a position that mark() returned', async () => {
    const { token } = await controlPlane.user('carol');
    await createAndDelete('c-1', token);
    const since = await controlPlane.auditLog.mark();
    await createAndDelete('c-2', token);
    const entries = await controlPlane.auditLog.read({ since, user: 'carol' });
    expect(entries.map(({ verb, uri }) => `${verb} ${uri}`)).to.deep.equal([
      `create ${configMaps}`,
      `delete ${configMaps}/c-2`,
    ]);
    for (const entry of entries) {
      expect(entry.receivedAtMs).to.be.at.least(since.atMs);
      expect(entry.answeredAtMs).to.be.above(entry.receivedAtMs);
    }
  });

  it('reads all of 500 concurrent requests, without a sleep', async () => {
    const { token } = await controlPlane.user('dave');
    const path = `${configMaps}/missing`;
    const requests = Array.from({ length: 500 }, () => controlPlane.api.send({ path, token }));
    await Promise.all(requests);
    expect(await controlPlane.auditLog.count({ user: 'dave' })).to.equal(500);
  });

  it('returns different positions of the log if mark() is called many times at once', async () => {
    const marks = await Promise.all(
      Array.from({ length: 400 }, () => controlPlane.auditLog.mark()),
    );
    expect(new Set(marks.map(({ offset }) => offset)).size).to.equal(400);
  });

  it('counts a watch once, when it begins', async () => {
    const { token } = await controlPlane.user('erin');
    const ca = Buffer.from(controlPlane.caData, 'base64');
    const headers = { authorization: `Bearer ${token}` };
    const url = `${controlPlane.url}${configMaps}?watch=true&timeoutSeconds=1`;
    const [watch] = (await once(get(url, { ca, headers }), 'response')) as [IncomingMessage];
    const since = await controlPlane.auditLog.mark();
    expect(await controlPlane.auditLog.count({ user: 'erin', verbs: ['watch'] })).to.equal(1);
    await once(watch.resume(), 'end');
    expect(await controlPlane.auditLog.count({ user: 'erin' })).to.equal(1);
    expect(await controlPlane.auditLog.count({ user: 'erin', since })).to.equal(0);
  });
});
