import { expect } from 'chai';
import { eventually } from '../../cluster/control-plane/eventually.js';
import { ExtensionServer } from './extension-server.js';

/** A request as the administrator. */
export interface Step {
  /** @defaultValue 'GET' */
  readonly method?: string;
  readonly path: string;
  readonly body?: object;
  /** @defaultValue 'application/json' */
  readonly accept?: string;
}

/** An API server, over HTTP. */
export interface AggregationTarget {
  send(step: Step): Promise<{ readonly status: number; readonly text: string }>;
  stop(): Promise<void>;
}

const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const aggregatedList =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

interface ApiService {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly managedFields: readonly { readonly manager: string; readonly subresource?: string }[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: {
    readonly conditions?: readonly Readonly<Record<'status' | 'reason' | 'message', string>>[];
  };
}

/** Specs of APIServices, for the embedded server and for a real one. */
export function aggregationSuite(title: string, start: () => Promise<AggregationTarget>): void {
  describe(`APIServices of ${title}`, () => {
    const extension = new ExtensionServer('flunders.example.com');
    const { group } = extension;
    const undo: string[] = [];
    let target: AggregationTarget;

    const send = async (step: Step): Promise<unknown> => {
      const { text } = await target.send(step);
      return JSON.parse(text);
    };

    const create = async (path: string, body: { metadata: { name: string } }): Promise<void> => {
      const { status, text } = await target.send({ method: 'POST', path, body });
      expect(status, text).to.equal(201);
      undo.push(`${path}/${body.metadata.name}`);
    };

    /** Registers a version of a group at a Service. */
    const register = (name: string, more: object, service: object): Promise<void> =>
      create(apiServices, {
        metadata: { name: `v1.${name}` },
        spec: {
          ...{ group: name, version: 'v1', groupPriorityMinimum: 2000, versionPriority: 10 },
          ...more,
          service: { namespace: 'default', ...service },
        },
      } as { metadata: { name: string } });

    const conditionOf = async (name: string): Promise<readonly string[]> => {
      const { status } = (await send({ path: `${apiServices}/v1.${name}` })) as ApiService;
      const [condition] = status.conditions ?? [];
      if (condition === undefined) throw new Error(`v1.${name} has no condition`);
      return [condition.status, condition.reason, condition.message];
    };

    /** Waits until the extension server is available at its Service. */
    const serveFlunders = async (): Promise<void> => {
      const spec = { type: 'ExternalName', externalName: 'localhost' };
      await create(services, { metadata: { name: 'flunders' }, spec } as never);
      const { caBundle, port } = extension;
      await register(group, { caBundle }, { name: 'flunders', port });
      await eventually(async () => {
        expect((await target.send({ path: `/apis/${group}/v1` })).status).to.equal(200);
      });
    };

    before(async () => {
      target = await start();
      await extension.start();
    });

    afterEach(async () => {
      extension.discoveryStatus = 200;
      extension.requests.length = 0;
      for (const path of undo.splice(0).reverse()) await target.send({ method: 'DELETE', path });
    });

    after(async () => {
      extension.stop();
      await target.stop();
    });

    it('register the versions of built-in groups with their priorities', async () => {
      const { items } = (await send({ path: apiServices })) as { items: ApiService[] };
      const local = items.filter(({ metadata }) => {
        return metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'] === 'onstart';
      });
      expect(local).to.have.length(21);
      const apps = local.find(({ metadata }) => metadata.name === 'v1.apps');
      const priorities = { groupPriorityMinimum: 17_800, versionPriority: 15 };
      expect(apps?.spec).to.deep.equal({ group: 'apps', version: 'v1', ...priorities });
      const [condition] = apps?.status.conditions ?? [];
      expect(condition).to.include({ type: 'Available', status: 'True', reason: 'Local' });
      const managers = apps?.metadata.managedFields.map(({ manager }) => manager);
      expect(managers).to.deep.equal(['kube-apiserver']);
    });

    it('register the served versions of a CRD, as long as it exists', async () => {
      const names = { plural: 'wheels', kind: 'Wheel' };
      const schema = { openAPIV3Schema: { type: 'object' } };
      const version = (name: string, served: boolean): object => ({ name, served, schema });
      const versions = [
        { ...version('v1', true), storage: true },
        { ...version('v1beta1', false), storage: false },
      ];
      await create(definitions, {
        metadata: { name: 'wheels.cars.example.com' },
        spec: { group: 'cars.example.com', scope: 'Namespaced', names, versions },
      } as never);
      const path = `${apiServices}/v1.cars.example.com`;
      const { spec } = await eventually(async () => {
        const { status, text } = await target.send({ path });
        expect(status).to.equal(200);
        return JSON.parse(text) as ApiService;
      });
      expect(spec).to.include({ groupPriorityMinimum: 1000, versionPriority: 100 });
      const unserved = await target.send({ path: `${apiServices}/v1beta1.cars.example.com` });
      expect(unserved.status).to.equal(404);
      await target.send({ method: 'DELETE', path });
      await eventually(async () => {
        expect((await target.send({ path })).status).to.equal(200);
      });
      await target.send({ method: 'DELETE', path: `${definitions}/wheels.cars.example.com` });
      await eventually(async () => {
        expect((await target.send({ path })).status).to.equal(404);
      });
    });

    it('report a version without a Service as available', async () => {
      const local = { group: 'local.example.com', version: 'v1', groupPriorityMinimum: 1 };
      await create(apiServices, {
        metadata: { name: 'v1.local.example.com' },
        spec: { ...local, versionPriority: 1 },
      } as never);
      expect(await conditionOf('local.example.com')).to.deep.equal([
        ...['True', 'Local', 'Local APIServices are always available'],
      ]);
    });

    it('report why a Service cannot serve the version', async () => {
      const spec = { ports: [{ name: 'web', port: 443 }] };
      await create(services, { metadata: { name: 'idle' }, spec } as never);
      await create(slices, {
        metadata: { name: 'idle-1', labels: { 'kubernetes.io/service-name': 'late' } },
        ...{ addressType: 'IPv4', ports: [{ name: 'web', port: 443 }] },
        endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: false } }],
      } as never);
      await create(services, { metadata: { name: 'late' }, spec } as never);
      await register('gone.example.com', {}, { name: 'gone' });
      await register('port.example.com', {}, { name: 'idle', port: 444 });
      await register('empty.example.com', {}, { name: 'idle' });
      await register('late.example.com', {}, { name: 'late' });
      const at = (name: string): Promise<readonly string[]> =>
        eventually(() => conditionOf(`${name}.example.com`));
      expect(await at('gone')).to.deep.equal([
        ...['False', 'ServiceNotFound', 'service/gone in "default" is not present'],
      ]);
      expect(await at('port')).to.deep.equal([
        ...['False', 'ServicePortError', 'service/idle in "default" is not listening on port 444'],
      ]);
      expect(await at('empty')).to.deep.equal([
        ...['False', 'EndpointsNotFound'],
        'cannot find endpointslices for service/idle in "default"',
      ]);
      expect((await at('late')).slice(0, 2)).to.deep.equal(['False', 'MissingEndpoints']);
    });

