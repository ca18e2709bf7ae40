import { expect } from 'chai';
import {
  allowed,
  conversionClientConfig,
  conversionWebhook,
  mutatingWebhook,
  validatingWebhook,
  webhookConfigurations,
} from '../../../lib/manager/webhooks/index.js';
import type { AdmissionWebhookOptions } from '../../../lib/manager/webhooks/index.js';
import { ConfigMap, Deployment, Namespace, Pod } from '../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../lib/object/resource-type.js';

const Shop: ResourceType<KubernetesObject> = {
  ...{ group: 'shops.example.com', version: 'v1beta1', kind: 'Shop', plural: 'shops' },
  namespaced: true,
};
const handler = () => allowed();
const address = { url: 'https://127.0.0.1:9443' };
const always = (name: string) => ({ name, expression: 'true' });

describe('webhookConfigurations', () => {
  it("registers a webhook with kubebuilder's names and the defaults of the API", () => {
    const webhooks = [validatingWebhook(Shop, handler), mutatingWebhook(Shop, handler)];
    const entry = {
      rules: [
        {
          ...{ apiGroups: ['shops.example.com'], apiVersions: ['v1beta1'], resources: ['shops'] },
          ...{ operations: ['CREATE', 'UPDATE'], scope: 'Namespaced' },
        },
      ],
      ...{ failurePolicy: 'Fail', timeoutSeconds: 10, sideEffects: 'None' },
      admissionReviewVersions: ['v1'],
    };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const urlOf = (path: string) => ({ clientConfig: { url: `${address.url}${path}` } });
    expect(webhookConfigurations(webhooks, { name: 'shops', address })).to.deep.equal([
      {
        ...{ apiVersion, kind: 'MutatingWebhookConfiguration', metadata: { name: 'shops' } },
        webhooks: [
          {
            ...{ name: 'mshop.shops.example.com', ...entry },
            ...urlOf('/mutate-shops-example-com-v1beta1-shop'),
          },
        ],
      },
      {
        ...{ apiVersion, kind: 'ValidatingWebhookConfiguration', metadata: { name: 'shops' } },
        webhooks: [
          {
            ...{ name: 'vshop.shops.example.com', ...entry },
            ...urlOf('/validate-shops-example-com-v1beta1-shop'),
          },
        ],
      },
    ]);
  });

  it('registers every option that a webhook sets', () => {
    const options = {
      ...{ operations: ['DELETE'], name: 'a.shops.example.com', path: '/a' },
      ...{ failurePolicy: 'Ignore', timeoutSeconds: 3, sideEffects: 'NoneOnDryRun' },
      ...{ matchPolicy: 'Exact', matchConditions: [always('a')] },
      objectSelector: { matchLabels: { a: 'b' } },
      namespaceSelector: { matchLabels: { c: 'd' } },
    } as const satisfies AdmissionWebhookOptions;
    const { operations, path, ...registered } = options;
    const reinvocationPolicy = 'IfNeeded';
    const webhooks = [
      mutatingWebhook(Shop, handler, { ...options, reinvocationPolicy }),
      validatingWebhook(Shop, handler, options),
    ];
    const [mutating, validating] = webhookConfigurations(webhooks, { name: 'shops', address });
    expect(validating?.webhooks[0]).to.deep.include(registered);
    expect(validating?.webhooks[0]).to.not.have.property('reinvocationPolicy');
    expect(mutating?.webhooks[0]).to.deep.include({ ...registered, reinvocationPolicy });
    expect(mutating?.webhooks[0]?.rules[0]).to.deep.include({ operations });
    expect(mutating?.webhooks[0]?.['clientConfig']).to.deep.equal({ url: `${address.url}${path}` });
  });

  it('registers built-in groups and cluster-scoped kinds', () => {
    const types = [ConfigMap, Deployment, Namespace] as const;
    const webhooks = types.map((type) => validatingWebhook<KubernetesObject>(type, handler));
    const [configuration, ...others] = webhookConfigurations(webhooks, { name: 'a', address });
    expect(others).to.deep.equal([]);
    expect(configuration?.webhooks.map(({ name }) => name)).to.deep.equal([
      'vconfigmap.core.k8s.io',
      'vdeployment.apps.k8s.io',
      'vnamespace.core.k8s.io',
    ]);
    const rules = configuration?.webhooks.flatMap((each) => each.rules) ?? [];
    expect(rules.map(({ apiGroups, resources, scope }) => [apiGroups, resources, scope])).to.eql([
      [[''], ['configmaps'], 'Namespaced'],
      [['apps'], ['deployments'], 'Namespaced'],
      [[''], ['namespaces'], 'Cluster'],
    ]);
  });

  it('registers a subresource under a name and a path of its own', () => {
    const webhooks = [
      validatingWebhook(Pod, handler, { operations: ['CREATE'] }),
      validatingWebhook(Pod, handler, { operations: ['CREATE'], subresource: 'eviction' }),
    ];
    const [configuration] = webhookConfigurations(webhooks, { name: 'a', address });
    const [, entry] = configuration?.webhooks ?? [];
    expect(entry).to.deep.include({
      name: 'vpod-eviction.core.k8s.io',
      clientConfig: { url: `${address.url}/validate--v1-pod-eviction` },
    });
    expect(entry?.rules).to.deep.equal([
      {
        ...{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] },
        ...{ operations: ['CREATE'], scope: 'Namespaced' },
      },
    ]);
  });

  it('tells the API server to call a Service, on port 443 by default, or a URL', () => {
    const service = { namespace: 'system', name: 'hooks' };
    const authorities = 'an authority';
    const caBundle = Buffer.from(authorities).toString('base64');
    const path = '/convert';
    expect(conversionClientConfig({ address: { service } })).to.deep.equal({
      service: { ...service, port: 443, path },
    });
    const other = { address: { service: { ...service, port: 8443 } }, authorities };
    expect(conversionClientConfig(other)).to.deep.equal({
      service: { ...service, port: 8443, path },
      caBundle,
    });
    expect(conversionClientConfig({ address, authorities })).to.deep.equal({
      url: `${address.url}${path}`,
      caBundle,
    });
  });

  it('registers no conversion webhook, because the CRD configures it', () => {
    const convertible = { ...Shop, versions: ['v1'], convert: (object: never) => object };
    const webhooks = [conversionWebhook(convertible)];
    expect(webhookConfigurations(webhooks, { name: 'a', address })).to.deep.equal([]);
  });

  it('refuses two webhooks with the same name, even for different versions, as the API server does', () => {
    const later = { ...Shop, version: 'v1' };
    const both = [validatingWebhook(Shop, handler), validatingWebhook(later, handler)];
    expect(() => webhookConfigurations(both, { name: 'a', address })).to.throw(
      'webhooks /validate-shops-example-com-v1beta1-shop and /validate-shops-example-com-v1-shop ' +
        'are both called vshop.shops.example.com: give one of them another name',
    );
    const named = validatingWebhook(later, handler, { name: 'vshop-v1.shops.example.com' });
    const webhooks = [validatingWebhook(Shop, handler), mutatingWebhook(Shop, handler), named];
    expect(webhookConfigurations(webhooks, { name: 'a', address })).to.have.length(2);
  });

  describe('for a kind with several versions', () => {
    const named = { name: 'vshop-v1.shops.example.com' };
    const convertible = {
      ...{ ...Shop, versions: ['v1beta1', 'v1'] },
      convert: (object: never) => object,
    };
    const policiesOf = (
      older: AdmissionWebhookOptions,
      newer: AdmissionWebhookOptions,
      newType: ResourceType<KubernetesObject> = { ...Shop, version: 'v1' },
    ): readonly unknown[] => {
      const webhooks = [
        conversionWebhook(convertible),
        validatingWebhook(Shop, handler, older),
        validatingWebhook(newType, handler, { ...named, ...newer }),
      ];
      const [configuration] = webhookConfigurations(webhooks, { name: 'a', address });
      return (configuration?.webhooks ?? []).map((entry) => entry['matchPolicy'] ?? 'not set');
    };

    it('sends each request only to the webhook of its version', () => {
      const filters = {
        namespaceSelector: { matchLabels: { shop: 'yes' } },
        matchConditions: [always('a')],
      };
      expect(policiesOf({}, {})).to.deep.equal(['Exact', 'Exact']);
      expect(policiesOf(filters, filters)).to.deep.equal(['Exact', 'Exact']);
      expect(policiesOf({ operations: ['CREATE'] }, {})).to.deep.equal(['Exact', 'not set']);
    });

    it("sends requests converted to a webhook's version if their own version has fewer webhooks, or one with failurePolicy Ignore", () => {
      const ignored = { failurePolicy: 'Ignore' } as const;
      expect(policiesOf(ignored, {})).to.deep.equal(['not set', 'not set']);
      expect(policiesOf(ignored, ignored)).to.deep.equal(['Exact', 'Exact']);
      const webhooks = [
        conversionWebhook(convertible),
        validatingWebhook(Shop, handler),
        validatingWebhook(Shop, handler, { name: 'quota.shops.example.com', path: '/quota' }),
        validatingWebhook({ ...Shop, version: 'v1' }, handler, named),
      ];
      const [configuration] = webhookConfigurations(webhooks, { name: 'a', address });
      const policies = (configuration?.webhooks ?? []).map((entry) => entry['matchPolicy']);
      expect(policies).to.deep.equal([undefined, undefined, 'Exact']);
    });

    it("sends requests converted to a webhook's version if the webhook of their own version has a selector that may exclude them", () => {
      const unset = ['not set', 'not set'];
      const selector = { matchLabels: { shop: 'yes' } };
      for (const filter of [
        { objectSelector: selector },
        { namespaceSelector: selector },
        { matchConditions: [always('a')] },
      ]) {
        expect(policiesOf(filter, {}), JSON.stringify(filter)).to.deep.equal(unset);
      }
      const other = { ...Shop, version: 'v1', kind: 'Store', plural: 'stores' };
      expect(policiesOf({}, {}, other)).to.deep.equal(unset);
    });
  });

  it('refuses an unknown option', () => {
    const options = { name: 'a', address, authority: 'x' };
    expect(() => webhookConfigurations([], options)).to.throw('unknown option "authority"');
    expect(() => conversionClientConfig(options)).to.throw('unknown option');
  });
});

