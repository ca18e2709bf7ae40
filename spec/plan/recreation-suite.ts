import { expect } from 'chai';
import type { Client } from '../../lib/client/index.js';
import { defineResource, s } from '../../lib/crd/index.js';
import { Manager } from '../../lib/manager/index.js';
import { diffObjects, serverSetFields } from '../../lib/object/diff-by-path.js';
import { Job } from '../../lib/object/kinds.js';
import type { FieldChange, UnstructuredObject } from '../../lib/object/index.js';
import { Operator } from '../../lib/operator/index.js';
import { planResource } from '../../lib/plan/index.js';
import type { ResourcePlan } from '../../lib/plan/index.js';
import { silentLogger } from '../../lib/system/logger.js';
import { systemClock } from '../../lib/system/clock.js';
import { eventually } from '../../lib/testing/index.js';

const spec = s.object({ version: s.integer() });

/** A kind of which every new version has a new Job in the place of the old one. */
export const Press = defineResource({
  ...{ group: 'press.example', kind: 'Press' },
  versions: [{ name: 'v1', schema: s.object({ spec }), status: s.status() }],
});

const operator = new Operator('press');
operator
  .for(Press)
  .owns(Job)
  .builds(({ object: { metadata, spec: wanted }, builder }) =>
    builder.job({
      ...{ name: metadata.name ?? '', onImmutable: 'recreate' },
      podSpec: {
        restartPolicy: 'Never',
        containers: [{ name: 'print', image: `print:${wanted.version}` }],
      },
    }),
  );

/** Where the suite runs: any API server that serves {@link Press}. */
export interface PressRoom {
  readonly client: Client;
  readonly namespace: string;
}

/** Specs of plans that delete objects and create them again, compared with what the operator then does. */
export function recreationSuite(room: () => PressRoom): void {
  const press = (name: string, version: number): UnstructuredObject => ({
    ...{ apiVersion: Press.apiVersion, kind: 'Press' },
    ...{ metadata: { name, namespace: room().namespace }, spec: { version } },
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

  it('show the changes of a Job, without the names and uids that the server gives it', async () => {
    const { client } = room();
    await run(press('job', 1));
    const before = await client.get(Job, key(press('job', 1)));
    const { settled, objects, steps, manifests } = await plan(press('job', 2));
    expect(settled).to.equal(true);
    const image = 'spec.template.spec.containers[name=print].image';
    const changes = [{ path: image, from: 'print:1', to: 'print:2' }];
    const planned = objects.find(({ ref }) => ref.kind === 'Job');
    expect(planned).to.deep.include({ action: 'recreate', changes });
    expect(steps.flatMap((step) => step.objects.map(({ action }) => action))).to.deep.equal([
      'configure',
      'recreate',
    ]);
    const whole = manifests.find(({ after }) => after?.kind === 'Job');
    if (whole?.before === undefined || whole.after === undefined) throw new Error('no manifest');
    expect(diffObjects(whole.before, whole.after)).to.deep.equal(changes);

    await run(press('job', 2));
    const after = await client.get(Job, key(press('job', 2)));
    expect(after.metadata.uid).to.not.equal(before.metadata.uid);
    expect(changesOf(before, after)).to.deep.equal(changes);
    expect((await plan(press('job', 2))).changed).to.equal(false);
  });
}

function changesOf(before: Job, after: Job): readonly FieldChange[] {
  const changes = diffObjects(before, after, { ignore: [...serverSetFields, 'status'] });
  return changes.filter(({ path }) => !/hash|controller-uid/.test(path));
}

function key({ metadata: { name = '', namespace } }: UnstructuredObject) {
  return { name, namespace };
}