    it('report why the server of a version fails its check', async () => {
      const spec = { type: 'ExternalName', externalName: 'localhost' };
      await create(services, { metadata: { name: 'flunders' }, spec } as never);
      extension.discoveryStatus = 500;
      const { caBundle, port } = extension;
      await register(group, { caBundle }, { name: 'flunders', port });
      await register('untrusted.example.com', {}, { name: 'flunders', port });
      const url = `https://localhost:${port}/apis/${group}/v1`;
      const why = `failing or missing response from ${url}: bad status from ${url}: 500`;
      const condition = await eventually(() => conditionOf(group));
      expect(condition).to.deep.equal(['False', 'FailedDiscoveryCheck', why]);
      const [, , untrusted] = await eventually(() => conditionOf('untrusted.example.com'));
      expect(untrusted).to.match(/x509: certificate signed by unknown authority$/);
      const { status, text } = await target.send({ path: `/apis/${group}/v1/flunders` });
      expect([status, text]).to.deep.equal([503, 'service unavailable\n']);
      extension.discoveryStatus = 200;
      await eventually(async () => {
        expect((await conditionOf(group))[1]).to.equal('Passed');
      });
    });

    it('accept any certificate with insecureSkipTLSVerify', async () => {
      const spec = { type: 'ExternalName', externalName: 'localhost' };
      await create(services, { metadata: { name: 'flunders' }, spec } as never);
      const { port } = extension;
      await register(group, { insecureSkipTLSVerify: true }, { name: 'flunders', port });
      await eventually(async () => {
        expect((await conditionOf(group))[1]).to.equal('Passed');
      });
    });