describe('The options of an admission webhook', () => {
  const conditions = (count: number) =>
    Array.from({ length: count }, (_, n) => always(`condition-${n}`));
  const make = (options: AdmissionWebhookOptions) => () =>
    validatingWebhook(ConfigMap, handler, options);

  it('accept the limits of the API server', () => {
    for (const options of [
      ...[{ timeoutSeconds: 1 }, { timeoutSeconds: 30 }, { name: 'a.b.c' }],
      { matchConditions: conditions(64) },
    ]) {
      expect(make(options)()).to.deep.include(options);
    }
  });

  for (const [options, why] of [
    [{ timeoutSeconds: 0 }, 'timeoutSeconds 0: want 1 to 30'],
    [{ timeoutSeconds: 31 }, 'timeoutSeconds 31: want 1 to 30'],
    [{ timeoutSeconds: 1.5 }, 'timeoutSeconds 1.5: want 1 to 30'],
    [{ matchConditions: conditions(65) }, 'matchConditions: want 64 at most'],
    [{ matchConditions: [always('a'), always('b'), always('a')] }, 'the name a occurs twice'],
    [{ matchConditions: [always('a'), { name: 'b', expression: ' ' }] }, 'b has no expression'],
    [{ operations: [] }, 'operations is empty'],
    [
      { operations: ['create' as 'CREATE'] },
      'operations: want CREATE, UPDATE, DELETE or CONNECT, got "create"',
    ],
    [{ failurePolicy: 'ignore' as 'Ignore' }, 'failurePolicy: want Fail or Ignore, got "ignore"'],
    [
      { subresource: 'pods/eviction' },
      'subresource: want a name such as eviction, got "pods/eviction"',
    ],
    [{ path: 'x' }, 'path x: it has to begin with /'],
    [{ name: 'x.y' }, 'three parts'],
  ] as const) {
    it(`reject at once what the API server would reject when the webhook is registered: ${why}`, () => {
      expect(make(options)).to.throw(why).with.property('code', 'InvalidOption');
    });
  }

  it('are preceded by a resource and a handler, and other arguments are rejected', () => {
    const unchecked = validatingWebhook as (resource: unknown, handler: unknown) => unknown;
    const reference = { apiVersion: 'v1', kind: 'ConfigMap' };
    for (const [resource, second] of [
      [handler, ConfigMap],
      [undefined, handler],
      [reference, handler],
    ]) {
      expect(() => unchecked(resource, second))
        .to.throw('validatingWebhook: want a resource, such as ConfigMap, then a handler')
        .with.property('code', 'InvalidOption');
    }
  });

  it('reject reinvocationPolicy for a validating webhook', () => {
    const options = { reinvocationPolicy: 'Never' } as AdmissionWebhookOptions;
    expect(make(options)).to.throw('unknown option "reinvocationPolicy"');
  });
});
