// Exports results of functions of the entry `operator-builder` without type annotations. The compiler must be able
// to name all their types in the declarations of a package that uses this one. Never run.
import {
  and,
  annotationChanged,
  byLabel,
  Builder,
  Cache,
  cachedClient,
  cachedType,
  callbackSource,
  certificateFiles,
  clientFromKubeConfig,
  conditionsOf,
  ConfigMap,
  controllerFor,
  conversionClientConfig,
  createClient,
  createOrPatch,
  createOrUpdate,
  defaultClient,
  denied,
  Deployment,
  done,
  dryRun,
  field,
  findCondition,
  generatedCertificates,
  getIfExists,
  invalid,
  keyOf,
  labelSelector,
  LeaderElector,
  Manager,
  mutated,
  Operator,
  OperatorEvents,
  ownerReferenceTo,
  patchStatus,
  pinoLogger,
  referenceTo,
  registeredTracer,
  renderPlan,
  requeueAfter,
  retryOnConflict,
  rolloutStatus,
  setCondition,
  timerSource,
  waitFor,
  webhookConfigurations,
} from 'operator-builder';
import type { Client, Metrics, ReconcileContext, Reconciler } from 'operator-builder';

declare const client: Client;
declare const metrics: Metrics;
declare const owner: ConfigMap;
/** An argument that is assignable to every parameter. */
declare const value: never;

export const clients = {
  created: createClient(value),
  ofKubeConfig: clientFromKubeConfig(value),
  byDefault: defaultClient(),
  cached: cachedClient(client, value),
  dry: dryRun(client),
};
export const listConfigMaps = () => client.list(ConfigMap);
export const watchConfigMaps = () => client.watch(ConfigMap);
export const applied = () => client.apply(owner, value);
export const written = () => createOrUpdate(client, owner, value);
export const patched = () => createOrPatch(client, owner, value);
export const read = () => getIfExists(client, ConfigMap, keyOf(owner));
export const waited = () => waitFor<ConfigMap>(client, value, value);
export const retried = () => retryOnConflict(async () => 1);
export const references = { object: referenceTo(owner), owner: ownerReferenceTo(owner) };
export const metadata = owner.metadata;

export const builder = new Builder({ client, owner, controllerName: 'consumer' });
export const chain = builder
  .configMap({ name: 'env', data: {} })
  .deployment({ name: 'app', podSpec: value, envFromConfigMap: ['env'] });
export const extendChain = (base: typeof builder) =>
  base.secret({ name: 'password', stringData: {} }).service({ name: 'app', spec: value });
export const plan = () => chain.plan();
export const rollouts = async () => (await chain.plan()).rollouts;
export const results = () => chain.reconcile();
export const printed = renderPlan(value);

export const cache = new Cache(value);
export const informer = cache.informer(ConfigMap);
export const informerStatus = informer.status();
export const registration = informer.addHandler(value);
export const indexes = { app: byLabel('app') };
export const cachedConfigMaps = cachedType(value);

export const controllerChain = controllerFor(ConfigMap).owns(Deployment);
export const controller = controllerChain.complete(value);
export const running = controller.start(value);
export const controllerStatus = running.status();
export const reconciler: Reconciler = value;
export const partsOf = (context: ReconcileContext) => ({
  ...{ client: context.client, logger: context.logger },
  ...{ span: context.span, triggers: context.triggers },
});
export const predicates = and(annotationChanged('a'), labelSelector(value));
export const sources = [callbackSource(value), timerSource(value)];
export const outcomes = [requeueAfter(1), done()];

export const manager = new Manager({ client });
export const managerStatus = manager.status();
export const added = manager.add(controller);
export const access = manager.requiredAccess();
export const managerClient = manager.client;
export const managerCache = manager.cache;
export const elector = new LeaderElector(value);
export const { fence } = elector;
export const operator = new Operator('consumer');
export const { webhooks } = operator;
operator
  .for(ConfigMap)
  .reconciles(async ({ logger, object }) => {
    if (object.metadata.name !== 'consumer') return;
    logger.info('handlers may return nothing');
  })
  .finalizes(({ logger }) => {
    logger.info('this one, too');
  });
export const events = new OperatorEvents();
export class OwnManager extends Manager {
  readonly first = this.status();
}

export const responses = [denied('no'), mutated(value), invalid(owner, [field.required('spec')])];
export const configurations = webhookConfigurations(value, value);
export const clientConfig = conversionClientConfig(value);
export const certificates = [certificateFiles(value), generatedCertificates(value)];

export const conditions = conditionsOf(value);
export const ready = findCondition(value, 'Ready');
export const replaced = setCondition(value, value, value);
export const rollout = rolloutStatus(value);
export const status = () => patchStatus(client, owner, value, value);

export const logger = pinoLogger(value);
export const tracer = registeredTracer();
export const samples = {
  counter: metrics.counter(value),
  gauge: metrics.gauge(value),
  histogram: metrics.histogram(value),
};
