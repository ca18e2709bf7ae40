import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import * as kinds from '../../lib/object/kinds.js';
import type {
  CustomResourceDefinition,
  Deployment,
  Event,
  HorizontalPodAutoscaler,
  Lease,
  NetworkPolicy,
  Secret,
} from '../../lib/object/kinds.js';
import { apiVersionOf } from '../../lib/object/resource-type.js';
import type { ResourceType } from '../../lib/object/resource-type.js';

type Present<T> = NonNullable<T>;
type Item<T> = Present<T> extends readonly (infer Each)[] ? Each : never;

describe('built-in kinds', () => {
  it('have the field names of the API', () => {
    type Rule = Item<Present<NetworkPolicy['spec']>['ingress']>;
    expectTypeOf<Rule>().toHaveProperty('from');
    expectTypeOf<Rule>().not.toHaveProperty('_from');

    type Version = Item<CustomResourceDefinition['spec']['versions']>;
    type Schema = Present<Present<Version['schema']>['openAPIV3Schema']>;
    expectTypeOf<Schema>().toHaveProperty('x-kubernetes-list-map-keys');
    expectTypeOf<Schema['x-kubernetes-preserve-unknown-fields']>().toEqualTypeOf<
      boolean | undefined
    >();
    expectTypeOf<Schema>().toHaveProperty('default');
    expectTypeOf<Schema>().toHaveProperty('enum');
    expectTypeOf<Item<Schema['x-kubernetes-validations']>['rule']>().toEqualTypeOf<string>();
    expectTypeOf<Schema>().not.toHaveProperty('_default');
    expectTypeOf<Schema>().not.toHaveProperty('x_kubernetes_list_type');
  });

  it('have strings for dates', () => {
    expectTypeOf<Present<Lease['spec']>['renewTime']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Event['eventTime']>().toEqualTypeOf<string>();
    expectTypeOf<Present<Event['series']>['lastObservedTime']>().toEqualTypeOf<string>();
    expectTypeOf<Deployment['metadata']['creationTimestamp']>().toEqualTypeOf<string | undefined>();
    type Condition = Item<Present<Deployment['status']>['conditions']>;
    expectTypeOf<Condition['lastTransitionTime']>().toEqualTypeOf<string | undefined>();
  });

  it('keep maps, percentages and quantities unchanged', () => {
    expectTypeOf<Secret['data']>().toEqualTypeOf<Record<string, string> | undefined>();
    type Rolling = Present<Present<Present<Deployment['spec']>['strategy']>['rollingUpdate']>;
    expectTypeOf<Rolling['maxSurge']>().toEqualTypeOf<string | number | undefined>();
    type Metric = Item<Present<HorizontalPodAutoscaler['spec']>['metrics']>;
    expectTypeOf<Present<Metric['resource']>['target']['averageValue']>().toEqualTypeOf<
      string | undefined
    >();
  });

  it('have a literal apiVersion and kind', () => {
    expectTypeOf<Deployment['apiVersion']>().toEqualTypeOf<'apps/v1'>();
    expectTypeOf<Deployment['kind']>().toEqualTypeOf<'Deployment'>();
    expectTypeOf(kinds.Deployment).toEqualTypeOf<ResourceType<Deployment>>();
  });

  it('can be written as object literals', () => {
    const policy: NetworkPolicy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'web' },
      spec: {
        podSelector: { matchLabels: { app: 'web' } },
        ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 'http' }] }],
      },
    };
    expect(apiVersionOf(kinds.NetworkPolicy)).to.equal(policy.apiVersion);
  });

  it('name each kind once, with the plural of its URL', () => {
    const types = Object.values(kinds);
    const names = types.map((type) => `${apiVersionOf(type)} ${type.kind}`);
    expect(new Set(names).size).to.equal(types.length);
    for (const { kind, plural } of types) {
      expect(plural, kind).to.match(/^[a-z]+s$/);
      expect(plural, kind).to.match(new RegExp(`^${kind.toLowerCase().replace(/y$/, '')}`));
    }
  });
});
