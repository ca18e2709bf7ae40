import { expect } from 'chai';
import { requeueAfter } from '../../lib/controller/index.js';
import type { ReconciledEvent } from '../../lib/controller/index.js';
import { ensureCrd, getIfExists } from '../../lib/client/index.js';
import { defineResource, s, versionOfResource } from '../../lib/crd/index.js';
import type { ObjectOf } from '../../lib/crd/index.js';
import { findCondition } from '../../lib/object/conditions.js';
import type { TypeReference } from '../../lib/object/index.js';
import { patchStatus } from '../../lib/operator/index.js';
import type { OperatorRunOptions, StatusDraft } from '../../lib/operator/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { rememberingLogger } from '../manager/manager-setup.js';
import type { LogLine } from '../manager/manager-setup.js';
import { operatorName, Stage } from './suite/stage.js';

const disk = s.object({ used: s.integer(), size: s.integer() });
const Store = defineResource({
  group: 'front.example',
  kind: 'Store',
  versions: [
    {
      name: 'v1',
      schema: s.object({ spec: s.object({ pods: s.optional(s.integer()) }) }),
      status: s.object(
        {
          conditions: s.conditions(),
          observedGeneration: s.optional(s.integer()),
          phase: s.string({ enum: ['New', 'Open'] }),
          pods: s.optional(s.integer({ rules: ['self <= 3'] })),
          disk: s.optional(disk),
          size: s.defaulted(s.string(), 'small'),
          door: s.optional(s.string({ rules: ['self != "open" || oldSelf == "unlocked"'] })),
        },
        { rules: ['!has(self.pods) || self.pods == 0 || self.phase == "Open"'] },
      ),
    },
  ],
});
type Store = ObjectOf<typeof Store>;

