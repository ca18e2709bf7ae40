import { expect } from 'chai';
import { Api, merge } from '../api.js';
import { crds, installed } from '../custom/widgets.js';

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const group = 'flunders.example.com';

/** A server with an APIService whose Service is not one of the option `services`. */
async function registered(port?: number): Promise<Api> {
  const api = new Api();
  const service = { namespace: 'default', name: 'flunders', ...(port !== undefined && { port }) };
  await api.create(apiServices, {
    metadata: { name: `v1.${group}` },
    spec: { group, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10, service },
  });
  return api;
}

/** Returns the condition of the APIService, once its check is over. */
async function conditionIn(api: Api): Promise<unknown> {
  await api.clock.advance(0);
  const { body } = await api.get(`${apiServices}/v1.${group}`);
  const { conditions } = body['status'] as { conditions: Record<string, string>[] };
  expect(conditions).to.have.length(1);
  const { type, status, reason, message } = conditions[0]!;
  return [type, status, reason, message?.replace(/10\.\d+\.\d+\.\d+/g, 'IP')];
}

const failed = (reason: string, message: string) => ['Available', 'False', reason, message];
const subject = 'service/flunders in "default"';
const clusterIp = {
  ports: [
    { name: 'https', port: 443 },
    { name: 'other', port: 8443 },
  ],
};

function slice(
  name: string,
  ports: readonly object[] | null,
  ...ready: readonly unknown[]
): object {
  return {
    metadata: { name, labels: { 'kubernetes.io/service-name': 'flunders' } },
    addressType: 'IPv4',
    endpoints: ready.map((one, at) => ({
      addresses: [`192.0.2.${at + 1}`],
      conditions: { ready: one },
    })),
    ports,
  };
}

describe('the Available condition of an APIService', () => {
  it('names the Service, port, EndpointSlice or endpoint that is missing, whichever comes first in this order', async () => {
    const api = await registered();
    const found: unknown[] = [await conditionIn(api)];
    const spec = { ports: [{ name: 'other', port: 8443 }] };
    await api.create(services, { metadata: { name: 'flunders' }, spec });
    found.push(await conditionIn(api));
    await api.call('PATCH', `${services}/flunders`, { spec: clusterIp }, merge);
    found.push(await conditionIn(api));
    const own = [{ name: 'https', port: 6443 }];
    await api.create(slices, slice('none', own));
    await api.create(slices, slice('unready', own, false));
    await api.create(slices, slice('another', [{ name: 'other', port: 6443 }], true));
    await api.create(slices, slice('portless', [{ name: 'https' }], true));
    found.push(await conditionIn(api));
    await api.create(slices, slice('ready', own, false, true));
    found.push(await conditionIn(api));
    const url = `https://IP:443/apis/${group}/v1`;
    expect(found).to.deep.equal([
      failed('ServiceNotFound', `${subject} is not present`),
      failed('ServicePortError', `${subject} is not listening on port 443`),
      failed('EndpointsNotFound', `cannot find endpointslices for ${subject}`),
      failed(
        'MissingEndpoints',
        `endpointslices for ${subject} have no addresses with port name "https"`,
      ),
      failed(
        'FailedDiscoveryCheck',
        `failing or missing response from ${url}: Get "${url}": dial tcp IP:443: connect: no route to host`,
      ),
    ]);
    await api.server.stop();
  });

  it('is about the port that the APIService names', async () => {
    const api = await registered(8443);
    await api.create(services, { metadata: { name: 'flunders' }, spec: clusterIp });
    await api.create(slices, slice('ready', [{ name: 'https', port: 6443 }], true));
    expect(await conditionIn(api)).to.deep.equal(
      failed(
        'MissingEndpoints',
        `endpointslices for ${subject} have no addresses with port name "other"`,
      ),
    );
    await api.create(slices, slice('other', [{ name: 'other', port: 6443 }], undefined));
    expect(await conditionIn(api)).to.include('FailedDiscoveryCheck');
    await api.server.stop();
  });
});

describe('the APIService of a custom group', () => {
  const name = `${apiServices}/v1.example.com`;

  it('is restored with its priorities after changes and deletions by clients, and is deleted with its definition', async () => {
    const api = new Api();
    await installed(api);
    const { body: before } = await api.get(name);
    expect(before['spec']).to.deep.equal({
      ...{ group: 'example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
    });
    await api.call('PATCH', name, { spec: { versionPriority: 5 } }, merge);
    expect((await api.get(name)).body['spec']).to.deep.equal(before['spec']);
    await api.call('DELETE', name);
    expect((await api.get(name)).body['spec']).to.deep.equal(before['spec']);
    await api.call('DELETE', `${crds}/widgets.example.com`);
    expect((await api.get(name)).code).to.equal(404);
    await api.server.stop();
  });
});