    it('pass requests on, with the user in their headers', async () => {
      await serveFlunders();
      const path = `/apis/${group}/v1/namespaces/a/flunders?z=1&a=b%20c`;
      const { status, text } = await target.send({ method: 'POST', path, body: { size: 1 } });
      expect([status, text]).to.deep.equal([201, '{"kind":"Flunder","metadata":{"name":"one"}}']);
      const [{ method, url, headers, body }] = extension.requests as [ArrivedRequest];
      expect([method, body]).to.deep.equal(['POST', '{"size":1}']);
      expect(url).to.equal(`/apis/${group}/v1/namespaces/a/flunders?a=b+c&z=1`);
      expect(headers).to.not.have.property('authorization');
      expect(headers['x-remote-user']).to.have.length(1);
      expect(headers['x-remote-group']).to.deep.equal(['system:masters', 'system:authenticated']);
      expect(headers['x-forwarded-host']).to.deep.equal([`localhost:${extension.port}`]);
    });

    it('answer 503 when the connection breaks', async () => {
      await serveFlunders();
      const { status, text } = await target.send({ path: `/apis/${group}/v1/flunders/broken` });
      expect([status, text]).to.deep.equal([503, 'error trying to reach service: EOF\n']);
    });

    it('appear in discovery and in the index of OpenAPI documents', async () => {
      await serveFlunders();
      const version = { groupVersion: `${group}/v1`, version: 'v1' };
      const listed = { name: group, versions: [version], preferredVersion: version };
      const { groups } = (await send({ path: '/apis' })) as { groups: (typeof listed)[] };
      expect(groups.find(({ name }) => name === group)).to.deep.equal(listed);
      const one = await send({ path: `/apis/${group}` });
      expect(one).to.deep.equal({ kind: 'APIGroup', apiVersion: 'v1', ...listed });
      const list = (await send({ path: `/apis/${group}/v1` })) as { resources: object[] };
      expect(list.resources).to.have.length(2);
      const responseKind = { group: '', version: '', kind: 'Flunder' };
      const subresource = { subresource: 'status', responseKind, verbs: ['get'] };
      await eventually(async () => {
        const { items } = (await send({ path: '/apis', accept: aggregatedList })) as {
          items: { metadata: { name: string }; versions: object[] }[];
        };
        expect(items.find(({ metadata }) => metadata.name === group)?.versions).to.deep.equal([
          {
            version: 'v1',
            resources: [
              {
                ...{ resource: 'flunders', responseKind, scope: 'Namespaced' },
                ...{ singularResource: 'flunder', verbs: ['create', 'get'] },
                subresources: [subresource],
              },
            ],
            freshness: 'Current',
          },
        ]);
      });
      await eventually(async () => {
        const { paths } = (await send({ path: '/openapi/v3' })) as { paths: object };
        expect(paths)
          .to.have.property(`apis/${group}/v1`)
          .deep.equal({
            serverRelativeURL: `/openapi/v3/apis/${group}/v1?hash=F1`,
          });
      });
      const document = await send({ path: `/openapi/v3/apis/${group}/v1` });
      expect(document).to.deep.include({ info: { title: 'Flunders', version: '1' } });
    });
  });
}

type ArrivedRequest = ExtensionServer['requests'][number];
