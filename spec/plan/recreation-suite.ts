import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { Manager } from '../../lib/manager/index.js';
import { diffObjects, serverSetFields } from '../../lib/object/diff-by-path.js';
import { Job, PersistentVolumeClaim, Pod, StatefulSet } from '../../lib/object/kinds.js';
import type { FieldChange, UnstructuredObject } from '../../lib/object/index.js';
import { Operator } from '../../lib/operator/index.js';
import { planResource, renderSteps } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import { systemClock } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

const spec = s.object({
  makes: s.string<Product>({ enum: ['job', 'kept', 'replaced', 'grown'] }),
  version: s.integer(),
});
type Product = 'job' | 'kept' | 'replaced' | 'grown';

/** A class whose claims can grow. */
export const growing = 'growing';

/** A kind whose operator creates the Job or StatefulSet again for each new `version` in the spec. */
export const Press = defineResource({
  ...{ group: 'press.example', kind: 'Press' },
  versions: [{ name: 'v1', schema: s.object({ spec }), status: s.status() }],
});

const operator = new Operator('press');
operator
  .for(Press)
  .owns(Job, StatefulSet)
  .builds(({ object: { metadata, spec: wanted }, builder }) => {
    const { makes, version } = wanted;
    const name = metadata.name ?? '';
    const container = { name: 'print', image: `print:${version}` };
    if (makes === 'job') {
      const podSpec = { restartPolicy: 'Never', containers: [container] } as const;
      return builder.job({ name, onImmutable: 'recreate', podSpec });
    }
    if (makes === 'grown') {
      const requests = { storage: version === 1 ? '1Gi' : '2Gi' };
      const claims = { accessModes: ['ReadWriteOnce'], resources: { requests } };
      const kept = { ...container, image: 'print:1' };
      return builder.statefulSet({
        ...{ name, podSpec: { containers: [version === 3 ? container : kept] } },
        volumeClaimTemplates: [
          { metadata: { name: 'ink' }, spec: { ...claims, storageClassName: growing } },
        ],
      });
    }
    return builder.statefulSet({
      ...{ name, onImmutable: makes === 'kept' ? 'recreateOrphan' : 'recreate' },
      podManagementPolicy: version === 1 ? 'OrderedReady' : 'Parallel',
      // Version 2 has the pods of version 1.
      podSpec: { containers: [version === 3 ? container : { ...container, image: 'print:1' }] },
    });
  });

/** Where the suite runs: any API server that serves {@link Press}. */
export interface PressRoom {
  readonly client: Client;
  readonly namespace: string;
}

/**
 * Specs of plans that delete objects and create them again, compared with what the operator then does.
 * @param binds - whether claims of the class {@link growing} are bound
 */
