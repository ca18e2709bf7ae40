import { expect } from 'chai';
import { setImmediate } from 'node:timers/promises';
import { getIfExists } from '../../../lib/client/index.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { findCondition } from '../../../lib/object/conditions.js';
import { ConfigMap, Namespace } from '../../../lib/object/kinds.js';
import { errorMessage } from '../../../lib/system/as-error.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { deferred } from '../../controller/deferred.js';
import { operatorName, Stage, Tenant } from './stage.js';

/** Specs about changes during a reconcile, on the embedded and the real server. */
export function operatorRacesSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let stage: Stage;

  before(async () => {
    target = await newTarget();
  });

  beforeEach(async () => {
    stage = await Stage.open(target);
  });

  afterEach(() => stage.stop());

  after(() => target.close());

  /** Calls `target.eventually` and advances a virtual clock, so that retries run. */
  const eventually = <T>(check: () => Promise<T>): Promise<T> =>
    target.eventually(async () => {
      const { clock } = target;
      if (clock instanceof VirtualClock) await clock.advance(1_000);
      return check();
    });

  const isGone = async (name: string): Promise<void> => {
    const error: unknown = await stage.get(name).catch((thrown: unknown) => thrown);
    expect(isNotFound(error)).to.equal(true);
  };

  describe('an object that is deleted and created again with the same name', () => {
    it('gets its own status and objects although a reconcile of the deleted object still runs', async () => {
      const [begun, held] = [deferred(), deferred()];
      let isFirst = true;
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(async ({ object, builder, status, client, key }) => {
          const { uid = '' } = object.metadata;
          if (isFirst) {
            isFirst = false;
            begun.resolve();
            await held.promise;
            const cached = () => getIfExists(client, Tenant, key);
            while ((await cached())?.metadata.uid === uid) await setImmediate();
          }
          status.set({ endpoint: uid });
          return builder.configMap({ name: 'env', data: { uid } });
        });
      stage.start();
      const old = await stage.create('acme');
      await begun.promise;
      await target.admin.delete(Tenant, stage.key('acme'));
      const { metadata } = await stage.create('acme');
      expect(metadata.uid).to.not.equal(old.metadata.uid);
      await stage.requests();
      held.resolve();
      await eventually(async () => {
        const { status } = await stage.get('acme');
        expect(status?.endpoint).to.equal(metadata.uid);
        expect(findCondition(status?.conditions, 'Ready')?.status).to.equal('True');
        const env = await target.admin.get(ConfigMap, stage.key('env'));
        expect(env.data).to.deep.equal({ uid: metadata.uid });
        expect(env.metadata.ownerReferences?.map(({ uid }) => uid)).to.deep.equal([metadata.uid]);
      });
      // Nothing was created for the old object, which the garbage collector would have to delete
      // first.
      const writes = await stage.writes();
      expect(writes.filter((resource) => resource === 'configmaps')).to.have.length(1);
    });

    it('keeps its finalizer although the clean-up of the deleted object still runs', async () => {
      const [begun, held] = [deferred(), deferred()];
      const cleaned: (string | undefined)[] = [];
      stage.operator
        .for(Tenant)
        .reconciles(() => undefined)
        .finalizes(async ({ object }) => {
          cleaned.push(object.metadata.uid);
          if (cleaned.length > 1) return;
          begun.resolve();
          await held.promise;
        });
      stage.start();
      const old = await stage.create('acme');
      await stage.condition('acme', 'Ready', 'True');
      await target.admin.delete(Tenant, stage.key('acme'));
      await begun.promise;
      await stage.change('acme', { metadata: { finalizers: null } });
      await target.eventually(() => isGone('acme'));
      const { metadata } = await stage.create('acme');
      held.resolve();
      await eventually(async () => {
        const { status, metadata: live } = await stage.get('acme');
        expect(findCondition(status?.conditions, 'Ready')?.status).to.equal('True');
        expect(live.finalizers).to.deep.equal([`front.example/${operatorName}`]);
      });
      expect(cleaned).to.deep.equal([old.metadata.uid]);
      await target.admin.delete(Tenant, stage.key('acme'));
      await eventually(() => isGone('acme'));
      expect(cleaned.at(-1)).to.equal(metadata.uid);
    });
  });

  it('the operator lets a namespace be deleted during reconciles, without a failure', async () => {
    const failures: string[] = [];
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }))
      .finalizes(() => undefined);
    stage.start({
      onEvent: (event) => {
        if (event.type === 'reconciled' && event.error !== undefined)
          failures.push(errorMessage(event.error));
      },
    });
    await stage.create('acme', { env: { A: '1' } });
    await stage.condition('acme', 'Ready', 'True');
    await target.admin.delete(Namespace, { name: stage.namespace });
    await eventually(async () => {
      const error: unknown = await target.admin
        .get(Namespace, { name: stage.namespace })
        .catch((thrown: unknown) => thrown);
      expect(isNotFound(error)).to.equal(true);
    });
    expect(failures).to.deep.equal([]);
  });

  it('the operator reconciles an object with 300 kB in its spec, and sends nothing when only an annotation changes', async () => {
    const big = 'x'.repeat(300_000);
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(({ object, builder }) => builder.configMap({ name: 'env', data: object.spec.env }));
    stage.start();
    await stage.create('acme', { env: { big } });
    await stage.condition('acme', 'Ready', 'True');
    expect((await target.admin.get(ConfigMap, stage.key('env'))).data?.['big']).to.equal(big);
    await stage.requests();
    await stage.reconciledAfter(() =>
      stage.change('acme', { metadata: { annotations: { touched: 'yes' } } }),
    );
    expect(await stage.requests()).to.deep.equal([]);
  });

  for (const [title, thrown, message] of [
    ['a string', 'no licence', 'no licence'],
    ['undefined', undefined, 'undefined was thrown, not an error'],
    ['an object', { code: 5 }, 'a thrown object with code'],
  ] as const) {
    it(`the operator reports in Ready that a handler throws ${title}`, async () => {
      stage.operator
        .for(Tenant)
        .owns(ConfigMap)
        .builds(() => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          throw thrown;
        });
      stage.start();
      await stage.create('acme');
      const ready = await stage.condition('acme', 'Ready', 'False');
      expect(ready.message).to.contain(message);
    });
  }

  it('the operator reports in Ready what the handler of builds must return if it returns no chain', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds((() => undefined) as never);
    stage.start();
    await stage.create('acme');
    const ready = await stage.condition('acme', 'Ready', 'False');
    expect(ready.message).to.contain('return the chain, got nothing');
  });

  it('the operator stops although a handler ignores its signal, and refuses later writes of the handler', async () => {
    const begun = deferred();
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds(async ({ builder, signal }) => {
        begun.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return builder.configMap({ name: 'env' });
      });
    stage.start({ gracefulShutdownMs: 50 });
    await stage.create('acme');
    await begun.promise;
    const { clock } = target;
    const stopped = stage.stop();
    if (clock instanceof VirtualClock) await clock.advance(5_000);
    await stopped.catch(() => undefined);
    expect(await stage.names(ConfigMap)).to.deep.equal([]);
    expect((await stage.get('acme')).status).to.equal(undefined);
  });
}
