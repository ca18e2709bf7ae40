import { expect } from 'chai';
import { isReconcileFailed } from '../../../lib/apply/index.js';
import type { ObjectResult } from '../../../lib/apply/index.js';
import type { Builder } from '../../../lib/builder/index.js';
import { faulty } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import type { Deployment } from '../../../lib/object/kinds.js';
import { NetworkPolicy, PodDisruptionBudget } from '../../../lib/object/kinds.js';
import type { OpenScene } from './builder-suite.js';
import { errorsOf } from './immutable.js';
import { claimSpec, podSpec, summary } from './scene.js';
import type { Scene } from './scene.js';

const claims = { metadata: { name: 'data' }, spec: claimSpec };
const reasonFor = ({ namespace }: Scene): RegExp =>
  new RegExp(
    `^keeps its selector, because the new one would not select .* Deployment ${namespace}/api$`,
  );

/** Specs about NetworkPolicies and budgets of a workload whose pods keep their labels, or get others. */
export function guardsSuite(open: OpenScene): void {
  const selectors = async (scene: Scene): Promise<readonly unknown[]> => [
    (await scene.get(PodDisruptionBudget, 'api')).spec?.selector,
    (await scene.get(NetworkPolicy, 'api')).spec?.podSelector,
  ];
  const labeled = (app: string): object => ({ matchLabels: { app } });
  const guarded = (chain: Builder): Builder =>
    chain
      .podDisruptionBudget({ name: 'api', spec: { minAvailable: 1 } })
      .networkPolicy({ name: 'api', spec: { policyTypes: ['Ingress'] } });
  type Policy = 'fail' | 'recreate';
  const chainOf = (scene: Scene, onImmutable: Policy) => (app: string) =>
    guarded(scene.builder({ onImmutable }).deployment({ name: 'api', selector: { app }, podSpec }));

  it('NetworkPolicies and budgets keep their selector if the selector of the workload cannot change', async () => {
    const scene = await open();
    const chain = chainOf(scene, 'fail');
    await scene.reconcileUntilDone(() => chain('a'));
    const plan = await chain('b').plan();
    expect(plan.objects.map(({ action, ref }) => `${action} ${ref.kind}`)).to.have.members([
      ...['wait NetworkPolicy', 'violate Deployment', 'wait PodDisruptionBudget'],
    ]);
    for (let round = 1; round <= 2; round++) {
      const results = await failingResults(chain('b'));
      expect(summary(results), `round ${round}`).to.deep.equal([
        ...['pending NetworkPolicy/api', 'pending PodDisruptionBudget/api'],
      ]);
      for (const { reason } of results) expect(reason).to.match(reasonFor(scene));
      expect(await selectors(scene)).to.deep.equal([labeled('a'), labeled('a')]);
    }
  });

  it('NetworkPolicies and budgets are sent with an invalid selector, and the refusal by the API server names the object', async () => {
    const scene = await open();
    const chain = (app: string): Builder =>
      scene
        .builder()
        .deployment({ name: 'api', podSpec })
        .podDisruptionBudget({
          name: 'own',
          spec: { minAvailable: 1, selector: { matchLabels: { app } } },
        });
    await chain('a').reconcile();
    const [error] = await errorsOf(chain('not a label'));
    expect(error?.code).to.equal('Terminal');
    expect(error?.message).to.include('PodDisruptionBudget').and.include('not a label');
  });

  it('NetworkPolicies and budgets receive the new selector in the reconcile that recreates the workload', async () => {
    const scene = await open();
    const chain = chainOf(scene, 'recreate');
    await scene.reconcileUntilDone(() => chain('a'));
    const plan = await chain('b').plan();
    expect(plan.objects.map(({ action, ref }) => `${action} ${ref.kind}`)).to.have.members([
      ...['configure NetworkPolicy', 'recreate Deployment', 'configure PodDisruptionBudget'],
    ]);
    expect(summary(await chain('b').reconcile())).to.have.members([
      ...['configured NetworkPolicy/api', 'recreated Deployment/api'],
      'configured PodDisruptionBudget/api',
    ]);
    expect(await selectors(scene)).to.deep.equal([labeled('b'), labeled('b')]);
  });

  it('NetworkPolicies and budgets keep their selector if the recreation of the workload would delete its data', async () => {
    const scene = await open();
    const chain = (app: string): Builder =>
      guarded(
        scene.builder({ onImmutable: 'recreate' }).statefulSet({
          ...{ name: 'api', selector: { app }, podSpec },
          spec: {
            persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
            volumeClaimTemplates: [claims],
          },
        }),
      );
    await chain('a').reconcile();
    await failingResults(chain('b'));
    expect(await selectors(scene)).to.deep.equal([labeled('a'), labeled('a')]);
  });

  it('NetworkPolicies and budgets keep their selector if a quota refuses the recreation of the workload', async () => {
    const scene = await open();
    const chain = (app: string, client: Client = scene.operator.client): Builder =>
      guarded(
        scene
          .builder({ client, onImmutable: 'recreate' })
          .deployment({ name: 'api', selector: { app }, podSpec }),
      );
    await chain('a').reconcile();
    const fault = { type: 'error', status: 403, reason: 'Forbidden' } as const;
    const rules = [{ fault, verbs: ['create'], kinds: ['Deployment'] }] as const;
    const refused = faulty(scene.operator.client, { rules });
    const plan = await chain('b', refused).plan();
    expect(plan.objects.map(({ action, ref }) => `${action} ${ref.kind}`)).to.include.members([
      ...['wait NetworkPolicy', 'wait PodDisruptionBudget'],
    ]);
    await failingResults(chain('b', refused));
    expect(await selectors(scene)).to.deep.equal([labeled('a'), labeled('a')]);
  });

  it('NetworkPolicies and budgets receive their other changes although they keep their old selector', async () => {
    const scene = await open();
    const chain = (app: string, ingress: readonly object[], minAvailable: number): Builder =>
      scene
        .builder()
        .deployment({ name: 'api', selector: { app }, podSpec })
        .podDisruptionBudget({ name: 'api', spec: { minAvailable } })
        .networkPolicy({ name: 'api', spec: { policyTypes: ['Ingress'], ingress } });
    await chain('a', [{}], 1).reconcile();
    const plan = await chain('b', [], 2).plan();
    const planned = plan.objects.filter(({ action }) => action === 'configure');
    expect(planned.map(({ changes }) => changes.map(({ path }) => path))).to.deep.equal([
      ...[['spec.ingress'], ['spec.minAvailable']],
    ]);
    for (const { reason } of planned) expect(reason).to.match(reasonFor(scene));
    const results = await failingResults(chain('b', [], 2));
    expect(summary(results)).to.deep.equal([
      ...['pending NetworkPolicy/api', 'pending PodDisruptionBudget/api'],
    ]);
    expect(results.map(({ changes }) => changes.map(({ path }) => path))).to.deep.equal([
      ...[['spec.ingress'], ['spec.minAvailable']],
    ]);
    expect((await scene.get(NetworkPolicy, 'api')).spec?.ingress ?? []).to.deep.equal([]);
    expect((await scene.get(PodDisruptionBudget, 'api')).spec?.minAvailable).to.equal(2);
    expect(await selectors(scene)).to.deep.equal([labeled('a'), labeled('a')]);
  });

  it('NetworkPolicies and budgets receive a new selector that still selects the pods of the workload', async () => {
    const scene = await open();
    const chain = (app: string, matchLabels: Readonly<Record<string, string>>): Builder =>
      scene
        .builder()
        .deployment({ name: 'api', selector: { app }, podLabels: { part: 'shop' }, podSpec })
        .networkPolicy({ name: 'api', spec: { podSelector: { matchLabels } } });
    await chain('a', { app: 'a', part: 'shop' }).reconcile();
    const results = await failingResults(chain('b', { part: 'shop' }));
    expect(summary(results)).to.deep.equal(['configured NetworkPolicy/api']);
    const { spec } = await scene.get(NetworkPolicy, 'api');
    expect(spec?.podSelector).to.deep.equal({ matchLabels: { part: 'shop' } });
  });

  for (const app of ['nothing', null])
    it(`NetworkPolicies and budgets receive the selector of the workload after an edit of app to ${app ?? 'null'}`, async () => {
      const scene = await open();
      const chain = chainOf(scene, 'fail');
      await chain('a').reconcile();
      const selector = { matchLabels: { app } };
      await scene.edit(NetworkPolicy, 'api', { body: { spec: { podSelector: selector } } });
      await scene.edit(PodDisruptionBudget, 'api', { body: { spec: { selector } } });
      await failingResults(chain('b'));
      expect(await selectors(scene)).to.deep.equal([labeled('a'), labeled('a')]);
    });

  it('NetworkPolicies and budgets keep a selector of several workloads until the pods of all of them have the new labels', async () => {
    const scene = await open();
    const chain = (tier: string, b: string): Builder =>
      scene
        .builder()
        .deployment({ name: 'one', podLabels: { tier }, podSpec })
        .deployment({ name: 'two', selector: { app: b }, podLabels: { tier }, podSpec })
        .networkPolicy({ name: 'api', spec: { podSelector: { matchLabels: { tier } } } });
    await chain('old', 'a').reconcile();
    const selector = async (): Promise<unknown> =>
      (await scene.get(NetworkPolicy, 'api')).spec?.podSelector?.matchLabels;
    await failingResults(chain('new', 'b'));
    expect(await selector()).to.deep.equal({ tier: 'old' });
    await scene.reconcileUntilDone(() => chain('new', 'a'));
    expect(await selector()).to.deep.equal({ tier: 'new' });
  });

  it('NetworkPolicies and budgets do not select a workload of the same name that the owner does not control', async () => {
    const scene = await open();
    const { namespace } = scene;
    const labels = { app: 'foreign' };
    const template = { metadata: { labels }, spec: podSpec };
    await scene.admin.create<Deployment>({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'web' } },
      spec: { selector: { matchLabels: labels }, template },
    });
    const chain = (app: string): Builder =>
      scene
        .builder()
        .deployment({ name: app, selector: { app }, podSpec })
        .networkPolicy({ name: 'api', workload: app, spec: { policyTypes: ['Ingress'] } });
    await chain('old').reconcile();
    await failingResults(chain('web'));
    const { spec } = await scene.get(NetworkPolicy, 'api');
    expect(spec?.podSelector).to.deep.equal(labeled('old'));
  });
}

/** Returns the results of a reconcile in which the workload fails. */
async function failingResults(chain: Builder): Promise<readonly ObjectResult[]> {
  try {
    await chain.reconcile();
  } catch (error) {
    if (isReconcileFailed(error)) return error.results;
    throw error;
  }
  throw new Error('it did not fail');
}
