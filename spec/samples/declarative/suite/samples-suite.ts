import { expect } from 'chai';
import { Deployment, Namespace, Pod, Service } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { BuilderTarget, NewTarget } from '../../../builder/suite/target.js';
import type { SampleName } from '../../../../samples/declarative/sample.js';
import { SampleStage } from './sample-stage.js';

const group = 'samples.operator-builder.io';
const own = { apiVersion: `${group}/v1alpha1` };
const Gateway = { ...own, kind: 'Gateway' };
const ConfigRollout = { ...own, kind: 'ConfigRollout' };
const Route = { ...own, kind: 'Route' };

interface RouteObject extends KubernetesObject {
  readonly status?: { readonly attachedTo?: readonly string[] };
}

/** Declares how the declarative samples behave, on either server. */
export function declarativeSamplesSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: SampleStage | undefined;
  before(async () => (target = await newTarget()));
  afterEach(async () => {
    await stage?.stop();
    stage = undefined;
  });
  after(() => target.close());

  const open = async (name: SampleName): Promise<SampleStage> => {
    stage = await SampleStage.open(target, name);
    await stage.start();
    return stage;
  };

  describe('the sample config-rollout', () => {
    const hashOf = async (scene: SampleStage): Promise<string | undefined> => {
      const key = { name: 'web', namespace: scene.namespace() };
      const { spec } = await target.admin.get(Deployment, key);
      return spec?.template.metadata?.annotations?.[`${group}/config-hash`];
    };

    it('sets the hash of a ConfigMap in the annotations of the pods, and a new hash when the ConfigMap changes', async () => {
      const scene = await open('config-rollout');
      const before = await scene.eventually(async () => {
        const hash = await hashOf(scene);
        expect(hash).to.match(/^\w{6}$/);
        return hash;
      });
      await scene.change();
      await scene.eventually(async () => expect(await hashOf(scene)).to.not.equal(before));
      await scene.eventually(async () => {
        const selected = { namespace: scene.namespace(), labelSelector: 'app=web' };
        const { items } = await target.admin.list(Pod, selected);
        const hashes = items.map(({ metadata }) => metadata.annotations?.[`${group}/config-hash`]);
        const hash = await hashOf(scene);
        expect(hashes).to.deep.equal([hash, hash]);
      });
    });

    it('removes the hash when the ConfigRollout is deleted, and keeps the Deployment', async () => {
      const scene = await open('config-rollout');
      await scene.eventually(async () => expect(await hashOf(scene)).to.be.a('string'));
      const key = { name: 'web', namespace: scene.namespace() };
      await target.admin.delete(ConfigRollout, key);
      await scene.eventually(async () => expect(await hashOf(scene)).to.equal(undefined));
      const { spec } = await target.admin.get(Deployment, key);
      expect(spec?.replicas).to.equal(2);
    });
  });

  describe('the sample service-health', () => {
    const readyOf = async (scene: SampleStage): Promise<string | undefined> => {
      const service = await target.admin.get(Service, {
        ...{ name: 'shop', namespace: scene.namespace() },
      });
      return service.metadata.annotations?.[`${group}/ready-pods`];
    };

    it('counts the ready pods of a Service as they change', async () => {
      const scene = await open('service-health');
      await scene.eventually(async () => expect(await readyOf(scene)).to.equal('3/3'));
      await scene.change();
      await scene.eventually(async () => expect(await readyOf(scene)).to.equal('5/5'));
    });

    it('removes the count of a Service with its last pod', async () => {
      const scene = await open('service-health');
      await scene.eventually(async () => expect(await readyOf(scene)).to.equal('3/3'));
      const key = { name: 'shop', namespace: scene.namespace() };
      await target.admin.delete(Deployment, key);
      await scene.eventually(async () => expect(await readyOf(scene)).to.equal(undefined));
    });
  });

  describe('the sample endpoint-slices', () => {
    const addresses = async (scene: SampleStage): Promise<Readonly<Record<string, unknown>>> => {
      const views = await scene.views('PortEndpoints');
      const entries = views.map((view) => [view.metadata.name, view['addresses']]);
      return Object.fromEntries(entries) as Record<string, unknown>;
    };

    it('collects the ready addresses of all slices for each port as they change', async () => {
      const scene = await open('endpoint-slices');
      const first = ['10.0.0.1', '10.0.0.2', '10.0.0.4'];
      await scene.eventually(async () =>
        expect(await addresses(scene)).to.deep.equal({
          'api-tcp-80': first,
          'api-tcp-9090': first,
        }),
      );
      await scene.change();
      const more = [...first, '10.0.0.5'];
      await scene.eventually(async () =>
        expect(await addresses(scene)).to.deep.equal({ 'api-tcp-80': more, 'api-tcp-9090': more }),
      );
      const service = { name: 'api', namespace: scene.namespace() };
      const one = [{ name: 'http', port: 80, targetPort: 8080 }];
      const body = { spec: { ports: one } };
      await target.admin.patch(Service, service, { type: 'merge', body });
      await scene.eventually(async () =>
        expect(await addresses(scene)).to.deep.equal({ 'api-tcp-80': more }),
      );
      await target.admin.delete(Service, service);
      await scene.eventually(async () => expect(await addresses(scene)).to.deep.equal({}));
    });
  });

  describe('the sample gateway-routes', () => {
    const attachedTo = async (
      scene: SampleStage,
      name: string,
      namespace: 'edge' | 'shop' | 'lab',
    ): Promise<readonly string[] | undefined> => {
      const key = { name, namespace: scene.namespace(namespace) };
      const { status } = await target.admin.get<RouteObject>(Route, key);
      return status?.attachedTo?.map((listener) => listener.split('/').slice(1).join('/'));
    };

    it('attaches routes to listeners that allow routes of all namespaces, their own or selected ones', async () => {
      const scene = await open('gateway-routes');
      await scene.eventually(async () => {
        expect(await attachedTo(scene, 'status', 'edge')).to.have.members([
          ...['public/http', 'public/admin'],
        ]);
        expect(await attachedTo(scene, 'cart', 'shop')).to.have.members([
          ...['public/http', 'public/https'],
        ]);
        expect(await attachedTo(scene, 'trial', 'lab')).to.deep.equal(['public/http']);
      });
      await scene.change();
      await scene.eventually(async () =>
        expect(await attachedTo(scene, 'trial', 'lab')).to.have.members([
          ...['public/http', 'public/https'],
        ]),
      );
    });

    it('detaches routes when their namespace loses its label, and when the gateway is deleted', async () => {
      const scene = await open('gateway-routes');
      await scene.eventually(async () =>
        expect(await attachedTo(scene, 'cart', 'shop')).to.have.length(2),
      );
      const unlabelled = {
        type: 'merge',
        body: { metadata: { labels: { exposed: null } } },
      } as const;
      await target.admin.patch(Namespace, { name: scene.namespace('shop') }, unlabelled);
      await scene.eventually(async () =>
        expect(await attachedTo(scene, 'cart', 'shop')).to.deep.equal(['public/http']),
      );
      const gateway = { name: 'public', namespace: scene.namespace('edge') };
      await target.admin.delete(Gateway, gateway);
      await scene.eventually(async () =>
        expect(await attachedTo(scene, 'cart', 'shop')).to.equal(undefined),
      );
    });
  });
}
