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

/** What changes while an operator reconciles, on a real server and on the embedded one. */
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

  /** As `target.eventually`, and lets time pass for what is tried again. */
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

  describe('an object that is deleted and made again', () => {
    it('while it is built gets a status and objects of its own', async () => {
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
      // Nothing was made for the old one, which the garbage collector would have to take away first.
      const writes = await stage.writes();
      expect(writes.filter((resource) => resource === 'configmaps')).to.have.length(1);
    });

    it('while it is cleaned up keeps the finalizer of its own', async () => {
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

  it('a namespace that is deleted while its objects are reconciled goes, without a failure', async () => {
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

  it('an object with 300 kB in its spec is reconciled, and nothing is sent while nothing changes', async () => {
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
    ['a text', 'no licence', 'no licence'],
    ['nothing', undefined, 'undefined was thrown, not an error'],
    ['an object', { code: 5 }, 'a thrown object with code'],
  ] as const) {
    it(`a handler that throws ${title} shows in Ready`, async () => {
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

  it('a handler that returns no chain shows in Ready what to return', async () => {
    stage.operator
      .for(Tenant)
      .owns(ConfigMap)
      .builds((() => undefined) as never);
    stage.start();
    await stage.create('acme');
    const ready = await stage.condition('acme', 'Ready', 'False');
    expect(ready.message).to.contain('want the chain to be returned, got undefined');
  });

  it('a handler that ignores the signal does not hold up the end, and writes nothing after it', async () => {
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
