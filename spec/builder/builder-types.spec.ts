import type {
  V1DeploymentSpec,
  V1IngressSpec,
  V1PersistentVolumeClaimSpec,
  V1PodSpec,
  V1PodTemplateSpec,
  V1PolicyRule,
  V1ServiceSpec,
  V2HorizontalPodAutoscalerSpec,
} from '@kubernetes/client-node';
import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import { Builder } from '../../lib/builder/index.js';
import type { BuilderOptions, NoNames } from '../../lib/builder/index.js';
import type { s, ValueOf } from '../../lib/crd/index.js';

const options = {
  client: {} as BuilderOptions['client'],
  owner: {
    apiVersion: 'example.com/v1',
    kind: 'Shop',
    metadata: { name: 'shop', namespace: 'shops', uid: 'u' },
  },
  controllerName: 'shop-operator',
};
const podSpec = { containers: [{ name: 'web', image: 'web:1' }] };
const onlyTheRunKnows = (name: string): string => name;

describe('The types of Builder', () => {
  const chain = new Builder(options)
    .configMap({ name: 'env', data: { A: '1' } })
    .configMap({ name: 'files' })
    .secret({ name: 'token' })
    .service({ name: 'web', spec: { ports: [{ port: 80 }] } })
    .persistentVolumeClaim({ name: 'data', spec: {} });

  it('collect the names of the chained objects by kind', () => {
    expectTypeOf(new Builder(options)).toEqualTypeOf<Builder<NoNames>>();
    type Names = typeof chain extends Builder<infer N> ? N : never;
    expectTypeOf<Names['configMap']>().toEqualTypeOf<'env' | 'files'>();
    expectTypeOf<Names['secret']>().toEqualTypeOf<'token'>();
    expectTypeOf<Names['service']>().toEqualTypeOf<'web'>();
    expectTypeOf<Names['claim']>().toEqualTypeOf<'data'>();
    expectTypeOf<Names['workload']>().toEqualTypeOf<never>();
  });

  it('accept literals of objects of any kind', () => {
    new Builder(options)
      .object({
        ...{ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits' } },
        spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
      })
      .object({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'quota' },
        spec: { hard: { pods: '4' } },
      });
    // @ts-expect-error an object has a kind
    new Builder(options).object({ metadata: { name: 'none' } });
  });

  it('accept undefined for optional members', () => {
    const left: { readonly replicas?: number; readonly port?: number } = {};
    const { replicas, port: targetPort } = left;
    new Builder({ ...options, owns: undefined, maxDeletions: undefined, signal: undefined })
      .configMap({ name: 'env', data: { A: undefined }, labels: { a: undefined } })
      .service({ name: 'web', spec: { ports: [{ port: 80, targetPort }], type: undefined } })
      .deployment({ name: 'web', replicas, podSpec: { ...podSpec, hostNetwork: undefined } });
  });

  it('accept readonly lists', () => {
    const containers = [{ ...podSpec.containers[0], args: ['--fast'] as const }] as const;
    const named = containers.map((container) => ({ name: 'web', ...container }));
    const ports = [{ port: 80 }] as const;
    const accessModes = ['ReadWriteOnce'] as const;
    new Builder(options)
      .service({ name: 'web', spec: { ports } })
      .persistentVolumeClaim({ name: 'data', spec: { accessModes } })
      .deployment({ name: 'web', podSpec: { containers: Object.freeze(named) } })
      .cronJob({ name: 'tidy', schedule: '@daily', podSpec: { containers: named } });
  });

  it('accept values of s.quantity() in quantity fields', () => {
    const storage = 1_024 as ValueOf<ReturnType<typeof s.quantity>>;
    const resources = { requests: { storage } };
    const container = { ...podSpec.containers[0], name: 'web', resources: { limits: { cpu: 1 } } };
    const cache = { name: 'cache', emptyDir: { sizeLimit: storage } };
    new Builder(options).persistentVolumeClaim({ name: 'data', spec: { resources } }).statefulSet({
      name: 'web',
      podSpec: { containers: [container], volumes: [cache] },
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { resources } }],
    });
    const requests = { storage: true };
    // @ts-expect-error a quantity is not a boolean
    new Builder(options).persistentVolumeClaim({ name: 'data', spec: { resources: { requests } } });
  });

  it('accept models of client-node', () => {
    const models = {} as {
      pod: V1PodSpec;
      template: V1PodTemplateSpec;
      service: V1ServiceSpec;
      ingress: V1IngressSpec;
      claim: V1PersistentVolumeClaimSpec;
      rules: V1PolicyRule[];
      scaler: V2HorizontalPodAutoscalerSpec;
      deployment: V1DeploymentSpec;
    };
    const build = () =>
      new Builder(options)
        .service({ name: 'web', spec: models.service })
        .ingress({ name: 'web', spec: models.ingress })
        .role({ name: 'web', rules: models.rules })
        .deployment({ name: 'web', podSpec: models.pod })
        .horizontalPodAutoscaler({ name: 'web', spec: models.scaler })
        .deployment({ name: 'other', podTemplate: models.deployment.template })
        .statefulSet({
          name: 'store',
          podTemplate: () => models.template,
          volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: models.claim }],
        });
    expectTypeOf(build).returns.toExtend<Builder>();
  });

  it('accept chained names and reject typos in rolloutOn', () => {
    chain.deployment({ name: 'a', podSpec, rolloutOn: ['env', 'token'] });
    // @ts-expect-error 'evn' was never chained
    chain.deployment({ name: 'a', podSpec, rolloutOn: ['env', 'evn'] });
    // @ts-expect-error a Service is nothing to roll on
    chain.daemonSet({ name: 'a', podSpec, rolloutOn: ['web'] });
  });

  it('accept chained names and reject typos in envFromConfigMap and envFromSecret', () => {
    chain.deployment({ name: 'a', podSpec, envFromConfigMap: ['env'], envFromSecret: ['token'] });
    // @ts-expect-error 'evn' was never chained
    chain.deployment({ name: 'a', podSpec, envFromConfigMap: ['evn'] });
    // @ts-expect-error 'env' is not a Secret
    chain.deployment({ name: 'a', podSpec, envFromSecret: ['env'], rolloutOn: ['env'] });
  });

  it('accept chained names and reject typos in the helpers of podSpec', () => {
    chain.statefulSet({
      name: 'a',
      podSpec: ({ envFromConfigMap, envFromSecret, mountConfigMap, mountClaim }) => {
        envFromConfigMap('env');
        envFromSecret('token');
        mountConfigMap('files', { mountPath: '/files' });
        mountClaim('data', { mountPath: '/data' });
        // @ts-expect-error 'evn' was never chained
        envFromConfigMap('evn');
        // @ts-expect-error 'env' is not a Secret
        envFromSecret('env');
        // @ts-expect-error 'file' was never chained
        mountConfigMap('file', { mountPath: '/files' });
        // @ts-expect-error 'dat' was never chained
        mountClaim('dat', { mountPath: '/data' });
        return podSpec;
      },
    });
  });

  it('accept a chained Service and reject a typo in serviceName', () => {
    chain.statefulSet({ name: 'a', podSpec, serviceName: 'web' });
    // @ts-expect-error 'wbe' was never chained
    chain.statefulSet({ name: 'a', podSpec, serviceName: 'wbe' });
  });

  it('reject a node type in rolloutOrder that no workload has', () => {
    const typed = chain
      .statefulSet({ name: 'm', nodeType: 'master', podSpec })
      .statefulSet({ name: 'd', nodeType: 'data', podSpec })
      .deployment({ name: 'other', podSpec });
    type Names = typeof typed extends Builder<infer N> ? N : never;
    expectTypeOf<Names['nodeType']>().toEqualTypeOf<'master' | 'data'>();
    expectTypeOf<Names['workload']>().toEqualTypeOf<'m' | 'd' | 'other'>();
    typed.rolloutOrder(['master', 'data']);
    // @ts-expect-error no workload is a 'mater'
    typed.rolloutOrder(['mater', 'data']);
  });

  it('reject a node type that is missing from the option rolloutOrder', () => {
    const ordered = new Builder({ ...options, rolloutOrder: ['master', 'data'] });
    ordered.deployment({ name: 'm', nodeType: 'master', podSpec });
    // @ts-expect-error 'mater' is not in the order
    ordered.deployment({ name: 'm', nodeType: 'mater', podSpec });
  });

  it('accept names that are known only at run time', () => {
    const name = onlyTheRunKnows('env');
    chain
      .deployment({
        name,
        podSpec: ({ envFromConfigMap }) => {
          envFromConfigMap(name);
          return podSpec;
        },
        rolloutOn: [name],
        nodeType: name,
      })
      .statefulSet({ name, podSpec, serviceName: name })
      .rolloutOrder([name]);
  });

  it('let a variable of the type Builder hold any chain, so that a loop can extend the chain', () => {
    let builder: Builder = new Builder(options);
    for (const name of ['a', 'b']) {
      builder = builder.configMap({ name }).deployment({ name, podSpec, rolloutOn: [name] });
    }
    builder = chain;
    expectTypeOf(builder).toEqualTypeOf<Builder>();
    const add = (links: Builder, name: string): Builder => links.configMap({ name });
    ['a', 'b'].reduce(add, new Builder(options));
  });

  it('accept the names of a link that `when` adds', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret' };
    const chain = new Builder(options)
      .configMap({ name: 'env' })
      .when(false, (more) => more.secret({ name: 'token' }));
    const deployment = chain.deployment({ name: 'web', podSpec, rolloutOn: ['env', 'token'] });
    // @ts-expect-error 'tokn' was never chained
    chain.when(false, (more) => more.deployment({ name: 'api', podSpec, rolloutOn: ['tokn'] }));
    const error: unknown = await deployment.reconcile().catch((caught: unknown) => caught);
    expect(error).to.have.property('code', 'UnknownReference');
    const both = new Builder(options).when(true, (more) => more.secret({ name: 'token' }));
    expect((await both.store()).has({ ...secret, namespace: 'shops', name: 'token' })).to.equal(
      true,
    );
  });
});
