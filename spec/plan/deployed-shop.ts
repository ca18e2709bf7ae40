import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import type { ObjectOf } from '../../lib/crd/index.js';
import { ConfigMap, Deployment, Secret } from '../../lib/object/kinds.js';
import { Operator } from '../../lib/operator/index.js';
import { grant } from '../manager/grant.js';
import type { Rule } from '../manager/grant.js';

/** A resource whose operator the specs of plans deploy. */
export const Shop = defineResource({
  group: 'shops.example',
  kind: 'Shop',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          image: s.defaulted(s.string(), 'shop:1'),
          greeting: s.defaulted(s.string(), 'hello'),
          password: s.defaulted(s.string(), 'first-secret'),
          fails: s.defaulted(s.boolean(), false),
        }),
      }),
      status: s.status(),
    },
  ],
});
export type Shop = ObjectOf<typeof Shop>;

export function shopOperator(): Operator {
  const operator = new Operator('shops');
  operator
    .for(Shop)
    .owns(ConfigMap, Secret, Deployment)
    .builds(({ object: { spec }, builder, planning }) => {
      if (spec.fails) throw new Error(`no stock, planning: ${planning}`);
      return builder
        .configMap({ name: 'texts', data: { greeting: spec.greeting } })
        .secret({ name: 'keys', stringData: { password: spec.password } })
        .deployment({
          name: 'web',
          replicas: 1,
          podSpec: ({ envFromConfigMap }) => ({
            containers: [{ name: 'web', image: spec.image, envFrom: [envFromConfigMap('texts')] }],
          }),
        });
    });
  return operator;
}

const shops = { apiGroups: ['shops.example'], resources: ['shops'] };
const core = { apiGroups: [''], resources: ['configmaps', 'secrets'] };
const apps = { apiGroups: ['apps'], resources: ['deployments'] };
const everything = ['get', 'list', 'watch', 'create', 'patch', 'delete'];
/** Rules of the operator for dry runs of its resource. */
export const dryRuns: Rule = { ...shops, verbs: ['create', 'patch'] };
/** All other rules of the operator. */
export const operatorRules: readonly Rule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  { ...shops, verbs: ['get', 'list', 'watch'] },
  { ...shops, resources: ['shops/status', 'shops/finalizers'], verbs: ['update', 'patch'] },
  { ...core, verbs: everything },
  { ...apps, verbs: everything },
  { ...core, resources: ['pods', 'persistentvolumeclaims'], verbs: ['list'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
];
const postPlan: Rule = { nonResourceURLs: ['/plan'], verbs: ['post'] };

/** Users by token: with each of the rights that a plan needs, and without one of them. */
export const users = { o: 'owner', e: 'editor', c: 'creator', v: 'viewer', n: 'nobody' };

/** Grants the rights of the operator and of the {@link users}. */
export async function grantAll(admin: Client): Promise<void> {
  await grant(admin, [...operatorRules, dryRuns]);
  const change = ['get', 'create', 'update', 'patch'];
  const definitions: Rule = {
    apiGroups: ['apiextensions.k8s.io'],
    ...{ resources: ['customresourcedefinitions'], verbs: ['get'] },
  };
  const read = [core, apps].map((kinds): Rule => ({ ...kinds, verbs: ['get'] }));
  await grant(admin, [postPlan, { ...shops, verbs: change }, ...read, definitions], 'owner');
  await grant(admin, [postPlan, { ...shops, verbs: ['update'] }], 'editor');
  await grant(admin, [{ ...shops, verbs: change }], 'creator');
  await grant(admin, [postPlan, { ...shops, verbs: ['get'] }], 'viewer');
}
