import { emptySwaggerProto, swaggerProtoType } from '../../../lib/apiserver/discovery/openapi.js';
import { expect } from 'chai';
import omit from 'lodash/omit.js';
import { Api } from '../api.js';
import { crds, installed, widgetCrd } from '../custom/widgets.js';

interface Document {
  components: { schemas: Record<string, { properties?: Record<string, unknown> }> };
  paths: Record<string, unknown>;
}

describe('OpenAPI v3', () => {
  it('has a document for each group version, with a URL that changes with its content', async () => {
    const api = new Api();
    const before = (await api.get('/openapi/v3')).body as unknown as {
      paths: Record<string, { serverRelativeURL: string }>;
    };
    expect(before.paths).to.include.keys('api/v1', 'apis/apps/v1', 'apis/batch/v1');
    expect(before.paths).not.to.have.property('apis/example.com/v1');
    await installed(api);
    const after = (await api.get('/openapi/v3')).body as unknown as typeof before;
    const { serverRelativeURL = '' } = after.paths['apis/example.com/v1'] ?? {};
    expect(serverRelativeURL).to.match(/^\/openapi\/v3\/apis\/example.com\/v1\?hash=/);
    expect(after.paths['apis/apps/v1']).to.deep.equal(before.paths['apis/apps/v1']);
  });

  it('describes every kind referenced in a document', async () => {
    const { body, text } = await new Api().get('/openapi/v3/apis/apps/v1');
    const { components, paths } = body as unknown as Document;
    const used = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    for (const name of new Set(used)) expect(components.schemas).to.have.property(name ?? '');
    expect(paths).to.have.property('/apis/apps/v1/namespaces/{namespace}/deployments/{name}');
    const { properties } = components.schemas['io.k8s.api.apps.v1.DeploymentSpec'] ?? {};
    expect(properties).to.include.keys('replicas', 'template');
  });

  it('declares the bearer token as its security scheme', async () => {
    const { body } = await new Api().get('/openapi/v3/api/v1');
    expect(body).to.have.deep.nested.property('components.securitySchemes.BearerToken', {
      type: 'apiKey',
      description: 'Bearer Token authentication',
      name: 'authorization',
      in: 'header',
    });
  });

  it('omits strategic merge patch for custom kinds, so that kubectl does not use it', async () => {
    const api = new Api();
    await installed(api);
    const custom = await api.get('/openapi/v3/apis/example.com/v1');
    expect(custom.text).to.include('application/merge-patch+json');
    expect(custom.text).not.to.include('strategic-merge-patch');
    const builtIn = await api.get('/openapi/v3/apis/apps/v1');
    expect(builtIn.text).to.include('strategic-merge-patch');
  });

  it('describes custom kinds whose names contain those of built-in kinds', async () => {
    const api = new Api();
    const group = 'deployments.acme.com';
    const names = { kind: 'CanaryDeployment', plural: 'canarydeployments', singular: 'canary' };
    await api.create(crds, widgetCrd({ group, names }, `canarydeployments.${group}`));
    const { body, text } = await api.get(`/openapi/v3/apis/${group}/v1`);
    const { components, paths } = body as unknown as Document;
    const used = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    for (const name of new Set(used)) expect(components.schemas).to.have.property(name ?? '');
    expect(components.schemas).to.have.property('com.acme.deployments.v1.CanaryDeployment');
    const collection = `/apis/${group}/v1/namespaces/{namespace}/canarydeployments`;
    expect(paths).to.include.keys(collection, `${collection}/{name}/scale`);
    expect(text).to.include(`{"group":"${group}","kind":"CanaryDeployment","version":"v1"}`);
  });

  it('describes the scale of a cluster-scoped custom kind, without a namespace', async () => {
    const api = new Api();
    const names = { kind: 'Gear', plural: 'gears', singular: 'gear' };
    const crd = widgetCrd({ group: 'acme.com', names, scope: 'Cluster' }, 'gears.acme.com');
    await api.create(crds, crd);
    const { body } = await api.get('/openapi/v3/apis/acme.com/v1');
    const { paths } = body as unknown as Document;
    expect(paths).to.include.keys('/apis/acme.com/v1/gears/{name}/scale');
    expect(JSON.stringify(paths)).not.to.match(/\{namespace\}|"namespace"/);
  });

  it('gives each operation a unique id, also for a kind whose name begins with Namespaced', async () => {
    const api = new Api();
    for (const name of ['gear', 'namespacedgear']) {
      const kind = name === 'gear' ? 'Gear' : 'NamespacedGear';
      const names = { kind, plural: `${name}s`, singular: name };
      const crd = widgetCrd({ group: 'acme.com', names, scope: 'Cluster' }, `${name}s.acme.com`);
      await api.create(crds, crd);
    }
    const { text } = await api.get('/openapi/v3/apis/acme.com/v1');
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).to.deep.equal([]);
    expect(text).to.include('read scale of the specified NamespacedGear');
  });

  it('answers 404 for an unserved group version', async () => {
    expect((await new Api().get('/openapi/v3/apis/nothing/v1')).code).to.equal(404);
  });
});

describe('OpenAPI v2', () => {
  it('describes built-in and custom kinds for old clients', async () => {
    const api = new Api();
    await installed(api);
    const { body } = await api.get('/openapi/v2');
    const { definitions } = body as unknown as { definitions: Record<string, object> };
    expect(definitions).to.include.keys('io.k8s.api.core.v1.Pod', 'com.example.v1.Widget');
  });

  it('describes a union such as IntOrString by one type, and adds no default to a $ref, as Swagger requires', async () => {
    const { body } = await new Api().get('/openapi/v2');
    const intOrString = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
    const definitions = body['definitions'] as Readonly<Record<string, object>>;
    const port = 'io.k8s.api.core.v1.ServicePort';
    expect(omit(definitions[intOrString], 'description')).to.deep.equal({
      ...{ type: 'string', format: 'int-or-string' },
    });
    const { properties } = definitions[port] as { properties: Record<string, object> };
    expect(omit(properties['targetPort'], 'description')).to.deep.equal({
      $ref: `#/definitions/${intOrString}`,
    });
    expect(omit(properties['port'], 'description')).to.deep.equal({
      ...{ type: 'integer', format: 'int32', default: 0 },
    });
  });

  it('is empty in protobuf, which kubectl reads for unknown kinds', () => {
    // Field 1, swagger, and field 2, info with title and version, each with its length.
    const [three, ten, four] = [3, 10, 4].map((length) => String.fromCharCode(length));
    const [first, second] = [0x0a, 0x12].map((field) => String.fromCharCode(field));
    expect(emptySwaggerProto()).to.include(`${first}${three}2.0${second}`);
    expect(emptySwaggerProto()).to.include(`${first}${ten}Kubernetes${second}${four}1.`);
    expect(swaggerProtoType).to.match(/protobuf$/);
  });
});
