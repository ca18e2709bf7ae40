import { expect } from 'chai';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { EmbeddedApiServer } from '../../lib/apiserver/internal.js';
import { isJsonObject } from '../../lib/object/json.js';
import { sleep, systemClock } from '../../lib/system/clock.js';
import { systemRandom } from '../../lib/system/random.js';
import { createAuthority, issueCertificate } from '../../lib/system/x509.js';
import { comparable } from '../apiserver/recorded-server/comparable.js';
import { sharedControlPlane } from './control-plane/shared.js';

interface Step {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  /** The webhook's responses from now on: members of a response, or the text of a 500. */
  readonly webhook?: (request: Request) => object | string;
}

interface Request {
  readonly uid: string;
  readonly objects?: readonly Record<string, unknown>[];
  readonly desiredAPIVersion?: string;
}

type Send = (step: Step) => Promise<{ status: number; text: string }>;

/** A webhook over HTTPS that records its requests. */
class Webhook {
  asked: unknown[] = [];
  answer: NonNullable<Step['webhook']> = () => ({ allowed: true });
  authority = '';
  url = '';
  #server: Server | undefined;

  async start(): Promise<void> {
    const now = systemClock.now();
    const validity = { fromMs: now - 3_600_000, untilMs: now + 3_600_000 };
    const options = { random: systemRandom, validity };
    const authority = await createAuthority('webhook', options);
    const { certificate, privateKey } = await issueCertificate(authority, ['127.0.0.1'], options);
    this.authority = Buffer.from(authority.certificate).toString('base64');
    this.#server = createServer({ cert: certificate, key: privateKey }, (incoming, outgoing) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
        const [status, text] = this.#respond(Buffer.concat(chunks).toString());
        outgoing.writeHead(status, { 'content-type': 'application/json' }).end(text);
      })();
    });
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve));
    this.url = `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  #respond(text: string): [number, string] {
    const { kind, apiVersion, request } = JSON.parse(text) as {
      kind: string;
      apiVersion: string;
      request: Request;
    };
    this.asked.push(request);
    const answer = this.answer(request);
    if (typeof answer === 'string') return [500, answer];
    const response = { uid: request.uid, ...answer };
    return [200, JSON.stringify({ kind, apiVersion, response })];
  }
}

const patching = (...operations: readonly object[]) => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

const namespace = 'webhooks-compared';
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const configurations = '/apis/admissionregistration.k8s.io/v1';
const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';

/** Excludes the requesting user and values that depend on the time. */
const notCompared: ReadonlySet<string> = new Set([
  'userInfo',
  'managedFields',
  'uid',
  'caBundle',
  'url',
]);

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => without(item));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !notCompared.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, without(member)]));
}

function normal(value: unknown): unknown {
  const text = JSON.stringify(without(value)).replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
  return comparable({ code: 0, body: JSON.parse(text) as unknown }).body;
}

describe('webhooks on the embedded and on a real API server', () => {
  const webhook = new Webhook();
  let real: Send;
  let embedded: Send;
  const server = new EmbeddedApiServer();

  before(async () => {
    await webhook.start();
    const { api } = await sharedControlPlane();
    real = (step) => api.send(step);
    const transport = server.transport();
    embedded = async ({ method = 'GET', path, body, contentType = 'application/json' }) => {
      const headers = { 'content-type': contentType };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await transport.request({ method: method as 'GET', path, headers, ...sent });
      let text = '';
      for await (const chunk of answer.body) text += new TextDecoder().decode(chunk);
      return { status: answer.status, text };
    };
    for (const send of [real, embedded]) {
      await send({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { metadata: { name: namespace } },
      });
    }
  });

  after(async () => {
    await real({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    await server.stop();
    webhook.stop();
  });

  /** Runs the steps on both servers, and expects the same responses and webhook requests. */
  async function compare(steps: readonly Step[]): Promise<void> {
    const [fromReal, fromEmbedded] = [await run(real, steps, 2_000), await run(embedded, steps, 0)];
    for (const [index, step] of steps.entries()) {
      const title = `${index} ${step.method ?? 'GET'} ${step.path}`;
      expect(fromEmbedded[index], title).to.deep.equal(fromReal[index]);
    }
  }

  async function run(send: Send, steps: readonly Step[], settleMs: number): Promise<unknown[]> {
    webhook.answer = () => ({ allowed: true });
    const seen: unknown[] = [];
    for (const step of steps) {
      if (step.webhook !== undefined) webhook.answer = step.webhook;
      webhook.asked = [];
      const { status, text } = await send(step);
      const body: unknown = text.startsWith('{') ? JSON.parse(text) : text;
      seen.push({ status, body: normal(body), asked: normal(webhook.asked) });
      if (/admissionreg|customresourcedef/.test(step.path)) await sleep(systemClock, settleMs);
    }
    return seen;
  }

  function configuration(kind: string, hooks: readonly object[]): [Step, Step] {
    const path = `${configurations}/${kind}webhookconfigurations`;
    const webhooks = hooks.map((hook, index) => ({
      name: `hook-${index}.acme.com`,
      clientConfig: { url: `${webhook.url}/${index}`, caBundle: webhook.authority },
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['*'] },
      ],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...hook,
    }));
    const name = 'webhooks-compared';
    return [
      { method: 'POST', path, body: { metadata: { name }, webhooks } },
      { method: 'DELETE', path: `${path}/${name}` },
    ];
  }

  const configMap = (name: string, more = {}) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { k: 'v' },
    ...more,
  });

  it('receive the same requests from both servers, which report their refusals in the same way', async () => {
    const [on, off] = configuration('validating', [{}]);
    const post = (name: string, answer: Step['webhook']): Step => {
      return {
        method: 'POST',
        path: configMaps,
        body: configMap(name),
        ...(answer && { webhook: answer }),
      };
    };
    await compare([
      on,
      post('a', undefined),
      {
        method: 'POST',
        path: `${configMaps}?dryRun=All&fieldManager=me&fieldValidation=Strict`,
        body: configMap('dry'),
      },
      { method: 'PUT', path: `${configMaps}/a`, body: configMap('a', { data: { k: 'w' } }) },
      { method: 'PATCH', path: `${configMaps}/a`, body: { data: { k: 'x' } }, contentType: merge },
      {
        method: 'PATCH',
        path: `${configMaps}/b?fieldManager=me`,
        body: configMap('b'),
        contentType: apply,
      },
      {
        method: 'PATCH',
        path: `${configMaps}/b?fieldManager=me&force=true`,
        body: configMap('b', { data: { z: '1' } }),
        contentType: apply,
      },
      {
        method: 'DELETE',
        path: `${configMaps}/b?propagationPolicy=Background`,
      },
      post('c', () => ({ allowed: false })),
      post('c', () => ({
        allowed: false,
        status: { message: 'no', code: 403, reason: 'Forbidden' },
      })),
      post('c', () => ({ allowed: false, status: { reason: 'TooBad' } })),
      post('c', () => ({
        allowed: false,
        status: {
          code: 200,
          status: 'Success',
          message: 'm',
          details: { causes: [{ field: 'a', message: 'b' }] },
        },
      })),
      post('c', () => ({ allowed: true, uid: 'other' })),
      post('c', () => patching({ op: 'remove', path: '/data' })),
      post('c', () => 'it broke'),
      { method: 'DELETE', path: `${configMaps}/a`, webhook: () => ({ allowed: false }) },
      {
        method: 'DELETE',
        path: `${configMaps}/a`,
        webhook: () => ({ allowed: true, warnings: ['w'] }),
      },
      off,
    ]);
  });

  it('change objects in the same way on both servers', async () => {
    const [on, off] = configuration('mutating', [{ reinvocationPolicy: 'IfNeeded' }, {}]);
    const add = (path: string, value: unknown) => () => patching({ op: 'add', path, value });
    const post = (name: string, answer: Step['webhook']): Step => {
      return {
        method: 'POST',
        path: configMaps,
        body: configMap(name),
        ...(answer && { webhook: answer }),
      };
    };
    await compare([
      on,
      post('m1', add('/metadata/labels', { by: 'webhook' })),
      post('m2', add('/data/more', 'x')),
      post('m3', add('/data/more', 1)),
      post('m3', add('/metadata/name', 'other')),
      post('m4', () => ({ allowed: true, patch: 'W10=' })),
      post('m4', () => ({ allowed: true, patchType: 'JSONPatch' })),
      post('m4', () => ({ allowed: true, patchType: 'JSONPatch', patch: 'W10=' })),
      {
        method: 'PATCH',
        path: `${configMaps}/m1`,
        body: { data: { k: 'x' } },
        contentType: merge,
        webhook: add('/data/more', 'y'),
      },
      {
        method: 'POST',
        path: configMaps,
        body: { metadata: { generateName: 'g-' } },
        webhook: add('/metadata/name', 'given'),
      },
      { method: 'DELETE', path: `${configMaps}/m1`, webhook: add('/data', {}) },
      { method: 'DELETE', path: `${configMaps}/m1`, webhook: () => ({ allowed: true }) },
      off,
    ]);
  });

  for (const policies of [
    ['IfNeeded', 'IfNeeded'],
    ['IfNeeded', 'Never', 'IfNeeded'],
    ['IfNeeded', 'IfNeeded', 'Never'],
  ]) {
    it(`are called again in the same way on both servers with the policies ${policies.join(', ')}`, async () => {
      const hooks = policies.map((reinvocationPolicy) => ({ reinvocationPolicy }));
      const [on, off] = configuration('mutating', hooks);
      const grow = (request: Request): object => {
        const { data } = (request as unknown as { object: { data: { k: string } } }).object;
        return patching({ op: 'replace', path: '/data/k', value: `${data.k}+` });
      };
      const body = configMap(`r-${policies.join('-').toLowerCase()}`);
      await compare([on, { method: 'POST', path: configMaps, body, webhook: grow }, off]);
    });
  }

  for (const policies of [['IfNeeded'], ['IfNeeded', 'IfNeeded'], ['IfNeeded', 'Never']]) {
    it(`mutating admission policies run again in the same way on both servers with the policies ${policies.join(', ')}`, async () => {
      const expression =
        '[JSONPatch{op: "replace", path: "/data/k", value: string(object.data.k) + "+"}]';
      const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
      const on = policies.flatMap((reinvocationPolicy, index): Step[] => {
        const metadata = { name: `webhooks-compared-${index}` };
        const matchConstraints = {
          resourceRules: [{ ...rule, operations: ['CREATE'] }],
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        };
        const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }];
        const spec = { matchConstraints, reinvocationPolicy, mutations };
        const policyName = metadata.name;
        const [policy, binding] = ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings'];
        return [
          { method: 'POST', path: `${configurations}/${policy}`, body: { metadata, spec } },
          {
            ...{ method: 'POST', path: `${configurations}/${binding}` },
            body: { metadata, spec: { policyName } },
          },
        ];
      });
      const off = on.map(({ path }, index): Step => {
        return { method: 'DELETE', path: `${path}/webhooks-compared-${Math.floor(index / 2)}` };
      });
      const body = configMap(`p-${policies.join('-').toLowerCase()}`);
      await compare([...on, { method: 'POST', path: configMaps, body }, ...off]);
    });
  }

  it('validating admission policies check permissions in the same way on both servers', async () => {
    const jobs = "authorizer.group('batch').resource('jobs')";
    const expressions = [
      "authorizer.path(' ').check('get').allowed()",
      "authorizer.group('').resource('').check('get').allowed()",
      "authorizer.serviceAccount('a.b', 'bot').path('/').check('get').allowed()",
      "authorizer.serviceAccount('a.b', 'B').path('/').check('get').allowed()",
      "['/a', '/b', '/c'].map(path, authorizer.path(path).check('get')).size() == 0",
      "['/a', '/b'].map(path, authorizer.path(path).check('get')).size() == 0",
      `!${jobs}.check('get').allowed()`,
      `!${jobs}.subresource('status').namespace('').name('').check('get').allowed()`,
      `${jobs}.labelSelector('!!').fieldSelector('!').check('get').errored()`,
      "authorizer.serviceAccount('default', 'bot').path('/metrics').check('get').allowed()",
      "authorizer.requestResource.check('create').reason() == 'x'",
    ];
    const metadata = { name: 'webhooks-compared' };
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
    const matchConstraints = {
      resourceRules: [{ ...rule, operations: ['CREATE'] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    };
    const validations = expressions.map((expression) => ({ expression }));
    const policies = `${configurations}/validatingadmissionpolicies`;
    const bindings = `${configurations}/validatingadmissionpolicybindings`;
    const binding = { policyName: metadata.name, validationActions: ['Deny'] };
    await compare([
      {
        method: 'POST',
        path: policies,
        body: { metadata, spec: { matchConstraints, validations } },
      },
      { method: 'POST', path: bindings, body: { metadata, spec: binding } },
      { method: 'POST', path: configMaps, body: configMap('rights') },
      { method: 'DELETE', path: `${bindings}/${metadata.name}` },
      { method: 'DELETE', path: `${policies}/${metadata.name}` },
    ]);
  });

  it('fail in the same way on both servers when members of their responses have wrong types', async () => {
    const [on, off] = configuration('mutating', [{}]);
    const patch = (value: unknown): object => {
      const text = JSON.stringify(value);
      return { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(text).toString('base64') };
    };
    const answers: readonly object[] = [
      { allowed: 'true' },
      { uid: 5 },
      { allowed: true, warnings: 'w' },
      { allowed: true, warnings: [5] },
      { allowed: true, warnings: ['one\ntwo', 'three'] },
      { allowed: true, auditAnnotations: { a: 5 } },
      { allowed: false, status: 'no' },
      { allowed: false, status: { code: '403' } },
      { allowed: false, status: { code: 422, x: 1, details: { y: 1, kind: 'k' } } },
      { allowed: true, patchType: 5, patch: 'W10=' },
      { allowed: true, patchType: 'JSONPatch', patch: '[{"op":"remove","path":"/data"}]' },
      { allowed: true, patchType: 'JSONPatch', patch: [{ op: 'remove', path: '/data' }] },
      patch([5]),
      patch({}),
      patch(null),
      patch([{ op: 'replace', path: '/metadata/namespace', value: 'default' }]),
      patch([{ op: 'remove', path: '/metadata' }]),
    ];
    const posts = answers.map((answer, index) => {
      const body = configMap(`n${index}`);
      return { method: 'POST', path: configMaps, body, webhook: () => answer };
    });
    await compare([on, ...posts, off]);
  });

  it('convert custom resources in the same way on both servers', async () => {
    const schema = {
      openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    };
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const name = 'shops.compared.acme.com';
    const clientConfig = { url: `${webhook.url}/convert`, caBundle: webhook.authority };
    const version = (one: string) => ({ name: one, served: true, storage: one === 'v2', schema });
    const body = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: 'compared.acme.com',
        scope: 'Namespaced',
        names: { plural: 'shops', kind: 'Shop' },
        versions: [version('v1'), version('v2')],
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig, conversionReviewVersions: ['v1'] },
        },
      },
    };
    const shops = (one: string) => `/apis/compared.acme.com/${one}/namespaces/${namespace}/shops`;
    const shop = (one: string, title: string) => ({
      apiVersion: `compared.acme.com/${one}`,
      kind: 'Shop',
      metadata: { name: title },
      spec: { made: one },
    });
    const converted =
      (change: (object: Record<string, unknown>) => object = (object) => object) =>
      (request: Request) => ({
        result: { status: 'Success' },
        convertedObjects: (request.objects ?? []).map((object) =>
          change({ ...object, apiVersion: request.desiredAPIVersion ?? '' }),
        ),
      });
    const get = (answer: Step['webhook']): Step => ({
      path: `${shops('v1')}/b`,
      ...(answer && { webhook: answer }),
    });
    const steps: Step[] = [
      { method: 'POST', path: shops('v1'), body: shop('v1', 'a'), webhook: converted() },
      { method: 'POST', path: shops('v2'), body: shop('v2', 'b') },
      { path: `${shops('v1')}/b` },
      { path: `${shops('v2')}/a` },
      { method: 'PATCH', path: `${shops('v1')}/b`, body: { spec: { x: 1 } }, contentType: merge },
      get(
        converted((object) => ({
          ...object,
          metadata: { ...(object['metadata'] as object), labels: { a: 'b' }, generation: 7 },
        })),
      ),
      get(converted((object) => ({ ...object, metadata: { name: 'other' } }))),
      get(converted((object) => ({ ...object, apiVersion: 'compared.acme.com/v9' }))),
      get(converted((object) => ({ ...object, kind: 'Other' }))),
      get(converted((object) => ({ ...object, metadata: undefined }))),
      get(
        converted((object) => ({
          ...object,
          metadata: { ...(object['metadata'] as object), labels: { a: 1 } },
        })),
      ),
      get(() => ({ result: { status: 'Success' }, convertedObjects: [] })),
      get(() => ({ result: { status: 'Failure', message: 'no way' } })),
      get(() => ({ result: { status: 'Failure' } })),
      get(() => ({ uid: 'other', result: { status: 'Success' } })),
      get(() => 'it broke'),
      { method: 'POST', path: shops('v1'), body: shop('v1', 'c') },
      { path: `${shops('v2')}/c` },
    ];
    // Compares the answers to clients only: the servers may send different numbers of requests to the webhook.
    const made: Step = { method: 'POST', path: definitions, body };
    try {
      const answers: unknown[][] = [];
      for (const [send, settleMs] of [
        [real, 5_000],
        [embedded, 0],
      ] as const) {
        await run(send, [made], settleMs);
        const seen = await run(send, steps, settleMs);
        answers.push(seen.map((one) => ({ ...(one as object), asked: undefined })));
      }
      const [fromReal, fromEmbedded] = answers;
      for (const [index, { method = 'GET', path }] of steps.entries()) {
        expect(fromEmbedded?.[index], `${index} ${method} ${path}`).to.deep.equal(
          fromReal?.[index],
        );
      }
    } finally {
      webhook.answer = converted();
      await real({ method: 'DELETE', path: `${definitions}/${name}` });
    }
  });
});
