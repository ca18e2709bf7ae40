import { expect } from 'chai';
import { requeueAfter } from '../../lib/controller/index.js';
import type { ControllerEvent } from '../../lib/controller/index.js';
import { forwarding } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import type { ForOptions } from '../../lib/operator/index.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { embeddedTarget } from '../builder/suite/embedded-target.js';
import { deferred } from '../controller/deferred.js';
import { operatorName, Stage, Tenant } from './suite/stage.js';

const finalizer = `front.example/${operatorName}`;

describe('The finalizer of an operator', () => {
  let target: Awaited<ReturnType<typeof embeddedTarget>>;
  let stage: Stage;
  let seen: string[];

  before(async () => {
    target = await embeddedTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
    seen = [];
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  /** Notes the object, the first trigger and the outcome of each reconcile. */
  const onEvent = (event: ControllerEvent): void => {
    if (event.type !== 'reconciled') return;
    const [cause] = event.causes.triggers;
    const changed = cause?.type === 'event' ? [cause.event, ...cause.changedFields] : [cause?.type];
    seen.push(`${event.key.split('/')[1]} ${changed.join(' ')}: ${event.outcome}`);
  };

  const advance = async (ms: number): Promise<void> => {
    if (target.clock instanceof VirtualClock) await target.clock.advance(ms);
  };

  const ofAcme = (): string[] => seen.filter((line) => line.startsWith('acme '));

  /** Creates another object and waits for its reconcile: by then, all earlier events were handled. */
  const settle = async (): Promise<void> => {
    await stage.create('last');
    await target.eventually(async () => expect(seen.join()).to.contain('last added'));
  };

  const reconciling = (options: ForOptions<Tenant> = {}): void => {
    stage.operator
      .for(Tenant, options)
      .reconciles(() => requeueAfter(30_000))
      .finalizes(() => undefined);
  };

  /** Starts the operator, and creates an object that gets the finalizer. */
  const startWithObject = async (): Promise<void> => {
    stage.start({ onEvent });
    await stage.create('acme');
    await target.eventually(async () => {
      const { metadata } = await stage.get('acme');
      expect(metadata.finalizers).to.deep.equal([finalizer]);
      expect(seen).to.have.length(1);
    });
  };

  for (const status of [undefined, false] as const) {
    const title = status === undefined ? 'with a status' : 'without a status';
    it(`starts no reconcile when it is added, so that a requested requeue comes in time: ${title}`, async () => {
      reconciling({ status });
      await startWithObject();
      await settle();
      await advance(29_000);
      expect(ofAcme()).to.deep.equal(['acme added: requeueAfter']);
      await advance(1_000);
      await target.eventually(async () =>
        expect(ofAcme()).to.deep.equal(['acme added: requeueAfter', 'acme requeue: requeueAfter']),
      );
    });
  }

  it('starts no reconcile of the handler builds when it is added', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ builder }) => builder)
      .finalizes(() => undefined);
    await startWithObject();
    await settle();
    expect(seen).to.deep.equal(['acme added: success', 'last added: success']);
  });

  it('starts no reconcile if the watch event of its addition arrives before the response of the server', async () => {
    reconciling();
    const [sent, held] = [deferred(), deferred()];
    const plain = target.cluster.client();
    const client: Client = {
      ...forwarding(plain),
      patch: async (type, key, patch, options) => {
        const answer = await plain.patch(type, key, patch, options);
        if (options?.subresource === undefined && key.name === 'acme') {
          sent.resolve();
          await held.promise;
        }
        return answer;
      },
    };
    stage.start({ onEvent, client });
    await stage.create('acme');
    await sent.promise;
    await target.cluster.settled();
    held.resolve();
    await target.eventually(async () => expect(seen).to.have.length(1));
    await settle();
    expect(seen).to.deep.equal(['acme added: requeueAfter', 'last added: requeueAfter']);
  });

  for (const labels of [undefined, { tier: 'gold' }]) {
    const title = labels === undefined ? 'adds another finalizer' : 'adds one and a label';
    it(`starts a reconcile after it is added if another client ${title}`, async () => {
      reconciling();
      await startWithObject();
      const finalizers = [finalizer, 'example.com/other'];
      await stage.change('acme', { metadata: { finalizers, labels } });
      await target.eventually(async () => expect(seen).to.have.length(2));
      expect(seen[1]).to.contain('acme updated').and.contain('metadata.finalizers');
    });
  }

  it('is restored when another client removes it', async () => {
    reconciling();
    await startWithObject();
    await stage.change('acme', { metadata: { finalizers: [] } });
    await target.eventually(async () => {
      const { metadata } = await stage.get('acme');
      expect(metadata.finalizers).to.deep.equal([finalizer]);
    });
    await settle();
    expect(seen).to.deep.equal([
      'acme added: requeueAfter',
      'acme updated metadata.finalizers: requeueAfter',
      'last added: requeueAfter',
    ]);
  });

  it('makes a deletion start the clean-up', async () => {
    const cleaned: (string | undefined)[] = [];
    stage.operator
      .for(Tenant)
      .reconciles(() => requeueAfter(30_000))
      .finalizes(({ key }) => void cleaned.push(key.name));
    await startWithObject();
    await target.admin.delete(Tenant, stage.key('acme'));
    await target.eventually(async () => expect(cleaned).to.deep.equal(['acme']));
  });
});