export function recreationSuite(room: () => PressRoom, { binds = false } = {}): void {
  const press = (makes: Product, version: number, name: string = makes) => ({
    ...{ apiVersion: Press.apiVersion, kind: 'Press' },
    ...{ metadata: { name, namespace: room().namespace }, spec: { makes, version } },
  });

  function plan(object: UnstructuredObject): Promise<ResourcePlan> {
    const { client, namespace } = room();
    const { signal } = new AbortController();
    const surroundings = { logger: silentLogger, clock: systemClock, signal };
    return planResource(object, { operator, client, namespace, ...surroundings });
  }

  /** Applies the object, and runs the operator until everything is as desired. */
  async function run(object: UnstructuredObject): Promise<void> {
    const { client } = room();
    const { object: applied } = await client.apply(object, { fieldManager: 'user', force: true });
    const stop = new AbortController();
    const manager = new Manager({ client, rbacPreflight: 'off' });
    operator.setup(manager);
    const running = manager.run(stop.signal);
    try {
      await eventually(async () => {
        const { status } = await client.get(Press, key(object));
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        const { status: is, observedGeneration } = ready ?? {};
        expect({ is, observedGeneration }).to.deep.equal({
          ...{ is: 'True', observedGeneration: applied.metadata.generation },
        });
      });
    } finally {
      stop.abort();
      await running;
    }
  }

  it('plans show the changes of a Job that is recreated, without the names and UIDs that the server generates', async () => {
    const { client } = room();
    await run(press('job', 1));
    const before = await eventually(async () => {
      const job = await client.get(Job, key(press('job', 1)));
      expect(job.status?.succeeded).to.equal(1);
      return job;
    });
    const whole = await plan(press('job', 2));
    const { settled, steps, manifests } = whole;
    expect(settled).to.equal(true);
    const image = 'spec.template.spec.containers[name=print].image';
    const changes = [{ path: image, from: 'print:1', to: 'print:2' }];
    for (const { objects } of [whole, ...whole.steps]) {
      const job = objects.find(({ ref }) => ref.kind === 'Job');
      expect(job).to.deep.include({ action: 'recreate', changes });
    }
    expect(steps.flatMap((step) => step.objects.map(({ action }) => action))).to.deep.equal([
      'configure',
      'recreate',
    ]);
    const manifest = manifests.find(({ after }) => after?.kind === 'Job');
    expect(diffObjects(manifest?.before ?? {}, manifest?.after ?? {})).to.deep.equal(changes);

    await run(press('job', 2));
    const after = await client.get(Job, key(press('job', 2)));
    expect(after.metadata.uid).to.not.equal(before.metadata.uid);
    expect(changesOf(before, after)).to.deep.equal(changes);
    expect((await plan(press('job', 2))).changed).to.equal(false);
  });

  async function podsOf(name: string): Promise<readonly (string | undefined)[]> {
    const { client, namespace } = room();
    const { items } = await client.list(Pod, { namespace });
    return items.flatMap(({ metadata }) => (metadata.name === `${name}-0` ? [metadata.uid] : []));
  }

  const policy = { path: 'spec.podManagementPolicy', from: 'OrderedReady', to: 'Parallel' };

  it('plans report that pods keep running with onImmutable: recreateOrphan', async () => {
    await run(press('kept', 1));
    const planned = await plan(press('kept', 2));
    const set = planned.steps[0]?.objects.find(({ ref }) => ref.kind === 'StatefulSet');
    const reason = 'recreated; its pods stay';
    expect(set).to.deep.include({ action: 'recreate', reason, changes: [policy] });
    expect(planned.steps.flatMap(({ rollouts }) => rollouts)).to.deep.equal([]);
    expect(renderSteps(planned, {})).to.not.include('its pods are replaced');
    const pods = await podsOf('kept');
    expect(pods).to.have.lengthOf(1);
    await run(press('kept', 2));
    const { spec: now } = await room().client.get(StatefulSet, key(press('kept', 2)));
    expect(now?.podManagementPolicy).to.equal('Parallel');
    expect(await podsOf('kept')).to.deep.equal(pods);
  });

  for (const version of binds ? [2, 3] : []) {
    const also = version === 3 ? ', until a change of their template replaces them' : '';
    it(`plans report that the PersistentVolumeClaims of a StatefulSet grow while its pods keep running${also}`, async () => {
      const { client, namespace } = room();
      const name = `grown-${version}`;
      const claimKey = { namespace, name: `ink-${name}-0` };
      await run(press('grown', 1, name));
      await eventually(async () => {
        const { status } = await client.get(PersistentVolumeClaim, claimKey);
        expect(status?.phase).to.equal('Bound');
      });
      const planned = await plan(press('grown', version, name));
      expect(planned.error).to.equal(undefined);
      const [first] = planned.steps;
      const changed = first?.objects.filter(({ action }) => action !== 'unchanged') ?? [];
      expect(changed.map(({ action, ref }) => `${action} ${ref.kind}`)).to.have.members([
        ...['configure Press', 'recreate StatefulSet', 'configure PersistentVolumeClaim'],
      ]);
      const set = changed.find(({ ref }) => ref.kind === 'StatefulSet');
      const then = version === 3 ? ' until its rollout replaces them' : '';
      expect(set?.reason).to.equal(`recreated to grow its claims; its pods stay${then}`);
      expect(planned.rollouts).to.have.lengthOf(version === 3 ? 1 : 0);
      const [pods, claim] = [await podsOf(name), await client.get(PersistentVolumeClaim, claimKey)];
      await run(press('grown', version, name));
      expect((await podsOf(name))[0] === pods[0]).to.equal(version === 2);
      const grown = await client.get(PersistentVolumeClaim, claimKey);
      expect(grown.metadata.uid).to.equal(claim.metadata.uid);
      expect(grown.spec?.resources?.requests).to.deep.equal({ storage: '2Gi' });
    });
  }

  for (const [makes, version, also, reason] of [
    [
      ...(['kept', 3, 'whose template changes too'] as const),
      'recreated; its pods stay until its rollout replaces them',
    ],
    [
      ...(['replaced', 2, 'that are deleted with their object'] as const),
      'it is deleted and created again',
    ],
  ] as const) {
    it(`plans report that pods are replaced ${also}`, async () => {
      const name = `${makes}-${version}`;
      await run(press(makes, 1, name));
      const planned = await plan(press(makes, version, name));
      const image = 'spec.template.spec.containers[name=print].image';
      const changes = version === 3 ? [{ path: image, from: 'print:1', to: 'print:3' }] : [];
      expect(planned.rollouts).to.have.lengthOf(1);
      expect(planned.rollouts[0]).to.deep.include({ changes });
      const set = planned.steps[0]?.objects.find(({ ref }) => ref.kind === 'StatefulSet');
      expect(set?.reason).to.equal(reason);
      expect(set?.changes).to.have.deep.members([policy, ...changes]);
      const pods = await podsOf(name);
      await run(press(makes, version, name));
      expect(await podsOf(name))
        .to.have.lengthOf(1)
        .and.to.not.deep.equal(pods);
    });
  }
}

function changesOf(before: Job, after: Job): readonly FieldChange[] {
  const changes = diffObjects(before, after, { ignore: [...serverSetFields, 'status'] });
  return changes.filter(({ path }) => !/hash|controller-uid/.test(path));
}

function key({ metadata: { name = '', namespace } }: UnstructuredObject) {
  return { name, namespace };
}
