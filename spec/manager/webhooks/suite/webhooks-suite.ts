import { expect } from 'chai';
import type { NewTarget, BuilderTarget } from '../../../builder/suite/target.js';
import {
  allowed,
  conversionClientConfig,
  conversionWebhook,
  denied,
  generatedCertificates,
  mutated,
  mutatingWebhook,
  validatingWebhook,
  webhookConfigurations,
} from '../../../../lib/manager/webhooks/index.js';
import type {
  AdmissionRequest,
  AdmissionWebhookOptions,
  Webhook,
} from '../../../../lib/manager/webhooks/index.js';
import { defineResource, s, versionOfResource } from '../../../../lib/crd/index.js';
import { isApiError } from '../../../../lib/object/api-error.js';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Secret,
} from '../../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../../lib/object/resource-type.js';
import { OperatorError } from '../../../../lib/system/operator-error.js';
import { systemClock } from '../../../../lib/system/clock.js';
import { eventually } from '../../../cluster/control-plane/eventually.js';
import { ownCertificate, serving } from './serving.js';
import type { OwnCertificate, Serving } from './serving.js';

/** Defines the behaviour of webhooks for the requests of a cluster's users. */
export function describeWebhooks(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let own: OwnCertificate;
  let namespace: string;
  let cleanups: (() => Promise<unknown>)[];

  before(async () => {
    target = await newTarget();
    own = await ownCertificate();
  });
  after(() => target.close());
  beforeEach(async () => {
    namespace = await target.namespace();
    cleanups = [];
  });
  afterEach(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  /** Selects the namespace of this spec, because other specs may share the cluster. */
  const only = () => ({
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  });

  const serve = async (webhooks: readonly Webhook[], trusted = own.authority): Promise<Serving> => {
    const server = await serving(webhooks, own);
    cleanups.push(() => server.stop());
    const address = { url: server.url };
    const options = { name: namespace, address, authorities: trusted };
    for (const object of webhookConfigurations(webhooks, options)) await install(object as never);
    return server;
  };

  const install = async (object: UnstructuredObject): Promise<void> => {
    const { kind, apiVersion } = object;
    await target.admin.create(object);
    cleanups.push(() => target.admin.delete({ kind, apiVersion }, { name: namespace }));
  };

  const configMap = (data: Record<string, string>): ConfigMap => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, generateName: 'a-' }, data },
  });
  const create = (data: Record<string, string>, dryRun = false) =>
    target.admin.create<ConfigMap>(configMap(data), { dryRun });
  /** The server starts to call a new webhook within about a second. */
  const refused = (data: Record<string, string>): Promise<{ message: string; code: number }> =>
    target.eventually(async () => {
      const error = await create(data).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!isApiError(error)) throw new Error(`it was not refused: ${String(error)}`);
      return { message: error.message, code: error.status };
    });

  it('webhooks reject objects with a message for the user', async () => {
    const check = validatingWebhook(
      ConfigMap,
      ({ object }) =>
        object?.data?.['mode'] === 'bad'
          ? denied('data.mode: must be good', { causes: [{ field: 'data.mode', message: 'bad' }] })
          : allowed(),
      only(),
    );
    await serve([check]);
    const { message, code } = await refused({ mode: 'bad' });
    expect(code).to.equal(422);
    expect(message).to.contain(
      'admission webhook "vconfigmap.core.k8s.io" denied the request: data.mode: must be good',
    );
    const named = { ...configMap({ mode: 'bad' }), metadata: { namespace, name: 'bad' } };
    const error = await target.admin.create<ConfigMap>(named).catch((thrown: unknown) => thrown);
    // kubectl prints: The ConfigMap "bad" is invalid: data.mode: bad
    expect(isApiError(error) && error.body.details).to.deep.include({
      ...{ name: 'bad', kind: 'ConfigMap' },
      causes: [{ field: 'data.mode', message: 'bad', reason: 'FieldValueInvalid' }],
    });
    expect((await create({ mode: 'good' })).data).to.deep.equal({ mode: 'good' });
  });

  it('mutating webhooks change objects before they are validated and stored', async () => {
    const seen: AdmissionRequest<ConfigMap>[] = [];
    const fill = mutatingWebhook(
      ConfigMap,
      (request) => {
        const { object } = request;
        if (object === undefined) return allowed();
        seen.push(request);
        return mutated({ ...object, data: { size: 'small', ...object.data } });
      },
      only(),
    );
    await serve([fill]);
    const made = await target.eventually(async () => {
      const each = await create({ a: '1' });
      expect(each.data).to.deep.equal({ a: '1', size: 'small' });
      return each;
    });
    expect((await create({ size: 'big' }, true)).data).to.deep.equal({ size: 'big' });
    expect(seen.at(-1)).to.deep.include({ operation: 'CREATE', dryRun: true, namespace });
    expect(seen.at(-1)?.user.username).to.not.equal('');
    await target.admin.update<ConfigMap>({ ...made, data: { b: '2' } });
    const updates = seen.filter(({ operation }) => operation === 'UPDATE');
    expect(updates.at(-1)?.oldObject?.data).to.deep.equal({ a: '1', size: 'small' });
  });

  it('webhooks receive DELETE requests if their operations include DELETE', async () => {
    const keep = validatingWebhook(
      ConfigMap,
      ({ oldObject }) => (oldObject?.data?.['keep'] === 'yes' ? denied('it is kept') : allowed()),
      { ...only(), operations: ['DELETE'] },
    );
    await serve([keep]);
    await target.eventually(async () => {
      const made = await create({ keep: 'yes' });
      const { name = '' } = made.metadata;
      const error = await target.admin
        .delete(ConfigMap, { namespace, name })
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message').that.contains('it is kept');
      await target.admin.update<ConfigMap>({ ...made, data: {} });
      await target.admin.delete(ConfigMap, { namespace, name });
    });
  });

  it('webhooks with the option subresource receive requests for the subresource, and none for the object', async () => {
    const limit = validatingWebhook<KubernetesObject>(
      Deployment,
      ({ object, subResource }) => {
        const { kind, spec } = object as UnstructuredObject;
        const { replicas } = spec as { readonly replicas?: number };
        return kind === 'Scale' && subResource === 'scale' && replicas === 5
          ? denied('at most four')
          : allowed();
      },
      { ...only(), subresource: 'scale' },
    );
    await serve([limit]);
    const key = { namespace, name: 'web' };
    const matchLabels = { app: 'web' };
    const template = {
      metadata: { labels: matchLabels },
      spec: { containers: [{ name: 'web', image: 'registry.example/web:1' }] },
    };
    await target.admin.create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: key },
      spec: { replicas: 0, selector: { matchLabels }, template },
    });
    const resize = (replicas: number, subresource?: string) =>
      target.admin.patch(
        Deployment,
        key,
        { type: 'merge', body: { spec: { replicas } } },
        { subresource },
      );
    await target.eventually(async () => {
      const error = await resize(5, 'scale').catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message').that.contains('at most four');
    });
    await resize(4, 'scale');
    await resize(5);
  });

  it('webhooks that throw fail or allow the request as their failurePolicy says', async () => {
    const broken = (failurePolicy: 'Fail' | 'Ignore') =>
      validatingWebhook(ConfigMap, () => Promise.reject(new Error('no luck')), {
        ...only(),
        ...{ failurePolicy, name: `${failurePolicy.toLowerCase()}.example.com` },
        path: `/${failurePolicy}`,
        objectSelector: { matchLabels: { policy: failurePolicy } },
      });
    await serve([broken('Fail'), broken('Ignore')]);
    const labelled = (policy: string): ConfigMap => ({
      ...configMap({}),
      metadata: { namespace, generateName: 'a-', labels: { policy } },
    });
    const message = await target.eventually(async () => {
      const error = await target.admin.create<ConfigMap>(labelled('Fail')).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof OperatorError)) throw new Error('it passed');
      return error.message;
    });
    expect(message).to.contain('failed calling webhook "fail.example.com"');
    expect(message).to.contain('no luck');
    await target.admin.create<ConfigMap>(labelled('Ignore'));
  });

  it('webhooks reject objects that nest too deeply, even with failurePolicy: Ignore', async () => {
    const group = `${namespace}.example.com`;
    const type = { group, version: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
    await target.admin.create<CustomResourceDefinition>(deepThingsOf(group));
    const crd = { name: `things.${group}` };
    cleanups.push(() => target.admin.delete(CustomResourceDefinition, crd));
    const fill = mutatingWebhook(
      type,
      ({ object }) => (object === undefined ? allowed() : mutated({ ...object })),
      { ...only(), failurePolicy: 'Ignore' },
    );
    await serve([fill]);
    // The embedded server accepts at most 1,000 levels.
    const levels = target.real ? 4_000 : 800;
    const spec = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as unknown;
    await target.eventually(async () => {
      const metadata = { namespace, generateName: 'a-' };
      const error = await target.admin
        .create<UnstructuredObject>({ apiVersion: `${group}/v1`, kind: 'Thing', metadata, spec })
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message');
      expect((error as Error).message).to.contain('denied the request: the object nests deeper');
    });
  });

  it('webhooks receive only objects that match their selectors and conditions', async () => {
    const check = validatingWebhook(ConfigMap, () => denied('it was asked'), {
      ...only(),
      objectSelector: {
        matchLabels: { checked: 'yes' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['web', 'db'] }],
      },
      matchConditions: [
        { name: 'not-small', expression: "object.data.size != 'S'" },
        { name: 'by-an-admin', expression: "request.userInfo.username != ''" },
      ],
    });
    await serve([check]);
    const attempt = async (labels: Record<string, string>, size: string): Promise<string> => {
      const metadata = { namespace, generateName: 'a-', labels };
      const made = target.admin.create<ConfigMap>({ ...configMap({ size }), metadata });
      return made.then(
        () => 'made',
        (error: unknown) => (error as Error).message,
      );
    };
    await target.eventually(async () => {
      expect(await attempt({ checked: 'yes', tier: 'web' }, 'L')).to.contain('it was asked');
    });
    expect(await attempt({ checked: 'yes', tier: 'db' }, 'L')).to.contain('it was asked');
    expect(await attempt({ checked: 'yes', tier: 'web' }, 'S')).to.equal('made');
    expect(await attempt({ checked: 'yes', tier: 'cache' }, 'L')).to.equal('made');
    expect(await attempt({ tier: 'web' }, 'L')).to.equal('made');
  });

  it('webhooks are called again after another webhook has changed the object, with reinvocationPolicy: IfNeeded', async () => {
    const seen: (string | undefined)[] = [];
    const first = mutatingWebhook(
      ConfigMap,
      ({ object }) => {
        seen.push(object?.data?.['size']);
        return allowed();
      },
      { ...only(), name: 'a.first.example', path: '/first', reinvocationPolicy: 'IfNeeded' },
    );
    const second = mutatingWebhook(
      ConfigMap,
      ({ object }) =>
        object === undefined ? allowed() : mutated({ ...object, data: { size: 'S' } }),
      { ...only(), name: 'b.second.example', path: '/second', sideEffects: 'NoneOnDryRun' },
    );
    await serve([first, second]);
    await target.eventually(async () => {
      seen.length = 0;
      expect((await create({}, true)).data).to.deep.equal({ size: 'S' });
      expect(seen).to.deep.equal([undefined, 'S']);
    });
  });

  describe('webhooks for a resource with two versions', () => {
    let Thing: ReturnType<typeof convertedThings>;
    let ThingV1: ResourceType<KubernetesObject>;
    const asked: string[] = [];

    const checkOf = (
      type: ResourceType<KubernetesObject>,
      options: AdmissionWebhookOptions = {},
    ): Webhook =>
      mutatingWebhook(
        type,
        ({ object }) => {
          asked.push(object?.apiVersion.split('/')[1] ?? '');
          return allowed();
        },
        { ...only(), name: `${type.version}.things.example`, path: `/${type.version}`, ...options },
      );

    /** Serves the webhooks with the conversion. Resolves when the server calls the conversion webhook. */
    const serveAll = async (webhooks: readonly Webhook[]): Promise<void> => {
      const all = [...webhooks, conversionWebhook(Thing)];
      const { url } = await serve(all);
      const config = { address: { url }, authorities: own.authority };
      const crd = Thing.crdWithWebhook(conversionClientConfig(config));
      await target.admin.create<CustomResourceDefinition>(crd);
      const key = { name: crd.metadata.name };
      cleanups.push(() => target.admin.delete(CustomResourceDefinition, key));
      await target.eventually(async () => {
        asked.length = 0;
        await create('v1', { schedule: 'a b' });
        await target.admin.list(Thing, { namespace });
        expect(asked).not.to.deep.equal([]);
      });
      asked.length = 0;
    };

    const create = (version: string, spec: object): Promise<KubernetesObject> => {
      const metadata = { namespace, generateName: 'a-' };
      const apiVersion = `${Thing.group}/${version}`;
      return target.admin.create({ apiVersion, kind: 'Thing', metadata, spec } as KubernetesObject);
    };

    beforeEach(() => {
      Thing = convertedThings(`${namespace}.example.com`);
      ThingV1 = versionOfResource(Thing, 'v1');
    });

    it('receive only objects of their own version if each version has a webhook', async () => {
      await serveAll([checkOf(ThingV1), checkOf(Thing)]);
      await create('v1', { schedule: 'a b' });
      await create('v2', { parts: ['a'] });
      expect(asked).to.deep.equal(['v1', 'v2']);
      // The schema rejects the object before any webhook needs it in another version.
      const error = await create('v1', {}).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('status', 422);
      expect(error).to.have.property('message').that.contains('spec.schedule: Required value');
    });

    it('receive objects of both versions, converted to their own, if the other version has no webhook', async () => {
      await serveAll([checkOf(Thing)]);
      await create('v1', { schedule: 'a b' });
      await create('v2', { parts: ['a'] });
      expect(asked).to.deep.equal(['v2', 'v2']);
      // The server converts the object before the schema can reject it, and responds with an
      // internal error.
      const error = await create('v1', {}).catch((thrown: unknown) => thrown);
      expect(error).to.have.property('status', 500);
      expect(error)
        .to.have.property('message')
        .that.contains('the object is invalid: spec.schedule: Required value');
    });

    it('receive the versions that their matchPolicy selects', async () => {
      await serveAll([
        checkOf(ThingV1, { matchPolicy: 'Equivalent' }),
        checkOf(Thing, { matchPolicy: 'Exact' }),
      ]);
      await create('v1', { schedule: 'a b' });
      expect(asked.splice(0)).to.deep.equal(['v1']);
      await create('v2', { parts: ['a'] });
      expect(asked).to.deep.equal(['v1', 'v2']);
    });
  });

  it('webhooks fail the request if the server does not trust their certificate', async () => {
    const check = validatingWebhook(ConfigMap, () => allowed(), only());
    const other = await ownCertificate();
    await serve([check], other.authority);
    const { message, code } = await refused({});
    expect(code).to.equal(500);
    expect(message).to.contain('failed calling webhook "vconfigmap.core.k8s.io"');
    expect(message).to.contain('x509');
  });

  it('webhooks are trusted again after their certificates were recreated', async () => {
    const secret = { namespace, name: 'hooks' };
    const certificates = generatedCertificates({
      ...{ client: target.admin, secret, dnsNames: ['127.0.0.1'], intervalMs: 100 },
      trustedBy: { validating: [namespace] },
    });
    const check = validatingWebhook(
      ConfigMap,
      ({ object }) => (object?.data?.['bad'] === 'yes' ? denied('bad') : allowed()),
      only(),
    );
    // TLS uses the system clock, whatever the time on the cluster.
    const server = await serving([check], own, { certificates, clock: systemClock });
    cleanups.push(() => server.stop());
    const address = { url: server.url };
    const [configuration] = webhookConfigurations([check], { name: namespace, address });
    await install(configuration as never);
    const eventuallyDenies = () =>
      eventually(async () => {
        const { message } = await refused({ bad: 'yes' });
        expect(message).to.contain('denied the request: bad');
      }, 10_000);
    await eventuallyDenies();
    const before = await target.admin.get(Secret, secret);
    const body = { data: { 'ca.crt': null } };
    await target.admin.patch(Secret, secret, { type: 'merge', body });
    await eventually(async () => {
      const { data } = await target.admin.get(Secret, secret);
      expect(data?.['ca.crt'] ?? '').to.not.be.oneOf(['', before.data?.['ca.crt']]);
    }, 10_000);
    await eventuallyDenies();
  });

  it('webhooks convert the objects of a custom resource between its versions', async () => {
    const group = `${namespace}.example.com`;
    const resource = {
      ...{ group, kind: 'Thing', plural: 'things', versions: ['v1', 'v2'] },
      convert: (object: UnstructuredObject, apiVersion: string): UnstructuredObject => {
        const { size, bytes = size } = object['spec'] as { size?: number; bytes?: number };
        if (bytes === 13) throw new Error('13 is not converted here');
        const spec = apiVersion.endsWith('v1') ? { size: bytes } : { bytes };
        return { ...object, apiVersion, spec };
      },
    };
    const server = await serve([conversionWebhook(resource)]);
    const address = { url: server.url };
    const clientConfig = conversionClientConfig({ address, authorities: own.authority });
    const webhook = { clientConfig, conversionReviewVersions: ['v1'] };
    const conversion = { strategy: 'Webhook', webhook };
    await target.admin.create<CustomResourceDefinition>(thingsOf(group, conversion));
    const crd = { name: `things.${group}` };
    cleanups.push(() => target.admin.delete(CustomResourceDefinition, crd));
    await target.eventually(async () => {
      const { status } = await target.admin.get(CustomResourceDefinition, crd);
      expect(isConditionTrue(status?.conditions, 'Established')).to.equal(true);
    });
    const key = { namespace, name: 'a' };
    const v1 = { apiVersion: `${group}/v1`, kind: 'Thing', metadata: key };
    await target.eventually(() => target.admin.create({ ...v1, spec: { size: 5 } }));
    const v2 = { apiVersion: `${group}/v2`, kind: 'Thing' };
    const read = await target.admin.get<UnstructuredObject>(v2, key);
    expect(read['spec']).to.deep.equal({ bytes: 5 });
    await target.admin.update({ ...read, spec: { bytes: 6 } });
    const again = await target.admin.list<UnstructuredObject>(v1, { namespace });
    expect(again.items.map(({ spec }) => spec)).to.deep.equal([{ size: 6 }]);
    const error = await target.admin
      .create({ ...v2, metadata: { namespace, name: 'b' }, spec: { bytes: 13 } })
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('message').that.contains('13 is not converted');
  });
}

