import { expect } from 'chai';
import { EmbeddedCluster } from '../../../lib/apiserver/index.js';
import type { Client } from '../../../lib/client/index.js';
import { forwarding } from '../../../lib/client/client-wrappers.js';
import { generatedCertificates } from '../../../lib/manager/webhooks/index.js';
import type { GeneratedCertificatesOptions } from '../../../lib/manager/webhooks/index.js';
import { CustomResourceDefinition, Secret } from '../../../lib/object/kinds.js';
import type {
  KubernetesObject,
  UnstructuredObject,
} from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';

const secret = { namespace: 'default', name: 'hooks' };
const registration = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };
const validating = {
  ...registration,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
};
const mutating = {
  ...registration,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
};
const trustedBy = {
  validating: ['checks'],
  mutating: ['defaults', 'missing'],
  customResourceDefinitions: ['converted.example.com', 'plains.example.com'],
};

/** Returns a webhook configuration whose webhooks have the given `caBundle`s. */
const configuration = (
  kind: string,
  name: string,
  bundles: readonly (string | undefined)[],
): KubernetesObject & Record<string, unknown> => ({
  ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name } },
  webhooks: bundles.map((caBundle, n) => ({
    ...{ name: `n${n}.example.com`, admissionReviewVersions: ['v1'], sideEffects: 'None' },
    clientConfig: { url: 'https://127.0.0.1/', ...(caBundle !== undefined && { caBundle }) },
  })),
});

const definition = (plural: string, conversion: object): KubernetesObject => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const names = { plural, kind: plural, singular: plural, listKind: `${plural}List` };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${plural}.example.com` },
    ...{
      spec: {
        ...{ group: 'example.com', names, scope: 'Namespaced', conversion },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  };
};

describe('Webhook configurations and CRDs that trust generated certificates', () => {
  let cluster: EmbeddedCluster;
  let client: Client;
  let clock: VirtualClock;
  let ending: AbortController;
  let logged: (readonly [string, object | undefined])[];

  beforeEach(async () => {
    clock = new VirtualClock();
    cluster = await EmbeddedCluster.start({ clock });
    client = cluster.client();
    ending = new AbortController();
    logged = [];
    const webhook = {
      conversionReviewVersions: ['v1'],
      clientConfig: { url: 'https://127.0.0.1/convert' },
    };
    for (const object of [
      configuration('ValidatingWebhookConfiguration', 'checks', [undefined, 'b2xk']),
      configuration('MutatingWebhookConfiguration', 'defaults', ['b2xk']),
      definition('converted', { strategy: 'Webhook', webhook }),
      definition('plains', { strategy: 'None' }),
    ]) {
      await client.create<never>(object as never);
    }
  });
  afterEach(async () => {
    ending.abort();
    await cluster.stop();
  });

  const start = async (options: Partial<GeneratedCertificatesOptions> = {}): Promise<void> => {
    const log = (message: string, fields?: object): void => void logged.push([message, fields]);
    const source = generatedCertificates({
      ...{ client, secret, dnsNames: ['hooks.default.svc'], trustedBy, ...options },
    });
    await source.start({
      ...{ clock, signal: ending.signal, onChange: () => undefined },
      logger: { ...silentLogger, info: log, warn: log },
    });
  };
  const bundlesOf = async (): Promise<object> => {
    const webhooks = async (type: typeof validating, name: string): Promise<unknown[]> => {
      const object = await client.get<UnstructuredObject>(type, { name });
      return (object['webhooks'] as { clientConfig: { caBundle: string } }[]).map(
        ({ clientConfig }) => clientConfig.caBundle,
      );
    };
    const conversion = async (name: string): Promise<unknown> => {
      const { spec } = await client.get<UnstructuredObject>(CustomResourceDefinition, { name });
      return (spec as { conversion: unknown }).conversion;
    };
    return {
      checks: await webhooks(validating, 'checks'),
      defaults: await webhooks(mutating, 'defaults'),
      converted: await conversion('converted.example.com'),
      plains: await conversion('plains.example.com'),
    };
  };

  it("get the certificates' authority in each caBundle, while other objects stay unchanged", async () => {
    await start();
    const { data = {} } = await client.get(Secret, secret);
    const caBundle = data['ca.crt'];
    expect(caBundle).to.be.a('string');
    expect(await bundlesOf()).to.deep.equal({
      ...{ checks: [caBundle, caBundle], defaults: [caBundle] },
      converted: {
        strategy: 'Webhook',
        webhook: {
          clientConfig: { url: 'https://127.0.0.1/convert', caBundle },
          conversionReviewVersions: ['v1'],
        },
      },
      plains: { strategy: 'None' },
    });
    const why =
      'get MutatingWebhookConfiguration missing: 404 NotFound: mutatingwebhookconfigurations.admissionregistration.k8s.io "missing" not found';
    expect(logged.filter(([message]) => message.includes('caBundle'))).to.have.deep.members([
      ['ValidatingWebhookConfiguration checks: caBundle was replaced', undefined],
      ['MutatingWebhookConfiguration defaults: caBundle was replaced', undefined],
      [
        'MutatingWebhookConfiguration missing: caBundle could not be replaced; tried again later',
        { why },
      ],
      ['CustomResourceDefinition converted.example.com: caBundle was replaced', undefined],
    ]);
  });

  it('are patched only in the resourceVersion that was read', async () => {
    const patches: unknown[] = [];
    const recorded: Client = {
      ...forwarding(client),
      patch: (type, key, patch, options) => {
        patches.push([type.kind, key, patch]);
        return client.patch(type, key, patch, options);
      },
    };
    const { metadata } = await client.get(mutating, { name: 'defaults' });
    await start({ client: recorded, trustedBy: { mutating: ['defaults'] } });
    const { data = {} } = await client.get(Secret, secret);
    const operations = [
      { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
      { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: data['ca.crt'] },
    ];
    expect(patches).to.deep.equal([
      ['MutatingWebhookConfiguration', { name: 'defaults' }, { type: 'json', operations }],
    ]);
  });

  it('are listed in the access that the certificates need', () => {
    const { access } = generatedCertificates({
      ...{ client, secret, dnsNames: ['hooks.default.svc'], trustedBy },
    });
    const type = CustomResourceDefinition;
    expect(access).to.deep.equal([
      { type: Secret, namespace: 'default', names: ['hooks'], verbs: ['get', 'update'] },
      { type: Secret, namespace: 'default', verbs: ['create'] },
      { type: validating, names: ['checks'], verbs: ['get', 'patch'] },
      { type: mutating, names: ['defaults'], verbs: ['get', 'patch'] },
      { type: mutating, names: ['missing'], verbs: ['get', 'patch'] },
      { type, names: ['converted.example.com'], verbs: ['get', 'patch'] },
      { type, names: ['plains.example.com'], verbs: ['get', 'patch'] },
    ]);
  });
});