describe('A status that does not fit the schema of defineResource', () => {
  let target: Awaited<ReturnType<typeof embeddedTarget>>;
  let stage: Stage;
  let ended: ReconciledEvent[];

  before(async () => {
    target = await embeddedTarget();
    const { admin, clock } = target;
    await ensureCrd(admin, Store.crd, clock instanceof VirtualClock ? {} : { clock });
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
    ended = [];
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  const start = (
    set: (status: StatusDraft<Store>, store: Store) => void,
    type: TypeReference<Store> = Store,
  ): void => {
    stage.operator.for(type).reconciles(({ object, status }) => {
      set(status, object);
    });
    run();
  };

  const run = (options: OperatorRunOptions = {}): void => {
    const onEvent = (event: { readonly type: string }) => {
      if (event.type === 'reconciled') ended.push(event as ReconciledEvent);
    };
    stage.start({ ...options, onEvent });
  };

  const create = () => target.admin.create(Store.object({ metadata: stage.key('acme'), spec: {} }));

  const storeIn = (ready: string) =>
    target.eventually(async () => {
      const { metadata, status } = await target.admin.get(Store, stage.key('acme'));
      const condition = findCondition(status?.conditions, 'Ready');
      expect(condition).to.include({ status: ready, observedGeneration: metadata.generation });
      return { ...status, ...condition };
    });

  const phase = 'Open';
  for (const [title, fields, problem] of [
    [
      'a value of another type',
      { phase, pods: 'three' },
      'status.pods: Invalid value: "string": status.pods in body must be of type integer: "string"',
    ],
    ['a value that a rule refuses', { phase, pods: 4 }, 'status.pods: Invalid value: 4'],
    [
      'fields that a rule of the status refuses together',
      { phase: 'New', pods: 1 },
      'status: Invalid value',
    ],
    ['an unknown field', { phase, pod: 1 }, 'status.pod: not in the schema'],
    [
      'required fields that are missing',
      { disk: { used: 1 } },
      'status.phase: Required value; status.disk.size: Required value',
    ],
  ] as const) {
    it(`is refused without a request to the server, and is not retried: ${title}`, async () => {
      start((status, { spec }) => {
        status.set(spec.pods === undefined ? { phase: 'New' } : (fields as never));
      });
      await create();
      await storeIn('True');
      await stage.requests();
      const body = { spec: { pods: 1 } };
      await target.admin.patch(Store, stage.key('acme'), { type: 'merge', body });
      const shown = await storeIn('False');
      expect(shown).to.include({ reason: 'InvalidObject', phase: 'New', size: 'small' });
      expect(shown.message)
        .to.include(`status of Store ${stage.namespace}/acme is invalid: ${problem}`)
        .and.include('; correct the fields that are set, or the schema of the status');
      expect(await stage.writes()).to.deep.equal(['stores']);
      await target.eventually(async () => expect(ended.at(-1)).to.include({ outcome: 'terminal' }));
      expect(ended.at(-1)?.againInMs).to.equal(undefined);
    });
  }

  it('is refused also if the operator was given one version of the resource', async () => {
    const v1 = versionOfResource<Store>(Store, 'v1');
    start((status, { spec }) => {
      status.set(spec.pods === undefined ? { phase } : ({ phase, pod: 1 } as never));
    }, v1);
    await create();
    await storeIn('True');
    const body = { spec: { pods: 1 } };
    await target.admin.patch(Store, stage.key('acme'), { type: 'merge', body });
    const { reason, message } = await storeIn('False');
    expect(reason).to.equal('InvalidObject');
    expect(message).to.include('status.pod: not in the schema');
  });

  it('is compared with the live status, not with the status that the handler was given', async () => {
    stage.operator.for(Store).reconciles(async ({ object, status, client }) => {
      const { spec, status: { door } = {} } = object;
      status.set({ phase, door: spec.pods === undefined ? 'locked' : 'open' });
      if (door !== 'locked' || spec.pods === undefined) return;
      const fields = { phase, door: 'unlocked' };
      await patchStatus(client, object, { fields }, { fieldManager: operatorName });
    });
    run();
    await create();
    await storeIn('True');
    const body = { spec: { pods: 1 } };
    await target.admin.patch(Store, stage.key('acme'), { type: 'merge', body });
    await target.eventually(async () => {
      const { status } = await target.admin.get(Store, stage.key('acme'));
      expect(status?.door).to.equal('open');
    });
    expect(ended.map(({ outcome }) => outcome)).to.not.include('terminal');
  });

  it('does not end the clean-up: finalizes is called again until it stops waiting', async () => {
    let calls = 0;
    const lines: LogLine[] = [];
    stage.operator
      .for(Store)
      .reconciles(({ status }) => status.set({ phase }))
      .finalizes(({ status }) => {
        status.set({ phase: 'Closing' as never });
        return ++calls < 3 ? requeueAfter(100, 'the disks are being erased') : undefined;
      });
    run({ logger: rememberingLogger(lines) });
    await create();
    await storeIn('True');
    await target.admin.delete(Store, stage.key('acme'));
    expect(await storeIn('False')).to.include({ reason: 'InvalidObject', phase });
    await target.eventually(async () => {
      if (target.clock instanceof VirtualClock) await target.clock.advance(100);
      expect(await getIfExists(target.admin, Store, stage.key('acme'))).to.equal(undefined);
    });
    expect(calls).to.equal(3);
    const [refused] = lines.filter(({ message }) => message === 'the status could not be written');
    expect(String(refused?.fields.error)).to.include('status.phase: Unsupported value: "Closing"');
  });

  it('is accepted if the extra fields come from a newer release of the operator', async () => {
    const depotOf = <F extends object>(fields: F) =>
      defineResource({
        ...{ group: 'front.example', kind: 'Depot' },
        versions: [
          {
            name: 'v1',
            schema: s.object({ spec: s.unknownObject() }),
            status: s.object({ conditions: s.conditions(), ...fields }),
          },
        ],
      });
    const Newer = depotOf({ next: s.optional(s.integer()) });
    const { admin, clock } = target;
    await ensureCrd(admin, Newer.crd, clock instanceof VirtualClock ? {} : { clock });
    stage.operator.for(depotOf({})).reconciles(() => requeueAfter(60_000, 'busy'));
    const { apiVersion, kind } = Newer;
    const metadata = stage.key('acme');
    await admin.create(Newer.object({ metadata, spec: {} }));
    const status = { next: 1 };
    const options = { subresource: 'status', fieldManager: operatorName };
    await admin.apply({ apiVersion, kind, metadata, status }, options);
    stage.start();
    await target.eventually(async () => {
      const { status: shown } = await admin.get(Newer, metadata);
      expect(findCondition(shown?.conditions, 'Ready')).to.include({ message: 'busy' });
      expect(shown?.next).to.equal(1);
    });
  });

  it('is accepted if required fields are missing that other writers have set', async () => {
    start((status) => {
      status.set({ phase, disk: { used: 1 } as never });
    });
    const { apiVersion, kind } = Store;
    const created = await create();
    const other = {
      apiVersion,
      kind,
      metadata: stage.key('acme'),
      status: { phase, disk: { used: 0, size: 9 } },
    };
    await target.admin.apply(other, { subresource: 'status', fieldManager: 'disks', force: true });
    await target.admin.patch(Store, stage.key('acme'), {
      type: 'merge',
      body: { spec: { pods: 0 } },
    });
    expect(created.metadata.uid).to.not.equal(undefined);
    const { disk: merged } = await storeIn('True');
    expect(merged).to.deep.equal({ used: 1, size: 9 });
  });
});