/** A resource whose converters rely on fields that its schemas require. */
function convertedThings(group: string) {
  return defineResource({
    ...{ group, kind: 'Thing' },
    versions: [
      { name: 'v1', schema: s.object({ spec: s.object({ schedule: s.string() }) }) },
      {
        name: 'v2',
        storage: true,
        schema: s.object({ spec: s.object({ parts: s.array(s.string()) }) }),
      },
    ],
    conversion: {
      hub: 'v2',
      spokes: {
        v1: {
          toHub: ({ spec, ...rest }) => ({ ...rest, spec: { parts: spec.schedule.split(' ') } }),
          fromHub: ({ spec, ...rest }) => ({ ...rest, spec: { schedule: spec.parts.join(' ') } }),
        },
      },
    },
  });
}

/** A CRD whose objects may contain anything. */
function deepThingsOf(group: string): CustomResourceDefinition {
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }] as never,
    },
  };
}

/** A CRD with two versions, of which v1 is stored. */
function thingsOf(group: string, conversion: unknown): CustomResourceDefinition {
  const version = (name: string, field: string): object => ({
    ...{ name, served: true, storage: name === 'v1' },
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [field]: { type: 'integer' } } } },
      },
    },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' } },
      versions: [version('v1', 'size'), version('v2', 'bytes')] as never,
      conversion: conversion as never,
    },
  };
}
