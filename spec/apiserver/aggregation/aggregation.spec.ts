import { expect } from 'chai';
import { request } from 'undici';
import { EmbeddedApiServer } from '../../../lib/apiserver/internal.js';
import type { TransportRequest, TransportResponse } from '../../../lib/system/transport.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { eventually } from '../../cluster/control-plane/eventually.js';
import { responseOf } from '../admission/webhook-api.js';
import { Api } from '../api.js';
import { ExtensionServer } from './extension-server.js';
import { aggregationSuite } from './suite.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const group = 'flunders.example.com';
const registration = {
  metadata: { name: `v1.${group}` },
  spec: {
    ...{ group, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10 },
    service: { namespace: 'default', name: 'flunders' },
  },
};

aggregationSuite('the embedded server', async () => {
  const token = 'secret';
  const users = { [token]: { name: 'admin', groups: ['system:masters'] } };
  const server = new EmbeddedApiServer({ users, rbac: true });
  const url = await server.listen();
  return {
    send: async ({ method = 'GET', path, body, accept = 'application/json' }) => {
      const answer = await request(url + path, {
        method: method as 'GET',
        headers: {
          ...{ authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' },
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    stop: () => server.stop(),
  };
});

describe('an extension server that is a handler in the option services of the embedded server', () => {
  /** A handler in this process that records requests. */
  class Handler {
    readonly requests: TransportRequest[] = [];
    status = 200;

    readonly serve = async (sent: TransportRequest): Promise<TransportResponse> => {
      this.requests.push(sent);
      return responseOf(this.status, '{"kind":"Answer"}');
    };
  }

  const reasonOf = async (api: Api): Promise<string | undefined> => {
    const { body } = await api.get(`${apiServices}/v1.${group}`);
    const { status } = body as unknown as { status: { conditions?: { reason: string }[] } };
    return status.conditions?.[0]?.reason;
  };

  it('needs no Service and no endpoints', async () => {
    const handler = new Handler();
    const api = new Api({ services: { 'default/flunders': handler.serve } });
    await api.create(apiServices, registration);
    await eventually(async () => expect(await reasonOf(api)).to.equal('Passed'));
    const { code, text } = await api.get(`/apis/${group}/v1/flunders`, { 'x-remote-user': 'eve' });
    expect([code, text]).to.deep.equal([200, '{"kind":"Answer"}']);
    const { path, headers } = handler.requests.at(-1) ?? { path: '', headers: {} };
    expect(path).to.equal(`/apis/${group}/v1/flunders`);
    expect(headers).to.include({ 'x-remote-user': 'system:admin' });
    await api.server.stop();
  });

  it('has a certificate for its Service, whatever the address of the Service', async () => {
    const extension = new ExtensionServer(group);
    await extension.start();
    const api = new Api({ services: { 'default/flunders': extension.url } });
    const { caBundle } = extension;
    const spec = { ...registration.spec, caBundle };
    await api.create(apiServices, { ...registration, spec });
    await eventually(async () => expect(await reasonOf(api)).to.equal('Passed'));
    const { code } = await api.call('POST', `/apis/${group}/v1/flunders`, {});
    expect(code).to.equal(201);
    await api.server.stop();
    extension.stop();
  });

  it('is checked every 30 seconds, until the server stops', async () => {
    const handler = new Handler();
    const clock = new VirtualClock();
    const api = new Api({ clock, services: { 'default/flunders': handler.serve } });
    await api.create(apiServices, registration);
    await eventually(async () => expect(await reasonOf(api)).to.equal('Passed'));
    handler.status = 404;
    await clock.advance(30_000);
    await eventually(async () => expect(await reasonOf(api)).to.equal('FailedDiscoveryCheck'));
    const { code, text } = await api.get(`/apis/${group}/v1/flunders`);
    expect([code, text]).to.deep.equal([503, 'service unavailable\n']);
    await api.server.stop();
    expect(clock.pendingTimers).to.equal(0);
  });

  it('serves a built-in version while its APIService names the extension server, and not afterwards', async () => {
    const handler = new Handler();
    const api = new Api({ services: { 'default/flunders': handler.serve } });
    const path = `${apiServices}/v1.apps`;
    const merge = 'application/merge-patch+json';
    const { service } = registration.spec;
    await api.call('PATCH', path, { spec: { service } }, merge);
    await eventually(async () => {
      const { text } = await api.get('/apis/apps/v1/deployments');
      expect(text).to.equal('{"kind":"Answer"}');
    });
    await api.call('PATCH', path, { spec: { service: null } }, merge);
    const { body } = await api.get('/apis/apps/v1/deployments');
    expect(body.kind).to.equal('DeploymentList');
    await api.server.stop();
  });

  it('is missing from the groups of the server once its APIService is deleted', async () => {
    const handler = new Handler();
    const api = new Api({ services: { 'default/flunders': handler.serve } });
    await api.create(apiServices, registration);
    const groups = async (): Promise<readonly string[]> => {
      const { body } = await api.get('/apis');
      return (body as unknown as { groups: { name: string }[] }).groups.map(({ name }) => name);
    };
    expect(await groups()).to.include(group);
    await api.call('DELETE', `${apiServices}/v1.${group}`);
    expect(await groups()).to.not.include(group);
    expect((await api.get(`/apis/${group}/v1/flunders`)).code).to.equal(404);
    await api.server.stop();
  });

  it('serves the group again when its APIService is restored from a snapshot', async () => {
    const handler = new Handler();
    const api = new Api({ services: { 'default/flunders': handler.serve } });
    await api.create(apiServices, registration);
    await eventually(async () => expect(await reasonOf(api)).to.equal('Passed'));
    const snapshot = api.server.snapshot();
    await api.call('DELETE', `${apiServices}/v1.${group}`);
    api.server.restore(snapshot);
    await eventually(async () => {
      const { text } = await api.get(`/apis/${group}/v1/flunders`);
      expect(text).to.equal('{"kind":"Answer"}');
    });
    await api.server.stop();
  });
});
