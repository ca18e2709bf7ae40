// Exports results of functions of the other entries without type annotations, for the reason that `root.ts` gives.
// Never run.
import { ConfigMap } from 'operator-builder';
import { EmbeddedApiServer, EmbeddedCluster, startControllers } from 'operator-builder/apiserver';
import { defineResource, s } from 'operator-builder/crd';
import * as declarative from 'operator-builder/declarative';
import * as lifecycle from 'operator-builder/lifecycle';
import { promMetrics } from 'operator-builder/prometheus';
import * as resource from 'operator-builder/resource';
import * as testing from 'operator-builder/testing';

/** An argument that is assignable to every parameter. */
declare const value: never;
declare const chain: readonly resource.Resource[];

export const status = s.object({ ready: s.boolean(), details: s.unknown() });
export const embedded = s.embeddedResource();
export const Shop = defineResource({
  group: 'example.com',
  kind: 'Shop',
  versions: [
    {
      name: 'v1',
      schema: s.object({
        spec: s.object({
          image: s.string(),
          replicas: s.optional(s.integer()),
          labels: s.map(s.string()),
          limits: s.array(s.quantity()),
        }),
        status: s.optional(status),
      }),
    },
  ],
});
export const definition = Shop.crd;
export const schema = Shop.schema('v1');

export const cluster = EmbeddedCluster.start({ crds: [Shop] });
export const server = new EmbeddedApiServer(value);
export const { faults, requests } = server;
export const transport = server.transport(value);
export const controllers = startControllers(value, value);
export const metrics = promMetrics(value);

export const keys = declarative.generateKeys(value);
export const operators = declarative.loadOperators(value, value);
export const graph = declarative.operatorGraph(value);
export const group = new declarative.Group(value);
export const joined = group.addOperator(value, value);
export const manager = declarative.DeclarativeManager.create(value);
export const access = declarative.operatorCrdAccess;
export const { OperatorResource } = declarative;
export const partsOf = (one: declarative.ControllerSpec) => ({
  sources: one.sources,
  target: one.target,
});

export const system = lifecycle.lifecycle(value);
export const reconciler = new lifecycle.LifecycleReconciler(value);
export const dispatcher = new lifecycle.CallbackDispatcher();
export const objects = new lifecycle.ResourceBuilder(value);
export const deployment = objects.deployment(value);
export const marked = lifecycle.markDeploying(value, value, value);
export const openApi = lifecycle.openApi;

export const context = resource.newResourceContext(value);
export const canceled = context.reconciliationCanceled;
export const configMaps = resource.configMapResource(value);
export const chained = resource.resourceChain(value);
export const wrapped = resource.wrap(chain, value);
export const framework = new resource.Framework(value);
export const backOff = resource.exponentialBackOff(value);
export const key = resource.contextKey('key');

export const started = testing.startOperator(value, value);
export const points = testing.crashPoints(value, value);
export const sweep = testing.faultSweep(value, value);
export const recorded = testing.recordCreations(value, value);
export const faulty = testing.faulty(value, value);
export const { injected } = faulty;
export const random = testing.seededRandom(1);
export const read = testing.eventually(async () => ConfigMap);
